//! The controls of this crate: one line for each.

use crate::registry::Registry;
use crate::{
    bbr, copa, copa_library, cubic, gcc, illinois, prague, reno, scream, tonopah, vegas, yeah,
};

impl Registry {
    /// The controls of this crate, in the order of `analects list controls`.
    pub fn builtin() -> Self {
        Registry {
            entries: vec![
                reno::ENTRY,
                cubic::ENTRY,
                vegas::ENTRY,
                illinois::ENTRY,
                yeah::ENTRY,
                bbr::ENTRY,
                prague::ENTRY,
                copa::ENTRY,
                gcc::ENTRY,
                scream::ENTRY,
                tonopah::ENTRY,
                tonopah::SWITCH,
                copa_library::ENTRY,
                gcc::library::ENTRY,
            ],
        }
    }
}

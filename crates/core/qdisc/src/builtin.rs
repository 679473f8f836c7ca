//! The disciplines of this crate: one line for each.

use crate::registry::Registry;
use crate::{
    cake, cbq, codel, confucius, dualpi2, fifo, floq, fq, fq_codel, fq_fifo, fq_pie, hhf, las,
    mencius, pacer, pias, pie, policer, prio, red, tins, two_level,
};

impl<P: Send + 'static> Registry<P> {
    /// The disciplines of this crate, in the order of `analects list disciplines`.
    pub fn builtin() -> Self {
        Registry {
            entries: vec![
                fifo::pfifo(),
                fifo::bfifo(),
                policer::policer(),
                codel::codel(),
                fq_fifo::fq_fifo(),
                fq_codel::fq_codel(),
                cake::cake(),
                red::red(),
                pie::pie(),
                fq_pie::fq_pie(),
                dualpi2::dualpi2(),
                prio::prio(),
                cbq::cbq(),
                pias::pias(),
                fq::fq(),
                hhf::hhf(),
                floq::floq(),
                two_level::two_level(),
                tins::tins(),
                las::las(),
                confucius::confucius(),
                mencius::mencius(),
                pacer::pacer(),
            ],
        }
    }
}

//! Links that people have, as scenarios without traffic; each says where its figures are from.

use units::Refusal;

/// A link by its name.
#[derive(Debug, Clone, Copy)]
pub struct LinkPreset {
    /// Its name.
    pub name: &'static str,
    /// The scenario that has it.
    pub text: &'static str,
}

/// All of them, in the order in which they are listed.
pub const LINKS: [LinkPreset; 5] = [
    LinkPreset {
        name: "dsl",
        text: include_str!("presets/dsl.toml"),
    },
    LinkPreset {
        name: "docsis",
        text: include_str!("presets/docsis.toml"),
    },
    LinkPreset {
        name: "lte",
        text: include_str!("presets/lte.toml"),
    },
    LinkPreset {
        name: "wifi",
        text: include_str!("presets/wifi.toml"),
    },
    LinkPreset {
        name: "starlink",
        text: include_str!("presets/starlink.toml"),
    },
];

/// The one called so.
///
/// # Errors
/// If there is none; it lists them.
pub fn find(name: &str) -> Result<LinkPreset, Refusal> {
    let found = LINKS.iter().find(|preset| preset.name == name);
    let names = LINKS.iter().map(|preset| preset.name);
    found
        .copied()
        .ok_or_else(|| Refusal::unknown("preset", name, names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyNames, Document};

    #[test]
    fn each_has_one_link_with_two_directions() {
        for preset in LINKS {
            let document = Document::parse(preset.name, preset.text).unwrap();
            assert_eq!(document.get("name"), Some(preset.name));
            assert!(document.get("summary").is_some(), "{}", preset.name);
            let (links, _) = document.resolve_links(&AnyNames::default()).unwrap();
            assert!(links.len() == 1 && links[0].up.is_some(), "{}", preset.name);
        }
        assert!(find("dls").unwrap_err().to_string().contains("dsl"));
    }
}

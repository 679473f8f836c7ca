//! Flowtables of nftables: packets of established connections that pass by rules, and with offload by
//! queues too.

use crate::{Command, Device, Runner};

/// A flowtable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flowtable {
    /// The family and name of its table, and its own name: `inet fw4 ft`.
    pub name: String,
    /// The devices whose packets it takes.
    pub devices: Vec<String>,
    /// Whether the hardware forwards them: then no qdisc sees them either.
    pub offload: bool,
}

impl Flowtable {
    /// Those of this host; none where nft or its rules cannot be read.
    pub fn all(runner: &mut dyn Runner) -> Vec<Self> {
        match runner.run(&Command::nft("list flowtables")) {
            Ok(output) if output.success => flowtables(&output.stdout),
            _ => Vec::new(),
        }
    }

    /// Whether it takes packets that `device` receives. A name may end in nft's wildcard: `lan*`.
    pub fn takes(&self, device: &Device) -> bool {
        let is = |name: &String| match name.strip_suffix('*') {
            Some(start) => device.as_str().starts_with(start),
            None => name == device.as_str(),
        };
        self.devices.iter().any(is)
    }
}

/// The output of `nft list flowtables`.
fn flowtables(text: &str) -> Vec<Flowtable> {
    let mut table = "";
    let mut found: Vec<Flowtable> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = inside(line, "table ") {
            table = name;
        } else if let Some(name) = inside(line, "flowtable ") {
            found.push(Flowtable {
                name: format!("{table} {name}"),
                devices: Vec::new(),
                offload: false,
            });
        } else if let Some(last) = found.last_mut() {
            if let Some(devices) = inside(line, "devices = ") {
                let names = devices.trim_matches(['{', '}', ' ']).split(',');
                let names = names.map(|name| name.trim().trim_matches('"').to_owned());
                last.devices.extend(names.filter(|name| !name.is_empty()));
            }
            last.offload |= line.starts_with("flags ") && line.contains("offload");
        }
    }
    found
}

/// What follows `word` on a line, up to a brace that opens.
fn inside<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    Some(rest.strip_suffix('{').unwrap_or(rest).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_nft_prints_them() {
        // As OpenWrt's fw4 has one, and one of another firewall's without offload.
        let text = "table inet fw4 {\n\tflowtable ft {\n\t\thook ingress priority filter\n\
            \t\tdevices = { eth0, \"lan1\" }\n\t\tflags offload\n\t\tcounter\n\t}\n}\n\
            table ip mine {\n\tflowtable soft {\n\t\thook ingress priority filter + 10\n\
            \t\tdevices = { wan }\n\t}\n\tflowtable none {\n\t\thook ingress priority filter\n\
            \t\tdevices = { }\n\t}\n}\n";
        let flowtable = |name: &str, devices: &[&str], offload| Flowtable {
            name: name.to_owned(),
            devices: devices.iter().map(|name| (*name).to_owned()).collect(),
            offload,
        };
        let found = flowtables(text);
        assert_eq!(
            found,
            [
                flowtable("inet fw4 ft", &["eth0", "lan1"], true),
                flowtable("ip mine soft", &["wan"], false),
                flowtable("ip mine none", &[], false),
            ]
        );
        assert!(found[0].takes(&"lan1".parse().unwrap()));
        assert!(!found[1].takes(&"lan1".parse().unwrap()));
        assert_eq!(flowtables("table inet x {\n}\n"), []);
    }

    #[test]
    fn a_wildcard_takes_what_begins_so() {
        let text = "table inet w {\n\tflowtable ft {\n\t\thook ingress priority 0\n\
            \t\tdevices = { \"lan*\", wan }\n\t}\n}\n";
        let found = flowtables(text);
        let takes = |name: &str| found[0].takes(&name.parse().unwrap());
        assert!(takes("lan4") && takes("lan") && takes("wan"));
        assert!(!takes("wlan0") && !takes("wan6"));
    }
}

//! `nft`, `sysctl` and `modprobe`.

use super::{Model, Result};

const ACCOUNTING: &str = "net.netfilter.nf_conntrack_acct";

impl Model {
    pub(super) fn nft(&mut self, words: &[&str]) -> Result<String> {
        let [script] = words else {
            panic!("nft {words:?}");
        };
        if *script == "list tables" {
            let names = self.tables.keys();
            return Ok(names.map(|name| format!("table inet {name}\n")).collect());
        }
        // All or none of it.
        let mut tables = self.tables.clone();
        let mut printed = String::new();
        for line in script.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["create", "table", "inet", name] if tables.contains_key(name) => {
                    return Err("Error: Could not process rule: File exists".to_owned());
                }
                ["create", "table", "inet", name] => {
                    tables.insert(name.to_owned(), String::new());
                }
                ["delete", "table", "inet", name] => {
                    tables.remove(name).ok_or("No such file or directory")?;
                }
                [
                    _,
                    "map" | "element" | "chain" | "rule",
                    "inet",
                    name,
                    of,
                    ..,
                ] => {
                    let table = tables.get_mut(name).ok_or("No such file or directory")?;
                    assert!(["ages", "age", "output", "forward"].contains(&of), "{line}");
                    match (words[0], words[1]) {
                        ("list", "map") => printed = format!("elements = {table}"),
                        ("flush", "map") => table.clear(),
                        ("add", "map" | "element") => {
                            let from = line.rfind("{ 0-").unwrap();
                            let until = line.find(" }").unwrap() + 2;
                            assert!(table.is_empty(), "overlapping: {table} {line}");
                            *table = line[from..until].to_owned();
                        }
                        ("add", "rule") if line.contains("ct original bytes") => {
                            self.accounting = Some(true);
                        }
                        ("add", _) => (),
                        _ => panic!("nft {line}"),
                    }
                }
                _ => panic!("nft {line}"),
            }
        }
        self.tables = tables;
        Ok(printed)
    }

    pub(super) fn sysctl(&mut self, words: &[&str]) -> Result<String> {
        let now = self
            .accounting
            .ok_or_else(|| format!("sysctl: cannot stat {ACCOUNTING}"))?;
        match words {
            ["-n", ACCOUNTING] => Ok(format!("{}\n", u8::from(now))),
            ["-w", setting] => {
                let value = setting.strip_prefix(ACCOUNTING).unwrap();
                assert!(["=0", "=1"].contains(&value), "{setting}");
                self.accounting = Some(value == "=1");
                Ok(String::new())
            }
            _ => panic!("sysctl {words:?}"),
        }
    }

    pub(super) fn modprobe(&mut self, words: &[&str]) -> Result<String> {
        assert_eq!(words, ["nf_conntrack"]);
        self.accounting.get_or_insert(false);
        Ok(String::new())
    }
}

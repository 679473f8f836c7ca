//! What is not to be believed.

use super::{of_results, result};
use crate::doubts::MARK;

/// It stands above the table and at the row, and nowhere if all runs can be believed.
#[test]
fn what_is_not_to_be_believed_stands_above_the_table() {
    let mut runs = ["pfifo", "cake"].map(|discipline| result(discipline, 1, 0.4, true));
    assert!(!of_results(&runs).html.contains(MARK));
    runs[0].invalid.push("this host was too slow".to_owned());
    let html = of_results(&runs).html;
    let doubt = "not to be believed: pfifo, trace a &lt;b&gt;.txt, seed 1: this host was too slow";
    let table = html.find("id=\"t0\"").unwrap();
    assert!(html.find(doubt).unwrap() < table, "above the table");
    assert_eq!(html.matches(MARK).count(), 1);
    assert!(html[table..].contains(&format!("pfifo{MARK}")));
}

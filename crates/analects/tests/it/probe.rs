//! The arguments of `analects probe`: what does not go together is refused before anything is sent.

use crate::common::{Folder, text};

#[test]
fn the_quick_form_has_no_length_no_pace_and_no_course() {
    let folder = Folder::new("probe-arguments");
    let base = ["probe", "192.0.2.1", "--trust-anyone", "--quick"];
    for (option, value) in [
        ("--seconds", Some("5")),
        ("--rate", Some("5mbit")),
        ("--watch", None),
    ] {
        let mut args = base.to_vec();
        args.push(option);
        args.extend(value);
        let output = folder.analects(&args);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert_eq!(text(&output.stdout), "");
        assert!(message.contains("--quick"), "{message}");
        assert!(message.contains(option), "{message}");
    }
}

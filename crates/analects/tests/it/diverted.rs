//! `analects gateway` and `analects pace` with devices by which no packet of theirs comes.

use crate::common::{Folder, text};

#[test]
fn devices_that_carry_nothing_for_it_are_refused() {
    let folder = Folder::new("diverted-devices");
    let gateway = |inside, outside| ["gateway", "--in", inside, "--out", outside].to_vec();
    let pace = |device| ["pace", "--dev", device].to_vec();
    for (args, finding) in [
        (gateway("eth1", "lo"), "--out: nothing is forwarded by lo"),
        (gateway("lo", "eth1"), "--in: nothing is forwarded by lo"),
        (gateway("nosuch", "nosuch2"), "there is no device nosuch"),
        (gateway("eth1", "eth1"), "--in and --out are both eth1"),
        (pace("nosuch"), "there is no device nosuch"),
        (
            pace("enx78e7d1ea46da"),
            "there is no device enx78e7d1ea46da",
        ),
    ] {
        let output = folder.analects(&[&args[..], &["--state", "."]].concat());
        let message = text(&output.stderr);
        assert!(
            !output.status.success() && message.contains(finding),
            "{message}"
        );
        assert_eq!(text(&output.stdout), "");
    }
}

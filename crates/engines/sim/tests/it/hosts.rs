//! Computers at home that share a link.

use crate::common::run;
use measure::{Event, LinkId, TrafficId};
use workload::Event as Application;

/// The share of the link for the second entry in the second half of the run, where the first one
/// has four transfers.
fn share_of_one(discipline: &str, keys_of_many: &str, keys_of_one: &str) -> f64 {
    let (record, _) = run(
        &format!(
            r#"
            duration = "20s"
            disciplines = ["{discipline}"]
            link = {{ rate = "20mbit", rtt = "40ms" }}
            traffic = [
                {{ name = "many", kind = "bulk", count = 4 {keys_of_many} }},
                {{ name = "one", kind = "bulk" {keys_of_one} }},
            ]
            "#
        ),
        1,
    );
    let (mut entries, mut bytes) = (Vec::new(), [0u64; 2]);
    for (now, event) in &record.0 {
        match *event {
            Event::Traffic(Application::FlowStarted { flow, traffic, .. }) => {
                entries.push((flow, traffic));
            }
            Event::Dequeued {
                link: LinkId(0),
                packet,
                ..
            } if now.as_secs_f64() > 10.0 => {
                let entry = entries
                    .iter()
                    .find(|(other, _)| Some(*other) == packet.flow);
                let Some((_, TrafficId(entry))) = entry else {
                    panic!("a packet of no flow");
                };
                bytes[usize::from(*entry)] += u64::from(packet.bytes);
            }
            _ => {}
        }
    }
    bytes[1] as f64 / (bytes[0] + bytes[1]) as f64
}

#[test]
fn a_computer_with_one_transfer_gets_as_much_as_one_with_four() {
    let flows = share_of_one("fq_codel", "", "");
    assert!((0.18..0.22).contains(&flows), "a fifth: {flows}");
    // With a target long enough that one transfer always has packets waiting.
    let computers = share_of_one("cake,rtt=300ms", "", "");
    assert!((0.49..0.51).contains(&computers), "half: {computers}");
    // Five transfers of one computer; only the two servers differ.
    let same = share_of_one("cake,flowmode=dual-dsthost", "", ", host = \"many\"");
    assert!((0.18..0.22).contains(&same), "a fifth: {same}");
}

#[test]
fn a_code_point_chooses_the_tin() {
    // If there is no shaping, best effort and background share by 1024 to 64 bytes.
    let background = share_of_one("cake,rtt=300ms", "", ", dscp = \"cs1\"");
    assert!((0.057..0.060).contains(&background), "1/17: {background}");
}

/// Three instances of 9 Mbit/s take turns on 10 Mbit/s, with computers of their own as without: nothing
/// waits for more than the 1200 bytes before it.
#[test]
fn instances_take_turns_on_computers_of_their_own_too() {
    let longest = |keys: &str| {
        let (record, _) = run(
            &format!(
                r#"
                duration = "1s"
                disciplines = ["pfifo"]
                link = {{ rate = "10mbit", rtt = "40ms" }}
                traffic = [{{ name = "flood", kind = "udp", rate = "9mbit", pattern = "bursts",
                    on = "100ms", off = "200ms", count = 3, {keys} }}]
                "#
            ),
            1,
        );
        record.longest_wait(0).as_millis_f64()
    };
    for keys in ["turns = true", "turns = true, own_hosts = true"] {
        assert!(longest(keys) < 0.97, "{keys}: {} ms", longest(keys));
    }
    assert!(longest("own_hosts = true") > 100.0);
}

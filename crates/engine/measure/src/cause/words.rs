//! Causes in words: one text for tables, JSON and pages.

use super::{Behind, Cause, CauseKind, CauseShare, Stall, Tried, Whose, Why};
use core::fmt::Write as _;

/// A second cause is named from this share of the stall on.
const SECOND: f64 = 0.1;
/// A queue with room for fewer packets than a key frame has is short.
const SHORT: u32 = 32;
/// Below this a call's rate did not fall.
const FALL: f64 = 0.8;

/// Milliseconds in words.
pub fn time(ms: f64) -> String {
    match ms {
        ms if ms < 0.05 => "0".to_owned(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 9_995.0 => format!("{:.2} s", ms / 1e3),
        ms => format!("{:.1} s", ms / 1e3),
    }
}

/// The text on a call that did not stall; `worst_ms` is its longest frame delay.
pub fn none(call: &str, worst_ms: Option<f64>) -> String {
    let worst = worst_ms.map(|ms| format!("; its longest frame delay was {}", time(ms)));
    format!("{call} did not stall{}.", worst.unwrap_or_default())
}

impl Why {
    /// Puts into words how often the call `call` stalled, why, and what its control did in the longest.
    pub fn tell(&mut self, call: &str, control: &str) {
        let longest = self.stalls.iter();
        let longest = longest.reduce(|a, b| if b.stall_s > a.stall_s { b } else { a });
        if let Some(longest) = longest {
            self.text = self.causes_in(call, control) + &ending(self.count, longest, control);
        }
    }

    fn causes_in(&self, call: &str, control: &str) -> String {
        let all = self.causes.iter().chain(&self.refuted);
        let total: f64 = all.map(|cause| cause.stall_s).sum();
        let times = match self.count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let mut text = format!("{call} stalled {times}, {} in all. ", time(total * 1e3));
        // Writing to a string does not fail.
        for (place, cause) in self.causes.iter().enumerate().take(2) {
            if place == 0 || cause.named_share() >= SECOND {
                let perhaps = if self.rare { "Perhaps " } else { "" };
                _ = write!(
                    text,
                    "{perhaps}{}: {}. ",
                    cause.share_in(),
                    cause.cause.text(control)
                );
            }
        }
        if self.rare {
            text += "It stalls in too few runs with other seeds for that to be tried. ";
        }
        if self.causes.is_empty() {
            text +=
                "Nothing that was left out, alone or with another, surely takes its stall away. ";
        }
        if let Some(refuted) = self.refuted.first() {
            let cause = refuted.cause.text(control);
            _ = write!(text, "{}: {cause}. ", refuted.refutation());
        }
        text
    }
}

impl CauseShare {
    /// The share that it is named with: what is gone without it, or else what the packets suggest.
    pub fn named_share(&self) -> f64 {
        self.tried.as_ref().map_or(self.share, |tried| tried.gone)
    }

    /// How much of the stall it is.
    fn share_in(&self) -> String {
        match &self.tried {
            Some(tried) => tried.gone_in(),
            None => format!("{:.0} % of it", self.share * 100.0),
        }
    }

    fn refutation(&self) -> String {
        match &self.tried {
            Some(tried) => {
                let which = if tried.gone < self.share / 2.0 {
                    "Not the cause, since"
                } else {
                    "Not told from chance:"
                };
                format!(
                    "{which} without {} there are {} of stall instead of {} ({} runs with other seeds)",
                    tried.left_out,
                    time(tried.without_s * 1e3),
                    time(tried.with_s * 1e3),
                    tried.runs,
                )
            }
            None => "Not tried, since nothing can be left out for it".to_owned(),
        }
    }
}

impl Tried {
    /// How much of the stall is gone.
    fn gone_in(&self) -> String {
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let interval = self.ci95.map(|ends| ends.map(percent));
        let interval = interval.filter(|[low, high]| low != high);
        let interval = interval.map(|[low, high]| format!(", {low} to {high} %"));
        let interval = interval.unwrap_or_default();
        format!(
            "{} % of it is gone without {} ({} runs with other seeds{interval})",
            percent(self.gone),
            self.left_out,
            self.runs
        )
    }
}

/// When the longest stall was, and what its control did in it.
fn ending(count: u64, longest: &Stall, control: &str) -> String {
    let which = match count {
        1 => "It was",
        _ => "The longest was",
    };
    let mut text = format!(
        "{which} from {:.1} to {:.1} s",
        longest.from_s, longest.to_s
    );
    if longest.rate_lowest_mbps < longest.rate_before_mbps * FALL {
        // Writing to a string does not fail.
        _ = write!(
            text,
            "; in it {} went from {:.2} down to {:.2} Mbit/s",
            named(control),
            longest.rate_before_mbps,
            longest.rate_lowest_mbps,
        );
    }
    text + "."
}

fn named(control: &str) -> String {
    match control {
        "" => "the call".to_owned(),
        control => format!("its control ({control})"),
    }
}

impl Cause {
    /// In words, as the rest of a sentence; `control` is that of the call.
    pub fn text(&self, control: &str) -> String {
        let long = if self.waited_ms > 0.0 {
            format!(" up to {}", time(self.waited_ms))
        } else {
            String::new()
        };
        let waited = if self.back {
            format!("reports and requests of its receiver waited{long} on their way back")
        } else {
            format!("frames waited{long}")
        };
        let late = match (self.back, self.failed) {
            (true, 1..) if self.waited_ms > 0.0 => {
                format!(", so that {}, which were lost, came late", self.packets())
            }
            _ => String::new(),
        };
        let queue = self.queue.as_deref().unwrap_or_default();
        match self.kind {
            CauseKind::Queue => self.in_queue(&waited, control) + &late,
            CauseKind::Dip => match (self.carried_mbps, self.usual_mbps) {
                (Some(carried), Some(usual)) => format!(
                    "{waited} for {queue}, which carried {} meanwhile and usually carries {}{late}",
                    mbps(carried),
                    mbps(usual),
                ),
                _ => format!("{waited} for {queue}, which carries little at times{late}"),
            },
            CauseKind::Device => format!(
                "{waited} in the device behind the queue of {queue}, where no discipline manages packets{late}"
            ),
            CauseKind::Jitter => format!(
                "{waited} on the wire behind {queue}, which delivers some packets later than others{late}"
            ),
            CauseKind::Loss if self.is_unseen() => format!("the wire behind {queue} loses packets"),
            CauseKind::Policing if self.is_unseen() => {
                format!("a limit on the rate at {queue} drops packets")
            }
            CauseKind::Distance if self.is_unseen() => "the way alone takes long".to_owned(),
            CauseKind::Loss if self.back => format!(
                "the wire behind {queue} lost {}, and frames waited up to {} at their sender",
                self.packets(),
                time(self.waited_ms),
            ),
            CauseKind::Loss => format!(
                "the wire behind {queue} lost {}, and frames waited up to {} for what was lost",
                self.packets(),
                time(self.waited_ms),
            ),
            CauseKind::Policing => format!(
                "a limit on the rate at {queue} dropped {} at once, and frames waited up to {} for them",
                self.packets(),
                time(self.waited_ms),
            ),
            CauseKind::Access => {
                format!(
                    "{waited} for the line of their own sender, which is slower than what it sends"
                )
            }
            CauseKind::Sender => format!(
                "{} held frames back for up to {}, although no queue on the way was long",
                named(control),
                time(self.waited_ms),
            ),
            CauseKind::Distance => format!(
                "the way alone takes {}, without any wait",
                time(self.waited_ms)
            ),
            CauseKind::Unknown => "nothing that was observed explains it".to_owned(),
        }
    }

    /// No packets told of it.
    fn is_unseen(&self) -> bool {
        self.waited_ms == 0.0 && self.failed == 0
    }

    /// A wait in a queue, or drops by it.
    fn in_queue(&self, waited: &str, control: &str) -> String {
        let queue = self.queue.as_deref().unwrap_or_default();
        let (about, behind) = (self.about_queue(), self.behind(control));
        let dropped = || format!("dropped {}", self.packets());
        let happened = match (self.waited_ms > 0.0, self.failed) {
            (true, 1..) if !self.back => {
                format!(
                    "{waited} in the queue of {queue}{about}, which {}",
                    dropped()
                )
            }
            (true, _) => format!("{waited} in the queue of {queue}{about}"),
            (false, 0) => format!("it is the queue of {queue}{about}"),
            (false, _) => format!("the queue of {queue}{about} {}", dropped()),
        };
        format!("{happened}, {behind}")
    }

    /// The packets that did not get further.
    fn packets(&self) -> String {
        let failed_there = matches!(self.kind, CauseKind::Loss | CauseKind::Policing);
        match (
            self.back && (failed_there || self.waited_ms == 0.0),
            self.failed,
        ) {
            (true, 1) => "an answer to the call".to_owned(),
            (true, count) => format!("{count} answers to the call"),
            (false, 1) => "a packet of the call".to_owned(),
            (false, count) => format!("{count} packets of the call"),
        }
    }

    /// The discipline on the queue, and where it is, in parentheses; nothing of a queue without packets seen.
    fn about_queue(&self) -> String {
        let Some(discipline) = &self.discipline else {
            return String::new();
        };
        let mut about = format!(" ({discipline}");
        if let Some(away) = self.away_ms.filter(|away| *away >= 0.5) {
            _ = write!(about, ", {} away from the home", time(away));
        }
        if let Some(room) = self.room_packets.filter(|room| *room <= SHORT) {
            _ = write!(about, ", short: room for {room} packets");
        }
        if self.under_test == Some(false) {
            about += ", not managed by the discipline under test";
        }
        about + ")"
    }

    fn behind(&self, control: &str) -> String {
        let Some(first) = self.behind.first() else {
            return "behind no packets that were seen".to_owned();
        };
        let others: Vec<String> = self.behind.iter().skip(1).map(brief).collect();
        let more = match others.as_slice() {
            [] => String::new(),
            others => format!("; also {}", others.join(", ")),
        };
        if first.whose == Whose::Own {
            return format!(
                "behind the call’s own packets: {} sent more than it got{more}",
                named(control)
            );
        }
        format!("behind {}, {}{more}", brief(first), whose(first))
    }
}

fn brief(behind: &Behind) -> String {
    let flows = match behind.flows {
        0 | 1 => String::new(),
        flows => format!("{flows} flows, "),
    };
    let name = match behind.whose {
        Whose::Own => "the call itself".to_owned(),
        _ => behind.name.clone(),
    };
    if behind.share > 0.0 {
        format!("{name} ({flows}{:.0} % of the bytes)", behind.share * 100.0)
    } else {
        name
    }
}

fn whose(behind: &Behind) -> String {
    let host = behind.host.as_ref().map(|host| format!(" ({host})"));
    let host = host.unwrap_or_default();
    match behind.whose {
        Whose::Own => String::new(),
        Whose::Computer => format!("from the same computer{host}"),
        Whose::House => format!("from another computer in the house{host}"),
        Whose::Elsewhere => "which is not of this house".to_owned(),
    }
}

fn mbps(rate: f64) -> String {
    format!("{rate:.1} Mbit/s")
}

impl Why {
    /// The cause of most of the stall.
    pub fn main(&self) -> Option<&Cause> {
        self.causes.first().map(|first| &first.cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(share: f64, tried: Option<(f64, [f64; 2])>) -> CauseShare {
        CauseShare {
            stall_s: share,
            share,
            cause: Cause {
                waited_ms: 300.0,
                ..Cause::of(CauseKind::Jitter, Some("radio".to_owned()))
            },
            tried: tried.map(|(gone, ci95)| Tried {
                left_out: "the jitter of radio".to_owned(),
                is_capacity: false,
                runs: 6,
                with_s: 2.0,
                without_s: 2.0 * (1.0 - gone),
                gone,
                ci95: Some(ci95),
            }),
        }
    }

    fn told(causes: Vec<CauseShare>, refuted: Vec<CauseShare>, rare: bool) -> String {
        let why = Why {
            text: String::new(),
            count: 2,
            causes,
            refuted,
            rare,
            stalls: Vec::new(),
        };
        why.causes_in("call", "gcc")
    }

    #[test]
    fn what_is_gone_without_a_cause_is_its_share() {
        let text = told(vec![share(1.0, Some((0.6, [0.4, 0.8])))], Vec::new(), false);
        let part = "60 % of it is gone without the jitter of radio (6 runs with other seeds, 40 to 80 %): \
                    frames waited up to 300 ms on the wire behind radio";
        assert!(text.contains(part), "{text}");
        let text = told(vec![share(0.7, Some((1.0, [1.0, 1.0])))], Vec::new(), false);
        assert!(text.contains("(6 runs with other seeds): "), "{text}");
    }

    #[test]
    fn a_suspicion_that_was_not_tried_is_no_more_than_that() {
        let text = told(vec![share(1.0, None)], Vec::new(), false);
        assert!(text.contains(" in all. 100 % of it: frames"), "{text}");
        let text = told(vec![share(1.0, None)], Vec::new(), true);
        assert!(text.contains("Perhaps 100 % of it: frames"), "{text}");
        assert!(text.contains("too few runs with other seeds"), "{text}");
    }

    #[test]
    fn a_refuted_cause_is_said_to_be_none_or_not_to_be_told_from_chance() {
        let text = told(
            Vec::new(),
            vec![share(1.0, Some((0.1, [-0.2, 0.3])))],
            false,
        );
        assert!(text.contains("Nothing that was left out"), "{text}");
        let none = "Not the cause, since without the jitter of radio there are 1.80 s of stall instead of 2.00 s";
        assert!(text.contains(none), "{text}");
        let text = told(
            Vec::new(),
            vec![share(1.0, Some((0.6, [-0.1, 0.9])))],
            false,
        );
        assert!(text.contains("Not told from chance: without"), "{text}");
        let text = told(Vec::new(), vec![share(1.0, None)], false);
        assert!(
            text.contains("Not tried, since nothing can be left out"),
            "{text}"
        );
    }
}

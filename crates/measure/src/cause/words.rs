//! Causes in words: one text for tables, JSON and pages.

use super::{Behind, Cause, CauseShare, Kind, Stall, Whose, Why};
use core::fmt::Write as _;

/// A second cause is named from this share of the stall on.
const SECOND: f64 = 0.1;
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

/// The whole text on a call: how often it stalled, why, and what its control did in the longest.
pub fn text(
    call: &str,
    control: &str,
    causes: &[CauseShare],
    (count, longest): (usize, Option<&Stall>),
    worst_ms: Option<f64>,
) -> String {
    let Some(longest) = longest else {
        let worst = worst_ms.map(|ms| format!("; its longest frame delay was {}", time(ms)));
        return format!("{call} did not stall{}.", worst.unwrap_or_default());
    };
    let total: f64 = causes.iter().map(|cause| cause.stall_s).sum();
    let times = match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let mut text = format!("{call} stalled {times}, {} in all. ", time(total * 1e3));
    for (place, cause) in causes.iter().enumerate().take(2) {
        if place == 0 || cause.share >= SECOND {
            // Writing to a string does not fail.
            _ = write!(
                text,
                "{:.0} % of it: {}. ",
                cause.share * 100.0,
                cause.cause.text(control)
            );
        }
    }
    _ = write!(
        text,
        "{} from {:.1} to {:.1} s",
        if count == 1 {
            "It was"
        } else {
            "The longest was"
        },
        longest.from_s,
        longest.to_s
    );
    if longest.rate_lowest_mbps < longest.rate_before_mbps * FALL {
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
        let waited = format!("frames waited up to {}", time(self.waited_ms));
        let queue = self.queue.as_deref().unwrap_or_default();
        match self.kind {
            Kind::Queue => {
                let (about, behind) = (self.about_queue(), self.behind(control));
                let dropped = format!("dropped {}", packets(self.failed));
                let happened = match (self.waited_ms > 0.0, self.failed) {
                    (true, 0) => format!("{waited} in the queue of {queue} ({about})"),
                    (true, _) => {
                        format!("{waited} in the queue of {queue} ({about}), which {dropped}")
                    }
                    (false, _) => format!("the queue of {queue} ({about}) {dropped}"),
                };
                format!("{happened}, {behind}")
            }
            Kind::Dip => format!(
                "{waited} for {queue}, which carried {} meanwhile and usually carries {}",
                mbps(self.carried_mbps),
                mbps(self.usual_mbps),
            ),
            Kind::Device => format!(
                "{waited} in the device behind the queue of {queue}, where no discipline manages packets"
            ),
            Kind::Loss => format!(
                "the wire behind {queue} lost {}, and frames waited up to {} for what was lost",
                packets(self.failed),
                time(self.waited_ms),
            ),
            Kind::Policing => format!(
                "a limit on the rate at {queue} dropped {} at once, and frames waited up to {} for them",
                packets(self.failed),
                time(self.waited_ms),
            ),
            Kind::Access => {
                format!(
                    "{waited} for the line of their own sender, which is slower than what it sends"
                )
            }
            Kind::Sender => format!(
                "{} held frames back for up to {}, although no queue on the way was long",
                named(control),
                time(self.waited_ms),
            ),
            Kind::Distance => format!(
                "the way alone takes {}, without any wait",
                time(self.waited_ms)
            ),
            Kind::Unknown => "nothing that was observed explains it".to_owned(),
        }
    }

    /// The discipline on the queue, and where it is.
    fn about_queue(&self) -> String {
        let mut about = self.discipline.clone().unwrap_or_default();
        if let Some(away) = self.away_ms.filter(|away| *away >= 0.5) {
            _ = write!(about, ", {} away from the home", time(away));
        }
        if self.under_test == Some(false) {
            about += ", not managed by the discipline under test";
        }
        about
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
        Whose::Own => "the call itself",
        _ => &behind.name,
    };
    format!("{name} ({flows}{:.0} % of the bytes)", behind.share * 100.0)
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

fn packets(count: u64) -> String {
    match count {
        1 => "a packet of the call".to_owned(),
        count => format!("{count} packets of the call"),
    }
}

fn mbps(rate: Option<f64>) -> String {
    rate.map_or_else(|| "nothing".to_owned(), |rate| format!("{rate:.1} Mbit/s"))
}

impl Why {
    /// The cause of most of the stall.
    pub fn main(&self) -> Option<&Cause> {
        self.causes.first().map(|first| &first.cause)
    }
}

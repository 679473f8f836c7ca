//! `analects autorate`: the rates that a line's shaper should have, by what passes.

pub mod auto;
mod eyes;
mod follow;
mod forwarded;
mod headers;
mod limits;
mod observe;
mod standing;
mod view;

use crate::cli::{AutorateArgs, Favoured};
use crate::on_host::{device, now};
use crate::others;
use crate::page::Board;
use autorate::{Controller, Decision, Registry, Way, Ways};
use command::Refused;
pub use follow::as_applied;
pub use forwarded::Forwarded;
use netcfg::{Rates, ShapedRate};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use units::{Choice, Instant, Rate};
use view::View;

/// How often packets are looked at and the controller is asked.
const BEAT: Duration = Duration::from_millis(5);

/// Follows a line, or only looks at it, until a signal comes; a page is told what becomes of a line that is followed.
pub fn run(args: &AutorateArgs, page: Option<Arc<Board>>) -> Result<(), Refused> {
    if let Some(file) = &args.from_cake_autorate {
        return others::migrate(file);
    }
    let device = device("--dev", args.dev.as_deref().unwrap_or_default())?;
    if args.observe {
        observe::observe(args, &device)
    } else {
        follow::by_hand(args, &device, page)
    }
}

fn instant(at: Duration) -> Instant {
    let nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
    Instant::ZERO + units::Duration::from_nanos(nanos)
}

/// The controller that spares what is favoured.
pub fn controller(favour: Favoured) -> Choice {
    let mut choice = Choice::plain("drain");
    choice.settings = vec![("favour".to_owned(), favour.word().to_owned())];
    choice
}

/// A controller that is told what passes.
struct Pilot {
    controller: Box<dyn Controller>,
    /// The last moment that it was told of.
    last: Duration,
}

impl Pilot {
    /// One that begins with the rates `first`.
    fn new(mut controller: Choice, first: Rates) -> Result<Self, Refused> {
        let starts = [("start_down", first.down), ("start_up", first.up)];
        let starts = starts
            .into_iter()
            .filter_map(|(key, rate)| Some((key.to_owned(), netcfg::tc::rate(rate?.get()))));
        controller.settings.extend(starts);
        let controller = Registry::builtin().build(&controller);
        let controller = controller.map_err(|refusal| Refused::because(refusal, "report this"))?;
        Ok(Pilot {
            controller,
            last: Duration::ZERO,
        })
    }

    /// Tells the controller what passed by now; this moment, and what it decides.
    fn beat(&mut self, view: &mut View) -> std::io::Result<(Duration, Ways<Decision>)> {
        // Not before anything else that takes time: all ages are counted from here.
        let at = now();
        let (controller, last) = (&mut self.controller, &mut self.last);
        view.look(&mut |ago, signal| {
            // Its moments never run backwards, whatever happens to the host's clock.
            *last = at.saturating_sub(ago).max(*last);
            controller.tell(instant(*last), &signal);
        })?;
        self.last = at.max(self.last);
        Ok((at, self.controller.decide(instant(self.last))))
    }
}

/// A change of a rate, after that time.
fn changed(
    passed: Duration,
    device: &netcfg::Device,
    way: Way,
    [from, to]: [ShapedRate; 2],
    Decision { why, told, .. }: &Decision,
) -> String {
    let seconds = passed.as_secs_f64();
    format!("{seconds:.1} s: {device} {way}: {from} -> {to}, {why} (by {told})")
}

/// A decision as a JSON object. `rate` is what it comes to.
fn object(
    device: &netcfg::Device,
    at: Duration,
    way: Way,
    decision: &Decision,
    rate: Rate,
) -> serde_json::Value {
    json!({
        "time_s": at.as_secs_f64(),
        "device": device,
        "way": way.to_string(),
        "rate_bps": rate.as_bits(),
        "reason": decision.why.name(),
        "why": decision.why.to_string(),
        "told_by": decision.told.to_string(),
    })
}

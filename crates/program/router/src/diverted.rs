//! What `analects pace` and `analects gateway` have in common: packets that rules of netfilter divert to this
//! process, until a signal comes.

mod keeper;

use crate::control::Control;
use crate::on_host::host;
use crate::privileges;
use command::Refused;
use command::print;
use core::ops::ControlFlow;
use keeper::Keeper;
use live::{Gate, Gates};
use netcfg::divert::{self, Diversion, Diverting, Sole};
use netcfg::{Host, Runner, Store};
use std::path::Path;
use units::param::Settings;
use units::{Choice, Duration, Refusal};

type Result<T> = core::result::Result<T, Refused>;

/// How long another process may change this host's network meanwhile.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// A signal waits no longer than this.
pub const LOOK: Duration = Duration::from_millis(100);

/// What it says once the rules are there.
pub const SERVES: &str = "packets pass through this process now";

/// What decides about the packets.
pub trait Service {
    /// The gates, in the order that the rest expects.
    fn gates(&self) -> Result<Vec<Gate>>;

    /// How often [`Self::beat`] is due, at least as often as looks are.
    fn every(&self) -> Duration {
        LOOK
    }

    /// What is due more often than a look.
    ///
    /// # Errors
    /// If that fails; it ends then.
    fn beat(&mut self, _gates: &mut Gates) -> Result<()> {
        Ok(())
    }

    /// Looks at how it stands, and may change it, ten times a second; other programs took the rules away
    /// `restored` times.
    fn look(&mut self, gates: &mut Gates, restored: u64);

    /// Changes settings while packets wait.
    fn change(
        &mut self,
        gates: &mut Gates,
        settings: &Settings,
    ) -> core::result::Result<(), Refusal>;
}

/// What was served.
pub struct Served {
    /// The gates, through which all has passed.
    pub gates: Gates,
    /// How often other programs took the rules away, and they were put back.
    pub restored: u64,
}

/// Diverts packets and serves them until a signal comes; then all is as before.
pub fn serve(state: &Path, diversion: &Diversion, service: &mut dyn Service) -> Result<Served> {
    let purpose = diversion.purpose();
    let mut host = host(false)?;
    let open = |host: &Host| Store::open(state, PATIENCE, host);
    let store = open(&host)?;
    let _sole = Sole::claim(&store, purpose)?;
    // Before any rule leads there, and in place of a process that was killed.
    let mut gates = Gates::new(service.gates()?);
    if divert::restore(&mut host, &store, purpose)? {
        eprintln!("rules that a former process had left were taken away");
    }
    let diverting = Diverting::prepare(&mut host, diversion, false)?;
    let mut control = Control::open(&purpose.socket(&store))?;
    for command in diverting.commands() {
        eprintln!("{command}");
    }
    diverting.apply(&mut host, &store)?;
    drop(store);
    let left = privileges::keep(privileges::SERVING);
    // Has this thread's privileges.
    let kept = diverting.kept(&mut Host::default());
    let keeper = kept.map(|kept| Keeper::begin(kept, state.to_owned()));
    eprintln!("{SERVES}");
    let every = service.every();
    let (mut restored, mut due, mut failed) = (0, 0.0, Ok(()));
    let served = match &keeper {
        Ok(keeper) => left.and_then(|()| {
            let each = &mut |gates: &mut Gates| {
                failed = service.beat(gates);
                if failed.is_err() {
                    return ControlFlow::Break(());
                }
                if gates.seconds() < due {
                    return ControlFlow::Continue(());
                }
                due = gates.seconds() + LOOK.as_secs_f64();
                restored = keeper.restored();
                control.answer(&mut |settings| service.change(gates, settings));
                service.look(gates, restored);
                if host.interrupted() || keeper.has_failed() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            gates.serve(every, each).map_err(broke)
        }),
        Err(_) => left,
    };
    let kept = keeper.and_then(Keeper::end);
    // Whatever has happened, and before packets that wait are let pass: no more come then.
    let host = &mut Host::default();
    let undone = open(host).and_then(|store| divert::restore(host, &store, purpose));
    gates.release();
    served?;
    failed?;
    kept?;
    undone?;
    Ok(Served { gates, restored })
}

/// Says at the end how often rules were put back.
pub fn tell(restored: u64) {
    if restored > 0 {
        eprintln!("other programs took the rules away; they were put back {restored} times");
    }
}

/// A failure of what carries the packets.
pub fn broke(error: live::Error) -> Refused {
    Refused::failed(&error.message, &error.help)
}

/// Prints the commands that would be run, with those that take away what a former process left.
pub fn planned(state: &Path, diversion: &Diversion) -> Result<()> {
    let mut host = Host::default();
    let left = divert::restoring(&mut host, &Store::look(state), diversion.purpose())?;
    let mut commands = left;
    if commands.is_empty() {
        commands = Diverting::prepare(&mut host, diversion, true)?.commands();
    } else {
        eprintln!("a former process left rules, which the next one takes away first:");
    }
    let lines: Vec<String> = commands
        .iter()
        .map(|command| format!("{command}\n"))
        .collect();
    print(&lines.concat())
}

/// The discipline that an option names.
pub fn choice(option: &str, text: &str) -> Result<Choice> {
    let help = "`analects list disciplines` lists the disciplines";
    text.parse::<Choice>()
        .map_err(|refusal| Refused::because(refusal.within(option), help))
}

/// A setting as an option or a line has it.
pub fn setting(option: &str, text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Refused::new(
            &format!("{option}: {text:?} has no ="),
            "write for example limit=500p",
        )),
    }
}

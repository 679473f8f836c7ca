//! `analects pace`: incoming web traffic of this host, held to a rate.

use crate::cli::PaceArgs;
use crate::refused::Refused;
use crate::run::print;
use core::ops::ControlFlow;
use live::{Paced, Pacing};
use netcfg::divert::{self, Diversion, Diverting, Sole};
use netcfg::{Host, Runner, Store};
use qdisc::{Choice, Env, Home, Qdisc, Registry};

type Result<T> = core::result::Result<T, Refused>;

/// How long another process may change this host's network meanwhile.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Diverts packets and paces them until a signal comes; then all is as before.
pub fn run(args: &PaceArgs) -> Result<()> {
    let discipline = discipline(args)?;
    let diversion = diversion(args)?;
    if args.dry_run {
        return planned(args, &diversion);
    }
    let failed = |error: std::io::Error| {
        Refused::failed(
            &format!("signals cannot be caught: {error}"),
            "nothing was changed",
        )
    };
    let mut host = Host::catching_signals().map_err(failed)?;
    let open = |host: &Host| Store::open(&args.state, PATIENCE, host);
    let store = open(&host)?;
    let _sole = Sole::claim(&store)?;
    // Before any rule leads there, and in place of a process that was killed.
    let pacing = Pacing::new(args.queue, discipline);
    let mut pacing = pacing.map_err(|error| Refused::failed(&error.message, &error.help))?;
    if divert::restore(&mut host, &store)? {
        eprintln!("rules that a former process had left were taken away");
    }
    let diverting = Diverting::prepare(&mut host, &diversion, false)?;
    for command in diverting.commands() {
        eprintln!("{command}");
    }
    diverting.apply(&mut host, &store)?;
    drop(store);
    let served = serve(args, &mut pacing, &host);
    // Whatever has happened, and before packets that wait are let pass: no more come then.
    let restored =
        open(&Host::default()).and_then(|store| divert::restore(&mut Host::default(), &store));
    pacing.release();
    served?;
    restored?;
    finished(args, &pacing.stands())
}

/// The commands that would be run, with those that take away what a former process left.
fn planned(args: &PaceArgs, diversion: &Diversion) -> Result<()> {
    let mut host = Host::default();
    let left = divert::restoring(&mut host, &Store::look(&args.state))?;
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

fn serve(args: &PaceArgs, pacing: &mut Pacing, host: &Host) -> Result<()> {
    let mut watch = args.watch.then(Watch::default);
    let each = &mut |paced: &Paced| {
        if let Some(watch) = &mut watch {
            watch.look(paced);
        }
        match host.interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let served = pacing.serve(each);
    served.map_err(|error| Refused::failed(&error.message, &error.help))
}

fn discipline(args: &PaceArgs) -> Result<Box<dyn Qdisc<u32>>> {
    let refused = |refusal: units::Refusal, option: &str| {
        Refused::because(
            refusal.within(option),
            "`analects describe pacer` lists its settings",
        )
    };
    let policy = args.discipline.parse::<Choice>();
    let policy = policy.map_err(|refusal| refused(refusal, "--discipline"))?;
    let mut settings = vec![("rate".to_owned(), args.rate.clone())];
    for setting in &args.settings {
        let Some((key, value)) = setting.split_once('=') else {
            let message = format!("--set: {setting:?} has no =");
            return Err(Refused::new(&message, "write for example --set queue=30ms"));
        };
        settings.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let choice = Choice {
        name: "pacer".to_owned(),
        children: vec![policy],
        settings,
    };
    let env = Env {
        home: Some(Home::Receivers),
        ..Env::default()
    };
    let built = Registry::builtin().build(&choice, &env);
    built.map_err(|refusal| {
        let known = refusal.message.contains("parameter rate");
        refused(refusal, if known { "--rate" } else { "pace" })
    })
}

fn diversion(args: &PaceArgs) -> Result<Diversion> {
    let device = args.dev.as_deref().map(str::parse).transpose();
    let device = device
        .map_err(|error| Refused::new(&format!("--dev: {error}"), "`ip link` lists the devices"))?;
    Ok(Diversion {
        queue: args.queue,
        device,
    })
}

/// What happened since the last line.
#[derive(Default)]
struct Watch {
    before: Option<Paced>,
}

impl Watch {
    fn look(&mut self, paced: &Paced) {
        let Some(before) = &self.before else {
            self.before = Some(paced.clone());
            return;
        };
        if paced.seconds - before.seconds >= 1.0 {
            eprintln!("{}", line(before, paced));
            self.before = Some(paced.clone());
        }
    }
}

/// What passed from one moment to another.
fn line(before: &Paced, now: &Paced) -> String {
    let seconds = (now.seconds - before.seconds).max(1e-9);
    let mbit = |bytes: u64| bytes as f64 * 8e-6 / seconds;
    let part = |paced: &Paced, name: &str| {
        let found = paced.parts.iter().find(|part| part.name == name);
        found.map_or(0, |part| part.bytes)
    };
    let of = |name: &str| mbit(part(now, name) - part(before, name));
    format!(
        "{:8.2} Mbit/s came, {:8.2} paced, {:8.2} of calls; dropped {}; {} packets and {:.0} kB wait; {:.1} % of a processor",
        mbit(now.tally.bytes - before.tally.bytes),
        of("paced"),
        of("passed"),
        now.tally.drops - before.tally.drops,
        now.backlog.packets,
        now.backlog.bytes as f64 / 1e3,
        100.0 * (now.processor_seconds - before.processor_seconds) / seconds,
    )
}

/// The summary.
fn finished(args: &PaceArgs, paced: &Paced) -> Result<()> {
    let start = Paced {
        seconds: 0.0,
        processor_seconds: 0.0,
        tally: live::Tally::default(),
        backlog: qdisc::Backlog::default(),
        parts: Vec::new(),
    };
    eprintln!("in {:.0} s:{}", paced.seconds, line(&start, paced));
    let Some(file) = &args.json else {
        return Ok(());
    };
    let text = serde_json::to_string_pretty(paced);
    let text = text.map_err(|error| Refused::failed(&error.to_string(), "report this"))?;
    std::fs::write(file, text + "\n").map_err(|error| crate::files::unwritable(file, &error))
}

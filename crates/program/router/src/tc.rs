//! `analects tc`: a shaper with a discipline on a device of this host, and back.

mod computers;
mod confirm;
mod counters;
mod flows;
mod followers;
mod keep;
mod looked;
mod paged;
mod show;

use crate::autorate::auto::Auto;
use crate::autorate::{as_applied, controller};
use crate::cli::{SHAPED, TRIAL, TcApply, TcClear, TcCommand};
use crate::diverted::tell_renamed;
#[cfg(feature = "measure")]
use crate::my_line::MyLine;
use crate::on_host::{device, host};
use crate::others;
use crate::watch::{self, Rules};
use command::Refused;
use command::print;
use core::fmt::Display;
use core::ops::ControlFlow;
use netcfg::{
    Claim, Device, Discipline, Flowtable, Follow, Host, Overhead, Settings, ShapedRate, Store,
    Threshold,
};
use std::path::Path;
use units::{Bytes, Choice, Duration, Refusal};

pub use paged::page;

type Result<T> = core::result::Result<T, Refused>;

/// Runs one of the subcommands.
pub fn tc(command: TcCommand) -> Result<()> {
    match command {
        TcCommand::Apply(args) => apply(*args),
        TcCommand::Show(args) => show::show(&args),
        TcCommand::Clear(args) => clear(&args),
        TcCommand::Keep(args) => {
            let page = page(&args.page, &args.state, args.dev.as_deref())?;
            keep::keep(&args, page)
        }
    }
}

fn apply(mut args: TcApply) -> Result<()> {
    let auto = Auto::take(&mut args.down, &mut args.up)?;
    if args.watch && auto.is_any() {
        let message = "--watch follows the sizes of flows, not a rate that finds itself as well";
        return Err(Refused::new(message, "name a rate, or leave --watch out"));
    }
    #[cfg(feature = "measure")]
    let mut args = filled(&args)?;
    auto.begin(&mut args.down, &mut args.up)?;
    let args = &args;
    let device = device("--dev", &args.dev)?;
    let mut settings = Settings {
        follow: auto.is_any().then(|| Follow {
            controller: controller(args.favour).to_string(),
            least: auto.rates(|limits| limits.least),
            most: auto.rates(|limits| limits.most),
        }),
        ..settings(args)?
    };
    let rules = rules(args)?;
    let trial = trial(args)?.filter(|_| !args.dry_run);
    // What shapes it already is named before anything is changed.
    others::look(
        &[&device, &device.shaped_ingress()],
        args.replace || args.dry_run,
    )?;
    let mut host = host(args.dry_run)?;
    let stays = settings.follow.is_some() && !args.no_follow && !args.dry_run;
    // Before anything is changed: where another process follows the line, that is told.
    let claim = stays.then(|| Claim::of(&args.state, &device)).transpose()?;
    let before = Store::look(&args.state).load(&device)?;
    apply_settings(args, &mut host, &device, &settings)?;
    if let Some(span) = trial {
        let before = before.as_ref().map(|journal| &journal.settings);
        confirm::confirm(args, &host, &device, before, span)?;
    }
    if let Some(claim) = claim {
        return as_applied(&mut host, &args.state, &device, claim, None);
    }
    let (Some(rules), Some(first)) = (rules, settings.threshold) else {
        return Ok(());
    };
    if args.dry_run {
        return Ok(());
    }
    let change = &mut |host: &mut Host, threshold| {
        if stands(args, &device, &settings)? {
            settings.threshold = Some(threshold);
            apply_settings(args, host, &device, &settings)?;
            return Ok(ControlFlow::Continue(()));
        }
        eprintln!("{device}: another program changed or cleared the setup; it is left as it is");
        Ok(ControlFlow::Break(()))
    };
    watch::follow(&mut host, &device, &rules, first, change)
}

/// The same with what the file of `--from` says.
#[cfg(feature = "measure")]
fn filled(args: &TcApply) -> Result<TcApply> {
    let mut filled = args.clone();
    let Some(path) = &args.from else {
        return Ok(filled);
    };
    let mut line = MyLine::read(path)?;
    filled.up = Some(line.rate(netcfg::Direction::Up, args.up.as_deref())?);
    filled.down = Some(line.rate(netcfg::Direction::Down, args.down.as_deref())?);
    let check = |text: &str| Discipline::new(&text.parse()?).map(drop);
    filled.discipline = line.discipline(args.discipline.as_deref(), check)?;
    filled.overhead = line.overhead(args.overhead.as_deref())?;
    line.tell();
    Ok(filled)
}

/// How long a set-up is on trial, if it is.
fn trial(args: &TcApply) -> Result<Option<std::time::Duration>> {
    let Some(text) = &args.confirm else {
        return Ok(None);
    };
    let help = format!("write {} to {}, such as 5m", TRIAL.start(), TRIAL.end());
    let span: Duration = text
        .parse()
        .map_err(|error| refused("--confirm", &error, &help))?;
    if TRIAL.contains(&span) {
        Ok(Some(std::time::Duration::from_nanos(span.as_nanos())))
    } else {
        Err(refused("--confirm", &format_args!("found {text}"), &help))
    }
}

/// Whether the applied settings are still those asked for.
fn stands(args: &TcApply, device: &Device, settings: &Settings) -> Result<bool> {
    let journal = Store::look(&args.state).load(device)?;
    Ok(journal.is_some_and(|journal| journal.complete && journal.settings == *settings))
}

fn apply_settings(
    args: &TcApply,
    host: &mut Host,
    device: &Device,
    settings: &Settings,
) -> Result<()> {
    let store = store(&args.state, args.dry_run, host)?;
    let (replace, assume) = (args.replace, args.dry_run);
    let prepared = netcfg::prepare(host, &store, device, settings, replace, assume)?;
    for table in Flowtable::all(host).iter().filter(|table| table.offload) {
        if table.takes(device) {
            eprintln!("{}", passed_by(table, "this qdisc", device));
        }
    }
    for note in prepared.notes() {
        eprintln!("{}", scenario::printable(note, 500));
    }
    let commands = prepared.commands();
    if commands.is_empty() {
        eprintln!("{device} has all of this already");
    }
    print(&lines(&commands))?;
    if args.dry_run {
        return Ok(());
    }
    Ok(netcfg::apply(host, &store, &prepared)?)
}

/// What a flowtable takes from a command.
pub fn passed_by(table: &Flowtable, what: &str, device: &Device) -> String {
    let kind = if table.offload {
        "with offload"
    } else {
        "of software"
    };
    format!(
        "the flowtable {} {kind} takes {device}'s packets past {what}: switch the firewall's flow \
         offloading off (OpenWrt: Network, Firewall, Routing/NAT Offloading)",
        table.name
    )
}

fn clear(args: &TcClear) -> Result<()> {
    let mut host = host(args.dry_run)?;
    let devices = devices(args.dev.as_deref(), &Store::look(&args.state), &mut host)?;
    // One that cannot be cleared does not keep the others from it.
    let cleared: Vec<Result<()>> = devices
        .iter()
        .map(|device| clear_one(args, &mut host, device))
        .collect();
    cleared.into_iter().collect()
}

fn clear_one(args: &TcClear, host: &mut Host, device: &Device) -> Result<()> {
    if !args.dry_run {
        return clear_device(&args.state, host, device);
    }
    undone(host, &Store::look(&args.state), device)?;
    Ok(())
}

/// Prints what undoes a set-up; whether there is one.
fn undone(host: &mut Host, store: &Store, device: &Device) -> Result<bool> {
    let commands = netcfg::undoing(host, store, device)?;
    match &commands {
        Some(commands) => print(&lines(commands))?,
        None => eprintln!("nothing is applied to {device}"),
    }
    Ok(commands.is_some())
}

fn clear_device(state: &Path, host: &mut Host, device: &Device) -> Result<()> {
    // Without a set-up no folder is made.
    if netcfg::undoing(host, &Store::look(state), device)?.is_none() {
        eprintln!("nothing is applied to {device}");
        return Ok(());
    }
    let store = store(state, false, host)?;
    if undone(host, &store, device)? {
        netcfg::clear(host, &store, device)?;
    }
    Ok(())
}

/// The journals. At the start of a machine a process for each device wants to change them: each waits.
fn store(folder: &Path, only_looks: bool, host: &Host) -> Result<Store> {
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);
    if only_looks {
        return Ok(Store::look(folder));
    }
    Ok(Store::open(folder, PATIENCE, host)?)
}

/// The device of that name; without a name each device with applied settings, or what is left of them where
/// the journal is lost.
fn devices(name: Option<&str>, store: &Store, host: &mut Host) -> Result<Vec<Device>> {
    let devices = match name {
        Some(name) => vec![device("--dev", name)?],
        None => [store.devices()?, netcfg::lost(host, store)?].concat(),
    };
    if devices.is_empty() {
        eprintln!("nothing is applied to any device");
    }
    Ok(devices)
}

fn lines(commands: &[netcfg::Command]) -> String {
    commands
        .iter()
        .map(|command| format!("{command}\n"))
        .collect()
}

fn settings(args: &TcApply) -> Result<Settings> {
    let of = |option: &str, text: &Option<String>| match text {
        Some(text) => discipline(option, text, Discipline::new),
        None => discipline(
            "--discipline",
            args.discipline.as_deref().unwrap_or(SHAPED),
            Discipline::new,
        ),
    };
    tell_renamed([
        args.discipline.as_deref(),
        args.up_discipline.as_deref(),
        args.down_discipline.as_deref(),
        Some(&args.base),
    ]);
    let (sent, received) = match args.levels {
        Some(_) => (
            discipline("--base", &args.base, Discipline::of_levels)?,
            None,
        ),
        None => (
            of("--up-discipline", &args.up_discipline)?,
            Some(of("--down-discipline", &args.down_discipline)?),
        ),
    };
    let overhead: Option<core::result::Result<Overhead, _>> =
        args.overhead.as_deref().map(str::parse);
    let help = "tc-cake(8), \"Overhead compensation parameters\", lists the keywords of each line";
    let overhead = overhead.transpose();
    Ok(Settings {
        rate: args
            .up
            .as_deref()
            .map(|text| rate("--up", text))
            .transpose()?,
        ingress: args
            .down
            .as_deref()
            .map(|text| rate("--down", text))
            .transpose()?,
        overhead: overhead.map_err(|error| refused("--overhead", &error, help))?,
        received: received.filter(|received| args.down.is_some() && *received != sent),
        discipline: sent,
        threshold: args.threshold.as_deref().map(first_threshold).transpose()?,
        follow: None,
    })
}

/// When the threshold is to follow the flows.
fn rules(args: &TcApply) -> Result<Option<Rules>> {
    let auto = args.threshold.as_deref() == Some(AUTO);
    if auto != args.watch {
        let message = "--threshold auto and --watch go together";
        let help = "without --watch, name a threshold: `analects threshold --sizes FILE` says which is best";
        return Err(Refused::new(message, help));
    }
    if !(0.01..=0.99).contains(&args.load) {
        let message = format!("--load: {} is not in 0.01 to 0.99", args.load);
        return Err(Refused::new(&message, "write for example --load 0.88"));
    }
    let every: Duration = args
        .every
        .parse()
        .map_err(|error| refused("--every", &error, "write for example --every 10m"))?;
    let seconds = every.as_nanos() as f64 / 1e9;
    if !(1.0..=30.0 * 86_400.0).contains(&seconds) {
        let message = format!("--every: {every} is not in 1s to 30 days, 43200m");
        return Err(Refused::new(&message, "write for example --every 10m"));
    }
    Ok(auto.then(|| Rules {
        load: args.load,
        every: std::time::Duration::from_nanos(every.as_nanos()),
        flows: args.flows as usize,
    }))
}

/// The value of `--threshold` for one that follows the flows.
const AUTO: &str = "auto";
/// The start value of such a one: that of the thesis, as the simulator's `2lps`.
const FIRST: &str = "6331208B";

fn first_threshold(text: &str) -> Result<Threshold> {
    threshold(if text == AUTO { FIRST } else { text })
}

fn threshold(text: &str) -> Result<Threshold> {
    let help =
        "write the size in bytes up to which most flows end, such as 6331208 or 1MB: 1 B to 1 TB";
    let bytes: Bytes = text
        .parse()
        .map_err(|error| refused("--threshold", &error, help))?;
    bytes
        .try_into()
        .map_err(|error| refused("--threshold", &error, help))
}

fn rate(option: &str, text: &str) -> Result<ShapedRate> {
    let help = "write 85 to 95 % of what a speed test shows, such as 45mbit";
    text.parse().map_err(|error| refused(option, &error, help))
}

fn discipline(
    option: &str,
    text: &str,
    new: fn(&Choice) -> core::result::Result<Discipline, Refusal>,
) -> Result<Discipline> {
    let checked = text.parse().and_then(|choice| new(&choice));
    checked.map_err(|refusal| {
        let help = "`analects describe NAME` lists its settings";
        Refused::because(refusal.within(option), help)
    })
}

fn refused(option: &str, error: &dyn Display, help: &str) -> Refused {
    Refused::new(&format!("{option}: {error}"), help)
}

//! `analects tc`: a shaper with a discipline on a device of this host, and back.

mod confirm;
mod counters;
mod flows;
mod keep;

use crate::cli::{SHAPED, ShowFormat, TRIAL, TcApply, TcClear, TcCommand, TcShow};
#[cfg(feature = "measure")]
use crate::my_line::MyLine;
use crate::watch::{self, Rules};
use command::Refused;
use command::print;
use core::fmt::Display;
use core::ops::ControlFlow;
use netcfg::{
    Device, Discipline, Flowtable, Host, Overhead, Settings, ShapedRate, Store, Threshold,
};
use std::path::Path;
use units::{Bytes, Choice, Duration, Rate, Refusal};

type Result<T> = core::result::Result<T, Refused>;

/// Runs one of the subcommands.
pub fn tc(command: &TcCommand) -> Result<()> {
    match command {
        TcCommand::Apply(args) => apply(args),
        TcCommand::Show(args) => show(args),
        TcCommand::Clear(args) => clear(args),
        TcCommand::Keep(args) => keep::keep(args),
    }
}

fn apply(args: &TcApply) -> Result<()> {
    #[cfg(feature = "measure")]
    let args = &filled(args)?;
    let device = device(&args.dev)?;
    let mut settings = settings(args)?;
    let rules = rules(args)?;
    let trial = trial(args)?.filter(|_| !args.dry_run);
    let mut host = host(args.dry_run)?;
    let before = Store::look(&args.state).load(&device)?;
    apply_settings(args, &mut host, &device, &settings)?;
    if let Some(span) = trial {
        let before = before.as_ref().map(|journal| &journal.settings);
        confirm::confirm(args, &host, &device, before, span)?;
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
    match TRIAL.contains(&span) {
        true => Ok(Some(std::time::Duration::from_nanos(span.as_nanos()))),
        false => Err(refused("--confirm", &format_args!("found {text}"), &help)),
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
        Some(name) => vec![device(name)?],
        None => [store.devices()?, netcfg::lost(host, store)?].concat(),
    };
    if devices.is_empty() {
        eprintln!("nothing is applied to any device");
    }
    Ok(devices)
}

fn show(args: &TcShow) -> Result<()> {
    let mut host = host(true)?;
    if args.watch {
        return flows::watch(&mut host, &mut |host| statuses(args, host));
    }
    let all = statuses(args, &mut host)?;
    if args.format == ShowFormat::Json {
        let text = serde_json::to_string_pretty(&all);
        let text = text.map_err(|error| Refused::failed(&error.to_string(), "report this"))?;
        return print(&format!("{text}\n"));
    }
    if args.format == ShowFormat::Prometheus {
        return print(&counters::prometheus(&all));
    }
    let texts: Vec<String> = all.iter().map(described).collect();
    print(&texts.join("\n"))
}

/// The state of the set-ups that are asked for.
fn statuses(args: &TcShow, host: &mut Host) -> Result<Vec<netcfg::Status>> {
    let store = Store::look(&args.state);
    let mut all = Vec::new();
    for device in devices(args.dev.as_deref(), &store, host)? {
        match netcfg::status(host, &store, &device)? {
            Some(status) => all.push(status),
            None => eprintln!("nothing is applied to {device}"),
        }
    }
    Ok(all)
}

/// A status as text.
fn described(status: &netcfg::Status) -> String {
    let mut text = match &status.settings {
        Some(settings) => applied(&status.device, settings),
        None => format!(
            "{0}: a set-up of analects whose journal is lost, known by its handles: \
             `analects tc clear --dev {0}` takes it away\n",
            status.device
        ),
    };
    if !status.complete {
        text += "  it was interrupted: `analects tc clear` undoes its changes\n";
    } else if status.differences.is_empty() && status.settings.is_some() {
        text += "  as it was applied\n";
    }
    for difference in &status.differences {
        text += &format!("  {}\n", scenario::printable(difference, 200));
    }
    if let Some(rates) = status.followed {
        text += &changed(rates);
    }
    if status.restored > 0 {
        let times = status.restored;
        text += &format!(
            "  other programs took parts of it away, and they were put back {times} times\n"
        );
    }
    for queue in &status.queues {
        text += &counted(queue);
    }
    for level in &status.levels {
        text += &format!(
            "  {} flows: sent {} packets, {} bytes; dropped {}\n",
            level.name,
            number(level.packets),
            number(level.bytes),
            number(level.drops),
        );
    }
    text
}

/// Applied settings as text.
fn applied(device: &Device, settings: &Settings) -> String {
    let mut text = match settings.rate {
        Some(rate) => format!("{device}: sends at {rate}"),
        None => format!("{device}: not shaped"),
    };
    if let Some(rate) = settings.ingress {
        text += &format!(", receives at {rate}");
    }
    if let Some(threshold) = settings.threshold {
        text += &format!(", flows of up to {threshold} before others, each with");
    } else {
        text += ",";
    }
    text += &format!(" {}", settings.discipline);
    if let Some(received) = &settings.received {
        text += &format!(" for what it sends, {received} for what it receives");
    }
    if let Some(overhead) = settings.overhead {
        text += &format!(", {overhead}");
    }
    text += "\n";
    text
}

/// The rates that stand in place of those applied.
fn changed(rates: netcfg::Rates) -> String {
    let each = [("sends", rates.up), ("receives", rates.down)];
    let each = each
        .into_iter()
        .filter_map(|(verb, rate)| Some(format!("{verb} at {}", rate?)));
    let each: Vec<String> = each.collect();
    format!("  by `analects autorate` it {} now\n", each.join(", "))
}

/// A counter; one that tc does not print is a dash.
fn number(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}

/// The counters of a queue.
fn counted(queue: &netcfg::Queue) -> String {
    let name = scenario::printable(&format!("{} {}", queue.kind, queue.handle), 40);
    format!(
        "  {}: {name} sent {} packets, {} bytes; dropped {}, waited {} times; {} packets, {} bytes wait\n",
        queue.device,
        number(queue.packets),
        number(queue.bytes),
        number(queue.drops),
        number(queue.overlimits),
        number(queue.qlen),
        number(queue.backlog),
    )
}

fn lines(commands: &[netcfg::Command]) -> String {
    commands
        .iter()
        .map(|command| format!("{command}\n"))
        .collect()
}

/// This host; during changes, a signal does not end this process.
pub fn host(only_looks: bool) -> Result<Host> {
    if only_looks {
        return Ok(Host::default());
    }
    Host::catching_signals().map_err(|error| {
        let message = format!("signals cannot be caught: {error}");
        Refused::failed(&message, "nothing was changed")
    })
}

/// The device that --dev names.
pub fn device(text: &str) -> Result<Device> {
    let help = "`ip link` lists the devices";
    text.parse().map_err(|error| refused("--dev", &error, help))
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
    let rate: Rate = text
        .parse()
        .map_err(|error| refused(option, &error, help))?;
    rate.try_into()
        .map_err(|error| refused(option, &error, help))
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

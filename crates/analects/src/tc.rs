//! `analects tc`: a shaper with a discipline on a device of this host, and back.

use crate::cli::{ShowFormat, TcApply, TcClear, TcCommand, TcShow};
use crate::refused::Refused;
use crate::run::print;
use core::fmt::Display;
use netcfg::{
    Device, Discipline, Error, Host, Kind, Overhead, Settings, ShapedRate, Store, Threshold,
};
use units::{Bytes, Choice, Rate, Refusal};

type Result<T> = core::result::Result<T, Refused>;

/// Runs one of the subcommands.
pub fn tc(command: &TcCommand) -> Result<()> {
    match command {
        TcCommand::Apply(args) => apply(args),
        TcCommand::Show(args) => show(args),
        TcCommand::Clear(args) => clear(args),
    }
}

/// What was tried ends with another status than what was refused.
impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error.kind {
            Kind::Refused => Refused::new(&error.message, &error.help),
            Kind::Failed | Kind::Interrupted => Refused::failed(&error.message, &error.help),
        }
    }
}

fn apply(args: &TcApply) -> Result<()> {
    let device = device(&args.dev)?;
    let settings = settings(args)?;
    let mut host = host(args.dry_run)?;
    let store = if args.dry_run {
        Store::look(&args.state)
    } else {
        Store::open(&args.state)?
    };
    let (replace, assume) = (args.replace, args.dry_run);
    let prepared = netcfg::prepare(&mut host, &store, &device, &settings, replace, assume)?;
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
    Ok(netcfg::apply(&mut host, &store, &prepared)?)
}

fn clear(args: &TcClear) -> Result<()> {
    let devices = devices(args.dev.as_deref(), &Store::look(&args.state))?;
    let mut host = host(args.dry_run)?;
    // One that cannot be cleared does not keep the others from it.
    let cleared: Vec<Result<()>> = devices
        .iter()
        .map(|device| clear_one(args, &mut host, device))
        .collect();
    cleared.into_iter().collect()
}

fn clear_one(args: &TcClear, host: &mut Host, device: &Device) -> Result<()> {
    let nothing = || eprintln!("nothing is applied to {device}");
    if Store::look(&args.state).load(device)?.is_none() {
        nothing();
        return Ok(());
    }
    let store = if args.dry_run {
        Store::look(&args.state)
    } else {
        Store::open(&args.state)?
    };
    match netcfg::undoing(host, &store, device)? {
        Some(commands) => print(&lines(&commands))?,
        None => nothing(),
    }
    if !args.dry_run {
        netcfg::clear(host, &store, device)?;
    }
    Ok(())
}

/// The device of that name; without a name each that something is applied to.
fn devices(name: Option<&str>, store: &Store) -> Result<Vec<Device>> {
    let devices = match name {
        Some(name) => vec![device(name)?],
        None => store.devices()?,
    };
    if devices.is_empty() {
        eprintln!("nothing is applied to any device");
    }
    Ok(devices)
}

fn show(args: &TcShow) -> Result<()> {
    let store = Store::look(&args.state);
    let devices = devices(args.dev.as_deref(), &store)?;
    let mut host = host(true)?;
    let mut all = Vec::new();
    for device in &devices {
        match netcfg::status(&mut host, &store, device)? {
            Some(status) => all.push(status),
            None => eprintln!("nothing is applied to {device}"),
        }
    }
    if args.format == ShowFormat::Json {
        let text = serde_json::to_string_pretty(&all);
        let text = text.map_err(|error| Refused::failed(&error.to_string(), "report this"))?;
        return print(&format!("{text}\n"));
    }
    let texts: Vec<String> = all.iter().map(described).collect();
    print(&texts.join("\n"))
}

/// A status as text.
fn described(status: &netcfg::Status) -> String {
    let settings = &status.settings;
    let mut text = match settings.rate {
        Some(rate) => format!("{}: sends at {rate}", status.device),
        None => format!("{}: not shaped", status.device),
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
    if let Some(overhead) = settings.overhead {
        text += &format!(", {overhead}");
    }
    text += "\n";
    if !status.complete {
        text += "  it was interrupted: `analects tc clear` takes back what was done\n";
    } else if status.differences.is_empty() {
        text += "  as it was applied\n";
    }
    for difference in &status.differences {
        text += &format!("  {}\n", scenario::printable(difference, 200));
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

/// What was counted; what tc does not say is a dash.
fn number(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}

/// What a queue counted.
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

/// This host; where something is changed, a signal does not end this process in the middle of it.
fn host(only_looks: bool) -> Result<Host> {
    if only_looks {
        return Ok(Host::default());
    }
    Host::catching_signals().map_err(|error| {
        let message = format!("signals cannot be caught: {error}");
        Refused::failed(&message, "nothing was changed")
    })
}

fn device(text: &str) -> Result<Device> {
    let help = "`ip link` lists what there is";
    text.parse().map_err(|error| refused("--dev", &error, help))
}

fn settings(args: &TcApply) -> Result<Settings> {
    let discipline = match args.levels {
        Some(_) => discipline("--base", &args.base, Discipline::of_levels)?,
        None => discipline("--discipline", &args.discipline, Discipline::new)?,
    };
    let overhead: Option<core::result::Result<Overhead, _>> =
        args.overhead.as_deref().map(str::parse);
    let help = "tc-cake(8), \"Overhead compensation parameters\", says which is whose";
    let overhead = overhead.transpose();
    Ok(Settings {
        rate: args
            .rate
            .as_deref()
            .map(|text| rate("--rate", text))
            .transpose()?,
        ingress: args
            .ingress
            .as_deref()
            .map(|text| rate("--ingress", text))
            .transpose()?,
        overhead: overhead.map_err(|error| refused("--overhead", &error, help))?,
        discipline,
        threshold: args.threshold.as_deref().map(threshold).transpose()?,
    })
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
        let help = "`analects describe NAME` says what it can be told";
        Refused::because(refusal.within(option), help)
    })
}

fn refused(option: &str, error: &dyn Display, help: &str) -> Refused {
    Refused::new(&format!("{option}: {error}"), help)
}

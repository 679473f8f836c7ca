//! `analects tc show`: set-ups, how they stand and what they counted.

use super::looked::LookedSetups;
use super::{Result, computers, counters, devices, flows};
use crate::cli::{ShowFormat, TcShow};
use crate::on_host::host;
use command::{Refused, print};
use netcfg::{Device, Direction, Host, Settings, Status, Store};
use std::path::Path;

/// Shows the set-ups that are asked for.
pub fn show(args: &TcShow) -> Result<()> {
    let mut host = host(true)?;
    if args.watch {
        return flows::watch(&mut || look(&args.state, args.dev.as_deref(), &mut host));
    }
    let LookedSetups { all, .. } = look(&args.state, args.dev.as_deref(), &mut host)?;
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

/// The set-ups as they stand now: of one device, or all that there are.
///
/// # Errors
/// If they cannot be read.
pub fn look(state: &Path, dev: Option<&str>, host: &mut Host) -> Result<LookedSetups> {
    let store = Store::look(state);
    let mut all = Vec::new();
    for device in devices(dev, &store, host)? {
        match netcfg::status(host, &store, &device)? {
            Some(status) => all.push(status),
            None => eprintln!("nothing is applied to {device}"),
        }
    }
    LookedSetups::take(all)
}

/// A status as text.
fn described(status: &Status) -> String {
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
        text += &by_computer(queue);
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
    let Some(follow) = &settings.follow else {
        return text;
    };
    let each = [("sends", Direction::Up), ("receives", Direction::Down)].into_iter();
    let each: Vec<String> = each
        .filter_map(|(verb, direction)| Some(format!("{verb} {}", follow.of(direction)?)))
        .collect();
    text + &format!("  followed as the line carries: {}\n", each.join(", "))
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

/// What each of its computers has had, if it counts that.
fn by_computer(queue: &netcfg::Queue) -> String {
    match (&queue.computers, queue.kind.as_str()) {
        (Some(all), _) => computers::since_known(all),
        (None, "cake") => format!("  {}\n", flows::NOT_BY_CAKE),
        (None, _) => String::new(),
    }
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

//! `analects gateway`: what a router forwards between two devices, shaped in user space.

mod counters;

use crate::autorate::Forwarded;
use crate::autorate::auto::Auto;
use crate::cli::{ChangeArgs, GatewayArgs, RunningCommand, SHAPED};
use crate::control;
use crate::diverted::{self, LOOK, Service, choice, setting, tell_renamed};
#[cfg(feature = "measure")]
use crate::my_line::MyLine;
use crate::on_host::device;
use crate::others;
use crate::privileges;
use crate::tc;
use autorate::Way;
use command::Refused;
use counters::Counters;
use link::Link;
use live::{Gate, Gates};
use measure::build::Direction;
use netcfg::divert::{Diversion, Purpose};
use netcfg::{Flowtable, Host, Rates, ShapedRate, Store};
use qdisc::{Choice, Registry};
use scenario::Uplink;
use scenario::keys::WAY;
use units::param::Settings;
use units::{Duration, Rate, Refusal};

type Result<T> = core::result::Result<T, Refused>;

/// The directions, in the order of their gates.
const DIRECTIONS: [&str; 2] = ["down", "up"];
/// A packet that is still to be cut into segments, at its largest.
const LARGEST: u64 = 64 << 10;
/// How often rates that find themselves are decided.
const FOLLOWS: Duration = Duration::from_millis(10);
/// How long the largest may take a link: it holds up all others.
const HELD_UP: Duration = Duration::from_millis(1);

/// Shapes until a signal comes; then all is as before.
pub fn run(mut args: GatewayArgs) -> Result<()> {
    let auto = Auto::take(&mut args.down, &mut args.up)?;
    #[cfg(feature = "measure")]
    let mut args = filled(&args)?;
    auto.begin(&mut args.down, &mut args.up)?;
    let args = &args;
    let gateway = Gateway::of(args)?;
    let diversion = diversion(args)?;
    gateway.links()?;
    if args.dry_run {
        return diverted::planned(&args.state, &diversion);
    }
    // Of an established connection the rules see nothing, be it forwarded by hardware or not.
    let devices = [
        device("--in", &args.inside)?,
        device("--out", &args.outside)?,
    ];
    others::look(&[&devices[0], &devices[1]], true)?;
    for table in Flowtable::all(&mut Host::default()) {
        if let Some(device) = devices.iter().find(|device| table.takes(device)) {
            eprintln!("{}", tc::passed_by(&table, "this gateway", device));
        }
    }
    privileges::keep(privileges::RULES)?;
    let counters = Counters::of(args)?;
    let [down, up] = gateway.rates.map(|rate| ShapedRate::try_from(rate?).ok());
    let following = auto
        .is_any()
        .then(|| Forwarded::of(devices, args.favour, auto.limits, Rates { down, up }));
    let mut shaping = Shaping {
        gateway,
        counters,
        following: following.transpose()?,
    };
    let served = diverted::serve(&args.state, &diversion, &mut shaping)?;
    let Shaping {
        gateway, counters, ..
    } = &shaping;
    eprint!("{}", counters::summary(&served.gates));
    diverted::tell(served.restored);
    counters.write(&served.gates, gateway.rates, served.restored)
}

/// The same with what the file of `--from` says.
#[cfg(feature = "measure")]
fn filled(args: &GatewayArgs) -> Result<GatewayArgs> {
    let mut filled = args.clone();
    let Some(path) = &args.from else {
        return Ok(filled);
    };
    let mut line = MyLine::read(path)?;
    filled.down = Some(line.rate(netcfg::Direction::Down, args.down.as_deref())?);
    filled.up = Some(line.rate(netcfg::Direction::Up, args.up.as_deref())?);
    let check = |text: &str| {
        let choice = text.parse::<Choice>()?;
        Registry::<u32>::builtin()
            .build(&choice, &qdisc::Env::default())
            .map(drop)
    };
    filled.discipline = line.discipline(args.discipline.as_deref(), check)?;
    line.overhead_is_not_counted();
    line.tell();
    Ok(filled)
}

/// Changes settings of a process that carries packets.
pub fn change(args: &ChangeArgs) -> Result<()> {
    let purpose = match args.what {
        RunningCommand::Gateway => Purpose::Gateway,
        RunningCommand::Pace => Purpose::Pace,
    };
    let settings = args.settings.iter().map(|text| setting("KEY=VALUE", text));
    let settings = settings.collect::<Result<Vec<_>>>()?;
    let socket = purpose.socket(&Store::look(&args.state));
    control::ask(&socket, purpose.word(), &settings)
}

fn diversion(args: &GatewayArgs) -> Result<Diversion> {
    let inside = device("--in", &args.inside)?;
    let outside = device("--out", &args.outside)?;
    if inside == outside {
        let message = format!("--in and --out are both {inside}");
        return Err(Refused::new(&message, "a gateway has two devices"));
    }
    for (option, device) in [("--in", &inside), ("--out", &outside)] {
        if device.is_loopback() {
            let message = format!("{option}: nothing is forwarded by {device}");
            return Err(Refused::new(&message, "`ip link` lists the devices"));
        }
    }
    if !args.dry_run {
        inside.index().and(outside.index())?;
    }
    Ok(Diversion::Forwarded {
        inside,
        outside,
        down: args.queue,
        up: args.queue + 1,
    })
}

/// The line as a scenario would declare it, and its rates of now, down and up, where there is a limit.
struct Gateway {
    line: scenario::Link,
    /// That of directions that name none.
    discipline: Choice,
    rates: [Option<Rate>; 2],
    queue: u16,
}

impl Gateway {
    fn of(args: &GatewayArgs) -> Result<Self> {
        let rate = |option: &str, text: Option<&str>| {
            let rate = text.map(|text| WAY.rate.read(text)).transpose();
            rate.map_err(|refusal| Refused::because(refusal.within(option), ""))
        };
        let rates = [
            rate("--down", args.down.as_deref())?,
            rate("--up", args.up.as_deref())?,
        ];
        let named =
            |option: &str, text: Option<&str>| text.map(|text| choice(option, text)).transpose();
        let [all, down, up] = [
            args.discipline.as_deref(),
            args.down_discipline.as_deref(),
            args.up_discipline.as_deref(),
        ];
        tell_renamed([all, down, up]);
        Ok(Gateway {
            line: scenario::Link {
                capacity: rates[0].into(),
                discipline: named("--down-discipline", down)?,
                up: Some(Uplink {
                    capacity: rates[1].into(),
                    buffer: None,
                    discipline: named("--up-discipline", up)?,
                }),
                ..scenario::Link::unlimited("line")
            },
            discipline: choice("--discipline", all.unwrap_or(SHAPED))?,
            rates,
            queue: args.queue,
        })
    }

    /// Down and up.
    fn directions(&self) -> impl Iterator<Item = Direction<'_>> {
        let down = Direction::down(&self.line, &self.discipline);
        let up = Direction::up(&self.line, &self.discipline);
        [Some(down), up].into_iter().flatten()
    }

    fn links(&self) -> Result<Vec<Link<u32>>> {
        let registry = Registry::builtin();
        let build = |(name, direction): (&str, Direction<'_>)| {
            let built = direction.build(&registry, Duration::ZERO, 0);
            built.map_err(|error| {
                let name_of = &direction.choice().name;
                let help = format!("`analects describe {name_of}` lists its settings");
                Refused::because(error.refusal.within(name), &help)
            })
        };
        DIRECTIONS
            .into_iter()
            .zip(self.directions())
            .map(build)
            .collect()
    }
}

/// Whether packets that are still to be cut into segments may pass a link of this rate, if it has one.
fn whole(rate: Option<Rate>) -> bool {
    rate.is_none_or(|rate| rate.time_for(LARGEST) <= HELD_UP)
}

/// The gateway while it runs.
struct Shaping {
    gateway: Gateway,
    counters: Counters,
    /// What changes its rates, if they find themselves.
    following: Option<Forwarded>,
}

impl Shaping {
    fn set_rate(&mut self, gates: &mut Gates, place: usize, rate: Rate) {
        gates.set_rate(place, rate, whole(Some(rate)));
        self.gateway.rates[place] = Some(rate);
    }
}

/// The place of a direction's gate.
fn place(way: Way) -> usize {
    match way {
        Way::Down => 0,
        Way::Up => 1,
    }
}

impl Service for Shaping {
    fn gates(&self) -> Result<Vec<Gate>> {
        let of = self.gateway.links()?.into_iter().zip(self.gateway.rates);
        let gates = (self.gateway.queue..)
            .zip(of)
            .map(|(number, (link, rate))| Gate::new(number, link, whole(rate)));
        gates.map(|gate| gate.map_err(diverted::broke)).collect()
    }

    fn every(&self) -> Duration {
        match self.following {
            Some(_) => FOLLOWS,
            None => LOOK,
        }
    }

    fn beat(&mut self, gates: &mut Gates) -> Result<()> {
        let Some(mut following) = self.following.take() else {
            return Ok(());
        };
        let followed =
            following.beat(&mut |way, rate| self.set_rate(gates, place(way), rate.get()));
        self.following = Some(following);
        followed
    }

    fn look(&mut self, gates: &mut Gates, restored: u64) {
        self.counters.look(gates, self.gateway.rates, restored);
    }

    fn change(
        &mut self,
        gates: &mut Gates,
        settings: &Settings,
    ) -> core::result::Result<(), Refusal> {
        let wanted = WantedChanges::of(settings)?.renamed(self.gateway.directions());
        let former = wanted.former(gates, 0);
        gates.change(0, &wanted.settings[0])?;
        if let Err(refusal) = gates.change(1, &wanted.settings[1]) {
            // All or none. These stood before, and so are not refused.
            gates.change(0, &former)?;
            return Err(refusal);
        }
        for way in Way::BOTH {
            if let Some(rate) = wanted.rates[place(way)] {
                self.set_rate(gates, place(way), rate);
                if let Some(following) = &mut self.following {
                    following.fix(way);
                }
            }
        }
        Ok(())
    }
}

/// Changes that somebody asked for, down and up.
#[derive(Debug, Default, PartialEq)]
struct WantedChanges {
    rates: [Option<Rate>; 2],
    settings: [Vec<(String, String)>; 2],
}

impl WantedChanges {
    fn of(settings: &Settings) -> core::result::Result<Self, Refusal> {
        let mut wanted = WantedChanges::default();
        for (key, value) in settings {
            let place = |name: &str| DIRECTIONS.iter().position(|direction| *direction == name);
            let part = key.split_once('.').map(|(name, rest)| (place(name), rest));
            match (place(key), part) {
                (Some(place), _) => {
                    let rate = WAY.rate.read(value);
                    wanted.rates[place] = Some(rate.map_err(|refusal| refusal.within(key))?);
                }
                (None, Some((Some(place), rest))) => {
                    wanted.settings[place].push((rest.to_owned(), value.clone()));
                }
                _ => {
                    for settings in &mut wanted.settings {
                        settings.push((key.clone(), value.clone()));
                    }
                }
            }
        }
        Ok(wanted)
    }

    /// The same with the present names of the settings of the directions' disciplines.
    fn renamed<'a>(mut self, directions: impl Iterator<Item = Direction<'a>>) -> Self {
        for (settings, direction) in self.settings.iter_mut().zip(directions) {
            let named = Choice {
                settings: core::mem::take(settings),
                ..Choice::plain(&direction.choice().name)
            };
            *settings = Registry::<u32>::builtin().renamed(&named).0.settings;
        }
        self
    }

    /// The values that the settings of a gate have now.
    fn former(&self, gates: &Gates, place: usize) -> Vec<(String, String)> {
        let params = gates.gates()[place].params();
        let named = |name: &str| self.settings[place].iter().any(|(key, _)| key == name);
        let former = params.into_iter().filter(|(name, _)| named(name));
        former
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(settings: &[(&str, &str)]) -> core::result::Result<WantedChanges, Refusal> {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        WantedChanges::of(&settings.iter().map(pair).collect::<Vec<_>>())
    }

    #[test]
    fn settings_are_of_one_direction_or_both() {
        let found = wanted(&[("down", "40mbit"), ("up.limit", "9"), ("min_wait", "30ms")]).unwrap();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = WantedChanges {
            rates: [Some(Rate::from_bits(40_000_000)), None],
            settings: [
                vec![pair("min_wait", "30ms")],
                vec![pair("limit", "9"), pair("min_wait", "30ms")],
            ],
        };
        assert_eq!(found, expected);
        for (value, finding) in [("1bit", "outside 1kbit to 1000gbit"), ("much", "up: ")] {
            let refused = wanted(&[("up", value)]).unwrap_err();
            assert!(refused.message.contains(finding), "{refused:?}");
        }
    }

    #[test]
    fn only_fast_links_take_packets_that_are_to_be_cut() {
        let mbit = |mbit: u64| Some(Rate::from_bits(mbit * 1_000_000));
        assert!(whole(mbit(600)) && whole(None));
        assert!(!whole(mbit(500)));
    }
}

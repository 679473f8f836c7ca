//! `analects pace`: incoming web traffic of this host, held to a rate.

mod household;
mod network;

use crate::cli::PaceArgs;
use crate::diverted::{self, Service, broke, choice, setting, tell_renamed};
use crate::on_host::device;
use crate::privileges;
use command::Refused;
use household::Shared;
use link::Link;
use live::{Gate, Gates, Standing};
use measure::EngineError;
use measure::build::Direction;
use netcfg::divert::Diversion;
use network::InternetWays;
use qdisc::{Choice, Registry};
use serde_json::json;
use units::param::Settings;
use units::{Duration, Refusal};

type Result<T> = core::result::Result<T, Refused>;

/// Diverts packets and paces them until a signal comes; then all is as before.
pub fn run(args: &PaceArgs) -> Result<()> {
    let mut pacing = Pacing {
        choice: pacer(&args.rate, &args.discipline, &args.settings)?,
        queue: args.queue,
        watch: args.watch.then(Watch::default),
        shared: None,
        network: None,
    };
    pacing.link()?;
    let device = args.dev.as_deref().map(|text| device("--dev", text));
    let device = device.transpose()?;
    if let Some(device) = device.as_ref().filter(|_| !args.dry_run) {
        device.index()?;
    }
    let diversion = Diversion::Web {
        queue: args.queue,
        device,
    };
    if args.dry_run {
        return diverted::planned(&args.state, &diversion);
    }
    pacing.shared = Shared::join(args)?;
    if args.rate == "adaptive" && pacing.shared.is_none() {
        pacing.network = Some(InternetWays::of_now()?);
    }
    privileges::keep(privileges::RULES)?;
    let served = diverted::serve(&args.state, &diversion, &mut pacing)?;
    finished(args, &Paced::of(&served.gates), served.restored)
}

/// The pacer as the options say.
fn pacer(rate: &str, discipline: &str, others: &[String]) -> Result<Choice> {
    tell_renamed([Some(discipline)]);
    let policy = choice("--discipline", discipline)?;
    let mut settings = vec![("rate".to_owned(), rate.to_owned())];
    for text in others {
        settings.push(setting("--set", text)?);
    }
    Ok(Choice {
        name: "pacer".to_owned(),
        children: vec![policy],
        settings,
    })
}

/// Refuses a rate that `option` names and no pacer can have.
pub fn check_rate(option: &str, rate: &str) -> Result<()> {
    let pacer = pacer(rate, crate::cli::PACED, &[])?;
    built(&pacer, option).map(drop)
}

/// The link, whose discipline limits the rate, and not a wire behind it; `option` names the rate.
fn built(choice: &Choice, option: &str) -> Result<Link<u32>> {
    let line = scenario::Link::unlimited("pace");
    let direction = Direction::down(&line, choice);
    let built = direction.build(&Registry::builtin(), Duration::ZERO, 0);
    built.map_err(|EngineError { refusal, .. }| {
        let place = if refusal.message.contains("parameter rate") {
            option
        } else {
            "pace"
        };
        let help = "`analects describe pacer` lists its settings";
        Refused::because(refusal.within(place), help)
    })
}

/// The pacer while it runs.
struct Pacing {
    choice: Choice,
    queue: u16,
    watch: Option<Watch>,
    shared: Option<Shared>,
    /// The network that the estimate is of, if there is one.
    network: Option<InternetWays>,
}

impl Pacing {
    fn link(&self) -> Result<Link<u32>> {
        built(&self.choice, "--rate")
    }
}

impl Service for Pacing {
    fn gates(&self) -> Result<Vec<Gate>> {
        let gate = Gate::new(self.queue, self.link()?, false).map_err(broke)?;
        Ok(vec![gate])
    }

    fn look(&mut self, gates: &mut Gates, _restored: u64) {
        if let Some(shared) = &mut self.shared {
            shared.look(gates);
        }
        if let Some(network) = &mut self.network
            && network.is_another(gates.seconds())
        {
            eprintln!("the way to the internet is another: the rate is found out anew");
            let anew = [("rate".to_owned(), "adaptive".to_owned())];
            if let Err(refusal) = gates.change(0, &anew) {
                eprintln!("{}", refusal.message);
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.look(Paced::of(gates));
        }
    }

    fn change(
        &mut self,
        gates: &mut Gates,
        settings: &Settings,
    ) -> core::result::Result<(), Refusal> {
        if settings
            .iter()
            .any(|(key, value)| key == "rate" && value != "adaptive")
        {
            // One that was set holds wherever this computer goes.
            self.network = None;
        }
        match &mut self.shared {
            None => gates.change(0, settings),
            Some(shared) => shared.change(gates, settings),
        }
    }
}

/// How it stands.
#[derive(Debug, Clone, Default)]
struct Paced {
    seconds: f64,
    processor_seconds: f64,
    stands: Standing,
}

impl Paced {
    fn of(gates: &Gates) -> Self {
        Paced {
            seconds: gates.seconds(),
            processor_seconds: gates.processor_seconds(),
            stands: gates.gates().first().map(Gate::stands).unwrap_or_default(),
        }
    }
}

/// What happened since the last line.
#[derive(Default)]
struct Watch {
    before: Option<Paced>,
}

impl Watch {
    fn look(&mut self, paced: Paced) {
        let Some(before) = &self.before else {
            self.before = Some(paced);
            return;
        };
        if paced.seconds - before.seconds >= 1.0 {
            eprintln!("{}", line(before, &paced));
            self.before = Some(paced);
        }
    }
}

/// What passed from one moment to another.
fn line(before: &Paced, now: &Paced) -> String {
    let seconds = (now.seconds - before.seconds).max(1e-9);
    let mbit = |bytes: u64| bytes as f64 * 8e-6 / seconds;
    let part = |paced: &Paced, name: &str| {
        let found = paced.stands.parts.iter().find(|part| part.name == name);
        found.map_or(0, |part| part.bytes)
    };
    let of = |name: &str| mbit(part(now, name) - part(before, name));
    format!(
        "{:8.2} Mbit/s came, {:8.2} paced, {:8.2} of calls; dropped {}; {} packets and {:.0} kB wait; {:.1} % of a processor",
        mbit(now.stands.tally.bytes - before.stands.tally.bytes),
        of("paced"),
        of("passed"),
        now.stands.tally.drops - before.stands.tally.drops,
        now.stands.backlog.packets,
        now.stands.backlog.bytes as f64 / 1e3,
        100.0 * (now.processor_seconds - before.processor_seconds) / seconds,
    )
}

/// The summary.
fn finished(args: &PaceArgs, paced: &Paced, restored: u64) -> Result<()> {
    eprintln!(
        "in {:.0} s:{}",
        paced.seconds,
        line(&Paced::default(), paced)
    );
    diverted::tell(restored);
    let Some(file) = &args.json else {
        return Ok(());
    };
    let text = json!({
        "seconds": paced.seconds,
        "rules_restored": restored,
        "processor_seconds": paced.processor_seconds,
        "tally": paced.stands.tally,
    });
    std::fs::write(file, format!("{text:#}\n"))
        .map_err(|error| command::files::unwritable(file, &error))
}

//! Scenarios of one cause, drawn at random.

use super::OneCause;
use units::random::Stream;

/// What a scenario's call, links and other traffic are made of.
struct Parts {
    /// The call sends away from the home.
    up: bool,
    /// Rates of the two directions in Mbit/s, the call's media first.
    ahead: f64,
    back: f64,
    /// Keys of the link.
    link: String,
    /// Another link in front of the house's.
    before: String,
    /// Entries.
    traffic: String,
    /// Keys of the call.
    call: String,
}

/// The kinds of causes.
const KINDS: [Kind; 13] = [
    ahead,
    behind,
    behind,
    flood,
    page,
    lossy,
    late_repair,
    jittery,
    dip,
    dip_back,
    limited,
    slow,
    before,
];
type Kind = fn(&mut Chance, &mut Parts) -> String;

/// Random choices.
struct Chance(Stream);

impl Chance {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize]
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }
}

/// The scenario `number`; about each second one has something else that may disturb a call a little.
pub fn drawn(number: u64) -> OneCause {
    let mut chance = Chance(Stream::new(number, "causes"));
    let up = chance.of(&[false, true]);
    let mut parts = Parts {
        up,
        ahead: chance.between(8.0, 30.0).round(),
        back: chance.between(4.0, 20.0).round(),
        link: format!("rtt = \"{:.0}ms\"\n", chance.between(20.0, 60.0)),
        before: String::new(),
        traffic: String::new(),
        call: String::new(),
    };
    let kind = KINDS[number as usize % KINDS.len()];
    let truth = kind(&mut chance, &mut parts);
    let second = chance.of(&[false, true]);
    if second {
        add_second(&mut chance, &mut parts, &truth);
    }
    OneCause {
        name: format!("drawn {number}, {}", if parts.up { "up" } else { "down" }),
        text: parts.text(&mut chance),
        truth,
        second,
    }
}

impl Parts {
    fn text(&self, chance: &mut Chance) -> String {
        let (down, up) = if self.up {
            (self.back, self.ahead)
        } else {
            (self.ahead, self.back)
        };
        let rate = |key: &str, rate: f64| {
            if self.link.contains(key) {
                String::new()
            } else {
                format!("rate = \"{rate}mbit\"\n")
            }
        };
        let (down, up) = (rate("#down", down), rate("#up", up));
        let (of_down, of_up) = self.link.split_once("#up").unwrap_or((&self.link, ""));
        let call = match chance.of(&[0, 0, 0, 1]) {
            1 if !self.call.contains("control") => "audio = \"32kbit\"\n",
            _ => "",
        };
        format!(
            "duration = \"30s\"\nwarmup = \"5s\"\ndisciplines = [\"pfifo\"]\n\
             {before}[[link]]\nname = \"house\"\nbuffer = \"800p\"\n{down}{of_down}\
             [link.up]\nbuffer = \"800p\"\n{up}{of_up}\
             [[traffic]]\nname = \"call\"\nkind = \"call\"\n{direction}{call}{of_call}{traffic}",
            before = self.before,
            direction = direction(self.up),
            of_call = self.call,
            traffic = self.traffic,
        )
    }

    /// Adds an entry that starts within the run.
    fn add(&mut self, chance: &mut Chance, name: &str, keys: &str, up: bool) {
        let start = chance.between(6.0, 9.0);
        self.traffic += &format!(
            "[[traffic]]\nname = \"{name}\"\nstart = \"{start:.1}s\"\n{}{keys}",
            direction(up)
        );
    }
}

fn direction(up: bool) -> &'static str {
    if up { "direction = \"up\"\n" } else { "" }
}

fn transfers(chance: &mut Chance) -> String {
    let control = chance.of(&["cubic", "cubic", "bbr", "reno"]);
    let count = chance.of(&[1, 2, 4]);
    format!("kind = \"bulk\"\ncontrol = \"{control}\"\ncount = {count}\n")
}

/// Something that disturbs less.
fn add_second(chance: &mut Chance, parts: &mut Parts, truth: &str) {
    let up = chance.of(&[false, true]);
    match chance.of(&[0, 1, 2]) {
        0 if !truth.contains("losses") && !parts.link.contains("loss") => {
            parts.link = format!("loss = \"0.3%\"\n{}", parts.link);
        }
        1 if !truth.contains("jitter") => parts.link = format!("jitter = \"15ms\"\n{}", parts.link),
        _ => {
            let rate = if up == parts.up {
                parts.ahead
            } else {
                parts.back
            };
            let keys = format!("kind = \"udp\"\nrate = \"{:.3}mbit\"\n", rate * 0.1);
            parts.add(chance, "second", &keys, up);
        }
    }
}

/// Transfers beside the call's media.
fn ahead(chance: &mut Chance, parts: &mut Parts) -> String {
    let keys = transfers(chance);
    parts.add(chance, "transfers", &keys, parts.up);
    "transfers".to_owned()
}

/// Transfers the other way, where the answers go.
fn behind(chance: &mut Chance, parts: &mut Parts) -> String {
    parts.back = chance.of(&[0.4, 0.6, 1.0, 1.5]);
    let keys = transfers(chance);
    parts.add(chance, "transfers", &keys, !parts.up);
    if chance.of(&[false, true]) {
        parts.call = other_control(chance);
    }
    "transfers".to_owned()
}

/// Datagrams that do not yield.
fn flood(chance: &mut Chance, parts: &mut Parts) -> String {
    let share = chance.between(0.9, 1.1);
    let rate = parts.ahead * share;
    let keys = format!("kind = \"udp\"\nrate = \"{rate:.2}mbit\"\n");
    parts.add(chance, "flood", &keys, parts.up);
    "flood".to_owned()
}

fn page(chance: &mut Chance, parts: &mut Parts) -> String {
    parts.up = false;
    (parts.ahead, parts.back) = (chance.between(3.0, 5.0).round(), 5.0);
    parts.call = "max_rate = \"2mbit\"\n".to_owned();
    let keys = "kind = \"page\"\nsource = \"generated:3\"\ninterval = \"5s\"\n";
    parts.add(chance, "pages", keys, false);
    "pages".to_owned()
}

/// Losses over a distance that makes each repair late.
fn lossy(chance: &mut Chance, parts: &mut Parts) -> String {
    let (loss, burst) = (chance.between(2.0, 5.0), chance.of(&[1, 3]));
    let rtt = chance.between(120.0, 160.0);
    parts.link = format!("rtt = \"{rtt:.0}ms\"\nloss = \"{loss:.1}%\"\nloss_burst = {burst}\n");
    "the losses of house".to_owned()
}

/// Losses that cost little, but for transfers that delay the requests for what was lost.
fn late_repair(chance: &mut Chance, parts: &mut Parts) -> String {
    parts.back = chance.of(&[0.3, 0.5, 0.8]);
    parts.link += "loss = \"1%\"\n";
    let keys = transfers(chance);
    parts.add(chance, "transfers", &keys, !parts.up);
    "transfers".to_owned()
}

fn jittery(chance: &mut Chance, parts: &mut Parts) -> String {
    let jitter = chance.between(300.0, 500.0);
    parts.link += &format!("jitter = \"{jitter:.0}ms\"\n");
    "the jitter of house".to_owned()
}

fn steps(chance: &mut Chance, rate: f64) -> String {
    let (from, long) = (chance.between(8.0, 15.0), chance.between(1.5, 3.0));
    let least = chance.of(&["0bit", "100kbit"]);
    format!(
        "steps = [\"0s {rate}mbit\", \"{from:.1}s {least}\", \"{:.1}s {rate}mbit\"]\n",
        from + long
    )
}

fn dip(chance: &mut Chance, parts: &mut Parts) -> String {
    steps_on(chance, parts, parts.up)
}

/// A control that waits for acknowledgements: gcc goes on without reports for some seconds.
fn other_control(chance: &mut Chance) -> String {
    format!("control = \"{}\"\n", chance.of(&["copa", "cubic"]))
}

fn dip_back(chance: &mut Chance, parts: &mut Parts) -> String {
    parts.call = other_control(chance);
    steps_on(chance, parts, !parts.up)
}

/// A time without capacity in one direction.
fn steps_on(chance: &mut Chance, parts: &mut Parts, up: bool) -> String {
    let rate = if up == parts.up {
        parts.ahead
    } else {
        parts.back
    };
    let steps = steps(chance, rate);
    parts.link += &if up {
        format!("#up\n{steps}")
    } else {
        format!("#down\n{steps}")
    };
    if up {
        "the dips of house-up".to_owned()
    } else {
        "the dips of house".to_owned()
    }
}

/// A limit on the rate below what the call wants, far enough away to make repairs late.
fn limited(chance: &mut Chance, parts: &mut Parts) -> String {
    parts.up = false;
    let rate = chance.between(0.8, 1.2);
    parts.before = format!(
        "[[link]]\nname = \"provider\"\nrate = \"100mbit\"\nrtt = \"100ms\"\n\
         discipline = \"policer,rate={rate:.1}mbit,burst=10kB\"\n"
    );
    parts.call = format!("min_rate = \"{:.1}mbit\"\n", rate * 1.2);
    "the limit on the rate at provider".to_owned()
}

/// A sender whose own line is slower than what it has to send.
fn slow(chance: &mut Chance, parts: &mut Parts) -> String {
    let rate = chance.between(0.8, 1.5);
    parts.call = format!(
        "min_rate = \"{:.2}mbit\"\naccess = \"{rate:.2}mbit\"\n",
        rate * 1.1
    );
    "its sender’s own slow line".to_owned()
}

/// A neighbour on a link in front of the house's.
fn before(chance: &mut Chance, parts: &mut Parts) -> String {
    parts.up = false;
    let rate = (parts.ahead * 1.2).round();
    parts.before = format!(
        "[[link]]\nname = \"segment\"\nrate = \"{rate}mbit\"\nrtt = \"10ms\"\nbuffer = \"500p\"\n\
         discipline = \"pfifo\"\n"
    );
    let keys = transfers(chance) + "via = \"segment\"\n";
    parts.add(chance, "neighbour", &keys, false);
    "neighbour".to_owned()
}

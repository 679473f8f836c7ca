//! What the page shows, as those tell it who know it.

use super::history::{self, History, HistoryCourse};
use autorate::{Way, Ways};
use netcfg::Device;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most lines that have a history, each of two directions: with all of them 0.3 MB.
const LINES: usize = 16;
/// The last repairs of a set-up that are kept.
const REPAIRS: usize = 5;
/// A line of which nobody told for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(600);
/// How long after a request somebody is taken to look at the page, which asks each second.
const ASKS: Duration = Duration::from_secs(5);
/// Documents are made no more often.
const SECOND: Duration = Duration::from_secs(1);
/// Who follows a line tells of it more often than this.
const FOLLOWS: Duration = Duration::from_secs(3);

const _: () = assert!(LINES * 2 * history::BYTES <= 320_000);

/// What is known of the lines. Threads share it.
#[derive(Debug, Default)]
pub struct Board(Mutex<BoardState>);

#[derive(Debug, Default)]
struct BoardState {
    lines: BTreeMap<Device, BoardLine>,
    looked: Looked,
    /// When a page was last asked for.
    asked: Option<Duration>,
    /// When somebody last looked.
    looked_at: Option<Duration>,
    /// The document, and when it was made.
    document: Option<(Duration, Arc<str>)>,
}

/// What was found by a look at the set-ups.
#[derive(Debug, Default)]
pub struct Looked {
    /// How each direction stands.
    pub stands: Vec<Stands>,
    /// The set-ups, as `tc show --format json` has them.
    pub setups: Option<Box<RawValue>>,
    /// What their queues had since the look before.
    pub lately: Option<Box<RawValue>>,
    /// Why nothing could be found.
    pub error: Option<String>,
}

/// A direction of a set-up at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stands {
    /// The device of the set-up.
    pub device: Device,
    /// The direction.
    pub way: Way,
    /// The shaper's rate in bits a second; none if there is no shaper.
    pub rate: Option<u64>,
    /// How long what waits takes at that rate.
    pub wait: Option<Duration>,
}

/// What is known of a line.
#[derive(Debug, Default)]
struct BoardLine {
    ways: Ways<BoardDirection>,
    /// When somebody last told of it.
    told: Duration,
    repairs: VecDeque<Repair>,
}

#[derive(Debug, Default)]
struct BoardDirection {
    history: History,
    /// What who follows it told last; waits are the longest since the last tick.
    noted: Option<Note>,
    /// The last change of its rate, as `autorate --json` prints it.
    change: Option<Value>,
}

#[derive(Debug, Clone, Copy)]
struct Note {
    at: Duration,
    rate: u64,
    wait: Option<Duration>,
}

/// Something that another program took away and that is there again.
#[derive(Debug, Serialize)]
struct Repair {
    time_s: f64,
    what: String,
}

#[derive(Serialize)]
struct BoardDocument<'a> {
    /// Now, in seconds since the machine started, as all times.
    time_s: f64,
    /// When the queues were last looked at.
    looked_s: Option<f64>,
    error: Option<&'a str>,
    setups: Option<&'a RawValue>,
    lately: Option<&'a RawValue>,
    lines: BTreeMap<&'a str, ShownLine<'a>>,
}

#[derive(Serialize)]
struct ShownLine<'a> {
    down: ShownDirection<'a>,
    up: ShownDirection<'a>,
    put_back: &'a VecDeque<Repair>,
}

#[derive(Serialize)]
struct ShownDirection<'a> {
    /// Whether somebody follows it: then waits are those of packets in the line, else those in the shaper's queue.
    followed: bool,
    #[serde(flatten)]
    course: HistoryCourse,
    change: Option<&'a Value>,
}

impl Board {
    /// Who follows `device` tells how it stands.
    pub fn note(&self, at: Duration, device: &Device, way: Way, rate: u64, wait: Option<Duration>) {
        self.with(at, device, |line| {
            let noted = &mut line.ways[way].noted;
            let before = noted.and_then(|note| note.wait);
            let wait = wait.max(before);
            *noted = Some(Note { at, rate, wait });
        });
    }

    /// A rate was changed.
    pub fn changed(&self, at: Duration, device: &Device, way: Way, change: Value) {
        self.with(at, device, |line| line.ways[way].change = Some(change));
    }

    /// Something of the set-up of `device` was put back.
    pub fn put_back(&self, at: Duration, device: &Device, what: &str) {
        self.with(at, device, |line| {
            if line.repairs.len() == REPAIRS {
                line.repairs.pop_front();
            }
            let (time_s, what) = (at.as_secs_f64(), what.to_owned());
            line.repairs.push_back(Repair { time_s, what });
        });
    }

    /// Whether somebody looks at the page.
    pub fn is_looked_at(&self, at: Duration) -> bool {
        let asked = self.state().asked;
        asked.is_some_and(|asked| at.saturating_sub(asked) < ASKS)
    }

    /// A second has passed: adds to the histories what was told since the last one, or else what was `looked` at, if
    /// that was now.
    pub fn tick(&self, at: Duration, looked: Option<Looked>) {
        let mut state = self.state();
        state.document = None;
        state
            .lines
            .retain(|_, line| at.saturating_sub(line.told) < FORGOTTEN);
        let stands = looked.iter().flat_map(|looked| &looked.stands);
        for stands in stands {
            if let Some(line) = state.line(at, &stands.device) {
                line.ways[stands.way].stood(at, stands);
            }
        }
        for line in state.lines.values_mut() {
            line.ways.down.followed(at);
            line.ways.up.followed(at);
        }
        if let Some(looked) = looked {
            state.looked = looked;
            state.looked_at = Some(at);
        }
    }

    /// The document, made at most once a second, and whenever something new is known. It has its time, so that a page
    /// sees when nobody looks any more.
    pub fn document(&self, at: Duration) -> Arc<str> {
        let mut state = self.state();
        state.asked = Some(at);
        if let Some((made, document)) = &state.document
            && at.saturating_sub(*made) < SECOND
        {
            return document.clone();
        }
        let made = serde_json::to_string(&state.shown(at));
        let made: Arc<str> = made.unwrap_or_else(|error| error.to_string()).into();
        state.document = Some((at, made.clone()));
        made
    }

    fn with(&self, at: Duration, device: &Device, tell: impl FnOnce(&mut BoardLine)) {
        if let Some(line) = self.state().line(at, device) {
            tell(line);
        }
    }

    fn state(&self) -> MutexGuard<'_, BoardState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BoardState {
    /// The line of `device`, of which somebody tells now; none if there are too many.
    fn line(&mut self, at: Duration, device: &Device) -> Option<&mut BoardLine> {
        if !self.lines.contains_key(device) {
            if self.lines.len() == LINES {
                return None;
            }
            self.lines.insert(device.clone(), BoardLine::default());
        }
        let line = self.lines.get_mut(device)?;
        line.told = at;
        Some(line)
    }

    fn shown(&self, at: Duration) -> BoardDocument<'_> {
        let lines = self.lines.iter().map(|(device, line)| {
            let shown = ShownLine {
                down: line.ways.down.shown(at),
                up: line.ways.up.shown(at),
                put_back: &line.repairs,
            };
            (device.as_str(), shown)
        });
        BoardDocument {
            time_s: at.as_secs_f64(),
            looked_s: self.looked_at.map(|at| at.as_secs_f64()),
            error: self.looked.error.as_deref(),
            setups: self.looked.setups.as_deref(),
            lately: self.looked.lately.as_deref(),
            lines: lines.collect(),
        }
    }
}

impl BoardDirection {
    fn is_followed(&self, at: Duration) -> bool {
        let since = |note: Note| at.saturating_sub(note.at);
        self.noted.is_some_and(|note| since(note) < FOLLOWS)
    }

    fn shown(&self, at: Duration) -> ShownDirection<'_> {
        ShownDirection {
            followed: self.is_followed(at),
            course: self.history.course(),
            change: self.change.as_ref(),
        }
    }

    /// Somebody looked, which counts unless somebody follows.
    fn stood(&mut self, at: Duration, stands: &Stands) {
        if !self.is_followed(at) {
            self.history.push(at, stands.rate, stands.wait);
        }
    }

    /// Takes over what who follows it told since the last tick.
    fn followed(&mut self, at: Duration) {
        if self.is_followed(at)
            && let Some(note) = &mut self.noted
        {
            self.history.push(at, Some(note.rate), note.wait.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wan() -> Device {
        "wan".parse().unwrap()
    }

    fn stands(rate: u64, wait_ms: u64) -> Looked {
        Looked {
            stands: vec![Stands {
                device: wan(),
                way: Way::Up,
                rate: Some(rate),
                wait: Some(Duration::from_millis(wait_ms)),
            }],
            ..Looked::default()
        }
    }

    fn second(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    fn document(board: &Board, at: Duration) -> Value {
        serde_json::from_str(&board.document(at)).unwrap()
    }

    #[test]
    fn who_follows_tells_more_than_a_look() {
        let board = Board::default();
        board.tick(second(1), Some(stands(9_000_000, 4)));
        for (ms, wait) in [(1100, 7), (1200, 90), (1900, 3)] {
            let (at, wait) = (Duration::from_millis(ms), Duration::from_millis(wait));
            board.note(at, &wan(), Way::Up, 8_000_000, Some(wait));
        }
        board.tick(second(2), Some(stands(9_000_000, 4)));
        // It told nothing more, and then ended.
        board.tick(second(3), None);
        board.tick(second(9), Some(stands(9_000_000, 5)));
        let up = &document(&board, second(9))["lines"]["wan"]["up"];
        assert_eq!(up["at_s"], serde_json::json!([1, 2, 3, 9]));
        let rates = serde_json::json!([9_000_000, 8_000_000, 8_000_000, 9_000_000]);
        assert_eq!(up["rate_bps"], rates);
        assert_eq!(up["wait_us"], serde_json::json!([4000, 90_000, null, 5000]));
        assert_eq!(up["followed"], false);
        let down = &document(&board, second(9))["lines"]["wan"]["down"];
        assert_eq!(down["at_s"], serde_json::json!([]));
    }

    #[test]
    fn the_last_change_and_the_last_repairs_are_kept() {
        let board = Board::default();
        for (number, why) in [(1, "first"), (2, "last")] {
            let change = serde_json::json!({ "why": why });
            board.changed(second(number), &wan(), Way::Down, change);
        }
        for number in 0..9 {
            board.put_back(second(number), &wan(), &format!("repair {number}"));
        }
        let line = &document(&board, second(9))["lines"]["wan"];
        assert_eq!(line["down"]["change"]["why"], "last");
        assert_eq!(line["up"]["change"], Value::Null);
        let repairs = line["put_back"].as_array().unwrap();
        assert_eq!(repairs.len(), REPAIRS);
        assert_eq!(repairs[REPAIRS - 1]["what"], "repair 8");
    }

    #[test]
    fn lines_are_bounded_and_forgotten() {
        let board = Board::default();
        for number in 0..LINES + 5 {
            let device: Device = format!("ppp{number}").parse().unwrap();
            board.put_back(second(1), &device, "all of it");
        }
        let lines = |at| document(&board, at)["lines"].as_object().unwrap().len();
        assert_eq!(lines(second(1)), LINES);
        board.tick(second(700), Some(stands(1, 1)));
        assert_eq!(lines(second(700)), 1);
    }

    #[test]
    fn a_document_is_made_once_a_second_or_tick_and_says_that_somebody_looks() {
        let board = Board::default();
        assert!(!board.is_looked_at(second(1)));
        let soon = second(1) + Duration::from_millis(900);
        let [one, again] = [second(1), soon].map(|at| board.document(at));
        assert!(Arc::ptr_eq(&one, &again));
        assert!(board.is_looked_at(second(6)) && !board.is_looked_at(second(7)));
        board.tick(soon, None);
        assert!(!Arc::ptr_eq(&one, &board.document(soon)));
    }

    /// Looks that hang must not look like a line at which nothing happens.
    #[test]
    fn a_document_tells_when_nobody_looks_any_more() {
        let board = Board::default();
        board.tick(second(1), Some(stands(1, 1)));
        let times = |at| {
            let shown = document(&board, second(at));
            [&shown["looked_s"], &shown["time_s"]].map(|time| time.as_f64().unwrap())
        };
        assert_eq!(times(1), [1.0, 1.0]);
        assert_eq!(times(30), [1.0, 30.0]);
    }

    #[test]
    fn what_was_looked_at_stays_until_the_next_look() {
        let board = Board::default();
        let setups = serde_json::value::to_raw_value(&["wan"]).ok();
        let looked = Looked {
            setups,
            ..Looked::default()
        };
        board.tick(second(1), Some(looked));
        board.tick(second(2), None);
        let shown = document(&board, second(2));
        assert_eq!(shown["setups"], serde_json::json!(["wan"]));
        assert_eq!(
            (&shown["lately"], &shown["error"]),
            (&Value::Null, &Value::Null)
        );
        let error = Some("tc is missing".to_owned());
        let failed = Looked {
            error,
            ..Looked::default()
        };
        board.tick(second(3), Some(failed));
        assert_eq!(document(&board, second(3))["error"], "tc is missing");
    }
}

//! A live view of a link: what each flow gets, and in which class it is.

use command::cells::back;
use live::{Fate, FrameEnds, Gone, QueueState, Tap, TapDirection};
use qdisc::Class;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use units::{Duration, Instant};

/// How often it is drawn.
const EVERY: Duration = Duration::from_millis(500);
/// Flows that are followed in a direction; further ones are counted together.
const FLOWS: usize = 1024;
/// Flows that are shown in a direction.
const SHOWN: usize = 8;
/// Drawings without a packet after which a flow is forgotten.
const IDLE: u32 = 20;

/// A flow since the last drawing.
#[derive(Debug, Default, Clone)]
struct ViewedFlow {
    ends: Option<FrameEnds>,
    class: Option<Class>,
    bytes: u64,
    longest: Duration,
    idle: u32,
}

/// A direction since the last drawing.
#[derive(Debug, Default)]
struct ViewedWay {
    flows: BTreeMap<u32, ViewedFlow>,
    bytes: u64,
    packets: u64,
    waited: Duration,
    longest: Duration,
    drops: u64,
    marks: u64,
}

/// The view, drawn on `screen` over its former drawing.
pub struct View<W: Write> {
    screen: W,
    ways: [ViewedWay; 2],
    drawn: Option<Instant>,
    /// Lines of the former drawing.
    lines: usize,
}

impl<W: Write> View<W> {
    /// An empty one.
    pub fn new(screen: W) -> Self {
        View {
            screen,
            ways: Default::default(),
            drawn: None,
            lines: 0,
        }
    }

    fn way(&mut self, direction: TapDirection) -> &mut ViewedWay {
        &mut self.ways[direction as usize]
    }
}

impl ViewedWay {
    /// The flow's row, unless there are too many.
    fn flow(&mut self, flow: u32) -> Option<&mut ViewedFlow> {
        if self.flows.len() >= FLOWS && !self.flows.contains_key(&flow) {
            return None;
        }
        Some(self.flows.entry(flow).or_default())
    }

    /// The rows of this direction, and begins again.
    fn text(&mut self, name: &str, state: &QueueState, seconds: f64) -> String {
        let mbit = |bytes: u64| bytes as f64 * 8e-6 / seconds;
        let mean = self.waited.as_millis_f64() / self.packets.max(1) as f64;
        let mut text = String::new();
        // Writing to a string cannot fail.
        _ = writeln!(
            text,
            "{name:<5}{:>9.2} Mbit/s   {:>6} packets and {:>6.0} kB wait   waited {:>7.2} ms on average, \
             {:>7.2} at most   dropped {}, marked {}",
            mbit(self.bytes),
            state.backlog.packets,
            state.backlog.bytes as f64 / 1e3,
            mean,
            self.longest.as_millis_f64(),
            self.drops,
            self.marks,
        );
        let mut rows: Vec<&ViewedFlow> =
            self.flows.values().filter(|flow| flow.bytes > 0).collect();
        rows.sort_by_key(|flow| core::cmp::Reverse(flow.bytes));
        for flow in rows.iter().take(SHOWN) {
            let class = flow
                .class
                .and_then(|class| state.classes.get(usize::from(class.0)));
            let ends = flow.ends.map_or_else(String::new, |ends| {
                format!("{} > {}", ends.source, ends.destination)
            });
            _ = writeln!(
                text,
                "     {:>9.2} {:>4.0} % {:>9.2} ms  {:<10} {ends}",
                mbit(flow.bytes),
                100.0 * flow.bytes as f64 / self.bytes.max(1) as f64,
                flow.longest.as_millis_f64(),
                class.map_or("", |class| class),
            );
        }
        let shown: u64 = rows.iter().take(SHOWN).map(|flow| flow.bytes).sum();
        if shown < self.bytes {
            let others = self.bytes - shown;
            _ = writeln!(text, "     {:>9.2} of other flows", mbit(others));
        }
        self.begin();
        text
    }

    fn begin(&mut self) {
        self.flows.retain(|_, flow| {
            flow.idle = if flow.bytes > 0 { 0 } else { flow.idle + 1 };
            (flow.bytes, flow.longest) = (0, Duration::ZERO);
            flow.idle < IDLE
        });
        *self = ViewedWay {
            flows: core::mem::take(&mut self.flows),
            ..ViewedWay::default()
        };
    }
}

impl<W: Write> Tap for View<W> {
    fn gone(&mut self, gone: &Gone<'_>) {
        let way = self.way(gone.direction);
        match gone.fate {
            Fate::Dropped(_) => {
                way.drops += 1;
                return;
            }
            Fate::Marked => way.marks += 1,
            Fate::Sent | Fate::Lost => {}
        }
        let waited = gone.left.since(gone.came);
        way.packets += 1;
        way.bytes += u64::from(gone.bytes);
        way.waited += waited;
        way.longest = way.longest.max(waited);
        if let Some(flow) = way.flow(gone.flow) {
            if flow.ends.is_none() {
                flow.ends = gone.frame.ends();
            }
            flow.bytes += u64::from(gone.bytes);
            flow.longest = flow.longest.max(waited);
        }
    }

    fn moved(&mut self, direction: TapDirection, flow: u32, to: Class) {
        if let Some(flow) = self.way(direction).flow(flow) {
            flow.class = Some(to);
        }
    }

    fn interval(&self) -> Option<Duration> {
        Some(EVERY)
    }

    fn state(&mut self, now: Instant, queues: [QueueState; 2]) {
        let since = self
            .drawn
            .replace(now)
            .map_or(EVERY, |drawn| now.since(drawn));
        let seconds = since.as_secs_f64().max(1e-3);
        let [down, up] = &mut self.ways;
        let [of_down, of_up] = &queues;
        let text = down.text("down", of_down, seconds) + &up.text("up", of_up, seconds);
        let back = back(self.lines);
        self.lines = text.lines().count();
        // A terminal that is gone is no reason to stop the link.
        _ = self.screen.write_all(format!("{back}{text}").as_bytes());
        _ = self.screen.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use live::{Frame, VNET};
    use qdisc::Backlog;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn state() -> QueueState {
        QueueState {
            backlog: Backlog {
                packets: 3,
                bytes: 4500,
            },
            classes: vec!["first".to_owned(), "bulk".to_owned()],
        }
    }

    /// A UDP packet from a port: headers alone.
    fn frame(port: u16) -> Frame {
        let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0];
        let [high, low] = port.to_be_bytes();
        let udp = [high, low, 1, 187, 0, 8, 0, 0];
        let addresses = [100, 64, 0, 1, 100, 64, 0, 2];
        Frame::new([&[0; VNET][..], &ip, &addresses, &udp].concat())
    }

    fn sent(view: &mut View<Vec<u8>>, flow: u32, count: u32, fate: Fate) {
        let frame = frame(1000 + flow as u16);
        for _ in 0..count {
            view.gone(&Gone {
                direction: TapDirection::Down,
                flow,
                came: at(100),
                left: at(110),
                bytes: 1250,
                frame: &frame,
                fate,
            });
        }
    }

    #[test]
    fn flows_are_shown_with_their_shares_and_classes() {
        let mut view = View::new(Vec::new());
        view.moved(TapDirection::Down, 1, Class(1));
        sent(&mut view, 1, 75, Fate::Sent);
        sent(&mut view, 2, 24, Fate::Sent);
        sent(&mut view, 2, 1, Fate::Marked);
        sent(&mut view, 2, 5, Fate::Dropped(qdisc::DropReason::Tail));
        view.state(at(500), [state(), state()]);
        let text = String::from_utf8(view.screen.clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        // 100 packets of 10 kbit in half a second.
        assert!(lines[0].starts_with("down      2.00 Mbit/s        3 packets and      4 kB wait"));
        assert!(
            lines[0]
                .ends_with("waited   10.00 ms on average,   10.00 at most   dropped 5, marked 1")
        );
        assert_eq!(
            lines[1],
            "          1.50   75 %     10.00 ms  bulk       100.64.0.1:1001 > 100.64.0.2:443"
        );
        assert!(lines[2].contains("0.50   25 %") && lines[2].contains(":1002 >"));
        assert!(lines[3].starts_with("up        0.00 Mbit/s") && lines.len() == 4);
        // The next drawing takes the place of this one, and begins at nothing.
        view.screen.clear();
        view.state(at(1000), [state(), state()]);
        let text = String::from_utf8(view.screen.clone()).unwrap();
        assert!(
            text.starts_with("\x1b[4F\x1b[Jdown      0.00 Mbit/s"),
            "{text:?}"
        );
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn a_flood_of_flows_is_bounded() {
        let mut view = View::new(Vec::new());
        for flow in 0..5000 {
            sent(&mut view, flow, 1, Fate::Sent);
        }
        assert_eq!(view.ways[0].flows.len(), FLOWS);
        view.state(at(500), [state(), state()]);
        let text = String::from_utf8(view.screen.clone()).unwrap();
        assert_eq!(text.lines().count(), 1 + SHOWN + 1 + 1);
        assert!(text.contains("99.84 of other flows"), "{text}");
        for drawing in 2..=1 + u64::from(IDLE) {
            view.state(at(500 * drawing), [state(), state()]);
        }
        assert!(view.ways[0].flows.is_empty());
    }
}

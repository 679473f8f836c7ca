//! The keys of a scenario, each declared once: for its reader, its refusals, `analects describe scenario`, and the
//! guide's tables.
//!
//! A table's keys are the fields of a constant, and only what is one can be read. What `[link]` says of its wire,
//! and what a kind of traffic adds, are parameters of their own: [`Wire`], [`Reflectors`](crate::Reflectors) and
//! the workloads'.

use crate::dscp::Dscp;
use crate::key::{
    Choices, Chosen, File, KeyKind, Line, Listed, Name, Passed, Registered, Steps, Subtable,
    Subtables,
};
pub use crate::key::{Declared, Key};
use crate::model::{Buffer, Stack};
use crate::noise::Noise;
use crate::read::{Direction, PlayedBy};
use crate::wire::Wire;
use core::marker::PhantomData;
use units::param::Spec;
use units::{Bytes, Duration, Rate};

/// Declares the keys of a table: the struct of them, the constant by which they are read, and their list.
macro_rules! keys {
    ($(#[$meta:meta])* pub struct $name:ident = $all:ident {$(
        $(#[doc = $help:literal])+
        $key:ident: $type:ty = $value:literal
            $(, range $least:literal..$most:literal)? $(, unsaid $unsaid:literal)? $(, beside $beside:ident)?;
    )*}) => {
        $(#[$meta])*
        pub struct $name {$(
            $(#[doc = $help])+
            pub $key: Key<$type>,
        )*}

        $(#[$meta])*
        pub const $all: $name = $name {$(
            $key: Key {
                declared: Declared {
                    spec: Spec {
                        name: stringify!($key),
                        kind: <$type as KeyKind>::KIND,
                        default: $value,
                        range: keys!(@maybe $(($least, $most))?),
                        help: concat!($($help),+).trim_ascii(),
                        source: "ours",
                        formerly: None,
                    },
                    unsaid: keys!(@maybe $($unsaid)?),
                    beside: keys!(@maybe $(stringify!($beside))?),
                    shown: <$type as KeyKind>::shown,
                },
                of: PhantomData,
            },
        )*};

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [Declared] = &[$($all.$key.declared),*];
        }
    };
    (@maybe) => { None };
    (@maybe $value:expr) => { Some($value) };
}

keys! {
    /// Outside of tables, and the tables themselves.
    pub struct Root = ROOT {
        /// Its name: 1 to 40 letters, digits, spaces, `-` and `_`.
        name: Name = "unnamed";
        /// A line for reports.
        summary: Line = "";
        /// Length of the run.
        duration: Duration = "60s", range "0s".."168h";
        /// What happens before this is not measured. It is shorter than `duration`.
        warmup: Duration = "0s", range "0s".."168h";
        /// A frame later than this is late. Its entry, or the entry's preset, can say otherwise.
        stall_threshold: Duration = "190ms", range "0s".."168h";
        /// Transport settings of the end hosts: `linux`, `ns3` or `webrtc`. They stand
        /// [below](#transport-presets). With `webrtc`, calls run over a real WebRTC stack, and all else over
        /// Linux's: for [the engine live](guide-application-engineer.md#a-scenario-over-real-sockets) only, and a
        /// program that was built with it.
        stack: Stack = "linux";
        /// TCP and QUIC negotiate ECN (RFC 3168), so that queues mark. `prague` and `scream` always send
        /// ECT(1), with accurate feedback.
        ecn: bool = "no";
        /// TCP is paced also with controls that set no rate. Linux's `fq` does so.
        pacing: bool = "no";
        /// What would wait in the sender's own queue, TCP holds back. The first queue on a packet's path is then on
        /// the sending computer, and TCP holds back data that would wait there for more than a millisecond (Linux's
        /// TCP small queues).
        small_queues: bool = "no";
        /// Receivers of TCP and QUIC acknowledge after so many full packets. They do so too after the longest
        /// time that they may hold an acknowledgement back (40 ms in `linux`, 200 ms in `ns3`, 25 ms over QUIC); a
        /// call over TCP keeps its own number.
        ack_every: u32 = "2", range "1".."64", unsaid "that of `stack`, `2`";
        /// Room that receivers of TCP and QUIC grant: no sender has more bytes than this in flight. Below rate × round
        /// trip it, and not the congestion control, decides the rate of a single flow; results then say so. A call
        /// over TCP keeps its own, 5 MiB.
        receive_window: Bytes = "6MiB", range "4kB".."1GB", unsaid "that of `stack`: `6MiB` in `linux`, `4MiB` in `ns3`";
        /// What senders are at, so often: `"100ms"`. Results then have `senders`: the window, the rate and the round
        /// trip of each flow over time, its bytes in flight, its phase, and what it waits for. At most 500,000
        /// moments are kept.
        senders: Duration = "100ms", range "1ms".."1h", unsaid "none";
        /// Packets leave up to so much later: a time, or packets' of the link. That is the largest random delay of
        /// a packet at its sender, without reordering: a duration, or the transmission time of this many full
        /// packets on the slowest link towards the home. With `0s` flows stay synchronized, and the phase decides
        /// which of them finds a full queue (Floyd and Jacobson 1992).
        noise: Noise = "1p";
        /// What is compared: `"NAME,key=value,key=value"`. A discipline that contains others is
        /// `"NAME(CHILD;CHILD),key=value"`.
        disciplines: Choices = "[\"fq_codel\", \"confucius\"]", unsaid "needed";
        /// Those that follow packets themselves: `analects list metrics`. They track every packet or flow and
        /// therefore have to be requested, such as `loss_by_index`: [metrics.md](metrics.md). Results have their
        /// curves under `measured`.
        metrics: Listed = "[\"loss_by_index\"]", unsaid "none";
        /// What `analects measure -o` found of this line. It is for its `--before` and for `tc apply --from`; no
        /// run depends on it.
        measured: Subtable = "{}", unsaid "none";
        /// A link towards the home. Several in a row are `[[link]]`, from the internet to the home, at most 16.
        link: Subtables = "{ rate = \"20mbit\" }", unsaid "needed";
        /// Traffic: any number of entries. `analects list traffic` has the kinds, `analects describe call` more keys of one.
        traffic: Subtables = "[]", unsaid "needed";
    }
}

keys! {
    /// `[link]` and `[link.up]`: what a direction has of its own.
    pub struct OfWay = WAY {
        /// Constant capacity.
        rate: Rate = "20mbit", range "1kbit".."1000gbit", unsaid "needed, or `trace`, or `steps`";
        /// Or a recording: `seconds Mbit/s` a line, or Mahimahi's format. It is repeated when it ends; each line is
        /// valid until the next; it may be compressed. A first line may name the columns, times may count from
        /// 1970, and of samples at one time the mean holds. Other forms:
        /// [`analects import trace`](#traces-in-other-forms). `link:NAME` is an earlier link's.
        trace: File = "FILE", unsaid "";
        /// `line`: each line of a trace for 200 ms, whatever its time. The RTC library of the Confucius paper does
        /// this; it makes the dips of a slow link shorter.
        trace_by: PlayedBy = "time", beside trace;
        /// What a trace's rates are multiplied by. That library uses 15/13.
        trace_scale: f64 = "1", range "0.001".."1000", beside trace;
        /// The trace is played so much later. It begins with its end. With `trace = "link:NAME"`, the trace of an
        /// earlier link, it is what that link's rate is, known too late.
        trace_late: Duration = "0s", beside trace;
        /// Or a rate that changes at these times, and then stays. In one string:
        /// `"0s 20mbit; 20s 5mbit"`. Times increase from `0s`; a rate holds until the next, the last one until
        /// the end; `0mbit` is an outage.
        steps: Steps = "[\"0s 20mbit\", \"20s 5mbit\"]", unsaid "";
        /// Room of the queue: `250p`, `375kB`, or `1.5bdp`. The last is rate × round trip of all links, with the
        /// mean rate of a trace, the first rate of steps. It is the default for the discipline's `limit`.
        buffer: Buffer = "1.5bdp", unsaid "the discipline's own";
        /// This direction's own discipline.
        discipline: Chosen = "pfifo", unsaid "the one under test";
    }
}

keys! {
    /// `[link]` as a whole, beside its [`Wire`].
    pub struct OfLink = LINK {
        /// For results and `--set`.
        name: Name = "link", unsaid "`link`, or `link-1`, `link-2`, …";
        /// What finds the link's rate: `analects describe autorate`. It does so in both directions, as a router's
        /// shaper that follows its line: [autorate.md](autorate.md). `rate` is then the most that its port can
        /// carry. The links before it are the line. For comparisons a setting that is a rate can be told what
        /// nobody knows, `p10` or `0.85mean`: a quantile over time, or the mean, of the slowest link before, in the
        /// direction that ends its name.
        autorate: Chosen = "constant", unsaid "none";
        /// What answers its pings, and how badly. They pass the links before this one;
        /// [autorate.md](autorate.md) has the keys.
        reflectors: Subtable = "{ loss = 0 }", unsaid "", beside autorate;
        /// The other direction, away from the home. Without it, that direction has unlimited capacity and only delays.
        up: Subtable = "{ rate = \"5mbit\" }", unsaid "none";
    }
}

keys! {
    /// `[[traffic]]`: what entries of every kind have.
    pub struct OfEntry = ENTRY {
        /// For results and `--set`.
        name: Name = "call", unsaid "needed";
        /// The application: `analects list traffic`. [traffic.md](traffic.md) describes them.
        kind: Registered = "call", unsaid "needed";
        /// When it starts.
        start: Duration = "0s", range "0s".."168h";
        /// So many of the same. There are at most 10,000 in all; they are named `NAME-1`, `NAME-2`, …
        count: u32 = "1", range "1".."10000";
        /// Each starts so much later than the one before.
        stagger: Duration = "0s", range "0s".."168h";
        /// And up to this much later still, as the seed says. Repeats then differ even if nothing else does, and
        /// effects of two flows starting at the same moment average out.
        jitter: Duration = "0s", range "0s".."168h";
        /// The computer at home; entries of one name share it. So do all instances of a `count`. Disciplines that
        /// are fair between hosts distinguish hosts by it.
        host: Name = "laptop", unsaid "the entry's name";
        /// Each of the same has a computer of its own. They are `HOST-1`, `HOST-2`, …
        own_hosts: bool = "no";
        /// The code point of its packets, in both directions. It is `cs0` to `cs7`, `af11` to `af43`, `ef`,
        /// `va`, `le`, or a number up to 63.
        dscp: Dscp = "cs0";
        /// Settings that go together: `analects describe call` has them. [traffic.md](traffic.md) lists those of
        /// each kind.
        preset: Registered = "webrtc", unsaid "the kind's first, if it has any";
        /// Congestion control of the sender. [controls.md](controls.md) describes them; `udp` has none.
        control: Chosen = "gcc", unsaid "`gcc` for calls, `cubic` otherwise";
        /// From where most data comes: `down` or `up`. That is towards the home, or away from it.
        direction: Direction = "down";
        /// For calls and conferences: a frame later than this is late.
        stall_threshold: Duration = "190ms", range "0s".."168h", unsaid "the scenario's; `100ms` with the preset `game`";
        /// Its own round trip.
        rtt: Duration = "40ms", range "0s".."60s", unsaid "that of the links it passes";
        /// The links that it passes, of several. So links can be parallel: `"dsl"`, several in series as
        /// `"dsl+core"`, or paths that change with time, `"0s dsl; 30s lte"`, which moves its flows during the run.
        via: Passed = "dsl+core", unsaid "all links, in a row";
        /// The sender's own link: bursts leave at this rate. Its queue has no limit.
        access: Rate = "100mbit", range "1kbit".."1000gbit", unsaid "unlimited";
        /// What carries it, if that is a media session. [traffic.md](traffic.md#call) has its keys.
        session: Subtable = "{ nack = true }", unsaid "";
    }
}

/// All that `[link]` can say: its name, its direction's own, its wire's, and the rest.
pub fn link() -> Vec<Declared> {
    let wire = Wire::SPECS.iter().map(|spec| Declared {
        spec: *spec,
        unsaid: None,
        beside: None,
        shown: str::to_owned,
    });
    let (name, rest) = OfLink::ALL.split_at(1);
    let ways = name.iter().chain(OfWay::ALL).copied();
    ways.chain(wire).chain(rest.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A range that is none would allow everything.
    #[test]
    fn what_is_declared_can_be_read() {
        for key in [Root::ALL, OfWay::ALL, OfLink::ALL, OfEntry::ALL].concat() {
            let name = key.spec.name;
            assert!(!key.spec.help.is_empty(), "{name}");
            assert!(
                key.default().is_none_or(|text| (key.shown)(&text) == text),
                "{name}"
            );
        }
        assert!(!ROOT.duration.allows(&Duration::from_secs(604_801)));
        let bits = Rate::from_bits;
        assert!(!WAY.rate.allows(&bits(999)) && WAY.rate.allows(&bits(1_000_000_000_000)));
        assert!(ROOT.ack_every.allows(&64) && ENTRY.rtt.allows(&Duration::from_secs(60)));
        assert!(ENTRY.access.allows(&bits(1_000)) && ENTRY.start.allows(&Duration::ZERO));
        assert!(!WAY.trace_scale.allows(&1001.0) && !ENTRY.count.allows(&0));
    }
}

//! The declaration of a workload.

use crate::app::App;
use crate::carrier::Carrier;
use crate::page::Page;
use core::fmt;
use std::sync::Arc;
use units::param::{Settings, Spec};
use units::random::Stream;
use units::{Duration, Instant, Rate, Refusal};

/// The instance of a traffic entry for which an application is made.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// When.
    pub now: Instant,
    /// The traffic entry's name.
    pub name: &'a str,
    /// Which of the entry's instances, from 0.
    pub instance: u32,
    /// Which of those that a scenario writes as one entry, from 0. It is `instance`, unless each has a
    /// computer of its own and so became an entry.
    pub place: u32,
    /// The run's seed.
    pub seed: u64,
    /// The entry's round trip without queueing and transmission.
    pub rtt: Duration,
    /// The nominal rate of the first link that the entry's data passes.
    pub rate: Rate,
}

impl Start<'_> {
    /// A stream of random numbers for this entry, independent of other entries in the run. An entry
    /// has one stream if there is one instance only, and have their own otherwise.
    pub fn chance(&self) -> Stream {
        Stream::new(self.seed, &self.own_name())
    }

    /// The same for a part of the entry, which has its own.
    pub fn chance_of(&self, part: &str) -> Stream {
        Stream::new(self.seed, &format!("{} {part}", self.own_name()))
    }

    fn own_name(&self) -> String {
        match self.instance {
            0 => self.name.to_owned(),
            n => format!("{} #{n}", self.name),
        }
    }
}

/// The traffic that an entry sends and asks for.
pub trait Workload: fmt::Debug + Send + Sync {
    /// Its settings as a user would write them, defaults included.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// The application that starts; it opens connections.
    fn client(&self, start: &Start<'_>) -> Box<dyn App>;

    /// The application at the far end of each connection; none if arrivals need no handling, such
    /// as a media session's frames.
    fn server(&self) -> Option<Box<dyn App>>;

    /// The end that opens connections sends most of the data: an upload, a call. Otherwise it asks for
    /// data, as a browser does.
    fn client_sends(&self) -> bool;

    /// A flow of it goes on until the run ends.
    fn lasts(&self) -> bool {
        false
    }

    /// QUIC carries all of it.
    fn only_quic(&self) -> bool {
        false
    }

    /// Its datagrams are ECT(0) (RFC 3168). Connections and media sessions decide that themselves.
    fn ecn_capable(&self) -> bool {
        false
    }

    /// End hosts would claim that its packets are delay-sensitive.
    fn real_time(&self) -> bool {
        false
    }

    /// If a media session carries it: the rate that its encoder starts from, and the least and
    /// greatest rate.
    fn media(&self) -> Option<(Rate, (Rate, Rate))> {
        None
    }

    /// Servers are the same for every entry that asks them, as web sites are. Otherwise an entry has
    /// its own.
    fn shares_servers(&self) -> bool {
        false
    }

    /// The pages that it loads, for results that name them.
    fn pages(&self) -> &[Arc<Page>] {
        &[]
    }

    /// How far the round trips to its servers spread, as the standard deviation of their logarithm;
    /// 0 if all servers have the scenario's round trip.
    fn rtt_spread(&self) -> f64 {
        0.0
    }
}

/// The place of a workload's entry in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// A row on its frames, among the calls.
    Call,
    /// A row for each load, among the pages.
    Loads,
    /// A row for each flow, among the transfers.
    Flows,
    /// Its figures only: there may be any number of flows.
    Figures,
}

/// How the values of a [`Figure`] become a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Each value is a sample: count, mean and quantiles are kept.
    Samples,
    /// Values are added up.
    Sum,
    /// Not observed itself: the percentage of the first figure's sum that the second one's lacks.
    Missing(u8, u8),
}

/// An observation of a workload, reported in results.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Its name; with the workload's name before it, a metric's.
    pub name: &'static str,
    /// Its unit, as it is printed behind a number.
    pub unit: &'static str,
    /// Its description, in a line.
    pub about: &'static str,
    /// How its values become a result.
    pub kept: Kept,
}

/// The files that a workload may load while it is built.
pub trait Library {
    /// The pages that `source` names.
    ///
    /// # Errors
    /// The error, and the text to write instead.
    fn pages(&self, source: &str) -> Result<Vec<Arc<Page>>, LibraryError>;
}

/// Why a file could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryError {
    /// The file at fault; none if the name itself is.
    pub file: Option<String>,
    /// The error.
    pub message: String,
    /// The text to write instead.
    pub help: String,
}

/// Why a workload was not built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    /// A setting was refused.
    Param(Refusal),
    /// The file named by the setting called `key` could not be loaded.
    Library {
        /// The setting.
        key: &'static str,
        /// Why.
        error: LibraryError,
    },
}

impl From<Refusal> for BuildError {
    fn from(error: Refusal) -> Self {
        BuildError::Param(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Param(error) => error.fmt(f),
            BuildError::Library { key, error } => match &error.file {
                Some(file) => write!(f, "{key}: {file}: {}", error.message),
                None => write!(f, "{key}: {}", error.message),
            },
        }
    }
}

/// Settings that go together, under a name, chosen by a traffic entry's `preset` and overridden by
/// each of its keys.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// The name users write.
    pub name: &'static str,
    /// Its description, in a line.
    pub summary: &'static str,
    /// The source of its values.
    pub source: &'static str,
    /// Keys of the entry, those of its session with `session.` before them, and their values.
    pub settings: Settled,
    /// Further settings, applied before `settings`, for controls of these names.
    pub by_control: &'static [(&'static [&'static str], Settled)],
}

/// Keys and values that are settled.
pub type Settled = &'static [(&'static str, &'static str)];

/// Builds a workload from the user's settings.
pub type Build = fn(&Settings, &dyn Library) -> Result<Arc<dyn Workload>, BuildError>;

/// A workload's description of itself.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name users write: a traffic entry's `kind`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its principles, and its limits: some sentences, separated by blank lines.
    pub about: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Spec],
    /// Checks the form and the range of each of some settings by itself.
    pub check: fn(&Settings) -> Result<(), Refusal>,
    /// Its possible carriers.
    pub carriers: &'static [Carrier],
    /// Its default control; none if nothing is controlled.
    pub control: Option<&'static str>,
    /// Its place in results.
    pub rows: Rows,
    /// Its observations.
    pub figures: &'static [Figure],
    /// Settings that go together; the first is the default.
    pub presets: &'static [Preset],
    /// Builds one.
    pub build: Build,
}

/// A workload with its settings, ready to start.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Its description.
    pub entry: Entry,
    /// The workload.
    pub workload: Arc<dyn Workload>,
}

impl Kind {
    /// The name in scenarios.
    pub const fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Whether a media session carries it.
    pub fn has_session(&self) -> bool {
        self.workload.media().is_some()
    }
}

/// The same workload with the same settings, over the same pages.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.workload.values() == other.workload.values()
            && self.workload.pages() == other.workload.pages()
    }
}

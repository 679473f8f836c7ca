//! Figures that need no run: of the theory, of pages, of a set of traces.
//!
//! - `theory POLICY KEY=VALUE… of delay FORM`: the greatest queue delay, ms; `of completion FORM`: how
//!   much later than under FQ the new flows are complete, ms. POLICY and FORM are as `analects bound`
//!   prints them: `fq`, `fifo`, `cbq`, `confucius` (by decay), `confucius weights`, `confucius steps`;
//!   `integral`, `corrected`, `printed`, for completion `limit`, for Confucius' delay `unsimplified`,
//!   equation (29). Keys that are not named have the theory's defaults.
//! - `theory KEY=VALUE… of k`: how strongly a control reacts, 1/s².
//! - `setpoint F goodput`, `setpoint F power`: the share of a link, %, that one Reno flow gets if
//!   its AQM aims at F round trips of queue, and its throughput over delay.
//! - `pages FIGURE`: a figure of the pages, as [`Survey::figure`] names them, or `top.1.active`,
//!   `top.1.in_use`, `top.1.open` of the page with the most ACTIVE flows among the first 200.
//! - `traces SET mean`, `traces SET deviation`: Mbit/s, over all time of all the set's traces.

use crate::data::Data;
use crate::pages::{Survey, survey};
use measure::Engine;
use std::cell::OnceCell;
use theory::{self, Model, Policy, Share, closed, equations, setpoint};
use units::Refusal;

/// Samples above this are errors of the measurement, Mbit/s.
const MOST_MBIT: f64 = 2000.0;

/// Table 2 of the Confucius paper is about the first so many websites.
const TABLE_2_SITES: usize = 200;

/// Where facts come from.
pub struct Facts<'a> {
    engine: &'a dyn Engine,
    data: &'a Data,
    /// Made when it is first asked for.
    survey: OnceCell<Result<Survey, Refusal>>,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts").field("data", self.data).finish()
    }
}

impl<'a> Facts<'a> {
    /// Pages are loaded on `engine`; `data` has the pages and the traces.
    pub fn new(engine: &'a dyn Engine, data: &'a Data) -> Self {
        Facts {
            engine,
            data,
            survey: OnceCell::new(),
        }
    }

    /// The value of the fact in `text`; none if these data do not have it.
    ///
    /// # Errors
    /// A sentence: the possible forms, or the reason why the data cannot be read.
    pub fn value(&self, text: &str) -> Result<Option<f64>, Refusal> {
        match Fact::parse(text)? {
            Fact::Theory(theory) => Ok(theory.value()),
            Fact::Pages(figure) => {
                let survey = self.survey.get_or_init(|| self.surveyed());
                Ok(of_pages(survey.as_ref().map_err(Clone::clone)?, &figure))
            }
            Fact::SetPoint(aim, SetPointFigure::Goodput) => {
                Ok(Some(100.0 * setpoint::goodput(aim)))
            }
            Fact::SetPoint(aim, SetPointFigure::Power) => Ok(Some(setpoint::power(aim))),
            Fact::Traces { set, figure } => of_traces(&self.data.traces(&set)?, figure).map(Some),
        }
    }

    fn surveyed(&self) -> Result<Survey, Refusal> {
        let pages = scenario::files::pages(&self.data.pages()).map_err(|error| error.message)?;
        survey(self.engine, &pages.pages).map_err(|error| Refusal::new(error.to_string()))
    }
}

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Of the theory.
    Theory(Theory),
    /// Of the pages.
    Pages(String),
    /// Of an AQM's aim, in round trips.
    SetPoint(f64, SetPointFigure),
    /// Of a set of traces.
    Traces {
        /// The set.
        set: String,
        /// Which figure.
        figure: TraceFigure,
    },
}

/// A figure of an AQM's aim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetPointFigure {
    /// The share of the link that is used.
    Goodput,
    /// Throughput over delay.
    Power,
}

/// A figure of the theory.
#[derive(Debug, Clone, PartialEq)]
pub struct Theory {
    /// The policy that schedules the link.
    policy: Policy,
    /// The model for the theory.
    model: Model,
    /// Which figure.
    figure: TheoryFigure,
}

/// Which figure of the theory.
#[derive(Debug, Clone, PartialEq)]
enum TheoryFigure {
    /// The control's k.
    K,
    /// The greatest queue delay, in a form.
    Delay(FactForm),
    /// How much later than under FQ flows are complete, in a form.
    Completion(FactForm),
}

/// How a figure of the theory is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FactForm {
    Integral,
    Corrected,
    Printed,
    Limit,
    Unsimplified,
}

/// A figure of a set of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFigure {
    /// Mean capacity.
    Mean,
    /// Standard deviation of capacity.
    Deviation,
}

/// The unit of the fact that `text` names.
pub fn unit(text: &str) -> &'static str {
    let has = |word: &str| text.contains(word);
    match text.split(' ').next() {
        Some("traces") => "Mbit/s",
        Some("setpoint") if has("goodput") => "%",
        Some("theory") if text.ends_with(" k") => "1/s²",
        Some("theory") => "ms",
        Some("pages") if has("protocol.") => "%",
        Some("pages") if has("_bytes.") => "bytes",
        _ => "",
    }
}

impl Fact {
    /// Reads a fact.
    ///
    /// # Errors
    /// A sentence with the possible forms.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["traces", set, figure] => Ok(Fact::Traces {
                set: set.to_owned(),
                figure: match figure {
                    "mean" => TraceFigure::Mean,
                    "deviation" => TraceFigure::Deviation,
                    _ => {
                        let known = ["mean", "deviation"];
                        return Err(Refusal::unknown("figure of traces", figure, known));
                    }
                },
            }),
            ["setpoint", aim, figure] => set_point(aim, figure),
            ["pages", figure] => Ok(Fact::Pages(figure.to_owned())),
            ["theory", ref told @ .., "of", "k"] => {
                Theory::parse(told, TheoryFigure::K).map(Fact::Theory)
            }
            ["theory", ref told @ .., "of", figure, form] => {
                Theory::parse(told, TheoryFigure::parse(figure, form)?).map(Fact::Theory)
            }
            _ => Err(Refusal::new(format!("{text:?} is no fact")).with_help(
                "write \"traces c1 mean\", \"pages active.p50\" or \"theory confucius flows=12 of delay \
                 integral\"",
            )),
        }
    }
}

fn set_point(aim: &str, figure: &str) -> Result<Fact, Refusal> {
    let aim = aim.parse().ok().filter(|aim| (0.0..=1.0).contains(aim));
    let aim = aim.ok_or_else(|| Refusal::new("an AQM's aim is 0 to 1 round trips"))?;
    let figure = match figure {
        "goodput" => SetPointFigure::Goodput,
        "power" => SetPointFigure::Power,
        _ => {
            let known = ["goodput", "power"];
            return Err(Refusal::unknown("figure of an aim", figure, known));
        }
    };
    Ok(Fact::SetPoint(aim, figure))
}

impl TheoryFigure {
    fn parse(figure: &str, form: &str) -> Result<Self, Refusal> {
        let known = match form {
            "integral" => FactForm::Integral,
            "corrected" => FactForm::Corrected,
            "printed" => FactForm::Printed,
            "limit" => FactForm::Limit,
            "unsimplified" => FactForm::Unsimplified,
            _ => {
                let known = ["integral", "corrected", "printed", "limit", "unsimplified"];
                return Err(Refusal::unknown("form of a figure", form, known));
            }
        };
        match (figure, known) {
            ("delay", FactForm::Limit) | ("completion", FactForm::Unsimplified) => {
                Err(Refusal::new(format!("{figure} has no form {form:?}")))
            }
            ("delay", known) => Ok(TheoryFigure::Delay(known)),
            ("completion", known) => Ok(TheoryFigure::Completion(known)),
            _ => Err(Refusal::unknown(
                "figure of the theory",
                figure,
                ["delay", "completion", "k"],
            )),
        }
    }
}

impl Theory {
    /// Parses the words before `of`.
    fn parse(told: &[&str], figure: TheoryFigure) -> Result<Self, Refusal> {
        let setting = |word: &&str| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let settings: Vec<_> = told.iter().filter_map(setting).collect();
        let names = told.iter().filter(|word| !word.contains('='));
        let names: Vec<&str> = names.copied().collect();
        let policy = match names[..] {
            ["fq"] => Policy::Fq,
            ["fifo"] => Policy::Fifo,
            ["cbq"] => Policy::Cbq,
            ["confucius"] | ["confucius", "decay"] => Policy::Confucius(Share::Decay),
            ["confucius", "weights"] => Policy::Confucius(Share::Weights),
            ["confucius", "steps"] => Policy::Confucius(Share::Steps),
            // k is the control's.
            [] if figure == TheoryFigure::K => Policy::Fq,
            _ => {
                let known = ["fq", "fifo", "cbq", "confucius"];
                return Err(Refusal::unknown("policy", &names.join(" "), known));
            }
        };
        if figure == TheoryFigure::Delay(FactForm::Unsimplified)
            && !matches!(policy, Policy::Confucius(_))
        {
            return Err(Refusal::new("only confucius has an unsimplified bound"));
        }
        let model = Model::parse(&settings).map_err(|error| error.to_string())?;
        Ok(Theory {
            policy,
            model,
            figure,
        })
    }

    fn value(&self) -> Option<f64> {
        let (policy, model) = (self.policy, &self.model);
        let bound = || theory::bound(policy, model);
        let seconds = match self.figure {
            // From 1/ms² to 1/s².
            TheoryFigure::K => return Some(model.k.per_ms2(model.rtt) * 1e6),
            TheoryFigure::Delay(FactForm::Unsimplified) => Some(equations::series_confucius(model)),
            TheoryFigure::Delay(form) => form.of(bound())?.delay,
            TheoryFigure::Completion(FactForm::Limit) => closed::latest(policy, model),
            TheoryFigure::Completion(form) => form.of(bound())?.completion,
        };
        seconds.map(|seconds| seconds * 1e3)
    }
}

impl FactForm {
    /// The bound in this form, if it has one of its own.
    fn of(self, bound: theory::Bound) -> Option<theory::Estimate> {
        match self {
            FactForm::Integral => Some(bound.integral),
            FactForm::Corrected => Some(bound.corrected),
            FactForm::Printed => Some(bound.printed),
            FactForm::Limit | FactForm::Unsimplified => None,
        }
    }
}

fn of_pages(survey: &Survey, name: &str) -> Option<f64> {
    let Some(name) = name.strip_prefix("top.") else {
        return survey.figure(name);
    };
    let (rank, figure) = name.split_once('.')?;
    let rank: usize = rank.parse().ok()?;
    let site = survey
        .top_of_first(TABLE_2_SITES, rank)
        .get(rank.checked_sub(1)?)
        .copied()?;
    let count = match figure {
        "active" => site.active,
        "in_use" => site.in_use,
        "open" => site.open,
        _ => return None,
    };
    Some(count as f64)
}

fn of_traces(paths: &[String], figure: TraceFigure) -> Result<f64, Refusal> {
    let (mut time, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for path in paths {
        let trace = scenario::files::trace(path).map_err(|error| error.message)?;
        for (rate, hold) in trace.pieces() {
            let (mbit, hold) = (rate.as_bits() as f64 / 1e6, hold.as_secs_f64());
            // A few recorded samples lie above the capacity of all these links.
            if mbit > MOST_MBIT {
                continue;
            }
            time += hold;
            sum += mbit * hold;
            squares += mbit * mbit * hold;
        }
    }
    let mean = sum / time;
    Ok(match figure {
        TraceFigure::Mean => mean,
        TraceFigure::Deviation => (squares / time - mean * mean).max(0.0).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theory(text: &str) -> Option<f64> {
        match Fact::parse(text).unwrap() {
            Fact::Theory(theory) => theory.value(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_theory_by_name() {
        for (text, value, within) in [
            (
                "theory cbq flows=12 rtt=40ms q0=5ms k=copa of delay integral",
                66.9,
                0.1,
            ),
            ("theory confucius of delay integral", 87.8, 0.1),
            ("theory confucius weights of delay integral", 77.1, 0.1),
            // Before the first step Confucius is CBQ.
            ("theory confucius steps of delay integral", 66.9, 0.1),
            // 30 + 600 + 32 + 650 · 0.000016/0.001.
            ("theory confucius k=0.001 of delay printed", 672.4, 0.05),
            // Equation (29) at lambda = 0: 10 + 240 + 4/0.0316.
            (
                "theory confucius k=0.001 lambda=0 of delay unsimplified",
                376.5,
                0.1,
            ),
            // 250 ms · log2(e).
            ("theory confucius of completion printed", 360.67, 0.01),
            // 11 · 15 kB at 20 Mbit/s.
            ("theory cbq of completion integral", 66.0, 0.01),
            ("theory fq of completion limit", 0.0, 0.0),
            // (2π / 200 ms)².
            ("theory k=copa rtt=40ms of k", 987.0, 0.1),
        ] {
            let found = theory(text).unwrap();
            assert!((found - value).abs() <= within, "{text}: {found}");
        }
        // The cost of CBQ grows with the flows' size; weights have no closed form.
        assert_eq!(theory("theory cbq of completion limit"), None);
        assert_eq!(theory("theory confucius weights of delay corrected"), None);
    }

    #[test]
    fn what_is_no_fact_is_refused() {
        for (text, part) in [
            ("", "is no fact"),
            ("pages", "is no fact"),
            ("traces c1 median", "no figure of traces \"median\""),
            ("theory of delay integral", "no policy \"\""),
            ("theory drr of delay integral", "no policy \"drr\""),
            (
                "theory fq of stall integral",
                "no figure of the theory \"stall\"",
            ),
            ("theory fq of delay exact", "no form of a figure \"exact\""),
            ("theory fq of delay limit", "no form \"limit\""),
            ("theory fq of delay unsimplified", "only confucius"),
            ("theory fq n=12 of delay integral", "no parameter \"n\""),
            ("theory fq flows=0 of delay integral", "flows"),
        ] {
            let error = Fact::parse(text).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn pages_by_rank() {
        let site = |name: &str, active| crate::pages::PageFigures {
            name: name.to_owned(),
            active,
            in_use: 2 * active,
            open: 3 * active,
            connections: 0,
            connection_limit: 0,
            requests: 0,
            origins: 0,
            addresses: None,
            page_bytes: 0,
            complete: true,
        };
        let survey = Survey {
            incomplete: 0,
            figures: Default::default(),
            versions: Default::default(),
            sites: vec![site("a", 4), site("b", 9)],
        };
        let found = |name| of_pages(&survey, name);
        assert_eq!(found("top.1.active"), Some(9.0));
        assert_eq!(found("top.2.open"), Some(12.0));
        assert_eq!(found("sites"), Some(2.0));
        for none in ["top.3.active", "top.0.active", "top.1.name", "active.p50"] {
            assert_eq!(found(none), None, "{none}");
        }
    }

    #[test]
    fn units_are_those_of_the_values() {
        assert_eq!(unit("theory fq of delay integral"), "ms");
        assert_eq!(unit("theory k=bbr of k"), "1/s²");
        assert_eq!(unit("pages protocol.website.h1"), "%");
        assert_eq!(unit("pages request_bytes.p50"), "bytes");
        assert_eq!(unit("pages active.p50"), "");
    }
}

//! `analects bound`: results of the Confucius paper's theory.

use crate::cli::{BoundArgs, BoundFormat, Policies};
use command::Refused;
use command::print;
use serde_json::{Value, json};
use std::fmt::Write as _;
use theory::{Bound, Estimate, Model, Policy, bound, closed, greatest};
use units::param::Settings;
use units::{Duration, Refusal};

/// One policy's line.
struct PolicyRow {
    policy: Policy,
    bound: Bound,
    /// Upper bound of the completion, for flows of any size.
    latest: Option<f64>,
}

/// A form of a figure: its name, and how a row has it.
type Form = (&'static str, fn(&PolicyRow) -> Option<f64>);

const DELAY: [Form; 3] = [
    ("integral", |row| row.bound.integral.delay),
    ("corrected", |row| row.bound.corrected.delay),
    ("printed", |row| row.bound.printed.delay),
];

const COMPLETION: [Form; 4] = [
    ("integral", |row| row.bound.integral.completion),
    ("corrected", |row| row.bound.corrected.completion),
    ("limit", |row| row.latest),
    ("printed", |row| row.bound.printed.completion),
];

/// Prints the bounds.
pub fn run(args: &BoundArgs) -> Result<(), Refused> {
    let model = model(args)?;
    let within = args.within;
    let rows: Vec<PolicyRow> = Policy::ALL
        .into_iter()
        .filter(|policy| match args.policy {
            Policies::All => true,
            Policies::Fq => *policy == Policy::Fq,
            Policies::Fifo => *policy == Policy::Fifo,
            Policies::Cbq => *policy == Policy::Cbq,
            Policies::Confucius => matches!(policy, Policy::Confucius(_)),
        })
        .map(|policy| row(policy, &model, within))
        .collect();
    print(&match args.format {
        BoundFormat::Text => as_text(&model, within, &rows),
        BoundFormat::Json => as_json(&model, within, &rows),
    })
}

fn row(policy: Policy, model: &Model, within: Option<Duration>) -> PolicyRow {
    let mut bound = bound(policy, model);
    if let Some(horizon) = within {
        bound.integral = Estimate {
            delay: Some(greatest(model, policy, horizon).delay),
            ..bound.integral
        };
    }
    PolicyRow {
        policy,
        bound,
        latest: closed::latest(policy, model),
    }
}

fn model(args: &BoundArgs) -> Result<Model, Refused> {
    let mut model = Model::default();
    let options = [
        ("flows", &args.flows),
        ("rtt", &args.rtt),
        ("q0", &args.q0),
        ("k", &args.k),
        ("lambda", &args.lambda),
        ("size", &args.size),
        ("initial_window", &args.initial_window),
        ("rate", &args.rate),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            let setting: &Settings = &[(name.to_owned(), value.clone())];
            let refused = |error| option_refused(name, value, &error);
            model.apply(setting).map_err(refused)?;
        }
    }
    if let Some(doubling) = args.doubling {
        model.lambda = 1.0 / doubling.as_millis_f64();
    }
    Ok(model)
}

/// The refusal of a parameter that was written as an option.
fn option_refused(name: &str, value: &str, refusal: &Refusal) -> Refused {
    let option = name.replace('_', "-");
    let of_option = refusal.message.strip_prefix(&format!("parameter {name}: "));
    let what = match of_option {
        Some(what) => what.to_owned(),
        None => format!("{value}: {refusal}"),
    };
    let spec = Model::SPECS.iter().find(|spec| spec.name == name);
    let default = spec.map_or("", |spec| spec.default);
    let help = format!("write for example --{option} {default}");
    Refused::new(&format!("--{option}: {what}"), &help)
}

fn name(policy: Policy) -> String {
    match policy {
        Policy::Confucius(share) => format!("{} {}", policy.name(), share.name()),
        _ => policy.name().to_owned(),
    }
}

const LEGEND: &str = "
integral   of the fluid model: DELAY
corrected  the closed form that follows from the model
limit      whatever the flows' size
printed    table 1 of the paper
confucius  decay: equation (9d); weights: equation (1); steps: (1), changed only every 1/lambda
";

fn as_text(model: &Model, within: Option<Duration>, rows: &[PolicyRow]) -> String {
    let mut text = format!(
        "{} flows of {} join a real-time flow on {}:\nRTT {}, q0 {}, k {:.3e}/ms², lambda {}/ms\n\n",
        model.flows,
        model.size,
        model.rate,
        model.rtt,
        model.q0,
        model.k.per_ms2(model.rtt),
        model.lambda,
    );
    // Writing to a string does not fail.
    _ = writeln!(
        text,
        "{:18}{:>30}   {:>40}",
        "", "greatest queue delay, ms", "completion later than under FQ, ms"
    );
    let heading = |forms: &[Form]| -> String {
        let names = forms.iter().map(|(name, _)| format!("{name:>10}"));
        names.collect()
    };
    let head = [heading(&DELAY), heading(&COMPLETION)].join("   ");
    _ = writeln!(text, "{:18}{head}", "policy");
    for row in rows {
        let cells = |forms: &[Form]| -> String {
            let cell = |(_, of): &Form| match of(row) {
                // Without a minus before zeroes.
                Some(seconds) => format!("{:>10.1}", seconds * 1e3 + 0.0),
                None => format!("{:>10}", "-"),
            };
            forms.iter().map(cell).collect()
        };
        let line = [cells(&DELAY), cells(&COMPLETION)].join("   ");
        _ = writeln!(text, "{:18}{line}", name(row.policy));
    }
    let delay = match within {
        Some(horizon) => format!("the greatest delay within {horizon}"),
        None => "the first peak".to_owned(),
    };
    text + &LEGEND.replace("DELAY", &delay)
}

fn as_json(model: &Model, within: Option<Duration>, rows: &[PolicyRow]) -> String {
    let told: serde_json::Map<String, Value> = model
        .values()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect();
    let in_ms = |forms: &[Form], row: &PolicyRow| -> Value {
        let form = |(name, of): &Form| {
            let ms = of(row).map(|seconds| seconds * 1e3);
            ((*name).to_owned(), Value::from(ms))
        };
        let forms: serde_json::Map<String, Value> = forms.iter().map(form).collect();
        Value::from(forms)
    };
    let bounds: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "policy": row.policy.name(),
                "share": match row.policy {
                    Policy::Confucius(share) => Some(share.name()),
                    _ => None,
                },
                "delay_ms": in_ms(&DELAY, row),
                "completion_ms": in_ms(&COMPLETION, row),
            })
        })
        .collect();
    let document = json!({
        "model": told,
        "k_per_ms2": model.k.per_ms2(model.rtt),
        "within_ms": within.map(Duration::as_millis_f64),
        "bounds": bounds,
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    /// Each parameter has an option, whose help has the declared default.
    #[test]
    fn the_help_says_the_declared_defaults() {
        let mut command = Cli::command();
        let bound = command.find_subcommand_mut("bound").unwrap();
        for spec in Model::SPECS {
            let mut options = bound.get_arguments();
            let option = options.find(|option| option.get_id() == spec.name).unwrap();
            let help = option.get_help().unwrap().to_string();
            let default = format!("[default: {}]", spec.default);
            assert!(help.ends_with(&default), "{}: {help}", spec.name);
        }
    }
}

//! `analects-guest PLAN OUT`: runs a plan, and leaves what happened in the folder OUT.

use guest::Plan;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, out] = &arguments[..] else {
        eprintln!("usage: analects-guest PLAN OUT");
        return ExitCode::from(2);
    };
    match run(Path::new(plan), Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("analects-guest: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(plan: &Path, out: &Path) -> Result<(), String> {
    let at = plan.display();
    let text = std::fs::read_to_string(plan).map_err(|error| format!("{at}: {error}"))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| format!("{at}: {error}"))?;
    guest::run(&plan, out).map_err(|error| error.to_string())?;
    Ok(())
}

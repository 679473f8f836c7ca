//! `analects-guest PLAN OUT`: runs a plan, and leaves its records in the folder OUT.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, out] = &arguments[..] else {
        eprintln!("usage: analects-guest PLAN OUT");
        return ExitCode::from(2);
    };
    match guest::run_file(Path::new(plan), Path::new(out)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("analects-guest: {failure}");
            ExitCode::FAILURE
        }
    }
}

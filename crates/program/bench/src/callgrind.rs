//! Instructions of a run of this program, counted by valgrind's callgrind: the same on a busy machine
//! as on a quiet one.

use std::process::{Command, Output};

/// Runs this program with `arguments` under callgrind; returns its instructions and its output.
///
/// # Errors
/// If valgrind is missing (the message begins with `valgrind: `), or the program fails.
pub fn count(arguments: &[&str]) -> Result<(u64, Output), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind: {text}"));
    }
    let count = text.lines().find_map(|line| line.split_once("Collected :"));
    let count = count.and_then(|(_, count)| count.trim().parse().ok());
    let count = count.ok_or_else(|| format!("valgrind printed no count: {text}"))?;
    Ok((count, output))
}

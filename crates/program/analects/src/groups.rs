//! The commands in groups, as `analects --help` lists them: clap has one flat list.

use clap::Command;
use std::fmt::Write as _;

/// The groups, and the commands of each in the order in which somebody may want them.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Compare queue disciplines",
        &["run", "sweep", "list", "describe", "pages"],
    ),
    (
        "Check what papers claim",
        &[
            "reproduce",
            "evaluate",
            "pilot",
            "agree",
            "jobs",
            "job",
            "bound",
            "threshold",
        ],
    ),
    (
        "Use them on this host",
        &[
            "measure", "link", "browser", "tc", "gateway", "pace", "change", "autorate", "probe",
            "doctor",
        ],
    ),
    (
        "Your own",
        &["check", "import", "new", "completions", "man"],
    ),
];

/// Columns of a line, as in `Cli`, and of the names.
const WIDTH: usize = 100;
const BESIDE: usize = 14;

/// The command line, whose help has the commands in groups.
pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}\n\n`{} help COMMAND` tells more.\n",
        list(&command),
        command.get_name(),
    );
    command.help_template(template)
}

/// A line for each command, below its group.
fn list(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::new();
    for (title, names) in GROUPS {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for found in names
            .iter()
            .filter_map(|name| command.find_subcommand(name))
        {
            let about = found.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let name = found.get_name();
            let _ = writeln!(
                text,
                "  {literal}{name:<12}{literal:#}{}",
                wrapped(first(&about))
            );
        }
        text.push('\n');
    }
    text
}

/// The text in lines that end where clap's do, beside the names.
fn wrapped(text: &str) -> String {
    let (mut lines, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        if used + 1 + word.len() > WIDTH - BESIDE {
            lines += "\n";
            lines += &" ".repeat(BESIDE);
            used = 0;
        } else if used > 0 {
            lines += " ";
            used += 1;
        }
        lines += word;
        used += word.len();
    }
    lines
}

/// What a text says first.
fn first(text: &str) -> &str {
    let end = [": ", ". ", "; "]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn each_command_that_is_shown_is_in_one_group() {
        let line = crate::cli::Cli::command();
        let shown = line
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        if cfg!(feature = "host") {
            assert_eq!(grouped, shown);
        } else {
            assert!(shown.iter().all(|name| grouped.contains(name)), "{shown:?}");
        }
    }
}

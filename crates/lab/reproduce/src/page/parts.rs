//! A page that is made one experiment at a time: new parts stand in the place of earlier ones of the same experiments.

use units::Refusal;

/// Begins the line of a page, or of an experiment's part of it, that waits to be made again: the commit by whose rules it
/// was made and the reason follow.
pub const WAITS: &str = "**Made by the rules of commit `";

/// A page by its parts, each of an experiment.
struct PageParts<'p> {
    /// Why all of it waits.
    waits: Option<&'p str>,
    /// The head of the table of totals.
    head: &'p str,
    rows: Vec<&'p str>,
    parts: Vec<&'p str>,
}

impl<'p> PageParts<'p> {
    fn of(page: &'p str) -> Self {
        let mut parts = page.split("\n## ");
        let top = parts.next().unwrap_or_default();
        let mut table = top.lines().filter(|line| line.starts_with("| "));
        PageParts {
            waits: waits(top),
            head: table.next().unwrap_or_default(),
            rows: table.skip(1).collect(),
            parts: parts.map(str::trim_end).collect(),
        }
    }

    fn part(&self, id: &str) -> Option<&'p str> {
        self.parts.iter().copied().find(|part| named(part) == id)
    }

    /// Of a part that stays: itself, and why it waits if that stood above all parts.
    fn kept(&self, part: &str) -> String {
        match self.waits.filter(|_| waits(part).is_none()) {
            Some(line) => {
                let (title, rest) = part.split_once('\n').unwrap_or((part, ""));
                format!("{title}\n{line}\n\n{rest}")
            }
            None => part.to_owned(),
        }
    }

    /// The totals of an experiment.
    fn totals(&self, id: &str) -> impl Iterator<Item = String> {
        let of = format!("| {id}: ");
        let rows = self.rows.iter().filter(move |row| row.starts_with(&of));
        rows.map(|row| (*row).to_owned())
    }
}

/// Why a page, or a part of one, waits to be made again.
pub fn waits(part: &str) -> Option<&str> {
    part.lines().find(|line| line.starts_with(WAITS))
}

/// The experiment that a part is of.
fn named(part: &str) -> &str {
    part.split(": ").next().unwrap_or_default()
}

/// Whether the totals of what stays in `page`, beside new parts of `ids`, have the columns of `head`.
///
/// # Errors
/// If they do not, as of a page of several calls.
pub(super) fn columns_fit(page: &str, ids: &[&str], head: &str) -> Result<(), Refusal> {
    let old = PageParts::of(page);
    let stays = |part: &&str| !ids.contains(&named(part)) && waits(part).is_none();
    if old.waits.is_some() || old.head == head || !old.parts.iter().any(stays) {
        return Ok(());
    }
    Err(
        Refusal::new("its parts have other columns, and other calls")
            .with_help("make all of them with the same --calls"),
    )
}

/// `page` with the parts of `made` in the place of those of the same experiments, and those that it lacks below, under
/// the top `top`. What waits has no totals: earlier rules counted otherwise.
///
/// # Errors
/// If parts that do not wait have totals of other columns, as a page of several calls has.
pub fn with_parts(page: &str, made: &str, top: &str) -> Result<String, Refusal> {
    let [old, new] = [page, made].map(PageParts::of);
    let ids: Vec<&str> = new.parts.iter().map(|part| named(part)).collect();
    columns_fit(page, &ids, new.head)?;
    let own = old.parts.iter().map(|part| match new.part(named(part)) {
        Some(made) => made.to_owned(),
        None => old.kept(part),
    });
    let added = new
        .parts
        .iter()
        .filter(|part| old.part(named(part)).is_none());
    let parts: Vec<String> = own.chain(added.map(|part| (*part).to_owned())).collect();
    let columns = new.head.matches(" | ").count();
    let mut text = format!("{top}\n\n{}\n|{}\n", new.head, " --- |".repeat(columns + 1));
    for part in &parts {
        let id = named(part);
        let totals: Vec<String> = match waits(part) {
            Some(_) => {
                let title = part.lines().next().unwrap_or_default();
                vec![format!("| {title}{} |", " | –".repeat(columns))]
            }
            None if new.part(id).is_some() => new.totals(id).collect(),
            None => old.totals(id).collect(),
        };
        // Without a total there is no line: an empty one would end the table.
        for total in totals {
            text += &(total + "\n");
        }
    }
    for part in &parts {
        text += &format!("\n## {part}\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "# What holds
**Made by the rules of commit `abcdef0`: an hour.**

| experiment | hold | do not |
| --- | --- | --- |
| own/a: A | 1 | 2 |
| own/b: B | 3 | 4 |

## own/a: A
about a

old a

## own/b: B
about b
";
    const MADE: &str = "# What holds
Made by x.

| experiment | hold | do not | own: hold |
| --- | --- | --- | --- |
| own/b: B | 5 | 6 | 7 |
| own/c: C | 8 | 9 | 0 |

## own/b: B
new b

## own/c: C
new c
";

    #[test]
    fn new_parts_replace_earlier_ones_and_the_others_wait() {
        let page = with_parts(OLD, MADE, "# What holds\nPart by part.").unwrap();
        let expected = "# What holds
Part by part.

| experiment | hold | do not | own: hold |
| --- | --- | --- | --- |
| own/a: A | – | – | – |
| own/b: B | 5 | 6 | 7 |
| own/c: C | 8 | 9 | 0 |

## own/a: A
**Made by the rules of commit `abcdef0`: an hour.**

about a

old a

## own/b: B
new b

## own/c: C
new c
";
        assert_eq!(page, expected);
        // What is made again later is the only thing that changes.
        let later = MADE.replace("new b", "newer b").replace("| 5 |", "| 4 |");
        let again = with_parts(&page, &later, "# What holds\nPart by part.").unwrap();
        let expected = page.replace("new b", "newer b").replace("| 5 |", "| 4 |");
        assert_eq!(again, expected);
    }

    #[test]
    fn a_page_begins_with_its_first_parts() {
        assert_eq!(
            with_parts("", MADE, "# What holds\nMade by x.").unwrap(),
            MADE
        );
    }

    #[test]
    fn a_part_without_totals_does_not_end_their_table() {
        let page = with_parts(OLD, MADE, "# What holds").unwrap();
        let without = page.replace("| own/b: B | 5 | 6 | 7 |\n", "");
        let only_c = MADE.replace("| own/b: B | 5 | 6 | 7 |\n", "");
        let only_c = only_c.replace("## own/b: B\nnew b\n\n", "");
        assert_eq!(
            with_parts(&without, &only_c, "# What holds").unwrap(),
            without
        );
    }

    #[test]
    fn totals_of_other_columns_are_refused() {
        let page = with_parts(OLD, MADE, "# What holds").unwrap();
        let other = "# What holds\n\n| experiment | calls | hold |\n| --- | --- | --- |\n| own/a: A | paper | 1 |\n\n## own/a: A\nnew a\n";
        assert!(with_parts(&page, other, "# What holds").is_err());
        assert!(with_parts(OLD, other, "# What holds").is_ok());
    }
}

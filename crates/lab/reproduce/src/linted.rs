//! Every claim of the project is held against its own sentence: the number of its check stands there, or
//! in the words by which it is read; "more than" and the like before it, and words of quantity, are the
//! check's; one that asks for less or for more has a word that says so. Of whom, a reader has to see.

use crate::claim::{Claim, How, Range};
use crate::experiment::Experiment;
use crate::registry;
use measure::metric::Better;

/// Words for numbers that stand in sentences.
const WORDS: &[(&str, &[f64])] = &[
    ("half", &[50.0, 0.5]),
    ("third", &[33.3, 66.7, 33.0]),
    ("one", &[1.0]),
    ("nine", &[9.0]),
    ("five", &[5.0]),
    ("fifteen", &[15.0]),
    ("tenth", &[10.0]),
];
/// What a place in a paper has.
const PLACES: &[&str] = &[
    "section", "figure", "table", "abstract", "appendix", "footnote", "equation",
];
/// A mean over values of an axis is what such words speak of.
const MEANS: &[&str] = &["average", "mean", "median", "overall"];
/// A sentence with one of these is of every cell.
const EACH: &[&str] = &[
    "all",
    "any",
    "always",
    "every",
    "each",
    "consistently",
    "never",
    "whatever",
];
/// Words before a number: that it has to be above, whether itself too, and that it has to be below.
const ABOVE: &[&str] = &["more than", "over", "longer than"];
const AT_LEAST: &[&str] = &["at least"];
const BELOW: &[&str] = &["less than", "below", "shorter than"];
const AT_MOST: &[&str] = &["at most", "limited to at most"];
/// Beginnings of words by which one of two is less, or more.
const LESS: &[&str] = &[
    "less", "lower", "fewer", "shorter", "smaller", "reduc", "decreas",
];
const MORE: &[&str] = &[
    "more", "higher", "longer", "larger", "increas", "grow", "times", "scales", "abrupt", "upper",
];
/// Marks around numbers.
const MARKS: &str = "*$>~≈(";
/// By which it is better, or worse: less or more, as its metric has it.
const BETTER: &[&str] = &[
    "better",
    "best",
    "improv",
    "outperform",
    "faster",
    "speed",
    "advantage",
    "front",
];
const WORSE: &[&str] = &["worse", "worst", "degrad", "slower"];

#[test]
fn every_check_is_its_sentence() {
    let mut found = Vec::new();
    let mut claims = 0;
    for experiment in registry::names().flat_map(|name| registry::find(name).unwrap()) {
        for claim in &experiment.written.claim {
            claims += 1;
            let linted = linted(claim, &experiment);
            found.extend(
                linted
                    .into_iter()
                    .map(|of| format!("{}/{}: {of}", experiment.id, claim.id)),
            );
        }
    }
    assert!(claims > 500, "{claims}");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What is wrong with a claim.
fn linted(claim: &Claim, experiment: &Experiment) -> Vec<String> {
    let mut found = Vec::new();
    let head = experiment
        .written
        .claim
        .iter()
        .find(|of| of.id == claim.sentence());
    let head = head.expect("an experiment is checked when it is read");
    let place = head.paper.as_deref().unwrap_or(&experiment.written.paper);
    if let Some(quote) = &head.quote {
        if quote.split_whitespace().count() < 4 {
            found.push(format!("{quote:?} is no sentence"));
        }
        let place = place.to_lowercase();
        if !PLACES.iter().any(|word| place.contains(word)) {
            found.push(format!("{place:?} is no place in a paper"));
        }
    }
    let Some(expect) = claim.expect else {
        return found;
    };
    let sentence = head.quote.as_ref().or(head.question.as_ref());
    let sentence = sentence.map(String::as_str).unwrap_or_default();
    let reading = claim.reading.as_deref().unwrap_or_default();
    let told = format!("{sentence} {reading}");
    let numbers = of(expect);
    for number in &numbers {
        if !stands_in(&told, *number) {
            found.push(format!(
                "{number} stands neither in its sentence nor in its reading"
            ));
        }
    }
    if head.quote.is_some() {
        found.extend(without_direction(claim, expect, experiment, &told));
        found.extend(wrong_words(claim, expect, sentence, reading));
        found.extend(unquantified(claim, experiment, &told));
    }
    found
}

/// The numbers of a check that its sentence has to have: of `85 ± 10` both.
fn of(expect: Range) -> Vec<f64> {
    let ends = [expect.low, expect.high].map(f64::abs);
    let middle = f64::midpoint(expect.low, expect.high).abs();
    let off = (expect.high - expect.low) / 2.0;
    let finite = ends
        .into_iter()
        .filter(|end| end.is_finite() && *end != 0.0);
    // How a range is written is not kept: the sentence has its ends, or its middle and a reading the rest.
    if expect.around {
        vec![middle, off]
    } else {
        finite.collect()
    }
}

fn stands_in(text: &str, number: f64) -> bool {
    let near = |other: f64| (other - number).abs() < 1e-6 * number.abs().max(1.0);
    let lower = text.to_lowercase();
    let digits = lower.split(|c: char| !c.is_ascii_digit() && c != '.');
    let mut digits = digits.filter_map(|part| part.trim_matches('.').parse::<f64>().ok());
    let said = |word: &str| {
        lower
            .split(|c: char| !c.is_alphabetic())
            .any(|of| of == word)
    };
    let mut spoken = WORDS.iter().filter(|(word, _)| said(word));
    let spoken = spoken.any(|(_, numbers)| numbers.iter().any(|of| near(*of)));
    number == 0.0 || digits.any(near) || spoken
}

/// A comparison whose check is of less or of more, and whose sentence has no word of that.
fn without_direction(
    claim: &Claim,
    expect: Range,
    experiment: &Experiment,
    told: &str,
) -> Option<String> {
    // At most 8 % more is a bound on what differs, and says of neither that it is more.
    let is_less = expect.high < 0.0 || (expect.high == 0.0 && expect.open);
    let is_more = expect.low > 0.0 || (expect.low == 0.0 && expect.open);
    if claim.to.0.is_empty() || is_less == is_more {
        return None;
    }
    let metric = claim.metrics.0.first().and_then(|name| {
        let name = name.split(':').next().unwrap_or_default();
        experiment.metrics.get(name)
    });
    let by_worth = match metric.map(|metric| metric.better) {
        Some(Better::Less) if is_less => BETTER,
        Some(Better::More) if is_more => BETTER,
        Some(Better::Less | Better::More) => WORSE,
        Some(Better::Neither) | None => &[],
    };
    let by_size = if is_less { LESS } else { MORE };
    let bare = without_quantifiers(told);
    let mut words = bare.split(|c: char| !c.is_alphabetic());
    let said = words.any(|word| {
        let mut beginnings = by_size.iter().chain(by_worth);
        beginnings.any(|beginning| word.starts_with(beginning))
    });
    // A reading of a table has the sign.
    let signed = is_less && has_signed(told, expect.high);
    (!said && !signed)
        .then(|| format!("nothing says that it is less or more, and the check is \"{expect}\""))
}

/// A sentence without what bounds its numbers: "more than 20" and "one and a half" are of no direction.
fn without_quantifiers(told: &str) -> String {
    let mut text = told.to_lowercase().replace("and a half", "");
    for quantifier in [ABOVE, AT_LEAST, BELOW, AT_MOST].concat() {
        let parts: Vec<&str> = text.split(quantifier).collect();
        let mut bare = parts[0].to_owned();
        for part in &parts[1..] {
            // Before anything but a number it compares: "longer than the other".
            if !begins_with_number(part) {
                bare += quantifier;
            }
            bare += part;
        }
        text = bare;
    }
    text
}

fn begins_with_number(text: &str) -> bool {
    let text =
        text.trim_start_matches(|c: char| c.is_whitespace() || MARKS.contains(c) || c == '-');
    let text = ["a ", "one "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text);
    let spoken = |(word, _): &(&str, &[f64])| text.starts_with(word);
    text.starts_with(|c: char| c.is_ascii_digit()) || WORDS.iter().any(spoken)
}

/// Whether this number, which is negative, stands there with its sign.
fn has_signed(told: &str, number: f64) -> bool {
    let is_sign = |text: &String| {
        let rest = text.strip_suffix('-');
        rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    };
    number < 0.0 && before(told, number.abs()).iter().any(is_sign)
}

/// Words before the number of the check that are not its direction.
fn wrong_words(claim: &Claim, expect: Range, sentence: &str, reading: &str) -> Vec<String> {
    let mut found = Vec::new();
    let one_sided = expect.low.is_infinite() || expect.high.is_infinite();
    let ends = [expect.low, expect.high].into_iter();
    let Some(end) = ends
        .into_iter()
        .find(|end| end.is_finite())
        .filter(|_| one_sided)
    else {
        return found;
    };
    // At most -60 is a loss of at least 60.
    let at_least = (expect.high == f64::INFINITY) == (end >= 0.0);
    let said = |words: &[&str]| {
        let before = |text: &str| before(text, end.abs());
        let texts = [before(sentence), before(reading)].concat();
        texts
            .iter()
            .any(|text| words.iter().any(|word| text.ends_with(word)))
    };
    let is = (at_least, expect.open);
    let rules = [
        (ABOVE, (true, true)),
        (AT_LEAST, (true, false)),
        (BELOW, (false, true)),
        (AT_MOST, (false, false)),
    ];
    let spoken = rules.iter().filter(|(words, _)| end != 0.0 && said(words));
    let spoken: Vec<_> = spoken.map(|(words, is)| (words[0], *is)).collect();
    if !spoken.is_empty() && !spoken.iter().any(|(_, said)| *said == is) {
        found.push(format!(
            "it says {:?}, and the check is \"{expect}\"",
            spoken[0].0
        ));
    }
    if end != 0.0 && said(&["up to"]) && claim.best.0.is_empty() && at_least {
        found.push("\"up to\" is of the best cell".to_owned());
    }
    found
}

/// What stands before each place of `number`, without marks.
fn before(text: &str, number: f64) -> Vec<String> {
    let plain: String = text
        .to_lowercase()
        .chars()
        .filter(|c| !MARKS.contains(*c))
        .collect();
    let written = format!("{number}");
    let places = plain.match_indices(&written);
    let ends = |(at, _): &(usize, &str)| {
        let after = &plain[at + written.len()..];
        let after = after.strip_prefix('.').unwrap_or(after);
        !after.starts_with(|c: char| c.is_ascii_digit())
    };
    places
        .filter(ends)
        .map(|(at, _)| plain[..at].trim_end().to_owned())
        .collect()
}

/// A mean over what varies, of which the sentence does not speak; or the best of what is said of all.
fn unquantified(claim: &Claim, experiment: &Experiment, told: &str) -> Vec<String> {
    let words: Vec<String> = (told.to_lowercase().split(|c: char| !c.is_alphabetic()))
        .map(str::to_owned)
        .collect();
    let has = |of: &[&str]| {
        of.iter()
            .any(|word| words.iter().any(|other| other == word))
    };
    let (_, over) = claim.quantified();
    let free = experiment.written.vary.iter().filter(|axis| {
        let name = &axis.name;
        axis.values.len() > 1 && !claim.place.contains_key(name) && !over.0.contains(name)
    });
    let free: Vec<&str> = free.map(|axis| axis.name.as_str()).collect();
    let mut found = Vec::new();
    let of_runs = !claim.metrics.0.is_empty() && claim.how != How::Spread;
    if of_runs && !free.is_empty() && !has(MEANS) {
        found.push(format!(
            "the sentence speaks of no mean over {}",
            free.join(", ")
        ));
    }
    if has(EACH) && !claim.best.0.is_empty() && !told.to_lowercase().contains("up to") {
        found.push("it is said of all, and the check is of the best".to_owned());
    }
    found
}

#[test]
fn weaker_checks_are_found() {
    let found = |quote: &str, rest: &str| {
        let text = format!(
            r#"
            title = "t"
            paper = "figure 1"
            about = "a"
            cases = ["pfifo", "fq"]
            seeds = 4
            [scenario]
            name = "s"
            [[vary]]
            name = "flows"
            path = "traffic.web.count"
            values = ["1", "2"]
            [[claim]]
            id = "c"
            quote = "{quote}"
            metric = "stall"
            of = "pfifo"
            to = "fq"
            {rest}"#
        );
        let experiment = Experiment::parse("test", "test.toml", &text).unwrap();
        linted(&experiment.written.claim[0], &experiment).concat()
    };
    let each = "each = \"flows\"\n";
    let of = |quote: &str, expect: &str| found(quote, &format!("{each}expect = \"{expect}\""));
    assert_eq!(of("it stalls by at least 20 % less", "at most -20"), "");
    let turned = of("it stalls by at least 20 % less", "at least 20");
    assert!(turned.contains("less or more"), "{turned}");
    let bound = of("It reduces stalls by more than 20 %", "more than 20");
    assert!(bound.contains("less or more"), "{bound}");
    let bound = of("stalls grow by less than a half", "less than -50");
    assert!(bound.contains("less or more"), "{bound}");
    let times = of("they stall one and a half times as long", "at most -1");
    assert!(times.contains("less or more"), "{times}");
    let bound = of("they stall longer than 20 s in all", "more than 20");
    assert!(bound.contains("less or more"), "{bound}");
    let drops = of("its packets are dropped 20 % of the time", "at most -20");
    assert!(drops.contains("less or more"), "{drops}");
    assert_eq!(
        of("it stalls longer than the other by 20 %", "at least 20"),
        ""
    );
    assert_eq!(of("the table has -20 for it", "at most -20"), "");
    for other in ["the table has -20.5 and 20", "the range is 10-20 for it"] {
        assert!(of(other, "at most -20").contains("less or more"), "{other}");
    }
    assert!(of("the table has -0.3 for it", "less than 0").contains("less or more"));
    assert_eq!(of("it is better than the other", "less than 0"), "");
    assert!(of("it is better than the other", "more than 0").contains("less or more"));
    assert!(of("it stalls by at least 20 % less", "at most -15").contains("15 stands neither"));
    assert!(of("it stalls by more than 20 % less", "at most -20").contains("more than"));
    assert!(of("it stalls by more than 20 % less", "at most 20").contains("more than"));
    assert!(of("it stalls by up to 20 % less", "at most -20").contains("best cell"));
    let best = "best = \"flows\"\nexpect = \"at most -20\"";
    assert_eq!(found("it stalls by up to 20 % less", best), "");
    assert!(found("it always stalls 20 % less", best).contains("said of all"));
    assert!(
        found("it stalls by 20 % less", "expect = \"at most -20\"").contains("no mean over flows")
    );
    assert!(of("20 % less", "at most -20").contains("no sentence"));
}

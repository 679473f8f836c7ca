//! The look of a discipline: colour, dash and marker, the same in every plot of every page.

use crate::draw::marker::marker;
use crate::draw::palette::{HUES, SHADES};
use crate::draw::values::PlotKey;
use maud::{Markup, html};

/// Dashes of lines.
const DASHES: usize = 4;
/// Looks of one hue. Dashes and shades have no common divisor, so that no pair of them repeats.
const VARIETIES: usize = DASHES * SHADES;

/// Built-in disciplines with their hue and variety. Those that are compared most have a hue of their
/// own; relatives share one.
const KNOWN: [(&str, Look); 18] = [
    ("confucius", Look::new(0, 0)),
    ("fq_codel", Look::new(1, 0)),
    ("codel", Look::new(2, 0)),
    ("pie", Look::new(3, 0)),
    ("cake", Look::new(4, 0)),
    ("fq", Look::new(5, 0)),
    ("pfifo", Look::new(6, 0)),
    ("dualpi2", Look::new(7, 0)),
    ("pias", Look::new(0, 1)),
    ("hhf", Look::new(1, 1)),
    ("red", Look::new(2, 1)),
    ("fq_pie", Look::new(3, 1)),
    ("cbq", Look::new(4, 1)),
    ("fq_fifo", Look::new(7, 1)),
    ("bfifo", Look::new(6, 1)),
    ("prio", Look::new(3, 2)),
    ("2lps", Look::new(7, 2)),
    ("fifo", Look::new(6, 2)),
];

/// The look of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    hue: usize,
    variety: usize,
}

/// The looks of `names`, all different, on a page that has them all: the built-in disciplines as
/// everywhere, one with settings in the next free shade and dash of its hue, and any other in the
/// next free hue.
pub fn looks(names: &[&str]) -> Vec<Look> {
    let mut looks: Vec<Option<Look>> = names.iter().map(|name| known(name)).collect();
    for (place, name) in names.iter().enumerate() {
        if looks[place].is_none() {
            looks[place] = Some(free(name, &looks));
        }
    }
    looks.into_iter().flatten().collect()
}

fn known(name: &str) -> Option<Look> {
    let found = KNOWN.iter().find(|(known, _)| *known == name);
    found.map(|(_, look)| *look)
}

/// A look that is not among `taken`.
fn free(name: &str, taken: &[Option<Look>]) -> Look {
    let is_free = |look: &Look| !taken.contains(&Some(*look));
    let reserved = |look: &Look| KNOWN.iter().any(|(_, known)| known == look);
    let plain = name.split([',', '(', ' ']).next().unwrap_or_default();
    if let Some(Look { hue, .. }) = known(plain) {
        let mut of_hue = (0..VARIETIES).map(|variety| Look::new(hue, variety));
        if let Some(look) = of_hue.find(|look| is_free(look) && !reserved(look)) {
            return look;
        }
    }
    let unused = |hue: &usize| !taken.iter().flatten().any(|look| look.hue == *hue);
    let hue = (0..HUES).find(unused).map(|hue| Look::new(hue, 0));
    let mut all =
        (0..VARIETIES).flat_map(|variety| (0..HUES).map(move |hue| Look::new(hue, variety)));
    // With more names than looks, they repeat.
    hue.or_else(|| all.find(is_free))
        .unwrap_or(Look::new(taken.len() % HUES, taken.len() % VARIETIES))
}

impl Look {
    const fn new(hue: usize, variety: usize) -> Look {
        Look { hue, variety }
    }

    /// Classes that give a drawn item its colour and dash.
    pub fn classes(self) -> String {
        let colour = self.hue + self.variety % SHADES * HUES;
        format!("c{colour} s{}", (self.hue + self.variety) % DASHES)
    }

    /// The number of its marker's shape.
    pub fn shape(self) -> usize {
        self.hue + self.variety
    }

    /// A name that is drawn like this.
    pub fn key(self, name: &str) -> PlotKey {
        PlotKey {
            name: name.to_owned(),
            classes: self.classes(),
            shape: Some(self.shape()),
        }
    }

    /// A piece of its line with its marker.
    pub fn swatch(self) -> Markup {
        html! {
            svg class=(format!("swatch {}", self.classes())) viewBox="0 0 34 14" aria-hidden="true" {
                path class="line" d="M1 7H33" {}
                (marker(self.shape(), (17.0, 7.0), true, ""))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::marker::SHAPES;

    #[test]
    fn a_built_in_discipline_looks_the_same_on_every_page() {
        let alone = looks(&["cake"])[0];
        let among = looks(&["confucius,doubling=1s", "alpha", "cake", "confucius"]);
        assert_eq!(among[2], alone);
        assert_eq!(among[3], looks(&["confucius"])[0]);
        // A variant has the same hue, another dash, marker and shade.
        assert_eq!(among[0].hue, among[3].hue);
        assert_ne!(among[0].shape() % SHAPES, among[3].shape() % SHAPES);
        assert_eq!(among[0].classes(), "c16 s2");
        // An unknown discipline has a hue that no other has here.
        assert_eq!(among[1].hue, 1);
    }

    #[test]
    fn those_that_are_compared_most_differ_in_more_than_colour() {
        let names = [
            "confucius",
            "fq_codel",
            "codel",
            "pie",
            "cake",
            "fq",
            "pfifo",
            "dualpi2",
        ];
        let looks = looks(&names);
        for (place, look) in looks.iter().enumerate() {
            let same = |other: &Look| other.shape() % SHAPES == look.shape() % SHAPES;
            assert!(!looks[..place].iter().any(same), "{}", names[place]);
        }
    }

    #[test]
    fn no_two_on_a_page_look_the_same() {
        let names: Vec<String> = (0..40).map(|n| format!("confucius,k={n}")).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.extend(KNOWN.map(|known| known.0));
        let looks = looks(&names);
        for (place, look) in looks.iter().enumerate() {
            assert!(!looks[..place].contains(look), "{}", names[place]);
        }
    }
}

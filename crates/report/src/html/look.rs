//! What a discipline looks like: colour, dash and marker.

use crate::draw::plot;
use maud::{Markup, html};

/// Okabe and Ito's palette has eight colours.
const COLOURS: usize = 8;
/// Dashes of lines.
const DASHES: usize = 4;

/// Classes that give a discipline its colour and dash. Neither repeats before both have.
pub fn look(discipline: usize) -> String {
    let dash = (discipline + discipline / COLOURS) % DASHES;
    format!("c{} s{dash}", discipline % COLOURS)
}

/// The number of a discipline's marker.
pub fn shape(discipline: usize) -> usize {
    discipline + discipline / COLOURS
}

/// A piece of a discipline's line with its marker.
pub fn swatch(discipline: usize) -> Markup {
    html! {
        svg class="swatch" viewBox="0 0 34 14" aria-hidden="true" {
            path class="line" d="M1 7H33" {}
            (plot::marker(shape(discipline), 17.0, 7.0, ""))
        }
    }
}

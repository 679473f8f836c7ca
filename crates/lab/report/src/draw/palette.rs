//! Colours that the colour blind can tell apart, on light ground and on dark.
//!
//! The hues are M. Okabe's and K. Ito's (Color Universal Design, 2008), darker on light ground and
//! lighter on dark if they would be too faint: each has a contrast of at least 3 to its ground,
//! which WCAG 2.2 (1.4.11) requires of graphics.

use std::fmt::Write as _;

/// How many hues there are.
pub const HUES: usize = 8;
/// Shades of each.
pub const SHADES: usize = 3;

/// A colour: red, green and blue.
type Colour = [u8; 3];

/// A ground: its hues, the grey that its text colour's shades approach, and its text colour, which
/// the other shades approach.
struct Ground {
    hues: [Colour; HUES],
    grey: Colour,
    text: Colour,
}

const LIGHT: Ground = Ground {
    hues: [
        [0x00, 0x72, 0xb2],
        [0xd5, 0x5e, 0x00],
        [0x00, 0x8f, 0x68],
        [0xc0, 0x66, 0x98],
        [0xbb, 0x82, 0x00],
        [0x2b, 0x93, 0xcf],
        [0x1c, 0x1e, 0x21],
        [0x94, 0x89, 0x00],
    ],
    grey: [0x8a, 0x8f, 0x98],
    text: [0x1c, 0x1e, 0x21],
};

const DARK: Ground = Ground {
    hues: [
        [0x3d, 0x9b, 0xe0],
        [0xf0, 0x80, 0x3c],
        [0x1f, 0xbf, 0x92],
        [0xdc, 0x94, 0xbb],
        [0xe9, 0xad, 0x2b],
        [0x8f, 0xd0, 0xf7],
        [0xf1, 0xf3, 0xf5],
        [0xf0, 0xe4, 0x42],
    ],
    grey: [0x8a, 0x8f, 0x98],
    text: [0xf1, 0xf3, 0xf5],
};

impl Ground {
    /// Colour `number` of all hues in the first shade, then all in the second, and so on.
    fn colour(&self, number: usize) -> Colour {
        let (hue, shade) = (number % HUES, number / HUES % SHADES);
        let from = self.hues[hue];
        let to = if from == self.text {
            self.grey
        } else {
            self.text
        };
        let mixed = |at: usize| {
            let (from, to) = (f64::from(from[at]), f64::from(to[at]));
            libm::round(from + (to - from) * shade as f64 * 0.28) as u8
        };
        [0, 1, 2].map(mixed)
    }
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A colour on light ground, as `#rrggbb`.
pub fn on_light(number: usize) -> String {
    hex(LIGHT.colour(number))
}

/// Rules of the style sheet that give the classes `c0`, `c1`, … their colours.
pub fn rules(dark: bool) -> String {
    let ground = if dark { &DARK } else { &LIGHT };
    (0..HUES * SHADES).fold(String::new(), |mut rules, number| {
        let colour = hex(ground.colour(number));
        // Writing to a string does not fail.
        _ = write!(rules, ".c{number}{{color:{colour}}}");
        rules
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance(colour: Colour) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                libm::pow((part + 0.055) / 1.055, 2.4)
            }
        };
        let [red, green, blue] = colour.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn every_colour_stands_out_from_its_ground() {
        for (ground, page) in [(&LIGHT, [0xff; 3]), (&DARK, [0x15, 0x18, 0x1c])] {
            for number in 0..HUES * SHADES {
                let colour = ground.colour(number);
                let pair = [luminance(colour), luminance(page)];
                let contrast = (pair[0].max(pair[1]) + 0.05) / (pair[0].min(pair[1]) + 0.05);
                assert!(contrast >= 3.0, "{} {contrast}", hex(colour));
            }
        }
    }

    #[test]
    fn no_colour_is_there_twice() {
        for ground in [&LIGHT, &DARK] {
            let colours = (0..HUES * SHADES).map(|number| ground.colour(number));
            let colours: std::collections::BTreeSet<_> = colours.collect();
            assert_eq!(colours.len(), HUES * SHADES);
        }
        assert!(rules(false).starts_with(".c0{color:#0072b2}.c1{color:#d55e00}"));
    }
}

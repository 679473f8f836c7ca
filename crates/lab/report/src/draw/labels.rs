//! Placement of labels so that they cover nothing.

/// Width of a character, close enough to detect overlapping texts.
pub const CHARACTER: f64 = 7.0;
/// Room that a text takes above its base line, and below.
const RISE: f64 = 10.0;
const FALL: f64 = 3.0;
/// Half of a marker's size, with some air.
const MARKER: f64 = 7.0;
/// Rings on which a label is looked for if none of the places next to its marker is free.
const RINGS: std::ops::Range<u32> = 2..24;
const RING: f64 = 14.0;
const DIRECTIONS: u32 = 16;

/// A rectangle of pixels: left, top, right, bottom.
pub type Area = (f64, f64, f64, f64);

/// The items that have a place already.
#[derive(Debug, Default)]
pub struct Labels {
    /// Areas that labels must not cover: markers, and other texts.
    markers: Vec<Area>,
    texts: Vec<Area>,
    /// Areas that they should not cover if possible: intervals, and leaders of other labels.
    crossed: Vec<Area>,
}

/// A label's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelPlace {
    /// Start of its base line.
    pub start: (f64, f64),
    /// A line from the marker to it, if it is not next to its marker.
    pub leader: Option<[(f64, f64); 2]>,
}

impl Labels {
    /// A marker is at this point.
    pub fn marker(&mut self, (x, y): (f64, f64)) {
        self.markers
            .push((x - MARKER, y - MARKER, x + MARKER, y + MARKER));
    }

    /// An interval is drawn here.
    pub fn interval(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, floor) = (from.1.min(to.1), from.1.max(to.1));
        self.crossed
            .push((left - 2.0, top - 2.0, right + 2.0, floor + 2.0));
    }

    /// A text of so many characters starts at this point.
    pub fn text(&mut self, start: (f64, f64), characters: usize) {
        self.texts.push(area(start, characters));
    }

    /// Finds a place within `bounds` for a label of the marker at `at`: next to it, or else at the
    /// end of a line from it. None if there is none. To be called when all markers stand.
    pub fn place(&mut self, at: (f64, f64), characters: usize, bounds: Area) -> Option<LabelPlace> {
        let beside = beside(at, characters);
        let around: Vec<LabelPlace> = RINGS
            .flat_map(|ring| (0..DIRECTIONS).map(move |turn| (ring, turn)))
            .map(|(ring, turn)| around(at, characters, ring, turn))
            .collect();
        let free = |place: &&LabelPlace| {
            let area = area(place.start, characters);
            within(area, bounds) && !hits(&self.markers, area) && !hits(&self.texts, area)
        };
        let clear = |place: &&LabelPlace| !hits(&self.crossed, area(place.start, characters));
        let first = |places: &[LabelPlace], leads: bool| {
            let mut free = places
                .iter()
                .filter(free)
                .filter(|place| !leads || self.leads(place));
            let first = free.clone().next();
            free.find(clear).or(first).copied()
        };
        // In the midst of a crowd no line leads out but over other texts.
        let found = first(&beside, true)
            .or_else(|| first(&around, true))
            .or_else(|| first(&around, false))?;
        self.text(found.start, characters);
        for point in found.leader.iter().flat_map(between) {
            self.crossed
                .push((point.0 - 1.0, point.1 - 1.0, point.0 + 1.0, point.1 + 1.0));
        }
        Some(found)
    }

    /// Whether a label's line crosses no other text.
    fn leads(&self, place: &LabelPlace) -> bool {
        let over = |(x, y): (f64, f64)| hits(&self.texts, (x - 1.0, y - 1.0, x + 1.0, y + 1.0));
        !place.leader.iter().flat_map(between).any(over)
    }
}

/// The area that a text covers.
fn area((x, y): (f64, f64), characters: usize) -> Area {
    (x, y - RISE, x + characters as f64 * CHARACTER, y + FALL)
}

fn within(inner: Area, outer: Area) -> bool {
    inner.0 >= outer.0 && inner.1 >= outer.1 && inner.2 <= outer.2 && inner.3 <= outer.3
}

fn hits(areas: &[Area], area: Area) -> bool {
    areas.iter().any(|other| overlap(area, *other))
}

fn overlap(a: Area, b: Area) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// Points on a line, three pixels apart.
fn between(line: &[(f64, f64); 2]) -> impl Iterator<Item = (f64, f64)> + use<> {
    let [from, to] = *line;
    let steps = libm::ceil(libm::hypot(to.0 - from.0, to.1 - from.1) / 3.0).max(1.0) as u32;
    (0..=steps).map(move |step| {
        let share = f64::from(step) / f64::from(steps);
        (
            from.0 + (to.0 - from.0) * share,
            from.1 + (to.1 - from.1) * share,
        )
    })
}

/// Places that touch a marker, best first.
fn beside((x, y): (f64, f64), characters: usize) -> [LabelPlace; 10] {
    let width = characters as f64 * CHARACTER;
    let starts = [
        (x + 9.0, y + 4.0),
        (x - 9.0 - width, y + 4.0),
        (x - width / 2.0, y - 10.0),
        (x - width / 2.0, y + 19.0),
        (x + 7.0, y - 8.0),
        (x + 7.0, y + 17.0),
        (x - 7.0 - width, y - 8.0),
        (x - 7.0 - width, y + 17.0),
        (x - width / 2.0, y - 24.0),
        (x - width / 2.0, y + 33.0),
    ];
    starts.map(|start| LabelPlace {
        start,
        leader: None,
    })
}

/// A place on a ring round a marker, with the line that leads to it.
fn around(at: (f64, f64), characters: usize, ring: u32, turn: u32) -> LabelPlace {
    let angle = std::f64::consts::TAU * f64::from(turn) / f64::from(DIRECTIONS);
    let far = f64::from(ring) * RING;
    let near = (at.0 + far * libm::cos(angle), at.1 + far * libm::sin(angle));
    let width = characters as f64 * CHARACTER;
    // The text continues in the direction of the line.
    let x = if near.0 >= at.0 {
        near.0 + 3.0
    } else {
        near.0 - 3.0 - width
    };
    LabelPlace {
        start: (x, near.1 + 4.0),
        leader: Some([at, near]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_near_markers_all_have_a_label_that_covers_nothing() {
        let bounds = (50.0, 14.0, 900.0, 322.0);
        // Twenty markers within 40 by 30 pixels, and names of 24 characters.
        let at = |n: u32| {
            let (x, y) = (f64::from(n * 7919 % 41), f64::from(n * 104_729 % 31));
            (400.0 + x, 150.0 + y)
        };
        let mut labels = Labels::default();
        (0..20).for_each(|n| labels.marker(at(n)));
        let places: Vec<LabelPlace> = (0..20)
            .map(|n| labels.place(at(n), 24, bounds).expect("a place"))
            .collect();
        let areas: Vec<Area> = places.iter().map(|place| area(place.start, 24)).collect();
        for (n, one) in areas.iter().enumerate() {
            assert!(within(*one, bounds), "{one:?}");
            assert!(!hits(&areas[..n], *one), "{one:?}");
            let markers = (0..20).map(at);
            let markers: Vec<Area> = markers
                .map(|(x, y)| (x - 7.0, y - 7.0, x + 7.0, y + 7.0))
                .collect();
            assert!(!hits(&markers, *one), "{one:?}");
        }
        assert!(places.iter().any(|place| place.leader.is_some()));
    }

    #[test]
    fn a_label_without_room_is_left_out() {
        let mut labels = Labels::default();
        labels.marker((50.0, 50.0));
        assert_eq!(
            labels.place((50.0, 50.0), 20, (0.0, 0.0, 100.0, 100.0)),
            None
        );
    }
}

//! Parameters of `floq`, as a trace has them.

use units::random::Stream;

/// Names of parameters in the order of a trace, and the unit in which it has them.
const PARAMS: [(&str, &str); 19] = [
    ("seed", ""),
    ("limit", ""),
    ("flows", ""),
    ("variant", ""),
    ("responsive", ""),
    ("unresponsive", ""),
    ("threshold", ""),
    ("drop_responsive", ""),
    ("drop_unresponsive", ""),
    ("g", ""),
    ("f_r", ""),
    ("initial", ""),
    ("idle", "us"),
    ("window", "us"),
    ("windows", ""),
    ("fall", ""),
    ("strikes", ""),
    ("pardon", ""),
    ("ecn", ""),
];
const SEED: usize = 0;
const LIMIT: usize = 1;
const FLOWS: usize = 2;
const RESPONSIVE: usize = 4;
const UNRESPONSIVE: usize = 5;
const THRESHOLD: usize = 6;
const DROP_UNRESPONSIVE: usize = 8;
const INITIAL: usize = 11;
const PARDON: usize = 17;
const VARIANTS: [&str; 4] = ["reading", "equation", "algorithm", "algorithm-drop"];

/// Values of [`PARAMS`].
#[derive(Debug, Clone, Copy)]
pub struct Params([u64; PARAMS.len()]);

/// One of `all`.
pub fn one_of<T: Copy>(random: &mut Stream, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

impl Params {
    /// The defaults, except for parameters that make much happen in a short trace.
    const LIVELY: Params = Params([
        0, 20, 64, 0, 50, 30, 80, 2, 5, 10, 2, 10, 500_000, 20_000, 4, 10, 2, 2, 1,
    ]);

    fn random(random: &mut Stream) -> Self {
        let ranges: [&[u64]; PARAMS.len()] = [
            &[0],
            &[1, 2, 10, 20, 20, 33, 200, 1_000],
            &[8, 10, 16, 64, 1024],
            &[0, 0, 1, 2, 3],
            &[0, 20, 33, 50, 50],
            &[0, 20, 30, 30, 50],
            &[0, 20, 50, 79, 80, 80, 100],
            &[0, 1, 2, 2, 20, 100],
            &[0, 1, 5, 5, 20, 100],
            &[0, 1, 10, 10, 50, 1000],
            &[0, 1, 2, 2, 20, 100],
            &[0, 1, 10, 10, 400, 1_000_000, 1_000_000],
            &[100_000, 100_000, 500_000, 10_000_000, 3_600_000_000],
            &[10_000, 10_001, 20_000, 20_000, 50_000, 10_000_000],
            &[1, 2, 4, 8, 100],
            &[1, 10, 10, 33, 99],
            &[1, 2, 3, 1000],
            &[0, 1, 2, 3, 1000],
            &[0, 1],
        ];
        let mut params = Params(ranges.map(|range| one_of(random, range)));
        params.0[SEED] = random.bits();
        params
    }

    /// Changes one parameter, but never `flows`, nor so that quotas exceed the total.
    pub fn changed(mut self, random: &mut Stream) -> Self {
        let at = random.below(PARAMS.len() as u64) as usize;
        let before = self.0[at];
        if at != FLOWS {
            self.0[at] = Params::random(random).0[at];
        }
        if self.0[RESPONSIVE] + self.0[UNRESPONSIVE] > 100 {
            self.0[at] = before;
        }
        self
    }

    /// The parameters at the start of a trace: any, or a few changes away from lively ones.
    pub fn first(random: &mut Stream) -> Self {
        let any = Params::random(random);
        if random.below(4) == 0 {
            return any;
        }
        let mut lively = Params::LIVELY;
        lively.0[SEED] = any.0[SEED];
        lively.0[FLOWS] = any.0[FLOWS];
        (0..random.below(4)).fold(lively, |params, _| params.changed(random))
    }

    /// Flows that stay initial, in a queue with room, which marks.
    pub fn marks(random: &mut Stream) -> Self {
        let mut params = Params::LIVELY;
        params.0[SEED] = random.bits();
        params.0[LIMIT] = 1000;
        params.0[RESPONSIVE] = 2;
        params.0[UNRESPONSIVE] = 2;
        params.0[THRESHOLD] = 2;
        params.0[DROP_UNRESPONSIVE] = 50;
        params.0[PARDON] = 1;
        params.0[INITIAL] = 1_000_000;
        params
    }

    /// Reads the output of [`Params::line`].
    pub fn read(line: &str) -> Self {
        let mut words = line.split_whitespace();
        Params(std::array::from_fn(|_| {
            words.next().unwrap().parse().unwrap()
        }))
    }

    pub fn line(&self) -> String {
        self.0.map(|value| value.to_string()).join(" ")
    }

    /// The seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.0[SEED]
    }

    pub fn settings(&self) -> Vec<(String, String)> {
        let named = PARAMS.iter().zip(self.0).skip(SEED + 1);
        let text = |name: &str, unit: &str, value: u64| match name {
            "variant" => VARIANTS[value as usize].to_owned(),
            "ecn" => ["no", "yes"][value as usize].to_owned(),
            _ => format!("{value}{unit}"),
        };
        named
            .map(|(&(name, unit), value)| (name.to_owned(), text(name, unit, value)))
            .collect()
    }
}

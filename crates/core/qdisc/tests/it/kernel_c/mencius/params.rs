//! Parameters of `mencius`, as a trace has them.

use units::random::Stream;

/// Names of parameters in the order of a trace, and the unit in which it has them.
const PARAMS: [(&str, &str); 18] = [
    ("limit", ""),
    ("memory_limit", "B"),
    ("flows", ""),
    ("hosts", ""),
    ("quantum", ""),
    ("target", "us"),
    ("interval", "us"),
    ("ecn", ""),
    ("low", "us"),
    ("hold", "us"),
    ("rise", "us"),
    ("doubling", "us"),
    ("part", ""),
    ("bandwidth", ""),
    ("overhead", ""),
    ("mpu", ""),
    ("framing", ""),
    ("ingress", ""),
];
const FLOWS: usize = 2;
const SIDES: [&str; 3] = ["none", "destination", "source"];
const FRAMINGS: [&str; 3] = ["noatm", "atm", "ptm"];

/// Values of [`PARAMS`].
#[derive(Debug, Clone, Copy)]
pub struct Params([i64; PARAMS.len()]);

/// One of `all`.
pub fn one_of<T: Copy>(random: &mut Stream, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

impl Params {
    /// The defaults, except for parameters that make much happen in a short trace.
    const LIVELY: Params = Params([
        1000,
        1 << 25,
        64,
        1,
        1514,
        5000,
        100_000,
        1,
        20_000,
        100_000,
        400_000,
        500_000,
        128,
        0,
        0,
        0,
        0,
        0,
    ]);

    fn random(random: &mut Stream) -> Self {
        let ranges: [&[i64]; PARAMS.len()] = [
            &[1, 2, 7, 40, 150, 1000, 10_240],
            &[4000, 4001, 15_000, 100_000, 1 << 20, 1 << 25, 1_000_000_000],
            &[8, 10, 16, 36, 64, 1024],
            &[1, 1, 1, 2, 0],
            &[256, 300, 1514, 1514, 9000, 65_536],
            &[1, 1000, 5000, 5000, 50_000, 10_000_000],
            &[1, 1000, 20_000, 100_000, 100_000_000],
            &[0, 1],
            &[1000, 5000, 20_000, 20_000, 1_000_000],
            &[1000, 30_000, 100_000, 100_000, 1_000_000],
            &[1000, 400_000, 400_000, 10_000_000],
            &[10_000, 10_007, 200_000, 3_000_000, 60_000_000],
            &[0, 1, 64, 128, 128, 256],
            &[0, 0, 0, 1000, 100_007, 187_500, 1_500_000, 125_000_000_000],
            &[-64, 0, 0, 44, 256],
            &[0, 0, 84, 256],
            &[0, 1, 2],
            &[0, 1],
        ];
        Params(ranges.map(|range| one_of(random, range)))
    }

    /// One parameter becomes another, but never `flows`.
    pub fn changed(mut self, random: &mut Stream) -> Self {
        let at = random.below(PARAMS.len() as u64) as usize;
        if at != FLOWS {
            self.0[at] = Params::random(random).0[at];
        }
        self
    }

    /// The parameters at the start of a trace: any, or a few changes away from lively ones.
    pub fn first(random: &mut Stream) -> Self {
        let any = Params::random(random);
        if random.below(4) == 0 {
            return any;
        }
        let changes = random.below(4);
        Params::near(random, any.0[FLOWS], changes)
    }

    /// Parameters so many changes away from lively ones.
    pub fn near(random: &mut Stream, flows: i64, changes: u64) -> Self {
        let mut lively = Params::LIVELY;
        lively.0[FLOWS] = flows;
        (0..changes).fold(lively, |params, _| params.changed(random))
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

    pub fn settings(&self) -> Vec<(String, String)> {
        let named = PARAMS.iter().zip(self.0);
        let text = |name: &str, unit: &str, value: i64| match name {
            "hosts" => SIDES[value as usize].to_owned(),
            "framing" => FRAMINGS[value as usize].to_owned(),
            "bandwidth" if value == 0 => "unlimited".to_owned(),
            "bandwidth" => format!("{}bit", 8 * value),
            "ecn" | "ingress" => ["no", "yes"][value as usize].to_owned(),
            _ => format!("{value}{unit}"),
        };
        named
            .map(|(&(name, unit), value)| (name.to_owned(), text(name, unit, value)))
            .collect()
    }
}

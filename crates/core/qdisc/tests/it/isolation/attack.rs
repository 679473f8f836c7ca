//! What a computer, or several, may send to get more than their share.

use core::fmt;
use units::random::Stream;

/// The parameters of an attack and of the line, each with the values that it may have: the simplest
/// comes first.
const PARAMETERS: [(&str, &[u64]); 16] = [
    (
        "line, kbit/s",
        &[20_000, 5_000, 10_000, 50_000, 2_000, 100_000],
    ),
    ("buffer, packets", &[1000, 300, 3000, 100]),
    ("shaped by the queue", &[0, 1]),
    ("other computers with a download", &[1, 3, 15, 0]),
    ("attacking computers", &[1, 2, 5, 10, 20]),
    ("flows of each", &[1, 2, 8, 24, 200]),
    ("alive every, ms", &[0, 200, 100, 20]),
    ("bytes of that", &[60, 29, 500]),
    ("flood, % of the line", &[0, 150, 100, 60, 300, 30]),
    ("of so many flows at once", &[1, 4, 200]),
    ("for, ms", &[200, 50, 1000, 4000]),
    ("in each, ms", &[2000, 400, 5000, 200]),
    ("packets, bytes", &[1500, 1000, 300, 60]),
    ("births a second", &[0, 2, 20, 500]),
    ("each flow always, kbit/s", &[0, 1, 60, 115, 130]),
    ("packets of that, bytes", &[1000, 1024, 200, 30]),
];

/// An attack: which value each of the [`PARAMETERS`] has.
#[derive(Clone, PartialEq)]
pub struct Attack([usize; PARAMETERS.len()]);

impl Attack {
    /// One at random.
    pub fn random(random: &mut Stream) -> Self {
        Attack(PARAMETERS.map(|(_, values)| random.below(values.len() as u64) as usize))
    }

    /// That which these numbers stand for.
    pub fn of(numbers: [u8; PARAMETERS.len()]) -> Self {
        let mut attack = Attack(numbers.map(usize::from));
        for (value, (_, values)) in attack.0.iter_mut().zip(PARAMETERS) {
            *value %= values.len();
        }
        attack
    }

    /// The value of the parameter of this name.
    pub fn value(&self, name: &str) -> u64 {
        let at = PARAMETERS.iter().position(|known| known.0 == name);
        let at = at.unwrap_or_else(|| panic!("{name} is no parameter of an attack"));
        PARAMETERS[at].1[self.0[at]]
    }

    /// The simplest attack that is still `bad`, one parameter at a time.
    pub fn minimised(mut self, bad: impl Fn(&Attack) -> bool) -> Self {
        loop {
            let simpler = (0..PARAMETERS.len()).find_map(|at| {
                (0..self.0[at]).find_map(|value| {
                    let mut attack = self.clone();
                    attack.0[at] = value;
                    bad(&attack).then_some(attack)
                })
            });
            match simpler {
                Some(attack) => self = attack,
                None => return self,
            }
        }
    }
}

impl fmt::Debug for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:", self.0)?;
        for ((name, values), &value) in PARAMETERS.iter().zip(&self.0) {
            if value > 0 {
                write!(f, " {name} {};", values[value])?;
            }
        }
        Ok(())
    }
}

impl From<[usize; PARAMETERS.len()]> for Attack {
    fn from(values: [usize; PARAMETERS.len()]) -> Self {
        Attack(values)
    }
}

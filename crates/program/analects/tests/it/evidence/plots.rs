//! The plots of `docs/evidence`.

use super::results::{Means, Page, interval};
use report::draw::Drawing;
use report::draw::axis::Axis;
use report::draw::plot::Plot;
use report::{Look, looks};

/// Width of a plot and height of a row, in pixels.
const SIZE: (f64, f64) = (900.0, 34.0);
const TICKS: usize = 8;
/// All that are drawn, so that each looks the same in every plot.
const CASES: [&str; 7] = [
    "mencius",
    "fq_codel",
    "cake",
    "prio",
    "codel",
    "confucius",
    "floq",
];

/// The look of a case.
fn look(case: &str) -> Look {
    let at = CASES.iter().position(|known| *known == case).expect(case);
    looks(&CASES)[at]
}

/// Each, with its name.
pub fn all() -> [(&'static str, Drawing); 5] {
    let matrix = Page::of("docs/reproduction/matrix.md");
    let kernel = Page::of("docs/guide-kernel.md");
    let linux = Page::of("docs/reproduction/linux.md");
    [
        ("worth", worth(&matrix)),
        ("loses", loses(&matrix)),
        ("abuse", abuse(&matrix)),
        ("cost", cost(&kernel)),
        ("agreement", agreement(&linux)),
    ]
}

/// A row: its name, and a value of each case.
type Row = (String, Vec<f64>);

/// A marker of each case on each row.
fn dots(title: &str, axis: Axis, cases: &[&str], rows: &[Row]) -> Drawing {
    let names: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
    let mut plot = Plot::rows(SIZE.0, SIZE.1, axis, &names);
    for (at, case) in cases.iter().enumerate() {
        let look = look(case);
        plot.series(&look.key(case), "", |plot| {
            for (place, (_, values)) in (0..).zip(rows) {
                let value: f64 = values[at];
                plot.marker(look.shape(), (value, f64::from(place)), [None; 2], true, "");
            }
        });
    }
    plot.finish(title)
}

/// The means of mencius and its rivals, of those values of an axis.
fn rows(means: &Means, axis: &str, rivals: &[&str]) -> Vec<Row> {
    let of_axis = means.rows.iter().filter(|row| row.axis == axis);
    let row = |row: &super::results::Mean| {
        let own = row.duels[rivals[0]].means[0].clone();
        let others = rivals
            .iter()
            .map(|rival| row.duels[*rival].means[1].clone());
        let values = [own]
            .into_iter()
            .chain(others)
            .map(|mean| mean.parse().unwrap());
        (row.value.clone(), values.collect())
    };
    of_axis.map(row).collect()
}

/// The greatest value of all rows.
fn most(rows: &[Row]) -> f64 {
    rows.iter()
        .flat_map(|row| &row.1)
        .copied()
        .fold(0.0, f64::max)
}

fn worth(page: &Page) -> Drawing {
    let rivals = ["fq_codel", "cake", "prio"];
    let rows = rows(&page.means("matrix/household", "Stall"), "call", &rivals);
    let axis = Axis::from_zero("mean stall in 50 s (s)", most(&rows), TICKS);
    dots(
        "stall by kind of call",
        axis,
        &["mencius", "fq_codel", "cake", "prio"],
        &rows,
    )
}

fn abuse(page: &Page) -> Drawing {
    let rivals = ["fq_codel", "cake"];
    let rows = rows(
        &page.means("matrix/abuse", "The call's frames"),
        "abuse",
        &rivals,
    );
    let least = rows
        .iter()
        .flat_map(|row| &row.1)
        .copied()
        .fold(f64::MAX, f64::min);
    let axis = Axis::logarithmic(
        "95th percentile of the frame delay (ms)",
        least,
        most(&rows),
        TICKS,
    );
    dots(
        "a call beside abuse",
        axis,
        &["mencius", "fq_codel", "cake"],
        &rows,
    )
}

fn loses(page: &Page) -> Drawing {
    let mut lost = page.lost("matrix/unseen", "Stall");
    lost.truncate(12);
    let names: Vec<String> = lost.iter().map(|one| one.place.clone()).collect();
    let most = lost.iter().map(|one| one.by[2]).fold(0.0, f64::max);
    let axis = Axis::from_zero("more stall than under the other, in 50 s (s)", most, TICKS);
    let mut plot = Plot::rows(SIZE.0, SIZE.1, axis, &names);
    let mut rivals: Vec<&str> = lost.iter().map(|one| &*one.rival).collect();
    rivals.sort_unstable();
    rivals.dedup();
    for rival in &rivals {
        let look = look(rival);
        plot.series(&look.key(rival), "", |plot| {
            for (place, one) in (0..).zip(&lost).filter(|(_, one)| one.rival == *rival) {
                let [by, low, high] = one.by;
                plot.marker(
                    look.shape(),
                    (by, f64::from(place)),
                    [Some((low, high)), None],
                    true,
                    "",
                );
            }
        });
    }
    plot.finish("combinations in which another discipline has less stall")
}

/// Instructions for a packet, of fq_codel's.
fn cost(page: &Page) -> Drawing {
    let (head, table) = page.table("What a packet costs", "counts instructions");
    let flows = head
        .iter()
        .position(|name| name == "1,000")
        .expect("1,000 flows");
    let cases = ["mencius", "confucius", "floq", "cake"];
    let half = |first: &str| -> Row {
        let from = table.iter().position(|row| row[0] == first).expect(first);
        let of = |case: &str| -> f64 {
            let row = table[from..].iter().find(|row| row[0] == case).expect(case);
            row[flows].parse().unwrap()
        };
        let name = first.split(':').next().unwrap_or_default().to_owned();
        (name, cases.map(|case| of(case) / of("fq_codel")).to_vec())
    };
    let rows = ["near empty: pfifo", "backlogged: pfifo"].map(half);
    let axis = Axis::from_zero(
        "instructions for a packet with 1,000 flows, of fq_codel's",
        most(&rows),
        TICKS,
    );
    dots("cost of a packet in Linux", axis, &cases, &rows)
}

/// By how much the simulator's figures differ from Linux's.
fn agreement(page: &Page) -> Drawing {
    let (_, table) = page.table("What a user reads", "Rates, delays");
    let rows: Vec<(String, [f64; 3])> = table
        .iter()
        .filter_map(|row| {
            let scenario = row[1].trim_start_matches("engines/");
            Some((format!("{scenario}, {}", row[2]), interval(&row[4])?))
        })
        .collect();
    let names: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
    let cases: Vec<_> = rows
        .iter()
        .map(|(_, [by, low, high])| (*by, Some((*low, *high))))
        .collect();
    let axis = Axis::of_cases("simulator less Linux (%)", &cases, true, TICKS);
    let mut plot = Plot::rows(SIZE.0, SIZE.1, axis, &names);
    let look = look("mencius");
    plot.series(&look.key("all nine disciplines"), "", |plot| {
        for (place, (by, ends)) in (0..).zip(&cases) {
            plot.marker(
                look.shape(),
                (*by, f64::from(place)),
                [*ends, None],
                true,
                "",
            );
        }
    });
    plot.finish("the simulator beside Linux")
}

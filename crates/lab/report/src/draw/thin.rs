//! Reduces points where there are more than can be seen, keeping extremes.

/// A point of a line: its time or other abscissa, and its value; `None` interrupts the line.
pub type Point = (f64, Option<f64>);

/// At most `most` of `points`, in order. They are cut into equal stretches, and of each its
/// lowest, its highest and its first gap are kept; so are the very first and the very last.
pub fn thin(points: &[Point], most: usize) -> Vec<Point> {
    if points.len() <= most || most < 5 {
        return points.to_vec();
    }
    // Three of each stretch, and the two ends.
    let stretches = (most - 2) / 3;
    let last = points.len() - 1;
    let mut kept = vec![0];
    for stretch in 0..stretches {
        let from = stretch * points.len() / stretches;
        let to = (stretch + 1) * points.len() / stretches;
        kept.extend(
            outstanding(&points[from..to])
                .into_iter()
                .flatten()
                .map(|at| from + at),
        );
    }
    kept.push(last);
    kept.dedup();
    kept.into_iter().map(|at| points[at]).collect()
}

/// Places of the lowest value, the highest and the first gap, in their order.
fn outstanding(points: &[Point]) -> [Option<usize>; 3] {
    let values = || {
        points
            .iter()
            .enumerate()
            .filter_map(|(at, point)| Some((at, point.1?)))
    };
    let lowest = values()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(at, _)| at);
    let highest = values()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(at, _)| at);
    let gap = points.iter().position(|point| point.1.is_none());
    let mut places = [lowest, highest, gap];
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_stay_as_they_are() {
        let points = [(0.0, Some(1.0)), (1.0, None), (2.0, Some(3.0))];
        assert_eq!(thin(&points, 2000), points);
    }

    #[test]
    fn extremes_gaps_and_ends_are_kept() {
        let mut points: Vec<Point> = (0..10_000).map(|n| (f64::from(n), Some(5.0))).collect();
        points[1234].1 = Some(900.0);
        points[5678].1 = Some(-3.0);
        points[7777].1 = None;
        let thinned = thin(&points, 200);
        assert!(thinned.len() <= 200, "{}", thinned.len());
        for at in [0, 1234, 5678, 7777, 9999] {
            assert!(thinned.contains(&points[at]), "{at}");
        }
        assert!(
            thinned.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "in order, none twice"
        );
    }
}

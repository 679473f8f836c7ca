//! A system of linear equations.

use libm::fabs;

/// Solves `rows` of coefficients, each with its right side behind them, by Gauss's elimination with the
/// largest pivot of each column. The matrix has to be regular.
pub(super) fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let size = |row: &usize| fabs(rows[*row][column]);
        let largest = (column..n).max_by(|a, b| size(a).total_cmp(&size(b)));
        rows.swap(column, largest.unwrap_or(column));
        let pivot = rows[column].clone();
        for row in &mut rows[column + 1..] {
            let factor = row[column] / pivot[column];
            for (value, above) in row.iter_mut().zip(&pivot).skip(column) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; n];
    for at in (0..n).rev() {
        let row = &rows[at];
        let known = row[at + 1..n].iter().zip(&solution[at + 1..]);
        let sum: f64 = known.map(|(coefficient, value)| coefficient * value).sum();
        solution[at] = (row[n] - sum) / row[at];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_equations() {
        // x + y + z = 6, 2y + 5z = -4, 2x + 5y - z = 27.
        let rows = vec![
            vec![0.0, 2.0, 5.0, -4.0],
            vec![1.0, 1.0, 1.0, 6.0],
            vec![2.0, 5.0, -1.0, 27.0],
        ];
        let solution = solve(rows);
        for (value, expected) in solution.iter().zip([5.0, 3.0, -2.0]) {
            assert!((value - expected).abs() < 1e-12, "{solution:?}");
        }
    }
}

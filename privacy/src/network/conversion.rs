//! μ² of many pairs to ε at one δ.
//!
//! The exact conversion costs some twenty microseconds, which is nothing for one pair and minutes for all pairs of a large graph. Many
//! pairs share a table: t = ε/μ is a smooth function of ln μ (linear where it comes off zero), so cubic interpolation on a fine grid of
//! exact values is good to about 1e-12, and the result is rounded up by a hundred times that.

use crate::gdp;
use rayon::prelude::*;

/// Pairs above which a table pays.
const MANY: usize = 20_000;

/// Width of a cell of the table in ln μ.
const CELL: f64 = 1.0 / 512.0;

/// Added to t: far above the interpolation error, far below anything that matters.
const UP: f64 = 1e-10;

/// Values that one thread converts at a time.
const STRETCH: usize = 128;

/// ε at δ of every μ² in `rows`, rounded up.
///
/// # Guarantee
/// Each ε is at least that of [`gdp::epsilon`], and larger by at most 1e-9 relative or 1e-10·μ.
///
/// # Assumes
/// Each μ² was composed over everything that its observer saw.
///
/// # Errors
/// δ outside (0, 1), or a μ² that is negative or NaN.
pub fn epsilons(rows: &[Vec<f64>], delta: f64) -> Result<Vec<Vec<f64>>, gdp::Error> {
    let mut all = epsilons_of(&rows.concat(), delta)?.into_iter();
    Ok(rows.iter().map(|row| all.by_ref().take(row.len()).collect()).collect())
}

/// ε at δ of every μ², rounded up; see [`epsilons`].
///
/// # Guarantee
/// As [`epsilons`].
///
/// # Assumes
/// As [`epsilons`].
///
/// # Errors
/// As [`epsilons`].
pub fn epsilons_of(mu2: &[f64], delta: f64) -> Result<Vec<f64>, gdp::Error> {
    let exact = |mu2: f64| gdp::epsilon(mu2.sqrt(), delta);
    let table = if mu2.len() > MANY { Some(Table::new(mu2, delta)?) } else { None };
    let convert = |mu2: f64| match table.as_ref().and_then(|table| table.epsilon(mu2)) {
        Some(epsilon) => Ok(epsilon),
        None => exact(mu2),
    };
    let mut out = vec![0.0; mu2.len()];
    out.par_chunks_mut(STRETCH).zip(mu2.par_chunks(STRETCH)).try_for_each(|(out, mu2)| {
        out.iter_mut().zip(mu2).try_for_each(|(out, &mu2)| convert(mu2).map(|epsilon| *out = epsilon))
    })?;
    Ok(out)
}

/// t = ε/μ on a uniform grid of ln μ.
struct Table {
    start: f64,
    ratios: Vec<f64>,
}

impl Table {
    fn new(mu2: &[f64], delta: f64) -> Result<Self, gdp::Error> {
        let ends = mu2.iter().filter(|mu2| **mu2 > 0.0 && mu2.is_finite());
        let (least, most) = ends.fold((f64::MAX, 0.0f64), |(a, b), &mu2| (a.min(mu2), b.max(mu2)));
        // Below this μ no ε is needed at all; the table starts where ε does.
        let free = gdp::mu(0.0, delta)?;
        let start = least.sqrt().max(free).ln();
        let cells = ((most.sqrt().max(free).ln() - start) / CELL).ceil() as usize + 4;
        let ratio = |at: usize| {
            let mu = (start + (at as f64 - 1.0) * CELL).exp();
            Ok(gdp::epsilon(mu, delta)? / mu)
        };
        let ratios = (0..cells).into_par_iter().map(ratio).collect::<Result<Vec<f64>, gdp::Error>>()?;
        Ok(Self { start, ratios })
    }

    /// By interpolation, where the four values around are off zero; elsewhere the caller computes exactly.
    fn epsilon(&self, mu2: f64) -> Option<f64> {
        if mu2 == 0.0 {
            return Some(0.0);
        }
        let mu = mu2.sqrt();
        let place = (mu.ln() - self.start) / CELL + 1.0;
        let cell = place.floor();
        if cell < 1.0 || !place.is_finite() {
            return None;
        }
        let around = self.ratios.get(cell as usize - 1..cell as usize + 3)?;
        let [a, b, c, d] = around.try_into().ok()?;
        if a <= 0.0 {
            return None;
        }
        let x = place - cell;
        Some(mu * (cubic_through([a, b, c, d], x) + UP) * (1.0 + UP))
    }
}

/// The cubic through the values at −1, 0, 1, 2, at x between 0 and 1 (Lagrange).
fn cubic_through([a, b, c, d]: [f64; 4], x: f64) -> f64 {
    -a * x * (x - 1.0) * (x - 2.0) / 6.0 + b * (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0
        - c * (x + 1.0) * x * (x - 2.0) / 2.0
        + d * (x + 1.0) * x * (x - 1.0) / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_never_below_the_exact_value_and_hardly_above() {
        for delta in [1e-3, 1e-5, 1e-9] {
            // μ² from far below the free region to very large, in uneven steps.
            let row: Vec<f64> = (0..MANY + 1).map(|i| 1e-14 * 1.0023f64.powi(i as i32 % 16_000)).collect();
            let found = epsilons(std::slice::from_ref(&row), delta).unwrap();
            for (mu2, found) in row.iter().zip(&found[0]).step_by(37) {
                let exact = gdp::epsilon(mu2.sqrt(), delta).unwrap();
                assert!(*found >= exact, "δ = {delta}, μ² = {mu2}: {found} below {exact}");
                assert!(
                    *found <= exact * (1.0 + 1e-9) + 1.5e-10 * mu2.sqrt(),
                    "δ = {delta}, μ² = {mu2}: {found} above {exact}"
                );
            }
        }
    }

    #[test]
    fn few_pairs_are_converted_exactly_and_bad_ones_refused() {
        assert_eq!(epsilons(&[vec![0.0, 1.0]], 1e-5).unwrap()[0], [0.0, gdp::epsilon(1.0, 1e-5).unwrap()]);
        assert!(epsilons(&[vec![f64::NAN]], 1e-5).is_err());
        assert!(epsilons(&[vec![1.0]], 1.0).is_err());
    }
}

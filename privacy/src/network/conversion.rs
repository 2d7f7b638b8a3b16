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
    Converter::new(mu2.len(), delta).convert(mu2)
}

/// Converts pairs that come in pieces: a pair has the same ε however they are cut.
#[derive(Debug)]
pub(crate) struct Converter {
    delta: f64,
    /// Whether there are so many pairs in all that a table pays.
    many: bool,
    table: Option<Table>,
}

impl Converter {
    /// For so many pairs in all.
    pub(crate) fn new(pairs: usize, delta: f64) -> Self {
        Self { delta, many: pairs > MANY, table: None }
    }

    /// ε of the next pairs.
    pub(crate) fn convert(&mut self, mu2: &[f64]) -> Result<Vec<f64>, gdp::Error> {
        let delta = self.delta;
        if self.many {
            self.table = Some(Table::covering(self.table.take(), mu2, delta)?);
        }
        let table = self.table.as_ref();
        let convert = |mu2: f64| match table.and_then(|table| table.epsilon(mu2)) {
            Some(epsilon) => Ok(epsilon),
            None => gdp::epsilon(mu2.sqrt(), delta),
        };
        let mut out = vec![0.0; mu2.len()];
        out.par_chunks_mut(STRETCH).zip(mu2.par_chunks(STRETCH)).try_for_each(|(out, mu2)| {
            out.iter_mut().zip(mu2).try_for_each(|(out, &mu2)| convert(mu2).map(|epsilon| *out = epsilon))
        })?;
        Ok(out)
    }
}

/// t = ε/μ on a uniform grid of ln μ that begins where ε does, whatever is converted.
#[derive(Debug)]
struct Table {
    /// ln of the μ below which no ε is needed at all: the place of cell 0.
    origin: f64,
    /// The first cell that is known.
    first: usize,
    ratios: Vec<f64>,
}

impl Table {
    /// The table with what these pairs need besides.
    fn covering(known: Option<Self>, mu2: &[f64], delta: f64) -> Result<Self, gdp::Error> {
        let origin = match &known {
            Some(table) => table.origin,
            None => gdp::mu(0.0, delta)?.ln(),
        };
        let ends = mu2.iter().filter(|mu2| **mu2 > 0.0 && mu2.is_finite());
        let (least, most) = ends.fold((f64::MAX, 0.0f64), |(a, b), &mu2| (a.min(mu2), b.max(mu2)));
        let place = |mu2: f64| ((mu2.sqrt().ln() - origin) / CELL).max(0.0);
        let known =
            known.unwrap_or(Self { origin, first: place(least.min(most)) as usize, ratios: Vec::new() });
        let first = (place(least.min(most)) as usize).min(known.first);
        let end = (place(most).ceil() as usize + 4).max(known.first + known.ratios.len());
        let ratio = |at: usize| {
            let mu = (origin + (at as f64 - 1.0) * CELL).exp();
            Ok(gdp::epsilon(mu, delta)? / mu)
        };
        let made =
            |cells: std::ops::Range<usize>| cells.into_par_iter().map(ratio).collect::<Result<Vec<f64>, _>>();
        let mut ratios = made(first..known.first)?;
        let more = known.first + known.ratios.len()..end;
        ratios.extend(known.ratios);
        ratios.extend(made(more)?);
        Ok(Self { origin, first, ratios })
    }

    /// By interpolation, where the four values around are off zero; elsewhere the caller computes exactly.
    fn epsilon(&self, mu2: f64) -> Option<f64> {
        if mu2 == 0.0 {
            return Some(0.0);
        }
        let mu = mu2.sqrt();
        let place = (mu.ln() - self.origin) / CELL + 1.0;
        let cell = place.floor();
        if cell < 1.0 || !place.is_finite() {
            return None;
        }
        let start = (cell as usize - 1).checked_sub(self.first)?;
        let around = self.ratios.get(start..start + 4)?;
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
    fn pairs_in_pieces_are_converted_as_together() {
        let all: Vec<f64> = (0..2 * MANY).map(|i| 1e-6 * 1.001f64.powi((i * 7919) as i32 % 19_000)).collect();
        let together = epsilons_of(&all, 1e-5).unwrap();
        for size in [1, 777, MANY] {
            let mut converter = Converter::new(all.len(), 1e-5);
            let pieces: Vec<f64> =
                all.chunks(size).take(60).flat_map(|piece| converter.convert(piece).unwrap()).collect();
            assert_eq!(pieces, together[..pieces.len()], "pieces of {size}");
        }
    }

    #[test]
    fn few_pairs_are_converted_exactly_and_bad_ones_refused() {
        assert_eq!(epsilons(&[vec![0.0, 1.0]], 1e-5).unwrap()[0], [0.0, gdp::epsilon(1.0, 1e-5).unwrap()]);
        assert!(epsilons(&[vec![f64::NAN]], 1e-5).is_err());
        assert!(epsilons(&[vec![1.0]], 1.0).is_err());
    }
}

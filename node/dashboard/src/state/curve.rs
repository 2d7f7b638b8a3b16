//! A curve that keeps its shape in bounded memory: when it is full, neighbours are merged.

use serde::Serialize;

/// Points of a curve at most.
pub(crate) const MOST_POINTS: usize = 500;

/// Points `(x, y)`; each stands for `stride` values that were given, by their means.
///
/// Invariant: at most [`MOST_POINTS`] points, however many values come.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    points: Vec<(f64, f64)>,
    stride: u32,
    waiting: (f64, f64, u32),
    /// Points that the last tick has told of; `None` after neighbours were merged.
    told: Option<usize>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: Vec::new(), stride: 1, waiting: (0.0, 0.0, 0), told: Some(0) }
    }
}

/// What is new on a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum News {
    /// More points.
    Add(Vec<(f64, f64)>),
    /// All points: older ones have changed.
    All(Vec<(f64, f64)>),
}

impl Curve {
    /// Adds a value; what is not finite has no place in a picture.
    pub(crate) fn push(&mut self, x: f64, y: f64) {
        if !y.is_finite() {
            return;
        }
        let (xs, ys, count) = &mut self.waiting;
        (*xs, *ys, *count) = (*xs + x, *ys + y, *count + 1);
        if *count < self.stride {
            return;
        }
        let count = f64::from(*count);
        self.points.push((*xs / count, *ys / count));
        self.waiting = (0.0, 0.0, 0);
        if self.points.len() > MOST_POINTS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let middle = |pair: &[(f64, f64)]| {
            let count = pair.len() as f64;
            (pair.iter().map(|at| at.0).sum::<f64>() / count, pair.iter().map(|at| at.1).sum::<f64>() / count)
        };
        self.points = self.points.chunks(2).map(middle).collect();
        self.stride = self.stride.saturating_mul(2);
        self.told = None;
    }

    pub(crate) fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// What came since the last call.
    pub(crate) fn news(&mut self) -> Option<News> {
        let news = match self.told {
            None => Some(News::All(self.points.clone())),
            Some(told) if told < self.points.len() => Some(News::Add(self.points[told..].to_vec())),
            Some(_) => None,
        };
        self.told = Some(self.points.len());
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_values_stay_within_the_bound_and_keep_the_shape() {
        let mut curve = Curve::default();
        (0..1_000_000).for_each(|x| curve.push(f64::from(x), 2.0 * f64::from(x)));
        assert!(curve.points().len() <= MOST_POINTS && curve.points().len() > MOST_POINTS / 4);
        for &(x, y) in curve.points() {
            assert!((y - 2.0 * x).abs() < 1e-3 * (1.0 + x), "{x} {y}");
        }
    }

    #[test]
    fn news_added_up_give_the_curve() {
        let mut curve = Curve::default();
        let mut seen = Vec::new();
        for x in 0..3 * MOST_POINTS {
            curve.push(x as f64, 1.0);
            match curve.news() {
                Some(News::Add(more)) => seen.extend(more),
                Some(News::All(all)) => seen = all,
                None => {}
            }
            assert_eq!(seen, curve.points());
        }
    }

    #[test]
    fn infinity_and_nan_are_left_out() {
        let mut curve = Curve::default();
        [f64::NAN, f64::INFINITY, 1.0].into_iter().for_each(|y| curve.push(0.0, y));
        assert_eq!(curve.points(), [(0.0, 1.0)]);
    }
}

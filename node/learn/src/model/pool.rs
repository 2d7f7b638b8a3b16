//! Max-pooling: the first largest value of each square, and where it was.

use super::conv::Pool;
use privacy::vectorised;

/// Sizes of the pooling after one convolution; squares of side 1 where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pooling {
    size: usize,
    stride: usize,
    in_height: usize,
    in_width: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

impl Pooling {
    /// `None` where the squares do not fit.
    pub(crate) fn new(pool: Option<Pool>, in_height: usize, in_width: usize) -> Option<Self> {
        let Pool { size, stride } = pool.unwrap_or(Pool { size: 1, stride: 1 });
        if size == 0 || stride == 0 {
            return None;
        }
        let squares = |side: usize| side.checked_sub(size).map(|rest| rest / stride + 1);
        Some(Self {
            size,
            stride,
            in_height,
            in_width,
            height: squares(in_height)?,
            width: squares(in_width)?,
        })
    }

    pub(crate) fn positions(&self) -> usize {
        self.height * self.width
    }

    /// The largest of each square and its place in the square (row by row), for all planes.
    pub(crate) fn forward(&self, planes: &[f32], pooled: &mut [f32], winners: &mut [u32]) {
        vectorised(
            #[inline(always)]
            || {
                let plane_length = self.in_height * self.in_width;
                let outs =
                    pooled.chunks_exact_mut(self.positions()).zip(winners.chunks_exact_mut(self.positions()));
                for (plane, (pooled, winners)) in planes.chunks_exact(plane_length).zip(outs) {
                    for y in 0..self.height {
                        let line = y * self.width..(y + 1) * self.width;
                        self.pool_line(plane, y, &mut pooled[line.clone()], &mut winners[line]);
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn pool_line(&self, plane: &[f32], y: usize, pooled: &mut [f32], winners: &mut [u32]) {
        for tap in 0..self.size * self.size {
            let start = (y * self.stride + tap / self.size) * self.in_width + tap % self.size;
            let values = &plane[start..];
            if tap == 0 {
                winners.fill(0);
                each_value(values, self.stride, pooled.len(), |x, value| pooled[x] = value);
            } else {
                each_value(values, self.stride, pooled.len(), |x, value| {
                    // Strictly larger: of equal values the first wins, as elsewhere. NaN wins, so that it is seen.
                    let wins = value > pooled[x] || value.is_nan();
                    pooled[x] = if wins { value } else { pooled[x] };
                    winners[x] = if wins { tap as u32 } else { winners[x] };
                });
            }
        }
    }

    /// Gives each square's signal to its winner; overwrites `signal`.
    pub(crate) fn backward(&self, pooled_signal: &[f32], winners: &[u32], signal: &mut [f32]) {
        vectorised(
            #[inline(always)]
            || {
                signal.fill(0.0);
                let plane_length = self.in_height * self.in_width;
                let squares =
                    pooled_signal.chunks_exact(self.positions()).zip(winners.chunks_exact(self.positions()));
                for (plane, (pooled, winners)) in signal.chunks_exact_mut(plane_length).zip(squares) {
                    for y in 0..self.height {
                        let line = y * self.width..(y + 1) * self.width;
                        self.unpool_line(plane, y, &pooled[line.clone()], &winners[line]);
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn unpool_line(&self, plane: &mut [f32], y: usize, pooled: &[f32], winners: &[u32]) {
        for tap in 0..self.size * self.size {
            let start = (y * self.stride + tap / self.size) * self.in_width + tap % self.size;
            let to = &mut plane[start..];
            let places = pooled.iter().zip(winners);
            let share = |(&value, &winner): (&f32, &u32)| if winner == tap as u32 { value } else { 0.0 };
            if self.stride == 1 {
                to.iter_mut().zip(places).for_each(|(sum, place)| *sum += share(place));
            } else {
                to.iter_mut().step_by(self.stride).zip(places).for_each(|(sum, place)| *sum += share(place));
            }
        }
    }
}

/// `f(x, values[x·stride])` for `count` values; the stride of 1 is a loop of its own that vectorises.
#[inline(always)]
fn each_value(values: &[f32], stride: usize, count: usize, mut f: impl FnMut(usize, f32)) {
    if stride == 1 {
        values[..count].iter().enumerate().for_each(|(x, &value)| f(x, value));
    } else {
        values.iter().step_by(stride).take(count).enumerate().for_each(|(x, &value)| f(x, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_takes_the_first_largest_and_returns_the_signal_to_it() {
        let pooling = Pooling::new(Some(Pool { size: 2, stride: 1 }), 2, 3).unwrap();
        let (mut pooled, mut winners) = ([0.0; 2], [0; 2]);
        pooling.forward(&[5.0, 1.0, 7.0, 5.0, 2.0, 7.0], &mut pooled, &mut winners);
        assert_eq!((pooled, winners), ([5.0, 7.0], [0, 1]));
        let mut signal = [9.0; 6];
        pooling.backward(&[10.0, 20.0], &winners, &mut signal);
        assert_eq!(signal, [10.0, 0.0, 20.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn pooling_by_two_halves_the_sides_and_drops_the_odd_line() {
        let pooling = Pooling::new(Some(Pool { size: 2, stride: 2 }), 5, 4).unwrap();
        assert_eq!((pooling.height, pooling.width), (2, 2));
        let plane: Vec<f32> = (0..20).map(|i| i as f32).collect();
        let (mut pooled, mut winners) = ([0.0; 4], [0; 4]);
        pooling.forward(&plane, &mut pooled, &mut winners);
        assert_eq!((pooled, winners), ([5.0, 7.0, 13.0, 15.0], [3; 4]));
    }
}

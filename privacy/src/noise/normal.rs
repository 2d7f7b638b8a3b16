//! Standard normals by the ziggurat of 256 layers (Marsaglia and Tsang 2000, in the form of Doornik 2005).
//!
//! One word gives layer (bits 0–7), sign (bit 8) and abscissa (bits 12–63): no bit is used twice, which was the flaw of
//! the first ziggurats. Only IEEE arithmetic and `libm`: the same normals on every machine.

use std::sync::LazyLock;

use rand_chacha::rand_core::Rng;

use super::bits::open_unit;

/// Where the tail begins: the value for which 256 layers of equal area close exactly at the peak.
const TAIL: f64 = 3.654_152_885_361_009;
const LAYERS: usize = 256;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

struct Tables {
    /// Right edges, falling; the first is the width of the base layer if its tail were a rectangle; the last is 0.
    edge: [f64; LAYERS + 1],
    /// exp(−x²/2) at the edges.
    height: [f64; LAYERS + 1],
}

/// Replaces each value by `f(value, fresh standard normal)`.
pub(super) fn combine<T: Copy>(rng: &mut impl Rng, values: &mut [T], f: impl Fn(T, f64) -> T) {
    let tables = &*TABLES;
    for value in values {
        let word = rng.next_u64();
        *value = f(*value, tables.normal(word, rng));
    }
}

impl Tables {
    fn new() -> Self {
        let area = TAIL * density(TAIL)
            + libm::sqrt(std::f64::consts::FRAC_PI_2) * libm::erfc(TAIL * std::f64::consts::FRAC_1_SQRT_2);
        let mut edge = [0.0; LAYERS + 1];
        edge[0] = area / density(TAIL);
        edge[1] = TAIL;
        for i in 1..LAYERS - 1 {
            edge[i + 1] = libm::sqrt(-2.0 * libm::log(area / edge[i] + density(edge[i])));
        }
        Self { edge, height: edge.map(density) }
    }

    #[inline(always)]
    fn normal(&self, word: u64, rng: &mut impl Rng) -> f64 {
        let layer = (word & 0xff) as usize;
        let x = open_unit(word) * self.edge[layer];
        let x = if x < self.edge[layer + 1] { x } else { self.outside(layer, x, rng) };
        f64::from_bits(x.to_bits() | (word & 0x100) << 55)
    }

    /// The 1.2 % of draws that fall outside the part of their layer that lies wholly under the curve.
    #[cold]
    #[inline(never)]
    fn outside(&self, layer: usize, x: f64, rng: &mut impl Rng) -> f64 {
        let (mut layer, mut x) = (layer, x);
        loop {
            if layer == 0 {
                return tail(rng);
            }
            let (low, high) = (self.height[layer], self.height[layer + 1]);
            if low + (high - low) * open_unit(rng.next_u64()) < density(x) {
                return x;
            }
            let word = rng.next_u64();
            layer = (word & 0xff) as usize;
            x = open_unit(word) * self.edge[layer];
            if x < self.edge[layer + 1] {
                return x;
            }
        }
    }
}

/// A normal given that it exceeds [`TAIL`] (Marsaglia 1964).
fn tail(rng: &mut impl Rng) -> f64 {
    loop {
        let x = -libm::log(open_unit(rng.next_u64())) / TAIL;
        let y = -libm::log(open_unit(rng.next_u64()));
        if 2.0 * y > x * x {
            return TAIL + x;
        }
    }
}

fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    const SAMPLES: usize = 4_000_000;

    fn samples() -> Vec<f64> {
        let mut out = vec![0.0; SAMPLES];
        combine(&mut ChaCha20Rng::seed_from_u64(2), &mut out, |_, normal| normal);
        out
    }

    fn normal_cdf(x: f64) -> f64 {
        0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
    }

    #[test]
    fn the_layers_have_equal_area_and_close_at_the_peak() {
        let tables = Tables::new();
        let area = tables.edge[0] * tables.height[1];
        for i in 1..LAYERS {
            let layer = tables.edge[i] * (tables.height[i + 1] - tables.height[i]);
            assert!((layer / area - 1.0).abs() < 1e-9, "layer {i}: {layer} against {area}");
        }
        assert_eq!((tables.edge[LAYERS], tables.height[LAYERS]), (0.0, 1.0));
    }

    #[test]
    fn samples_follow_the_normal_distribution() {
        // Kolmogorov–Smirnov: √n·D > 2.23 has probability 1e-4 under the claim.
        let mut xs = samples();
        xs.sort_by(f64::total_cmp);
        let n = xs.len() as f64;
        let distance = xs.iter().enumerate().fold(0.0_f64, |worst, (i, &x)| {
            let cdf = normal_cdf(x);
            worst.max((cdf - i as f64 / n).abs()).max((cdf - (i + 1) as f64 / n).abs())
        });
        assert!(n.sqrt() * distance < 2.23, "{}", n.sqrt() * distance);
    }

    #[test]
    fn the_tails_and_layer_edges_have_the_right_weight() {
        // Kolmogorov–Smirnov is blind to tails: count beyond each threshold. Twenty binomial counts, each two-sided
        // 4.9 standard deviations: false alarm 2e-5 (by the normal approximation; the rarest expects 127).
        let xs = samples();
        for threshold in [0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 3.5, TAIL, 3.8, 4.0] {
            let p = normal_cdf(-threshold);
            let sd = (SAMPLES as f64 * p * (1.0 - p)).sqrt();
            let above = xs.iter().filter(|&&x| x > threshold).count() as f64;
            let below = xs.iter().filter(|&&x| x < -threshold).count() as f64;
            for count in [above, below] {
                assert!(((count - SAMPLES as f64 * p) / sd).abs() < 4.9, "{threshold}: {count}, sd {sd}");
            }
        }
    }

    #[test]
    fn neighbouring_samples_are_uncorrelated_in_value_and_in_square() {
        // Means of products of independent standardised values: n^(-1/2) each, 4.9 of them, false alarm 4e-6.
        let xs = samples();
        let n = (xs.len() - 1) as f64;
        let product: f64 = xs.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n.sqrt();
        let squares: f64 =
            xs.windows(2).map(|w| (w[0] * w[0] - 1.0) * (w[1] * w[1] - 1.0) / 2.0).sum::<f64>() / n.sqrt();
        assert!(product.abs() < 4.9 && squares.abs() < 4.9, "{product} {squares}");
    }
}

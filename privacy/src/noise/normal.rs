//! Standard normals by the ziggurat of 256 layers (Marsaglia and Tsang 2000, in the form of Doornik 2005).
//!
//! One word gives layer (bits 0–7), sign (bit 8) and abscissa (bits 12–63): no bit is used twice, which was the flaw of
//! the first ziggurats. Only IEEE arithmetic and `libm`: the same normals on every machine.
//!
//! In blocks of a few hundred: the words, then a normal for each, then what is done with them. The 1.2 % of draws that fall outside their
//! layer's rectangle are made anew on the way.

use std::cell::RefCell;
use std::sync::LazyLock;

use super::bits::open_unit;
use super::chacha::{Block, KeyStream};
#[cfg(target_arch = "x86_64")]
use super::lookup::Lookup;
use crate::vectorised;

/// Where the tail begins: the value for which 256 layers of equal area close exactly at the peak.
const TAIL: f64 = 3.654_152_885_361_009;
const LAYERS: usize = 256;
/// Samples made at a time, in blocks of the cipher: a multiple of the 6 or 28 that it makes at once, and everything fits in the first cache.
const BLOCKS: usize = 84;
const SAMPLES: usize = 8 * BLOCKS;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

struct Tables {
    /// Right edges, falling; the first is the width of the base layer if its tail were a rectangle; the last is 0.
    edge: [f64; LAYERS + 1],
    /// exp(−x²/2) at the edges.
    height: [f64; LAYERS + 1],
    /// By layer: its right edge (bits), and the least abscissa (as the 52 bits of a word) that is not wholly under the curve.
    layer: [[u64; 2]; LAYERS],
    /// By layer: how far the curve lies from the chord between its edges, at most, as a part of the layer's height.
    bend: [f64; LAYERS],
}

/// Replaces each value by `f(value, fresh standard normal)`, from one word each and what `more` gives where one is not enough.
pub(super) fn combine<T: Copy>(
    words: &mut KeyStream<'_>,
    more: &mut impl FnMut() -> u64,
    values: &mut [T],
    f: impl Fn(T, f64) -> T,
) {
    let tables = &*TABLES;
    SCRATCH.with_borrow_mut(|scratch| {
        for values in values.chunks_mut(SAMPLES) {
            let blocks = &mut scratch.blocks[..values.len().div_ceil(8)];
            words.fill(blocks);
            let normals = &mut scratch.normals[..values.len()];
            tables.normals(&blocks.as_flattened()[..values.len()], normals, more);
            vectorised(
                #[inline(always)]
                || values.iter_mut().zip(&*normals).for_each(|(value, &normal)| *value = f(*value, normal)),
            );
        }
    });
}

thread_local! {
    /// Kept between calls: making it anew would be a twentieth of a small one.
    static SCRATCH: RefCell<Scratch> = const {
        RefCell::new(Scratch { blocks: [[0; 8]; BLOCKS], normals: [0.0; SAMPLES] })
    };
}

/// Overwrites what the last call on this thread left behind: words and normals of secret noise.
pub(super) fn forget() {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.blocks = [[0; 8]; BLOCKS];
        scratch.normals = [0.0; SAMPLES];
    });
}

struct Scratch {
    blocks: [Block; BLOCKS],
    normals: [f64; SAMPLES],
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
        let layer = std::array::from_fn(|i| [edge[i].to_bits(), first_outside(edge[i], edge[i + 1])]);
        let height = edge.map(density);
        Self {
            edge,
            height,
            layer,
            bend: std::array::from_fn(|i| bend(&edge[i..=i + 1], &height[i..=i + 1])),
        }
    }

    /// One normal for each word.
    fn normals(&self, words: &[u64], out: &mut [f64], more: &mut impl FnMut() -> u64) {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V4::try_new() {
            return self.normals_by_eights(simd, words, out, more);
        } else if let Some(simd) = pulp::x86::V3::try_new() {
            return self.normals_by_fours(simd, words, out, more);
        }
        self.normals_one_by_one(words, out, more);
    }

    #[cfg(target_arch = "x86_64")]
    fn normals_by_eights(
        &self,
        simd: pulp::x86::V4,
        words: &[u64],
        out: &mut [f64],
        more: &mut impl FnMut() -> u64,
    ) {
        let anew = |word, x| self.anew(word, x, more);
        simd.vectorize(Lookup::<8, _, _> { simd, layers: &self.layer, words, out, anew });
    }

    #[cfg(target_arch = "x86_64")]
    fn normals_by_fours(
        &self,
        simd: pulp::x86::V3,
        words: &[u64],
        out: &mut [f64],
        more: &mut impl FnMut() -> u64,
    ) {
        let anew = |word, x| self.anew(word, x, more);
        simd.vectorize(Lookup::<4, _, _> { simd, layers: &self.layer, words, out, anew });
    }

    fn normals_one_by_one(&self, words: &[u64], out: &mut [f64], more: &mut impl FnMut() -> u64) {
        for (out, &word) in out.iter_mut().zip(words) {
            let [edge, limit] = self.layer[(word & 0xff) as usize];
            let x = open_unit(word) * f64::from_bits(edge);
            *out = if word >> 12 < limit { signed(x, word) } else { self.anew(word, x, more) };
        }
    }

    /// What a word gives whose abscissa is outside its layer's rectangle.
    fn anew(&self, word: u64, x: f64, more: &mut impl FnMut() -> u64) -> f64 {
        signed(self.outside((word & 0xff) as usize, x, more), word)
    }

    /// Whether the point at `x` and at the part `u` of the layer's height lies under the curve: mostly clear from the chord, else by `exp`.
    fn under(&self, layer: usize, x: f64, u: f64) -> bool {
        let (right, left) = (self.edge[layer], self.edge[layer + 1]);
        let chord = (right - x) / (right - left);
        if (u - chord).abs() > self.bend[layer] { u < chord } else { self.under_exactly(layer, x, u) }
    }

    fn under_exactly(&self, layer: usize, x: f64, u: f64) -> bool {
        let (low, high) = (self.height[layer], self.height[layer + 1]);
        low + (high - low) * u < density(x)
    }

    /// A draw that falls outside the part of its layer that lies wholly under the curve.
    fn outside(&self, layer: usize, x: f64, more: &mut impl FnMut() -> u64) -> f64 {
        let (mut layer, mut x) = (layer, x);
        loop {
            if layer == 0 {
                return tail(more);
            }
            if self.under(layer, x, open_unit(more())) {
                return x;
            }
            let word = more();
            layer = (word & 0xff) as usize;
            x = open_unit(word) * self.edge[layer];
            if x < self.edge[layer + 1] {
                return x;
            }
        }
    }
}

/// A bound on the distance between curve and chord over one layer: a quarter of half the largest second derivative, (x² − 1)·density, times the
/// squared width (the error of linear interpolation); and far more than rounding can do.
fn bend(edge: &[f64], height: &[f64]) -> f64 {
    let steepest = edge.iter().map(|x| (x * x - 1.0).abs()).fold(0.0, f64::max) * height[1];
    (edge[0] - edge[1]).powi(2) / 8.0 * steepest / (height[1] - height[0]) + 1e-9
}

/// The least 52 bits whose abscissa, in the arithmetic of [`open_unit`] times `width`, is not below `inner`; by bisection, since it rises with them.
fn first_outside(width: f64, inner: f64) -> u64 {
    let (mut low, mut high) = (0, 1_u64 << 52);
    while low < high {
        let middle = (low + high) / 2;
        if open_unit(middle << 12) * width < inner { low = middle + 1 } else { high = middle }
    }
    low
}

/// `x` ≥ 0 with the sign of the word.
#[inline(always)]
fn signed(x: f64, word: u64) -> f64 {
    f64::from_bits(x.to_bits() | (word & 0x100) << 55)
}

/// A normal given that it exceeds [`TAIL`] (Marsaglia 1964).
fn tail(more: &mut impl FnMut() -> u64) -> f64 {
    loop {
        let x = -libm::log(open_unit(more())) / TAIL;
        let y = -libm::log(open_unit(more()));
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
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::super::chacha::Rounds;
    use super::*;

    const MANY: usize = 4_000_000;

    fn samples() -> Vec<f64> {
        let mut out = vec![0.0; MANY];
        let mut more = ChaCha20Rng::seed_from_u64(2);
        let mut words = KeyStream { rounds: Rounds::Twelve, key: &[2; 32], stream: 0, next_block: 0 };
        combine(&mut words, &mut || more.next_u64(), &mut out, |_, normal| normal);
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
    fn the_limit_of_a_layer_is_where_its_abscissa_leaves_the_curve() {
        let tables = Tables::new();
        for (i, &[edge, limit]) in tables.layer.iter().enumerate() {
            let edge = f64::from_bits(edge);
            assert_eq!(edge, tables.edge[i]);
            let inside = |bits: u64| open_unit(bits << 12) * edge < tables.edge[i + 1];
            assert!(limit == 0 || inside(limit - 1), "layer {i}");
            assert!(limit == 1 << 52 || !inside(limit), "layer {i}");
        }
    }

    #[test]
    fn what_the_chord_decides_is_what_the_curve_would() {
        let (tables, mut by_chord) = (Tables::new(), 0);
        for layer in 1..LAYERS {
            let (right, left) = (tables.edge[layer], tables.edge[layer + 1]);
            for i in 0..64 {
                let x = left + (right - left) * f64::from(i) / 64.0;
                let (low, high) = (tables.height[layer], tables.height[layer + 1]);
                let curve = (density(x) - low) / (high - low);
                // All heights, and closely around the curve and around where the chord begins to decide.
                let near = (-8..=8).flat_map(|j| {
                    let step = f64::from(j) / 8.0;
                    let bend = tables.bend[layer];
                    [curve + 1e-6 * step, curve + bend * step, curve + 2.0 * bend * step]
                });
                for u in (0..=64).map(|j| f64::from(j) / 64.0).chain(near) {
                    assert_eq!(
                        tables.under(layer, x, u),
                        tables.under_exactly(layer, x, u),
                        "{layer} {x} {u}"
                    );
                    let chord = (right - x) / (right - left);
                    by_chord += usize::from((u - chord).abs() > tables.bend[layer]);
                }
            }
        }
        assert!(by_chord > 500_000, "{by_chord}");
    }

    type Make<'m> = dyn FnMut(&[u64], &mut [f64], &mut dyn FnMut() -> u64) + 'm;

    /// Calls `check` with every way to make many normals that this processor has.
    fn for_each_way(mut check: impl FnMut(&str, &mut Make<'_>)) {
        check("as chosen", &mut |words, out, mut more| TABLES.normals(words, out, &mut more));
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = pulp::x86::V3::try_new() {
                check("AVX2", &mut |words, out, mut more| {
                    TABLES.normals_by_fours(simd, words, out, &mut more);
                });
            }
            if let Some(simd) = pulp::x86::V4::try_new() {
                check("AVX-512", &mut |words, out, mut more| {
                    TABLES.normals_by_eights(simd, words, out, &mut more);
                });
            }
        }
    }

    #[test]
    fn several_at_a_time_are_the_same_normals_as_one_by_one() {
        for_each_way(|way, make| {
            let mut random = ChaCha20Rng::seed_from_u64(3);
            for length in (0..30).chain([SAMPLES, 20_000]) {
                let words: Vec<u64> = (0..length).map(|_| random.next_u64()).collect();
                let (mut fast, mut slow) = (vec![0.0; length], vec![0.0; length]);
                let spare = || ChaCha20Rng::seed_from_u64(length as u64);
                let (mut first, mut second) = (spare(), spare());
                make(&words, &mut fast, &mut || first.next_u64());
                TABLES.normals_one_by_one(&words, &mut slow, &mut || second.next_u64());
                let bits = |normals: &[f64]| normals.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&fast), bits(&slow), "{way}: {length} words");
                // Not one spare word more or less.
                assert_eq!(first.next_u64(), second.next_u64());
            }
        });
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
            let sd = (MANY as f64 * p * (1.0 - p)).sqrt();
            let above = xs.iter().filter(|&&x| x > threshold).count() as f64;
            let below = xs.iter().filter(|&&x| x < -threshold).count() as f64;
            for count in [above, below] {
                assert!(((count - MANY as f64 * p) / sd).abs() < 4.9, "{threshold}: {count}, sd {sd}");
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

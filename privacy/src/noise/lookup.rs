//! The common case of the ziggurat four at a time: where the processor has AVX2, a layer's edge and limit are read as one pair, and
//! everything else is done in registers. The same normals as one by one, bit for bit.

use std::arch::x86_64::__m256d as Doubles;
use std::arch::x86_64::__m256i as Words;

use pulp::x86::V3;

/// Edge (its bits) and limit of each layer.
pub(super) type Layers = [[u64; 2]; 256];

/// Makes a normal of each word, and has those that fall outside their layer's rectangle made anew, in their order.
pub(super) struct Lookup<'a, F> {
    pub(super) simd: V3,
    pub(super) layers: &'a Layers,
    pub(super) words: &'a [u64],
    pub(super) out: &'a mut [f64],
    /// `anew(word, abscissa)`.
    pub(super) anew: F,
}

impl<F: FnMut(u64, f64) -> f64> pulp::NullaryFnOnce for Lookup<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let (words, last_words) = self.words.as_chunks();
        let (out, last_out) = self.out.as_chunks_mut();
        for (words, out) in words.iter().zip(out) {
            let (normals, outside) = four(self.simd, self.layers, words);
            *out = normals;
            if outside != 0 {
                make_anew(words, out, outside, &mut self.anew);
            }
        }
        if !last_words.is_empty() {
            // Words of zero fill up the last four: they lie inside the rectangle of layer 0.
            let mut words = [0; 4];
            words[..last_words.len()].copy_from_slice(last_words);
            let (mut normals, outside) = four(self.simd, self.layers, &words);
            make_anew(&words, &mut normals, outside, &mut self.anew);
            last_out.copy_from_slice(&normals[..last_out.len()]);
        }
    }
}

#[cold]
#[inline(never)]
fn make_anew(words: &[u64; 4], out: &mut [f64; 4], outside: i32, anew: &mut impl FnMut(u64, f64) -> f64) {
    for (i, (&word, out)) in words.iter().zip(out).enumerate() {
        if outside & 1 << i != 0 {
            *out = anew(word, out.abs());
        }
    }
}

/// Normals of the rectangles, and a bit for each word that falls outside.
#[inline(always)]
fn four(simd: V3, layers: &Layers, words: &[u64; 4]) -> ([f64; 4], i32) {
    let (avx, avx2) = (simd.avx, simd.avx2);
    let layer = |i: usize| layers[(words[i] & 0xff) as usize];
    let (even, odd): (Doubles, Doubles) =
        (pulp::cast([layer(0), layer(2)]), pulp::cast([layer(1), layer(3)]));
    let edges = avx._mm256_unpacklo_pd(even, odd);
    let limits: Words = pulp::cast(avx._mm256_unpackhi_pd(even, odd));
    let words: Words = pulp::cast(*words);
    let bits = avx2._mm256_srli_epi64::<12>(words);
    // As `open_unit`: between 1 and 2, less 1 − 2⁻⁵³.
    let one = avx._mm256_set1_epi64x(0x3ff0_0000_0000_0000);
    let unit: Doubles = pulp::cast(avx2._mm256_or_si256(bits, one));
    let unit = avx._mm256_sub_pd(unit, avx._mm256_set1_pd(1.0 - f64::EPSILON / 2.0));
    let sign = avx2._mm256_slli_epi64::<55>(avx2._mm256_and_si256(words, avx._mm256_set1_epi64x(0x100)));
    let normals = avx._mm256_or_pd(avx._mm256_mul_pd(unit, edges), pulp::cast(sign));
    // Both sides are below 2⁵³, so comparing them as signed numbers is right.
    let inside: Doubles = pulp::cast(avx2._mm256_cmpgt_epi64(limits, bits));
    (pulp::cast(normals), !avx._mm256_movemask_pd(inside) & 0xf)
}

//! The common case of the ziggurat four or eight at a time: where the processor has AVX2 or AVX-512, a layer's edge and limit are read as one
//! pair, and everything else is done in registers. The same normals as one by one, bit for bit.

use std::arch::x86_64::{__m256d, __m256i, __m512d, __m512i};

use pulp::x86::{V3, V4};

/// Edge (its bits) and limit of each layer.
pub(super) type Layers = [[u64; 2]; 256];

/// Makes a normal of each word, and has those that fall outside their layer's rectangle made anew, in their order.
pub(super) struct Lookup<'a, const N: usize, S, F> {
    pub(super) simd: S,
    pub(super) layers: &'a Layers,
    pub(super) words: &'a [u64],
    pub(super) out: &'a mut [f64],
    /// `anew(word, abscissa)`.
    pub(super) anew: F,
}

impl<const N: usize, S: Rectangles<N>, F: FnMut(u64, f64) -> f64> pulp::NullaryFnOnce
    for Lookup<'_, N, S, F>
{
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let (words, last_words) = self.words.as_chunks::<N>();
        let (out, last_out) = self.out.as_chunks_mut::<N>();
        for (words, out) in words.iter().zip(out) {
            let (normals, outside) = self.simd.normals(self.layers, words);
            *out = normals;
            if outside != 0 {
                make_anew(words, out, outside, &mut self.anew);
            }
        }
        if !last_words.is_empty() {
            // Words of zero fill up the last ones: they lie inside the rectangle of layer 0.
            let mut words = [0; N];
            words[..last_words.len()].copy_from_slice(last_words);
            let (mut normals, outside) = self.simd.normals(self.layers, &words);
            make_anew(&words, &mut normals, outside, &mut self.anew);
            last_out.copy_from_slice(&normals[..last_out.len()]);
        }
    }
}

#[cold]
#[inline(never)]
fn make_anew<const N: usize>(
    words: &[u64; N],
    out: &mut [f64; N],
    mut outside: u32,
    anew: &mut impl FnMut(u64, f64) -> f64,
) {
    while outside != 0 {
        let i = outside.trailing_zeros() as usize;
        out[i] = anew(words[i], out[i].abs());
        outside &= outside - 1;
    }
}

/// What registers of N lanes do.
pub(super) trait Rectangles<const N: usize>: Copy {
    /// Normals of the rectangles, and a bit for each word that falls outside.
    fn normals(self, layers: &Layers, words: &[u64; N]) -> ([f64; N], u32);
}

/// As `open_unit`: a number between 1 and 2, less this, lies between 0 and 1.
const LESS: f64 = 1.0 - f64::EPSILON / 2.0;
const ONE: i64 = 0x3ff0_0000_0000_0000;
const SIGN: i64 = 0x100;

impl Rectangles<4> for V3 {
    #[inline(always)]
    fn normals(self, layers: &Layers, words: &[u64; 4]) -> ([f64; 4], u32) {
        let (avx, avx2) = (self.avx, self.avx2);
        let layer = |i: usize| layers[(words[i] & 0xff) as usize];
        let even: __m256d = pulp::cast([layer(0), layer(2)]);
        let odd: __m256d = pulp::cast([layer(1), layer(3)]);
        let edges = avx._mm256_unpacklo_pd(even, odd);
        let limits: __m256i = pulp::cast(avx._mm256_unpackhi_pd(even, odd));
        let words: __m256i = pulp::cast(*words);
        let bits = avx2._mm256_srli_epi64::<12>(words);
        let unit: __m256d = pulp::cast(avx2._mm256_or_si256(bits, avx._mm256_set1_epi64x(ONE)));
        let unit = avx._mm256_sub_pd(unit, avx._mm256_set1_pd(LESS));
        let sign = avx2._mm256_slli_epi64::<55>(avx2._mm256_and_si256(words, avx._mm256_set1_epi64x(SIGN)));
        let normals = avx._mm256_or_pd(avx._mm256_mul_pd(unit, edges), pulp::cast(sign));
        // Both sides are below 2⁵³, so comparing them as signed numbers is right.
        let inside: __m256d = pulp::cast(avx2._mm256_cmpgt_epi64(limits, bits));
        (pulp::cast(normals), !avx._mm256_movemask_pd(inside) as u32 & 0xf)
    }
}

impl Rectangles<8> for V4 {
    #[inline(always)]
    fn normals(self, layers: &Layers, words: &[u64; 8]) -> ([f64; 8], u32) {
        let avx512 = self.avx512f;
        let layer = |i: usize| layers[(words[i] & 0xff) as usize];
        let even: __m512d = pulp::cast([layer(0), layer(2), layer(4), layer(6)]);
        let odd: __m512d = pulp::cast([layer(1), layer(3), layer(5), layer(7)]);
        let edges = avx512._mm512_unpacklo_pd(even, odd);
        let limits: __m512i = pulp::cast(avx512._mm512_unpackhi_pd(even, odd));
        let words: __m512i = pulp::cast(*words);
        let bits = avx512._mm512_srli_epi64::<12>(words);
        let unit: __m512d = pulp::cast(avx512._mm512_or_si512(bits, avx512._mm512_set1_epi64(ONE)));
        let unit = avx512._mm512_sub_pd(unit, avx512._mm512_set1_pd(LESS));
        let sign =
            avx512._mm512_slli_epi64::<55>(avx512._mm512_and_si512(words, avx512._mm512_set1_epi64(SIGN)));
        let size: __m512i = pulp::cast(avx512._mm512_mul_pd(unit, edges));
        let outside = avx512._mm512_cmpge_epu64_mask(bits, limits);
        (pulp::cast(avx512._mm512_or_si512(size, sign)), u32::from(outside))
    }
}

//! Where noise comes from. No crate of the project samples noise any other way.
//!
//! A [`NoiseSource`] hands out noise in bulk: one dynamic call per slice, never per sample. There are two:
//!
//! - [`SystemNoise`]: ChaCha keyed by the operating system's generator. The only source whose releases are
//!   private, see [`NoiseSource::is_private`].
//! - [`SeededNoise`], made by [`danger_from_seed`]: anyone who knows the seed can subtract the noise. For tests and
//!   simulation; a run that used it says so in its report.
//!
//! The trait is sealed: a third source would have to be added, and reviewed, here.
//!
//! # How the bits are made
//! Every bulk call takes a fresh 256-bit key from its source. The slice is cut into chunks of 8,192 samples, and sample `j` of
//! chunk `i` is made from word `j` of the ChaCha stream `(key, 2i)`: 12 rounds for private noise, 8 for seeded noise, where speed
//! counts more than the last margin of security. The one normal in eighty that needs more words takes them from the stream
//! `(key, 2i + 1)`. So long slices are filled on several threads, and the result depends neither on the number of threads nor on the
//! machine: normals come from a ziggurat that uses IEEE arithmetic and `libm` only. Integer noise is made from words in the same way.
//!
//! # Known gaps of floating-point noise
//! The theorems speak of real numbers. What is released is a double or a single, and:
//!
//! - The *set* of reachable outputs can depend on the value that is hidden (Mironov, "On significance of the least
//!   significant bits for differential privacy", 2012). Here a standard normal has at most 52 random bits
//!   within one ziggurat layer; it is scaled and added to the value **in double precision** and rounded once. A release
//!   in single precision therefore rounds away 29 bits of the double, which hides most of the structure but proves
//!   nothing about it. A release in double precision has nothing rounded away.
//! - The ziggurat's tail beyond 3.65σ and its wedges use `exp` and `ln` with relative errors near 1e-16; the largest
//!   reachable value is about 15σ instead of infinity (a probability below 1e-50).
//! - The time that a release takes depends on the noise (rejections), not on the value.
//!
//! No number of the accountants includes these gaps. Where they matter use the [discrete
//! mechanisms](crate::mechanisms::discrete): integers with exact probabilities. In bulk they come from [`IntegerNormal`], where doubles
//! decide only what they cannot get wrong.
//!
//! # Example
//! ```
//! use privacy::noise::{danger_from_seed, NoiseSource, SystemNoise};
//!
//! let mut noise = SystemNoise::new()?;
//! let mut gradient = vec![0.5_f32; 1000];
//! noise.add_normals_f32(&mut gradient, 1.5);
//! assert!(noise.is_private());
//!
//! // In tests: the same numbers on every machine, and the source admits what it is.
//! let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
//! danger_from_seed(7, "noise").standard_normals(&mut first);
//! danger_from_seed(7, "noise").standard_normals(&mut second);
//! assert_eq!(first, second);
//! assert!(!danger_from_seed(7, "noise").is_private());
//! # Ok::<(), privacy::noise::NoiseError>(())
//! ```

mod bits;
mod chacha;
mod integer;
mod key;
#[cfg(target_arch = "x86_64")]
mod lookup;
pub mod mask;
mod normal;
mod seeded;
mod shared;
mod stream;
mod system;

pub(crate) use bits::Bits;
pub use integer::IntegerNormal;
pub use seeded::{SeededNoise, danger_from_seed};
pub use shared::add_shared_normals;
pub use stream::RootSeed;
pub use system::{NoiseError, SystemNoise};

use rayon::prelude::*;

/// Samples per independent ChaCha stream. Part of the definition of the output: changing it changes seeded runs.
const CHUNK: usize = 8192;

/// A source of noise that fills slices. Sealed: see the [module](self) for the two sources there are.
pub trait NoiseSource: sealed::Keys + Send {
    /// Whether nobody outside this process can know the noise. A report of a run with `false` says that the run
    /// protects nobody.
    fn is_private(&self) -> bool;

    /// Fills `out` with independent uniform 64-bit words, the raw material of the exact samplers.
    fn words(&mut self, out: &mut [u64]) {
        let key = self.next_key(out.len());
        in_chunks(out, |index, chunk| key.fill_words(index, chunk));
    }

    /// Fills `out` with independent standard normals.
    fn standard_normals(&mut self, out: &mut [f64]) {
        let key = self.next_key(out.len());
        in_chunks(out, |index, chunk| key.combine(index, chunk, |_, normal| normal));
    }

    /// Fills `out` with independent standard normals, each drawn in double precision and rounded once.
    fn standard_normals_f32(&mut self, out: &mut [f32]) {
        let key = self.next_key(out.len());
        in_chunks(out, |index, chunk| key.combine(index, chunk, |_, normal| normal as f32));
    }

    /// Adds `sigma` times a fresh standard normal to each value. [`Gaussian`](crate::mechanisms::Gaussian) is the
    /// checked interface that also says what it costs. What would overflow becomes the largest finite number
    /// (post-processing, so free).
    fn add_normals(&mut self, values: &mut [f64], sigma: f64) {
        let key = self.next_key(values.len());
        let add = |value: f64, normal: f64| f64::clamp(value + sigma * normal, f64::MIN, f64::MAX);
        in_chunks(values, |index, chunk| key.combine(index, chunk, add));
    }

    /// Adds `sigma` times a fresh standard normal to each value; the sum is made in double precision and rounded once.
    fn add_normals_f32(&mut self, values: &mut [f32], sigma: f64) {
        self.add_normals_then_scale_f32(values, sigma, 1.0);
    }

    /// As [`add_normals_f32`](Self::add_normals_f32), and multiplies the rounded sum by `scale` in the same pass over memory.
    fn add_normals_then_scale_f32(&mut self, values: &mut [f32], sigma: f64, scale: f32) {
        const MAX: f64 = f32::MAX as f64;
        let key = self.next_key(values.len());
        let add =
            |value: f32, normal: f64| (f64::from(value) + sigma * normal).clamp(-MAX, MAX) as f32 * scale;
        in_chunks(values, |index, chunk| key.combine(index, chunk, add));
    }

    /// Fills `out` with independent integers of a law, exactly.
    fn integer_normals(&mut self, law: &IntegerNormal, out: &mut [i64]) {
        let key = self.next_key(out.len());
        in_chunks(out, |index, chunk| key.combine_integers(law, index, chunk, |_, noise| noise));
    }

    /// Adds independent integers of a law to 32-bit words, modulo 2³².
    fn add_integer_normals_u32(&mut self, law: &IntegerNormal, words: &mut [u32]) {
        let key = self.next_key(words.len());
        let add = |word: u32, noise: i64| word.wrapping_add(noise as u32);
        in_chunks(words, |index, chunk| key.combine_integers(law, index, chunk, add));
    }

    /// Adds independent integers of a law to 64-bit words, modulo 2⁶⁴.
    fn add_integer_normals_u64(&mut self, law: &IntegerNormal, words: &mut [u64]) {
        let key = self.next_key(words.len());
        let add = |word: u64, noise: i64| word.wrapping_add(noise as u64);
        in_chunks(words, |index, chunk| key.combine_integers(law, index, chunk, add));
    }
}

/// Chunks go to the thread pool only when there are several: a small release should not wake other threads.
fn in_chunks<T: Send>(out: &mut [T], fill: impl Fn(usize, &mut [T]) + Sync) {
    if out.len() <= CHUNK {
        fill(0, out);
    } else {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| fill(index, chunk));
    }
}

mod sealed {
    use super::key::Key;

    /// One fresh ChaCha key per bulk call.
    pub trait Keys {
        /// A key never used before, for a call that fills `samples` samples.
        fn next_key(&mut self, samples: usize) -> Key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_fill_is_the_same_on_one_thread_and_on_three() {
        let fill = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; 5 * CHUNK + 17];
            pool.install(|| danger_from_seed(3, "noise").standard_normals(&mut out));
            out
        };
        assert_eq!(fill(1), fill(3));
    }

    #[test]
    fn successive_calls_and_chunks_never_repeat_noise() {
        let mut noise = danger_from_seed(3, "noise");
        let mut words = vec![0; 3 * CHUNK];
        let mut more = vec![0; 3 * CHUNK];
        noise.words(&mut words);
        noise.words(&mut more);
        words.extend(more);
        words.sort_unstable();
        words.dedup();
        // 49,152 words of 64 bits: a repetition has probability below 1e-10.
        assert_eq!(words.len(), 6 * CHUNK);
    }

    #[test]
    fn adding_normals_adds_the_very_normals_that_a_fill_gives() {
        let mut normals = vec![0.0; 300];
        danger_from_seed(5, "noise").standard_normals(&mut normals);
        let mut doubles = vec![2.0; 300];
        danger_from_seed(5, "noise").add_normals(&mut doubles, 3.0);
        let mut singles = vec![2.0_f32; 300];
        danger_from_seed(5, "noise").add_normals_f32(&mut singles, 3.0);
        let mut scaled = vec![2.0_f32; 300];
        danger_from_seed(5, "noise").add_normals_then_scale_f32(&mut scaled, 3.0, 0.3);
        let mut standard = vec![0.0_f32; 300];
        danger_from_seed(5, "noise").standard_normals_f32(&mut standard);
        for i in 0..300 {
            assert_eq!(doubles[i], 2.0 + 3.0 * normals[i]);
            assert_eq!(singles[i], doubles[i] as f32);
            assert_eq!(standard[i], normals[i] as f32);
            assert_eq!(scaled[i], singles[i] * 0.3);
        }
    }
}

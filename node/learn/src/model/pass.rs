//! One worker's way through a model: forward, back, norms, weighted sum.

use super::chunk::Chunk;

/// The buffers of a model for one chunk of records, and what is done with them: forward, backward, then either squared
/// norms and weighted sum (private), or sum (not private).
///
/// Between [`backward`](Self::backward) and [`weighted_sum`](Self::weighted_sum) a pass holds the unclipped gradients
/// of single examples, in factored form. It is not serialisable and nothing of it leaves the worker but the sum.
pub trait Pass: Send {
    /// Outputs of the model for each row.
    fn forward(&mut self, params: &[f32], chunk: &Chunk) -> &mut [f32];

    /// Back-signals of each example's loss. Needs the outputs of [`forward`](Self::forward) as they were left.
    fn backward(&mut self, params: &[f32], chunk: &Chunk);

    /// The squared norm of each example's gradient; not finite where the gradient is not.
    ///
    /// # Guarantee
    /// Never below the true squared norm for the f32 factors that [`weighted_sum`](Self::weighted_sum) multiplies by more than a relative
    /// 2⁻⁴⁰, and above it by 2⁻¹⁴ at most: clipping may take a little too much, never too little.
    fn squared_norms(&mut self, chunk: &Chunk, norms: &mut [f64]);

    /// Overwrites `out` with Σ `weights[i]`·(gradient of example i). An example of weight 0 contributes nothing, even if
    /// it holds NaN or infinities. Needs [`squared_norms`](Self::squared_norms) first and ends the pass: the back-signals
    /// are used up.
    fn weighted_sum(&mut self, chunk: &mut Chunk, weights: &[f32], out: &mut [f32]);

    /// Overwrites `out` with the plain sum of the gradients. No norms are needed, none are formed.
    fn sum(&mut self, chunk: &mut Chunk, out: &mut [f32]);
}

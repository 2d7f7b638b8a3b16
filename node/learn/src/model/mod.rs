//! Models with all parameters in one flat `f32` vector.
//!
//! A [`Model`] is a shape without parameters: it says how many there are, how they start, and makes a [`Pass`] that
//! computes outputs, losses and gradients chunk by chunk. [`loss`], [`predict`] and [`gradient`] are the plain,
//! non-private uses; private sums are made by [`crate::gradient`].
//!
//! Every loss is a mean over records plus, for ridge regression, a penalty that depends on the parameters only. Private
//! gradients leave the penalty out: it tells nothing about the data and is added after the noise.
//!
//! A model of your own implements [`PerExample`], and [`ByExample`] makes a [`Model`] of it.

mod chunk;
mod cnn;
mod conv;
mod dense;
mod error;
mod evaluate;
mod external;
mod group;
mod head;
mod init;
pub(crate) mod kernel;
mod linear;
mod logistic;
mod mean;
mod mlp;
mod pass;
mod per_example;
mod pool;
mod product;
mod ridge;
mod small;
mod smoothness;
mod softmax;
mod spec;
#[cfg(target_arch = "x86_64")]
mod turn;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use chunk::{Chunk, Examples};
pub use cnn::Cnn;
pub use conv::{ConvLayer, Pool};
pub use dense::Activation;
pub use error::ModelError;
pub use evaluate::{Predictions, check, gradient, loss, losses, predict, weighted_gradient};
pub use external::{ClippedBy, External};
pub use group::GroupPass;
pub use init::TensorShape;
pub use linear::LinearRegression;
pub use logistic::LogisticRegression;
pub use mean::Mean;
pub use mlp::Mlp;
pub use pass::Pass;
pub use per_example::{ByExample, PerExample};
pub use ridge::RidgeRegression;
pub use smoothness::{Smoothness, certified_rho};
pub use softmax::SoftmaxRegression;
pub use spec::ModelSpec;

use crate::data::Task;

/// Rows of one chunk unless a model asks for fewer. Small, so that activations stay in the cache and that rounding
/// errors of a sum stay small (see [`crate::gradient::rounding`]); large enough for fast matrix products.
const CHUNK_ROWS: usize = 64;
/// Rows of one chunk of a large model, for which adding one more vector of its length costs more than the wider rounding bound.
const LARGE_CHUNK_ROWS: usize = 128;
/// Parameters of a large model.
const LARGE: usize = 1 << 15;

/// The shape of a model.
pub trait Model: std::fmt::Debug + Send + Sync {
    /// The name in a config: `mean`, `linear`, `ridge`, `logistic`, `softmax`, `mlp`, `cnn`, `external`.
    fn kind(&self) -> &'static str;

    /// Features per record.
    fn inputs(&self) -> usize;

    /// The targets that the loss needs.
    fn task(&self) -> Task;

    /// The parameters' names and shapes, in the order of the flat vector.
    fn tensors(&self) -> Vec<TensorShape>;

    /// Buffers for chunks of up to `rows` records.
    fn pass(&self, rows: usize) -> Box<dyn Pass>;

    /// Buffers for whole groups of records on up to `threads` threads, where that is faster than chunks.
    fn group_pass(&self, _threads: usize) -> Option<Box<dyn GroupPass>> {
        None
    }

    /// The sum of the losses of a chunk's records, given the outputs of [`Pass::forward`].
    fn chunk_loss(&self, outputs: &[f32], chunk: &Chunk) -> f64;

    /// Turns outputs into predictions in place: values, or probabilities (of label 1, or of every class).
    fn chunk_predict(&self, outputs: &mut [f32]);

    /// Predicted numbers per record.
    fn outputs(&self) -> usize;

    /// Length of the flat vector.
    fn parameter_count(&self) -> usize {
        self.tensors().iter().map(TensorShape::count).sum()
    }

    /// First values, the same on every machine for the same seed.
    fn initial(&self, seed: u64) -> Vec<f32> {
        init::initial(&self.tensors(), seed)
    }

    /// Rows of the chunks that this model works on fastest.
    fn chunk_rows(&self) -> usize {
        if self.parameter_count() < LARGE { CHUNK_ROWS } else { LARGE_CHUNK_ROWS }
    }

    /// λ of a penalty (λ/2)‖θ‖² that is part of the loss.
    fn penalty(&self) -> f64 {
        0.0
    }

    /// What is known of the loss of one record whose features have L2 norm at most `row_norm`. `None`: nothing.
    ///
    /// # Guarantee
    /// For every such record and every target the loss without penalty is convex and its gradient is
    /// [`beta`](Smoothness::beta)-Lipschitz in the parameters.
    fn smoothness(&self, _row_norm: f64) -> Option<Smoothness> {
        None
    }
}

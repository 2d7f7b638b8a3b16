//! A whole group of records at once, for models that divide their parameters among threads and not the records.

use privacy::clip::ClipNorm;

use super::chunk::Examples;

/// The buffers of a model for one group of records. Where a model has one, it takes the place of passes over chunks for batches that are large enough.
///
/// During [`sum`](Self::sum) it holds the unclipped gradients of single examples, in factored form; nothing of it leaves but the sum.
pub trait GroupPass: Send {
    /// Overwrites `out` with the sum of the gradients of up to [`GROUP_ROWS`](crate::gradient::rounding::GROUP_ROWS) records: each clipped to the norm,
    /// or as they are. A clipped one that is not finite contributes nothing.
    ///
    /// # Guarantee
    /// Norms as in [`Pass::squared_norms`](super::Pass::squared_norms), and no number passes through more roundings than with chunks of
    /// [`Model::chunk_rows`](super::Model::chunk_rows).
    fn sum(
        &mut self,
        params: &[f32],
        data: &dyn Examples,
        records: &[u32],
        clip: Option<ClipNorm>,
        out: &mut [f32],
    );
}

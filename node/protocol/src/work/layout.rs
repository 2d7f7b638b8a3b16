//! What travels as one vector: the parameters of one or several models, then single numbers. One clip, one noise and one event cover all of it.

/// Where the parts of the vector lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Parameters of one model.
    pub parameters: usize,
    /// Models, one after another.
    pub slots: usize,
    /// Whether the logarithm of the clip norm stands behind them.
    pub with_clip: bool,
}

impl Layout {
    /// One model and nothing else.
    pub fn plain(parameters: usize) -> Self {
        Self { parameters, slots: 1, with_clip: false }
    }

    /// Numbers of the whole vector.
    pub fn length(&self) -> usize {
        self.parameters * self.slots + usize::from(self.with_clip)
    }

    /// The model in one slot.
    ///
    /// # Panics
    /// Where there is no such slot.
    pub fn part<'a>(&self, vector: &'a [f32], slot: usize) -> &'a [f32] {
        &vector[slot * self.parameters..(slot + 1) * self.parameters]
    }

    /// The logarithm of the clip norm, where it is part of the vector.
    pub fn log_clip(&self, vector: &[f32]) -> Option<f32> {
        self.with_clip.then(|| vector[self.parameters * self.slots])
    }
}

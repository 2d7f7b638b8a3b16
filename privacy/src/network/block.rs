//! Memory for blocks of vectors, laid out for the widest registers.

use std::ops::{Deref, DerefMut};

/// Numbers in a line of the cache, and in a register of the widest machines.
const LINE: usize = 8;

/// Numbers that begin where a line of the cache begins: a register that lies across two lines costs two loads, which is a third of the time of
/// a sparse product.
#[derive(Debug, Default)]
pub(crate) struct Block {
    memory: Vec<f64>,
    start: usize,
    length: usize,
}

impl Block {
    /// So many zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        let memory = vec![0.0; length + LINE - 1];
        // Where the system cannot say, the numbers lie as they lie.
        let start = memory.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE - 1);
        Self { memory, start, length }
    }

    /// At least so many numbers, whatever they are: for tables that are written before they are read.
    pub(crate) fn reserve(&mut self, length: usize) {
        if self.length < length {
            // The old memory goes back before the new is taken.
            *self = Self::default();
            *self = Self::zeros(length);
        }
    }
}

impl Deref for Block {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.memory[self.start..self.start + self.length]
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_begins_with_a_line_and_has_its_length() {
        for length in [0, 1, 7, 8, 1000] {
            let mut block = Block::zeros(length);
            assert_eq!((block.len(), block.as_ptr().addr() % 64), (length, 0));
            block.iter_mut().for_each(|x| *x = 1.0);
            block.reserve(length + 1);
            assert!(block.len() == length + 1 && block.as_ptr().addr().is_multiple_of(64));
        }
    }
}

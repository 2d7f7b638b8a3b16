//! What a trainer says of itself before anything is asked: version, answers, records, tensors.

use std::collections::BTreeSet;

use learn::model::TensorShape;
use serde::{Deserialize, Serialize};

use super::trouble::Trouble;

/// The version of the trainer protocol.
pub const PROTOCOL: u32 = 1;
/// Clipping is sound up to so many parameters.
const MOST_PARAMETERS: u64 = 1 << 28;
/// Tensors, and characters of a name, that are believed.
const MOST_TENSORS: usize = 100_000;
const LONGEST_NAME: usize = 1000;

/// What a trainer can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Parameters after any local training, minus before.
    Update,
    /// One gradient per record.
    Rows,
    /// The norm of each record's gradient.
    Norms,
    /// The sum of the records' gradients, each times a factor.
    Sum,
}

impl Kind {
    /// Its word in a frame.
    pub fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Rows => "rows",
            Self::Norms => "norms",
            Self::Sum => "sum",
        }
    }
}

/// A trainer's first words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// What it can be asked for.
    pub answers: Vec<Kind>,
    /// How many records it holds: they are called 0, 1, 2 and so on.
    pub records: u32,
    /// Its parameters, in the order of the flat vector.
    pub tensors: Vec<Tensor>,
}

/// A tensor of the parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name in the saved model.
    pub name: String,
    /// Sizes, outermost first; none for a single number.
    pub shape: Vec<usize>,
}

impl Hello {
    /// Whether it makes sense.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), Trouble> {
        let wrong = |why: String| Err(Trouble::Hello { why });
        if self.protocol != PROTOCOL {
            return wrong(format!("it speaks version {}, and this program {PROTOCOL}", self.protocol));
        }
        if self.records == 0 {
            return wrong("it has no records".into());
        }
        if self.answers.is_empty() {
            return wrong("it offers no answer (`update`, `rows`, or `norms` and `sum`)".into());
        }
        if self.answers.contains(&Kind::Norms) != self.answers.contains(&Kind::Sum) {
            return wrong("`norms` and `sum` go together".into());
        }
        let mut names = BTreeSet::new();
        for Tensor { name, .. } in &self.tensors {
            if name.is_empty() || name.len() > LONGEST_NAME || name == "__metadata__" {
                return wrong("a tensor has no name, or one that cannot be".into());
            }
            if !names.insert(name) {
                return wrong(format!("two tensors are called `{name}`"));
            }
        }
        match self.count() {
            Some(1..=MOST_PARAMETERS) if self.tensors.len() <= MOST_TENSORS => Ok(()),
            count => {
                let has = count.map_or("too many".into(), |count| count.to_string());
                wrong(format!("it has {has} parameters in {} tensors", self.tensors.len()))
            }
        }
    }

    /// Numbers of all tensors; `None` where that cannot be counted.
    fn count(&self) -> Option<u64> {
        self.tensors.iter().try_fold(0_u64, |sum, tensor| {
            let sizes = tensor.shape.iter().map(|&size| size as u64);
            sum.checked_add(sizes.into_iter().try_fold(1_u64, u64::checked_mul)?)
        })
    }

    /// Length of the flat vector.
    pub fn parameters(&self) -> usize {
        self.count().and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
    }

    /// The tensors as a model has them.
    pub fn shapes(&self) -> Vec<TensorShape> {
        self.tensors.iter().map(|tensor| TensorShape::zeros(&tensor.name, &tensor.shape)).collect()
    }

    /// Whether it can be asked for this.
    ///
    /// # Errors
    /// It cannot.
    pub fn offers(&self, kind: Kind) -> Result<(), Trouble> {
        if self.answers.contains(&kind) {
            return Ok(());
        }
        let offered = self.answers.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        Err(Trouble::NotOffered { needed: kind, offered })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let tensor = |name: &str, shape: &[usize]| Tensor { name: name.into(), shape: shape.to_vec() };
        Hello {
            protocol: 1,
            answers: vec![Kind::Rows, Kind::Update],
            records: 9,
            tensors: vec![tensor("w", &[2, 3]), tensor("b", &[])],
        }
    }

    #[test]
    fn a_hello_that_makes_no_sense_is_refused() {
        assert_eq!((hello().check(), hello().parameters()), (Ok(()), 7));
        assert!(hello().offers(Kind::Rows).is_ok() && hello().offers(Kind::Norms).is_err());
        let wrong: [fn(&mut Hello); 8] = [
            |hello| hello.protocol = 2,
            |hello| hello.records = 0,
            |hello| hello.answers.clear(),
            |hello| hello.answers.push(Kind::Sum),
            |hello| hello.tensors.clear(),
            |hello| hello.tensors[1].name = "w".into(),
            |hello| hello.tensors[0].shape = vec![usize::MAX, usize::MAX],
            |hello| hello.tensors[0].shape = vec![1 << 29],
        ];
        for (which, change) in wrong.iter().enumerate() {
            let mut changed = hello();
            change(&mut changed);
            assert!(changed.check().is_err(), "{which}");
        }
    }
}

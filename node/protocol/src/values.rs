//! What a message may carry: numbers that were released, or that came from the wire.

use std::fmt;
use std::sync::{Arc, OnceLock};

use learn::gradient::Shareable;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A vector that may be sent: a release, or a function of releases and public values. Cloning shares the numbers.
///
/// # Guarantee
/// Made only from a [`Shareable`], from what a peer sent, from the public first model, or by this crate from such vectors.
#[derive(Clone, PartialEq)]
pub struct Values(Arc<Vector>);

/// Behind one pointer: a message is copied several times on its way, its numbers never.
struct Vector {
    numbers: Box<[f32]>,
    /// Σx², found once, though every receiver asks for it; not at all where nobody does. Not finite exactly if a number is not: squares of
    /// singles do not overflow a double.
    square: OnceLock<f64>,
    /// Found once too.
    digest: OnceLock<Digest>,
}

impl PartialEq for Vector {
    fn eq(&self, other: &Self) -> bool {
        self.numbers == other.numbers
    }
}

impl Values {
    /// What a release gave.
    pub fn released(shareable: Shareable) -> Self {
        Self::new(shareable.into_values())
    }

    /// What a peer sent: it was released by others.
    pub fn from_wire(values: Vec<f32>) -> Self {
        Self::new(values)
    }

    /// A function of released and public values, made by this crate.
    pub(crate) fn derived(values: Vec<f32>) -> Self {
        Self::new(values)
    }

    /// The numbers themselves, if nobody else holds them.
    pub(crate) fn into_unshared(self) -> Option<Vec<f32>> {
        Arc::into_inner(self.0).map(|vector| vector.numbers.into_vec())
    }

    fn new(numbers: Vec<f32>) -> Self {
        let (square, digest) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(Vector { numbers: numbers.into_boxed_slice(), square, digest }))
    }

    /// Σx², in double precision.
    pub(crate) fn squared_norm(&self) -> f64 {
        *self.0.square.get_or_init(|| squared_norm(&self.0.numbers))
    }

    /// The digest of the numbers.
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| Digest::of(&self.0.numbers))
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0.numbers
    }

    /// How many numbers.
    pub fn len(&self) -> usize {
        self.0.numbers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.numbers.is_empty()
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.squared_norm().is_finite()
    }
}

/// Numbers are never printed: logs must not carry models.
impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values({} numbers)", self.len())
    }
}

/// In lanes of their own, so that it vectorises and the order of the sum is fixed.
fn squared_norm(values: &[f32]) -> f64 {
    const LANES: usize = 16;
    let (blocks, rest) = values.as_chunks::<LANES>();
    let square = |value: f32| f64::from(value) * f64::from(value);
    let sums = privacy::vectorised(
        #[inline(always)]
        || {
            let mut lanes = [0.0_f64; LANES];
            for block in blocks {
                lanes.iter_mut().zip(block).for_each(|(lane, &value)| *lane += square(value));
            }
            lanes
        },
    );
    sums.iter().sum::<f64>() + rest.iter().map(|&value| square(value)).sum::<f64>()
}

/// The first sixteen bytes of SHA-256 of a model's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// The digest of little-endian parameters.
    pub fn of(params: &[f32]) -> Self {
        let mut hash = Sha256::new();
        let mut block = [0_u8; 1024];
        for chunk in params.chunks(256) {
            for (to, value) in block.chunks_exact_mut(4).zip(chunk) {
                to.copy_from_slice(&value.to_le_bytes());
            }
            hash.update(&block[..4 * chunk.len()]);
        }
        Self::first(hash)
    }

    /// The digest of a text.
    pub fn of_text(text: &str) -> Self {
        Self::first(Sha256::new().chain_update(text.as_bytes()))
    }

    fn first(hash: Sha256) -> Self {
        let all: [u8; 32] = hash.finalize().into();
        let mut first = [0; 16];
        first.copy_from_slice(&all[..16]);
        Self(first)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// As hexadecimal digits for people, as sixteen bytes for machines.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 16]>::deserialize(deserializer).map(Self);
        }
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let bad = || serde::de::Error::custom(format!("`{text}` is not a digest of 32 hexadecimal digits"));
        if text.len() != 32 || !text.is_ascii() {
            return Err(bad());
        }
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_finite_is_seen_wherever_it_stands() {
        for length in [1, 15, 16, 17, 40] {
            let with = |at: usize, bad: f32| {
                let mut values = vec![f32::MAX; length];
                values[at] = bad;
                Values::from_wire(values).is_finite()
            };
            assert!(with(0, f32::MIN));
            let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
            assert!((0..length).all(|at| bad.iter().all(|&bad| !with(at, bad))), "{length}");
        }
        assert_eq!(Values::from_wire(vec![3.0; 20]).squared_norm(), 180.0);
    }

    #[test]
    fn the_digest_is_that_of_the_little_endian_bytes() {
        // python3 -c "import hashlib,struct; print(hashlib.sha256(struct.pack('<2f', 1.0, -2.5)).hexdigest()[:32])"
        assert_eq!(Digest::of(&[1.0, -2.5]).to_string(), "48943f7a0ea247f8e3c9386d0c5822fe");
        let long: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        assert_ne!(Digest::of(&long), Digest::of(&long[..999]));
    }

    #[test]
    fn a_digest_survives_json_and_nonsense_is_refused() {
        let digest = Digest::of_text("murmur");
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        for bad in ["\"\"", "\"zz\"", "\"éééééééééééééééé\""] {
            assert!(serde_json::from_str::<Digest>(bad).is_err(), "{bad}");
        }
    }
}

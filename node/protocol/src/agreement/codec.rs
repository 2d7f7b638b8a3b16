//! Canonical bytes: one value has one form, and what is read is written as it was.
//!
//! Numbers are little-endian, lists have their length in front. Invariant: reading allocates no more than the
//! bytes that are there can stand for, whatever lengths they state, and leaves nothing over.

use std::sync::Arc;

/// Why bytes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// They end too early, or a list states more than follows.
    #[error("the bytes end in the middle")]
    Short,
    /// Something follows the end.
    #[error("{0} bytes follow the end")]
    Long(usize),
    /// A kind that does not exist, or an order that is not canonical.
    #[error("byte {0} stands for nothing here")]
    Unknown(u8),
    /// A proof inside a proof inside a proof.
    #[error("proofs contain each other too deeply")]
    Nested,
}

/// What has canonical bytes.
pub(crate) trait Wire: Sized {
    /// The fewest bytes that one can have: bounds lists before they are made.
    const LEAST: usize;

    fn write(&self, out: &mut Vec<u8>);

    /// # Errors
    /// Bytes that stand for nothing.
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError>;

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// # Errors
    /// Bytes that stand for nothing, or for something and more.
    fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        let mut reader = Reader { bytes, is_nested: false };
        let value = Self::read(&mut reader)?;
        if reader.bytes.is_empty() { Ok(value) } else { Err(CodecError::Long(reader.bytes.len())) }
    }
}

/// Bytes that are left.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    is_nested: bool,
}

impl Reader<'_> {
    /// Reads something that may contain its own kind: once, not without end.
    pub(crate) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        if std::mem::replace(&mut self.is_nested, true) {
            return Err(CodecError::Nested);
        }
        let value = read(self)?;
        self.is_nested = false;
        Ok(value)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (first, rest) = self.bytes.split_first_chunk::<N>().ok_or(CodecError::Short)?;
        self.bytes = rest;
        Ok(*first)
    }

    /// A stated number of items, each of at least so many bytes.
    fn length(&mut self, least: usize) -> Result<usize, CodecError> {
        let stated = u32::read(self)? as usize;
        if stated > self.bytes.len() / least.max(1) { Err(CodecError::Short) } else { Ok(stated) }
    }
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Wire for $kind {
            const LEAST: usize = size_of::<Self>();
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
                from.take().map(Self::from_le_bytes)
            }
        }
    )*};
}
numbers!(u8, u32, u64);

impl<const N: usize> Wire for [u8; N] {
    const LEAST: usize = N;
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.take()
    }
}

impl Wire for bool {
    const LEAST: usize = 1;
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(CodecError::Unknown(other)),
        }
    }
}

impl<T: Wire> Wire for Option<T> {
    const LEAST: usize = 1;
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Wire> Wire for Vec<T> {
    const LEAST: usize = 4;
    fn write(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).expect("lists are as long as a swarm at most").write(out);
        self.iter().for_each(|item| item.write(out));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let length = from.length(T::LEAST)?;
        (0..length).map(|_| T::read(from)).collect()
    }
}

impl<T: Wire> Wire for Arc<T> {
    const LEAST: usize = T::LEAST;
    fn write(&self, out: &mut Vec<u8>) {
        T::write(self, out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        T::read(from).map(Self::new)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    const LEAST: usize = A::LEAST + B::LEAST;
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

/// The bytes of a struct are those of its fields, in this order.
macro_rules! wire {
    ($name:ident { $($field:ident : $kind:ty),* $(,)? }) => {
        impl $crate::agreement::codec::Wire for $name {
            const LEAST: usize = 0 $(+ <$kind as $crate::agreement::codec::Wire>::LEAST)*;
            fn write(&self, out: &mut Vec<u8>) {
                $($crate::agreement::codec::Wire::write(&self.$field, out);)*
            }
            fn read(
                from: &mut $crate::agreement::codec::Reader<'_>,
            ) -> Result<Self, $crate::agreement::codec::CodecError> {
                Ok(Self { $($field: $crate::agreement::codec::Wire::read(from)?),* })
            }
        }
    };
}

/// One byte per variant.
macro_rules! wire_choice {
    ($name:ident { $($number:literal = $variant:ident),* $(,)? }) => {
        impl $crate::agreement::codec::Wire for $name {
            const LEAST: usize = 1;
            fn write(&self, out: &mut Vec<u8>) {
                out.push(match self { $(Self::$variant => $number),* });
            }
            fn read(
                from: &mut $crate::agreement::codec::Reader<'_>,
            ) -> Result<Self, $crate::agreement::codec::CodecError> {
                match u8::read(from)? {
                    $($number => Ok(Self::$variant),)*
                    other => Err($crate::agreement::codec::CodecError::Unknown(other)),
                }
            }
        }
    };
}

/// A byte for the variant, then its one value.
macro_rules! wire_enum {
    ($name:ident { $($number:literal = $variant:ident($kind:ty)),* $(,)? }) => {
        impl $crate::agreement::codec::Wire for $name {
            const LEAST: usize = 1;
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant(value) => {
                        out.push($number);
                        $crate::agreement::codec::Wire::write(value, out);
                    })*
                }
            }
            fn read(
                from: &mut $crate::agreement::codec::Reader<'_>,
            ) -> Result<Self, $crate::agreement::codec::CodecError> {
                match <u8 as $crate::agreement::codec::Wire>::read(from)? {
                    $($number => <$kind as $crate::agreement::codec::Wire>::read(from).map(Self::$variant),)*
                    other => Err($crate::agreement::codec::CodecError::Unknown(other)),
                }
            }
        }
    };
}

pub(super) use {wire, wire_choice, wire_enum};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_states_more_than_follows_is_refused_before_it_is_made() {
        let mut bytes = u32::MAX.to_le_bytes().to_vec();
        bytes.extend([7; 12]);
        assert_eq!(Vec::<u64>::from_bytes(&bytes), Err(CodecError::Short));
        assert_eq!(Vec::<u32>::from_bytes(&[2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]), Ok(vec![1, 2]));
        assert_eq!(Vec::<u8>::from_bytes(&[1, 0, 0, 0, 5, 6]), Err(CodecError::Long(1)));
    }

    #[test]
    fn what_is_not_canonical_is_refused() {
        assert_eq!(bool::from_bytes(&[2]), Err(CodecError::Unknown(2)));
        assert_eq!(Option::<u8>::from_bytes(&[2, 0]), Err(CodecError::Unknown(2)));
        assert_eq!(Option::<u8>::from_bytes(&[1, 9]), Ok(Some(9)));
    }
}

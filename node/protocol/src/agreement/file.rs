//! The file of a decision: everything that is needed to check it, but who the members should be.

use super::codec::{CodecError, Wire};
use super::decision::{Certificate, CertificateError, Decision};
use super::keys::{BadKey, Ed25519};
use super::{Charter, CharterError, Fingerprint, Terms};

/// How the file begins.
const MAGIC: &[u8] = b"murmur decision 1\n";

/// A decision that proves itself to whoever knows the members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionFile {
    /// What the members agreed on before the first decision.
    pub terms: Terms,
    /// What they decided, with their signatures.
    pub certificate: Certificate,
}

/// Why a file of a decision proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionFileError {
    /// Something else.
    #[error("this is no file of a decision")]
    Magic,
    /// Damaged.
    #[error("the file of the decision is damaged")]
    Bytes(#[from] CodecError),
    /// Terms that no swarm can have.
    #[error("the terms of the run cannot be kept")]
    Terms(#[from] CharterError),
    /// A member's key is none.
    #[error(transparent)]
    Key(#[from] BadKey),
    /// Signatures are missing, or it is about another model.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

impl DecisionFile {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        self.terms.write(&mut out);
        self.certificate.write(&mut out);
        out
    }

    /// From bytes; nothing is checked but their form.
    ///
    /// # Errors
    /// Bytes that are no such file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecisionFileError> {
        let bytes = bytes.strip_prefix(MAGIC).ok_or(DecisionFileError::Magic)?;
        let (terms, certificate) = <(Terms, Certificate)>::from_bytes(bytes)?;
        Ok(Self { terms, certificate })
    }

    /// The decision, if a quorum of the members signed it and it is about this model.
    ///
    /// # Guarantee
    /// With at most f hostile ones among the members that the terms name, their run decided on this model.
    /// # Assumes
    /// The terms name the members that the reader means: compare them, nothing else can.
    ///
    /// # Errors
    /// Why it proves nothing.
    pub fn verify(&self, params: &[f32]) -> Result<&Decision, DecisionFileError> {
        let charter = Charter::new(self.terms.clone(), 1, 1)?;
        let keys = Ed25519::of_roster(&self.terms.roster)?;
        Ok(self.certificate.verify_model(Fingerprint::of_model(params), (&charter, &keys))?)
    }
}

//! What snow computes with: ring for ciphers and hashes, the curve that the rest of the program uses for keys.

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, RingResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroize;

/// As [`RingResolver`], which has no curve.
pub(super) struct Resolver;

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        RingResolver.resolve_rng()
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| Box::new(Curve::of([0; 32])) as Box<dyn Dh>)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        RingResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

/// A pair of keys; wiped when it goes.
struct Curve {
    secret: StaticSecret,
    public: PublicKey,
}

impl Curve {
    fn of(mut bytes: [u8; 32]) -> Self {
        let secret = StaticSecret::from(bytes);
        bytes.zeroize();
        Self { public: PublicKey::from(&secret), secret }
    }
}

impl Dh for Curve {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        32
    }

    fn priv_len(&self) -> usize {
        32
    }

    fn set(&mut self, secret: &[u8]) {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(secret);
        *self = Self::of(bytes);
        bytes.zeroize();
    }

    fn generate(&mut self, random: &mut dyn Random) -> Result<(), snow::Error> {
        let mut bytes = [0; 32];
        random.try_fill_bytes(&mut bytes)?;
        *self = Self::of(bytes);
        bytes.zeroize();
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn privkey(&self) -> &[u8] {
        self.secret.as_bytes()
    }

    fn dh(&self, theirs: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        let theirs = theirs.first_chunk::<32>().ok_or(snow::Error::Dh)?;
        let shared = self.secret.diffie_hellman(&PublicKey::from(*theirs));
        // A key that gives everybody the same secret is none.
        let shared = Some(shared).filter(x25519_dalek::SharedSecret::was_contributory);
        out[..32].copy_from_slice(shared.ok_or(snow::Error::Dh)?.as_bytes());
        Ok(())
    }
}

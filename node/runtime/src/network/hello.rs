//! The first words on a stream: both sides prove that they know the secret, then say who they are.
//!
//! The peer's identity is known already, from the channel or QUIC's TLS; what is proved here is that it belongs to the swarm. On TCP the channel has the
//! secret in its keys; QUIC has not, and the same hello on every transport leaves no way in that was forgotten.

use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::PeerId;

use super::difference::differences;
use crate::schema::Schema;
use crate::secret::{Secret, random};
use crate::wire::{Card, Frame, Greeting, Limits, Refusal, WireError, read_frame, write_frame};

/// How long all of it may take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// How long the other side may take to read why there will be no conversation.
const PARTING: Duration = Duration::from_secs(2);

/// Numbers never travel before the end of the hello.
const MEMBER: Limits = Limits { header: crate::wire::MAX_HEADER, numbers: 0 };

/// What a node says about itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub(crate) me: PeerId,
    pub(crate) secret: Secret,
    pub(crate) card: Card,
    /// The configuration, shown where the digests differ.
    pub(crate) config: String,
    /// The form of our records, shown where the digests differ.
    pub(crate) schema: Arc<Schema>,
    /// A relay knows no run and no data: it says what it hears.
    pub(crate) is_relay: bool,
}

/// Why there will be no conversation.
#[derive(Debug, thiserror::Error)]
pub enum HelloError {
    /// The connection failed, or what came is no hello.
    #[error("no hello")]
    Wire(#[from] WireError),
    /// It took too long.
    #[error("no hello within {} s", DEADLINE.as_secs())]
    Slow,
    /// The peer does not know the secret.
    #[error("the peer does not know the secret of this swarm")]
    Stranger,
    /// The peer said something else than it should.
    #[error("the peer does not follow the hello")]
    Disorder,
    /// Another run.
    #[error("the peer takes part in run `{theirs}`, not in `{ours}`")]
    OtherRun {
        /// Our run.
        ours: String,
        /// The peer's.
        theirs: String,
    },
    /// Another configuration.
    #[error("the peer's configuration differs: {}", differences.join("; "))]
    Config {
        /// Keys, with our value and theirs.
        differences: Vec<String>,
    },
    /// The same run, and not the same renewals of it: one of the two has to take the other's file.
    #[error("the peer has not accepted this renewal of the swarm file: {}", differences.join("; "))]
    Renewal {
        /// Number and digest, ours and theirs.
        differences: Vec<String>,
    },
    /// Records of another form: the same numbers would mean different things.
    #[error("the peer's data have another form: {} ({advice})", differences.join("; "))]
    Schema {
        /// What differs, ours and theirs.
        differences: Vec<String>,
        /// What to do about it.
        advice: String,
    },
    /// The peer refused.
    #[error("refused by the peer: {reason}")]
    Refused {
        /// Kind of refusal.
        refusal: Refusal,
        /// In the peer's words.
        reason: String,
    },
    /// No randomness for a challenge.
    #[error("the system gives no random bytes")]
    Random(#[from] rand::rngs::SysError),
}

/// Greets on a fresh stream and hears who the other is.
///
/// # Guarantee
/// A card is returned only if the other side computed a MAC under the secret over both identities and both challenges, of which ours is fresh.
pub(crate) async fn hello(
    io: &mut (impl AsyncRead + AsyncWrite + Unpin),
    us: &Introduction,
    them: PeerId,
) -> Result<Card, HelloError> {
    let exchange = async {
        prove(io, us, them).await?;
        exchange_cards(io, us).await
    };
    let met = tokio::time::timeout(DEADLINE, exchange).await.map_err(|_| HelloError::Slow)?;
    use HelloError::{Config, OtherRun, Renewal};
    if let Err(OtherRun { .. } | Config { .. } | Renewal { .. } | HelloError::Schema { .. }) = &met {
        part(io).await;
    }
    met
}

/// Waits until the other side has read what it needs to know the difference too: who hangs up first would leave it with a lost connection and no reason.
async fn part(io: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let until_they_close = async {
        io.close().await?;
        let mut rest = [0; 64];
        while io.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    // They may have gone already, or never close: both are no matter.
    let _ = tokio::time::timeout(PARTING, until_they_close).await;
}

/// The second half, between two who know the secret.
pub(crate) async fn exchange_cards(
    io: &mut (impl AsyncRead + AsyncWrite + Unpin),
    us: &Introduction,
) -> Result<Card, HelloError> {
    if us.is_relay {
        let Frame::Card(card) = receive(io, MEMBER).await? else { return Err(HelloError::Disorder) };
        let (run, config, schema) = (card.run.clone(), card.config, card.schema);
        write_frame(io, &Frame::Card(Card { run, config, schema, ..us.card.clone() })).await?;
        return Ok(card);
    }
    write_frame(io, &Frame::Card(us.card.clone())).await?;
    let Frame::Card(card) = receive(io, MEMBER).await? else { return Err(HelloError::Disorder) };
    compare(io, us, &card).await?;
    Ok(card)
}

/// The first half, with anybody.
pub(crate) async fn prove(
    io: &mut (impl AsyncRead + AsyncWrite + Unpin),
    us: &Introduction,
    them: PeerId,
) -> Result<(), HelloError> {
    let ours = Greeting { challenge: random()? };
    write_frame(io, &Frame::Greeting(ours)).await?;
    let Frame::Greeting(theirs) = receive(io, Limits::STRANGER).await? else {
        return Err(HelloError::Disorder);
    };
    let (me, peer) = (us.me.to_bytes(), them.to_bytes());
    let said: [&[u8]; 5] = [b"murmur hello 1", &me, &peer, &ours.challenge, &theirs.challenge];
    let heard: [&[u8]; 5] = [b"murmur hello 1", &peer, &me, &theirs.challenge, &ours.challenge];
    write_frame(io, &Frame::Proof(us.secret.mac(&said))).await?;
    let Frame::Proof(proof) = receive(io, Limits::STRANGER).await? else { return Err(HelloError::Disorder) };
    if us.secret.verifies(&heard, &proof) { Ok(()) } else { Err(HelloError::Stranger) }
}

/// Both sides see the same two cards, so both know whether to go on.
async fn compare(
    io: &mut (impl AsyncRead + AsyncWrite + Unpin),
    us: &Introduction,
    card: &Card,
) -> Result<(), HelloError> {
    if card.run != us.card.run {
        return Err(HelloError::OtherRun { ours: us.card.run.clone(), theirs: card.run.clone() });
    }
    if card.config != us.card.config {
        write_frame(io, &Frame::Config(us.config.clone())).await?;
        let Frame::Config(theirs) = receive(io, MEMBER).await? else { return Err(HelloError::Disorder) };
        let mut differences = differences(&us.config, &theirs);
        if !differences.is_empty() && differences.iter().all(|line| line.starts_with("derived.")) {
            differences.push("let all nodes take `--shard`, or all bring `--data`".into());
        }
        if !differences.is_empty() && differences.iter().all(|line| line.starts_with("renewal.")) {
            return Err(HelloError::Renewal { differences });
        }
        return Err(HelloError::Config { differences });
    }
    if card.schema != us.card.schema {
        write_frame(io, &Frame::Schema(us.schema.as_ref().clone())).await?;
        let Frame::Schema(theirs) = receive(io, MEMBER).await? else { return Err(HelloError::Disorder) };
        let differences = us.schema.differences(&theirs);
        if !differences.is_empty() {
            return Err(HelloError::Schema { differences, advice: us.schema.advice(&theirs) });
        }
    }
    Ok(())
}

async fn receive(io: &mut (impl AsyncRead + Unpin), limits: Limits) -> Result<Frame, HelloError> {
    match read_frame(io, limits).await? {
        Frame::Refuse(refusal, reason) => Err(HelloError::Refused { refusal, reason }),
        frame => Ok(frame),
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join;
    use tokio::io::duplex;
    use tokio_util::compat::TokioAsyncReadCompatExt;

    use super::*;
    use crate::wire::Standing;

    fn introduction(secret: &Secret, config: &str) -> Introduction {
        let me = PeerId::random();
        let config_digest = protocol::Digest::of_text(config).0;
        let card = Card {
            run: "digits".into(),
            config: config_digest,
            schema: Schema::default().digest().0,
            instance: 1,
            standing: Standing::Gathering,
            addresses: vec![],
            name: String::new(),
        };
        let schema = Arc::new(Schema::default());
        Introduction { me, secret: secret.clone(), card, config: config.into(), schema, is_relay: false }
    }

    async fn meet(
        a: &Introduction,
        b: &Introduction,
    ) -> (Result<Card, HelloError>, Result<Card, HelloError>) {
        let (left, right) = duplex(1 << 16);
        let (mut left, mut right) = (left.compat(), right.compat());
        join(hello(&mut left, a, b.me), hello(&mut right, b, a.me)).await
    }

    #[tokio::test]
    async fn members_learn_who_the_other_is() {
        let secret = Secret::generate().unwrap();
        let (a, b) = (introduction(&secret, "rounds = 1"), introduction(&secret, "rounds = 1"));
        let (of_b, of_a) = meet(&a, &b).await;
        assert_eq!((of_a.unwrap(), of_b.unwrap()), (a.card, b.card));
    }

    #[tokio::test]
    async fn without_the_secret_nobody_learns_anything() {
        let (ours, theirs) = (Secret::generate().unwrap(), Secret::generate().unwrap());
        let (a, b) = (introduction(&ours, "rounds = 1"), introduction(&theirs, "rounds = 1"));
        let (of_b, of_a) = meet(&a, &b).await;
        assert!(matches!(of_b, Err(HelloError::Stranger)), "{of_b:?}");
        assert!(matches!(of_a, Err(HelloError::Stranger)), "{of_a:?}");
    }

    #[tokio::test]
    async fn a_proof_cannot_be_reflected() {
        // A peer without the secret that says back whatever it hears.
        let a = introduction(&Secret::generate().unwrap(), "rounds = 1");
        let (left, right) = duplex(1 << 16);
        let (mut left, right) = (left.compat(), right.compat());
        let (reader, mut writer) = futures::AsyncReadExt::split(right);
        let echo = futures::io::copy(reader, &mut writer);
        let heard = tokio::select! {
            heard = hello(&mut left, &a, PeerId::random()) => heard,
            _ = echo => unreachable!("the stream stays open"),
        };
        assert!(matches!(heard, Err(HelloError::Stranger)), "{heard:?}");
    }

    #[tokio::test]
    async fn a_different_configuration_is_refused_by_name() {
        let secret = Secret::generate().unwrap();
        let a = introduction(&secret, "rounds = 1\n[privacy]\nepsilon = 4.0");
        let b = introduction(&secret, "rounds = 1\n[privacy]\nepsilon = 8.0");
        let (of_b, of_a) = meet(&a, &b).await;
        assert!(matches!(of_a, Err(HelloError::Config { .. })), "{of_a:?}");
        let text = of_b.unwrap_err().to_string();
        assert!(text.contains("privacy.epsilon: ours 4.0, theirs 8.0"), "{text}");
        assert!(!text.contains("rounds"), "{text}");
    }

    #[tokio::test]
    async fn data_of_another_form_are_refused_on_both_sides_and_missing_names_are_not() {
        let secret = Secret::generate().unwrap();
        let with = |classes: Option<&[&str]>| {
            let mut us = introduction(&secret, "rounds = 1");
            let names = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
            let class_names = classes.map(|words| crate::schema::Names::new(&names(words)));
            us.schema = Arc::new(Schema { features: 2, class_names, ..Schema::default() });
            us.card.schema = us.schema.digest().0;
            us
        };
        let (ours, theirs) = (with(Some(&["no", "yes"])), with(Some(&["yes", "zz"])));
        let (of_b, of_a) = meet(&ours, &theirs).await;
        let text = of_b.unwrap_err().to_string();
        assert!(text.contains("classes that only we have: `no`"), "{text}");
        assert!(text.contains("classes=no+yes+zz"), "{text}");
        assert!(matches!(of_a, Err(HelloError::Schema { .. })), "{of_a:?}");
        let (of_b, of_a) = meet(&ours, &with(None)).await;
        assert!(of_b.is_ok() && of_a.is_ok(), "{of_b:?} {of_a:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_not_waited_for() {
        let a = introduction(&Secret::generate().unwrap(), "rounds = 1");
        let (left, _right) = duplex(1 << 16);
        let heard = hello(&mut left.compat(), &a, PeerId::random()).await;
        assert!(matches!(heard, Err(HelloError::Slow)), "{heard:?}");
    }
}

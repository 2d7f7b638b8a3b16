//! A listener on everything that is traced, ours and libp2p's, at every level: the secret, keys and numbers of a model are never in it.
//!
//! The command line's test `secrets` looks for the same, and for data, in all that whole processes print.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libp2p::Multiaddr;
use protocol::gossip::Say;
use protocol::{Digest, Message, Numbers, RunId, Values};
use runtime::Secret;
use runtime::identity::Identity;
use runtime::network::{Event, Network, Patience, Settings};
use runtime::wire::{Frame, Limits, Standing};
use tracing::field::{Field, Visit};
use tracing::{Subscriber, span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

const CONFIG: &str = "rounds = 3\n";

/// Numbers of a model that occur nowhere else.
const PLANTED: [f32; 2] = [0.12345678, -77654.25];

/// What was heard, and what of it should not have been said.
#[derive(Default)]
struct Heard {
    events: usize,
    leaks: Vec<String>,
}

#[derive(Clone)]
struct Listener {
    hidden: Arc<Vec<String>>,
    heard: Arc<Mutex<Heard>>,
}

impl Listener {
    fn new(keys: &[&str]) -> Self {
        let mut hidden = Vec::new();
        for key in keys {
            let byte = |at: usize| u8::from_str_radix(&key[at..at + 2], 16).expect("hexadecimal digits");
            let bytes: Vec<u8> = (0..key.len()).step_by(2).map(byte).collect();
            // The first bytes of an identity only say of what kind the key is; a part of the rest is as bad as all.
            let part = &bytes[bytes.len().min(36) - 32..][..16];
            let digits: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
            hidden.extend([digits.to_uppercase(), digits, in_words(part)]);
        }
        for number in PLANTED {
            hidden.extend([number.to_string(), format!("{number:e}"), in_words(&number.to_le_bytes())]);
        }
        Self { hidden: Arc::new(hidden), heard: Arc::default() }
    }

    fn hear(&self, text: String) {
        let mut heard = self.heard.lock().expect("nobody panics while holding it");
        heard.events += 1;
        if self.hidden.iter().any(|word| text.contains(word.as_str())) {
            heard.leaks.push(text);
        }
    }
}

/// As `{:?}` prints bytes, without the brackets.
fn in_words(bytes: &[u8]) -> String {
    format!("{bytes:?}").trim_matches(['[', ']']).to_owned()
}

struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").expect("a text takes all");
    }
}

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        self.hear(words.0);
    }

    fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        let mut words = Words(String::new());
        attributes.record(&mut words);
        self.hear(words.0);
    }

    fn on_record(&self, _: &span::Id, values: &span::Record<'_>, _: Context<'_, S>) {
        let mut words = Words(String::new());
        values.record(&mut words);
        self.hear(words.0);
    }
}

fn settings(identity: Identity, secret: &Secret, peers: &[Multiaddr]) -> Settings {
    Settings {
        identity,
        secret: secret.clone(),
        name: String::new(),
        run: "digits".into(),
        nodes: 2,
        digest: Digest::of_text(CONFIG),
        config: CONFIG.into(),
        schema: runtime::schema::Schema::default().into(),
        limits: Limits::for_model(PLANTED.len()),
        patience: Patience::default(),
        listen: vec!["/ip4/127.0.0.1/tcp/0".parse().expect("a constant")],
        peers: peers.to_vec(),
        roster: Vec::new(),
        gone: Default::default(),
        mdns: false,
        relays: Vec::new(),
        is_relay: false,
        announce: Vec::new(),
    }
}

/// The first event of a kind. The limit is for tests that would otherwise hang when they fail.
async fn until<T>(network: &mut Network, pick: impl Fn(Event) -> Option<T>) -> T {
    let search = async {
        loop {
            let event = network.events.recv().await.expect("the network runs");
            if let Some(found) = pick(event) {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), search).await.expect("it happens within a minute")
}

fn identity() -> (Identity, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let identity = Identity::load_or_create(folder.path()).expect("an identity");
    let key = std::fs::read_to_string(folder.path().join("identity.key")).expect("a key");
    (identity, key.trim().to_owned())
}

#[tokio::test]
async fn nothing_that_is_traced_shows_the_secret_a_key_or_a_model() {
    let secret = Secret::generate().expect("randomness");
    let ((one, one_key), (other, other_key)) = (identity(), identity());
    let listener = Listener::new(&[&secret.to_hex(), &one_key, &other_key]);
    let heard = listener.heard.clone();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(listener))
        .expect("the only one");

    let mut first = Network::start(settings(one, &secret, &[]), Standing::Gathering).expect("it starts");
    let address = until(&mut first, |event| match event {
        Event::Listening(address) => Some(address),
        _ => None,
    })
    .await;
    let peers = std::slice::from_ref(&address);
    let mut second = Network::start(settings(other, &secret, peers), Standing::Gathering).expect("it starts");
    let link = until(&mut first, |event| match event {
        Event::Linked { link, .. } => Some(link),
        _ => None,
    })
    .await;
    let numbers = Some(Numbers::Reals(Values::from_wire(PLANTED.to_vec())));
    let message = Message { run: RunId(7), round: 0, step: 0, body: Say::State.into(), numbers };
    // What a careless line would print.
    tracing::debug!(?message, ?secret, "sent");
    link.send(Frame::Message(message.clone())).expect("there is room");
    let frame = until(&mut second, |event| match event {
        Event::Frame { frame, .. } => Some(frame),
        _ => None,
    })
    .await;
    assert_eq!(frame, Frame::Message(message));
    first.close().await;
    second.close().await;

    let heard = heard.lock().expect("nobody panics while holding it");
    assert!(heard.events > 50, "only {} events", heard.events);
    assert!(heard.leaks.is_empty(), "{:#?}", heard.leaks);
}

#[test]
fn the_listener_hears_what_it_should_not() {
    let secret = Secret::generate().expect("randomness").to_hex();
    let listener = Listener::new(&[&secret]);
    let heard = listener.heard.clone();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(listener), || {
        tracing::trace!(%secret, "a secret");
        tracing::info!("values {PLANTED:?}");
        let _span = tracing::debug_span!("step", model = ?PLANTED).entered();
        tracing::error!("round 3, loss 0.69");
    });
    assert_eq!(heard.lock().expect("nobody panics while holding it").leaks.len(), 3);
}

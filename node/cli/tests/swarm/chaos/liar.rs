//! A hostile member: a real node with its own key, whose messages are changed on their way out. Each is a process of this test program.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use protocol::agreement::Credentials;
use protocol::config::{Config, HostileKind};
use protocol::{Message, PeerIx, Settings, Setup};
use runtime::driver::{Driver, Mouth, Options};
use runtime::network::Patience;
use runtime::swarm_file::SwarmFile;
use serde_json::{Value, json};
use sim::Attack;

/// Says to the process what to be.
const ORDERS: &str = "MURMUR_LIAR";

/// How long a slow member takes for each vector.
const SLOWNESS: Duration = Duration::from_millis(300);

/// One kind of misbehaviour after the other, each for so many microseconds.
pub(super) struct Part {
    pub(super) kinds: Vec<HostileKind>,
    pub(super) each: u64,
}

/// A running hostile member; it ends with the test.
pub(super) struct Liar(Child);

impl Liar {
    /// Node `node` of the swarm in a folder, behind a prefix, listening and calling as told.
    pub(super) fn start(
        (folder, node): (&Path, usize),
        prefix: &[String],
        (listen, peers): (&str, &[String]),
        part: &Part,
    ) -> Self {
        let program = std::env::current_exe().expect("a test has a program");
        let errors = folder.join(format!("{node}.stderr"));
        let errors = std::fs::File::options().create(true).append(true).open(errors).expect("a file");
        let kinds: Vec<String> = part.kinds.iter().map(HostileKind::to_string).collect();
        let orders = json!({
            "folder": folder, "node": node, "listen": listen, "peers": peers, "kinds": kinds, "each": part.each,
        });
        let child = Command::new(&prefix[0])
            .args(&prefix[1..])
            .arg(program)
            .args(["chaos::liar::a_hostile_member", "--exact", "--ignored", "--nocapture"])
            .env(ORDERS, orders.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn();
        Self(child.expect("the program starts"))
    }

    pub(super) fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        // Already gone where it ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What it does now, and since when it is here.
struct Hostile {
    start: Instant,
    acts: Vec<(u64, HostileKind, Option<Attack>)>,
}

impl Mouth for Hostile {
    fn say(&mut self, to: PeerIx, message: Message, send: &mut dyn FnMut(PeerIx, Message)) {
        let now = self.start.elapsed().as_micros() as u64;
        match self.acts.iter_mut().rev().find(|(from, ..)| now >= *from) {
            Some((_, _, Some(attack))) => attack.corrupt(to, message, send),
            Some((_, HostileKind::Slow, _)) if message.numbers.is_some() => {
                std::thread::sleep(SLOWNESS);
                send(to, message);
            }
            _ => send(to, message),
        }
    }
}

fn mouth(orders: &Value, settings: &Settings, me: PeerIx, credentials: &Credentials) -> Box<dyn Mouth> {
    let kinds = orders["kinds"].as_array().expect("a list").iter();
    let each = orders["each"].as_u64().expect("a number");
    let act = |(at, kind): (usize, &Value)| {
        let kind: HostileKind = kind.as_str().expect("a word").parse().expect("a kind");
        let from = at as u64 * each;
        (from, kind, Attack::of_member(credentials.clone(), settings, me, (kind, from)))
    };
    Box::new(Hostile { start: Instant::now(), acts: kinds.enumerate().map(act).collect() })
}

fn options(orders: &Value) -> Options {
    let folder = Path::new(orders["folder"].as_str().expect("a folder"));
    let node = orders["node"].as_u64().expect("a number") as usize;
    let swarm = SwarmFile::load(&folder.join("swarm.toml")).expect("a swarm file");
    let config = Config::from_toml(&swarm.config, "swarm.toml").expect("a configuration");
    let address = |value: &Value| value.as_str().expect("an address").parse().expect("an address");
    Options {
        respondent: None,
        stays: false,
        setup: Setup::new(config).expect("a run").of_node(node),
        swarm,
        state: folder.join(node.to_string()),
        listen: vec![address(&orders["listen"])],
        peers: orders["peers"].as_array().expect("a list").iter().map(address).collect(),
        mdns: false,
        relays: Vec::new(),
        patience: Patience::default(),
        danger: None,
        counts: None,
        declared: protocol::log::Declared::default(),
    }
}

/// Only where `chaos` has started this program as a hostile member.
#[test]
#[ignore = "a part of the test of chaos"]
fn a_hostile_member() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Value = serde_json::from_str(&orders).expect("JSON");
    let (gone, parent) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // Nothing is ever said: the end of the pipe is the end of the test.
        let _ = std::io::stdin().read(&mut [0]);
        drop(gone);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("threads");
    let outcome = runtime.block_on(async move {
        let driver = Driver::start(options(&orders)).expect("it starts");
        let speaks = move |settings: &Settings, me, credentials: Credentials| {
            mouth(&orders, settings, me, &credentials)
        };
        let driver = driver.danger_speaking(Box::new(speaks));
        driver.run(async { drop(parent.await) }).await
    });
    eprintln!("{outcome:?}");
}

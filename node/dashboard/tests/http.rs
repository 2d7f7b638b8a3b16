//! The page over real sockets: what is served to whom, and that nobody is waited for.
#![allow(clippy::unwrap_used, reason = "a helper of a test that cannot go on fails the test")]

mod synthetic;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dashboard::{Dashboard, Facts, Only, Outline, Place};
use protocol::account::Account;
use protocol::{LogLine, Setup};
use serde_json::Value;
use synthetic::{Swarm, append, setup};

const NODES: u32 = 4;
/// Far beyond what anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Served {
    dashboard: Option<Dashboard>,
    address: String,
    folder: tempfile::TempDir,
    swarm: Swarm,
    setup: Setup,
}

impl Served {
    fn new(token: Option<&str>) -> Self {
        let setup = setup(&["nodes=4", "rounds=100000", "privacy.noise_multiplier=2", "name=test-run"]);
        let folder = tempfile::tempdir().unwrap();
        let place = Place::take("127.0.0.1:0", token.map(str::to_owned)).unwrap();
        let address = place.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let outline = Outline::of(&setup.config, Only::Everybody);
        let facts = Facts::of(&setup);
        let logs = (0..NODES).map(|node| folder.path().join(node.to_string())).collect();
        let dashboard = Dashboard::start(place, outline, logs, move || Ok(facts)).unwrap();
        Self { dashboard: Some(dashboard), address, folder, swarm: Swarm::new(NODES), setup }
    }

    fn log(&self, node: u32) -> PathBuf {
        self.folder.path().join(node.to_string())
    }

    /// The nodes log some rounds.
    fn advance(&mut self, rounds: u32) -> Vec<LogLine> {
        let lines = self.swarm.rounds(rounds);
        for node in 0..NODES {
            let own: Vec<LogLine> = lines.iter().filter(|line| line.node == Some(node)).cloned().collect();
            append(&self.log(node), &own);
        }
        lines
    }

    fn request(&self, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    /// Status, head and body of an answer.
    fn ask(&self, head: &str) -> (u16, String, String) {
        let mut text = String::new();
        self.request(&format!("{head}\r\nConnection: close")).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), head.to_lowercase(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address))
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.get("/api/status").2).unwrap()
    }

    /// Asks until the status is so.
    fn until(&self, says: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let status = self.status();
            if says(&status) {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "{status}");
        }
    }
}

#[test]
fn a_thousand_silent_connections_keep_nobody_out() {
    let served = Served::new(None);
    let silent: Vec<TcpStream> = (0..1000).map(|_| TcpStream::connect(&served.address).unwrap()).collect();
    let begun = Instant::now();
    for _ in 0..20 {
        assert_eq!(served.get("/healthz").0, 200);
    }
    println!("twenty answers beside {} silent connections in {:?}", silent.len(), begun.elapsed());
}

#[test]
fn wrong_tokens_are_heard_slowly_and_the_right_one_still_opens() {
    let served = Served::new(Some("right"));
    let with = |token: &str| {
        let head = format!("GET /api/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}");
        served.ask(&head).0
    };
    assert_eq!((0..5).map(|_| with("wrong")).collect::<Vec<_>>(), [401; 5]);
    let codes: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..40).map(|_| scope.spawn(|| with("wrong"))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let heard = codes.iter().filter(|&&code| code == 401).count();
    assert!(codes.iter().all(|code| [401, 429].contains(code)) && heard < 40, "{codes:?}");
    assert_eq!(with("right"), 200);
    assert_eq!(served.get("/healthz").0, 200);
}

#[test]
fn everything_is_served_and_nothing_can_be_changed() {
    let mut served = Served::new(None);
    // A round is priced when the first line of the next one closes it.
    served.advance(2);
    served.until(|status| status["round"] == 2);
    served.advance(1);
    served.until(|status| status["round"] == 3 && status["epsilon"]["worst"].is_number());
    let (code, head, page) = served.get("/");
    assert!(code == 200 && page.contains("<canvas"), "{head}");
    assert!(head.contains("default-src 'none'") && head.contains("nosniff"), "{head}");
    assert!(!head.contains("access-control-allow"), "{head}");
    // Nothing of another site, and no script but the page's own.
    assert!(!page.contains("http://") && !page.contains("https://"));
    for path in ["/app.js", "/style.css", "/icon.svg"] {
        assert_eq!(served.get(path).0, 200, "{path}");
    }
    assert_eq!(served.get("/healthz").2, "running\n");
    let run: Value = serde_json::from_str(&served.get("/api/run").2).unwrap();
    assert_eq!(run["nodes"].as_array().unwrap().len(), NODES as usize);
    assert!(run["nodes"][2]["epsilon"].as_f64().unwrap() > 0.0);
    let (_, head, metrics) = served.get("/metrics");
    assert!(head.contains("text/plain; version=0.0.4") && metrics.contains("murmur_round 3\n"), "{metrics}");
    let open = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nAccept: application/openmetrics-text; version=1.0.0",
        served.address
    );
    let (_, head, metrics) = served.ask(&open);
    assert!(
        head.contains("application/openmetrics-text; version=1.0.0") && metrics.ends_with("# EOF\n"),
        "{head}"
    );
    assert_eq!(served.get("/nothing").0, 404);
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let (code, head, _) =
            served.ask(&format!("{method} /api/status HTTP/1.1\r\nHost: {}", served.address));
        assert!(code == 405 && head.contains("allow: get, head"), "{method}: {head}");
    }
    let (code, _, body) = served.ask(&format!("HEAD /api/status HTTP/1.1\r\nHost: {}", served.address));
    assert!(code == 200 && body.is_empty());
}

/// A dashboard or an alert about a series that is not there stays silent for ever.
#[test]
fn every_series_of_the_dashboard_and_the_alerts_is_in_a_scrape() {
    let mut served = Served::new(None);
    served.advance(2);
    served.until(|status| status["round"] == 2);
    served.advance(1);
    served.until(|status| status["epsilon"]["worst"].is_number());
    let scrape = served.get("/metrics").2;
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut named = 0;
    for file in ["grafana.json", "alerts.yaml"] {
        let text = std::fs::read_to_string(docs.join(file)).unwrap();
        for word in text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
            if word.starts_with("murmur_") {
                named += 1;
                // Those that appear only where there is something to say are described all the same.
                let described = scrape.contains(&format!("# TYPE {word} "));
                let conditional = [
                    "murmur_private",
                    "murmur_test_accuracy",
                    "murmur_training_loss",
                    "murmur_epsilon_budget",
                ];
                assert!(described || conditional.contains(&word), "{file}: no series `{word}`\n{scrape}");
            }
        }
    }
    assert!(named > 20, "{named}");
}

#[test]
fn a_page_of_another_site_cannot_read_this_one() {
    let served = Served::new(None);
    for head in
        ["GET /api/run HTTP/1.1\r\nHost: evil.example", "GET /api/run HTTP/1.1\r\nHost: evil.example:80"]
    {
        assert_eq!(served.ask(head).0, 403, "{head}");
    }
    let foreign =
        format!("GET /api/events HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: cross-site", served.address);
    assert_eq!(served.ask(&foreign).0, 403);
    assert_eq!(served.ask("GET /api/run HTTP/1.1\r\nHost: localhost:1").0, 200);
}

#[test]
fn with_a_token_data_are_for_those_who_bring_it() {
    let served = Served::new(Some("s3cret"));
    for path in ["/", "/api/run", "/api/status", "/api/events", "/metrics", "/?token=wrong"] {
        let (code, head, _) = served.get(path);
        assert!(code == 401 && head.contains("www-authenticate: bearer"), "{path}: {head}");
    }
    assert!(served.get("/").2.contains("name=\"token\""));
    assert_eq!(served.get("/healthz").0, 200);
    assert_eq!(served.get("/?token=s3cret").0, 200);
    let with = |token: &str| {
        let head = "GET /api/status HTTP/1.1\r\nHost: elsewhere.example\r\nAuthorization: Bearer";
        served.ask(&format!("{head} {token}")).0
    };
    assert_eq!((with("s3cret"), with("s3cre"), with("s3cret2")), (200, 401, 401));
}

/// Reads server-sent events: their names and data.
fn events(stream: TcpStream) -> impl Iterator<Item = (String, Value)> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    std::iter::from_fn(move || {
        let mut name = String::new();
        loop {
            let line = lines.next()?;
            if let Some(found) = line.strip_prefix("event: ") {
                name = found.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
        }
    })
}

#[test]
fn a_stream_begins_with_the_whole_picture_goes_on_with_news_and_ends_with_the_run() {
    let mut served = Served::new(None);
    served.advance(2);
    served.until(|status| status["round"] == 2);
    let mut events = events(served.request(&format!("GET /api/events HTTP/1.1\r\nHost: {}", served.address)));
    let (name, run) = events.next().unwrap();
    assert_eq!((name.as_str(), &run["status"]["round"]), ("run", &2.into()));
    served.advance(3);
    let board = served.dashboard.as_ref().unwrap().board();
    board.ended(1, false);
    let (mut round, mut dead, mut flows) = (0, false, 0);
    while round < 5 || !dead || flows == 0 {
        let (name, tick) = events.next().unwrap();
        assert_eq!(name, "tick");
        round = tick["status"]["round"].as_u64().unwrap();
        dead |= tick["nodes"].as_array().unwrap().iter().any(|row| row[0] == 1 && row[1] == "dead");
        flows += tick["flows"].as_array().unwrap().len();
    }
    let mut dashboard = served.dashboard.take().unwrap();
    dashboard.finish("done");
    let last = events.last().unwrap().1;
    assert_eq!((&last["status"]["phase"], &last["status"]["reason"]), (&"finished".into(), &"done".into()));
    assert_eq!(served.status()["phase"], "finished");
    dashboard.close();
    assert!(TcpStream::connect(&served.address).is_err());
}

#[test]
fn visitors_who_do_not_read_hold_nobody_up_and_too_many_are_turned_away() {
    let mut served = Served::new(None);
    let head = format!("GET /api/events HTTP/1.1\r\nHost: {}", served.address);
    let lazy: Vec<TcpStream> = (0..32).map(|_| served.request(&head)).collect();
    let mut refused = served.ask(&head.replace("/api/events", "/api/status")).0;
    assert_eq!(refused, 200);
    // Seats are taken when a request is read, so the last ones may still be on their way.
    let begun = Instant::now();
    while refused != 503 {
        let mut answer = [0; 12];
        served.request(&head).read_exact(&mut answer).unwrap();
        refused = std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap();
        assert!(begun.elapsed() < PATIENCE);
    }
    for _ in 0..20 {
        served.advance(50);
    }
    served.until(|status| status["round"] == 1000);
    drop(lazy);
}

#[test]
fn the_last_figures_are_those_of_the_account_of_the_log() {
    let mut served = Served::new(None);
    let lines = served.advance(40);
    served.until(|status| status["round"] == 40);
    served.dashboard.as_mut().unwrap().finish("done");
    let mut account = Account::new(served.setup.shape()).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    let summary = account.summary();
    let status = served.status();
    for (name, figure) in [("worst", &summary.worst), ("mean", &summary.mean), ("local", &summary.local)] {
        let shown = status["epsilon"][name].as_f64().unwrap();
        assert!(shown >= figure.epsilon * (1.0 - 1e-12), "{name}: {shown} for {}", figure.epsilon);
        assert!(shown <= figure.epsilon * 1.02, "{name}: {shown} for {}", figure.epsilon);
    }
    assert_eq!(status["epsilon"]["analysis"], "rounds");
}

//! What is fuzzed: one function per target, each of which takes any bytes and panics if a promise is broken.
//!
//! The programs in `fuzz_targets` call these under libFuzzer; the test `fuzz_corpus` of the command line calls them with every file of `corpus`, so the cases
//! that were found once are tried by every `./test`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "here a panic is the finding")]

use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use learn::data::{ArrayOptions, Categorical, CsvOptions, Missing, TargetKind, read_arrays, read_csv};
use protocol::account::{Account, Shape};
use protocol::agreement::{self, Agreement, Credentials, Standing};
use protocol::config::Config;
use protocol::log::Log;
use protocol::{Setup, Time};
use runtime::swarm_file::{SwarmFile, SwarmFileError};
use runtime::wire::{self, Frame, Limits};

/// A target by its name, which is also that of its corpus.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 14] = [
    ("frame", frame),
    ("hello", hello),
    ("swarm_file", swarm_file),
    ("config", config),
    ("csv", csv),
    ("idx", idx),
    ("npy", npy),
    ("edges", edges),
    ("log", log),
    ("question", question),
    ("agreement", agreement),
    ("gathering", gathering),
    ("ledger", ledger),
    ("http", http),
];

/// A ledger whose file was changed: five bytes are a place and what stands there now. It is refused with a reason, or has records that were written, in order.
pub fn ledger(bytes: &[u8]) {
    let (whole, records) = a_ledger();
    let mut damaged = whole.clone();
    for edit in bytes.chunks_exact(5) {
        let place = u32::from_le_bytes([edit[0], edit[1], edit[2], edit[3]]) as usize % damaged.len();
        damaged[place] = edit[4];
    }
    for file in [damaged, bytes.to_vec()] {
        match runtime::ledger::examine(file) {
            // Without its count an older state of the whole file cannot be told.
            Ok(contents) => assert!(records.starts_with(&contents.records)),
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}

/// The file of a small ledger, and its records.
fn a_ledger() -> &'static (Vec<u8>, Vec<protocol::Record>) {
    static LEDGER: OnceLock<(Vec<u8>, Vec<protocol::Record>)> = OnceLock::new();
    LEDGER.get_or_init(|| {
        // Under the fuzzer a panic ends the process at once, even one that is caught; here it is an answer.
        let _ = std::panic::take_hook();
        let folder = tempfile::tempdir().expect("a folder");
        let owner = runtime::ledger::Owner { identity: "me".into(), run: "run".into() };
        let (ledger, _) = runtime::ledger::Ledger::open(folder.path(), &owner).expect("a ledger");
        let release = privacy::event::DpEvent::Gaussian { noise_multiplier: 1.5 };
        let record = |id| protocol::Record { id, round: id as u32, release: release.clone(), among: None };
        (0..30).for_each(|id| ledger.record(&record(id), None).expect("room for it"));
        drop(ledger);
        let bytes = std::fs::read(folder.path().join(runtime::ledger::FILE)).expect("a file");
        (bytes, (0..30).map(record).collect())
    })
}

/// Whatever a visitor of the page sends: an answer of HTTP or none, and nothing of the run without the token.
pub fn http(bytes: &[u8]) {
    let answer = dashboard::heard(bytes, "a-token-that-no-case-has");
    let text = String::from_utf8_lossy(&answer);
    assert!(text.is_empty() || text.starts_with("HTTP/1."), "{text}");
    assert!(!text.contains("a-secret-run"), "{text}");
}

/// Frames of members and of strangers: whatever can be read is written as it was.
pub fn frame(bytes: &[u8]) {
    for limits in [Limits::STRANGER, Limits::for_model(64)] {
        let Some(frame) = read_frame(bytes, limits) else { continue };
        let written = wire::to_bytes(&frame).expect("a frame that was read can be written");
        let again = read_frame(&written, limits).expect("a frame that was written can be read");
        // By bytes, for which NaN equals itself.
        assert_eq!(wire::to_bytes(&again).expect("it was written before"), written);
        assert!(!format!("{again:?}").is_empty());
    }
}

/// The frame at the beginning of `bytes`, if there is one.
pub fn read_frame(mut bytes: &[u8], limits: Limits) -> Option<Frame> {
    let reading = pin!(wire::read_frame(&mut bytes, limits));
    match reading.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(frame) => frame.ok(),
        Poll::Pending => unreachable!("all bytes are there"),
    }
}

/// Whatever one member of four says in an assembly, in whatever order: it decides nothing alone, and makes nobody talk without end.
pub fn agreement(bytes: &[u8]) {
    let Some((&begun, mut rest)) = bytes.split_first() else { return };
    let credentials = member();
    let mut machine = Agreement::new(credentials.charter.clone(), credentials.keys.clone(), 0);
    let mut now = Time(0);
    if begun % 2 == 1 {
        let model = credentials.charter.genesis().model;
        let (rounds, tokens, proofs) = (Vec::new(), Vec::new(), Vec::new());
        let standing = Standing {
            key: [1; 32],
            model,
            before: None,
            next_round: 1,
            rounds,
            tokens,
            proofs,
            leaving: false,
            look: None,
        };
        machine.handle(now, agreement::Input::Call(Box::new(standing)));
    }
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(after.len());
        let (letter, after) = after.split_at(length);
        rest = after;
        if let Ok(message) = agreement::Message::from_bytes(letter) {
            assert_eq!(message.to_bytes(), letter, "one form in bytes");
            machine.handle(now, agreement::Input::Received { from: 3, message });
        }
        now = now.after(300_000);
        machine.handle(now, agreement::Input::Tick);
        let outputs = std::iter::from_fn(|| machine.poll_output()).count();
        assert!(outputs < 64, "{outputs} outputs");
        assert_eq!(machine.decision().epoch, 0, "one member decided");
    }
}

/// Whatever peers say and sign before the start: a node begins with nobody who has not signed, and where members are pinned with them alone.
pub fn gathering(bytes: &[u8]) {
    assert!(!runtime::gathering::hearing::begins_wrongly(bytes), "a roster that was not agreed on");
}

/// The first of four members, of whom one may be hostile.
fn member() -> &'static Credentials {
    static MEMBER: OnceLock<Credentials> = OnceLock::new();
    MEMBER.get_or_init(|| {
        let seeds: Vec<[u8; 32]> = (1..=4).map(|member| [member; 32]).collect();
        let terms = agreement::Terms {
            name: "fuzz".into(),
            config: agreement::Fingerprint::default(),
            roster: seeds.iter().map(agreement::Ed25519::public).collect(),
            hostile: 1,
            rounds: 9,
            model: agreement::Fingerprint::default(),
            seats: vec![[0; 32]; 4],
            continued: None,
        };
        Credentials::new(terms, &seeds[0], (1_000_000, 250_000)).expect("four members")
    })
}

/// Everything that a peer can say in a hello: no bytes prove anything, and no card is trusted to be well-formed.
pub fn hello(bytes: &[u8]) {
    assert!(!runtime::network::hearing::hears_a_proof(bytes), "a proof without the secret");
    if let Err(error) = runtime::network::hearing::hears_a_card(bytes) {
        assert!(!error.to_string().is_empty());
    }
}

/// Swarm files and the rosters in them. A digest that does not fit is put right, or nothing behind it would be tried.
pub fn swarm_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parse = |text: &str| SwarmFile::parse(text, Path::new("fuzz"));
    let parsed = match parse(text) {
        Err(SwarmFileError::Edited { found, stated, .. }) => {
            parse(&text.replace(&stated.to_string(), &found.to_string()))
        }
        parsed => parsed,
    };
    match parsed {
        Ok(file) => assert!(file.nodes >= 2),
        Err(error) => {
            assert!(!error.to_string().is_empty() && topology::Hint::hint(&error) != Some(String::new()))
        }
    }
}

/// Configurations: what can be read is shown in a form that reads the same.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Config::from_toml(text, "fuzz") {
        Ok(config) => {
            let shown = config.to_toml();
            let again = Config::from_toml(&shown, "shown");
            let again = again.unwrap_or_else(|error| panic!("{error}, shown as\n{shown}"));
            assert_eq!(again.to_toml(), shown);
            assert_eq!(again.digest(), config.digest());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// CSV files; the first byte says which columns have a job.
pub fn csv(bytes: &[u8]) {
    let Some((&jobs, content)) = bytes.split_first() else { return };
    let job = |bit: u8, column: &str| (jobs & (1 << bit) != 0).then(|| column.to_owned());
    let options = CsvOptions {
        label: job(0, "y"),
        target: match jobs >> 6 {
            0 => TargetKind::Discover,
            1 => TargetKind::Classes(3),
            2 => TargetKind::Above(0.5),
            _ => TargetKind::Real,
        },
        categorical: job(1, "word").iter().map(|column| Categorical::discovered(column)).collect(),
        drop: job(2, "z").into_iter().collect(),
        id: job(3, "id"),
        split: job(4, "split"),
        missing: if jobs & (1 << 5) == 0 { Missing::default() } else { Missing::fill(0.0) },
        ..CsvOptions::default()
    };
    in_file(content, |path| {
        let _ = read_csv(path, &options);
    });
}

/// IDX files.
pub fn idx(bytes: &[u8]) {
    arrays(bytes);
}

/// NPY files and NPZ archives.
pub fn npy(bytes: &[u8]) {
    arrays(bytes);
}

/// Arrays as features alone, with a column of labels, and as their own labels.
fn arrays(bytes: &[u8]) {
    in_file(bytes, |path| {
        let alone = ArrayOptions::default();
        let column = ArrayOptions { label_column: Some(0), fill: Some(0.0), ..alone.clone() };
        let labels =
            ArrayOptions { labels: Some(path.to_owned()), target: TargetKind::Real, ..alone.clone() };
        for options in [alone, column, labels] {
            let _ = read_arrays(path, &options);
        }
    });
}

/// Lists of edges: a graph that was read is written as a list of the same graph.
pub fn edges(bytes: &[u8]) {
    // A first line may state four thousand million nodes, and the reader keeps room for each: a user's own wish, but not for a fuzzer.
    if first_number(bytes).is_some_and(|nodes| nodes > 1 << 16) {
        return;
    }
    let Ok((graph, _)) = topology::files::parse_edges(bytes, "fuzz") else { return };
    let mut written = Vec::new();
    topology::files::write_edges(&graph, &mut written).expect("memory takes all bytes");
    if graph.edges() > 0 && graph.labels().is_none() {
        let (again, _) = topology::files::parse_edges(written.as_slice(), "written").expect("our own list");
        assert_eq!(
            (again.nodes(), again.iter_edges().collect::<Vec<_>>()),
            (graph.nodes(), graph.iter_edges().collect::<Vec<_>>())
        );
    }
}

fn first_number(bytes: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(bytes);
    let of_line = |line: &str| line.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    text.lines().filter_map(of_line).max()
}

/// Run logs: lines that can be read are folded into the accounts of all algorithms, whether or not they could come from such a run.
pub fn log(bytes: &[u8]) {
    let lines = Log::of_bytes(bytes).lines;
    for shape in shapes() {
        let mut account = Account::new(shape.clone()).expect("a run's shape");
        lines.iter().for_each(|line| account.push(line));
        let _ = account.interim();
        account.settle_final();
        let summary = account.summary();
        assert!(summary.worst.epsilon >= 0.0 && summary.local.epsilon >= summary.mean.epsilon, "{summary:?}");
        let _ = account.pairs();
        let _ = account.coalition(&[1, 2]);
    }
    let _ = report::Source::of_bytes(bytes);
}

fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let shape = |kind: &str| {
            let text = format!(
                "nodes = 4\nrounds = 3\ntopology = \"ring\"\nalgorithm.kind = \"{kind}\"\nprivacy.noise_multiplier = 1"
            );
            let config = Config::from_toml(&text, "fuzz").expect("a small run");
            Setup::new(config).expect("its data are built in").shape()
        };
        ["rounds", "gossip", "walk"].map(shape).into()
    })
}

/// Readers open their file twice, so it must be one.
fn in_file(bytes: &[u8], read: impl FnOnce(&Path)) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    read(file.path());
}

/// Questions in the small SQL: whatever is accepted can be planned or is refused with a hint, and is answered whatever records hold.
pub fn question(bytes: &[u8]) {
    use questions::columns::{Column, Columns};
    use questions::noise::Trust;
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut columns = Columns::default();
    for declared in [
        "age:bounds=0..110,integer",
        "x:bounds=-1..1",
        "sick:values=0+1",
        "region:values=north+south",
        "code:text=2",
    ] {
        columns.declare(declared.parse::<Column>().expect("a declaration")).expect("a column");
    }
    // Declarations are read from the same bytes.
    if let Err(refusal) = text.parse::<Column>() {
        assert!(topology::Hint::hint(&refusal).is_some());
    }
    for trust in [Trust::Masked, Trust::Gossip, Trust::Local] {
        question_to(text, &columns, trust);
    }
}

fn question_to(text: &str, columns: &questions::columns::Columns, trust: questions::noise::Trust) {
    use questions::columns::Row;
    use questions::noise::{Terms, Unit};
    let unit = Unit::Record;
    let terms = Terms { epsilon: 1.0, delta: 1e-5, contributors: 4, honest: 3, trust, unit };
    let planned = questions::language::parse(text, columns)
        .and_then(|question| questions::plan::plan(question, terms, 10));
    let plan = match planned {
        Ok(plan) => plan,
        Err(refusal) => {
            assert!(!refusal.to_string().is_empty() && topology::Hint::hint(&refusal).is_some());
            return;
        }
    };
    assert!(u128::from(plan.summary().coordinates) <= questions::plan::MOST_COORDINATES);
    // Exact noise for many numbers takes a second: large questions end with their plan.
    if plan.summary().coordinates > 2_000 {
        return;
    }
    let _ = questions::plan::expectations(&plan);
    let rows: Vec<Row> =
        [["30", "0.5", "1", "north", "a1"], ["", "NaN", "2", "", "\u{1}"], ["1e300", "-9", "0", "west", ""]]
            .map(|cells| {
                let cells: Vec<&str> = cells.to_vec();
                let names = ["age", "x", "sick", "region", "code"];
                columns
                    .read(|name| names.iter().position(|known| *known == name).map(|at| cells[at].as_bytes()))
            })
            .to_vec();
    let nodes: Vec<Vec<&Row>> = rows.iter().map(|row| vec![row]).collect();
    let mut noise = |node: usize| -> Box<dyn privacy::noise::NoiseSource> {
        Box::new(privacy::noise::danger_from_seed(1, &format!("noise/{node}")))
    };
    questions::simulate::simulate(&plan, &nodes, &mut noise, true).expect("what was planned is answered");
}

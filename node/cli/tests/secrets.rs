//! What must not be told: keys, the swarm's secret and data, in anything that a node prints or logs, at the most talkative level.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const NODES: usize = 3;

/// Two numbers and an owner that occur nowhere else.
const PLANTED: [&str; 3] = ["0.123454321", "-77654.25", "patient-4711"];

/// How a program could print the planted numbers: as single precision, in short, in exponents, as their bits.
fn spellings() -> Vec<String> {
    let mut all: Vec<String> = PLANTED.map(str::to_owned).into();
    for number in [0.123454321_f64, -77654.25] {
        let single = number as f32;
        all.extend([
            format!("{single}"),
            format!("{number}"),
            format!("{single:e}"),
            format!("{:08x}", single.to_bits()),
        ]);
        all.extend([format!("{}", single.to_bits()), bytes_in_words(&single.to_le_bytes())]);
    }
    all
}

/// As `{:?}` prints bytes.
fn bytes_in_words(bytes: &[u8]) -> String {
    let text = format!("{bytes:?}");
    text.trim_matches(['[', ']']).to_owned()
}

/// Rows that anybody may have, and one that nobody else has.
fn write_data(path: &Path, node: usize) {
    let mut text = String::from("a,b,owner,y\n");
    for row in 0..30 {
        text += &format!("{},{},patient-{},{}\n", row % 7, (row * 3 + node) % 5, row % 4, row % 2);
    }
    text += &format!("{},{},{},1\n", PLANTED[0], PLANTED[1], PLANTED[2]);
    std::fs::write(path, text).expect("room for a file");
}

fn start(folder: &Path, index: usize, peers: &[String]) -> Child {
    write_data(&folder.join(format!("{index}.csv")), index);
    let out = |name: &str| std::fs::File::create(folder.join(format!("{index}.{name}"))).expect("a file");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command
        .args(["node", "--swarm"])
        .arg(folder.join("swarm.toml"))
        .arg("--state")
        .arg(folder.join(index.to_string()));
    let data = folder.join(format!("{index}.csv"));
    command.env("MURMUR_LEDGER", folder.join("ledger"));
    command.arg("--data").arg(format!("{}:label=y,above=0,id=owner", data.display()));
    command.args(["--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns", "--child", "--log", "json"]);
    peers.iter().for_each(|peer| {
        command.args(["--peer", peer]);
    });
    command.env("MURMUR_LOG", "trace").env("RUST_LOG", "trace");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(out("err"))
        .spawn()
        .expect("the program starts")
}

#[test]
fn nothing_that_a_node_prints_or_logs_shows_keys_the_secret_or_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut init = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    init.args(["swarm", "init", "--name", "quiet", "--nodes", &NODES.to_string(), "--out"])
        .arg(folder.path().join("swarm.toml"));
    // The shared configuration names a file that only says which columns there are.
    write_data(&folder.path().join("all.csv"), 0);
    let data = format!("data=\"{}:label=y,above=0,id=owner\"", folder.path().join("all.csv").display());
    for setting in [
        "rounds=3",
        "batch_size=8",
        "privacy.noise_multiplier=1",
        "model.kind=\"logistic\"",
        "partition.kind=\"natural\"",
        "partition.min_size=8",
        "nodes=3",
        data.as_str(),
    ] {
        init.args(["--set", setting]);
    }
    init.assert().success();
    let mut said = Vec::new();
    let mut nodes = Vec::new();
    let mut addresses: Vec<String> = Vec::new();
    for index in 0..NODES {
        let mut node = start(folder.path(), index, &addresses);
        let mut lines =
            BufReader::new(node.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let listens = lines.by_ref().inspect(|line| said.push(line.clone())).find_map(|line| {
            let status: serde_json::Value = serde_json::from_str(&line).ok()?;
            Some(status["addresses"][0].as_str()?.to_owned())
        });
        let errors = || std::fs::read_to_string(folder.path().join(format!("{index}.err")));
        addresses
            .push(listens.unwrap_or_else(|| panic!("node {index} ended: {}", errors().unwrap_or_default())));
        nodes.push((node, lines));
    }
    for (mut node, lines) in nodes {
        said.extend(lines);
        let ended = node.wait().expect("it ends");
        assert!(ended.success(), "{ended}");
    }
    check(folder.path(), &said.join("\n"));
}

/// Looks for everything in everything.
fn check(folder: &Path, said: &str) {
    let mut hidden = spellings();
    let file = runtime::swarm_file::SwarmFile::load(&folder.join("swarm.toml")).expect("a swarm file");
    let mut keys = vec![file.secret.to_hex()];
    let mut told = vec![("stdout".to_owned(), said.to_owned())];
    for index in 0..NODES {
        let state = folder.join(index.to_string());
        keys.push(std::fs::read_to_string(state.join("identity.key")).expect("a key").trim().to_owned());
        let errors = std::fs::read(folder.join(format!("{index}.err"))).expect("messages");
        assert!(errors.len() > 10_000, "the most talkative level says little: {} bytes", errors.len());
        told.push((format!("stderr of {index}"), String::from_utf8_lossy(&errors).into_owned()));
        told.push((
            format!("log of {index}"),
            std::fs::read_to_string(state.join("log.jsonl")).expect("a log"),
        ));
    }
    for key in keys {
        let bytes: Vec<u8> = (0..key.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&key[at..at + 2], 16).expect("a key"))
            .collect();
        // A part is as bad as the whole; the beginning of an identity's file only says of what kind the key is.
        let secret = &bytes[bytes.len().min(36).saturating_sub(32)..][..16];
        let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        hidden.extend([digits.to_uppercase(), digits, bytes_in_words(secret)]);
        hidden.push(secret.escape_ascii().to_string());
    }
    for (place, text) in &told {
        for word in &hidden {
            assert!(!text.contains(word.as_str()), "{place} shows `{word}`");
        }
    }
}

/// The check above can fail.
#[test]
fn a_planted_value_is_found() {
    let found = |text: &str| spellings().iter().any(|word| text.contains(word.as_str()));
    assert!(found("loaded row [0.12345432, 1.0]") && found("of patient-4711") && found("x = -77654.25"));
    assert!(!found("round 3 of 5, loss 0.6931"));
    let mut buffer = Vec::new();
    write!(buffer, "{:?}", (0.123454321_f64 as f32).to_le_bytes()).expect("memory takes all bytes");
    assert!(found(&String::from_utf8(buffer).expect("text")));
}

//! Questions to a running swarm of real processes: the answer, refusals, members that die, and what is charged.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

const NODES: usize = 5;
/// Records of each member.
const RECORDS: usize = 200;

/// A member whose status lines are read one by one: tests wait for what happens, never for time.
struct Member {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Member {
    fn start(folder: &Path, index: usize, rules: &[&str]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
        command
            .arg("node")
            .arg("--swarm")
            .arg(folder.join("swarm.toml"))
            .arg("--state")
            .arg(state(folder, index));
        command.arg("--data").arg(folder.join(format!("{index}.csv")));
        rules.iter().for_each(|rule| {
            command.args(["--set", rule]);
        });
        let mut process = command
            .args(["--listen", "/ip4/127.0.0.1/tcp/0", "--no-mdns", "--child", "--log", "json"])
            .env("MURMUR_LEDGER", folder.join("ledger"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(std::fs::File::create(folder.join(format!("{index}.err"))).unwrap()))
            .spawn()
            .expect("the program starts");
        let stdin = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut member = Self { process, stdin, lines, address: String::new() };
        member.address = member.until(|status| status["addresses"][0].as_str().map(str::to_owned));
        member
    }

    /// Reads status lines until one says it.
    fn until<T>(&mut self, says: impl Fn(&Value) -> Option<T>) -> T {
        loop {
            let line = self.lines.next().expect("the node goes on").expect("its output can be read");
            if let Some(found) = says(&serde_json::from_str(&line).expect("a JSON line")) {
                return found;
            }
        }
    }

    fn meet(&mut self, address: &str) {
        use std::io::Write;
        writeln!(self.stdin.as_mut().expect("it is open"), "peer {address}").expect("the node listens");
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn state(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("node{index}"))
}

/// Ages of a member: known, so that the truth is.
fn ages(index: usize) -> impl Iterator<Item = usize> {
    (0..RECORDS).map(move |record| (7 * record + 13 * index) % 90)
}

fn truth() -> f64 {
    (0..NODES).flat_map(ages).sum::<usize>() as f64 / (NODES * RECORDS) as f64
}

fn init(folder: &Path, settings: &[&str]) {
    init_of(folder, NODES, settings);
}

fn init_of(folder: &Path, nodes: usize, settings: &[&str]) {
    std::fs::write(
        folder.join("schema.toml"),
        "[columns.age]\nbounds = [0, 110]\ninteger = true\n[columns.sex]\nvalues = [0, 1]\n",
    )
    .unwrap();
    for index in 0..nodes {
        let mut text = "age,sex\n".to_owned();
        ages(index).for_each(|age| text.push_str(&format!("{age},{}\n", age % 2)));
        std::fs::write(folder.join(format!("{index}.csv")), text).unwrap();
    }
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--questions", "--name", "clinic", "--nodes", &nodes.to_string()]);
    command.arg("--schema").arg(folder.join("schema.toml")).arg("--out").arg(folder.join("swarm.toml"));
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    command.assert().success();
}

/// All members, met: each has come to the end of the run that is none.
fn swarm(folder: &Path, rules: impl Fn(usize) -> Vec<&'static str>) -> Vec<Member> {
    swarm_of(folder, NODES, rules)
}

fn swarm_of(folder: &Path, nodes: usize, rules: impl Fn(usize) -> Vec<&'static str>) -> Vec<Member> {
    let mut members: Vec<Member> =
        (0..nodes).map(|index| Member::start(folder, index, &rules(index))).collect();
    for a in 0..nodes {
        for b in (0..nodes).filter(|b| *b != a) {
            let address = members[b].address.clone();
            members[a].meet(&address);
        }
    }
    for member in &mut members {
        member.until(|status| (status["phase"] == "done" && status["present"] == nodes as u64).then_some(()));
    }
    members
}

fn ask(folder: &Path, index: usize, question: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["ask", question, "--yes", "--format", "json", "--expect", "1000"]);
    command.arg("--swarm").arg(folder.join("swarm.toml")).arg("--state").arg(state(folder, index));
    command
}

fn answer(mut command: Command) -> Result<Value, String> {
    let output = command.output().expect("the program starts");
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Lines of the book of a member: what it contributed to, each question once.
fn book(folder: &Path, index: usize) -> Vec<runtime::asking::Entry> {
    runtime::asking::look(&state(folder, index)).expect("its book can be read")
}

const MEAN: &str = "SELECT count(*), mean(age) FROM swarm";

/// 95 % intervals of two answers miss by chance in one run of ten; at five times their width in one of 10¹⁸.
fn is_near(answer: &Value, truth: f64) -> bool {
    let figure = |name: &str| answer[name].as_f64().expect("a figure");
    let half = (figure("high") - figure("low")) / 2.0;
    half > 0.0 && (figure("raw") - truth).abs() <= 5.0 * half
}

#[test]
fn five_members_answer_within_the_interval_and_the_same_question_is_free() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &[]);
    let _members = swarm(folder.path(), |_| Vec::new());
    let first = answer(ask(folder.path(), 0, MEAN)).unwrap();
    let answers = &first["rows"][0]["answers"];
    assert!(is_near(&answers["mean(age)"], truth()), "{first:#}");
    assert!(is_near(&answers["count(*)"], (NODES * RECORDS) as f64), "{first:#}");
    assert_eq!((first["spent"]["epsilon"].as_f64(), first["spent"]["left"].as_f64()), (Some(1.0), Some(3.0)));
    assert_eq!(first["analysis"], "masked");
    assert!(answers["mean(age)"].get("truth").is_none());
    // By another member: what all hold, for nothing.
    let again = answer(ask(folder.path(), 3, MEAN)).unwrap();
    assert_eq!(again["rows"], first["rows"]);
    assert_eq!((again["spent"]["epsilon"].as_f64(), again["spent"]["left"].as_f64()), (Some(0.0), Some(3.0)));
    for index in 0..NODES {
        let told = book(folder.path(), index);
        assert_eq!(told.len(), 1);
        assert!(told[0].model().is_some());
        // The ledger of each data set has it too.
        let log = std::fs::read_to_string(state(folder.path(), index).join("log.jsonl")).unwrap();
        assert_eq!(log.matches("\"event\":\"question\"").count(), 1);
    }
    let ledger = runtime::data_ledger::DataLedger::at(folder.path().join("ledger")).all().unwrap();
    assert_eq!(ledger.len(), NODES);
    assert!(ledger.iter().all(|(_, uses)| uses.len() == 1 && uses[0].epsilon == 1.0 && uses[0].settled));
    // Other words are another question.
    let other = answer(ask(folder.path(), 1, "SELECT median(age), histogram(sex) FROM swarm")).unwrap();
    assert!(other["spent"]["left"].as_f64().unwrap() < 3.0, "{other:#}");
}

#[test]
fn rules_refuse_by_name_and_nothing_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &[]);
    let rules = |index| match index {
        1 => vec!["questions.min_contributors=4", "questions.epsilon=0.5"],
        2 => vec!["questions.min_contributors=4", "questions.from=nobody"],
        3 => vec!["questions.min_contributors=4", "questions.total=0.25"],
        _ => vec!["questions.min_contributors=4"],
    };
    let members = swarm(folder.path(), rules);
    let refused = answer(ask(folder.path(), 0, MEAN)).unwrap_err();
    for expected in [
        "2 of 5 members would add records, `questions.min_contributors` = 4",
        "ε = 1 is over the rule `questions.epsilon` = 0.5",
        "`questions.from` does not name the member that asks",
        "is over the rule `questions.total` = 0.25",
        "nothing was spent",
    ] {
        assert!(refused.contains(expected), "{refused}");
    }
    // Cheap enough for all but the member that answers nobody: that one adds noise.
    let cheap = |index| {
        let mut command = ask(folder.path(), index, MEAN);
        command.args(["--epsilon", "0.2"]);
        command
    };
    let found = answer(cheap(0)).unwrap();
    assert!(is_near(&found["rows"][0]["answers"]["count(*)"], (4 * RECORDS) as f64), "{found:#}");
    let told: Vec<usize> = (0..NODES).map(|index| book(folder.path(), index).len()).collect();
    assert_eq!(told, [1, 1, 0, 1, 1]);
    // What the language or the swarm refuses needs no member.
    for (question, expected) in [
        ("SELECT mean(height) FROM swarm", "column `height` is not declared"),
        ("SELECT max(age) FROM swarm", "single record"),
        ("SELECT count(DISTINCT sex) FROM swarm", "not asked of running swarms yet"),
    ] {
        let refused = answer(ask(folder.path(), 0, question)).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
    drop(members);
    let refused = answer(ask(folder.path(), 0, MEAN)).unwrap_err();
    assert!(refused.contains("no node runs with the state"), "{refused}");
}

/// Waits until a member has put a question down: from then on its words may be on their way.
fn until_recorded(folder: &Path, index: usize) {
    while book(folder, index).is_empty() {
        std::thread::yield_now();
    }
}

/// What a total can hold is what members put down before: nobody is under-charged.
fn assert_charged(folder: &Path, answer: &Result<Value, String>) {
    let charged = (0..NODES).filter(|index| !book(folder, *index).is_empty()).count();
    match answer {
        Ok(found) => {
            let count = &found["rows"][0]["answers"]["count(*)"];
            let figure = |name: &str| count[name].as_f64().expect("a figure");
            let half = (figure("high") - figure("low")) / 2.0;
            assert!(figure("raw") <= (charged * RECORDS) as f64 + 5.0 * half, "{charged} charged: {found:#}");
        }
        Err(why) => {
            assert!(why.contains("the swarm gave no answer") || why.contains("the node ended"), "{why}")
        }
    }
}

fn with_patience() -> Vec<&'static str> {
    vec!["questions.min_contributors=3"]
}

#[test]
fn a_member_that_is_killed_leaves_an_answer_or_a_reason_and_comes_back_to_it_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &["timeouts.silence=\"1s\""]);
    let mut members = swarm(folder.path(), |_| with_patience());
    let asking = {
        let (folder, command) = (folder.path().to_owned(), ask(folder.path(), 0, MEAN));
        std::thread::spawn(move || (answer(command), folder))
    };
    let victim = NODES - 1;
    until_recorded(folder.path(), victim);
    drop(members.pop());
    let (found, _) = asking.join().unwrap();
    assert_charged(folder.path(), &found);
    // It forgets nothing, and what the others hold is free for it.
    assert_eq!(book(folder.path(), victim).len(), 1);
    let mut again = Member::start(folder.path(), victim, &with_patience());
    for member in &members {
        again.meet(&member.address);
    }
    again.until(|status| (status["phase"] == "done" && status["present"] == NODES as u64).then_some(()));
    if let Ok(found) = found {
        let stored = answer(ask(folder.path(), victim, MEAN)).unwrap();
        assert_eq!(stored["rows"], found["rows"]);
        assert_eq!(stored["spent"]["epsilon"].as_f64(), Some(0.0));
        assert_eq!(book(folder.path(), victim).len(), 1);
    }
}

#[test]
fn an_asker_that_is_killed_says_so_and_the_others_come_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), &["timeouts.silence=\"1s\""]);
    let mut members = swarm(folder.path(), |_| with_patience());
    let asking = {
        let command = ask(folder.path(), 0, MEAN);
        std::thread::spawn(move || answer(command))
    };
    until_recorded(folder.path(), 0);
    drop(members.remove(0));
    let found = asking.join().unwrap();
    assert_charged(folder.path(), &found);
    for member in &mut members {
        member.until(|status| status["notice"].as_str()?.contains("question").then_some(()));
    }
    for index in 1..NODES {
        let told = book(folder.path(), index);
        assert!(told.iter().all(|entry| entry.outcome.is_some()), "{told:?}");
    }
    // The others are free to ask, and to be charged for other words only.
    match answer(ask(folder.path(), 2, "SELECT count(age) FROM swarm")) {
        Ok(found) => assert_eq!(found["rows"].as_array().map(Vec::len), Some(1)),
        Err(why) => assert!(why.contains("the swarm gave no answer"), "{why}"),
    }
}

/// Of `./test heavy`: sixteen processes, and as many numbers as a question may have.
#[test]
#[ignore = "sixteen processes"]
fn sixteen_members_answer_small_and_large_questions() {
    const MANY: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    init_of(folder.path(), MANY, &[]);
    let _members = swarm_of(folder.path(), MANY, |_| Vec::new());
    let begun = std::time::Instant::now();
    let small = answer(ask(folder.path(), 0, MEAN)).unwrap();
    let small_took = begun.elapsed();
    assert!(is_near(&small["rows"][0]["answers"]["count(*)"], (MANY * RECORDS) as f64), "{small:#}");
    let begun = std::time::Instant::now();
    let large =
        answer(ask(folder.path(), 5, "SELECT histogram(age, 16000) FROM swarm GROUP BY sex")).unwrap();
    assert!(large["plan"]["coordinates"].as_u64().unwrap() > 60_000, "{}", large["plan"]);
    // Figures for people, not for the test: a busy machine is no failure.
    eprintln!("small: {small_took:?}; {} numbers: {:?}", large["plan"]["coordinates"], begun.elapsed());
}

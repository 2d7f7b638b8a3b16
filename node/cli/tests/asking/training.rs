//! Questions while rounds are under way, and when they are over.

use std::path::Path;

use crate::rig::{Member, NODES, RECORDS, answer, ask, init_training, introduce, is_near, state};

/// The events of a member's log, in order.
fn events(folder: &Path, index: usize) -> Vec<String> {
    let text = std::fs::read_to_string(state(folder, index).join("log.jsonl")).unwrap();
    let event = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(value["event"].as_str()?.to_owned())
    };
    text.lines().filter_map(event).collect()
}

#[test]
fn members_answer_between_the_rounds_of_a_training_and_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init_training(folder);
    let mut members: Vec<Member> =
        (0..NODES).map(|index| Member::start_with(folder, index, &["--stay"])).collect();
    introduce(&mut members);
    members[0].until(|status| (status["round"].as_u64()? >= 2).then_some(()));
    let found = answer(ask(folder, 0, "SELECT count(*) FROM swarm")).unwrap();
    assert!(is_near(&found["rows"][0]["answers"]["count(*)"], (NODES * RECORDS) as f64), "{found:#}");
    for member in &mut members {
        member.until(|status| (status["phase"] == "done").then_some(()));
    }
    for index in 0..NODES {
        let events = events(folder, index);
        let asked = events.iter().position(|event| event == "question").unwrap();
        let rounds = |events: &[String]| events.iter().filter(|event| *event == "round_done").count();
        assert!(rounds(&events[..asked]) > 0 && rounds(&events[asked..]) > 0, "{events:?}");
    }
    // Both are in the ledger of each data set, and the run ended as it would have.
    let ledger = runtime::data_ledger::DataLedger::at(folder.join("ledger")).all().unwrap();
    assert!(ledger.len() == NODES && ledger.iter().all(|(_, uses)| uses.len() == 2), "{ledger:?}");
    let found = answer(ask(folder, 2, "SELECT mean(age) FROM swarm")).unwrap();
    assert!(found["rows"][0]["answers"]["mean(age)"]["value"].is_number(), "{found:#}");
}

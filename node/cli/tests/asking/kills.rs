//! Kills all over a question, from before the offer to after the answer: whoever dies, nobody is under-charged, it ends with an answer or a reason, and the swarm goes on.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{Member, NODES, RECORDS, answer, ask, book, init, swarm};

const RULES: [&str; 2] = ["questions.min_contributors=3", "questions.total=1000"];

/// The words of a question that nobody asked before; every record counts.
fn words(number: u64) -> String {
    format!("SELECT count(*) FROM swarm WHERE age < {}", 200 + number)
}

/// Asks until no question that was left behind is in the way any more: a refusal costs nothing.
fn answered(folder: &Path, asker: usize, question: &str) -> Result<Value, String> {
    loop {
        match answer(ask(folder, asker, question)) {
            Err(why) if why.contains("another question is under way") => {}
            found => return found,
        }
    }
}

/// Members in whose books these words stand.
fn charged(folder: &Path, question: &str) -> BTreeSet<usize> {
    let has = |index: &usize| {
        book(folder, *index).iter().any(|entry| {
            entry.asked().is_some_and(|asked| asked.question == question) && entry.epsilon == 1.0
        })
    };
    (0..NODES).filter(has).collect()
}

/// What is in a total was put down before: by at least as many members as it has records of.
fn assert_covered(folder: &Path, question: &str, found: &Value) {
    let count = &found["rows"][0]["answers"]["count(*)"];
    let figure = |name: &str| count[name].as_f64().expect("a figure");
    let half = (figure("high") - figure("low")) / 2.0;
    let most = (charged(folder, question).len() * RECORDS) as f64;
    assert!(figure("raw") <= most + 5.0 * half, "{} charged: {found:#}", charged(folder, question).len());
}

/// Kills the asker or another member after each of so many parts of the time that an undisturbed question takes, and a part beyond it.
fn kill_all_over(moments: u64) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder, &["timeouts.silence=\"1s\""]);
    let mut members: Vec<Option<Member>> = swarm(folder, |_| RULES.to_vec()).into_iter().map(Some).collect();
    let begun = Instant::now();
    let undisturbed = answered(folder, 0, &words(0)).unwrap();
    let takes = begun.elapsed();
    assert_covered(folder, &words(0), &undisturbed);
    for moment in 1..=moments {
        // The asker in every other one; each member in its turn.
        let asker = (moment % NODES as u64) as usize;
        let victim =
            if moment % 2 == 0 { asker } else { (asker + 1 + moment as usize % (NODES - 1)) % NODES };
        let after = takes.mul_f64(1.1 * moment as f64 / moments as f64);
        let outcome = kill_after(folder, (&mut members, victim), (asker, &words(moment)), after);
        match outcome {
            Ok(found) => assert_covered(folder, &words(moment), &found),
            Err(why) => {
                let known =
                    ["the swarm gave no answer", "the node ended", "no node runs", "would add records"];
                assert!(known.iter().any(|known| why.contains(known)), "moment {moment}: {why}");
            }
        }
        // What the ledger of the data set knows is at least what the book does.
        let ledger = runtime::data_ledger::DataLedger::at(folder.join("ledger")).all().unwrap();
        let told: usize = (0..NODES).map(|index| book(folder, index).len()).sum();
        let used: usize = ledger.iter().map(|(_, uses)| uses.len()).sum();
        assert!(used >= told, "moment {moment}: {used} in ledgers, {told} in books");
    }
    let last = answered(folder, 0, &words(moments + 1)).unwrap();
    assert_covered(folder, &words(moments + 1), &last);
    assert_eq!(charged(folder, &words(moments + 1)).len(), NODES, "everybody is back");
}

/// One question in which a member dies after a while, and comes back.
fn kill_after(
    folder: &Path,
    (members, victim): (&mut [Option<Member>], usize),
    (asker, question): (usize, &str),
    after: Duration,
) -> Result<Value, String> {
    let asking = {
        let (folder, question) = (folder.to_owned(), question.to_owned());
        std::thread::spawn(move || answered(&folder, asker, &question))
    };
    let begun = Instant::now();
    while begun.elapsed() < after && !asking.is_finished() {
        std::thread::yield_now();
    }
    let before = charged(folder, question).contains(&victim);
    drop(members[victim].take());
    // What it had put down it keeps.
    assert!(!before || charged(folder, question).contains(&victim), "{question}: forgotten by {victim}");
    let mut again = Member::start(folder, victim, &RULES);
    for member in members.iter_mut().flatten() {
        again.meet(&member.address);
        let address = again.address.clone();
        member.meet(&address);
    }
    again.until(|status| (status["phase"] == "done" && status["present"] == NODES as u64).then_some(()));
    members[victim] = Some(again);
    asking.join().expect("the test goes on")
}

#[test]
fn who_dies_at_any_of_eight_moments_of_a_question_is_charged_for_what_it_gave() {
    kill_all_over(8);
}

/// Of `./test heavy`.
#[test]
#[ignore = "takes minutes"]
fn who_dies_at_any_of_a_hundred_moments_of_a_question_is_charged_for_what_it_gave() {
    kill_all_over(100);
}

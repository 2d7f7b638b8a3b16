//! One node on each host of a LAN, no addresses configured.

pub(crate) mod net;

use protocol::{LogLine, RunEvent};

use crate::rig::{Home, Node};
use net::Lan;

const NAME: &str = "starlings over the pier";

fn start(home: &Home, lan: &Lan) -> Vec<Node> {
    (0..home.nodes).map(|node| home.command_behind(node, lan.inside(node)).go()).collect()
}

fn all_hold_the_same_model(home: &Home) {
    let first = home.model(0);
    (1..home.nodes).for_each(|node| assert!(home.model(node) == first, "node {node} has another model"));
}

/// The digests that travel in the header of every message of a round.
fn digests(lines: &[LogLine]) -> Vec<[u8; 16]> {
    let ends = lines.iter().filter_map(|line| match &line.event {
        RunEvent::RoundDone { end, .. } => Some(end.0),
        _ => None,
    });
    ends.collect()
}

/// Pieces of four numbers of a model, which stand at the end of its file.
fn pieces_of(model: &[u8]) -> Vec<Vec<u8>> {
    let telling = |piece: &&[u8]| piece.iter().filter(|byte| **byte != 0).count() > 12;
    model.rchunks_exact(16).filter(telling).take(50).map(<[u8]>::to_vec).collect()
}

fn contains(hay: &[u8], needle: &[u8]) -> bool {
    let first = needle[0];
    let mut from = 0;
    while let Some(at) = hay[from..].iter().position(|byte| *byte == first) {
        if hay[from + at..].starts_with(needle) {
            return true;
        }
        from += at + 1;
    }
    false
}

#[test]
fn hosts_of_a_lan_find_each_other_train_and_finish_and_nothing_can_be_read_on_the_wire() {
    let Some(lan) = Lan::bridged(4) else { return };
    let home = Home::new(NAME, 4, &["rounds=25"]);
    let Some(capture) = lan.capture(home.path()) else { return };
    let mut nodes = start(&home, &lan);
    let sent = nodes[0].until("the end", |status| {
        (status["phase"] == "done").then(|| status["bytes"][0].as_u64().unwrap_or(0))
    });
    assert!(nodes.into_iter().all(Node::finish));
    all_hold_the_same_model(&home);
    let frames = capture.finish();
    // That the capture works: it saw the search in clear, and at least what one node says that it sent.
    assert!(contains(&frames, b"_p2p"), "mDNS is in clear");
    assert!(frames.len() as u64 > sent && sent > 25 * 4 * 650, "{} bytes seen, {sent} sent", frames.len());
    let digests = digests(&home.log(0));
    assert_eq!(digests.len(), 25);
    let pieces = pieces_of(&home.model(0));
    assert!(pieces.len() > 20, "the model has numbers");
    let texts = [NAME.as_bytes(), b"privacy", b"epsilon", b"/murmur/"].map(<[u8]>::to_vec);
    let needles = digests.into_iter().map(|digest| digest.to_vec()).chain(pieces).chain(texts);
    for needle in needles {
        assert!(!contains(&frames, &needle), "{needle:02x?} can be read on the wire");
    }
}

#[test]
fn a_host_that_is_cut_off_comes_back() {
    let Some(lan) = Lan::bridged(3) else { return };
    // More rounds than the test will see, so that the run is under way all the time.
    let home = Home::new(NAME, 3, &["rounds=50000", "privacy.noise_multiplier=1", "timeouts.silence=\"2s\""]);
    let mut nodes = start(&home, &lan);
    nodes.iter_mut().for_each(|node| node.until_round(5));
    // What happens is read from the log: a status is up to a tenth of a second old, which is dozens of rounds.
    let without =
        |line: &LogLine| matches!(&line.event, RunEvent::Roster { members, .. } if members.len() == 2);
    let again = |line: &LogLine| matches!(&line.event, RunEvent::Roster { members, epoch, .. } if members.len() == 3 && *epoch > 1);
    lan.cut(2);
    nodes[0].until("an epoch of two", |_| home.log(0).iter().any(without).then_some(()));
    lan.heal(2);
    nodes[0].until("an epoch of three after it", |_| home.log(0).iter().any(again).then_some(()));
    let back_at = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[2].until_round(back_at + 5);
    assert!(nodes.into_iter().all(Node::stop));
    for node in 0..3 {
        assert!(home.records(node).len() >= home.released(node));
    }
}

#[test]
fn a_slow_and_lossy_network_is_enough() {
    let home = Home::new(NAME, 3, &["rounds=12"]);
    let Some(lan) = Lan::rough(3, 50, 5, home.path()) else { return };
    let nodes = start(&home, &lan);
    assert!(nodes.into_iter().all(Node::finish));
    all_hold_the_same_model(&home);
    // A round may have been given up and made up for; all of them were made in the end.
    let all = |line: &LogLine| matches!(line.event, RunEvent::Finished { rounds: 12, .. });
    assert!(home.logs().iter().all(|lines| lines.iter().any(all)));
}

/// Five hosts, one of which loses so many per cent of what comes to it: all rounds are made, with everybody in them.
pub(crate) fn five_of_which_one_loses(percent: u32, rounds: u32, flags: &[&str]) {
    let Some(lan) = Lan::bridged(5) else { return };
    let home = Home::new(NAME, 5, &[&format!("rounds={rounds}"), "privacy.noise_multiplier=1"]);
    let node = |node| home.command_behind(node, lan.inside(node)).with(flags).go();
    let mut nodes: Vec<Node> = (0..5).map(node).collect();
    nodes.iter_mut().for_each(|node| node.until_round(5));
    if !lan.loses(4, percent) {
        return;
    }
    let from = nodes[0].catch_up()["round"].as_u64().unwrap_or(0) as usize;
    assert!(nodes.into_iter().all(Node::finish));
    let (lost, datagrams) = lan.lost(4);
    assert!(lost > u64::from(percent), "packets were lost: {lost}");
    assert!(datagrams > u64::from(rounds), "and most was sent as datagrams: {datagrams}");
    all_hold_the_same_model(&home);
    let log = home.log(0);
    let done: Vec<f64> = log
        .iter()
        .filter(|line| matches!(line.event, RunEvent::RoundDone { .. }))
        .map(|line| line.time.seconds())
        .collect();
    assert_eq!(done.len(), rounds as usize, "all rounds were made");
    let alone = |line: &LogLine| matches!(&line.event, RunEvent::Roster { members, .. } if members.len() < 5);
    assert!(!log.iter().any(alone), "with everybody in them");
    // For the reader: how fast is a matter of the machine.
    let rate = |from: usize| (done.len() - 1 - from) as f64 / (done[done.len() - 1] - done[from]);
    let rates = [from.min(done.len() - 2), done.len() / 2].map(rate);
    eprintln!(
        "{percent} % lost at one of five: {:.0} rounds a second, {:.0} in the second half",
        rates[0], rates[1]
    );
}

#[test]
fn a_host_that_loses_a_fifth_of_all_packets_is_in_every_round() {
    five_of_which_one_loses(20, 200, &[]);
}

#[test]
fn a_host_that_loses_two_fifths_of_all_packets_is_in_every_round() {
    five_of_which_one_loses(40, 150, &[]);
}

//! What went wrong, counted, with what it cost.

use std::collections::{BTreeMap, BTreeSet};

use protocol::log::How;
use protocol::{FaultKind, RunEvent};

use crate::document::Fault;
use crate::fold::is_masked;
use crate::lost::{Cost, LostLines};
use crate::source::Source;

/// What is gathered about one kind.
#[derive(Default)]
struct Seen {
    count: u64,
    peers: BTreeSet<usize>,
    rounds: BTreeSet<u32>,
}

/// All kinds of faults in a log; `unlogged` are contributions that only the ledgers know.
pub(crate) fn found(source: &Source, unlogged: BTreeMap<usize, u64>) -> Vec<Fault> {
    let mut seen: BTreeMap<(&'static str, &'static str), Seen> = BTreeMap::new();
    let mut note = |kind, cost, count: u64, peer: Option<u32>, round: Option<u32>| {
        let entry = seen.entry((kind, cost)).or_default();
        entry.count += count;
        entry.peers.extend(peer.map(|peer| peer as usize));
        entry.rounds.extend(round);
    };
    let mut broken: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    let mut looked: BTreeMap<(u32, bool), BTreeSet<u32>> = BTreeMap::new();
    for line in &source.lines {
        match &line.event {
            RunEvent::RoundBroken { round, missing, .. } => {
                let entry = broken.entry(*round).or_default();
                *entry = entry.or(*missing);
            }
            RunEvent::Inspected { round, forced, named, .. } => {
                looked.entry((*round, *forced)).or_default().extend(named);
            }
            RunEvent::Mixed { round, missing, late } => {
                missing
                    .iter()
                    .for_each(|&(_, peer)| note("missing message", MISSING, 1, Some(peer), Some(*round)));
                late.iter().for_each(|&(of, _, peer)| note("late message", LATE, 1, Some(peer), Some(of)));
            }
            RunEvent::Late { peer, count } => {
                note("late message", LATE, u64::from(*count), Some(*peer), None)
            }
            RunEvent::TokenRestarted { hop, .. } => note("lost token", TOKEN, 1, line.node, Some(*hop)),
            RunEvent::Refused { round, .. } => {
                note("contribution refused", REFUSED, 1, line.node, Some(*round))
            }
            RunEvent::Outside { .. } => note("left the roster", OUTSIDE, 1, line.node, None),
            RunEvent::PeerFault { peer, fault, round } => {
                note(name(*fault), FORGED, 1, Some(*peer), Some(*round));
            }
            _ => {}
        }
    }
    let cost = if is_masked(source) { BROKEN_MASKED } else { BROKEN };
    for (round, missing) in broken {
        note("broken round", cost, 1, missing, Some(round));
    }
    for ((round, forced), named) in looked {
        let kind = if forced { TOO_LONG } else { BY_COIN };
        note(kind, LOOKED, 1, None, Some(round));
        named.into_iter().for_each(|peer| note(THROWN_OUT, NAMED, 1, Some(peer), Some(round)));
    }
    for (kind, cost, count, node) in of_ledgers(source, &unlogged) {
        note(kind, cost, count, Some(node as u32), None);
    }
    for lost in &source.lost {
        let (kind, cost) = words_of(lost, source);
        note(kind, cost, u64::from(lost.count), lost.node.map(|node| node as u32), None);
    }
    seen.into_iter().map(fault).collect()
}

fn fault(((kind, cost), seen): ((&str, &str), Seen)) -> Fault {
    Fault {
        kind: kind.to_owned(),
        count: seen.count,
        peers: seen.peers.into_iter().collect(),
        rounds: seen.rounds.first().copied().zip(seen.rounds.last().copied()),
        cost: cost.to_owned(),
    }
}

/// What only ledgers know, node by node: kind, cost, how many, whose.
fn of_ledgers(
    source: &Source,
    unlogged: &BTreeMap<usize, u64>,
) -> Vec<(&'static str, &'static str, u64, usize)> {
    let forgotten = |node: &usize| source.ledgers.get(node).map_or(0, |ledger| ledger.forgotten);
    let lines = unlogged
        .iter()
        .map(|(node, count)| ("record without a line", LOST, count.saturating_sub(forgotten(node)), *node));
    let old = source.ledgers.keys().map(|node| (OLD_COPY, FORGOTTEN, forgotten(node), *node));
    lines.chain(old).filter(|(_, _, count, _)| *count > 0).collect()
}

/// What became of a line that cannot be read, and what that cost.
fn words_of(lost: &LostLines, source: &Source) -> (&'static str, &'static str) {
    let kind = match lost.how {
        How::Cut => "line cut short by a crash",
        How::Damaged => "line that cannot be read",
    };
    let cost = match lost.cost(source) {
        Cost::Harmless => HARMLESS,
        Cost::InLedger => CUT,
        Cost::InFull => UNKNOWN,
    };
    (kind, cost)
}

const TOO_LONG: &str = "round looked into: its total was too long";
const BY_COIN: &str = "round looked into: a coin said so";
const LOOKED: &str = "a release of its own to all who added data, part of every figure";
const THROWN_OUT: &str = "thrown out after a look";
const NAMED: &str = "none: its own signed words show that it added too much, or lied about it";
const BROKEN_MASKED: &str = "none beyond its price: under masks a round costs the same however it goes";
const BROKEN: &str = "charged as local: one whole contribution of each contributor towards everybody";
const MISSING: &str = "none: what was not received reveals nothing; the weights really used were priced";
const LATE: &str = "none beyond what is charged: a late message counts as seen";
const TOKEN: &str = "both branches of the token are charged";
const REFUSED: &str = "none: the node went on mixing and added nothing";
const OUTSIDE: &str = "whoever is outside is charged for the total of each round";
const FORGED: &str =
    "none: what was sent was not used; it cannot make the honest sender lose more than its budget";
const LOST: &str = "charged in full: the contribution was recorded and may have been sent";
const OLD_COPY: &str = "contribution that an old copy of the state had forgotten";
const FORGOTTEN: &str =
    "charged in full: it was counted outside of the node's folder, and nothing else is known of it";
const CUT: &str =
    "the ledger has every contribution; where figures depend on who was sent what, all pairs are `local`";
const HARMLESS: &str = "none: what is left of it tells of nothing that was sent";
const UNKNOWN: &str = "charged in full to every node that it may have been about: one contribution for a line that was cut, all that are not told of for damage";

fn name(fault: FaultKind) -> &'static str {
    match fault {
        FaultKind::WrongRun => "message of another run",
        FaultKind::WrongSender => "message from the wrong sender",
        FaultKind::WrongKind => "message of a wrong kind",
        FaultKind::WrongRound => "message of a wrong round",
        FaultKind::WrongLength => "model of a wrong length",
        FaultKind::NotFinite => "model that is not finite",
        FaultKind::TooLarge => "model too large to be honest",
        FaultKind::Contradiction => "two different messages for one place",
        FaultKind::Flood => "flood of messages",
        FaultKind::WrongDigest => "model that is not the one asked for",
        FaultKind::Replay => "message of an old round, sent again",
        FaultKind::BadSignature => "statement without the signature that it needs",
        FaultKind::Unproved => "contribution under masks without its proof",
        FaultKind::Proven => "signed what no honest member signs",
    }
}

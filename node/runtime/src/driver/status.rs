//! Where a node stands, for whoever looks at it.

use std::collections::BTreeMap;

use libp2p::{Multiaddr, PeerId};
use protocol::{PeerIx, RunEvent};
use serde::{Deserialize, Deserializer, Serialize};

/// A picture of a node; sent whenever it changes, and as JSON from a process to the one that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The node's identity.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub me: PeerId,
    /// Its position, once the run has begun.
    pub position: Option<PeerIx>,
    /// What it does.
    pub phase: Phase,
    /// Number of members.
    pub nodes: usize,
    /// Members that it talks to now, itself included.
    pub present: usize,
    /// Positions of the other members that it talks to now, once the run has begun. Not in JSON: long in a large swarm.
    #[serde(skip)]
    pub linked: Vec<PeerIx>,
    /// What members are called, by position, as far as that is known. Not in JSON.
    #[serde(skip)]
    pub names: BTreeMap<PeerIx, String>,
    /// Where it can be reached.
    #[serde(serialize_with = "as_texts", deserialize_with = "from_texts")]
    pub addresses: Vec<Multiaddr>,
    /// The round that it is in, or has finished last.
    pub round: u32,
    /// Number of rounds of the run.
    pub rounds: u32,
    /// Loss on the node's own data at the last contribution.
    pub loss: Option<f64>,
    /// What was spent, by each limit: its name, and the part of it.
    #[serde(deserialize_with = "parts")]
    pub spent: Vec<(String, f64)>,
    /// Contributions made since the process started.
    pub released: u64,
    /// Contributions on record in the ledger, those of earlier starts included.
    pub recorded: u64,
    /// Bytes of messages, sent and received.
    pub bytes: (u64, u64),
    /// Messages that could not be queued or sent.
    pub dropped: u64,
    /// The last thing that somebody should know.
    pub notice: Option<String>,
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Looks for the others.
    Gathering,
    /// Takes part.
    Running,
    /// Has finished and answers others.
    Done,
}

impl Status {
    pub(crate) fn new(me: PeerId, (nodes, rounds): (usize, u32)) -> Self {
        Self {
            me,
            position: None,
            phase: Phase::Gathering,
            nodes,
            present: 1,
            linked: Vec::new(),
            names: BTreeMap::new(),
            addresses: Vec::new(),
            round: 0,
            rounds,
            loss: None,
            spent: Vec::new(),
            released: 0,
            recorded: 0,
            bytes: (0, 0),
            dropped: 0,
            notice: None,
        }
    }

    /// Counts what goes into the ledger; nobody need look at once.
    pub(crate) fn on_record(&mut self) -> bool {
        self.recorded += 1;
        false
    }

    /// Takes in what the node logs.
    pub(crate) fn on_event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Released { loss, .. } => {
                self.released += 1;
                self.loss = loss.or(self.loss);
            }
            RunEvent::Refused { reason, .. } => self.notice = Some(reason.clone()),
            RunEvent::RoundBroken { round, reason, .. } => {
                self.notice = Some(format!("round {round} was given up: {reason}"));
            }
            RunEvent::PeerFault { peer, fault, .. } => {
                self.notice = Some(format!("node {peer} misbehaves: {fault:?}"));
            }
            RunEvent::Outside { epoch } => {
                self.notice = Some(format!("epoch {epoch} began without this node"));
            }
            RunEvent::Waiting { missing } => {
                let who: Vec<String> = missing.iter().map(ToString::to_string).collect();
                self.notice = Some(format!("too few members to decide: waiting for {}", who.join(", ")));
            }
            RunEvent::Finished { reason, .. } => self.notice = Some(reason.clone()),
            _ => {}
        }
    }
}

fn as_text<S: serde::Serializer>(value: &PeerId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn as_texts<S: serde::Serializer>(values: &[Multiaddr], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(Multiaddr::to_string))
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PeerId, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn from_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Multiaddr>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

/// JSON has no infinity: a part that is not there was all and more.
fn parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, f64)>, D::Error> {
    let parts = Vec::<(String, Option<f64>)>::deserialize(deserializer)?;
    Ok(parts.into_iter().map(|(name, part)| (name, part.unwrap_or(f64::INFINITY))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_says_is_what_its_parent_hears() {
        let mut status = Status::new(PeerId::random(), (3, 20));
        status.addresses = vec!["/ip4/127.0.0.1/tcp/7000".parse().unwrap()];
        status.spent = vec![("ε".into(), 0.25), ("a limit of 0".into(), f64::INFINITY)];
        (status.position, status.phase, status.bytes) = (Some(1), Phase::Running, (12, 34));
        let heard: Status = serde_json::from_str(&serde_json::to_string(&status).unwrap()).unwrap();
        assert_eq!(heard, status);
        // Links stay in the process.
        status.linked = vec![0, 2];
        let heard: Status = serde_json::from_str(&serde_json::to_string(&status).unwrap()).unwrap();
        assert!(heard.linked.is_empty());
    }
}

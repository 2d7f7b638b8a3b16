//! What happened: the lines of a run log. Reports, dashboards, plots and tests fold over these and nothing else.

use privacy::event::DpEvent;
use serde::{Deserialize, Serialize};

use super::declared::Declared;
use super::renewed::Renewed;
use crate::values::Digest;
use crate::{PeerIx, Time};

/// One line of `log.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// When.
    #[serde(rename = "t")]
    pub time: Time,
    /// At which node; `None` for lines about the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<PeerIx>,
    /// What.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// The kinds of lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// First line of a run, written by the driver.
    Run {
        /// Name of the run.
        run: String,
        /// Program version.
        version: String,
        /// `sim` or `libp2p`.
        driver: String,
        /// Number of participants.
        nodes: u32,
        /// Digest of the shared configuration.
        config_digest: String,
        /// The effective configuration, as TOML.
        config: String,
        /// What one contribution is to the accountant.
        release: DpEvent,
        /// Whether the noise came from a private source.
        private_noise: bool,
        /// ρ of the local update, where it is certified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rho: Option<f64>,
        /// What every contribution to a masked round costs as if the round were looked into, where that is in its price.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        looked: Option<f64>,
    },
    /// A node came back to a run that it had begun; written by the driver at every start but the first.
    Resumed {
        /// Whether its noise comes from a private source from now on.
        private_noise: bool,
    },
    /// The members accepted a renewed swarm file and go on from the last decision; written by the driver before the first line of what follows.
    Renewed(Box<Renewed>),
    /// What a node declares about itself, for its own report; written by the driver at every start.
    Declared(Box<Declared>),
    /// What a member is called: as the swarm file says, or as the member said over a channel that its key secures.
    Named {
        /// Who.
        peer: PeerIx,
        /// Its name.
        name: String,
    },
    /// A contribution was recorded durably and may now be sent.
    Released {
        /// Round; for a walk the hop of the token.
        round: u32,
        /// `walk`: which token.
        #[serde(default, skip_serializing_if = "is_zero")]
        token: u32,
        /// `walk`: generation of the token.
        #[serde(default, skip_serializing_if = "is_zero")]
        generation: u32,
        /// The event, where it is not the one of the run's first line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<DpEvent>,
        /// `rounds` with masks: how many members hide it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        among: Option<u32>,
        /// Training loss before the step, on the node's own data. Not private: for the node's own eyes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
    },
    /// `mean` with pairwise noise: with whom the node shares some, told before it contributes.
    Paired {
        /// Round.
        round: u32,
        /// Neighbours whose keys it has.
        peers: Vec<PeerIx>,
    },
    /// A question beside the run, written by the driver when it is over here.
    Question {
        /// Its name.
        id: String,
        /// As it was asked.
        question: String,
        /// ε that it cost this node; 0 where it added nothing.
        epsilon: f64,
        /// δ of it.
        delta: f64,
        /// What came of it, in words.
        outcome: String,
    },
    /// The budget refused a contribution: the node goes on mixing and adds nothing.
    Refused {
        /// Round.
        round: u32,
        /// Why, with the figures.
        reason: String,
    },
    /// `rounds`: an epoch begins with this roster.
    Roster {
        /// Epoch.
        epoch: u32,
        /// First round.
        round: u32,
        /// Members.
        members: Vec<PeerIx>,
        /// The model from which it starts.
        model: Digest,
        /// Members that are no partners before a round, where a round broke between them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        apart: Vec<(PeerIx, PeerIx, u32)>,
    },
    /// `rounds`: too few members are here to decide; the node waits for these.
    Waiting {
        /// Who is missing.
        missing: Vec<PeerIx>,
    },
    /// `rounds`: a round ended with the mean of all contributions.
    RoundDone {
        /// Round.
        round: u32,
        /// Epoch of the roster.
        epoch: u32,
        /// Model at the start.
        start: Digest,
        /// Model at the end.
        end: Digest,
        /// How many nodes contributed.
        count: u32,
    },
    /// `rounds`: a round was given up; it is charged as `local`.
    RoundBroken {
        /// Round.
        round: u32,
        /// Epoch of the roster.
        epoch: u32,
        /// Model at the start.
        start: Digest,
        /// Who was waited for in vain, where that is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<PeerIx>,
        /// Why.
        reason: String,
    },
    /// `gossip`, `mean`: messages of a step that did not come in time, told before anything of the next step is sent.
    Missed {
        /// Round.
        round: u32,
        /// Step.
        step: u32,
        /// Whose.
        peers: Vec<PeerIx>,
    },
    /// `gossip`, `mean`: the mixing of a round ended. What is not listed went as planned.
    Mixed {
        /// Round.
        round: u32,
        /// `(step, peer)`: messages that did not come in time; their weight returned to the node.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<(u32, PeerIx)>,
        /// `(round, step, peer)`: messages that came too late: seen, not used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        late: Vec<(u32, u32, PeerIx)>,
    },
    /// `walk`: a token arrived; the node has seen it.
    Held {
        /// Which token.
        token: u32,
        /// Its hop.
        hop: u32,
        /// Its generation.
        generation: u32,
        /// Who sent it; the node itself for the first holder.
        from: PeerIx,
    },
    /// `walk`: a token is about to be sent; whoever it is offered to counts as having seen it.
    Offered {
        /// Which token.
        token: u32,
        /// The hop of its receiver.
        hop: u32,
        /// Its generation.
        generation: u32,
        /// To whom.
        to: PeerIx,
    },
    /// `walk`: a token was given up as lost and started again from here.
    TokenRestarted {
        /// Which token.
        token: u32,
        /// Hop from which it goes on.
        hop: u32,
        /// The new generation.
        generation: u32,
        /// The generation of the copy from which it goes on; none where that is the public first model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copy_of: Option<u32>,
    },
    /// A peer sent something that it must not send.
    PeerFault {
        /// Who.
        peer: PeerIx,
        /// What.
        fault: FaultKind,
        /// Round of the message.
        round: u32,
    },
    /// Messages that came too late to be used, since the last such line.
    Late {
        /// From whom.
        peer: PeerIx,
        /// How many.
        count: u32,
    },
    /// The node left the roster: it was away too long.
    Outside {
        /// Epoch that began without it.
        epoch: u32,
    },
    /// Masked rounds of a large roster: from here on the node shares streams with some others only.
    Streams {
        /// Epoch.
        epoch: u32,
        /// Members of the roster.
        among: u32,
        /// With how many it shares streams.
        neighbours: u32,
    },
    /// Masked rounds: a round was looked into. What it cost a node that added data is a [`Released`](Self::Released) of its own.
    Inspected {
        /// Round.
        round: u32,
        /// The epoch that began with what was found.
        epoch: u32,
        /// Whether its total was too long; else a coin said so.
        forced: bool,
        /// Who was thrown out for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<PeerIx>,
    },
    /// Lines of the node's own log that could not be read when it was put together with others.
    LostLines {
        /// How many.
        count: u32,
    },
    /// The node finished.
    Finished {
        /// Rounds that made its model.
        rounds: u32,
        /// Its model.
        model: Digest,
        /// Why it ended.
        reason: String,
    },
}

/// What a peer did wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A message of another run.
    WrongRun,
    /// From somebody who is no neighbour, partner or member.
    WrongSender,
    /// A kind of message that this algorithm does not have.
    WrongKind,
    /// A round or step that does not exist or is too far ahead.
    WrongRound,
    /// Not as many numbers as the model has.
    WrongLength,
    /// NaN or infinity.
    NotFinite,
    /// Larger than any honest value.
    TooLarge,
    /// A second, different message for the same round and step.
    Contradiction,
    /// More messages than anybody needs to send.
    Flood,
    /// A model whose digest is not the one that was asked for.
    WrongDigest,
    /// A message of an old round that had been here before.
    Replay,
    /// A statement without the signature that it needs.
    BadSignature,
    /// It signed what no honest member signs: two different statements, or one that does not follow.
    Proven,
    /// It added to a masked total what it did not prove to be in range, or something else than it committed to.
    Unproved,
}

impl FaultKind {
    /// Whether no honest node sends such a thing, however messages are lost, repeated or delayed.
    pub(crate) fn is_forged(self) -> bool {
        match self {
            Self::WrongRun
            | Self::WrongKind
            | Self::WrongLength
            | Self::NotFinite
            | Self::TooLarge
            | Self::WrongDigest
            | Self::BadSignature
            | Self::Unproved
            | Self::Proven => true,
            // The network may repeat a message, however late.
            Self::WrongSender | Self::WrongRound | Self::Contradiction | Self::Flood | Self::Replay => false,
        }
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

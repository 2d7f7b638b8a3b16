//! Who may take part as things stand.

use libp2p::PeerId;

use crate::identity::Roster;
use crate::wire::{Refusal, Standing};

/// What becomes of somebody who proved to be a member of the swarm.
pub(super) enum Verdict {
    Admit,
    /// It must be told.
    Refuse(Refusal, String),
    /// It takes part in a run without us.
    Excluded(String),
}

/// Whether a member may take part as things stand.
pub(super) fn admission(
    (me, standing): (PeerId, &Standing),
    (peer, theirs): (PeerId, &Standing),
    is_named: bool,
) -> Verdict {
    // Whom the swarm file names takes part, now or later.
    let has = |roster: &[Vec<u8>], peer: &PeerId| {
        is_named || Roster::from_bytes(roster).is_some_and(|roster| roster.position(peer).is_some())
    };
    match (standing, theirs) {
        (Standing::Running { roster, .. }, Standing::Gathering) if !has(roster, &peer) => {
            Verdict::Refuse(Refusal::Closed, format!("the run has begun with {} others", roster.len()))
        }
        (Standing::Gathering, Standing::Running { roster, .. }) if !has(roster, &me) => {
            Verdict::Excluded(format!("the run has begun with {} others", roster.len()))
        }
        (Standing::Running { roster: ours, .. }, Standing::Running { roster: theirs, .. })
            if ours != theirs =>
        {
            Verdict::Refuse(Refusal::OtherRun, "the run has begun with other members".to_owned())
        }
        _ => Verdict::Admit,
    }
}

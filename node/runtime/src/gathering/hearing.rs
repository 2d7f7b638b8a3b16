//! A node that gathers against a script of what hostile peers could do: come and go, and say whatever they like under keys of their own.

use std::time::Duration;

use libp2p::PeerId;
use libp2p::identity::Keypair;
use protocol::Digest;

use super::{Gathering, SignedRoster, Signer, Step};
use crate::identity::Roster;

/// Members of the swarm.
const NODES: usize = 3;
/// The node itself, an honest member that signs nothing, and two peers in one hostile hand.
const CAST: u8 = 4;
const HONEST: usize = 1;
/// What happens next: what, who, by whose signatures, in which attempt (two bytes), for how long.
const LINE: usize = 6;

/// Plays a script; `true` if the node began with a roster that it must not begin with: of a wrong length, without itself, with a member that
/// has not signed it or, where members are pinned, with any other than theirs. That cannot be.
pub fn begins_wrongly(script: &[u8]) -> bool {
    let Some((&pins, mut rest)) = script.split_first() else { return false };
    let cast = Cast::new();
    let pinned = (pins % 2 == 1).then(|| cast.roster(0b111));
    let Some(me) = cast.0.first() else { return false };
    let mut node = Gathering::new(me.clone(), NODES);
    if let Some(roster) = &pinned {
        node = node.pinned(roster.clone(), 2);
    }
    while let Some((line, after)) = rest.split_first_chunk::<LINE>() {
        rest = after;
        for step in cast.play(&mut node, *line) {
            if let Step::Begin(begun) = step {
                return cast.is_wrong(&begun, pinned.as_ref());
            }
        }
    }
    false
}

/// Everybody's keys: the script has all but the honest ones.
struct Cast(Vec<Signer>);

impl Cast {
    fn new() -> Self {
        let keys = (1..=CAST).filter_map(|member| Keypair::ed25519_from_bytes([member; 32]).ok());
        Self(keys.map(|keypair| Signer::new(keypair, Digest::of_text("a run"))).collect())
    }

    fn peer(&self, which: u8) -> PeerId {
        // Never the node itself.
        let others = self.0.len() - 1;
        self.0[1 + which as usize % others].me()
    }

    fn roster(&self, mask: u8) -> Roster {
        let chosen = self.0.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0);
        Roster::new(chosen.map(|(_, signer)| signer.me()))
    }

    fn play(&self, node: &mut Gathering, [what, who, by, low, high, time]: [u8; LINE]) -> Vec<Step> {
        let attempt = match u32::from(u16::from_le_bytes([low, high])) {
            0xffff => u32::MAX,
            attempt => attempt,
        };
        match what % 5 {
            0 => node.on_linked(self.peer(who)),
            1 => {
                node.on_lost(self.peer(who));
                Vec::new()
            }
            2 => {
                let roster = self.roster(who);
                let signature = self.signature(by, (attempt, &roster));
                node.on_confirm(self.peer(by >> 4), attempt, roster, signature)
            }
            3 => {
                let roster = self.roster(who);
                let signatures =
                    roster.members().iter().map(|peer| self.signature_of(peer, by, (attempt, &roster)));
                let said = SignedRoster { attempt, signatures: signatures.collect(), roster };
                node.on_running(said).into_iter().collect()
            }
            _ => node.on_tick(Duration::from_millis(500 * u64::from(time))),
        }
    }

    /// By one of the hostile peers, or none.
    fn signature(&self, by: u8, (attempt, roster): (u32, &Roster)) -> Vec<u8> {
        match by & 3 {
            0 => Vec::new(),
            1 => vec![by; 64],
            which => self.0[which as usize].sign(attempt, roster),
        }
    }

    /// The hostile peers' own, and for the others what they have: nothing, noise, or a signature of theirs under another name.
    fn signature_of(&self, peer: &PeerId, by: u8, place: (u32, &Roster)) -> Vec<u8> {
        match self.0.iter().position(|signer| signer.me() == *peer) {
            Some(at) if at > HONEST => self.0[at].sign(place.0, place.1),
            _ => self.signature(by, place),
        }
    }

    fn is_wrong(&self, begun: &SignedRoster, pinned: Option<&Roster>) -> bool {
        let has = |which: usize| begun.roster.position(&self.0[which].me()).is_some();
        match pinned {
            Some(roster) => begun.roster != *roster,
            None => begun.roster.len() != NODES || !has(0) || has(HONEST),
        }
    }
}

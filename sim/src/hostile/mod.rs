//! Nodes that do not follow the protocol: what becomes of their messages on the way out, and of their contributions ([`Liars`]).

mod lies;

use protocol::agreement::Credentials;
use protocol::config::{Faults, Hostile, HostileKind};
use protocol::danger::Tongue;
use protocol::{Message, Numbers, PeerIx, RunId, Settings, Values};

pub use lies::Liars;

use crate::availability::chosen;
use crate::error::SimError;

/// Copies of each message that a flood sends.
const FLOOD: u32 = 1_000;
/// Copies that one node sends in a whole run: enough to hurt, and an end.
const FLOOD_TOTAL: u32 = 200_000;
/// Messages that a replaying node keeps.
const KEPT: usize = 64;
/// Rounds after which a message is old: what comes sooner a network repeats by itself.
const OLD: u32 = 2;
/// As a number of a model: finite, and far from anything honest.
const HUGE: f32 = 1e30;

/// What is wrong with numbers, in turn.
const MALFORMED: [HostileKind; 4] =
    [HostileKind::Nan, HostileKind::Huge, HostileKind::WrongLength, HostileKind::OtherRun];

/// Whom each entry of `faults.hostile` means.
pub(crate) fn members(faults: &Faults, nodes: usize, seed: u64) -> Result<Vec<Vec<PeerIx>>, SimError> {
    let entries = faults.hostile.iter().enumerate();
    entries
        .map(|(at, hostile)| chosen((&hostile.nodes, hostile.fraction), nodes, seed, ("hostile", at)))
        .collect()
}

/// One way in which a node misbehaves: what becomes of its messages on the way out.
pub struct Attack {
    kind: HostileKind,
    from: u64,
    /// What it says about members, models and sums, where it lies about these.
    tongue: Option<Tongue>,
    said: usize,
    kept: Vec<(PeerIx, Message)>,
    next: usize,
    copies_left: u32,
}

impl Attack {
    /// `None` where all that is wrong with the node is what it contributes, and when.
    pub(crate) fn new(hostile: &Hostile, settings: &Settings, me: PeerIx) -> Option<Self> {
        Self::with((hostile.kind, hostile.from), || Tongue::new(settings, me, hostile.kind))
    }

    /// The same of a real member, which signs with its own key.
    pub fn of_member(
        credentials: Credentials,
        settings: &Settings,
        me: PeerIx,
        (kind, from): (HostileKind, u64),
    ) -> Option<Self> {
        Self::with((kind, from), || Tongue::with_credentials(credentials, settings, me, kind))
    }

    fn with((kind, from): (HostileKind, u64), tongue: impl FnOnce() -> Option<Tongue>) -> Option<Self> {
        let on_the_way = !lies::is_lie(kind) && kind != HostileKind::Slow;
        on_the_way.then(|| Self {
            kind,
            from,
            tongue: tongue(),
            said: 0,
            kept: Vec::new(),
            next: 0,
            copies_left: FLOOD_TOTAL,
        })
    }

    /// Whether it has begun.
    pub fn is_on(&self, now: u64) -> bool {
        now >= self.from
    }

    /// Sends what the node makes of `message`.
    pub fn corrupt(&mut self, to: PeerIx, mut message: Message, send: &mut dyn FnMut(PeerIx, Message)) {
        if let Some(tongue) = &mut self.tongue {
            return tongue.say(to, message, send);
        }
        self.said += usize::from(message.numbers.is_some());
        let kind = match self.kind {
            HostileKind::Malformed => MALFORMED[self.said % MALFORMED.len()],
            kind => kind,
        };
        match kind {
            HostileKind::Nan => replace(&mut message, |values| vec![f32::NAN; values.len()]),
            HostileKind::Huge => replace(&mut message, |values| vec![HUGE; values.len()]),
            HostileKind::WrongLength => {
                replace(&mut message, |values| values[..values.len().saturating_sub(1)].to_vec());
            }
            // They lie where they make their words.
            kind if kind.lie().is_some() => {}
            HostileKind::OtherRun => message.run = RunId(!message.run.0),
            HostileKind::Replay => self.replay(to, &message, send),
            HostileKind::Flood => {
                let copies = self.copies_left.min(FLOOD - 1);
                self.copies_left -= copies;
                (0..copies).for_each(|_| send(to, message.clone()));
            }
            // Those that lie elsewhere.
            _ => {}
        }
        send(to, message);
    }

    /// Sends one of the messages of old rounds again, to whom it went then.
    fn replay(&mut self, to: PeerIx, message: &Message, send: &mut dyn FnMut(PeerIx, Message)) {
        let is_old = |(_, kept): &(PeerIx, Message)| kept.round.saturating_add(OLD) <= message.round;
        let old = self.kept.partition_point(is_old);
        if let Some((to, old)) = self.kept[..old].get(self.next % old.max(1)) {
            send(*to, old.clone());
            self.next += 1;
        }
        if self.kept.len() < KEPT && message.numbers.is_some() {
            self.kept.push((to, message.clone()));
        }
    }
}

fn replace(message: &mut Message, with: impl FnOnce(&[f32]) -> Vec<f32>) {
    if let Some(Numbers::Reals(values)) = &mut message.numbers {
        *values = Values::from_wire(with(values.as_slice()));
    }
}

impl std::fmt::Debug for Attack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Attack({}, from {} µs)", self.kind, self.from)
    }
}

#[cfg(test)]
mod tests {
    use protocol::gossip::Say;

    use super::*;

    fn sent(kind: HostileKind, count: u32) -> Vec<Message> {
        let config = protocol::config::Config::from_toml("nodes = 4", "a test").unwrap();
        let settings = protocol::Setup::new(config).unwrap().settings;
        let hostile = Hostile { nodes: vec![0], fraction: 0.0, kind, from: 5 };
        let mut attack = Attack::new(&hostile, &settings, 0).unwrap();
        assert!(!attack.is_on(4) && attack.is_on(5));
        let mut all = Vec::new();
        for round in 0..count {
            let numbers = Some(Numbers::Reals(Values::from_wire(vec![1.0, 2.0])));
            let message = Message { run: RunId(1), round, step: 0, body: Say::State.into(), numbers };
            attack.corrupt(1, message, &mut |_, message| all.push(message));
        }
        all
    }

    #[test]
    fn each_kind_breaks_what_its_name_says() {
        let values = |kind| sent(kind, 1)[0].numbers.as_ref().unwrap().reals().unwrap().as_slice().to_vec();
        assert!(values(HostileKind::Nan).iter().all(|value| value.is_nan()));
        assert_eq!(values(HostileKind::Huge), [HUGE, HUGE]);
        assert_eq!(values(HostileKind::WrongLength), [1.0]);
        assert_ne!(sent(HostileKind::OtherRun, 1)[0].run, RunId(1));
        let rounds: Vec<_> = sent(HostileKind::Replay, 4).iter().map(|message| message.round).collect();
        assert_eq!(rounds, [0, 1, 0, 2, 1, 3]);
    }

    #[test]
    fn a_flood_ends() {
        assert_eq!(sent(HostileKind::Flood, 1).len(), 1_000);
        assert_eq!(sent(HostileKind::Flood, 400).len(), 200_400);
    }
}

//! Members that lie to others, for tests and simulations: what becomes of a message on its way out. The node behind it is honest and does not know.
//!
//! Signatures are the liar's own: of a run whose keys everybody can compute, or with its credentials.

use std::sync::Arc;

use super::robust::What;
use super::{Agreed, Say};
use crate::PeerIx;
use crate::agreement::danger::Liar;
use crate::agreement::{
    self, Credentials, Decision, Fingerprint, Model, RoundRecord, Standing, StepRecord, Trouble, TroubleKind,
};
use crate::config::HostileKind;
use crate::message::{Body, Message};
use crate::numbers::{Load, Numbers, Words};
use crate::settings::Settings;
use crate::values::Values;
use crate::walk;

/// A number of a model that nobody made.
const MADE_UP: f32 = 666.0;
/// Of views and epochs: far beyond any that somebody comes to.
const FAR: u32 = 1 << 30;

/// The tongue of a member that lies about members, models and sums.
#[derive(Debug)]
pub struct Tongue {
    kind: HostileKind,
    liar: Liar,
    me: PeerIx,
    members: u32,
    rounds: u32,
    parameters: usize,
    /// The round in which it last said something beside what it was told to.
    last: Option<u32>,
}

/// Takes what is sent, and to whom.
type Send<'a> = &'a mut dyn FnMut(PeerIx, Message);

impl Tongue {
    /// Of member `me`, lying in this way; `None` for kinds that are no lies of this sort.
    pub fn new(settings: &Settings, me: PeerIx, kind: HostileKind) -> Option<Self> {
        Self::speaks(kind).then(|| Self::of(Liar::new(settings, me), settings, me, kind))
    }

    /// The same of a member with these credentials.
    pub fn with_credentials(
        credentials: Credentials,
        settings: &Settings,
        me: PeerIx,
        kind: HostileKind,
    ) -> Option<Self> {
        let liar = || Liar::with_credentials(credentials, me);
        Self::speaks(kind).then(|| Self::of(liar(), settings, me, kind))
    }

    fn speaks(kind: HostileKind) -> bool {
        matches!(
            kind,
            HostileKind::ForgedModel
                | HostileKind::ForgedDecision
                | HostileKind::FalseStanding
                | HostileKind::ZeroCount
                | HostileKind::Equivocation
                | HostileKind::Silence
                | HostileKind::HighNumbers
                | HostileKind::FalseAccusation
        )
    }

    fn of(liar: Liar, settings: &Settings, me: PeerIx, kind: HostileKind) -> Self {
        Self {
            kind,
            liar,
            me,
            members: settings.nodes as u32,
            rounds: settings.rounds,
            parameters: settings.initial.len(),
            last: None,
        }
    }

    /// Says what the member makes of `message`.
    pub fn say(&mut self, to: PeerIx, mut message: Message, send: Send<'_>) {
        match self.kind {
            HostileKind::ForgedModel => self.beside(&message, send, Self::forged_model),
            HostileKind::ForgedDecision => self.beside(&message, send, Self::forged_decision),
            HostileKind::HighNumbers => {
                self.beside(&message, send, Self::far_epoch);
                self.far_turn(to, &message, send);
            }
            HostileKind::FalseStanding => self.change_standing(&mut message, |_, standing| {
                standing.model = Model { version: FAR, digest: made_up() };
                standing.next_round = FAR;
                standing.tokens.iter_mut().for_each(|copy| (copy.generation, copy.hop) = (FAR, FAR));
            }),
            HostileKind::FalseAccusation => self.change_standing(&mut message, Self::accuse),
            HostileKind::ZeroCount => without_count(&mut message),
            HostileKind::Equivocation => numbers_for(to, &mut message),
            HostileKind::Silence if !is_about_decisions(&message.body) => return,
            _ => {}
        }
        send(to, message);
    }

    /// Something to all others, once a round.
    fn beside(
        &mut self,
        message: &Message,
        send: Send<'_>,
        what: impl Fn(&Self, u32) -> (Say, Option<Numbers>),
    ) {
        if message.body.load() != Load::Vector || self.last == Some(message.round) {
            return;
        }
        self.last = Some(message.round);
        let (said, numbers) = what(self, message.round);
        for to in (0..self.members).filter(|&to| to != self.me) {
            let (body, numbers) = (said.clone().into(), numbers.clone());
            send(to, Message { run: message.run, round: 0, step: 0, body, numbers });
        }
    }

    fn forged_model(&self, _round: u32) -> (Say, Option<Numbers>) {
        let values = Values::from_wire(vec![MADE_UP; self.parameters]);
        (Say::Model { version: self.rounds }, Some(values.into()))
    }

    /// In turn: a roster of the liar alone, and a made-up end.
    fn forged_decision(&self, round: u32) -> (Say, Option<Numbers>) {
        let genesis = self.liar.charter().genesis();
        let alone = genesis.seats.iter().copied().filter(|seat| seat.member == self.me).collect();
        let end = Model { version: self.rounds, digest: made_up() };
        let decision = if round.is_multiple_of(2) {
            Decision { epoch: 1, seats: alone, ..(*genesis).clone() }
        } else {
            Decision { epoch: 1, model: end, ..(*genesis).clone() }
        };
        (agreed(self.liar.decided(decision)), None)
    }

    fn far_epoch(&self, _round: u32) -> (Say, Option<Numbers>) {
        let genesis = self.liar.charter().genesis();
        (agreed(self.liar.decided(Decision { epoch: FAR, ..(*genesis).clone() })), None)
    }

    fn far_turn(&self, to: PeerIx, message: &Message, send: Send<'_>) {
        let Body::Rounds(Say::Agreement(said)) = &message.body else { return };
        if let Some(turn) = self.liar.turn_in(&said.0, FAR) {
            send(to, Message { body: agreed(turn).into(), ..message.clone() });
        }
    }

    fn change_standing(&self, message: &mut Message, change: impl FnOnce(&Self, &mut Standing)) {
        let (Body::Rounds(Say::Agreement(said)) | Body::Walk(walk::Say::Agreement(said))) = &mut message.body
        else {
            return;
        };
        if let Some(lie) = self.liar.standing(&said.0, |standing| change(self, standing)) {
            *said = Agreed(Arc::new(lie));
        }
    }

    /// Whoever it met sent it something else than they say, and somebody what no honest member sends.
    fn accuse(&self, standing: &mut Standing) {
        if standing.rounds.is_empty() {
            standing.rounds.push(RoundRecord {
                round: standing.next_round.saturating_sub(1),
                steps: vec![StepRecord {
                    step: 0,
                    partner: (self.me + 1) % self.members,
                    sent: None,
                    heard: None,
                }],
                total: None,
                trouble: None,
                opened: None,
                shown: None,
                unproved: Vec::new(),
            });
        }
        for (at, record) in standing.rounds.iter_mut().enumerate() {
            let heard = record.steps.iter_mut().filter_map(|step| step.heard.as_mut());
            heard.for_each(|heard| heard.digest = made_up());
            let with = (self.me + 1 + at as u32) % self.members;
            record.trouble = Some(Trouble { kind: TroubleKind::Malformed, with, step: 0 });
        }
    }
}

fn made_up() -> Fingerprint {
    Fingerprint::of_model(&[MADE_UP, MADE_UP])
}

fn agreed(message: agreement::Message) -> Say {
    Say::Agreement(Agreed(Arc::new(message)))
}

/// What a silent member still says: it wants its seat.
fn is_about_decisions(body: &Body) -> bool {
    matches!(
        body,
        Body::Rounds(Say::Agreement(_) | Say::Fetch { .. } | Say::Model { .. } | Say::Key(_))
            | Body::Walk(walk::Say::Agreement(_))
    )
}

/// A sum of nobody that is not nothing.
fn without_count(message: &mut Message) {
    match &mut message.body {
        Body::Rounds(Say::Sum(sum)) => sum.count = 0,
        Body::Rounds(Say::Robust(said)) => {
            if let What::Mine { count } = &mut said.what {
                *count = 0;
            }
        }
        _ => {}
    }
}

/// Numbers that are a little different for each receiver, and pass every check.
fn numbers_for(to: PeerIx, message: &mut Message) {
    if message.body.load() != Load::Vector {
        return;
    }
    let changed = match &message.numbers {
        Some(Numbers::Reals(values)) => {
            let part = 1.0 - 0.01 * (to % 50) as f32;
            Numbers::Reals(Values::from_wire(values.as_slice().iter().map(|value| part * value).collect()))
        }
        Some(Numbers::Words(words)) => match (words.as_32(), words.as_64()) {
            (Some(words), _) => {
                Numbers::Words(Words::modulo_32(words.iter().map(|word| word.wrapping_add(to)).collect()))
            }
            (None, words) => {
                let words = words.unwrap_or_default().iter().map(|word| word.wrapping_add(u64::from(to)));
                Numbers::Words(Words::modulo_64(words.collect()))
            }
        },
        None => return,
    };
    message.numbers = Some(changed);
}

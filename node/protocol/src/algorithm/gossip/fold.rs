//! `gossip` and `mean`, folded: the mixing that really happened.
//!
//! **Sent is seen.** A message counts as seen by whom it was sent to, used or not, unless the lines of its *sender* show that it never got to that
//! step; what the receiver says of it decides only where its weight went. So nothing that a watcher says, or forgets to say, lowers what it is taken to
//! know. Where a sender got to: it writes that it contributed, or was refused, before it sends anything of a round, and what it missed in a step before it
//! sends anything of the next.
//!
//! A node that stopped in the middle of a round is taken to have gone on as planned, to its end, with what everybody should have sent it: what it really
//! missed before its last message is in its own lines, and more than was there can be seen. A node that came
//! back after it had begun a round may have sent two states for one step, which no analysis here covers: then all pairs are charged as `local`.

use std::collections::{BTreeMap, BTreeSet};

use privacy::network::contractive::{Method, Update};
use privacy::network::message_noise::Sender;
use privacy::network::{NetworkError, Phase, Pricing, Run, Step, Watchers, losses};
use topology::MixingMatrix;

use super::GossipSettings;
use super::pairing::{PairingFold, PairingSettings};
use crate::PeerIx;
use crate::account::units::{LOST_LINE, NOT_THERE, NOTHING_ELSE, SOME_LINES, scaled};
use crate::account::{Shape, Tally, epsilon_of_mu2};
use crate::algorithm::{Algorithm, Fold, Priced};
use crate::event::RunEvent;

/// Views in larger swarms are not priced: one has as many rows as the ball around a watcher has nodes.
pub(super) const MOST_PRICED_NODES: usize = 20_000;

/// Products up to which the tighter method is used: some tenths of a second.
const TIGHTER_WORK: f64 = 2e7;

/// Why not.
pub(super) const TOO_MANY: &str = "too many nodes to price their pairs";

/// It may have sent two states for one step.
const CAME_BACK: &str = "a node came back after a round that it had not finished";

/// A line about mixing: round, `(step, from)` that was missing, `(round, step, from)` that came late.
type MixedLine<'a> = (u32, &'a [(u32, PeerIx)], &'a [(u32, u32, PeerIx)]);

/// The state of the fold.
#[derive(Debug, Clone, Default)]
pub(crate) struct GossipFold {
    rounds: BTreeMap<u32, Round>,
    /// Whether something happened that only `local` covers.
    uncovered: Option<&'static str>,
    pairing: PairingFold,
}

#[derive(Debug, Clone, Default)]
struct Round {
    released: BTreeMap<usize, usize>,
    /// Who began it: contributed, or was refused. Nobody else sent anything of it.
    begun: BTreeSet<usize>,
    mixed: BTreeSet<usize>,
    /// Messages that were not used, whose weight went back to the receiver.
    missing: BTreeSet<Missed>,
    /// Messages that a receiver says it got too late. Its word can only raise a figure.
    late: BTreeSet<Missed>,
}

/// A message that was not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Missed {
    step: usize,
    to: usize,
    from: usize,
}

impl GossipFold {
    /// A node begins a round; from here on it may send.
    fn begin(&mut self, shape: &Shape, node: usize, round: u32) -> Option<&mut Round> {
        if round >= shape.rounds {
            self.uncovered = Some(NOT_THERE);
            return None;
        }
        self.check_gap(node, round);
        let entry = self.rounds.entry(round).or_default();
        if !entry.begun.insert(node) || entry.mixed.contains(&node) {
            self.uncovered = Some("a node did one round twice");
        }
        Some(entry)
    }

    fn miss(&mut self, shape: &Shape, to: usize, round: u32, missed: impl Iterator<Item = (u32, PeerIx)>) {
        for (step, from) in missed {
            if round >= shape.rounds || from as usize >= shape.nodes {
                self.uncovered = Some(NOT_THERE);
                return;
            }
            let missed = Missed { step: step as usize, to, from: from as usize };
            self.rounds.entry(round).or_default().missing.insert(missed);
        }
    }

    fn mixed(&mut self, shape: &Shape, node: usize, (round, missing, late): MixedLine<'_>) {
        for &(of, step, from) in late {
            if of >= shape.rounds || from as usize >= shape.nodes {
                self.uncovered = Some(NOT_THERE);
                return;
            }
            let late = Missed { step: step as usize, to: node, from: from as usize };
            self.rounds.entry(of).or_default().late.insert(late);
        }
        // The line after the end tells of stragglers only; there is no such round.
        if round == shape.rounds && missing.is_empty() {
            return;
        }
        self.miss(shape, node, round, missing.iter().copied());
        if round >= shape.rounds {
            self.uncovered = Some(NOT_THERE);
            return;
        }
        self.check_gap(node, round);
        if !self.rounds.entry(round).or_default().mixed.insert(node) {
            self.uncovered = Some("a node did one round twice");
        }
    }

    /// A node came back. In a round that it had begun it may have sent what it no longer knows.
    fn on_resumed(&mut self, node: usize) {
        let open = |round: &Round| round.begun.contains(&node) && !round.mixed.contains(&node);
        if self.rounds.values().any(open) {
            self.uncovered = Some(CAME_BACK);
        }
    }

    /// Who contributed to the one round of an average.
    fn published(&self, shape: &Shape) -> Vec<bool> {
        let first = self.rounds.get(&0);
        (0..shape.nodes).map(|node| first.is_some_and(|round| round.released.contains_key(&node))).collect()
    }

    /// The settings of pairwise noise, where the lines tell what became of it.
    fn covered_pairing<'a>(&self, shape: &'a Shape) -> Option<&'a PairingSettings> {
        let Algorithm::Gossip(settings) = &shape.algorithm else { return None };
        settings.pairing.as_ref().filter(|_| self.uncovered.is_none())
    }

    fn check_gap(&mut self, node: usize, round: u32) {
        let Some(before) = round.checked_sub(1) else { return };
        if !self.rounds.get(&before).is_some_and(|before| before.mixed.contains(&node)) {
            self.uncovered = Some(CAME_BACK);
        }
    }

    /// The run with the weights that were applied.
    fn run(&self, shape: &Shape, settings: &GossipSettings) -> Result<Run, NetworkError> {
        let last = self.rounds.keys().next_back().copied().unwrap_or(0);
        debug_assert!(last < shape.rounds.max(1), "no round behind the last is kept");
        let empty = Round::default();
        let phase = |at: u32| self.rounds.get(&at).unwrap_or(&empty).phase(shape.nodes, settings, at);
        Run::new(shape.nodes, (0..=last).map(phase).collect::<Result<_, _>>()?)
    }
}

impl Fold for GossipFold {
    fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent) {
        match event {
            RunEvent::Released { round, release, .. } => {
                let kind = tally.kind(release.as_ref().unwrap_or(&shape.release));
                tally.count(node, kind);
                if let Some(entry) = self.begin(shape, node, *round) {
                    entry.released.insert(node, kind);
                }
            }
            RunEvent::Refused { round, .. } => {
                self.begin(shape, node, *round);
            }
            RunEvent::Missed { round, step, peers } => {
                self.miss(shape, node, *round, peers.iter().map(|&peer| (*step, peer)));
            }
            RunEvent::Mixed { round, missing, late } => self.mixed(shape, node, (*round, missing, late)),
            RunEvent::Paired { peers, .. } => self.pairing.on_paired(shape, node, peers),
            RunEvent::Resumed { .. } => {
                self.pairing.on_resumed(shape, node);
                self.on_resumed(node);
            }
            _ => {}
        }
    }

    fn lost_line(&mut self) {
        self.uncovered = Some(LOST_LINE);
    }

    fn units(&self, shape: &Shape, coalitions: &[Watchers]) -> Priced {
        let Algorithm::Gossip(settings) = &shape.algorithm else { return Err("") };
        if shape.nodes > MOST_PRICED_NODES {
            return Err(TOO_MANY);
        }
        if shape.witnesses.is_some() && settings.pairing.is_none() {
            return Err(SOME_LINES);
        }
        if let Some(why) = self.uncovered {
            return Err(why);
        }
        if self.rounds.values().all(|round| round.released.is_empty()) {
            return Err("");
        }
        if let Some(pairing) = settings.pairing.as_ref().filter(|_| shape.witnesses.is_some()) {
            return self.pairing.bounds(shape, pairing, &self.published(shape), coalitions);
        }
        let priced = self.run(shape, settings).and_then(|run| {
            if let Some(pairing) = &settings.pairing {
                let published = self.published(shape);
                return self.pairing.units(shape, pairing, (&run, &published), coalitions);
            }
            let (pricing, name) = pricing(shape, settings, run.rounds())?;
            let tightest = tightened(pricing, &run, coalitions.len());
            let mut units = losses(&run, coalitions, tightest, &|_| {})?;
            if !matches!(tightest, Pricing::NoisyRounds(..)) {
                not_below_what_was_sent(&run, coalitions, &mut units);
            }
            Ok(Ok((units, name)))
        });
        priced.unwrap_or_else(|error| match error {
            NetworkError::Unsupported { what, .. } => Err(what),
            _ => Err(NOTHING_ELSE),
        })
    }

    fn towards_any(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        count: usize,
        local: &[f64],
    ) -> Option<(Vec<f64>, &'static str)> {
        let pairing = self.covered_pairing(shape)?;
        let (units, name) = self.pairing.towards_any(shape, pairing, &self.published(shape), count)?;
        let mu2 = scaled(shape, tally, &[units]);
        let epsilon = |(&mu2, &local): (&f64, &f64)| epsilon_of_mu2(mu2, shape.delta).min(local);
        Some((mu2[0].iter().zip(local).map(epsilon).collect(), name))
    }

    fn left_over(&self, shape: &Shape) -> Option<f64> {
        let pairing = self.covered_pairing(shape).filter(|_| shape.witnesses.is_none())?;
        Some(self.pairing.left_over(pairing, &self.published(shape)))
    }

    fn copy(&self) -> Box<dyn Fold> {
        Box::new(self.clone())
    }
}

impl Round {
    fn phase(&self, nodes: usize, settings: &GossipSettings, at: u32) -> Result<Phase, NetworkError> {
        let planned = settings.schedule.round(u64::from(at), nodes)?;
        if self.missing.iter().chain(&self.late).any(|missed| missed.step >= planned.steps()) {
            return Err(NetworkError::Unsupported { analysis: "gossip", what: NOT_THERE });
        }
        let contributes = (0..nodes).map(|node| self.released.contains_key(&node)).collect();
        let step = |index: usize| {
            let matrix = planned.step(index).matrix;
            let missing = pairs(self.missing.iter().filter(|missed| missed.step == index));
            let seen = |missed: &&Missed| missed.step == index && self.was_sent(missed);
            let overheard = pairs(self.missing.union(&self.late).filter(seen));
            let applied = if missing.is_empty() { matrix } else { without(&matrix, &missing)?.into() };
            let step = Step::new(applied).with_overheard(overheard);
            match settings.accelerate.get(index) {
                // y(t+1) = ω W y(t) + (1 − ω) y(t−1).
                Some(omega) => step.with_momentum(omega - 1.0),
                None => Ok(step),
            }
        };
        let steps = (0..planned.steps()).map(step).collect::<Result<_, NetworkError>>()?;
        Ok(Phase::new(steps).with_contributors(contributes))
    }

    /// Whether its sender may have sent it: it began the round, or the receiver says that it came.
    fn was_sent(&self, missed: &Missed) -> bool {
        self.begun.contains(&missed.from) || self.mixed.contains(&missed.from) || self.late.contains(missed)
    }
}

fn pairs<'a>(missed: impl Iterator<Item = &'a Missed>) -> Vec<(u32, u32)> {
    missed.map(|missed| (missed.to as u32, missed.from as u32)).collect()
}

/// The matrix without messages `(to, from)`, whose weight goes back to the receiver.
fn without(matrix: &MixingMatrix, missing: &[(u32, u32)]) -> Result<MixingMatrix, NetworkError> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for node in 0..matrix.nodes() {
        let (row, weights) = matrix.row(node);
        let mut kept: BTreeMap<u32, f64> = row.iter().copied().zip(weights.iter().copied()).collect();
        let gone = missing.iter().filter(|(to, from)| *to as usize == node && *from != *to);
        let returned: f64 = gone.filter_map(|(_, from)| kept.remove(from)).sum();
        *kept.entry(node as u32).or_insert(0.0) += returned;
        columns.extend(kept.keys());
        values.extend(kept.values());
        offsets.push(columns.len());
    }
    Ok(MixingMatrix::with_negative_weights(offsets, columns, values)?)
}

/// The analysis that holds for gossip of this shape, and its name.
pub(super) fn pricing(
    shape: &Shape,
    settings: &GossipSettings,
    rounds: usize,
) -> Result<(Pricing, &'static str), NetworkError> {
    let equal = shape.noise.windows(2).all(|pair| pair[0] == pair[1]);
    if !settings.train && rounds == 1 && equal {
        let noisy = shape.message_noise > 0.0 && settings.accelerate.is_empty();
        // Message noise that the analysis does not cover is left out: it only hides more.
        let pricing = if noisy {
            Pricing::NoisyRounds(shape.message_noise, Sender::KeepsClean)
        } else {
            Pricing::Rounds
        };
        return Ok((pricing, "rounds"));
    }
    match shape.rho {
        Some(rho) => Ok((Pricing::Contractive(Method::Boundary, Update::lipschitz(rho)?), "contractive")),
        None => Err(NetworkError::Unsupported {
            analysis: "contractive",
            what: "no Lipschitz constant is certified",
        }),
    }
}

/// The same bound, by the tighter of its methods where that is cheap. Both are bounds for the same view, so the lesser of them is one.
fn tightened(pricing: Pricing, run: &Run, coalitions: usize) -> Pricing {
    let work = coalitions as f64 * (run.nodes() as f64).powi(3) * run.rounds() as f64;
    match pricing {
        Pricing::Contractive(Method::Boundary, update) if work <= TIGHTER_WORK => {
            Pricing::Contractive(Method::Riccati, update)
        }
        other => other,
    }
}

/// Whoever was sent a state right after a contribution has that contribution with its own noise only: a unit each. No analysis says less; if one did,
/// this would be the figure.
fn not_below_what_was_sent(run: &Run, coalitions: &[Watchers], units: &mut [Vec<f64>]) {
    for (watchers, units) in coalitions.iter().zip(units) {
        let mut sent = vec![0_u32; run.nodes()];
        for phase in run.phases() {
            let heard = phase.steps().first().map_or_else(Vec::new, |step| step.heard_by(watchers));
            heard.into_iter().filter(|&node| phase.contributes(node)).for_each(|node| sent[node] += 1);
        }
        for (unit, sent) in units.iter_mut().zip(sent) {
            let least = f64::from(sent);
            debug_assert!(*unit >= least * (1.0 - 1e-9), "a unit of {unit} where {sent} states were sent");
            *unit = unit.max(least);
        }
    }
}

//! `gossip` and `mean`, folded: the mixing that really happened.
//!
//! A message that did not come in time was not seen and its weight went back to the receiver; one that came too late was seen and not used. What a node
//! that stopped in the middle of a round received is not known: it counts as received as planned. A node that did not finish a round
//! and came back later may have dropped a state that others have seen, which no analysis here covers: then all pairs are charged as `local`.

use std::collections::{BTreeMap, BTreeSet};

use privacy::network::contractive::{Method, Update};
use privacy::network::message_noise::Sender;
use privacy::network::{NetworkError, Phase, Pricing, Run, Step, Watchers, losses};
use topology::MixingMatrix;

use super::rows::Table;
use super::tally::Tally;
use super::{ReleaseKind, Shape};
use crate::PeerIx;
use crate::event::RunEvent;
use crate::settings::{Algorithm, GossipSettings};

/// Views in larger swarms are not priced: one has as many rows as the ball around a watcher has nodes.
pub(super) const MOST_PRICED_NODES: usize = 20_000;

/// Why not.
pub(super) const TOO_MANY: &str = "too many nodes to price their pairs";

/// Views depend on what everybody received.
pub(super) const SOME_LINES: &str = "the log has the lines of some nodes only";

/// A log that was forged, or is of another run: what it does not say is not known.
pub(super) const NOT_THERE: &str = "a line about a round, a step or a node that the run does not have";

/// For want of a better reason.
pub(super) const NOTHING_ELSE: &str = "no other analysis applies";

/// The state of the fold.
#[derive(Debug, Clone, Default)]
pub(super) struct GossipFold {
    rounds: BTreeMap<u32, Round>,
    /// Whether something happened that only `local` covers.
    uncovered: Option<&'static str>,
}

#[derive(Debug, Clone, Default)]
struct Round {
    released: BTreeMap<usize, usize>,
    mixed: BTreeSet<usize>,
    /// `(step, to, from)`.
    missing: Vec<(usize, usize, usize)>,
    late: Vec<(usize, usize, usize)>,
}

impl GossipFold {
    pub(super) fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent) {
        match event {
            RunEvent::Released { round, release, .. } => {
                let kind = tally.kind(release.as_ref().unwrap_or(&shape.release));
                tally.count(node, kind);
                if *round >= shape.rounds {
                    self.uncovered = Some(NOT_THERE);
                    return;
                }
                self.check_gap(node, *round);
                if self.rounds.entry(*round).or_default().released.insert(node, kind).is_some() {
                    self.uncovered = Some("a node contributed twice in one round");
                }
            }
            RunEvent::Mixed { round, missing, late } => {
                let is_node = |peer: PeerIx| (peer as usize) < shape.nodes;
                // The line after the end has the round behind the last.
                let there = *round <= shape.rounds
                    && missing.iter().all(|&(_, from)| is_node(from))
                    && late.iter().all(|&(of, _, from)| of < shape.rounds && is_node(from));
                if !there {
                    self.uncovered = Some(NOT_THERE);
                    return;
                }
                self.check_gap(node, *round);
                let entry = self.rounds.entry(*round).or_default();
                entry.mixed.insert(node);
                entry
                    .missing
                    .extend(missing.iter().map(|&(step, from)| (step as usize, node, from as usize)));
                for &(of, step, from) in late {
                    let late = &mut self.rounds.entry(of).or_default().late;
                    late.push((step as usize, node, from as usize));
                }
            }
            _ => {}
        }
    }

    fn check_gap(&mut self, node: usize, round: u32) {
        let Some(before) = round.checked_sub(1) else { return };
        if !self.rounds.get(&before).is_some_and(|before| before.mixed.contains(&node)) {
            self.uncovered = Some("a node came back after a round that it had not finished");
        }
    }

    /// Something happened that only `local` covers.
    pub(super) fn uncover(&mut self, why: &'static str) {
        self.uncovered = Some(why);
    }

    /// Unit losses towards each coalition, and the analysis; or why there is none but `local`.
    pub(super) fn units(
        &self,
        shape: &Shape,
        coalitions: &[Watchers],
    ) -> Result<(Vec<Vec<f64>>, &'static str), &'static str> {
        let Algorithm::Gossip(settings) = &shape.algorithm else { return Err("") };
        if shape.nodes > MOST_PRICED_NODES {
            return Err(TOO_MANY);
        }
        if shape.witnesses.is_some() {
            return Err(SOME_LINES);
        }
        if let Some(why) = self.uncovered {
            return Err(why);
        }
        if self.rounds.values().all(|round| round.released.is_empty()) {
            return Err("");
        }
        let priced = self.run(shape, settings).and_then(|run| {
            let (pricing, name) = pricing(shape, settings, run.rounds())?;
            Ok((losses(&run, coalitions, pricing, &|_| {})?, name))
        });
        priced.map_err(|error| match error {
            NetworkError::Unsupported { what, .. } => what,
            _ => NOTHING_ELSE,
        })
    }

    /// ε of all pairs with these watchers.
    pub(super) fn table(&self, shape: &Shape, tally: &Tally, watchers: Vec<usize>, local: &[f64]) -> Table {
        let alone: Result<Vec<Watchers>, NetworkError> =
            watchers.iter().map(|&watcher| Watchers::new(&[watcher], shape.nodes)).collect();
        match alone.map_err(|_| NOTHING_ELSE).and_then(|alone| self.units(shape, &alone)) {
            Ok((units, name)) => {
                let mu2 = scaled(shape, tally, &units);
                Table::of_mu2(watchers, &mu2, (local, shape.delta), name.to_owned())
            }
            Err(why) => Table::local(watchers, local, why),
        }
    }

    /// The run with the weights that were applied.
    fn run(&self, shape: &Shape, settings: &GossipSettings) -> Result<Run, NetworkError> {
        let last = self.rounds.keys().next_back().copied().unwrap_or(0);
        let empty = Round::default();
        let phase = |at: u32| self.rounds.get(&at).unwrap_or(&empty).phase(shape.nodes, settings, at);
        Run::new(shape.nodes, (0..=last).map(phase).collect::<Result<_, _>>()?)
    }
}

impl Round {
    fn phase(&self, nodes: usize, settings: &GossipSettings, at: u32) -> Result<Phase, NetworkError> {
        let planned = settings.schedule.round(u64::from(at), nodes)?;
        if self.missing.iter().chain(&self.late).any(|&(step, ..)| step >= planned.steps()) {
            return Err(NetworkError::Unsupported { analysis: "gossip", what: NOT_THERE });
        }
        let contributes = (0..nodes).map(|node| self.released.contains_key(&node)).collect();
        let step = |index: usize| {
            let of = |list: &[(usize, usize, usize)]| -> Vec<(u32, u32)> {
                let here = list.iter().filter(|(step, ..)| *step == index);
                here.map(|&(_, to, from)| (to as u32, from as u32)).collect()
            };
            let matrix = planned.step(index).matrix;
            let missing = of(&self.missing);
            let applied = if missing.is_empty() { matrix } else { without(&matrix, &missing)?.into() };
            let step = Step::new(applied).with_overheard(of(&self.late));
            match settings.accelerate.get(index) {
                // y(t+1) = ω W y(t) + (1 − ω) y(t−1).
                Some(omega) => step.with_momentum(omega - 1.0),
                None => Ok(step),
            }
        };
        let steps = (0..planned.steps()).map(step).collect::<Result<_, NetworkError>>()?;
        Ok(Phase::new(steps).with_contributors(contributes))
    }
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

/// Unit losses in μ²: each source's change relative to the least noise that hides it, and the dearest kind of contribution.
pub(super) fn scaled(shape: &Shape, tally: &Tally, units: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let price = tally.dearest().unwrap_or_else(|| ReleaseKind::of(&shape.release)).gaussian_price();
    let exposure: Vec<f64> = (0..shape.nodes).map(|node| shape.exposure(node)).collect();
    let mu2 = |(unit, exposure): (&f64, &f64)| price.of(unit * exposure);
    units.iter().map(|row| row.iter().zip(&exposure).map(mu2).collect()).collect()
}

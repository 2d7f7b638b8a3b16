//! `rounds`, folded: which rounds ended in proven consensus, and what the others cost.
//!
//! A round is *clean* where all that started it started from the same model, all that ended it ended with the same model, somebody ended it, and whatever
//! was started after it, up to and with the next round that somebody ended, started from that model. Then every contribution was computed at a model
//! that all hold, messages were those of the plan or fewer, and the round costs the leverages of [`privacy::network::doubling`]. Every other round costs each
//! of its contributors the whole contribution, towards everybody.
//!
//! A node outside the roster sees no message of a clean round, but the model is given to it when it comes back: it is charged as somebody who
//! hears the total and nothing else.
//!
//! A round is settled once the next one is known to follow from it. A line that contradicts a settled round comes too late to take the charge back, so
//! the round is charged a second time, in full.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use privacy::network::doubling::Blocks;
use privacy::network::{NetworkError, Phase, Run, Step, Watchers, rounds};
use topology::schedule::Plan;

use super::leverage::{Leverages, outside, plan_apart};
use crate::PeerIx;
use crate::account::{Shape, Table, Tally};
use crate::algorithm::Fold;
use crate::event::RunEvent;
use crate::values::Digest;

/// The state of the fold.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoundsFold {
    /// Members by epoch; `None` where nodes disagree about them.
    rosters: BTreeMap<u32, Option<Vec<usize>>>,
    /// Who of them must not be partners before which round, by epoch.
    apart: BTreeMap<u32, Vec<(PeerIx, PeerIx, u32)>>,
    rounds: BTreeMap<u32, Round>,
    /// Every round below is settled: a long run is not gone through again at each line.
    settled_below: u32,
    /// Clean rounds, for coalitions.
    clean: Vec<Clean>,
    broken: u64,
}

/// What was said about one round.
#[derive(Debug, Clone, Default)]
struct Round {
    epochs: BTreeSet<u32>,
    /// Contributors with the kind of their contribution.
    released: Vec<(usize, usize)>,
    starts: BTreeSet<Digest>,
    ends: BTreeSet<Digest>,
    /// How many contributed, as those said who ended it.
    counts: BTreeSet<u32>,
    /// Nodes that told how the round went.
    reports: BTreeSet<usize>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Open,
    Clean,
    Broken,
}

/// A clean round, for the price of a coalition.
#[derive(Debug, Clone)]
struct Clean {
    round: u32,
    epoch: u32,
    /// Of the noise of each member's contribution; 0 where it made none.
    variances: Vec<f64>,
}

impl RoundsFold {
    fn on_released(&mut self, tally: &mut Tally, round: u32, release: (usize, usize)) {
        let entry = self.rounds.entry(round).or_default();
        entry.released.push(release);
        if entry.state == State::Open {
            self.settled_below = self.settled_below.min(round);
        } else {
            // The others were charged as if this contribution had not hidden theirs.
            tally.charge_in_full(release.0, release.1);
        }
    }

    fn on_roster(&mut self, shape: &Shape, epoch: u32, members: &[PeerIx], apart: &[(PeerIx, PeerIx, u32)]) {
        let mut members: Vec<usize> = members.iter().map(|&member| member as usize).collect();
        members.sort_unstable();
        members.dedup();
        let sensible = !members.is_empty() && members.iter().all(|&member| member < shape.nodes);
        let said = sensible.then_some(members);
        let known = self.rosters.entry(epoch).or_insert_with(|| said.clone());
        let meetings = self.apart.entry(epoch).or_insert_with(|| apart.to_vec());
        if *known != said || meetings != apart {
            *known = None;
        }
    }

    /// Adds to what is known of a round; what changes the case of a settled one makes it broken.
    fn note(&mut self, tally: &mut Tally, round: u32, add: impl FnOnce(&mut Round) -> bool) {
        let entry = self.rounds.entry(round).or_default();
        let news = add(entry);
        if entry.state == State::Open {
            self.settled_below = self.settled_below.min(round);
        }
        if !news {
            return;
        }
        // A start bears on the round before it that ended, an end on the round itself.
        let before =
            self.rounds.range(..round).rev().find(|(_, round)| !round.ends.is_empty()).map(|(at, _)| *at);
        for at in [Some(round), before].into_iter().flatten() {
            if self.rounds[&at].state == State::Clean && !self.is_clean(at) {
                self.break_settled(tally, at);
            }
        }
    }

    fn break_settled(&mut self, tally: &mut Tally, at: u32) {
        if let Some(round) = self.rounds.get_mut(&at) {
            round.state = State::Broken;
            round.released.iter().for_each(|&(source, kind)| tally.charge_in_full(source, kind));
            self.broken += 1;
            self.clean.retain(|clean| clean.round != at);
        }
    }

    /// Settles what can be settled now that somebody ended `round`.
    fn settle_before(&mut self, shape: &Shape, tally: &mut Tally, round: u32) {
        let earlier = self.rounds.range(..round).rev().find(|(_, round)| !round.ends.is_empty());
        let Some((&last, ended)) = earlier else { return };
        // As many as told of the round before tell now from where they went on.
        let confirmed = self.rounds[&round].reports.len() >= ended.reports.len();
        let up_to = if confirmed { round } else { last };
        let open: Vec<u32> = self.open().map(|(at, _)| at).take_while(|&at| at < up_to).collect();
        open.into_iter().for_each(|at| self.settle(shape, tally, at));
        self.settled_below = self.settled_below.max(up_to);
    }

    /// The run is over: what nobody contradicted stands.
    fn settle_final(&mut self, shape: &Shape, tally: &mut Tally) {
        let open: Vec<u32> = self.open().map(|(at, _)| at).collect();
        let last_ended =
            self.rounds.iter().rev().find(|(_, round)| !round.ends.is_empty()).map(|(at, _)| *at);
        for at in open {
            // Whether the others ended the last round alike, some lines cannot say: nobody went on from there.
            if shape.witnesses.is_some() && last_ended.is_none_or(|last| at >= last) {
                self.settle_as(shape, tally, at, false);
            } else {
                self.settle(shape, tally, at);
            }
        }
    }

    fn open(&self) -> impl Iterator<Item = (u32, &Round)> {
        let unsettled = self.rounds.range(self.settled_below..);
        unsettled.filter(|(_, round)| round.state == State::Open).map(|(at, round)| (*at, round))
    }

    /// Contributions that are not settled yet, with their kinds.
    fn pending(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.open().flat_map(|(_, round)| round.released.iter().copied())
    }

    fn settle(&mut self, shape: &Shape, tally: &mut Tally, at: u32) {
        self.settle_as(shape, tally, at, self.is_clean(at));
    }

    fn settle_as(&mut self, shape: &Shape, tally: &mut Tally, at: u32, clean: bool) {
        let charged = clean && self.charge_clean(shape, tally, at);
        let Some(round) = self.rounds.get_mut(&at) else { return };
        if charged {
            round.state = State::Clean;
            return;
        }
        round.state = State::Broken;
        if !round.released.is_empty() {
            self.broken += 1;
            round.released.iter().for_each(|&(source, kind)| tally.charge_in_full(source, kind));
        }
    }

    fn is_clean(&self, at: u32) -> bool {
        let round = &self.rounds[&at];
        let mut nodes: Vec<usize> = round.released.iter().map(|&(node, _)| node).collect();
        nodes.sort_unstable();
        let twice = nodes.windows(2).any(|pair| pair[0] == pair[1]);
        let (Some(end), 1) = (round.ends.first(), round.ends.len()) else { return false };
        if twice || round.epochs.len() != 1 || round.starts.len() != 1 {
            return false;
        }
        let mut later = self.rounds.range((Bound::Excluded(at), Bound::Unbounded));
        let agrees = |round: &Round| round.starts.iter().all(|start| start == end);
        // Up to and with the next round that somebody ended.
        for (_, next) in later.by_ref() {
            if !agrees(next) {
                return false;
            }
            if !next.ends.is_empty() {
                break;
            }
        }
        true
    }

    /// The members of an epoch; the first has all nodes where no line says otherwise.
    fn members(&self, shape: &Shape, epoch: u32) -> Option<Vec<usize>> {
        match self.rosters.get(&epoch) {
            Some(members) => members.clone(),
            None => (epoch == 0).then(|| (0..shape.nodes).collect()),
        }
    }

    /// Who met whom in a round of an epoch.
    fn plan(&self, shape: &Shape, (round, epoch): (u32, u32), members: &[usize]) -> Option<Plan> {
        let members: Vec<PeerIx> = members.iter().map(|&member| member as PeerIx).collect();
        let apart = self.apart.get(&epoch).map_or(&[][..], Vec::as_slice);
        plan_apart(&shape.key, round, &members, apart)
    }

    /// Charges the leverages of a clean round; `false` where its plan is not known.
    fn charge_clean(&mut self, shape: &Shape, tally: &mut Tally, at: u32) -> bool {
        let round = &self.rounds[&at];
        let Some(&epoch) = round.epochs.first() else { return false };
        let Some(members) = self.members(shape, epoch) else { return false };
        let Some(plan) = self.plan(shape, (at, epoch), &members) else { return false };
        let mut variances = vec![0.0; members.len()];
        let mut kinds = vec![round.released.first().map_or(0, |&(_, kind)| kind); members.len()];
        for &(source, kind) in &round.released {
            let Ok(position) = members.binary_search(&source) else { return false };
            // What has no noise hides nobody, and what hides differs with the noise.
            let Some(relative) = tally.relative_variance(kind, &shape.release) else { return false };
            variances[position] = shape.variance(source) * relative;
            kinds[position] = kind;
        }
        if shape.witnesses.is_some() && !round.released.is_empty() {
            // Others' lines are not here; how many contributed is known where the sum says so.
            let (Some(&count), 1) = (round.counts.first(), round.counts.len()) else { return false };
            let drawn = shape.algorithm.drawn(&shape.key, at, members.len());
            let contributes = |position: usize| drawn.as_ref().is_none_or(|drawn| drawn[position]);
            let expected = (0..members.len()).filter(|&position| contributes(position)).count();
            let Some(silent) = expected.checked_sub(count as usize) else { return false };
            // Who was not drawn has nothing to contribute: such a line is not of this run.
            if (0..members.len()).any(|position| variances[position] > 0.0 && !contributes(position)) {
                return false;
            }
            if silent > 0 {
                let equal = shape.noise.is_empty() && variances.iter().all(|&one| one == 0.0 || one == 1.0);
                if equal {
                    let leverages = Leverages::of_count(Arc::new(plan), drawn, count as usize);
                    charge_with_silent(shape, tally, &leverages, &members, &round.released);
                    // Who was silent is not known: for a coalition nobody hides anybody.
                    self.clean.push(Clean { round: at, epoch, variances });
                }
                return equal;
            }
            for (position, variance) in variances.iter_mut().enumerate() {
                let told = *variance > 0.0 || !contributes(position);
                *variance = if told { *variance } else { shape.variance(members[position]) };
            }
        }
        if !round.released.is_empty() {
            let blocks = Blocks::with_variances(&plan, |position| variances[position]);
            tally.charge_round(&blocks, &members, &kinds);
            charge_outsiders(tally, &blocks, &members, &round.released);
        }
        self.clean.push(Clean { round: at, epoch, variances });
        true
    }

    /// What every node lost towards a coalition, in the units of the tally.
    fn spent_towards(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        watchers: &Watchers,
    ) -> Result<Vec<f64>, NetworkError> {
        let mut total = tally.in_full();
        for (source, kind) in self.pending() {
            tally.price_into(&mut total, (source, kind), 1.0);
        }
        for clean in &self.clean {
            let kinds: BTreeMap<usize, usize> = self.rounds[&clean.round].released.iter().copied().collect();
            let Some(members) = self.members(shape, clean.epoch) else {
                // Lines that came later contradict its roster: nobody is known to hide anybody.
                kinds.iter().for_each(|(&source, &kind)| tally.price_into(&mut total, (source, kind), 1.0));
                continue;
            };
            let plan = self.plan(shape, (clean.round, clean.epoch), &members);
            let leverages = coalition_in(shape, (clean, plan), &members, watchers)?;
            for (source, leverage) in leverages.into_iter().enumerate() {
                if let Some(&kind) = kinds.get(&source) {
                    tally.price_into(&mut total, (source, kind), leverage);
                }
            }
        }
        // Sums of up to 2^32 terms: their rounding stays below this share.
        total.iter_mut().for_each(|sum| *sum *= 1.0 + 1e-12);
        Ok(total)
    }
}

impl Fold for RoundsFold {
    fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent) {
        match event {
            RunEvent::Released { round, release, .. } => {
                let kind = tally.kind(release.as_ref().unwrap_or(&shape.release));
                tally.count(node, kind);
                self.on_released(tally, *round, (node, kind));
            }
            RunEvent::Roster { epoch, round, members, model, apart } => {
                self.on_roster(shape, *epoch, members, apart);
                self.note(tally, *round, |round| round.starts.insert(*model));
            }
            RunEvent::RoundDone { round, epoch, start, end, count } => {
                self.note(tally, *round, |round| {
                    round.reports.insert(node);
                    round.counts.insert(*count);
                    round.epochs.insert(*epoch) | round.starts.insert(*start) | round.ends.insert(*end)
                });
                self.settle_before(shape, tally, *round);
            }
            RunEvent::RoundBroken { round, epoch, start, .. } => {
                self.note(tally, *round, |round| {
                    round.reports.insert(node);
                    round.epochs.insert(*epoch) | round.starts.insert(*start)
                });
            }
            _ => {}
        }
    }

    fn end(&mut self, shape: &Shape, tally: &mut Tally) {
        self.settle_final(shape, tally);
    }

    fn unsettled(&self) -> Vec<(usize, usize)> {
        self.pending().collect()
    }

    fn broken(&self) -> u64 {
        self.broken
    }

    fn table(&self, _shape: &Shape, tally: &mut Tally, _watchers: Vec<usize>, local: &[f64]) -> Table {
        let pending = tally.pending(self.pending());
        tally.table(&pending, local)
    }

    fn epsilon(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        (source, watcher): (usize, usize),
        local: &[f64],
    ) -> f64 {
        let pending = tally.pending(self.pending());
        let spent = tally.spent(source, watcher, &pending);
        let epsilon = spent.map(|spent| tally.units.epsilon(&spent, shape.delta));
        epsilon.unwrap_or(f64::INFINITY).min(local[source])
    }

    fn coalition(
        &self,
        shape: &Shape,
        tally: &mut Tally,
        watchers: &Watchers,
        epsilons: &mut [f64],
    ) -> Result<String, NetworkError> {
        let spent = self.spent_towards(shape, tally, watchers)?;
        let width = tally.units.len();
        for (epsilon, spent) in epsilons.iter_mut().zip(spent.chunks_exact(width)) {
            *epsilon = epsilon.min(tally.units.epsilon(spent, shape.delta));
        }
        Ok("rounds".to_owned())
    }

    fn copy(&self) -> Box<dyn Fold> {
        Box::new(self.clone())
    }
}

/// Charges a round in which some, nobody knows who, added nothing: as if all of them had been in every sum that a watcher heard.
fn charge_with_silent(
    shape: &Shape,
    tally: &mut Tally,
    leverages: &Leverages,
    members: &[usize],
    released: &[(usize, usize)],
) {
    let peers: Vec<PeerIx> = members.iter().map(|&member| member as PeerIx).collect();
    for &(source, kind) in released {
        let Ok(position) = members.binary_search(&source) else { continue };
        let all = leverages.towards_all(position, &peers, shape.nodes);
        for (watcher, leverage) in all.into_iter().enumerate().filter(|(watcher, _)| *watcher != source) {
            tally.charge((source, watcher), kind, leverage);
        }
    }
}

/// Those outside the roster learn the total at most.
fn charge_outsiders(tally: &mut Tally, blocks: &Blocks, members: &[usize], released: &[(usize, usize)]) {
    let strangers: Vec<usize> =
        tally.watchers().iter().copied().filter(|node| members.binary_search(node).is_err()).collect();
    for &(source, kind) in released {
        let Ok(position) = members.binary_search(&source) else { continue };
        let leverage = outside(blocks, position);
        strangers.iter().for_each(|&watcher| tally.charge((source, watcher), kind, leverage));
    }
}

/// Exact leverages of one clean round towards a coalition, by linear algebra on all nodes: those outside the roster keep to themselves, and see the total.
fn coalition_in(
    shape: &Shape,
    (clean, plan): (&Clean, Option<Plan>),
    members: &[usize],
    watchers: &Watchers,
) -> Result<Vec<f64>, NetworkError> {
    let mut total = vec![0.0; shape.nodes];
    let variances = &clean.variances;
    let inside: Vec<usize> =
        watchers.members().iter().filter_map(|member| members.binary_search(member).ok()).collect();
    if inside.len() == members.len() {
        return Ok(total);
    }
    let contributors = || (0..members.len()).filter(|&at| variances[at] > 0.0);
    let Some(plan) = plan else {
        contributors().for_each(|at| total[members[at]] = 1.0);
        return Ok(total);
    };
    if inside.is_empty() {
        let blocks = Blocks::with_variances(&plan, |at| variances[at]);
        contributors().for_each(|at| total[members[at]] = outside(&blocks, at));
        return Ok(total);
    }
    let steps = (0..plan.steps()).map(|step| Step::new(plan.matrix(step))).collect();
    let contributes = variances.iter().map(|&variance| variance > 0.0).collect();
    let phase = Phase::new(steps).with_contributors(contributes).with_consensus(true);
    let run = Run::new(members.len(), vec![phase])?;
    let noise: Vec<f64> =
        variances.iter().map(|&variance| if variance > 0.0 { variance.sqrt() } else { 1.0 }).collect();
    let losses = rounds::loss_with_noise(&run, &Watchers::new(&inside, members.len())?, &noise);
    for ((&member, loss), noise) in members.iter().zip(losses).zip(&noise) {
        total[member] = (loss * noise * noise * (1.0 + 1e-13)).min(1.0);
    }
    Ok(total)
}

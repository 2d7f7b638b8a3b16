//! From a gradient to something that may be sent: budget, compute, record, and only then release.

use crate::PeerIx;
use crate::account::Prices;
use crate::core::Core;
use crate::event::RunEvent;
use crate::masks::Hidden;
use crate::node::{Output, Record};
use crate::settings::{BudgetRule, Scope, Settings};
use crate::work::{Computed, Given, Job};

/// Where the current contribution stands.
///
/// Invariant: values leave only by [`on_recorded`](Self::on_recorded), after the driver said that the record is durable.
#[derive(Debug, Default)]
pub(crate) enum Contribution {
    #[default]
    None,
    Computing {
        round: u32,
        /// How well masks hide it; charged when it is recorded.
        hidden: Option<Hidden>,
    },
    /// Noise and no data: there is nothing to record.
    Resounding { round: u32 },
    Recording {
        round: u32,
        id: u64,
        values: Given,
        release: Option<privacy::event::DpEvent>,
        among: Option<u32>,
        loss: Option<f64>,
    },
}

/// The token and generation of a walk's contribution; zeros elsewhere.
pub(crate) type TokenLabel = (u32, u32);

impl Contribution {
    /// Asks the budget; if it agrees, asks the driver to compute. `pending` earlier contributions are not settled yet and count in full.
    pub(crate) fn begin(&mut self, core: &mut Core, job: Job, pending: u32) -> bool {
        let round = job.round;
        let job = Job { mechanism: core.settings.mechanism.clone(), ..job };
        if let Err(reason) = core.budget.admits(&core.settings, pending) {
            core.log(RunEvent::Refused { round, reason });
            *self = Self::None;
            return false;
        }
        *self = Self::Computing { round, hidden: None };
        core.outputs.push(Output::Compute(job));
        true
    }

    /// As [`begin`](Self::begin) beside neighbours that hide it, at a price that is known.
    pub(crate) fn begin_beside(&mut self, core: &mut Core, job: Job, hidden: Hidden) -> bool {
        let round = job.round;
        if let Err(reason) = core.budget.admits_hidden(&core.settings, (core.me, hidden)) {
            core.log(RunEvent::Refused { round, reason });
            *self = Self::None;
            return false;
        }
        *self = Self::Computing { round, hidden: Some(hidden) };
        let mechanism = core.settings.mechanism.clone();
        core.outputs.push(Output::Compute(Job { mechanism, ..job }));
        true
    }

    /// As [`begin`](Self::begin) for a masked round, whose price is known. Noise is made in any case: where the budget, or too few members, refuse data, it is
    /// made without, since the others count on it.
    pub(crate) fn begin_hidden(&mut self, core: &mut Core, job: Job, hidden: Hidden) {
        let round = job.round;
        let few = || format!("only {} members: nobody could hide among them", hidden.among);
        let enough = if hidden.is_enough { Ok(()) } else { Err(few()) };
        let refused =
            enough.and_then(|()| core.budget.admits_hidden(&core.settings, (core.me, hidden))).err();
        let only_noise = refused.is_some();
        if let Some(reason) = refused {
            core.log(RunEvent::Refused { round, reason });
            *self = Self::Resounding { round };
        } else {
            *self = Self::Computing { round, hidden: Some(hidden) };
        }
        let mechanism = core.settings.mechanism.clone();
        core.outputs.push(Output::Compute(Job { mechanism, only_noise, ..job }));
    }

    /// Noise and no data, for a masked round in which the others count on it.
    pub(crate) fn begin_noise(&mut self, core: &mut Core, job: Job) {
        *self = Self::Resounding { round: job.round };
        let mechanism = core.settings.mechanism.clone();
        core.outputs.push(Output::Compute(Job { mechanism, only_noise: true, ..job }));
    }

    /// The contribution is there: it must be recorded before anything else. An answer that nobody waits for is dropped, unsent. What has no data in it is
    /// given back and may be sent at once.
    pub(crate) fn on_computed(&mut self, core: &mut Core, computed: Computed) -> Option<Given> {
        let hidden = match self {
            Self::Computing { round, hidden } if *round == computed.round => hidden.take(),
            // Data that come too late for their round are no noise.
            Self::Resounding { round } if *round == computed.round && !computed.has_data() => {
                *self = Self::None;
                return Some(computed.contribution);
            }
            _ => return None,
        };
        let id = core.next_record;
        core.next_record += 1;
        let among = hidden.map(|hidden| hidden.among);
        if let Some(hidden) = hidden {
            // Before the record is durable, and whatever becomes of the round.
            core.budget.charge_hidden(&core.settings, (core.me, hidden));
        }
        let record = Record { id, round: computed.round, release: computed.release.clone(), among };
        core.outputs.push(Output::Record(record));
        *self = Self::Recording {
            round: computed.round,
            id,
            values: computed.contribution,
            release: (computed.release != core.settings.release).then_some(computed.release),
            among,
            loss: computed.loss,
        };
        None
    }

    /// The record is durable: the contribution may be sent.
    pub(crate) fn on_recorded(
        &mut self,
        core: &mut Core,
        recorded: u64,
        (token, generation): TokenLabel,
    ) -> Option<(u32, Given)> {
        if !matches!(self, Self::Recording { id, .. } if *id == recorded) {
            return None;
        }
        let Self::Recording { round, values, release, among, loss, .. } = std::mem::take(self) else {
            return None;
        };
        core.log(RunEvent::Released { round, token, generation, release, among, loss });
        Some((round, values))
    }

    /// Whether a record was asked for and not answered: it may be on disk, so it is charged.
    pub(crate) fn is_recording(&self) -> bool {
        matches!(self, Self::Recording { .. })
    }
}

/// What this node has spent, by each rule of the settings.
///
/// Invariant: never less than what others can have learnt, by the rule's price; what is not settled counts in full.
#[derive(Debug)]
pub(crate) struct Budget {
    rules: Vec<Spent>,
}

#[derive(Debug)]
struct Spent {
    /// Spent towards each peer, or one number where the rule is about somebody who sees everything.
    spent: Vec<f64>,
    /// Leverages repeat, and some prices are dear to compute.
    prices: Prices,
    in_full: f64,
}

impl Budget {
    pub(crate) fn new(settings: &Settings) -> Self {
        let fresh = |rule: &BudgetRule| Spent {
            spent: vec![0.0; entries(rule, settings.nodes)],
            prices: Prices::new(vec![rule.price.clone()]),
            in_full: rule.price.of(1.0),
        };
        Self { rules: settings.budget.iter().map(fresh).collect() }
    }

    /// Takes over what was saved; of `records` contributions `unsettled` came after that and may have been sent: in full, or as `hidden` says where masks
    /// hid them. A rule of which nothing was saved is new: it is charged in full for everything that was ever recorded.
    pub(crate) fn restore(
        &mut self,
        settings: &Settings,
        saved: &[Vec<f64>],
        (unsettled, records): (u64, u64),
        hidden: Option<(PeerIx, Hidden)>,
    ) {
        for (at, (rule, state)) in settings.budget.iter().zip(&mut self.rules).enumerate() {
            let known = saved.get(at).and_then(|saved| grown(saved, state.spent.len()));
            // One by one, as they were or would have been charged.
            match (known, hidden) {
                (Some(saved), Some(hidden)) => {
                    state.spent = saved;
                    // Each may have been a contribution or a look.
                    for _ in 0..unsettled {
                        state.charge_hidden(rule.scope, hidden);
                        state.charge_look(rule, hidden);
                    }
                }
                (Some(saved), None) => {
                    state.spent = saved;
                    (0..unsettled).for_each(|_| state.charge_in_full());
                }
                (None, _) => (0..records).for_each(|_| state.charge_in_full()),
            }
        }
    }

    /// What was spent, with `pending` unsettled contributions charged in full.
    pub(crate) fn saved(&self, pending: u32) -> Vec<Vec<f64>> {
        let charged = |state: &Spent| {
            let more = if pending == 0 { 0.0 } else { state.in_full * f64::from(pending) };
            state.spent.iter().map(|spent| spent + more).collect()
        };
        self.rules.iter().map(charged).collect()
    }

    /// Whether one more contribution fits even if it and `pending` earlier ones are charged in full.
    pub(crate) fn admits(&self, settings: &Settings, pending: u32) -> Result<(), String> {
        for (rule, state) in settings.budget.iter().zip(&self.rules) {
            let after = state.total(rule.scope) + state.in_full * f64::from(pending + 1);
            // Written so that NaN is refused.
            let fits = after <= rule.limit;
            if !fits {
                let part = 100.0 * state.total(rule.scope) / rule.limit;
                return Err(format!(
                    "{part:.1} % of {} spent, one more contribution could pass it",
                    rule.name
                ));
            }
        }
        Ok(())
    }

    /// At least as many contributions as still fit, charged in full, beside `pending` ones that are not settled.
    pub(crate) fn room(&self, settings: &Settings, pending: u32) -> u64 {
        let room = |(rule, state): (&BudgetRule, &Spent)| {
            let fits = (rule.limit - state.total(rule.scope)) / state.in_full - f64::from(pending);
            // One more for what rounding hides; what is no number does not bound anything.
            if fits.is_nan() { u64::MAX } else { (fits.max(0.0) as u64).saturating_add(1) }
        };
        settings.budget.iter().zip(&self.rules).map(room).min().unwrap_or(u64::MAX)
    }

    /// Whether one more contribution to a masked round fits.
    pub(crate) fn admits_hidden(
        &mut self,
        settings: &Settings,
        (me, hidden): (PeerIx, Hidden),
    ) -> Result<(), String> {
        for (rule, state) in settings.budget.iter().zip(&mut self.rules) {
            let before = state.spent.clone();
            state.charge_hidden(rule.scope, (me, hidden));
            // Whether the round is looked into is not known yet.
            state.charge_look(rule, (me, hidden));
            let after = state.total(rule.scope);
            state.spent = before;
            let fits = after <= rule.limit;
            if !fits {
                let part = 100.0 * state.total(rule.scope) / rule.limit;
                return Err(format!(
                    "{part:.1} % of {} spent, one more contribution would pass it",
                    rule.name
                ));
            }
        }
        Ok(())
    }

    /// One contribution to a masked round, however the round goes.
    pub(crate) fn charge_hidden(&mut self, settings: &Settings, hidden: (PeerIx, Hidden)) {
        for (rule, state) in settings.budget.iter().zip(&mut self.rules) {
            state.charge_hidden(rule.scope, hidden);
        }
    }

    /// A look into a masked round to which this node contributed.
    pub(crate) fn charge_look(&mut self, settings: &Settings, hidden: (PeerIx, Hidden)) {
        for (rule, state) in settings.budget.iter().zip(&mut self.rules) {
            state.charge_look(rule, hidden);
        }
    }

    /// One contribution, seen by everybody.
    pub(crate) fn charge_in_full(&mut self) {
        self.rules.iter_mut().for_each(Spent::charge_in_full);
    }

    /// One contribution of which peer `p` saw `leverages[p]`.
    pub(crate) fn charge(&mut self, settings: &Settings, leverages: &[f64]) {
        debug_assert!(leverages.iter().all(|seen| (0.0..=1.0).contains(seen)), "leverages: {leverages:?}");
        for (rule, state) in settings.budget.iter().zip(&mut self.rules) {
            match rule.scope {
                Scope::Local => state.spent[0] += state.in_full,
                Scope::Worst | Scope::Mean => {
                    for (spent, &leverage) in state.spent.iter_mut().zip(leverages) {
                        *spent += state.prices.of(leverage)[0];
                    }
                }
            }
        }
    }

    /// Whether any rule asks who saw how much.
    pub(crate) fn looks_at_peers(settings: &Settings) -> bool {
        settings.budget.iter().any(|rule| rule.scope != Scope::Local)
    }

    pub(crate) fn spent_fractions(&self, settings: &Settings) -> Vec<f64> {
        let part = |(rule, state): (&BudgetRule, &Spent)| state.total(rule.scope) / rule.limit;
        settings.budget.iter().zip(&self.rules).map(part).collect()
    }
}

impl Spent {
    /// The worst case is about any colluders together, the mean about one member at a time.
    fn charge_hidden(&mut self, scope: Scope, (me, hidden): (PeerIx, Hidden)) {
        let leverage = match scope {
            Scope::Local => return self.charge_in_full(),
            Scope::Worst => hidden.coalition,
            Scope::Mean => hidden.one,
        };
        let price = self.prices.of(leverage)[0];
        debug_assert!(price >= 0.0, "what is spent never falls: {price} at {leverage}");
        let others = self.spent.iter_mut().enumerate().filter(|(peer, _)| *peer != me as usize);
        others.for_each(|(_, spent)| *spent += price);
    }

    /// Somebody who sees every message sees nothing more by it; for others it is a release of its own, without amplification.
    fn charge_look(&mut self, rule: &BudgetRule, (me, hidden): (PeerIx, Hidden)) {
        if rule.scope == Scope::Local || hidden.look == 0.0 {
            return;
        }
        let price = rule.price.unsampled().of(hidden.look);
        let others = self.spent.iter_mut().enumerate().filter(|(peer, _)| *peer != me as usize);
        others.for_each(|(_, spent)| *spent += price);
    }

    fn charge_in_full(&mut self) {
        self.spent.iter_mut().for_each(|spent| *spent += self.in_full);
    }

    fn total(&self, scope: Scope) -> f64 {
        match scope {
            Scope::Local | Scope::Worst => self.spent.iter().copied().fold(0.0, f64::max),
            Scope::Mean => self.spent.iter().sum::<f64>() / (self.spent.len().max(2) - 1) as f64,
        }
    }
}

/// What was spent towards each of so many: who joined since had no seat before, and learns from the model no more than whoever learnt most.
///
/// # Guarantee
/// What is spent towards a new member is at least what each round charges towards whoever has no seat: towards every member it charges no less.
fn grown(saved: &[f64], entries: usize) -> Option<Vec<f64>> {
    if saved.is_empty() || saved.len() > entries {
        return None;
    }
    let most = saved.iter().copied().fold(0.0, f64::max);
    let mut spent = saved.to_vec();
    spent.resize(entries, most);
    Some(spent)
}

fn entries(rule: &BudgetRule, nodes: usize) -> usize {
    match rule.scope {
        Scope::Local => 1,
        Scope::Worst | Scope::Mean => nodes,
    }
}

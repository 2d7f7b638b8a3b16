//! What all participants of averaging rounds share.

use std::sync::{Arc, OnceLock};

use topology::schedule::{RunKey, shuffled_order};

use super::RoundsFold;
use super::exchange::Meetings;
use super::leverage::meetings_apart;
use super::masks::{Hidden, LookTerms, Looks, MaskGraph, MaskSettings, MaskedFold, split_chance};
use super::proved;
use super::robust::{Pool, Robust, RobustFold};
use crate::PeerIx;
use crate::account::Shape;
use crate::account::plan::MOST_NODES;
use crate::agreement::{Charter, Credentials};
use crate::algorithm::Fold;
use crate::config::{Config, ExchangeKind, Masking, PrivacyConfig, Proofs};
use crate::settings::Settings;

/// No round of an exchange: who contributes is drawn in an order of its own.
const DRAW: u64 = 1 << 41;

/// Settings of averaging rounds.
#[derive(Debug, Clone)]
pub struct RoundsSettings {
    plans: Arc<Plans>,
    /// Of a simulation, made by whoever needs it first.
    charter: Arc<OnceLock<Arc<Charter>>>,
    /// Masks, where there are any.
    pub(crate) masks: Option<MaskSettings>,
    /// Looks into masked rounds, and what they follow from.
    pub(crate) looks: Option<Looks>,
    look_terms: Option<LookTerms>,
    exchange: ExchangeKind,
    /// δ of the run.
    delta: f64,
    /// Of the model, once they are known.
    parameters: usize,
    /// Who shares streams with whom in a roster of so many, kept for the first that was asked about.
    graph: Arc<OnceLock<(usize, MaskGraph)>>,
    /// How contributions are put together, where members may lie in them.
    pub(super) robust: Option<Robust>,
    pub(super) pool: Arc<Pool>,
    /// Proofs of what is under the masks, where there are any.
    pub(super) proved: Option<Arc<proved::Pool>>,
    /// f, where proofs may name so many.
    pub(super) hostile: usize,
    /// Members that contribute to a round; `None`: all.
    sample: Option<usize>,
    /// Last rounds whose models are averaged into the result; 0 for none.
    averaged: u32,
    /// Whether the first assembly of a simulation seats who came, as that of real nodes does.
    pub(super) late: bool,
}

/// Parameters from which on masked words are added up by halving: below, more messages cost more than fewer words save.
const HALVES_FROM: usize = 10_000;

/// The numbers of rounds that a run of so many may use up: broken ones are made up for, but not without end.
pub(super) fn most_numbers(rounds: u32) -> u32 {
    rounds.saturating_mul(4).saturating_add(64)
}

/// The plan of each round, made by whichever participant asks first: a simulation has thousands in one process. The plan follows from the
/// run, the round and the roster alone, so it does not matter who made it.
#[derive(Debug)]
struct Plans(Vec<OnceLock<MadePlan>>);

/// A plan, and the roster for which it was made.
type MadePlan = (Arc<[PeerIx]>, Meetings);

/// A round with its members, and who of them must not be partners before which round.
pub(super) type RoundOf<'a> = (u32, &'a Arc<[PeerIx]>, &'a [(PeerIx, PeerIx, u32)]);

impl RoundsSettings {
    /// For a run of so many rounds, without masks.
    pub fn new(rounds: u32) -> Self {
        let plans = Arc::new(Plans((0..rounds).map(|_| OnceLock::new()).collect()));
        Self {
            plans,
            charter: Arc::default(),
            masks: None,
            looks: None,
            look_terms: None,
            exchange: ExchangeKind::Auto,
            delta: 0.0,
            parameters: 0,
            graph: Arc::default(),
            robust: None,
            pool: Arc::default(),
            proved: None,
            hostile: 0,
            sample: None,
            averaged: 0,
            late: false,
        }
    }

    /// As a configuration says.
    pub(crate) fn of(config: &Config) -> Self {
        let PrivacyConfig { masking, colluders, least, delta, .. } = config.privacy;
        let masks = (masking == Masking::Pairwise).then_some(MaskSettings { colluders, least });
        let robust = config.tolerate.map(|tolerate| Robust { tolerate });
        let averaged = (config.average * f64::from(config.rounds)).ceil() as u32;
        let (exchange, sample) = (config.algorithm.exchange, config.algorithm.sample);
        let look_terms = masks.map(|_| LookTerms {
            rounds: config.rounds,
            hostile: config.hostile_members(),
            nodes: config.nodes,
            delta,
            rate: config.privacy.inspect,
        });
        let late = config.late;
        if config.privacy.proofs == Proofs::Range {
            let (proved, hostile) = (Some(Arc::default()), config.hostile_members() as usize);
            return Self { masks, proved, hostile, delta, ..Self::new(1) };
        }
        Self {
            masks,
            look_terms,
            robust,
            exchange,
            delta,
            sample,
            averaged,
            late,
            ..Self::new(config.rounds)
        }
    }

    /// The same where the first assembly seats who came.
    #[must_use]
    pub fn with_late(mut self) -> Self {
        self.late = true;
        self
    }

    /// The same with a rule that bears so many liars.
    #[must_use]
    pub fn with_robust(mut self, robust: Robust) -> Self {
        self.robust = Some(robust);
        self
    }

    /// Whether every member tells all the same, and no sums are passed on.
    pub(super) fn is_open(&self) -> bool {
        self.robust.is_some() || self.proved.is_some()
    }

    /// Rounds that a run of so many may begin with data, where one that comes to nothing is begun again.
    pub(crate) fn attempts(&self, rounds: u32) -> u32 {
        if self.proved.is_some() { most_numbers(rounds) } else { rounds }
    }

    /// The most numbers that a message carries, beside those of a model of so many parameters.
    pub(crate) fn most_shown(&self, parameters: usize, members: usize) -> usize {
        self.proved.as_ref().map_or(0, |_| proved::most_words(parameters, members))
    }

    /// Says how many parameters the model has.
    pub(crate) fn set_parameters(&mut self, parameters: usize) {
        (self.parameters, self.graph) = (parameters, Arc::default());
        self.looks = self.look_terms.and_then(|terms| Looks::of(terms, parameters));
    }

    /// Prices every round as if it were looked into.
    pub(crate) fn look_always(&mut self) {
        self.looks = self.looks.zip(self.look_terms).map(|(looks, terms)| looks.in_every_round(terms));
    }

    /// How well a round of so many hides a contribution; `None` where there are no masks.
    pub(crate) fn hidden(&self, among: usize) -> Option<Hidden> {
        let (look, part) = self.looks.map_or((0.0, 0.0), |looks| (looks.price(among), looks.part()));
        self.masks.map(|masks| masks.hidden(among).with_look(look, part))
    }

    /// What goes into δ where there was a look.
    pub(crate) fn look_chance(&self) -> f64 {
        self.look_terms.map_or(0.0, |terms| terms.chance())
    }

    /// Who shares streams with whom in a roster of so many: all pairs, but in large rosters, as long as δ has room for that they might be split.
    pub(super) fn mask_graph(&self, members: usize) -> MaskGraph {
        let Some(masks) = self.masks else { return MaskGraph::Complete };
        if self.worst_chance() > self.delta / 2.0 {
            return MaskGraph::Complete;
        }
        let make = || MaskGraph::of(members, self.parameters, masks.colluders);
        let (made_for, graph) = *self.graph.get_or_init(|| (members, make()));
        if made_for == members { graph } else { make() }
    }

    /// Rounds for which it was made.
    pub(crate) fn planned(&self) -> u32 {
        self.plans.0.len() as u32
    }

    /// The chance that goes into δ: no roster is larger than the first.
    pub(crate) fn split_chance(&self, nodes: usize) -> f64 {
        match self.mask_graph(nodes) {
            MaskGraph::Complete => 0.0,
            MaskGraph::Circle { .. } => self.worst_chance(),
        }
    }

    fn worst_chance(&self) -> f64 {
        split_chance(u64::from(most_numbers(self.planned())))
    }

    /// Whether words are added up by [halving](super::halving): where they are masked, as was said or many enough, and every member has some.
    pub(super) fn halves(&self, parameters: usize, members: usize) -> bool {
        let wanted = match self.exchange {
            ExchangeKind::Auto => parameters >= HALVES_FROM,
            ExchangeKind::Doubling => false,
            ExchangeKind::Halving => true,
        };
        wanted && self.masks.is_some() && members <= parameters
    }

    /// The same where so many members contribute to each round.
    #[must_use]
    pub fn with_sample(mut self, members: usize) -> Self {
        self.sample = Some(members);
        self
    }

    /// Who contributes to a round, by position in its roster; `None` where all do.
    ///
    /// # Guarantee
    /// Public: a function of the run's key, the round and the size of the roster. No amplification is counted for it.
    pub(crate) fn drawn(&self, key: &RunKey, round: u32, members: usize) -> Option<Vec<bool>> {
        let sample = self.sample.filter(|sample| *sample < members)?;
        let mut drawn = vec![false; members];
        let order = shuffled_order(key, DRAW | u64::from(round), members);
        order.into_iter().take(sample).for_each(|at| drawn[at as usize] = true);
        Some(drawn)
    }

    /// Rounds of an undisturbed run to which the member contributes that is drawn most often; all, where rosters are so large that nobody counts.
    pub(crate) fn most_drawn(&self, shape: &Shape) -> u32 {
        self.times_drawn(shape).into_iter().max().unwrap_or(shape.rounds)
    }

    /// To how many rounds of an undisturbed run each member contributes; empty where that is all of them, or not counted.
    pub(super) fn times_drawn(&self, shape: &Shape) -> Vec<u32> {
        if self.sample.is_none_or(|sample| sample >= shape.nodes) || shape.nodes > MOST_NODES {
            return Vec::new();
        }
        let mut times = vec![0; shape.nodes];
        for round in 0..shape.rounds {
            let drawn = self.drawn(&shape.key, round, shape.nodes).unwrap_or_default();
            times.iter_mut().zip(drawn).for_each(|(times, drawn)| *times += u32::from(drawn));
        }
        times
    }

    /// Whether the model after so many of all rounds is one of those that are averaged, and the how-manieth.
    pub(crate) fn averaged_at(&self, version: u32, rounds: u32) -> Option<u32> {
        let before = rounds.saturating_sub(self.averaged);
        version.checked_sub(before).filter(|place| *place > 0)
    }

    /// The same with masks.
    #[must_use]
    pub fn with_masks(mut self, masks: MaskSettings) -> Self {
        self.masks = Some(masks);
        self
    }

    /// An empty fold over the log of a run.
    pub(crate) fn fold(&self) -> Box<dyn Fold> {
        match self.masks {
            None if self.robust.is_some() => Box::new(RobustFold::default()),
            None => Box::new(RoundsFold::default()),
            Some(_) => Box::new(MaskedFold::default()),
        }
    }

    /// Who meets whom in a round: shuffled doubling over positions in its members.
    pub(super) fn meetings(&self, key: &RunKey, (round, members, apart): RoundOf<'_>) -> Meetings {
        let make = || meetings_apart(key, round, members, apart).expect("a roster is not empty");
        let slot = self.plans.0.get(round as usize).filter(|_| apart.is_empty());
        let Some(slot) = slot else { return make() };
        let (made_for, meetings) = slot.get_or_init(|| (members.clone(), make()));
        if made_for == members { meetings.clone() } else { make() }
    }

    /// Whether the first assembly of a simulation seats who came.
    pub(crate) fn seats_who_comes(&self) -> bool {
        self.late
    }

    /// The charter of a simulation, whose keys everybody can compute.
    pub(super) fn charter(&self, settings: &Settings) -> &Arc<Charter> {
        self.charter.get_or_init(|| Credentials::danger_charter(settings, self.late))
    }
}

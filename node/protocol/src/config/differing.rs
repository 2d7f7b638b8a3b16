//! What must fit together where data differ: which state may enter a contribution, under which algorithm and at which level.

use learn::model::ModelSpec;
use learn::optimiser::OptimiserSpec;
use topology::{ScheduleSpec, Weights};

use super::error::ConfigError;
use super::read::Reader;
use super::{Config, Correction, Masking, NoiseKind, PersonalKind};
use crate::settings::Scope;
use crate::work::Adjacency;

/// Why records and state of a node do not go together.
const RECORDS: &str = "one record moves the state, and the state moves every record's gradient: the sensitivity is no longer that of one record";
const NODES: &str = "use `privacy.unit = \"node\"`: where records or persons are protected, state that enters contributions must come from releases of its own";
/// Why own noise must not come back.
const OWN_NOISE: &str = "it brings a node's own noise back, and the noise that hid another is told later: no analysis but `local` holds";
const LOCAL: &str = "use `privacy.target = \"local\"`, where every release is known anyway, or a run without noise (`privacy.epsilon = inf`)";

pub(super) fn check(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let conflicts = Conflicts { reader, config };
    conflicts.slots()?;
    conflicts.sample()?;
    conflicts.average()?;
    conflicts.levels()?;
    conflicts.own_noise()?;
    conflicts.correction()?;
    conflicts.pull()?;
    conflicts.mixture()?;
    conflicts.words()?;
    conflicts.foreign()?;
    conflicts.steps()
}

/// Which part of the way to its neighbours a node's model goes in a round: as far as its own gradient with the pull in it would.
pub(crate) fn pulled(config: &Config) -> f64 {
    config.algorithm.pull.unwrap_or(0.0) * config.learning_rate * config.local_steps as f64
}

struct Conflicts<'a> {
    reader: &'a Reader<'a>,
    config: &'a Config,
}

impl Conflicts<'_> {
    /// Keys that are in use and need a level, an algorithm or a plain step.
    fn used(&self) -> Vec<(&'static str, String)> {
        let (local, algorithm) = (&self.config.local, &self.config.algorithm);
        let quantile = self.config.privacy.clip_quantile;
        let all = [
            ("local.proximal", local.proximal > 0.0, local.proximal.to_string()),
            ("local.scaffold", local.scaffold, "true".into()),
            ("local.look_ahead", local.look_ahead > 0.0, local.look_ahead.to_string()),
            ("algorithm.check_in", algorithm.check_in < 1.0, algorithm.check_in.to_string()),
            ("privacy.clip_quantile", quantile.is_some(), quantile.unwrap_or_default().to_string()),
        ];
        all.into_iter().filter(|(_, used, _)| *used).map(|(key, _, value)| (key, value)).collect()
    }

    fn conflict(
        &self,
        first: (&'static str, &str),
        second: (&'static str, &str),
        why: &str,
        hint: &str,
    ) -> ConfigError {
        ConfigError::Conflict {
            first: self.reader.pair(first.0, first.1),
            second: self.reader.pair(second.0, second.1),
            why: why.into(),
            hint: hint.into(),
            place: self.reader.place(second.0),
        }
    }

    /// A vector of several slots is added up by exact sums only.
    fn slots(&self) -> Result<(), ConfigError> {
        let (key, slots) = ("clusters.slots", self.config.clusters.slots);
        if slots > 1 && slots > self.config.nodes {
            let hint = "take one slot more than groups are expected".to_owned();
            let why = format!("must be at most the number of nodes, {}", self.config.nodes);
            return Err(self.reader.bad(key, why, Some(hint)));
        }
        if slots > 1 && self.config.privacy.adjacency == Adjacency::Person {
            let why = "a choice is priced for single records, and a person may have several";
            let hint = "use `privacy.unit = \"node\"`, where a choice costs nothing, or `\"record\"`";
            return Err(self.conflict(self.unit().as_pair(), (key, &slots.to_string()), why, hint));
        }
        if slots == 1 || self.config.algorithm.kind.has_totals() {
            return Ok(());
        }
        if self.config.algorithm.kind.has_server() {
            return self.told_slots(slots);
        }
        let why = "a choice that is remembered breaks what is certified of a step under gossip and walks, and a mean has no models";
        let hint = "use `algorithm.kind = \"rounds\"`: state that enters contributions is priced there";
        Err(self.conflict(self.kind().as_pair(), (key, &slots.to_string()), why, hint))
    }

    /// A server is told which slot a node takes, and no noise hides that.
    fn told_slots(&self, slots: usize) -> Result<(), ConfigError> {
        let (key, shown) = ("clusters.slots", slots.to_string());
        if self.config.privacy.adjacency != Adjacency::Node {
            let why = "a server adds up updates of whole nodes, slot by slot";
            let hint = "use `privacy.unit = \"node\"`, or `algorithm.kind = \"rounds\"`";
            return Err(self.conflict(self.unit().as_pair(), (key, &shown), why, hint));
        }
        if self.has_noise() {
            let why =
                "a server is told which slot each node takes: no noise covers that, and it has no price";
            let hint = "use `algorithm.kind = \"rounds\"`, where the slot stays hidden, or a run without noise (`privacy.epsilon = inf`)";
            return Err(self.conflict(self.kind().as_pair(), (key, &shown), why, hint));
        }
        Ok(())
    }

    fn has_noise(&self) -> bool {
        let privacy = &self.config.privacy;
        privacy.epsilon.map_or(privacy.noise_multiplier.unwrap_or(0.0) > 0.0, f64::is_finite)
    }

    /// Who contributes is drawn in public, for sums of one round.
    fn sample(&self) -> Result<(), ConfigError> {
        let (key, Some(sample)) = ("algorithm.sample", self.config.algorithm.sample) else { return Ok(()) };
        if sample > self.config.nodes {
            let why = format!("must be at most the number of nodes, {}", self.config.nodes);
            return Err(self.reader.bad(key, why, Some("use \"all\", or fewer".to_owned())));
        }
        let shown = sample.to_string();
        if !self.config.algorithm.kind.has_one_model() {
            let why = "only sums of whole rounds are made of those who were drawn";
            let hint = "use `algorithm.kind = \"rounds\"`, or `\"fedavg\"` to compare";
            return Err(self.conflict(self.kind().as_pair(), (key, &shown), why, hint));
        }
        if self.config.local.scaffold {
            let why = "the variates add up to nothing only where everybody moves its own in every round (option II)";
            let hint = "leave one of them out";
            return Err(self.conflict(("local.scaffold", "true"), (key, &shown), why, hint));
        }
        Ok(())
    }

    /// The mean over rounds is one of models that everybody has.
    fn average(&self) -> Result<(), ConfigError> {
        let average = self.config.average;
        if average == 0.0 || self.config.algorithm.kind.has_one_model() {
            return Ok(());
        }
        let why = "the models of a round are not one";
        let hint = "use `algorithm.kind = \"rounds\"`, where all have the same model, or leave `average` out";
        Err(self.conflict(self.kind().as_pair(), ("average", &average.to_string()), why, hint))
    }

    fn kind(&self) -> Shown {
        Shown("algorithm.kind", format!("{:?}", self.config.algorithm.kind.name()))
    }

    fn unit(&self) -> Shown {
        Shown("privacy.unit", format!("{:?}", self.config.privacy.adjacency.word()))
    }

    /// Where records or persons are protected, the model that local steps end in moves with every record of the node.
    fn levels(&self) -> Result<(), ConfigError> {
        let kind = self.config.algorithm.kind;
        for (key, value) in self.used() {
            if self.config.privacy.adjacency.is_sampled() {
                return Err(self.conflict(self.unit().as_pair(), (key, &value), RECORDS, NODES));
            }
            let plain = ["local.proximal", "local.look_ahead"].contains(&key);
            if !kind.has_totals() && !plain {
                let why = "it needs the model that all share in every round";
                let hint = "use `algorithm.kind = \"rounds\"`";
                return Err(self.conflict(self.kind().as_pair(), (key, &value), why, hint));
            }
        }
        Ok(())
    }

    fn own_noise(&self) -> Result<(), ConfigError> {
        let privacy = &self.config.privacy;
        let returns = match (self.config.local.scaffold, self.config.algorithm.correction) {
            (true, _) => Some(("local.scaffold", "true")),
            (false, Correction::D2) => Some(("algorithm.correction", "\"d2\"")),
            (false, Correction::None) => None,
        };
        match returns {
            Some(returns) if self.has_noise() && privacy.target != Scope::Local => {
                let target = if privacy.target == Scope::Mean { "\"mean\"" } else { "\"worst\"" };
                Err(self.conflict(("privacy.target", target), returns, OWN_NOISE, LOCAL))
            }
            _ => Ok(()),
        }
    }

    /// D² needs weights without negative eigenvalues.
    fn correction(&self) -> Result<(), ConfigError> {
        if self.config.algorithm.correction == Correction::None {
            return Ok(());
        }
        let pair = ("algorithm.correction", "\"d2\"");
        if !self.config.algorithm.kind.mixes_models() {
            let why = "D² corrects mixing with neighbours";
            return Err(self.conflict(self.kind().as_pair(), pair, why, "use `algorithm.kind = \"gossip\"`"));
        }
        if self.config.weights != Weights::LazyMetropolis {
            let why = "D² does not converge where weights have negative eigenvalues";
            let hint = "use `weights = \"lazy-metropolis\"`, which is (I + W)/2";
            return Err(self.conflict(("weights", &self.config.weights.to_string()), pair, why, hint));
        }
        Ok(())
    }

    /// One step of a fixed matrix goes λ·η of the way to the neighbours.
    fn pull(&self) -> Result<(), ConfigError> {
        let Some(pull) = self.config.algorithm.pull else { return Ok(()) };
        let (algorithm, key, shown) = (&self.config.algorithm, "algorithm.pull", pull.to_string());
        if !algorithm.kind.mixes_models() {
            let why = "only models that neighbours mix can be pulled towards each other";
            let hint = "use `algorithm.kind = \"gossip\"`";
            return Err(self.conflict(self.kind().as_pair(), (key, &shown), why, hint));
        }
        let steps = algorithm.mixing_steps.to_string();
        let others = [
            ("algorithm.mixing_steps", steps.as_str(), algorithm.mixing_steps > 1),
            ("algorithm.accelerate", "true", algorithm.accelerate),
            ("algorithm.correction", "\"d2\"", algorithm.correction != Correction::None),
            ("algorithm.schedule", "", algorithm.schedule != ScheduleSpec::Fixed),
        ];
        if let Some((other, value, _)) = others.into_iter().find(|(.., used)| *used) {
            let why =
                "the pull is one step along a fixed graph in each round; more would make the models one";
            return Err(self.conflict((other, value), (key, &shown), why, "leave one of them out"));
        }
        if pulled(self.config) > 1.0 {
            let why = "a round would go past the neighbours: `algorithm.pull` · `learning_rate` · `local_steps` must be at most 1";
            let rate = self.config.learning_rate.to_string();
            let hint = "use a smaller `learning_rate` and more `rounds`";
            return Err(self.conflict(("learning_rate", &rate), (key, &shown), why, hint));
        }
        Ok(())
    }

    /// Weights of single records are told to a server.
    fn mixture(&self) -> Result<(), ConfigError> {
        let has_models = self.config.algorithm.kind.has_server() && self.config.clusters.slots > 1;
        if !self.config.clusters.mixture || has_models {
            return Ok(());
        }
        let why = "weights of records move every model that a node sends: it is there to compare with, at a server that is told all";
        let hint = "use `algorithm.kind = \"fedavg\"` and `clusters.slots` above 1, or leave it out";
        Err(self.conflict(self.kind().as_pair(), ("clusters.mixture", "true"), why, hint))
    }

    /// What is remembered of releases, and bits beside them, are real numbers; private choices have no price in masked rounds yet.
    fn words(&self) -> Result<(), ConfigError> {
        let privacy = &self.config.privacy;
        let returns = if self.config.algorithm.correction == Correction::None {
            None
        } else {
            Some("algorithm.correction")
        };
        let used = self.used().into_iter().map(|(key, _)| key).chain(returns);
        let reals = ["local.scaffold", "privacy.clip_quantile", "algorithm.correction"];
        if let Some(key) =
            used.into_iter().find(|key| reals.contains(key) && privacy.noise == NoiseKind::Discrete)
        {
            let why = "it needs a node's own releases as real numbers";
            let hint = "use `privacy.noise = \"gaussian\"` and `privacy.masking = \"none\"`";
            return Err(self.conflict(("privacy.noise", "\"discrete\""), (key, ""), why, hint));
        }
        if self.config.clusters.slots > 1
            && privacy.adjacency == Adjacency::Record
            && privacy.masking == Masking::Pairwise
        {
            let why = "private choices at record level are not priced beside masks yet";
            let hint = "use `privacy.unit = \"node\"`, where a choice costs nothing, or `privacy.masking = \"none\"`";
            return Err(self.conflict(
                ("privacy.masking", "\"pairwise\""),
                ("clusters.slots", ""),
                why,
                hint,
            ));
        }
        Ok(())
    }

    /// What is done here with a model needs one that this program computes.
    fn foreign(&self) -> Result<(), ConfigError> {
        if !matches!(self.config.model, ModelSpec::External { .. }) {
            return Ok(());
        }
        let own = (self.config.personal.kind != PersonalKind::None).then_some("personal.kind");
        let slots = (self.config.clusters.slots > 1).then_some("clusters.slots");
        let d2 = (self.config.algorithm.correction != Correction::None).then_some("algorithm.correction");
        let used = self.used().into_iter().map(|(key, _)| key);
        match own.into_iter().chain(slots).chain(d2).chain(used).next() {
            None => Ok(()),
            Some(key) => {
                let why = "only models that this program computes itself have it";
                let hint = "leave it out, or use one of the built-in models";
                Err(self.conflict(("model.kind", "\"external\""), (key, ""), why, hint))
            }
        }
    }

    /// The rules above know what a plain step does with a contribution.
    fn steps(&self) -> Result<(), ConfigError> {
        let plain = matches!(self.config.optimiser, OptimiserSpec::Sgd { radius: None });
        let needs = self.config.algorithm.correction != Correction::None
            || self.config.local.scaffold
            || self.config.privacy.clip_quantile.is_some();
        if plain || !needs {
            return Ok(());
        }
        let why = "state that is kept beside the model follows plain steps only";
        let used = self.used();
        let key = used.first().map_or("algorithm.correction", |(key, _)| *key);
        Err(self.conflict(
            ("optimiser.kind", ""),
            (key, ""),
            why,
            "use `optimiser.kind = \"sgd\"` without a radius",
        ))
    }
}

/// A key with its value in words.
struct Shown(&'static str, String);

impl Shown {
    fn as_pair(&self) -> (&'static str, &str) {
        (self.0, &self.1)
    }
}

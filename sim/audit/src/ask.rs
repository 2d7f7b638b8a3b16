//! Attacks on a question: what its watchers learn about one record from the total, and what members that lie within their bounds add to that.
//!
//! Every trial makes the words of all members with the code that real members run, adds them up as masks would, and scores the total by how much of the canary's features is
//! in it, weighed by the noise of each block: of all tests the one that errs least on a Gaussian. The threshold lies halfway and is known before any trial. The watchers know all
//! other records, and their own words, which they take off.

use std::sync::Arc;

use privacy::event::DpEvent;
use privacy::gdp;
use privacy::mechanisms::grid::Words;
use privacy::noise::danger_from_seed;
use protocol::work::question::{Answering, Ask, Leg, Members, Question, ready};
use protocol::work::{Desk, Given, Job, NodeState, Room, Work};
use protocol::{PeerIx, RunId, Timeouts};
use questions::columns::{Columns, Row};
use questions::contribution::sum;
use questions::noise::{Trust, Unit};
use questions::plan::{Method, SumPlan};

use crate::stats::Errors;
use crate::{Audit, AuditError, Finding, Lower, Measure, Upper, Verdict, parallel};

/// δ at which bounds are compared, beside that of the question: small ones teach little in a few thousand trials.
const DELTAS: [f64; 3] = [0.01, 0.03, 0.08];
/// Records that a member that lies pretends to have.
const PRETENDED: usize = 40;

/// What is to be audited.
#[derive(Debug, Clone)]
pub struct AskRequest {
    /// Text and price.
    pub ask: Ask,
    /// What the members declared.
    pub columns: Arc<Columns>,
    /// Members.
    pub nodes: usize,
    /// How many of them pool what they know, and may lie.
    pub colluders: usize,
    /// Totals with the canary, and as many without.
    pub trials: usize,
    /// Probability that all deciding lower bounds hold at once.
    pub confidence: f64,
    /// Seed of all noise.
    pub seed: u64,
    /// What is broken on purpose.
    pub sabotage: Option<AskSabotage>,
}

/// What is broken, while the plan goes on saying what it would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskSabotage {
    /// Half of the noise.
    NoiseHalved,
    /// The noise of members that may lie is counted on.
    LiarsCountedOn,
    /// Two questions with the same noise.
    NoiseReused,
    /// A record is in its table twice, and both count.
    RecordTwice,
}

impl AskSabotage {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("noise-halved", Self::NoiseHalved),
        ("liars-counted-on", Self::LiarsCountedOn),
        ("noise-reused", Self::NoiseReused),
        ("record-twice", Self::RecordTwice),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Audits a question.
///
/// # Guarantee
/// As [`run`](crate::run).
///
/// # Assumes
/// Masks hide everything but the total: `murmur audit` of masked runs attacks them.
///
/// # Errors
/// A question that is refused or is not one sum, or a request that makes no sense.
pub fn ask(request: &AskRequest, progress: &(dyn Fn(u64) + Sync)) -> Result<Audit, AuditError> {
    if request.trials < crate::LEAST_TRIALS {
        return Err(AuditError::Trials { trials: request.trials, least: crate::LEAST_TRIALS });
    }
    if !(request.confidence > 0.0 && request.confidence < 1.0) {
        return Err(AuditError::Confidence(request.confidence));
    }
    let stage = Stage::new(request)?;
    let attacks = [stage.canary(progress)?, stage.liars(progress)?, stage.differencing(progress)?];
    let findings: Vec<Finding> = attacks.into_iter().flatten().collect();
    let verdict = Verdict::of(&findings);
    let DpEvent::Gaussian { noise_multiplier } = stage.honest.event()? else {
        return Err(AuditError::NoSum);
    };
    Ok(Audit {
        run: request.ask.question.clone(),
        algorithm: "question",
        nodes: request.nodes,
        adjacency: "record",
        noise_multiplier,
        confidence: request.confidence,
        sabotage: request.sabotage.map(AskSabotage::name),
        findings,
        skipped: Vec::new(),
        notes: Vec::new(),
        verdict,
        passed: verdict == Verdict::Passed,
    })
}

/// What each of the watchers says instead of noise.
#[derive(Clone, Copy)]
struct Lie<'a> {
    vector: &'a [i64],
    /// Whether the watchers take it off again, as they know it.
    taken_off: bool,
}

/// A question as it should be and as it is, with a canary.
struct Stage<'a> {
    request: &'a AskRequest,
    /// By which the account goes.
    honest: Question,
    /// By which members add noise.
    made: Arc<Question>,
    leg: Arc<Leg>,
    canary: Row,
    /// What the canary adds to the total, in grid steps.
    features: Vec<i64>,
    /// 1 over the variance of each coordinate, in grid steps.
    weights: Vec<f64>,
    mu: f64,
}

impl<'a> Stage<'a> {
    fn new(request: &'a AskRequest) -> Result<Self, AuditError> {
        let AskRequest { ask, columns, nodes, colluders, .. } = request;
        let question = |ask: Ask, colluders: usize| {
            let members = Members { nodes: *nodes, colluders, hostile: 0, timeouts: Timeouts::LAN };
            Question::new(ask, columns.clone(), members)
        };
        let honest = question(ask.clone(), *colluders)?;
        let mu = gdp::mu(ask.epsilon, ask.delta).map_err(|_| AuditError::NoSum)?;
        let made = match request.sabotage {
            Some(AskSabotage::NoiseHalved) => {
                let epsilon = gdp::epsilon(2.0 * mu, ask.delta).map_err(|_| AuditError::NoSum)?;
                question(Ask { epsilon, ..ask.clone() }, *colluders)?
            }
            Some(AskSabotage::LiarsCountedOn) => question(ask.clone(), 0)?,
            _ => honest.clone(),
        };
        let plan = made.plan(*nodes)?;
        let Method::Sum(sums) = &plan.method else { return Err(AuditError::NoSum) };
        if ask.trust != Trust::Masked || !matches!(ask.unit, Unit::Record) {
            return Err(AuditError::NoSum);
        }
        let variances = variances(sums, nodes - colluders);
        let of_row = |row: &Row| sum(&plan.question, sums, [row]);
        let strength =
            |row: &Row| of_row(row).iter().zip(&variances).map(|(x, v)| (x * x) as f64 / v).sum::<f64>();
        let rows = candidates(columns);
        let canary = rows.into_iter().max_by(|a, b| strength(a).total_cmp(&strength(b))).unwrap_or_default();
        let features = of_row(&canary);
        if features.iter().all(|x| *x == 0) {
            return Err(AuditError::NoSum);
        }
        let weights = variances.iter().map(|variance| 1.0 / variance).collect();
        let leg = Arc::new(made.first()?);
        Ok(Self { request, honest, made: Arc::new(made), leg, canary, features, weights, mu })
    }

    /// What a member sends, before its masks.
    fn words(&self, node: usize, rows: Vec<Row>, noise: &str) -> Result<Words, AuditError> {
        let settings = self.leg.settings(RunId(1), false);
        let among: Arc<[PeerIx]> = (0..self.request.nodes as PeerIx).collect();
        let job = Job { among: Some(among), mechanism: settings.mechanism, ..Job::new(1, settings.initial) };
        let work = Answering::new(self.made.clone(), self.leg.clone(), ready(rows));
        let (mut room, mut state) = (Room::default(), NodeState::default());
        let desk = &mut Desk { node: 0, position: node as PeerIx, room: &mut room, state: &mut state };
        let mut noise = danger_from_seed(self.request.seed, &format!("{noise}/{node}"));
        match work.contribute(desk, &job, &mut noise)?.contribution {
            Given::Words(words) => Ok(words.into_words()),
            Given::Reals(_) => Err(AuditError::NoSum),
        }
    }

    /// The total of all whose words the watchers do not know, as they see it; `lie` is what each of them adds instead of noise.
    fn seen(&self, with: bool, lie: Option<Lie<'_>>, noise: &str) -> Result<Vec<f64>, AuditError> {
        let twice = self.request.sabotage == Some(AskSabotage::RecordTwice);
        let copies = if twice { 2 } else { 1 };
        let canaries = if with { vec![self.canary.clone(); copies] } else { Vec::new() };
        let mut total = self.words(0, canaries, noise)?;
        let (nodes, colluders) = (self.request.nodes, self.request.colluders);
        let other = |_| AuditError::NoSum;
        for node in 1..nodes - colluders {
            total.add(&self.words(node, Vec::new(), noise)?).map_err(other)?;
        }
        if let Some(lie) = lie {
            let mut words = Words::zeros(total.size(), 0);
            words.extend(lie.vector.iter().map(|x| x * colluders as i64).chain([colluders as i64; 2]));
            total.add(&words).map_err(other)?;
            if lie.taken_off {
                total.subtract(&words).map_err(other)?;
            }
        }
        Ok(total.centred().take(self.features.len()).map(|x| x as f64).collect())
    }

    fn score(&self, total: &[f64]) -> f64 {
        let parts = self.features.iter().zip(&self.weights).zip(total);
        parts.map(|((x, weight), y)| *x as f64 * weight * y).sum()
    }

    /// Totals with the canary and without, judged by a threshold halfway between what the score is on average.
    fn errors(
        &self,
        attack: &str,
        (score, halfway): (impl Fn(bool, &str) -> Result<f64, AuditError> + Sync, f64),
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Errors, AuditError> {
        let trials = self.request.trials;
        let said = parallel::map(0, 2 * trials, |trial| {
            let with = trial % 2 == 0;
            progress(1);
            Ok((with, score(with, &format!("{attack}/{trial}"))? > halfway))
        })?;
        let count = |with: bool, yes: bool| said.iter().filter(|&&found| found == (with, yes)).count() as u64;
        Ok(Errors {
            false_positives: count(false, true),
            negatives: trials as u64,
            false_negatives: count(true, false),
            positives: trials as u64,
        })
    }

    /// The mean score of a total with the canary in it once: without, it is 0.
    fn full(&self) -> f64 {
        self.score(&self.features.iter().map(|x| *x as f64).collect::<Vec<_>>())
    }

    /// One record that is there or not, in one question.
    fn canary(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<Vec<Finding>, AuditError> {
        let score = |with: bool, noise: &str| Ok(self.score(&self.seen(with, None, noise)?));
        let errors = self.errors("canary", (score, 0.5 * self.full()), progress)?;
        Ok(self.findings("canary", self.mu, &errors))
    }

    /// The same where the watchers add no noise and pretend to have many records: within their bounds, and to no use.
    fn liars(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<Vec<Finding>, AuditError> {
        let lie: Vec<i64> = self.features.iter().map(|x| x * PRETENDED as i64).collect();
        // The watchers know what they said.
        let known = Lie { vector: &lie, taken_off: true };
        let score = |with: bool, noise: &str| Ok(self.score(&self.seen(with, Some(known), noise)?));
        let errors = self.errors("liars", (score, 0.5 * self.full()), progress)?;
        let [lied, honest] = [Some(Lie { taken_off: false, ..known }), None]
            .map(|lie| self.seen(false, lie, "moved").map(|total| self.score(&total) / self.full()));
        let measures = vec![Measure::new("records by which the liars move the total", lied? - honest?)];
        let mut found = self.findings("liars", self.mu, &errors);
        found.iter_mut().take(1).for_each(|first| first.measures.clone_from(&measures));
        Ok(found)
    }

    /// The same question twice, the second time without the canary: what is between the two answers.
    fn differencing(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<Vec<Finding>, AuditError> {
        let reused = self.request.sabotage == Some(AskSabotage::NoiseReused);
        let score = |with: bool, noise: &str| {
            let second = if reused { noise.to_owned() } else { format!("{noise}/second") };
            let (a, b) = (self.seen(with, None, noise)?, self.seen(false, None, &second)?);
            Ok(self.score(&a.iter().zip(&b).map(|(a, b)| a - b).collect::<Vec<_>>()))
        };
        let errors = self.errors("differencing", (score, 0.5 * self.full()), progress)?;
        // Both questions are charged: μ² adds up.
        Ok(self.findings("differencing", std::f64::consts::SQRT_2 * self.mu, &errors))
    }

    fn findings(&self, attack: &'static str, mu: f64, errors: &Errors) -> Vec<Finding> {
        let deltas: Vec<f64> = std::iter::once(self.request.ask.delta).chain(DELTAS).collect();
        // Three attacks share the error; the bounds of one attack hold for all δ at once.
        let alpha = (1.0 - self.request.confidence) / 3.0;
        let finding = |delta: f64| {
            let lower = Lower {
                epsilon: errors.epsilon(delta, alpha),
                confidence: self.request.confidence,
                method: "errors of one test (Clopper–Pearson)",
                gaussian: Some(errors.gaussian_epsilon(delta, alpha)),
            };
            let upper = Upper {
                epsilon: gdp::epsilon(mu, delta).ok(),
                delta,
                analysis: if attack == "differencing" { "masked, both questions" } else { "masked" }.into(),
            };
            let target = format!("{} members → one record", self.request.colluders);
            Finding::bounded(attack, target, 2 * self.request.trials as u64, (lower, upper))
        };
        deltas.into_iter().map(finding).collect()
    }
}

/// The variance of every coordinate of a total with the noise of so many members.
fn variances(plan: &SumPlan, members: usize) -> Vec<f64> {
    let of_block = |block: &questions::plan::PlannedBlock| {
        let variance = block.node_variance as f64 * members as f64;
        vec![variance; block.coordinates * plan.groups.len()]
    };
    plan.blocks.iter().flat_map(of_block).collect()
}

/// Records at corners of what is declared: the farthest that one record can move a sum lies at one of them, or close.
fn candidates(columns: &Columns) -> Vec<Row> {
    use questions::columns::{Cell, Kind};
    let cell = |kind: &Kind, which: usize| match kind {
        Kind::Number { bounds: Some(bounds), .. } => {
            // Beyond the bounds too: what is not clamped would show.
            let far = 10.0 * bounds.range();
            Cell::Number(
                [bounds.low, bounds.high, bounds.low + 0.5 * bounds.range(), bounds.high + far][which % 4],
            )
        }
        Kind::Number { bounds: None, .. } => Cell::Number(which as f64),
        Kind::Category { values } => Cell::Category(which % values.len()),
        Kind::Text { .. } => Cell::Text(vec![b'a' + which as u8]),
    };
    let row = |which: usize| {
        let all = columns.all().iter().enumerate();
        all.map(|(at, column)| cell(&column.kind, which / (1 + at % 3) + at)).collect::<Row>()
    };
    (0..64)
        .map(row)
        .chain((0..4).map(|which| columns.all().iter().map(|c| cell(&c.kind, which)).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six of eight members pool and lie; ε = 2 has μ = 0.5, so that 1,200 totals tell twice of it from it: errors of 0.31 ± 0.03 where 0.40 are allowed.
    fn request(question: &str, sabotage: Option<AskSabotage>) -> AskRequest {
        let mut columns = Columns::default();
        columns.declare("age:bounds=0..110".parse().unwrap()).unwrap();
        columns.declare("sex:values=f+m".parse().unwrap()).unwrap();
        let ask = Ask {
            question: question.into(),
            epsilon: 2.0,
            delta: 1e-5,
            unit: Unit::Record,
            records: 1000,
            trust: Trust::Masked,
            model: None,
        };
        let (columns, seed) = (Arc::new(columns), 1);
        AskRequest { ask, columns, nodes: 8, colluders: 6, trials: 1200, confidence: 0.95, seed, sabotage }
    }

    fn failed(audit: &Audit) -> Vec<&'static str> {
        let mut names: Vec<_> =
            audit.findings.iter().filter(|finding| !finding.passed).map(|finding| finding.attack).collect();
        names.dedup();
        names
    }

    #[test]
    fn honest_questions_pass_and_lower_bounds_are_no_empty_words() {
        for question in
            ["SELECT count(*), mean(age) FROM swarm", "SELECT median(age) FROM swarm GROUP BY sex"]
        {
            // ε = 4 has μ = 0.93. Errors of Φ(−μ/2) = 0.32 of one question and of Φ(−μ/√8) = 0.37 of the difference of two, whose noise is √2 times as large, are bounded
            // by 0.36 and 0.41: ε ≥ 0.44 at δ = 0.08, and ε ≥ 0.34 at δ = 0.01. An ε of 0.1 is more than four deviations below either.
            let mut request = request(question, None);
            request.ask.epsilon = 4.0;
            let audit = ask(&request, &|_| {}).unwrap();
            assert_eq!(failed(&audit), [""; 0], "{audit:#?}");
            for (attack, delta) in [("canary", 0.08), ("liars", 0.08), ("differencing", 0.01)] {
                let at =
                    |found: &&Finding| found.attack == attack && found.upper.as_ref().unwrap().delta == delta;
                let finding = audit.findings.iter().find(at).unwrap();
                assert!(finding.lower.as_ref().unwrap().epsilon > 0.1, "{finding:#?}");
            }
            let moved =
                audit.findings.iter().find(|finding| finding.attack == "liars").unwrap().measures[0].value;
            assert!((moved - 240.0).abs() < 1e-6, "six liars with forty records each: {moved}");
        }
    }

    #[test]
    fn what_is_broken_is_caught_by_whom_it_is_meant_for() {
        use AskSabotage::{LiarsCountedOn, NoiseHalved, NoiseReused, RecordTwice};
        // Fresh noise of two answers hides their difference with √2 times that of one: it shows μ/√2 where √2μ is charged. What doubles μ brings it to the charge, not
        // above; it is for noise that is not fresh.
        for (sabotage, expected) in [
            (NoiseHalved, vec!["canary", "liars"]),
            (LiarsCountedOn, vec!["canary", "liars"]),
            (NoiseReused, vec!["differencing"]),
            (RecordTwice, vec!["canary", "liars"]),
        ] {
            let audit =
                ask(&request("SELECT count(*), mean(age) FROM swarm", Some(sabotage)), &|_| {}).unwrap();
            assert_eq!(failed(&audit), expected, "{sabotage:?}: {audit:#?}");
            assert_eq!(audit.verdict, Verdict::Failed);
        }
    }

    #[test]
    fn questions_of_another_kind_are_not_called_audited() {
        let mut other = request("SELECT count(DISTINCT sex) FROM swarm", None);
        assert!(matches!(ask(&other, &|_| {}), Err(AuditError::NoSum)));
        other.ask.question = "SELECT max(age) FROM swarm".into();
        assert!(matches!(ask(&other, &|_| {}), Err(AuditError::Refused(_))));
        other.trials = 3;
        assert!(matches!(ask(&other, &|_| {}), Err(AuditError::Trials { .. })));
    }
}

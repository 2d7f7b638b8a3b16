//! Attacks on runs: lower bounds on ε from what a watcher really received, beside the account's upper bound.
//!
//! A scenario is run many times by the simulator, with the real protocol, and only the noise differs; [`sim::Hook`] hands out the messages that one node
//! received. Each [`Attack`] makes [`Finding`]s of them. An audit fails if a lower bound that decides is above the account's upper bound for the same view: then the account, the
//! mechanism or the protocol is wrong (or, with probability at most 1 − confidence, the dice were).
//!
//! An audit that passes proves nothing: a better attack may exist. [`Sabotage`] breaks a mechanism on purpose, so that one can see it fail.

mod ask;
mod attack;
mod canary;
mod claim;
mod error;
mod finding;
mod linear;
mod logged;
mod masked;
mod pair;
mod parallel;
pub mod report;
mod sabotage;
mod scenario;
mod score;
mod solve;
mod stage;
pub mod stats;
mod visits;

pub use ask::{AskRequest, AskSabotage, ask};
pub use attack::Attack;
pub use error::AuditError;
pub use finding::{Audit, Finding, Lower, Measure, Skipped, Upper, Verdict};
pub use linear::Unknown;
pub use logged::config_in_log;
pub use sabotage::Sabotage;
pub use scenario::built_in;
pub use score::Score;
pub use solve::{Solved, solve};

use std::path::PathBuf;

use protocol::Setup;
use protocol::config::Masking;

use attack::{Case, Outcome};
use logged::Logged;
use pair::Survey;
use stage::Scene;

/// Runs with, and as many without, the change, unless something else is asked for.
pub const TRIALS: usize = 6000;
/// Fewer than this teach nothing.
const LEAST_TRIALS: usize = 30;

/// What is to be audited, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// The run.
    pub setup: Setup,
    /// The attacks; those that do not apply are listed as skipped.
    pub attacks: Vec<Attack>,
    /// Runs with, and as many without, the change.
    pub trials: usize,
    /// Probability that all deciding lower bounds hold at once.
    pub confidence: f64,
    /// Whose data, and who watches; `None`: the pair that the account says lost most.
    pub pair: Option<(usize, usize)>,
    /// Watchers that pool their views, with that of the pair if there is one, for [`Attack::Distinguish`]; empty: one watcher. Without a pair they watch who lost
    /// most towards them.
    pub coalition: Vec<usize>,
    /// Seed of the audit's own dice: noise of the repetitions, coins of canaries.
    pub seed: u64,
    /// What is broken on purpose.
    pub sabotage: Option<Sabotage>,
    /// The log of a real run of this scenario, to be priced instead of that of a simulated one.
    pub log: Option<PathBuf>,
    /// Threads; 0: as many as there are cores. The report does not depend on it.
    pub threads: usize,
}

impl Request {
    /// All attacks on the pair that lost most, with the default number of trials at 95 %.
    pub fn new(setup: Setup) -> Self {
        let attacks = Attack::ALL.iter().map(|(_, attack)| *attack).collect();
        Self {
            setup,
            attacks,
            trials: TRIALS,
            confidence: 0.95,
            pair: None,
            coalition: Vec::new(),
            seed: 1,
            sabotage: None,
            log: None,
            threads: 0,
        }
    }

    /// The members of the coalition, in order.
    pub(crate) fn pooled(&self) -> Vec<usize> {
        let watcher = self.pair.map(|(_, watcher)| watcher);
        let mut members: Vec<usize> = self.coalition.iter().copied().chain(watcher).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Runs that the audit will make, about: for a progress bar.
    pub fn runs(&self) -> u64 {
        let of = |attack: &Attack| match attack {
            Attack::Distinguish => 2 * self.trials as u64,
            Attack::Canaries => 3,
            Attack::Membership => 2 * (attack::membership::SHADOWS + 1),
            Attack::Reconstruct => 6,
            Attack::Received => 3 * self.setup.config.nodes as u64,
            Attack::Inversion => 0,
        };
        self.attacks.iter().map(of).sum()
    }
}

/// Audits a run; `progress` is told how many runs have been made since the last time, from any thread.
///
/// # Guarantee
/// If the mechanism meets the account's claims, the report fails with probability at most 1 − confidence: the allowed error is divided equally among all deciding statistical
/// bounds (Bonferroni). `reconstruct` is decided by algebra and errs by rounding only.
///
/// # Assumes
/// The simulator runs the protocol that real nodes run, and its seeded noise is as good as independent.
///
/// # Errors
/// A scenario that cannot be run, or a request that makes no sense.
pub fn run(request: &Request, progress: &(dyn Fn(u64) + Sync)) -> Result<Audit, AuditError> {
    check(request)?;
    let scene = Scene::new(request.setup.clone(), request.sabotage)?;
    let log = request.log.as_deref().map(Logged::read).transpose()?;
    let survey = Survey::make(&scene.setup)?;
    if let Some(log) = &log {
        log.check(&scene.setup, &survey.log)?;
    }
    let (source, watchers) = survey.choose(request, &scene.setup, log.as_ref())?;
    check_reuse(request, &survey, source)?;
    let mut attacks = request.attacks.clone();
    attacks.sort_unstable();
    attacks.dedup();
    let tests: usize = attacks.iter().map(|attack| attack.tests()).sum();
    let case = Case {
        scene: &scene,
        log: log.as_ref(),
        pair: (source, watchers[0]),
        watchers: &watchers,
        visits: &survey.visits,
        trials: request.trials,
        confidence: request.confidence,
        alpha: (1.0 - request.confidence) / tests.max(1) as f64,
        seed: request.seed,
        threads: request.threads,
        progress,
    };
    let (mut findings, mut skipped) = (Vec::new(), Vec::new());
    for attack in attacks {
        match attack.run(&case)? {
            Outcome::Found(found) => findings.extend(found),
            Outcome::Skipped(why) => skipped.push(why),
        }
    }
    let few = too_few(&findings, case.alpha);
    let mut notes = log.as_ref().map_or_else(Vec::new, |log| log.notes(&scene.setup, &survey.log));
    notes.extend(few);
    Ok(report(request, findings, skipped, notes))
}

/// What so few runs cannot show, whatever happens in them.
fn too_few(findings: &[Finding], alpha: f64) -> Option<String> {
    let finding = findings.iter().find(|finding| finding.attack == Attack::Distinguish.name())?;
    let upper = finding.upper.as_ref()?;
    let runs = finding.trials / 2;
    let never_wrong =
        stats::Errors { false_positives: 0, negatives: runs, false_negatives: 0, positives: runs };
    let (most, claimed) = (never_wrong.epsilon(upper.delta, alpha), upper.epsilon?);
    (most < claimed).then(|| {
        let (most, claimed) = (report::at_least(most), report::bound(Some(claimed)));
        format!(
            "{runs} runs of each kind are few: an attack that was never wrong in them would show ε = {most} at δ = {}, and {claimed} is claimed; more can be shown with more `--trials`",
            privacy::number::given(upper.delta)
        )
    })
}

fn report(request: &Request, findings: Vec<Finding>, skipped: Vec<Skipped>, notes: Vec<String>) -> Audit {
    let config = &request.setup.config;
    let verdict = Verdict::of(&findings);
    Audit {
        run: config.name.clone(),
        algorithm: config.algorithm.kind.name(),
        nodes: config.nodes,
        adjacency: request.setup.work.unit.adjacency().word(),
        noise_multiplier: request.setup.work.noise_multiplier,
        confidence: request.confidence,
        sabotage: request.sabotage.map(Sabotage::name),
        findings,
        skipped,
        notes,
        verdict,
        passed: verdict == Verdict::Passed,
    }
}

/// Noise that is used once cannot be reused: to say that such an audit passed would say nothing.
fn check_reuse(request: &Request, survey: &Survey, node: usize) -> Result<(), AuditError> {
    let times = match survey.visits.contributions(node) {
        0 => "never",
        1 => "once",
        _ => return Ok(()),
    };
    match request.sabotage {
        Some(Sabotage::NoiseReused) => Err(AuditError::NothingReused { node, times }),
        _ => Ok(()),
    }
}

fn check(request: &Request) -> Result<(), AuditError> {
    let config = &request.setup.config;
    if config.algorithm.kind.is_comparison() {
        return Err(AuditError::NoMessages(config.algorithm.kind.name()));
    }
    let masked = config.privacy.masking == Masking::Pairwise;
    if let Some(sabotage) = request.sabotage.filter(|sabotage| !sabotage.applies(masked)) {
        let masks = if masked { "masked" } else { "not masked" };
        return Err(AuditError::NothingBroken { what: sabotage.name(), masks });
    }
    if config.nodes < 2 {
        return Err(AuditError::Alone);
    }
    if request.trials < LEAST_TRIALS {
        return Err(AuditError::Trials { trials: request.trials, least: LEAST_TRIALS });
    }
    if !(request.confidence > 0.0 && request.confidence < 1.0) {
        return Err(AuditError::Confidence(request.confidence));
    }
    if let Some((source_node, watcher)) = request.pair
        && (source_node == watcher || source_node.max(watcher) >= config.nodes)
    {
        return Err(AuditError::Pair { source_node, watcher, nodes: config.nodes });
    }
    check_coalition(request)
}

/// Two or more different nodes, and somebody outside.
fn check_coalition(request: &Request) -> Result<(), AuditError> {
    let (members, nodes) = (request.pooled(), request.setup.config.nodes);
    let source = request.pair.map(|(source, _)| source);
    let inside = members.iter().all(|&member| member < nodes) && (2..nodes).contains(&members.len());
    if request.coalition.is_empty() || (inside && source.is_none_or(|source| !members.contains(&source))) {
        return Ok(());
    }
    let names: Vec<String> = members.iter().map(usize::to_string).collect();
    Err(AuditError::Coalition { members: names.join(","), nodes, source_node: source })
}

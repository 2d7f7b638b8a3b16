//! Attacks on runs: lower bounds on ε from what a watcher really received, beside the account's upper bound.
//!
//! A scenario is run many times by the simulator, with the real protocol, and only the noise differs; [`sim::Hook`] hands out the messages that one node
//! received. Each [`Attack`] makes [`Finding`]s of them. An audit fails if a lower bound that decides is above the account's upper bound for the same view: then the account, the
//! mechanism or the protocol is wrong (or, with probability at most 1 − confidence, the dice were).
//!
//! An audit that passes proves nothing: a better attack may exist. [`Sabotage`] breaks a mechanism on purpose, so that one can see it fail.

mod attack;
mod canary;
mod claim;
mod error;
mod finding;
mod linear;
mod pair;
mod parallel;
pub mod report;
mod sabotage;
mod scenario;
mod score;
mod solve;
mod stage;
pub mod stats;

pub use attack::Attack;
pub use error::AuditError;
pub use finding::{Finding, Lower, Measure, Report, Skipped, Upper};
pub use linear::Unknown;
pub use sabotage::Sabotage;
pub use scenario::{built_in, layer as built_in_layer};
pub use score::Score;
pub use solve::{Solved, solve};

use std::path::PathBuf;

use protocol::Setup;
use protocol::work::Adjacency;

use attack::{Case, Outcome};
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
            seed: 1,
            sabotage: None,
            log: None,
            threads: 0,
        }
    }

    /// Runs that the audit will make, about: for a progress bar.
    pub fn runs(&self) -> u64 {
        let of = |attack: &Attack| match attack {
            Attack::Distinguish => 2 * self.trials as u64,
            Attack::Canaries => 3,
            Attack::Membership => 2 * (attack::membership::SHADOWS + 1),
            Attack::Reconstruct => 6,
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
pub fn run(request: &Request, progress: &(dyn Fn(u64) + Sync)) -> Result<Report, AuditError> {
    check(request)?;
    let scene = Scene::new(request.setup.clone(), request.sabotage)?;
    let log = request.log.as_deref().map(claim::read).transpose()?;
    let worst = pair::worst(&scene.setup, log.as_deref())?;
    let pair = request.pair.unwrap_or(worst);
    let mut attacks = request.attacks.clone();
    attacks.sort_unstable();
    attacks.dedup();
    let tests: usize = attacks.iter().map(|attack| attack.tests()).sum();
    let case = Case {
        scene: &scene,
        log: log.as_deref(),
        pair,
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
    let config = &request.setup.config;
    Ok(Report {
        run: config.name.clone(),
        algorithm: config.algorithm.kind.name(),
        nodes: config.nodes,
        adjacency: match request.setup.work.unit.adjacency() {
            Adjacency::Record => "record",
            Adjacency::Node => "node",
        },
        noise_multiplier: request.setup.work.noise_multiplier,
        confidence: request.confidence,
        sabotage: request.sabotage.map(Sabotage::name),
        passed: findings.iter().all(|finding: &Finding| finding.passed),
        findings,
        skipped,
    })
}

fn check(request: &Request) -> Result<(), AuditError> {
    let config = &request.setup.config;
    if config.algorithm.kind.is_comparison() {
        return Err(AuditError::NoMessages(config.algorithm.kind.name()));
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
    Ok(())
}

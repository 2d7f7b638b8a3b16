//! The points of NIST SP 800-226 (Guidelines for Evaluating Differential Privacy Guarantees, 2025), answered for a run. What is not covered says so.

use protocol::config::{Config, Proofs};
use serde::Serialize;

use crate::belief::SCALE;
use crate::document::Report;
use crate::number::{given, loss, shortened};
use crate::plain;
use crate::words;

/// One point and its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The section of the guidelines.
    pub section: &'static str,
    /// What it asks.
    pub asks: &'static str,
    /// The answer; begins with `Not covered` where there is none.
    pub answer: String,
}

/// All points, in the order of the guidelines.
pub(crate) fn points(report: &Report, config: &Config) -> Vec<Point> {
    let point = |section, asks, answer: String| Point { section, asks, answer };
    let (worst, local) = (&report.worst.figure, &report.local);
    vec![
        point(
            "2.1–2.2",
            "The guarantee, and its variant",
            format!("(ε, δ)-differential privacy with δ = {}; {}", given(report.delta), report.guarantee),
        ),
        point("2.3", "Composition: other releases of the same data", format!("Within the run: composed by the analyses named. Not covered: {}.", plain::earlier(report))),
        point(
            "2.4",
            "The privacy parameter ε, and whether it is small enough",
            format!("ε = {} towards one member, {} towards everybody together; {} protection. Scale: {SCALE}.", loss(worst.epsilon), loss(local.epsilon), report.protection.word()),
        ),
        point("2.6", "The unit of privacy", format!("{} {}", words::adjacency(report.adjacency), report.persons)),
        point("2.7", "Comparing guarantees: everything that a figure depends on", parameters(report)),
        point("2.8", "Mixing with releases that are not private", "Not covered: what else leaves the node, such as quality measured on its own records, is outside ε.".into()),
        point(
            "3.1",
            "The mechanism and its sensitivity",
            mechanism(report, config),
        ),
        point("3.2", "Utility and accuracy", "Not covered here: `murmur evaluate` and the node's own `evaluation.json` judge the model on records that were kept apart.".into()),
        point("3.3", "Bias: utility for small groups", "Not covered: clipping and noise weigh most on rare groups; nothing here measures it.".into()),
        point("3.4", "Machine learning: what is released", released(config).into()),
        point("4.1", "Query model", "Training that all members agreed on beforehand; further runs are further releases and add up in the ledger of the data set.".into()),
        point("4.2", "Threat model: who must be trusted", format!("No curator. {} The table of who could have learnt how much has a row for each adversary.", words::against(report))),
        point("4.3", "Implementation: floating point", floating_point(config).into()),
        point("4.3", "Implementation: side channels", "Not covered: timing, caches and power of the machine; who takes part and when is to be seen.".into()),
        point("4.3", "Implementation: sampling as assumed, source of noise", sampling(report)),
        point("4.3", "Implementation: testing", "`murmur audit` attacks the same program and gives lower bounds on ε beside the account's upper bounds.".into()),
        point("4.4", "Security and access control", security(report)),
        point("4.5", "Exposure at collection", "Not covered: records are where they were; each node reads its own file and sends none of it.".into()),
        point("—", "Tuning on private data", "Not covered: settings that were tried on these data before belong into the ledger of the data set.".into()),
    ]
}

/// The noise, and what it hides.
fn mechanism(report: &Report, config: &Config) -> String {
    if !report.local.epsilon.is_finite() {
        return "None: contributions carried no noise.".into();
    }
    let noise = if words::on_integers(config) {
        "Gaussian noise on integers, with exact probabilities,"
    } else {
        "Gaussian noise"
    };
    format!(
        "{noise} on sums clipped to norm C = {}; the bound on the influence of one unit is a property test of the program.",
        given(report.head.clip_norm)
    )
}

/// Who is given which models.
fn released(config: &Config) -> &'static str {
    let kind = config.algorithm.kind;
    if !kind.trains() {
        if config.privacy.proofs != Proofs::None {
            return "The mean, to the members. No model is trained.";
        }
        return "The mean, and the values on the way to it, to the members. No model is trained.";
    }
    if kind.uses_graph() {
        return "Models on their way, to the members that they were sent to. Publishing a node's own model is not covered by the figure of one member; that of everybody together covers it.";
    }
    "Every model of every round, to the members; publishing the last one adds nothing to what a member saw."
}

fn floating_point(config: &Config) -> &'static str {
    if words::on_integers(config) {
        return "Sums are brought to a grid, which their sensitivity counts, and noise is drawn on integers with exact probabilities: no bit of it depends on floating point.";
    }
    "Rounding of sums is bounded and paid for. Not covered: the lowest bits of Gaussian noise in floating point."
}

fn parameters(report: &Report) -> String {
    let head = &report.head;
    let number = |value: Option<f64>| value.map_or_else(|| "none".into(), shortened);
    let units = plain::units(report).map_or_else(|| "not known".into(), |units| units.to_string());
    format!(
        "Noise multiplier {}, sampling rate {}, clip norm {}, {} of {} rounds, {units} records or persons at least, analysis `{}`.",
        number(head.noise_multiplier),
        number(head.sampling_rate),
        given(head.clip_norm),
        report.rounds.finished,
        report.rounds.planned,
        report.worst.figure.analysis
    )
}

fn sampling(report: &Report) -> String {
    let noise =
        if report.private { "the operating system's generator" } else { "a seed: this run protects nobody" };
    let sampled = match report.head.sampling_rate {
        Some(rate) if rate < 1.0 => "Poisson sampling as accounted, a coin for each",
        _ => "No sampling: everything takes part in every round",
    };
    format!("{sampled}; noise from {noise}.")
}

fn security(report: &Report) -> String {
    if report.driver == "sim" {
        return "Not covered: a simulation.".into();
    }
    "Links are encrypted and authenticated (Noise or TLS 1.3), and both ends prove that they know the secret of the swarm; identities are Ed25519 keys. Not covered: the machines themselves."
        .into()
}

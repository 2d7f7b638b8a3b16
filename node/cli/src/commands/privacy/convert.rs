//! `murmur privacy convert`: μ, Rényi, zCDP and (ε, δ) into each other.
//!
//! Every result says whether it is exact, a bound, or a target (what a Gaussian would need to have this point).
//! Directions that no theorem allows are refused with the reason.

use super::account::{number, number_down};
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use privacy::gdp;
use privacy::rdp::{self, conversion};
use privacy::special::normal_quantile;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur privacy convert --mu 1 --delta 1e-5
  murmur privacy convert --rho 0.5 --delta 1e-6 --to approximate
  murmur privacy convert --renyi-alpha 8 --renyi-epsilon 0.5 --delta 1e-5
  murmur privacy convert --epsilon 1 --delta 1e-5          which Gaussian has exactly this point?
  murmur privacy convert --epsilon 1                       pure ε-DP";

/// Arguments of `murmur privacy convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("from").required(true).args(["mu", "renyi_epsilon", "rho", "epsilon"]))]
pub(super) struct Args {
    /// From Gaussian DP: μ, sensitivity over noise
    #[arg(long, allow_negative_numbers = true)]
    mu: Option<f64>,

    /// From a Rényi bound at one order: the divergence (with --renyi-alpha)
    #[arg(long, value_name = "R", requires = "renyi_alpha", allow_negative_numbers = true)]
    renyi_epsilon: Option<f64>,

    /// The order of --renyi-epsilon, above 1
    #[arg(long, value_name = "ALPHA", requires = "renyi_epsilon", allow_negative_numbers = true)]
    renyi_alpha: Option<f64>,

    /// From zero-concentrated DP: ρ
    #[arg(long, allow_negative_numbers = true)]
    rho: Option<f64>,

    /// From (ε, δ) with --delta, or from pure ε-DP without
    #[arg(long, allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// The δ of --epsilon; for the other inputs, the δ at which ε is given (default 1e-5)
    #[arg(long, allow_negative_numbers = true)]
    delta: Option<f64>,

    /// The order at which Rényi results are given
    #[arg(long, default_value_t = 2.0, allow_negative_numbers = true)]
    alpha: f64,

    /// Only this result; one that cannot be had is an error
    #[arg(long, value_enum)]
    to: Option<Target>,

    /// What to print: a table for people, or JSON for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum Target {
    /// Gaussian DP
    Mu,
    /// Rényi divergence at --alpha
    Renyi,
    /// zero-concentrated DP
    Zcdp,
    /// (ε, δ)
    Approximate,
}

/// What is known.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Source {
    Mu { mu: f64 },
    Renyi { alpha: f64, epsilon: f64 },
    Zcdp { rho: f64 },
    Pure { epsilon: f64 },
    Approximate { epsilon: f64, delta: f64 },
}

/// How a result relates to what was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Holds, and nothing smaller does for every such mechanism.
    Exact,
    /// Holds.
    Bound,
    /// Does not follow: it is what a mechanism of that kind needs in order to have the given point.
    Target,
    /// Does not follow and has no such reading.
    Refused,
}

#[derive(Debug, Serialize)]
struct Outcome {
    to: Target,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rho: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    /// The theorem, or the reason of a refusal.
    analysis: String,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let source = Source::of(args)?;
    let delta = args.delta.unwrap_or(1e-5);
    check_order(args.alpha, "--alpha")?;
    let targets: Vec<Target> = match args.to {
        Some(target) => vec![target],
        None => vec![Target::Mu, Target::Renyi, Target::Zcdp, Target::Approximate],
    };
    let mut outcomes = Vec::new();
    for target in targets {
        let outcome = source.to(target, args.alpha, delta)?;
        if args.to.is_some() && outcome.kind == Kind::Refused {
            return Err(Failure::new(format!(
                "{} does not give {}: {}",
                source.name(),
                target.name(),
                outcome.analysis
            ))
            .hint("leave out --to to see what it does give"));
        }
        outcomes.push(outcome);
    }
    let bytes = match args.format {
        Format::Table => table(&source, &outcomes).into_bytes(),
        Format::Json => json(&source, &outcomes)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

impl Source {
    /// Reads and checks what was given.
    fn of(args: &Args) -> Result<Self> {
        if let Some(delta) = args.delta {
            // A valid δ is needed everywhere; the conversion names a bad one.
            gdp::epsilon(1.0, delta)?;
        }
        if let Some(mu) = args.mu {
            finite(mu, "--mu")?;
            return Ok(Self::Mu { mu });
        }
        if let Some(rho) = args.rho {
            finite(rho, "--rho")?;
            return Ok(Self::Zcdp { rho });
        }
        if let (Some(epsilon), Some(alpha)) = (args.renyi_epsilon, args.renyi_alpha) {
            finite(epsilon, "--renyi-epsilon")?;
            check_order(alpha, "--renyi-alpha")?;
            return Ok(Self::Renyi { alpha, epsilon });
        }
        let epsilon = args
            .epsilon
            .ok_or_else(|| Failure::new("nothing to convert").hint("give --mu, --rho or --epsilon"))?;
        finite(epsilon, "--epsilon")?;
        Ok(match args.delta {
            Some(delta) => Self::Approximate { epsilon, delta },
            None => Self::Pure { epsilon },
        })
    }

    fn name(&self) -> String {
        match self {
            Self::Mu { mu } => format!("μ = {mu}"),
            Self::Renyi { alpha, epsilon } => format!("Rényi divergence {epsilon} at order {alpha}"),
            Self::Zcdp { rho } => format!("ρ = {rho}"),
            Self::Pure { epsilon } => format!("pure ε = {epsilon}"),
            Self::Approximate { epsilon, delta } => format!("(ε, δ) = ({epsilon}, {delta:e})"),
        }
    }

    fn to(self, target: Target, alpha: f64, delta: f64) -> Result<Outcome> {
        Ok(match self {
            Self::Mu { mu } => from_mu(mu, target, alpha, delta)?,
            Self::Renyi { alpha: order, epsilon } => from_renyi(order, epsilon, target, alpha, delta),
            Self::Zcdp { rho } => from_zcdp(rho, target, alpha, delta),
            Self::Pure { epsilon } => from_pure(epsilon, target, alpha, delta),
            Self::Approximate { epsilon, delta } => from_approximate(epsilon, delta, target)?,
        })
    }
}

fn from_mu(mu: f64, target: Target, alpha: f64, delta: f64) -> Result<Outcome> {
    Ok(match target {
        Target::Mu => Outcome::new(target, Kind::Exact, "given").mu(mu),
        Target::Renyi => {
            let divergence = 0.5 * alpha * mu * mu;
            Outcome::new(target, Kind::Exact, "αμ²/2 (Mironov 2017; Dong, Roth and Su 2022)")
                .renyi(alpha, divergence)
        }
        Target::Zcdp => Outcome::new(target, Kind::Exact, "μ²/2").rho(0.5 * mu * mu),
        Target::Approximate => {
            let epsilon = gdp::epsilon(mu, delta)?;
            let analysis = "Gaussian DP (Balle and Wang 2018, theorem 8)";
            Outcome::new(target, Kind::Exact, analysis).point(epsilon, delta)
        }
    })
}

fn from_renyi(order: f64, divergence: f64, target: Target, alpha: f64, delta: f64) -> Outcome {
    match target {
        Target::Mu => {
            Outcome::new(target, Kind::Refused, "a Rényi bound at one order does not imply Gaussian DP")
        }
        Target::Renyi if alpha <= order => {
            Outcome::new(target, Kind::Bound, "divergence does not fall with the order")
                .renyi(alpha, divergence)
        }
        Target::Renyi => {
            Outcome::new(target, Kind::Refused, "a bound at one order says nothing about higher orders")
        }
        Target::Zcdp => {
            Outcome::new(target, Kind::Refused, "zCDP is a bound at all orders; one order is not enough")
        }
        Target::Approximate => {
            let epsilon = conversion::epsilon(order, divergence, delta);
            Outcome::new(target, Kind::Bound, CONVERSION).point(epsilon, delta)
        }
    }
}

fn from_zcdp(rho: f64, target: Target, alpha: f64, delta: f64) -> Outcome {
    match target {
        Target::Mu => {
            let reason = "zCDP does not imply Gaussian DP (a Gaussian with this ρ has μ = √(2ρ), another mechanism may not)";
            Outcome::new(target, Kind::Refused, reason)
        }
        Target::Renyi => {
            Outcome::new(target, Kind::Bound, "ρα (Bun and Steinke 2016)").renyi(alpha, rho * alpha)
        }
        Target::Zcdp => Outcome::new(target, Kind::Exact, "given").rho(rho),
        Target::Approximate => {
            Outcome::new(target, Kind::Bound, CONVERSION).point(conversion::zcdp_epsilon(rho, delta), delta)
        }
    }
}

fn from_pure(epsilon: f64, target: Target, alpha: f64, delta: f64) -> Outcome {
    match target {
        Target::Mu => {
            // The trade-off curve of randomised response is two chords; the Gaussian through its corner lies below them.
            let mu = -2.0 * normal_quantile(1.0 / (1.0 + epsilon.exp()));
            let analysis = "randomised response dominates ε-DP: Φ(−μ/2) = 1/(1 + e^ε)";
            Outcome::new(target, Kind::Exact, analysis).mu(mu * (1.0 + 1e-13))
        }
        Target::Renyi => {
            let analysis = "randomised response dominates ε-DP (Kairouz, Oh and Viswanath 2015)";
            Outcome::new(target, Kind::Exact, analysis).renyi(alpha, rdp::pure_dp(epsilon, alpha))
        }
        Target::Zcdp => Outcome::new(target, Kind::Bound, "ε²/2 (Bun and Steinke 2016, proposition 3.3)")
            .rho(0.5 * epsilon * epsilon),
        Target::Approximate => {
            // Randomised response: δ(x) = (e^ε − e^x)/(1 + e^ε), so e^x = e^ε − δ(1 + e^ε).
            let level = -delta * (1.0 + (-epsilon).exp());
            let smaller = if level <= -1.0 { 0.0 } else { (epsilon + level.ln_1p()).max(0.0) };
            let analysis =
                "worst ε-DP mechanism (randomised response) at this δ; pure ε-DP has δ = 0 as well";
            Outcome::new(target, Kind::Exact, analysis).point(smaller * (1.0 + 1e-13), delta)
        }
    }
}

fn from_approximate(epsilon: f64, delta: f64, target: Target) -> Result<Outcome> {
    Ok(match target {
        Target::Mu => {
            let mu = gdp::mu(epsilon, delta)?;
            let analysis =
                "does not follow from one point: the Gaussian that has exactly this point (σ = Δ/μ)";
            Outcome::new(target, Kind::Target, analysis).mu(mu)
        }
        Target::Renyi => Outcome::new(
            target,
            Kind::Refused,
            "with probability δ anything may happen: no Rényi divergence is bounded",
        ),
        Target::Zcdp => {
            let rho = conversion::zcdp_rho(epsilon, delta)?;
            let analysis = "does not follow from one point: the largest ρ whose conversion meets it";
            Outcome::new(target, Kind::Target, analysis).rho(rho)
        }
        Target::Approximate => Outcome::new(target, Kind::Exact, "given").point(epsilon, delta),
    })
}

const CONVERSION: &str = "best order of Canonne, Kamath and Steinke 2020, proposition 12";

impl Outcome {
    fn new(to: Target, kind: Kind, analysis: &str) -> Self {
        let analysis = analysis.to_owned();
        Self { to, kind, mu: None, rho: None, alpha: None, epsilon: None, delta: None, analysis }
    }

    fn mu(self, mu: f64) -> Self {
        Self { mu: Some(mu), ..self }
    }

    fn rho(self, rho: f64) -> Self {
        Self { rho: Some(rho), ..self }
    }

    fn renyi(self, alpha: f64, epsilon: f64) -> Self {
        Self { alpha: Some(alpha), epsilon: Some(epsilon), ..self }
    }

    fn point(self, epsilon: f64, delta: f64) -> Self {
        Self { epsilon: Some(epsilon), delta: Some(delta), ..self }
    }

    fn value(&self) -> String {
        // A loss is rounded up; a target is what a mechanism may have at most.
        let number = if self.kind == Kind::Target { number_down } else { number };
        match (self.mu, self.rho, self.epsilon, self.alpha, self.delta) {
            (Some(mu), ..) => format!("μ = {}", number(mu)),
            (_, Some(rho), ..) => format!("ρ = {}", number(rho)),
            (_, _, Some(epsilon), Some(alpha), _) => format!("D = {} at α = {alpha}", number(epsilon)),
            (_, _, Some(epsilon), None, Some(delta)) => format!("ε = {} at δ = {delta:e}", number(epsilon)),
            _ => "—".to_owned(),
        }
    }
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Mu => "Gaussian DP",
            Self::Renyi => "Rényi",
            Self::Zcdp => "zCDP",
            Self::Approximate => "(ε, δ)",
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bound => "bound",
            Self::Target => "target",
            Self::Refused => "refused",
        }
    }
}

fn finite(value: f64, flag: &str) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Failure::new(format!("{flag} must be zero or positive and finite: {value}"))
        .hint(format!("for example {flag} 1")))
}

fn check_order(alpha: f64, flag: &str) -> Result<()> {
    if alpha.is_finite() && alpha > 1.0 {
        return Ok(());
    }
    Err(Failure::new(format!("{flag} must be above 1 and finite: {alpha}"))
        .hint(format!("for example {flag} 8")))
}

fn table(source: &Source, outcomes: &[Outcome]) -> String {
    let mut text =
        format!("from {}\n\n{:<12}  {:<28}  {:<7}  analysis\n", source.name(), "to", "value", "kind");
    for outcome in outcomes {
        let (to, value, kind) = (outcome.to.name(), outcome.value(), outcome.kind.name());
        text.push_str(&format!("{to:<12}  {value:<28}  {kind:<7}  {}\n", outcome.analysis));
    }
    text
}

fn json(source: &Source, outcomes: &[Outcome]) -> Result<Vec<u8>> {
    let value = serde_json::json!({ "from": source, "results": outcomes });
    Ok(output::json(&value)?.into_bytes())
}

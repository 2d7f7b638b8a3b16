//! One function per kind of loss that may be given: what follows from it, and by which theorem.

use super::{Kind, Outcome, Question, Source, Target};
use crate::gdp;
use crate::rdp::{self, conversion};
use crate::special::normal_quantile;

const CONVERSION: &str = "best order of Canonne, Kamath and Steinke 2020, proposition 12";

/// What the given loss says about `target`.
pub(super) fn outcome(question: &Question, target: Target) -> Result<Outcome, gdp::Error> {
    let (alpha, delta) = (question.alpha, question.delta);
    Ok(match question.from {
        Source::Mu { mu } => from_mu(mu, target, alpha, delta)?,
        Source::Renyi { alpha: order, epsilon } => from_renyi((order, epsilon), target, alpha, delta),
        Source::Zcdp { rho } => from_zcdp(rho, target, alpha, delta),
        Source::Pure { epsilon } => from_pure(epsilon, target, alpha, delta),
        Source::Approximate { epsilon, delta } => from_approximate(epsilon, delta, target)?,
    })
}

fn from_mu(mu: f64, target: Target, alpha: f64, delta: f64) -> Result<Outcome, gdp::Error> {
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

fn from_renyi((order, divergence): (f64, f64), target: Target, alpha: f64, delta: f64) -> Outcome {
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

fn from_approximate(epsilon: f64, delta: f64, target: Target) -> Result<Outcome, gdp::Error> {
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

impl Outcome {
    fn new(to: Target, kind: Kind, analysis: &'static str) -> Self {
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
}

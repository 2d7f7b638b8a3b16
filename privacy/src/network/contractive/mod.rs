//! Gossip SGD without consensus: causal absorption (`contractive`).
//!
//! Phase s: h(s) = ψ_s(θ(s)) + noise, mixing steps on h(s) give θ(s+1). The local update maps ψ are ρ-Lipschitz.
//!
//! Theorem. Let d(0) = 0 and, for any choice of ξ ≥ 0, a(s) = ρ d(s) + Δ e_u at nodes that contribute in phase s and a(s) = d(s) elsewhere (their
//! map is the identity), d½(s) = max(a(s) − ξ(s), 0), d(s+1) = |W_s| d½(s), with ξ = 0 at the watchers and at nodes that add no noise, and
//! d½_w(s) = 0 for every w whose value of phase s enters a message that they see. Then μ²(u) ≤ Σ_s ‖ξ(s)‖²/σ².
//!
//! Proof sketch. Run the protocol on D and D′ with the noises of the second shifted, at node w in phase s, by at most ξ_w(s)
//! towards the first. Distances of hidden states stay below d, all seen messages coincide, so the two views are the same
//! function of noises that differ by predictable shifts of norm ≤ ξ; Gaussian composition bounds the divergence.
//!
//! Any feasible ξ is a valid bound; the methods differ in tightness only: [`boundary`] absorbs at seen messages only,
//! [`riccati`] by a clipped linear feedback on a ball around the watchers, [`optimum`] solves the non-negative least-squares
//! problem.

mod absorption;
pub mod boundary;
pub mod optimum;
pub mod riccati;

use super::error::{NetworkError, positive};
use serde::{Deserialize, Serialize};

/// What is known of the local update map θ ↦ θ − η·gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    lipschitz: f64,
    growth_cap: Option<f64>,
}

impl Update {
    /// An update that brings two states at most `lipschitz` (ρ) times as far apart: 1 for a convex, β-smooth loss and a step
    /// size of at most 2/β; 1 + ηβ for a smooth loss that is not convex.
    ///
    /// # Errors
    /// A constant that is not positive and finite.
    pub fn lipschitz(rho: f64) -> Result<Self, NetworkError> {
        Ok(Self { lipschitz: positive("the Lipschitz constant ρ", rho)?, growth_cap: None })
    }

    /// Adds that a clipped gradient moves two states apart by at most `cap` (2ηC, in units of Δ) per update.
    ///
    /// # Errors
    /// A cap that is not positive and finite.
    pub fn with_growth_cap(mut self, cap: f64) -> Result<Self, NetworkError> {
        self.growth_cap = Some(positive("the growth cap", cap)?);
        Ok(self)
    }

    /// Distance after the update of two states that were `distance` apart.
    fn stretched(&self, distance: f64) -> f64 {
        let stretched = self.lipschitz * distance;
        self.growth_cap.map_or(stretched, |cap| stretched.min(distance + cap))
    }

    /// Whether [`Self::stretched`] is a plain multiplication: a cap only matters to maps that expand.
    fn is_linear(&self) -> bool {
        self.growth_cap.is_none() || self.lipschitz <= 1.0
    }
}

/// How the absorption ξ is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// At the messages that the watchers see, and nowhere else.
    #[default]
    Boundary,
    /// By linear feedback on a ball around the watchers, clipped to what is feasible; never worse than boundary.
    Riccati,
    /// The least bound that the theorem gives, for small problems.
    Optimum,
}

impl Method {
    /// All methods, from the fastest to the tightest.
    pub const ALL: [Self; 3] = [Self::Boundary, Self::Riccati, Self::Optimum];

    /// The name that reports and flags use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boundary => "boundary",
            Self::Riccati => "riccati",
            Self::Optimum => "optimum",
        }
    }

    /// What it does, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Boundary => "At seen messages only: fastest",
            Self::Riccati => "Clipped linear feedback on a ball around the watcher: tighter",
            Self::Optimum => "Non-negative least squares: the least bound, for small runs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{Run, Watchers};
    use super::*;

    fn losses(run: &Run, watcher: usize, method: Method) -> Vec<f64> {
        let watchers = Watchers::new(&[watcher], run.nodes()).unwrap();
        let update = Update::lipschitz(1.0).unwrap();
        match method {
            Method::Boundary => boundary::loss(run, &watchers, update),
            Method::Riccati => riccati::loss(run, &watchers, update),
            Method::Optimum => optimum::loss(run, &watchers, update).unwrap(),
        }
    }

    #[test]
    fn direct_neighbours_have_the_local_loss_and_nobody_more() {
        let rounds = 7;
        let run = Run::on_graph(matrix_of(&hypercube(4)), 1, rounds).unwrap();
        for method in [Method::Boundary, Method::Riccati, Method::Optimum] {
            let found = losses(&run, 0, method);
            for (node, mu2) in found.iter().enumerate().skip(1) {
                assert!(*mu2 <= rounds as f64 * (1.0 + 1e-9), "{method:?}, node {node}: {mu2}");
                let neighbour = node.count_ones() == 1;
                assert!(!neighbour || (mu2 - rounds as f64).abs() < 1e-9, "{method:?}, node {node}: {mu2}");
            }
        }
    }

    #[test]
    fn mixing_farther_than_the_diameter_leaves_the_local_loss() {
        let run = Run::on_graph(matrix_of(&path(5)), 4, 3).unwrap();
        assert!(losses(&run, 0, Method::Riccati)[1..].iter().all(|mu2| (mu2 - 3.0).abs() < 1e-9));
    }

    #[test]
    fn a_cap_on_growth_limits_what_an_expanding_map_costs() {
        let run = Run::on_graph(matrix_of(&path(6)), 1, 12).unwrap();
        let watchers = Watchers::new(&[0], 6).unwrap();
        let expanding = Update::lipschitz(1.5).unwrap();
        let capped = expanding.with_growth_cap(0.1).unwrap();
        let (free, held) =
            (boundary::loss(&run, &watchers, expanding), boundary::loss(&run, &watchers, capped));
        let contracting = boundary::loss(&run, &watchers, Update::lipschitz(1.0).unwrap());
        assert!(contracting[4] < held[4] && held[4] < free[4], "{} {} {}", contracting[4], held[4], free[4]);
    }

    #[test]
    fn the_time_varying_and_the_repeated_form_of_a_run_cost_the_same() {
        let matrix = matrix_of(&hypercube(3));
        let repeated = Run::on_graph(matrix.clone(), 1, 6).unwrap();
        let phase = super::super::Phase::new(vec![super::super::Step::new(matrix)]);
        let listed = Run::new(8, vec![phase; 6]).unwrap();
        for method in [Method::Boundary, Method::Riccati] {
            for (a, b) in losses(&repeated, 1, method).into_iter().zip(losses(&listed, 1, method)) {
                assert!((a - b).abs() < 1e-9, "{method:?}: {a} and {b}");
            }
        }
    }
}

//! Pairwise noise that nearly cancels (GOPA, Sabater, Bellet and Ramon 2022), priced exactly.
//!
//! Node u publishes y_u = x_u + η_u + Σ_v ±Δ_uv: noise η of deviation σ_η of its own, and for every neighbour a noise of deviation σ_Δ that the neighbour
//! subtracts. Towards a coalition the noise of the others is Gaussian with covariance Σ = σ_η²·I + σ_Δ²·L, L the Laplacian of the graph among
//! them (a coalition knows the pairwise noise of its own members), so what it learns of a unit change of u is μ²(u) = (Σ⁻¹)_uu; from other rows A of what
//! was published, (Ae_u)ᵀ(AΣAᵀ)⁺(Ae_u). σ_Δ = 0 is noise of one's own only, σ_Δ = ∞ are masks ([`masked`](super::masked)).
//!
//! **Drop-outs.** Who vanishes before publishing leaves its pairwise noise in the others' values: Σ becomes its principal block, which is never worse for those left,
//! and the sum keeps σ_Δ² for each cut edge. If neighbours *repair* by taking that noise out, L is that of those left; a late message of the vanished would
//! then have no pairwise noise at all and cost 1/σ_η².
//!
//! **Cost.** A Cholesky factorisation of the nodes that are left and the columns of its inverse: n³/3 + n³/3 multiplications, n² numbers.

use faer::{Mat, Side};
use topology::Graph;

mod observed;

pub use observed::{Paired, loss_of_run, loss_towards_any, of_neighbours};

use super::basis::Basis;
use super::dense;
use super::error::{NetworkError, not_negative, positive};

/// Most nodes: 200 MB.
const MOST_NODES: usize = 5000;

/// The two deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gopa {
    /// σ_η: of the noise of one's own.
    pub own: f64,
    /// σ_Δ: of the noise that two neighbours share with opposite signs.
    pub pairwise: f64,
}

/// Who watches, and who did not publish.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// Nodes that pool all they know; nobody: whoever sees what is published.
    pub coalition: &'a [usize],
    /// Nodes that agreed on pairwise noise and then published nothing.
    pub dropped: &'a [usize],
    /// Whether the others took the pairwise noise of the dropped out of their values.
    pub repaired: bool,
}

/// Loss μ² of every node for a change of length 1, given all that was published.
///
/// # Guarantee
/// What the coalition holds is μ-Gaussian-DP with respect to the value of u; exact up to rounding, which is added on top. 0 for the coalition's own members and for
/// those who published nothing.
///
/// # Assumes
/// Members follow the protocol; independent Gaussian noises; pairwise noise is known to its two ends only.
///
/// # Errors
/// A deviation that is not positive (σ_η) or negative (σ_Δ), nodes that are not there, or too many of them.
pub fn loss(graph: &Graph, noise: Gopa, seen: Seen<'_>) -> Result<Vec<f64>, NetworkError> {
    let parts = Parts::new(graph, noise, seen)?;
    let size = parts.left.len();
    parts.losses(&parts.covariance(), Mat::identity(size, size))
}

/// As [`loss`], where only linear combinations of what was published were seen: one row of a coefficient per node each.
///
/// # Guarantee
/// As [`loss`].
///
/// # Assumes
/// As [`loss`].
///
/// # Errors
/// As [`loss`], and rows of another length.
pub fn loss_of_rows(
    graph: &Graph,
    noise: Gopa,
    seen: Seen<'_>,
    rows: &[Vec<f64>],
) -> Result<Vec<f64>, NetworkError> {
    let parts = Parts::new(graph, noise, seen)?;
    let (nodes, size) = (graph.nodes(), parts.left.len());
    let mut view = Basis::of_units(vec![false; size]);
    for row in rows {
        if row.len() != nodes {
            return Err(NetworkError::SizeDiffers { phase: 0, step: 0, found: row.len(), nodes });
        }
        view.extend(parts.left.iter().map(|&node| row[node]).collect());
    }
    if view.dense_rank() == 0 {
        return Ok(vec![0.0; nodes]);
    }
    let basis = Mat::from_fn(view.dense_rank(), size, |i, j| view.dense()[i * size + j]);
    let covariance = &basis * parts.covariance() * basis.transpose();
    parts.losses(&covariance, basis)
}

/// What drop-outs leave of pairwise noise in the sum of what was published: σ_Δ² for each edge between one who published and one who did not, nothing once repaired.
///
/// # Errors
/// As [`loss`].
pub fn residual_variance(graph: &Graph, noise: Gopa, seen: Seen<'_>) -> Result<f64, NetworkError> {
    let dropped = marks(graph.nodes(), seen.dropped)?;
    if seen.repaired {
        return Ok(0.0);
    }
    let cut = graph.iter_edges().filter(|&(u, v)| dropped[u as usize] != dropped[v as usize]).count();
    Ok(cut as f64 * noise.pairwise * noise.pairwise)
}

/// Those who published and are not in the coalition, and the noise among them.
struct Parts {
    noise: Gopa,
    /// Their numbers, rising.
    left: Vec<usize>,
    /// With whom each node added pairwise noise that the coalition does not know and that is still there; rising.
    added: Vec<Vec<u32>>,
}

impl Parts {
    fn new(graph: &Graph, noise: Gopa, seen: Seen<'_>) -> Result<Self, NetworkError> {
        let nodes = graph.nodes();
        Self::check(noise, nodes)?;
        let (inside, dropped) = (marks(nodes, seen.coalition)?, marks(nodes, seen.dropped)?);
        let noisy = |other: &u32| !(inside[*other as usize] || seen.repaired && dropped[*other as usize]);
        let left: Vec<usize> = (0..nodes).filter(|&node| !inside[node] && !dropped[node]).collect();
        let added = |node: usize| graph.neighbours(node).iter().copied().filter(noisy).collect();
        Ok(Self { noise, added: (0..nodes).map(added).collect(), left })
    }

    fn check(noise: Gopa, nodes: usize) -> Result<(), NetworkError> {
        positive("the noise of one's own", noise.own)?;
        not_negative("the pairwise noise", noise.pairwise)?;
        if nodes > MOST_NODES {
            return Err(NetworkError::TooLarge { method: "gopa", size: nodes, limit: MOST_NODES });
        }
        Ok(())
    }

    /// σ_η²·I + σ_Δ²·L on those left. Noise that only one end added is noise of its own.
    fn covariance(&self) -> Mat<f64> {
        let (own, pairwise) = (self.noise.own * self.noise.own, self.noise.pairwise * self.noise.pairwise);
        let mut place = vec![usize::MAX; self.added.len()];
        self.left.iter().enumerate().for_each(|(at, &node)| place[node] = at);
        let mut covariance = Mat::zeros(self.left.len(), self.left.len());
        for (at, &node) in self.left.iter().enumerate() {
            covariance[(at, at)] += own;
            for other in self.added[node].iter().map(|&other| other as usize) {
                covariance[(at, at)] += pairwise;
                let shared = self.added[other].binary_search(&(node as u32)).is_ok();
                if place[other] != usize::MAX && shared {
                    covariance[(at, place[other])] -= pairwise;
                }
            }
        }
        covariance
    }

    /// Squared norms of the columns of `rows` behind the covariance of what they see.
    fn losses(&self, covariance: &Mat<f64>, rows: Mat<f64>) -> Result<Vec<f64>, NetworkError> {
        let nodes = self.added.len();
        let factor = covariance.llt(Side::Lower).map_err(|_| NetworkError::Unreachable {
            why: "the covariance of the noise is singular to rounding: the pairwise noise is too large for real numbers".into(),
        })?;
        let found = dense::squared_norms_behind(factor.L().transpose(), rows);
        // Rounding in the factor is below n·ε times the condition number, which is at most 1 + 2·degree·(σ_Δ/σ_η)².
        let degree = self.added.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let ratio = self.noise.pairwise / self.noise.own;
        let up = 1.0 + nodes as f64 * f64::EPSILON * (1.0 + 2.0 * degree * ratio * ratio);
        let mut losses = vec![0.0; nodes];
        self.left.iter().zip(found).for_each(|(&node, loss)| losses[node] = loss * up);
        Ok(losses)
    }
}

fn marks(nodes: usize, members: &[usize]) -> Result<Vec<bool>, NetworkError> {
    let mut marks = vec![false; nodes];
    for &member in members {
        *marks.get_mut(member).ok_or(NetworkError::WatcherOutside { watcher: member, nodes })? = true;
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::super::masked;
    use super::super::testing::{hypercube, path, ring};
    use super::*;

    const ALONE: Gopa = Gopa { own: 2.0, pairwise: 0.0 };

    #[test]
    fn without_pairwise_noise_everybody_has_the_local_loss() {
        for loss in loss(&ring(5), ALONE, Seen::default()).unwrap() {
            assert!((loss - 0.25).abs() < 1e-14 && loss >= 0.25);
        }
    }

    #[test]
    fn with_much_pairwise_noise_the_loss_is_that_of_masks() {
        let graph = hypercube(3);
        let seen = Seen { coalition: &[0, 3], ..Seen::default() };
        let found = loss(&graph, Gopa { own: 1.0, pairwise: 1e4 }, seen).unwrap();
        let expected = masked::loss(&graph, seen.coalition, &[1.0; 8]).unwrap();
        found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a} {b}"));
    }

    #[test]
    fn a_pair_has_the_loss_that_a_hand_finds() {
        // Σ = [[1 + p, −p], [−p, 1 + p]] with p = σ_Δ²: (Σ⁻¹)_00 = (1 + p)/(1 + 2p).
        let found = loss(&path(2), Gopa { own: 1.0, pairwise: 3.0 }, Seen::default()).unwrap();
        assert!((found[0] - 10.0 / 19.0).abs() < 1e-13);
        // The sum alone: 1/2 for either.
        let row = vec![vec![1.0, 1.0], vec![2.0, 2.0]];
        let found = loss_of_rows(&path(2), Gopa { own: 1.0, pairwise: 3.0 }, Seen::default(), &row).unwrap();
        found.iter().for_each(|loss| assert!((loss - 0.5).abs() < 1e-13));
    }

    #[test]
    fn who_drops_out_leaves_the_others_no_worse_off() {
        let (graph, noise) = (ring(7), Gopa { own: 1.0, pairwise: 2.0 });
        let before = loss(&graph, noise, Seen::default()).unwrap();
        let after = loss(&graph, noise, Seen { dropped: &[3], ..Seen::default() }).unwrap();
        let repaired =
            loss(&graph, noise, Seen { dropped: &[3], repaired: true, ..Seen::default() }).unwrap();
        for node in [0, 1, 2, 4, 5, 6] {
            assert!(
                after[node] <= before[node] * (1.0 + 1e-12) && before[node] <= repaired[node] * (1.0 + 1e-12)
            );
        }
        assert_eq!(after[3], 0.0);
    }

    #[test]
    fn impossible_noise_and_strangers_are_refused() {
        for bad in [
            Gopa { own: 0.0, pairwise: 1.0 },
            Gopa { own: 1.0, pairwise: -1.0 },
            Gopa { own: f64::NAN, pairwise: 1.0 },
        ] {
            assert!(loss(&path(3), bad, Seen::default()).is_err(), "{bad:?}");
        }
        assert!(loss(&path(3), ALONE, Seen { coalition: &[3], ..Seen::default() }).is_err());
        assert!(loss(&path(3), ALONE, Seen { dropped: &[9], ..Seen::default() }).is_err());
        assert!(loss_of_rows(&path(3), ALONE, Seen::default(), &[vec![1.0; 2]]).is_err());
        assert_eq!(loss(&path(2), ALONE, Seen { coalition: &[0, 1], ..Seen::default() }).unwrap(), [0.0; 2]);
    }
}

//! The same symmetric step again and again: Σ|X_u| by a wave equation, in O(n·T²·h) operations instead of O(n·T³·h) for h nodes that are heard.
//!
//! With V the matrix without the watchers' own nodes and E the nodes that they hear, the messages are y(s) = Σ_{r≤s} EᵀV^{s−r} z(r) for the fresh
//! noises z(1), …, z(T), and their covariance K(s, t) = Σ_i EᵀV^{|s−t|+2i}E is a Toeplitz minus a Hankel matrix: K(s, t) = τ(s−t) − τ(s+t).
//! Such a K commutes with the matrix Y that adds the two neighbours in time, but for its last row and column, so with p = K⁻¹K(·, T+1), what is
//! predicted of the next message, and q, o the last and the first columns of Q = K⁻¹,
//!
//! > YQ − QY = q pᵀ − p qᵀ.
//!
//! X_u(a, b) = Σ g(s−a)ᵀ Q(s, t) g(t−b), g(j) = EᵀVʲe_u, inherits this. With φ_c(r) = Σ_s g(s−r)ᵀc(s) and π(r) = g(T+1−r) − φ_p(r),
//!
//! > X(a−1, b) + X(a+1, b) − X(a, b−1) − X(a, b+1) = π(a)·φ_q(b) − φ_q(a)·π(b) + [a ≤ 0] g(−a)·φ_o(b),
//!
//! which is marched from b = T, where X(a, T) = g(0)·φ_q(a), and from X(a, T+1) = 0, down to b = 1. Contributions before the first, a ≤ 0, are not
//! real; they are carried along because the march needs neighbours.
//!
//! K has no eigenvalue below a quarter, as each message brings fresh noise of its own, so nothing is badly conditioned. The scores must
//! still add up to the number of messages; where they do not, the general recursion answers.

mod predictor;
mod wave;

use super::super::block::Block;
use super::super::run::{Run, Step, Watchers};
use super::super::sparse::{Csr, padded};
use predictor::Predictor;
use std::ops::Range;
use wave::March;

/// Most messages: their covariance has the square of this many numbers.
const MESSAGES: usize = 4096;

/// Most numbers that the responses of all phases may have together.
const RESPONSES: usize = 1 << 26;

/// The scores add up to the number of messages, but for this share.
const ASTRAY: f64 = 1e-10;

/// Rounding of an entry of X, in units of the largest entry that was carried: some ten times what was ever seen.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Tables that are kept from one watcher to the next.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// π, φ_q and φ_o of each phase, from T + 1 down to −T, node by node.
    responses: Block,
    /// g of each lag below T, node by node.
    powers: Block,
}

/// Σ_{r,r′} |X_u(r, r′)| of every node, rounded up, where the run is of this kind and not too large.
pub(super) fn sums(tables: &mut Tables, run: &Run, watchers: &Watchers) -> Option<Vec<f64>> {
    let (step, heard) = step_of(run, watchers)?;
    let system = System {
        matrix: Csr::forward(step.matrix()),
        own: watchers.members(),
        rounds: run.rounds(),
        width: padded(heard.len()),
        heard,
    };
    let size = system.phases().len() * system.slot();
    if system.heard.len() * system.rounds > MESSAGES || size > RESPONSES {
        return None;
    }
    let moments = system.powers(tables);
    let predictor = Predictor::new(&moments, system.heard.len(), system.rounds)?;
    system.respond(tables, &predictor);
    let march = March { system: &system, responses: &tables.responses, powers: &tables.powers };
    let found = march.sums();
    let messages = (system.heard.len() * system.rounds) as f64;
    ((found.scores - messages).abs() <= ASTRAY * messages).then_some(found.sums)
}

/// The step that is repeated after a contribution of all, and whom the watchers hear in it.
fn step_of<'a>(run: &'a Run, watchers: &Watchers) -> Option<(&'a Step, Vec<usize>)> {
    let phase = run.repeated_phase().filter(|phase| phase.all_contribute())?;
    let [step] = phase.steps() else { return None };
    let heard = step.heard_by(watchers);
    (step.matrix().is_symmetric() && !heard.is_empty()).then_some((step, heard))
}

/// What evolves, and who is heard.
struct System<'a> {
    matrix: Csr,
    own: &'a [usize],
    heard: Vec<usize>,
    rounds: usize,
    /// Lanes of one quantity.
    width: usize,
}

impl System<'_> {
    fn nodes(&self) -> usize {
        self.matrix.nodes()
    }

    /// Numbers of one phase in the table of responses.
    fn slot(&self) -> usize {
        3 * self.width * self.nodes()
    }

    /// Phases whose responses are needed, in the order in which they are stored: from T + 1 down to −T.
    fn phases(&self) -> Range<usize> {
        0..2 * self.rounds + 2
    }

    /// `to` = V `from`.
    fn advance(&self, width: usize, from: &[f64], to: &mut [f64]) {
        self.matrix.multiply(width, from, to);
        self.own.iter().for_each(|&node| to[node * width..(node + 1) * width].fill(0.0));
    }

    /// Stores VʲE below T and gives EᵀVʲE below 2T.
    fn powers(&self, tables: &mut Tables) -> Vec<Vec<f64>> {
        let (size, width) = (self.nodes() * self.width, self.width);
        tables.powers.reserve(self.rounds * size);
        tables.powers[..size].fill(0.0);
        self.heard.iter().enumerate().for_each(|(lane, &node)| tables.powers[node * width + lane] = 1.0);
        let moment = |block: &[f64]| -> Vec<f64> {
            let rows = self.heard.iter().map(|&node| &block[node * width..][..self.heard.len()]);
            rows.flatten().copied().collect()
        };
        let mut moments = Vec::with_capacity(2 * self.rounds);
        for lag in 0..self.rounds {
            if lag > 0 {
                let (before, now) = tables.powers.split_at_mut(lag * size);
                self.advance(width, &before[(lag - 1) * size..], &mut now[..size]);
            }
            moments.push(moment(&tables.powers[lag * size..(lag + 1) * size]));
        }
        let (mut now, mut next) = (Block::zeros(size), Block::zeros(size));
        now.copy_from_slice(&tables.powers[(self.rounds - 1) * size..self.rounds * size]);
        for _ in self.rounds..2 * self.rounds {
            self.advance(width, &now, &mut next);
            std::mem::swap(&mut now, &mut next);
            moments.push(moment(&now));
        }
        moments
    }

    /// Stores π(r), φ_q(r) and φ_o(r) of every node, by Horner's rule from the last phase backwards.
    fn respond(&self, tables: &mut Tables, predictor: &Predictor) {
        let (slot, width) = (self.slot(), 3 * self.width);
        tables.responses.reserve(self.phases().len() * slot);
        let first = &mut tables.responses[..slot];
        first.fill(0.0);
        self.heard.iter().enumerate().for_each(|(lane, &node)| first[node * width + lane] = 1.0);
        for at in self.phases().skip(1) {
            let (before, now) = tables.responses.split_at_mut(at * slot);
            let now = &mut now[..slot];
            self.advance(width, &before[(at - 1) * slot..], now);
            // Messages before the first are none.
            let Some(step) = self.rounds.checked_sub(at) else { continue };
            for (from, &node) in self.heard.iter().enumerate() {
                let rows = now[node * width..(node + 1) * width].chunks_exact_mut(self.width);
                for (row, weights) in rows.zip(predictor.weights(step, from)) {
                    row.iter_mut().zip(weights).for_each(|(x, weight)| *x += weight);
                }
            }
        }
    }
}

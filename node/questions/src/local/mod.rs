//! The local model: each node is one person and answers for itself, so nobody is trusted. K-ary randomised response.

mod choose;

pub use choose::{categories_for_quantile, categories_for_u};

use privacy::mechanisms::KaryResponse;

use crate::estimate::{Estimate, dot};
use crate::kinds::u_statistic::Kernel;
use crate::refusal::Refusal;

/// Answers of many people to one question of k categories.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// β = k/(k + e^ε − 1): the probability of a uniform answer.
    beta: f64,
    counts: Vec<f64>,
}

/// β for k categories at ε.
#[must_use]
pub fn uniform_probability(epsilon: f64, categories: usize) -> f64 {
    let k = categories as f64;
    k / (k + libm::expm1(epsilon))
}

/// The bound of the theorem, for a kernel of Lipschitz constant L cut into k bins: far above the measured error; printed
/// as what it is.
#[must_use]
pub fn theorem_bound(epsilon: f64, categories: usize, people: u64, lipschitz: f64) -> f64 {
    let (k, n) = (categories as f64, people as f64);
    let beta = uniform_probability(epsilon, categories);
    let signal = 1.0 - beta;
    1.0 / (n * signal * signal)
        + (1.0 + beta) * (1.0 + beta) / (2.0 * n * (n - 1.0) * libm::pow(signal, 4.0))
        + lipschitz * lipschitz / (2.0 * k * k)
}

impl Survey {
    /// From how often each category was answered.
    ///
    /// # Errors
    /// If ε or the number of categories is refused by the mechanism, or nobody answered.
    pub fn new(epsilon: f64, counts: &[u64]) -> Result<Self, Refusal> {
        KaryResponse::new(epsilon, counts.len()).map_err(|_| Refusal::Epsilon { value: epsilon })?;
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        Ok(Self { beta: uniform_probability(epsilon, counts.len()), counts })
    }

    /// People who answered.
    #[must_use]
    pub fn people(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// β.
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The unbiased shares of the categories.
    #[must_use]
    pub fn histogram(&self) -> Vec<f64> {
        let (n, k) = (self.people(), self.counts.len() as f64);
        self.counts.iter().map(|count| (count / n - self.beta / k) / (1.0 - self.beta)).collect()
    }

    /// The share of a set of `size` categories whose estimated share is `share`: deviation over the responses alone.
    #[must_use]
    pub fn share_deviation(&self, share: f64, size: usize) -> f64 {
        let out = self.beta * size as f64 / self.counts.len() as f64;
        let inside = out + 1.0 - self.beta;
        let share = share.clamp(0.0, 1.0);
        let variance = share * inside * (1.0 - inside) + (1.0 - share) * out * (1.0 - out);
        (variance / self.people()).sqrt() / (1.0 - self.beta)
    }

    /// The unbiased U-statistic of a kernel, with its exact variance at the estimated shares (responses and sample together).
    #[must_use]
    pub fn u_statistic(&self, kernel: &Kernel) -> Estimate {
        let (n, k) = (self.people(), self.counts.len() as f64);
        let centred: Vec<f64> = self.counts.iter().map(|count| count - n * self.beta / k).collect();
        let moved = self.moved(kernel);
        let diagonal = moved.diagonal();
        let signal = 1.0 - self.beta;
        let value = (dot(&centred, &kernel.times(&centred)) - dot(&self.counts, &diagonal))
            / (n * (n - 1.0) * signal * signal);
        // Shares made non-negative lie closer together than the answers do, which alone would promise too much.
        let raw = self.histogram();
        let cleaned = crate::clean::nonnegative(&raw);
        let variance = |shares: &[f64]| u_variance(kernel, shares, self.beta, n);
        Estimate::new(value, variance(&raw).max(variance(&cleaned)).max(0.0).sqrt())
    }

    /// G = A − (β/k)(row sums + column sums) + (β/k)²·ΣA.
    fn moved(&self, kernel: &Kernel) -> Kernel {
        moved(kernel, self.beta)
    }
}

fn moved(kernel: &Kernel, beta: f64) -> Kernel {
    let size = kernel.size();
    let share = beta / size as f64;
    let sums: Vec<f64> = (0..size).map(|i| kernel.row(i).iter().sum()).collect();
    let total: f64 = sums.iter().sum();
    Kernel::new(size, |i, j| kernel.row(i)[j] - share * (sums[i] + sums[j]) + share * share * total)
}

/// The exact variance of the U-statistic of n answers where the truth has the law `shares`.
#[must_use]
pub fn u_variance(kernel: &Kernel, shares: &[f64], beta: f64, n: f64) -> f64 {
    let size = kernel.size();
    let scale = 1.0 / ((1.0 - beta) * (1.0 - beta));
    let g = moved(kernel, beta);
    let k = Kernel::new(size, |i, j| g.row(i)[j] * scale);
    let squares = Kernel::new(size, |i, j| k.row(i)[j] * k.row(i)[j]);
    let law: Vec<f64> = shares.iter().map(|h| (1.0 - beta) * h + beta / size as f64).collect();
    let image = k.times(&law);
    let u = dot(&law, &image);
    let first = law.iter().zip(&image).map(|(g, value)| g * value * value).sum::<f64>() - u * u;
    let second = dot(&law, &squares.times(&law)) - u * u;
    (4.0 * (n - 2.0) * first + 2.0 * second) / (n * (n - 1.0))
}

//! What one contribution is to this account: Gaussian noise, on all records or on a Poisson sample.

use privacy::event::DpEvent;

use super::Price;

/// A contribution in the few forms that have a price between nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReleaseKind {
    /// Gaussian noise on all records, or on the data of a whole node.
    Gaussian {
        /// Noise divided by sensitivity.
        noise_multiplier: f64,
    },
    /// Gaussian noise on a Poisson sample.
    Sampled {
        /// Sampling rate, between 0 and 1.
        rate: f64,
        /// Noise divided by sensitivity.
        noise_multiplier: f64,
    },
    /// Nothing that protects, or nothing that this account has a theorem for: infinite loss.
    NonPrivate,
}

impl ReleaseKind {
    /// The kind of an event.
    ///
    /// # Guarantee
    /// The event is at least as private as the kind returned. What is not known here is [`Self::NonPrivate`], never free.
    pub fn of(event: &DpEvent) -> Self {
        match event {
            DpEvent::Gaussian { noise_multiplier } => Self::gaussian(*noise_multiplier),
            DpEvent::PoissonSampled { rate, event } => match (Self::of(event), *rate) {
                (Self::Gaussian { noise_multiplier }, rate) if rate > 0.0 && rate < 1.0 => {
                    Self::Sampled { rate, noise_multiplier }
                }
                // Sampling never hurts; a rate of one does nothing, any other number is nonsense and gains nothing.
                (kind @ Self::Gaussian { .. }, _) => kind,
                (Self::Sampled { .. } | Self::NonPrivate, _) => Self::NonPrivate,
            },
            DpEvent::Composed { event, count: 1 } => Self::of(event),
            _ => Self::NonPrivate,
        }
    }

    fn gaussian(noise_multiplier: f64) -> Self {
        if noise_multiplier.is_finite() && noise_multiplier > 0.0 {
            return Self::Gaussian { noise_multiplier };
        }
        Self::NonPrivate
    }

    /// The event that this kind stands for.
    pub fn event(self) -> DpEvent {
        match self {
            Self::Gaussian { noise_multiplier } => DpEvent::Gaussian { noise_multiplier },
            Self::Sampled { rate, noise_multiplier } => {
                DpEvent::Gaussian { noise_multiplier }.poisson_sampled(rate)
            }
            Self::NonPrivate => DpEvent::NonPrivate,
        }
    }

    /// The price in μ². A sample is priced as if it were all records: sound, and without amplification.
    pub fn gaussian_price(self) -> Price {
        match self {
            Self::Gaussian { noise_multiplier } | Self::Sampled { noise_multiplier, .. } => {
                Price::Gaussian { noise_multiplier }
            }
            Self::NonPrivate => Price::NonPrivate,
        }
    }

    /// The price in D_α.
    pub fn renyi_price(self, order: f64) -> Price {
        match self {
            Self::Gaussian { noise_multiplier } => Price::Renyi { order, rate: 1.0, noise_multiplier },
            Self::Sampled { rate, noise_multiplier } => Price::Renyi { order, rate, noise_multiplier },
            Self::NonPrivate => Price::NonPrivate,
        }
    }

    /// One contribution of this kind costs `Some(z)`-fold less than one without noise; `None` where there is no noise.
    pub fn noise_multiplier(self) -> Option<f64> {
        match self {
            Self::Gaussian { noise_multiplier } | Self::Sampled { noise_multiplier, .. } => {
                Some(noise_multiplier)
            }
            Self::NonPrivate => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_free() {
        let gaussian = DpEvent::Gaussian { noise_multiplier: 2.0 };
        assert_eq!(ReleaseKind::of(&gaussian), ReleaseKind::Gaussian { noise_multiplier: 2.0 });
        let sampled = gaussian.clone().poisson_sampled(0.25);
        assert_eq!(ReleaseKind::of(&sampled), ReleaseKind::Sampled { rate: 0.25, noise_multiplier: 2.0 });
        assert_eq!(ReleaseKind::of(&sampled).event(), sampled);
        for unknown in [
            DpEvent::PureDp { epsilon: 0.1 },
            DpEvent::Gaussian { noise_multiplier: 0.0 },
            sampled.poisson_sampled(0.5),
            DpEvent::NonPrivate,
        ] {
            assert_eq!(ReleaseKind::of(&unknown), ReleaseKind::NonPrivate, "{unknown:?}");
        }
    }

    #[test]
    fn a_sample_of_everything_is_no_sample() {
        let all = DpEvent::PoissonSampled {
            rate: 1.0,
            event: Box::new(DpEvent::Gaussian { noise_multiplier: 3.0 }),
        };
        assert_eq!(ReleaseKind::of(&all), ReleaseKind::Gaussian { noise_multiplier: 3.0 });
    }
}

//! A running total: what has been spent after each event.
//!
//! Readings are those of the accountant inside. Reading is free: it looks at parameters, never at data.

use crate::accountant::{AccountError, Accountant};
use crate::event::DpEvent;

/// Counts up; refuses nothing but what its accountant cannot price.
pub struct Odometer {
    accountant: Box<dyn Accountant>,
    delta: f64,
    events: u64,
}

/// What an odometer shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Events recorded so far.
    pub events: u64,
    /// ε of all of them together at the odometer's δ.
    pub epsilon: f64,
    /// The odometer's δ.
    pub delta: f64,
}

impl Odometer {
    /// An odometer that reads ε at a fixed δ by the given accountant.
    ///
    /// # Errors
    /// When δ is outside (0, 1).
    pub fn new(accountant: Box<dyn Accountant>, delta: f64) -> Result<Self, AccountError> {
        crate::gdp::check_delta(delta)?;
        Ok(Self { accountant, delta, events: 0 })
    }

    /// Adds an event and returns the new total.
    ///
    /// # Errors
    /// When the accountant cannot price the event; the total stays as it was.
    pub fn record(&mut self, event: &DpEvent) -> Result<Reading, AccountError> {
        self.accountant.compose(event, 1)?;
        self.events += 1;
        self.reading()
    }

    /// The total so far.
    ///
    /// # Guarantee
    /// Everything recorded so far is together (ε, δ)-DP.
    ///
    /// # Assumes
    /// Which events happen, and when one looks, is fixed without looking at what was released. Where later noise
    /// depends on earlier results use a [`crate::filter::Filter`], whose bound holds for adaptive choices.
    ///
    /// # Errors
    /// Never after a successful construction.
    pub fn reading(&self) -> Result<Reading, AccountError> {
        let epsilon = self.accountant.epsilon(self.delta)?;
        Ok(Reading { events: self.events, epsilon, delta: self.delta })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::GaussianAccountant;

    #[test]
    fn the_total_rises_with_every_event_and_a_refused_one_leaves_it_alone() {
        let mut odometer = Odometer::new(Box::new(GaussianAccountant::default()), 1e-5).unwrap();
        assert_eq!(odometer.reading().unwrap().epsilon, 0.0);
        let mut last = 0.0;
        for events in 1..=4 {
            let reading = odometer.record(&DpEvent::Gaussian { noise_multiplier: 2.0 }).unwrap();
            assert!(reading.epsilon > last && reading.events == events, "{reading:?}");
            last = reading.epsilon;
        }
        // Four releases at σ = 2 are one at σ = 1: testdata/gaussian_exact.csv.
        assert!((last / 4.377_178_095_681_224_6 - 1.0).abs() < 1e-9);
        assert!(odometer.record(&DpEvent::PureDp { epsilon: 1.0 }).is_err());
        assert_eq!(odometer.reading().unwrap().epsilon, last);
    }
}

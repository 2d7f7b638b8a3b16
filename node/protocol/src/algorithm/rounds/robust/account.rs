//! Rounds in the open before and after: each contribution is seen by all, so there is one figure, that of somebody who sees every message.
//!
//! # Guarantee
//! The rule is post-processing of released contributions: whatever it does, the loss is at most their own (`local`).

use crate::account::plan::{Figures, Found, PlanError, Question};
use crate::account::{Shape, Tally};
use crate::algorithm::{Fold, Forecast};
use crate::event::RunEvent;
use crate::settings::Scope;

/// Rounds in the open before they are run.
#[derive(Debug, Clone, Copy)]
pub(in crate::algorithm::rounds) struct RobustForecast;

impl Forecast for RobustForecast {
    fn noise(
        &self,
        _question: &Question<'_>,
        _aim: (f64, Scope),
        _local: &Found,
    ) -> Result<Option<Found>, PlanError> {
        Ok(None)
    }

    fn figures(&self, _shape: &Shape, local: f64) -> Result<Figures, PlanError> {
        Ok(Figures { analysis: "local".into(), worst: local, mean: local, coalition: None, local })
    }
}

/// The state of the fold: what was begun, and what came to an end.
#[derive(Debug, Clone, Default)]
pub(in crate::algorithm::rounds) struct RobustFold {
    begun: std::collections::BTreeSet<u32>,
    ended: std::collections::BTreeSet<u32>,
}

impl Fold for RobustFold {
    fn on(&mut self, shape: &Shape, tally: &mut Tally, node: usize, event: &RunEvent) {
        match event {
            RunEvent::Released { round, release, .. } => {
                let kind = tally.kind(release.as_ref().unwrap_or(&shape.release));
                tally.count(node, kind);
                self.begun.insert(*round);
            }
            RunEvent::RoundDone { round, .. } => {
                self.ended.insert(*round);
            }
            _ => {}
        }
    }

    fn broken(&self) -> u64 {
        self.begun.difference(&self.ended).count() as u64
    }

    fn copy(&self) -> Box<dyn Fold> {
        Box::new(self.clone())
    }
}

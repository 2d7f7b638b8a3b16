//! What do these releases reveal, by every accountant side by side?

use super::QuestionError;
use crate::accountant::{AccountError, Accountant, BasicAccountant, all};
use crate::event::{DpEvent, Neighbours};
use serde::{Deserialize, Serialize};

/// Some releases, and what is asked of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What was released.
    pub events: Vec<DpEvent>,
    /// ε or δ.
    pub ask: Ask,
    /// Only these accountants; none named is all of them.
    #[serde(default)]
    pub accountants: Vec<String>,
}

/// Which of the two is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// ε at this δ.
    EpsilonAt(f64),
    /// δ at this ε.
    DeltaAt(f64),
}

/// What every accountant says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The δ that was given, if one was.
    pub delta: Option<f64>,
    /// The ε that was given, if one was.
    pub epsilon: Option<f64>,
    /// Which inputs count as neighbours.
    pub adjacency: Neighbours,
    /// What was released.
    pub events: Vec<DpEvent>,
    /// Each for itself; all figures are upper bounds.
    pub accountants: Vec<Entry>,
    /// The one with the smallest finite answer.
    pub best: Option<&'static str>,
}

/// One accountant's answer; what is infinite or refused is null, and `status` says which.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Which accountant.
    pub name: &'static str,
    /// Its analysis, with its source.
    pub analysis: &'static str,
    /// Whether there is a figure.
    pub status: Status,
    /// ε, given or found.
    pub epsilon: Option<f64>,
    /// δ, given or found.
    pub delta: Option<f64>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Whether an accountant has a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has.
    Ok,
    /// Something was released without protection.
    Infinite,
    /// It has no theorem for one of the events.
    Unsupported,
}

impl Question {
    /// Asks every accountant.
    ///
    /// # Guarantee
    /// Each figure is an upper bound for all events together, for the adjacency of the answer.
    ///
    /// # Assumes
    /// Independent noise in different releases; parameters that do not depend on earlier results.
    ///
    /// # Errors
    /// No events, impossible ones, ones for different adjacencies, or a bad δ or ε.
    pub fn answer(&self) -> Result<Answer, QuestionError> {
        if self.events.is_empty() {
            return Err(QuestionError::NoEvents);
        }
        // An empty accountant answers valid questions with 0 and refuses the others by name.
        self.ask.of(&BasicAccountant::default())?;
        let together = |all: Neighbours, event: &DpEvent| all.and(event.adjacency()?);
        let adjacency = self.events.iter().try_fold(Neighbours::Any, together)?;
        let entries = self.chosen()?.into_iter().map(|accountant| self.entry(accountant));
        let accountants = entries.collect::<Result<Vec<_>, _>>()?;
        let (delta, epsilon) = match self.ask {
            Ask::EpsilonAt(delta) => (Some(delta), None),
            Ask::DeltaAt(epsilon) => (None, Some(epsilon)),
        };
        let best = self.best(&accountants);
        Ok(Answer { delta, epsilon, adjacency, events: self.events.clone(), accountants, best })
    }

    fn chosen(&self) -> Result<Vec<Box<dyn Accountant>>, QuestionError> {
        let mut accountants = all();
        let known = |name: &&String| accountants.iter().any(|accountant| accountant.name() == name.as_str());
        if let Some(unknown) = self.accountants.iter().find(|name| !known(name)) {
            return Err(QuestionError::UnknownAccountant(unknown.clone()));
        }
        if !self.accountants.is_empty() {
            accountants.retain(|accountant| self.accountants.iter().any(|name| name == accountant.name()));
        }
        Ok(accountants)
    }

    fn entry(&self, mut accountant: Box<dyn Accountant>) -> Result<Entry, QuestionError> {
        let (name, analysis) = (accountant.name(), accountant.analysis());
        for event in &self.events {
            match accountant.compose(event, 1) {
                Ok(()) => {}
                // No theorem in this accountant: the others may have one.
                Err(error @ AccountError::Unsupported { .. }) => {
                    let (epsilon, delta) = self.ask.beside(None);
                    let reason = Some(error.to_string());
                    return Ok(Entry { name, analysis, status: Status::Unsupported, epsilon, delta, reason });
                }
                Err(
                    error @ (AccountError::Ledger(_) | AccountError::Question(_) | AccountError::Order(_)),
                ) => {
                    return Err(error.into());
                }
            }
        }
        let found = Some(self.ask.of(accountant.as_ref())?).filter(|found| found.is_finite());
        let status = if found.is_some() { Status::Ok } else { Status::Infinite };
        let (epsilon, delta) = self.ask.beside(found);
        Ok(Entry { name, analysis, status, epsilon, delta, reason: None })
    }

    fn best(&self, entries: &[Entry]) -> Option<&'static str> {
        let figure = |entry: &Entry| match self.ask {
            Ask::EpsilonAt(_) => entry.epsilon,
            Ask::DeltaAt(_) => entry.delta,
        };
        let found = entries.iter().filter(|entry| entry.status == Status::Ok);
        let found = found.filter_map(|entry| Some((entry.name, figure(entry)?)));
        found.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
    }
}

impl Ask {
    fn of(self, accountant: &dyn Accountant) -> Result<f64, AccountError> {
        match self {
            Self::EpsilonAt(delta) => accountant.epsilon(delta),
            Self::DeltaAt(epsilon) => accountant.delta(epsilon),
        }
    }

    /// (ε, δ): the one that was given and the one that was found.
    fn beside(self, found: Option<f64>) -> (Option<f64>, Option<f64>) {
        match self {
            Self::EpsilonAt(delta) => (found, Some(delta)),
            Self::DeltaAt(epsilon) => (Some(epsilon), found),
        }
    }
}

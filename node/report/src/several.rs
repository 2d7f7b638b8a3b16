//! Several runs on the same data: what they cost together.

use learn::calibrate;
use privacy::event::DpEvent;
use privacy::number::{Precision, raised};
use protocol::RunEvent;
use protocol::account::{ReleaseKind, epsilon_of_mu2};
use serde::Serialize;
use thiserror::Error;
use topology::Hint;

use crate::belief::{belief, percent};
use crate::document::{Figure, Report};
use crate::fold::figure;
use crate::number::{given, loss};
use crate::source::Source;

/// Several runs, and what they cost together.
///
/// # Guarantee
/// What one watcher saw of all runs together is (`one_member.epsilon`, `delta`)-DP, and what everybody saw (`everybody.epsilon`, `delta`)-DP, for one
/// unit of a node: ε and δ of the runs add up (basic composition), or, for everybody, all contributions are priced together, where that is less.
///
/// # Assumes
/// As each run; the same unit in all of them.
#[derive(Debug, Clone, Serialize)]
pub struct Several {
    /// The runs.
    pub runs: Vec<One>,
    /// The sum of the runs' δ.
    pub delta: f64,
    /// Whether each of them is private.
    pub private: bool,
    /// Any one member, of each run the one that learnt most.
    pub one_member: Figure,
    /// Everybody together.
    pub everybody: Figure,
    /// What to be careful about.
    pub cautions: Vec<String>,
}

/// One of them.
#[derive(Debug, Clone, Serialize)]
pub struct One {
    /// Its name.
    pub run: String,
    /// When it began.
    pub began: Option<String>,
    /// Its δ.
    pub delta: f64,
    /// Any one member.
    pub one_member: Figure,
    /// Everybody together.
    pub everybody: Figure,
    /// Digest of the records.
    pub data_digest: Option<String>,
}

/// Why runs cannot be put together.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SeveralError {
    /// They protect different things.
    #[error("the runs protect different units: {one} and {other}")]
    Units {
        /// One.
        one: String,
        /// Another.
        other: String,
    },
    /// One of them is there twice.
    #[error("run `{run}` is named twice: what it cost would be added to itself")]
    Twice {
        /// Its name.
        run: String,
    },
}

impl Hint for SeveralError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Units { .. } => "report runs with one `privacy.unit` together, the others apart",
            Self::Twice { .. } => "name every run once",
        };
        Some(hint.into())
    }
}

impl Several {
    /// Puts runs together, each with the source that it was made of.
    ///
    /// # Errors
    /// Runs that protect different units, or one run twice.
    ///
    /// # Panics
    /// Without any run.
    pub fn new(runs: &[(Report, &Source)]) -> Result<Self, SeveralError> {
        let first = &runs.first().expect("at least one run").0;
        if let Some((other, _)) = runs.iter().find(|(run, _)| run.adjacency != first.adjacency) {
            let (one, other) = (first.adjacency.word().to_owned(), other.adjacency.word().to_owned());
            return Err(SeveralError::Units { one, other });
        }
        if let Some(run) = twice(runs) {
            return Err(SeveralError::Twice { run });
        }
        let delta = runs.iter().map(|(run, _)| run.delta).sum::<f64>() * (1.0 + 1e-12);
        let sum = |of: fn(&Report) -> f64| runs.iter().map(|(run, _)| of(run)).sum::<f64>() * (1.0 + 1e-12);
        let added = sum(|run| run.worst.figure.epsilon);
        let (worst, worst_name) = match gaussian(runs, delta) {
            Some(together) if together < added => (together, "μ² added up"),
            _ => (added, "basic composition"),
        };
        let (local_sum, together) = (sum(|run| run.local.epsilon), together(runs, delta));
        let (local, local_name) = match together {
            Some(together) if together < local_sum => (together, "local, all runs together"),
            _ => (local_sum, "local, basic composition"),
        };
        // Nobody saw more than everybody did.
        let (worst, worst_name) = if local < worst { (local, local_name) } else { (worst, worst_name) };
        Ok(Self {
            runs: runs.iter().map(|(run, _)| One::of(run)).collect(),
            delta,
            private: runs.iter().all(|(run, _)| run.private),
            one_member: figure(worst, delta, worst_name),
            everybody: figure(local, delta, local_name),
            cautions: cautions(runs),
        })
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {} runs on the same data\n\n", self.runs.len());
        if !self.private {
            text.push_str("Not all of them are private: together they protect nobody.\n\n");
        }
        text.push_str(&format!(
            "Whatever any one member received in all of them, its belief can have risen from 50 % to at most {} (ε = {} at δ = {}, {}); whoever works together: at most {} (ε = {}, {}).\n\n",
            percent(belief(self.one_member.epsilon)),
            loss(self.one_member.epsilon),
            given(raised(self.delta, Precision::Digits(4))),
            self.one_member.analysis,
            percent(belief(self.everybody.epsilon)),
            loss(self.everybody.epsilon),
            self.everybody.analysis
        ));
        text.push_str("| run | began | δ | ε, one member | ε, everybody |\n|---|---|---|---|---|\n");
        for one in &self.runs {
            text.push_str(&format!(
                "| {} | {} | {} | {} ({}) | {} ({}) |\n",
                one.run.replace('|', "\\|"),
                one.began.as_deref().unwrap_or("-"),
                given(one.delta),
                loss(one.one_member.epsilon),
                one.one_member.analysis,
                loss(one.everybody.epsilon),
                one.everybody.analysis
            ));
        }
        let row = |figure: &Figure| format!("{} ({})", loss(figure.epsilon), figure.analysis);
        text.push_str(&format!(
            "| together | | {} | {} | {} |\n",
            given(raised(self.delta, Precision::Digits(4))),
            row(&self.one_member),
            row(&self.everybody)
        ));
        self.cautions.iter().for_each(|caution| text.push_str(&format!("\nCareful: {caution}\n")));
        text
    }
}

impl One {
    fn of(report: &Report) -> Self {
        Self {
            run: report.run.clone(),
            began: report.head.began.clone(),
            delta: report.delta,
            one_member: report.worst.figure.clone(),
            everybody: report.local.clone(),
            data_digest: report
                .nodes
                .first()
                .and_then(|node| node.data_digest.clone())
                .filter(|_| report.nodes.len() == 1),
        }
    }
}

/// Where nothing is sampled every view is Gaussian, and μ² of the runs add up.
fn gaussian(runs: &[(Report, &Source)], delta: f64) -> Option<f64> {
    // Masked sums cost a little δ beside their noise: what passes through a point is no bound there.
    if runs.iter().any(|(run, _)| run.worst.figure.analysis.starts_with("masked")) {
        return None;
    }
    let whole = |source: &Source| {
        releases(source).all(|event| matches!(ReleaseKind::of(&event), ReleaseKind::Gaussian { .. }))
    };
    let mu2 = runs
        .iter()
        .map(|(run, source)| whole(source).then_some(run.worst.figure.mu2))
        .sum::<Option<f64>>()?;
    Some(epsilon_of_mu2(mu2 * (1.0 + 1e-12), delta))
}

/// All contributions of the node that made most, priced together; `None` where that costs more than a report may.
fn together(runs: &[(Report, &Source)], delta: f64) -> Option<f64> {
    let mut events: Vec<DpEvent> = Vec::new();
    for (run, source) in runs {
        let [one] = run.nodes.as_slice() else { return None };
        if !source.lost.is_empty() {
            return None;
        }
        // What only a ledger knows is in the figures of its run, and not here.
        if source
            .ledgers
            .get(&one.index)
            .is_some_and(|ledger| ledger.records.len() as u64 != one.contributions)
        {
            return None;
        }
        let mut counts: Vec<(DpEvent, u64)> = Vec::new();
        for event in releases_of(source, one.index) {
            match counts.iter_mut().find(|(known, _)| *known == event) {
                Some((_, count)) => *count += 1,
                None => counts.push((event, 1)),
            }
        }
        events.extend(
            counts.into_iter().map(|(event, count)| DpEvent::Composed { event: Box::new(event), count }),
        );
    }
    calibrate::epsilon(&DpEvent::Sequence { events }, delta).ok()
}

fn releases(source: &Source) -> impl Iterator<Item = DpEvent> + '_ {
    source.lines.iter().filter_map(|line| match &line.event {
        RunEvent::Released { release, .. } => Some(release.clone().unwrap_or_else(|| usual(source))),
        _ => None,
    })
}

fn releases_of(source: &Source, node: usize) -> impl Iterator<Item = DpEvent> + '_ {
    source.lines.iter().filter(move |line| line.node == Some(node as u32)).filter_map(|line| {
        match &line.event {
            RunEvent::Released { release, .. } => Some(release.clone().unwrap_or_else(|| usual(source))),
            _ => None,
        }
    })
}

fn usual(source: &Source) -> DpEvent {
    match &source.first {
        RunEvent::Run { release, .. } => release.clone(),
        _ => DpEvent::NonPrivate,
    }
}

/// Every two of them.
fn pairs<'a>(runs: &'a [(Report, &Source)]) -> impl Iterator<Item = (&'a Report, &'a Report)> {
    runs.iter().enumerate().flat_map(|(at, (one, _))| runs[..at].iter().map(move |(other, _)| (other, one)))
}

fn about(run: &Report) -> Vec<&str> {
    run.nodes.iter().map(|node| node.label.as_str()).collect()
}

/// A run that is there again, if one is: the same configuration and nodes, and the same log.
fn twice(runs: &[(Report, &Source)]) -> Option<String> {
    let same = |(one, other): &(&Report, &Report)| {
        one.config_digest == other.config_digest
            && about(one) == about(other)
            && one.head.began == other.head.began
            && one.head.began.is_some()
    };
    pairs(runs).find(same).map(|(one, _)| one.run.clone())
}

fn cautions(runs: &[(Report, &Source)]) -> Vec<String> {
    let mut all = Vec::new();
    let by_another = |(one, other): &(&Report, &Report)| {
        one.config_digest == other.config_digest && about(one) != about(other)
    };
    if let Some((one, other)) = pairs(runs).find(by_another) {
        let name = |run: &Report| run.head.about.clone().unwrap_or_else(|| run.run.clone());
        all.push(format!(
            "{} and {} have one configuration and are about different members: if that is one run, it is counted twice, and no record is at both.",
            name(one),
            name(other)
        ));
    }
    let digests: std::collections::BTreeSet<Option<String>> =
        runs.iter().map(|(run, _)| One::of(run).data_digest).collect();
    if digests.len() > 1 || digests.contains(&None) {
        all.push("the runs do not tell that they used the same records; the figures are for a record, or person, that was in all of them.".into());
    }
    if runs.iter().any(|(run, _)| run.nodes.len() > 1) {
        all.push("some runs are whole swarms: of each, the node that lost most counts.".into());
    }
    all
}

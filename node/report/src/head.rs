//! The head of a report: when, who, what for, on which data, with which program. All of it is in the log.

use std::collections::{BTreeMap, BTreeSet};

use privacy::event::DpEvent;
use protocol::RunEvent;
use protocol::account::ReleaseKind;
use protocol::log::Declared;
use serde::Serialize;

use crate::dates;
use crate::source::Source;

/// The head of a report. What a log does not tell (a simulation has no names) is `null`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Head {
    /// When the run began, in UTC.
    pub began: Option<String>,
    /// When the last line was written.
    pub ended: Option<String>,
    /// The same as words for a sentence.
    #[serde(skip)]
    pub(crate) period: Option<String>,
    /// What it was for, as all members agreed.
    pub purpose: Option<String>,
    /// Whose report this is, where it is about one node.
    pub about: Option<String>,
    /// The members, in the order of their numbers.
    pub members: Vec<Member>,
    /// The kind of model.
    pub model: String,
    /// Its inputs.
    pub inputs: Option<u64>,
    /// Digest of the finished model, where all that finished have the same.
    pub model_digest: Option<String>,
    /// z: noise divided by the clip norm.
    pub noise_multiplier: Option<f64>,
    /// The probability with which a record or person takes part in a round; 1 for all.
    pub sampling_rate: Option<f64>,
    /// C: the largest influence of a record or person on a sum.
    pub clip_norm: f64,
    /// Commit of the program that ran it, `modified` where its source had changes; several where members had different ones.
    pub commit: Option<String>,
}

/// One member.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Member {
    /// Its number in this run.
    pub index: usize,
    /// What it is called; `node 3` where it has no name.
    pub name: String,
    /// Its public key, where that is known.
    pub identity: Option<String>,
}

/// What each node declared, the last time it did.
pub(crate) fn declared(source: &Source) -> BTreeMap<usize, Declared> {
    let lines = source.lines.iter().filter_map(|line| match &line.event {
        RunEvent::Declared(declared) => Some((line.node? as usize, declared.as_ref().clone())),
        _ => None,
    });
    lines.filter(|(node, _)| *node < source.config.nodes).collect()
}

/// The head of a report about these nodes.
pub(crate) fn of(source: &Source, subjects: &[usize]) -> Head {
    let declared = declared(source);
    let members = members(source, &declared);
    let begun = declared.values().map(|declared| declared.begun).filter(|&begun| begun > 0).min();
    let last = source.lines.iter().map(|line| line.time.seconds()).fold(0.0, f64::max);
    let ended = begun.map(|begun| begun.saturating_add(last as u64));
    let kind = kind(source, subjects);
    let config = &source.config;
    let about = match subjects {
        [one] if config.nodes > 1 => Some(members[*one].name.clone()),
        _ => None,
    };
    Head {
        began: begun.and_then(dates::moment),
        ended: ended.and_then(dates::moment),
        period: begun.zip(ended).and_then(|(from, to)| dates::period(from, to)),
        purpose: Some(config.purpose.clone()).filter(|purpose| !purpose.is_empty()),
        about,
        members,
        model: model(&config.to_toml()),
        inputs: declared.values().map(|declared| declared.inputs).max(),
        model_digest: model_digest(source),
        noise_multiplier: kind.noise_multiplier(),
        sampling_rate: match kind {
            ReleaseKind::Sampled { rate, .. } => Some(rate),
            _ => kind.noise_multiplier().map(|_| 1.0),
        },
        clip_norm: config.privacy.clip_norm,
        commit: commits(&declared),
    }
}

/// The commits of the programs of these nodes.
fn commits(declared: &BTreeMap<usize, Declared>) -> Option<String> {
    let all: BTreeSet<&str> = declared.values().map(|declared| declared.commit.as_str()).collect();
    let known: Vec<&str> = all.into_iter().filter(|commit| !commit.is_empty()).collect();
    (!known.is_empty()).then(|| known.join(" and "))
}

/// Everybody, with the name that the swarm file, or the member itself, gives.
fn members(source: &Source, declared: &BTreeMap<usize, Declared>) -> Vec<Member> {
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for line in &source.lines {
        if let RunEvent::Named { peer, name } = &line.event {
            names.insert(*peer as usize, name.clone());
        }
    }
    let identity = |node: usize| {
        let ledger = source.ledgers.values().find_map(|ledger| ledger.members.get(node)).cloned();
        ledger.or_else(|| declared.get(&node).map(|declared| declared.identity.clone()))
    };
    let member = |index: usize| Member {
        index,
        name: names.get(&index).cloned().unwrap_or_else(|| format!("node {index}")),
        identity: identity(index).filter(|identity| !identity.is_empty()),
    };
    (0..source.config.nodes).map(member).collect()
}

/// What a contribution of these nodes is: the dearest of those that they made.
fn kind(source: &Source, subjects: &[usize]) -> ReleaseKind {
    let usual = match &source.first {
        RunEvent::Run { release, .. } => release.clone(),
        _ => DpEvent::NonPrivate,
    };
    let made = source.lines.iter().filter_map(|line| match &line.event {
        RunEvent::Released { release, .. } if subjects.contains(&(line.node? as usize)) => {
            Some(ReleaseKind::of(release.as_ref().unwrap_or(&usual)))
        }
        _ => None,
    });
    let rate = |kind: &ReleaseKind| if let ReleaseKind::Sampled { rate, .. } = kind { *rate } else { 1.0 };
    made.max_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap_or_else(|| ReleaseKind::of(&usual))
}

fn model_digest(source: &Source) -> Option<String> {
    let mut found = source.lines.iter().filter_map(|line| match &line.event {
        RunEvent::Finished { model, .. } => Some(model.to_string()),
        _ => None,
    });
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// `logistic`, from the effective configuration.
fn model(config: &str) -> String {
    let section = config.split("[model]").nth(1).unwrap_or_default();
    let kind = section.lines().find_map(|line| line.strip_prefix("kind = "));
    kind.map_or_else(|| "unnamed".into(), |kind| kind.trim_matches('"').to_owned())
}

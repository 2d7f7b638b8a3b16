//! Who could have learnt how much: one member, a third of them, everybody together, whoever reads the traffic, whoever gets only the model.

use protocol::account::{Account, FoldError};
use serde::Serialize;

use crate::belief::belief;
use crate::coalitions::{self, Third};
use crate::document::{Figure, Report};
use crate::fold::figure;
use crate::source::Source;
use crate::words;

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Watcher {
    /// Who.
    pub who: String,
    /// What it could have learnt; `null` where nothing but sizes and times is to be seen.
    pub figure: Option<Figure>,
    /// The largest belief, from 0.5 before.
    pub belief: Option<f64>,
    /// What the figure rests on.
    pub rests_on: String,
}

impl Watcher {
    fn new(who: impl Into<String>, figure: Figure, rests_on: impl Into<String>) -> Self {
        let belief = Some(belief(figure.epsilon));
        Self { who: who.into(), figure: Some(figure), belief, rests_on: rests_on.into() }
    }
}

/// The table, without those that were asked for by name: they have rows of their own.
pub(crate) fn table(
    report: &Report,
    source: &Source,
    account: &mut Account,
    subjects: &[usize],
) -> Result<Vec<Watcher>, FoldError> {
    let mut rows = vec![Watcher::new(
        "any one of the other members",
        report.worst.figure.clone(),
        words::condition(report),
    )];
    rows.extend(third(account, subjects, report)?);
    rows.extend(report.coalitions.iter().filter(|one| one.search == coalitions::ASKED).map(|one| {
        Watcher::new(
            format!("{} together, as asked for", words::names(&one.members, &report.head)),
            one.figure.clone(),
            "the members outside follow the protocol",
        )
    }));
    rows.push(Watcher::new(
        "everybody together, however many and whether or not they follow the protocol",
        report.local.clone(),
        "this node's own program and noise alone",
    ));
    rows.push(traffic(report));
    rows.push(model_only(report, source));
    Ok(rows)
}

/// The row of a third of the members. Whatever figure the account has for it is taken from here: by name of its analysis.
fn third(account: &mut Account, subjects: &[usize], report: &Report) -> Result<Option<Watcher>, FoldError> {
    if let Some(masked) = masked_third(account, subjects, report) {
        return Ok(Some(masked));
    }
    let Some(Third { size, found, of }) = coalitions::third(account, subjects, report.participants)? else {
        return Ok(None);
    };
    let who = format!("a third of the members ({size} of {}) together", report.participants);
    Ok(Some(match found {
        Some(worst) => Watcher::new(
            who,
            worst,
            format!("the others follow the protocol; the worst of all {of} such groups"),
        ),
        None => Watcher::new(
            who,
            report.local.clone(),
            format!("bounded by everybody together: not all {of} such groups were priced"),
        ),
    }))
}

/// Where masks hide contributions, one figure holds for any group of the size.
fn masked_third(account: &mut Account, subjects: &[usize], report: &Report) -> Option<Watcher> {
    let size = report.participants.div_ceil(3);
    let towards = account.epsilons_towards_any(size)?;
    let worst = subjects.iter().map(|&node| towards[node]).fold(0.0, f64::max);
    let analysis = report.colluding.as_ref().map_or("masked", |any| any.figure.analysis.as_str());
    let who = format!("a third of the members ({size} of {}) together", report.participants);
    Some(Watcher::new(who, figure(worst, report.delta, analysis), words::condition(report)))
}

fn traffic(report: &Report) -> Watcher {
    let who = "whoever reads the traffic between them".to_owned();
    if report.driver == "sim" {
        let rests_on = "a simulation has no traffic".into();
        return Watcher { who, figure: None, belief: None, rests_on };
    }
    let rests_on =
        "links are encrypted and both ends know the secret of the swarm (Noise or TLS 1.3): sizes, times and addresses are to be seen. If encryption were broken, \
         the row of everybody together holds"
            .into();
    Watcher { who, figure: None, belief: None, rests_on }
}

fn model_only(report: &Report, source: &Source) -> Watcher {
    let who = "whoever gets only the finished model";
    if words::ends_in_consensus(&source.config) {
        let rests_on =
            "every member holds the same model, so that whoever gets it learns no more than a member did";
        return Watcher::new(who, report.worst.figure.clone(), rests_on);
    }
    Watcher::new(
        who,
        report.local.clone(),
        "a node's own model may hold more of its own data than others saw: at most what it sent",
    )
}

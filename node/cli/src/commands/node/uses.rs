//! The ledger of this node's data set: what earlier runs on it cost, and this one put down before anything is sent.

use super::policy::Policy;
use crate::commands::ledger::settled;
use crate::commands::report;
use crate::failure::{Failure, Result};
use crate::output::say;
use ::report::{NodeReport, Options, Report};
use protocol::log::{Declared, Earlier};
use protocol::{Scope, Setup};
use runtime::data_ledger::{DataLedger, DataLedgerError, Use};
use runtime::identity::Identity;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What may be done.
pub(super) enum Begun {
    /// The run, with what is left of the total budget as a limit, and where to put down what it costs.
    Allowed(Box<(Setup, Declared, Option<Account>)>),
    /// Nothing: why.
    Refused(String),
}

/// This run in the ledger of its data set.
pub(super) struct Account {
    ledger: DataLedger,
    used: Use,
    /// What it had cost by the ledger before it was started again.
    before: f64,
}

/// Puts the run down, or refuses it.
///
/// # Guarantee
/// With `budget.total_epsilon` the runs on a data set cost at most that together, in the scope of the budget and for the unit of this run: what they may cost at
/// most is put down before anything is sent, and adds up (basic composition; δ adds up too). A run whose figure says less, towards fewer or for another unit,
/// cannot be added up: after it nothing is allowed.
pub(super) fn begin(
    policy: &Policy,
    setup: Setup,
    declared: Declared,
    (data, state): (Option<String>, &Path),
) -> Result<Begun> {
    let Some(data) = data else {
        return match policy.total {
            Some(_) => Err(Failure::new("`budget.total_epsilon` needs to know which data set it is about")
                .hint("bring `--data FILE`, or name what the trainer or the share holds with `--data-name NAME`")),
            None => Ok(Begun::Allowed(Box::new((setup, declared, None)))),
        };
    };
    let ledger = match DataLedger::of_user() {
        Ok(ledger) => ledger,
        Err(error) if policy.total.is_some() => return Err(error.into()),
        // Nobody asked for a limit over runs.
        Err(_) => return Ok(Begun::Allowed(Box::new((setup, declared, None)))),
    };
    let scope = policy.scope(&setup);
    let fresh = this_use(policy, &setup, (&data, &declared), state)?;
    let (mut earlier, mut left, mut before) = (Earlier::default(), None, 0.0);
    let put = ledger.put_down(&data, |uses| {
        let (own, others): (Vec<Use>, Vec<Use>) =
            uses.into_iter().map(settled).partition(|other| other.is_of(&fresh));
        before = own.iter().filter(|own| own.settled).map(|own| own.epsilon).fold(0.0, f64::max);
        let fresh = Use { epsilon: fresh.epsilon.max(before), ..fresh };
        warn_of_changes(&others, &fresh);
        if policy.total.is_some()
            && let Some(weaker) = others.iter().find(|other| other.epsilon > 0.0 && !other.covers(&fresh))
        {
            return Err(Stop::Spent(not_comparable(weaker, &fresh)));
        }
        earlier = spent(&others);
        left = policy.total.map(|total| total - earlier.epsilon);
        match left {
            Some(left) if left <= 0.0 => Err(Stop::Spent(refusal(&data, policy.total, &earlier, None))),
            Some(left) => Ok(Use { epsilon: fresh.epsilon.min(left).max(before), ..fresh }),
            None => Ok(fresh),
        }
    });
    let used = match put {
        Ok(used) => used,
        Err(Stop::Spent(why)) => return Ok(Begun::Refused(why)),
        Err(Stop::Ledger(error)) if policy.total.is_some() => return Err(error.into()),
        Err(Stop::Ledger(error)) => {
            say!("warning: {error}: this run is not put down");
            return Ok(Begun::Allowed(Box::new((setup, declared, None))));
        }
    };
    let declared = Declared { earlier: Some(earlier), ..declared };
    let account = Account { ledger, used, before };
    let Some(left) = left else { return Ok(Begun::Allowed(Box::new((setup, declared, Some(account))))) };
    match setup.with_own_limit(left, Some(scope)) {
        Ok(setup) => Ok(Begun::Allowed(Box::new((setup, declared, Some(account))))),
        Err(error) => {
            // Nothing is sent from here on; what a start before this one sent was spent all the same.
            account.settle(cost(state).as_ref())?;
            let why = Failure::from(error).to_string();
            Ok(Begun::Refused(refusal(&data, policy.total, &earlier, Some(why.trim()))))
        }
    }
}

/// Why nothing is put down.
enum Stop {
    Spent(String),
    Ledger(DataLedgerError),
}

impl From<DataLedgerError> for Stop {
    fn from(error: DataLedgerError) -> Self {
        Self::Ledger(error)
    }
}

fn this_use(
    policy: &Policy,
    setup: &Setup,
    (data, declared): (&str, &Declared),
    state: &Path,
) -> Result<Use> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let scope = match policy.scope(setup) {
        Scope::Local => "local",
        Scope::Worst => "worst",
        Scope::Mean => "mean",
    };
    Ok(Use {
        data: data.to_owned(),
        run: setup.config.name.clone(),
        config: setup.digest.to_string(),
        identity: Identity::load_or_create(state)?.peer_id().to_string(),
        state: std::path::absolute(state)?,
        began: now,
        unit: setup.config.privacy.adjacency.word().into(),
        scope: scope.into(),
        epsilon: policy.at_most(setup),
        delta: setup.config.privacy.delta,
        digest: declared.data_digest.clone(),
        settled: false,
    })
}

/// What these runs cost together.
pub(crate) fn spent(uses: &[Use]) -> Earlier {
    let made = uses.iter().filter(|used| used.epsilon > 0.0);
    made.fold(Earlier::default(), |sum, used| Earlier {
        runs: sum.runs + 1,
        epsilon: sum.epsilon + used.epsilon,
        delta: sum.delta + used.delta,
    })
}

fn warn_of_changes(others: &[Use], fresh: &Use) {
    // A run that cost nothing told nothing about the records of its day.
    let last = others.iter().rfind(|other| other.epsilon > 0.0);
    if let Some(last) = last.filter(|last| last.digest != fresh.digest) {
        say!(
            "note: the records of `{}` are not those of run `{}`; what was spent on them counts all the same",
            fresh.data,
            last.run
        );
    }
    if let Some(other) = others.iter().find(|other| other.unit != fresh.unit) {
        say!(
            "note: run `{}` protected one {}, this one protects one {}: their figures do not mean the same",
            other.run,
            other.unit,
            fresh.unit
        );
    }
}

fn refusal(data: &str, total: Option<f64>, earlier: &Earlier, why: Option<&str>) -> String {
    let runs = if earlier.runs == 1 { "run".to_owned() } else { format!("{} runs", earlier.runs) };
    let total = total.unwrap_or_default();
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    format!(
        "`budget.total_epsilon = {total}` of the data `{data}` does not allow this run: the {runs} before it cost ε = {}{why}\n`murmur ledger` shows them",
        privacy::number::up(earlier.epsilon, privacy::number::Precision::Digits(4))
    )
}

fn not_comparable(weaker: &Use, fresh: &Use) -> String {
    format!(
        "`budget.total_epsilon` of the data `{}` is about one {} and what `{}` means; run `{}` says only what it cost one {} in the sense of `{}`, so the two do not add up\nuse the unit and `budget.scope` of that run, or other data; `murmur ledger` shows it",
        fresh.data, fresh.unit, fresh.scope, weaker.run, weaker.unit, weaker.scope
    )
}

/// What the run in a folder cost its node, by the account of its log and its own ledger; nothing where it has not begun.
pub(super) fn cost(state: &Path) -> Option<Report> {
    let source = report::open(state).ok()?;
    Report::new(&source, &Options::default()).ok().filter(|report| report.nodes.len() == 1)
}

/// Puts down what a node spent that ends with an error: nothing where it recorded nothing, such as one that waited for the others in vain.
pub(super) fn after(error: Failure, account: Option<Account>) -> Failure {
    if let Some(account) = account {
        let cost = cost(&account.used.state);
        // The error is what matters; where this fails too, the most that the run may have cost stays.
        let _ = account.settle(cost.as_ref());
    }
    error
}

/// The figure of a scope.
pub(crate) fn in_scope(node: &NodeReport, scope: &str) -> f64 {
    match scope {
        "local" => node.local.epsilon,
        "mean" => node.mean.epsilon,
        // Masked rounds are planned against colluders.
        _ if node.budget.of == "colluders" => node.budget.spent,
        _ => node.worst.figure.epsilon,
    }
}

impl Account {
    /// Puts down what the run did cost, never less than before. Without a report it cost nothing only where nothing was ever recorded; else what it may have
    /// cost stays.
    pub(super) fn settle(self, cost: Option<&Report>) -> Result<()> {
        let Self { ledger, used, before } = self;
        let untouched = || match runtime::ledger::peek(&used.state) {
            Ok(found) => found.is_none_or(|found| found.records.is_empty()),
            Err(_) => false,
        };
        let epsilon = match cost.and_then(|report| report.nodes.first()) {
            Some(node) => in_scope(node, &used.scope),
            None if untouched() => 0.0,
            None => return Ok(()),
        };
        let last = Use { epsilon: epsilon.max(before), settled: true, ..used };
        let data = last.data.clone();
        ledger.put_down::<DataLedgerError>(&data, |_| Ok(last))?;
        Ok(())
    }
}

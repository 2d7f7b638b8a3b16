//! What a node answers from, and the accounts that it keeps.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use learn::schema::Schema;
use protocol::work::question::{Ask, Exam, Judged, Members, Rows, ready};
use questions::columns::{Columns, Row};
use questions::contribution::chosen;
use questions::noise::Unit;
use questions::refusal::Refusal;

use super::{Agreed, Rules};
use crate::data_ledger::{DataLedger, DataLedgerError, Use};

/// Everything that a node needs to answer.
#[derive(Debug, Clone)]
pub struct Respondent {
    /// What the members declared.
    pub columns: Arc<Columns>,
    /// The schema behind the columns, which models must share.
    pub schema: Arc<Schema>,
    /// The node's own records; none where it holds no table.
    pub table: Option<Arc<Table>>,
    /// What it allows.
    pub rules: Rules,
    /// What the members agreed on.
    pub agreed: Agreed,
    /// Who is asked.
    pub members: Members,
    /// The ledger of the data set, over all runs.
    pub account: Option<Account>,
}

/// Records as they stand in a file.
pub struct Table {
    /// The cells.
    pub rows: Vec<Row>,
    /// Who each record is about, where a column says so.
    pub persons: Option<Vec<Vec<u8>>>,
    /// SHA-256 of all.
    pub digest: String,
    /// Those by which models are tested, or why there are none.
    pub exam: Result<Exam, String>,
}

/// Records are private: they are never printed.
impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} records)", self.rows.len())
    }
}

/// The ledger of a data set.
#[derive(Debug, Clone)]
pub struct Account {
    /// Where.
    pub ledger: DataLedger,
    /// What the data set is called there.
    pub data: String,
    /// `budget.total_epsilon`: the most that everything on these data may cost.
    pub total: Option<f64>,
    /// The folder of the node.
    pub state: PathBuf,
}

/// Why nothing was put down.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unpaid {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] DataLedgerError),
    /// Something before it was protected in another unit or towards fewer, so that nothing adds up.
    #[error(
        "`budget.total_epsilon` of the data does not allow the question: run `{run}` says only what it cost one {unit} in the sense of `{scope}`"
    )]
    Apart {
        /// What was before it.
        run: String,
        /// What that protected.
        unit: String,
        /// Towards whom.
        scope: String,
    },
    /// Too little is left.
    #[error("`budget.total_epsilon = {total}` of the data does not allow the question")]
    Total {
        /// The budget.
        total: f64,
    },
}

impl Respondent {
    /// The records that count: drawn once with the node's own key, and kept. What a model makes of them is computed where they are needed.
    pub(crate) fn rows(&self, ask: &Ask, judged: Option<Arc<Judged>>, key: Vec<u8>) -> Rows {
        let Some(table) = self.table.clone() else { return ready(Vec::new()) };
        let unit = ask.unit;
        Arc::new(LazyLock::new(Box::new(move || match judged {
            Some(judged) => table.judged(&judged, unit, &key),
            None => table.chosen(unit, &key),
        })))
    }

    /// The columns that a question may use.
    ///
    /// # Errors
    /// Classes of a model that no column can have.
    pub(crate) fn columns(&self, judged: Option<&Judged>) -> Result<Arc<Columns>, Refusal> {
        match judged {
            Some(judged) => judged.columns(&self.columns).map(Arc::new),
            None => Ok(self.columns.clone()),
        }
    }

    /// SHA-256 of the records.
    pub(crate) fn digest(&self) -> &str {
        self.table.as_ref().map_or("", |table| &table.digest)
    }
}

impl Table {
    fn chosen(&self, unit: Unit, key: &[u8]) -> Vec<Row> {
        let kept = chosen(self.rows.len(), self.persons.as_deref(), unit, key);
        kept.into_iter().map(|at| self.rows[at].clone()).collect()
    }

    /// Of the records to test by, those that count.
    fn judged(&self, judged: &Judged, unit: Unit, key: &[u8]) -> Vec<Row> {
        let Ok(exam) = &self.exam else { return Vec::new() };
        let person = |persons: &Vec<Vec<u8>>| -> Vec<Vec<u8>> {
            exam.rows().iter().map(|&row| persons[row as usize].clone()).collect()
        };
        let persons = self.persons.as_ref().map(person);
        judged.rows(exam, &self.rows, &chosen(exam.rows().len(), persons.as_deref(), unit, key))
    }
}

impl Account {
    /// Whether the budget over everything has room for a question that protects this unit.
    pub(crate) fn has_room(&self, epsilon: f64, unit: &str) -> bool {
        let Ok(all) = self.ledger.all() else { return self.total.is_none() };
        let uses = all.into_iter().find(|(name, _)| *name == self.data).map_or(Vec::new(), |(_, uses)| uses);
        self.allows(&uses, epsilon, (unit, SCOPE)).is_ok()
    }

    /// What came before must be a bound in the same unit and scope: else there is no sum.
    fn allows(&self, uses: &[Use], epsilon: f64, (unit, scope): (&str, &str)) -> Result<(), Unpaid> {
        let Some(total) = self.total else { return Ok(()) };
        let spent: f64 = uses.iter().map(|used| used.epsilon).sum();
        let apart = |used: &&Use| used.epsilon > 0.0 && !used.is_bound_of(unit, scope);
        if let Some(Use { run, unit, scope, .. }) = uses.iter().find(apart) {
            return Err(Unpaid::Apart { run: run.clone(), unit: unit.clone(), scope: scope.clone() });
        }
        if spent + epsilon > total { Err(Unpaid::Total { total }) } else { Ok(()) }
    }

    /// Puts a question down, durably, before anything of it is sent.
    pub(crate) fn put_down(&self, used: Use) -> Result<(), Unpaid> {
        let put = self.ledger.put_down::<Unpaid>(&self.data, |uses| {
            self.allows(&uses, used.epsilon, (&used.unit, &used.scope))?;
            Ok(Use { data: self.data.clone(), state: self.state.clone(), ..used })
        });
        put.map(drop)
    }
}

/// Towards whom the ε of a question is: all members that may pool what they see are watchers of its total.
pub(crate) const SCOPE: &str = "worst";

#[cfg(test)]
mod tests {
    use super::*;

    fn used(run: &str, unit: &str, scope: &str) -> Use {
        Use {
            data: "patients".into(),
            run: run.into(),
            config: run.into(),
            identity: "me".into(),
            state: PathBuf::new(),
            began: 0,
            unit: unit.into(),
            scope: scope.into(),
            epsilon: 1.0,
            delta: 1e-5,
            digest: String::new(),
            settled: true,
        }
    }

    /// Two times ε = 1 for a record is not 2 for a person, nor the other way round: a budget over both would be a number that bounds nothing.
    #[test]
    fn what_is_about_another_unit_is_not_added_up() {
        for (before, scope, unit, allowed) in [
            ("record", SCOPE, "record", true),
            ("person", SCOPE, "person", true),
            ("node", SCOPE, "person", true),
            ("person", "local", "person", true),
            ("record", SCOPE, "person", false),
            ("person", SCOPE, "record", false),
            ("person", "mean", "person", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let ledger = DataLedger::at(folder.path());
            let account =
                Account { ledger, data: "patients".into(), total: Some(2.5), state: PathBuf::new() };
            let free = Account { total: None, ..account.clone() };
            free.put_down(used("first", before, scope)).unwrap();
            assert_eq!(account.has_room(1.0, unit), allowed, "{before} {unit}");
            let put = account.put_down(used("second", unit, SCOPE));
            assert_eq!(put.is_ok(), allowed, "{before} {unit}");
            if let Err(unpaid) = put {
                assert!(unpaid.to_string().contains(&format!("one {before}")), "{unpaid}");
            }
            assert!(account.put_down(used("third", "node", "local")).is_err(), "what is left is too little");
        }
    }
}

//! What was spent on a data set, over all runs: it outlives each of them, their swarms and their folders.
//!
//! A file of lines for each data set. A run is put down before anything is sent, with what it may cost at most; when it ends, with what it did cost. A run that
//! never ended counts with what it may have cost, unless its own ledger tells.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use protocol::{Digest, Hint};
use serde::{Deserialize, Serialize};

use crate::identity::{owner_only, private_folder};

/// Names the folder of the ledgers, for those who want it elsewhere.
pub const VARIABLE: &str = "MURMUR_LEDGER";

/// The ledgers of all data sets that somebody uses.
#[derive(Debug, Clone)]
pub struct DataLedger {
    folder: PathBuf,
}

/// One use of a data set: a run of one node. The last line with the same node and run counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// The data set: its declared name, or its path.
    pub data: String,
    /// Name of the run.
    pub run: String,
    /// Digest of its configuration.
    pub config: String,
    /// The node.
    pub identity: String,
    /// Its folder, where its own ledger and log lie.
    pub state: PathBuf,
    /// When the use began, in seconds since 1970.
    pub began: u64,
    /// What was protected: `record`, `person` or `node`.
    pub unit: String,
    /// Towards whom ε is: `worst`, `mean` or `local`.
    pub scope: String,
    /// ε: what it cost, or where it is not settled what it may cost at most; `null` where there is no bound.
    #[serde(with = "bound")]
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// SHA-256 of the records.
    pub digest: String,
    /// Whether ε is what it did cost.
    pub settled: bool,
}

impl Use {
    /// Whether the other line is about the same run of the same node.
    pub fn is_of(&self, other: &Self) -> bool {
        (&self.identity, &self.run, &self.config) == (&other.identity, &other.run, &other.config)
    }

    /// Whether this figure is also a bound in the unit and the scope of the other.
    ///
    /// # Guarantee
    /// What is lost on a node's data bounds what is lost on one person's or one record; what everybody together may learn (`local`) bounds what any one member
    /// may (`worst`), and that what members learn on average (`mean`). Of a person and a record neither bounds the other: a person has several records, and where
    /// one of them is gone another may stand for the person, which is a record replaced and costs more than one that is there or not. An unknown word bounds
    /// nothing but itself.
    pub fn covers(&self, other: &Self) -> bool {
        self.is_bound_of(&other.unit, &other.scope)
    }

    /// As [`covers`](Self::covers), of a unit and a scope.
    pub fn is_bound_of(&self, unit: &str, scope: &str) -> bool {
        let place = |word: &str| ["mean", "worst", "local"].iter().position(|known| *known == word);
        let wider = matches!((place(&self.scope), place(scope)), (Some(mine), Some(theirs)) if mine > theirs);
        let larger = self.unit == "node" && ["record", "person"].contains(&unit);
        (self.unit == unit || larger) && (self.scope == scope || wider)
    }
}

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataLedgerError {
    /// The file system refused.
    #[error("cannot {doing} the ledger of data sets `{}`", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line that cannot be read: what it told of is not known, and not free.
    #[error("line {line} of the ledger of data sets `{}` cannot be read", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
    },
    /// No place for it.
    #[error("there is no place for the ledger of data sets: neither `HOME` nor `{VARIABLE}` is set")]
    NoPlace,
}

impl Hint for DataLedgerError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Damaged { .. } => "repair or move the file by hand: what is in it was spent".into(),
            _ => format!("name a folder that this user can write to: `{VARIABLE}=DIR`"),
        })
    }
}

impl DataLedger {
    /// The ledgers in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The ledgers of this user: `MURMUR_LEDGER`, else `murmur/ledger` where programs keep their state.
    ///
    /// # Errors
    /// No such place.
    pub fn of_user() -> Result<Self, DataLedgerError> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || {
            Some(
                set("XDG_STATE_HOME")
                    .or_else(|| Some(set("HOME")?.join(".local/state")))?
                    .join("murmur/ledger"),
            )
        };
        set(VARIABLE).or_else(home).map(Self::at).ok_or(DataLedgerError::NoPlace)
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts a use down, durably. `decide` sees the uses so far (the last word about each) and says what to write, or why not; nobody else writes in between.
    ///
    /// # Guarantee
    /// What was written is on disk when this returns.
    ///
    /// # Errors
    /// A file that cannot be read or written, or what `decide` says.
    pub fn put_down<E: From<DataLedgerError>>(
        &self,
        data: &str,
        decide: impl FnOnce(Vec<Use>) -> Result<Use, E>,
    ) -> Result<Use, E> {
        let path = self.path(data);
        let failed = |doing| {
            let path = path.clone();
            move |source| DataLedgerError::File { doing, path, source }
        };
        private_folder(&self.folder).map_err(failed("make the folder of"))?;
        let mut file =
            owner_only().create(true).read(true).append(true).open(&path).map_err(failed("open"))?;
        file.lock().map_err(failed("lock"))?;
        let text = read(&mut file).map_err(failed("read"))?;
        let next = decide(uses(&path, &text)?)?;
        let mut line =
            serde_json::to_string(&next).map_err(|error| failed("write")(io::Error::other(error)))?;
        line.push('\n');
        // A line that a crash cut short was never acted on, and must not swallow this one.
        let whole = text.rfind('\n').map_or(0, |at| at + 1) as u64;
        file.set_len(whole).map_err(failed("write"))?;
        file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(failed("write"))?;
        Ok(next)
    }

    /// All data sets with their uses, by name.
    ///
    /// # Errors
    /// A file that cannot be read, or is damaged.
    pub fn all(&self) -> Result<Vec<(String, Vec<Use>)>, DataLedgerError> {
        let failed = |doing, path: &Path| {
            let path = path.to_owned();
            move |source| DataLedgerError::File { doing, path, source }
        };
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("list", &self.folder)(error)),
        };
        let mut sets = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed("list", &self.folder))?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                let text = fs::read_to_string(&path).map_err(failed("read", &path))?;
                let uses = uses(&path, &text)?;
                sets.extend(uses.first().map(|first| first.data.clone()).map(|name| (name, uses)));
            }
        }
        sets.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(sets)
    }

    fn path(&self, data: &str) -> PathBuf {
        self.folder.join(format!("{}.jsonl", Digest::of_text(data)))
    }
}

/// JSON has no infinity.
mod bound {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

fn read(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// The last word about each use, in the order in which they began. A last line without its end was never acted on: it is written before anything is sent.
fn uses(path: &Path, text: &str) -> Result<Vec<Use>, DataLedgerError> {
    let mut uses: Vec<Use> = Vec::new();
    let count = text.lines().count();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Use>(line) {
            Ok(next) => match uses.iter_mut().find(|known| known.is_of(&next)) {
                Some(known) => *known = next,
                None => uses.push(next),
            },
            Err(_) if at + 1 == count && !text.ends_with('\n') => {}
            Err(_) => return Err(DataLedgerError::Damaged { path: path.to_owned(), line: at + 1 }),
        }
    }
    Ok(uses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(run: &str, epsilon: f64, settled: bool) -> Use {
        Use {
            data: "patients".into(),
            run: run.into(),
            config: "c".into(),
            identity: "me".into(),
            state: "state".into(),
            began: 1,
            unit: "record".into(),
            scope: "worst".into(),
            epsilon,
            delta: 1e-5,
            digest: "d".into(),
            settled,
        }
    }

    fn put(ledger: &DataLedger, next: Use) -> Vec<Use> {
        let mut seen = Vec::new();
        ledger
            .put_down::<DataLedgerError>("patients", |uses| {
                seen = uses;
                Ok(next)
            })
            .unwrap();
        seen
    }

    #[test]
    fn a_figure_covers_fewer_watchers_a_node_all_that_is_its_own_and_nothing_covers_what_is_unknown() {
        let of =
            |unit: &str, scope: &str| Use { unit: unit.into(), scope: scope.into(), ..used("a", 1.0, true) };
        let (units, scopes) = (["record", "person", "node"], ["mean", "worst", "local"]);
        for (a, b, c, d) in (0..81).map(|at| (at % 3, at / 3 % 3, at / 9 % 3, at / 27)) {
            let covered = of(units[a], scopes[b]).covers(&of(units[c], scopes[d]));
            // Neither a person a record, nor a record a person.
            let unit = a == c || units[a] == "node";
            assert_eq!(covered, unit && b >= d, "{} {} {} {}", units[a], scopes[b], units[c], scopes[d]);
        }
        assert!(of("galaxy", "worst").covers(&of("galaxy", "mean")));
        assert!(!of("galaxy", "worst").covers(&of("record", "worst")));
        assert!(!of("record", "worst").covers(&of("record", "everybody")));
    }

    #[test]
    fn the_last_word_about_a_run_counts_and_other_runs_stay() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = DataLedger::at(folder.path().join("deep/down"));
        assert!(ledger.all().unwrap().is_empty());
        assert!(put(&ledger, used("a", f64::INFINITY, false)).is_empty());
        assert_eq!(put(&ledger, used("a", 2.5, true)), [used("a", f64::INFINITY, false)]);
        assert_eq!(put(&ledger, used("b", 3.0, false)), [used("a", 2.5, true)]);
        assert_eq!(
            ledger.all().unwrap(),
            [("patients".to_owned(), vec![used("a", 2.5, true), used("b", 3.0, false)])]
        );
    }

    #[test]
    fn a_line_cut_by_a_crash_is_left_out_and_one_that_was_damaged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = DataLedger::at(folder.path());
        put(&ledger, used("a", 1.0, true));
        let path = ledger.path("patients");
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{{\"data\":\"pat")).unwrap();
        assert_eq!(put(&ledger, used("b", 1.0, true)), [used("a", 1.0, true)]);
        assert_eq!(ledger.all().unwrap()[0].1, [used("a", 1.0, true), used("b", 1.0, true)]);
        fs::write(&path, format!("{{\"data\":\"pat\n{whole}")).unwrap();
        assert!(matches!(ledger.all(), Err(DataLedgerError::Damaged { line: 1, .. })));
    }
}

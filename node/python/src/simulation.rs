//! The simulator: a configuration in, metrics by round, result and model out.

use crate::error::Trouble;
use crate::trainer::FromPython;
use crate::wait::{Caller, Shared};
use numpy::IntoPyArray;
use protocol::config::{Config, ConfigError, Layer};
use protocol::folder::{METRICS, RESULT};
use protocol::work::external::{self, Trainer};
use protocol::{ExternalError, Hint, RunResult, Setup, SetupError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use report::{Folder, FolderError};
use sim::Options;
use sim::metrics::{self, Row};
use sim::run::{Done, RunError};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is to be simulated.
struct Request {
    toml: Option<(String, String)>,
    set: Vec<String>,
    threads: usize,
    out: Option<PathBuf>,
    trainers: Option<Vec<(String, Py<PyAny>)>>,
}

/// A run after its end.
struct Ended {
    config: String,
    done: Done,
    result: String,
    folder: Option<PathBuf>,
    /// What went wrong with trainers while it ran, and where.
    troubles: Vec<(usize, String)>,
}

/// Runs a configuration: `toml` is its text and the name to be shown in errors, `set` are `key=value` on top of it, `trainers` compute for the nodes.
#[pyfunction]
#[pyo3(signature = (toml, set, *, out=None, threads=0, progress=None, trainers=None))]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    toml: Option<(String, String)>,
    set: Vec<String>,
    out: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    trainers: Option<Vec<(String, Py<PyAny>)>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = Request { toml, set, threads, out, trainers };
    let ended = Caller { threads, progress }.wait(py, move |shared| request.run(shared))?;
    let found = PyDict::new(py);
    found.set_item("config", ended.config)?;
    found.set_item("result", ended.result)?;
    found.set_item("folder", ended.folder)?;
    found.set_item("troubles", ended.troubles)?;
    found.set_item("columns", columns(py, &ended.done.rows)?)?;
    found.set_item("model", ended.done.model.into_pyarray(py))?;
    Ok(found)
}

/// How many nodes a configuration has: so many trainers are needed.
#[pyfunction]
pub(crate) fn nodes_of(py: Python<'_>, toml: Option<(String, String)>, set: Vec<String>) -> PyResult<usize> {
    Ok(described(toml.as_ref(), &set).map_err(|trouble| trouble.raised(py))?.nodes)
}

fn described(toml: Option<&(String, String)>, set: &[String]) -> Result<Config, Trouble> {
    // A file says what it wants; without one it is the run that the program makes.
    let base = toml.map_or_else(Layer::with_masks, |(text, name)| Layer::from_toml(text, name))?;
    Ok(Config::from_layers([base, Layer::from_flags("set", set)?])?)
}

impl Request {
    fn run(mut self, shared: &Shared) -> Result<Ended, Trouble> {
        let config = described(self.toml.as_ref(), &self.set)?;
        let text = config.to_toml();
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let setup = match self.trainers.take() {
            None => Setup::new(config),
            Some(trainers) => with_trainers(config, trainers, &troubles),
        };
        let setup = setup.map_err(|error| Trouble::of(&error, error.hint()))?;
        let mut folder =
            self.out.as_ref().map(|out| Folder::create(out, &setup.config.name, &text)).transpose()?;
        let rounds = setup.config.rounds as usize;
        let options = Options { threads: self.threads, ..Options::default() };
        let mut sink = |line: &protocol::LogLine| {
            shared.leave_if_stopped();
            if let Some(folder) = &mut folder {
                folder.append(line);
            }
        };
        let mut observe = |row: &Row| shared.tell(row.round as usize + 1, rounds);
        let done = sim::run::run(&setup, &options, &mut sink, &mut observe)?;
        let path = folder.as_ref().map(|folder| folder.path().to_owned());
        let run = path.as_ref().map_or(done.result.run.clone(), |path| path.display().to_string());
        let result = serde_json::to_string_pretty(&RunResult { run, ..done.result.clone() })?;
        if let Some(folder) = &mut folder {
            folder.finish_log()?;
            folder.write(METRICS, metrics::csv(&done.rows).as_bytes())?;
            folder.write(RESULT, (result.clone() + "\n").as_bytes())?;
        }
        drop(setup);
        let troubles = std::mem::take(&mut *troubles.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Ended { config: text, done, result, folder: path, troubles })
    }
}

type Troubles = Arc<Mutex<Vec<(usize, String)>>>;

/// The same with trainers of this process; what goes wrong with them is kept for their owner.
fn with_trainers(
    config: Config,
    trainers: Vec<(String, Py<PyAny>)>,
    troubles: &Troubles,
) -> Result<Setup, SetupError> {
    let trainer = |given| {
        let trainer = FromPython::new(given).map_err(ExternalError::from)?;
        Ok(Box::new(trainer) as Box<dyn Trainer>)
    };
    let trainers = trainers.into_iter().map(trainer).collect::<Result<Vec<_>, SetupError>>()?;
    let heard = troubles.clone();
    let complain = move |node: usize, trouble: &external::Trouble| {
        heard.lock().unwrap_or_else(PoisonError::into_inner).push((node, trouble.to_string()));
    };
    Setup::for_trainers(config, trainers, Arc::new(complain))
}

/// The columns of `metrics.csv` as arrays; what is not known is NaN.
fn columns<'py>(py: Python<'py>, rows: &[Row]) -> PyResult<Bound<'py, PyDict>> {
    type Column = (&'static str, fn(&Row) -> Option<f64>);
    let known: [Column; 9] = [
        ("time", |row| Some(row.time)),
        ("train_loss", |row| row.train_loss),
        ("test_loss", |row| row.quality.test_loss),
        ("test_acc", |row| row.quality.test_acc),
        ("consensus_distance", |row| row.quality.consensus_distance),
        ("bytes", |row| row.bytes.map(|bytes| bytes as f64)),
        ("epsilon_worst", |row| row.epsilon_worst),
        ("epsilon_mean", |row| row.epsilon_mean),
        ("epsilon_local", |row| row.epsilon_local),
    ];
    let columns = PyDict::new(py);
    columns.set_item("round", rows.iter().map(|row| row.round).collect::<Vec<_>>().into_pyarray(py))?;
    for (name, value) in known {
        let values: Vec<f64> = rows.iter().map(|row| value(row).unwrap_or(f64::NAN)).collect();
        columns.set_item(name, values.into_pyarray(py))?;
    }
    Ok(columns)
}

impl From<ConfigError> for Trouble {
    fn from(error: ConfigError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Self {
        Self::of(&error, error.hint())
    }
}

impl From<FolderError> for Trouble {
    fn from(error: FolderError) -> Self {
        Self::of(&error, error.hint())
    }
}

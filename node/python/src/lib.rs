//! `murmuration._core`: the in-process half of the Python package.
//!
//! Graphs, questions to the accountants ([`privacy::question`]) and the simulator, without a formula of its own: every figure is that of
//! the library, and every answer keeps the name of its analysis. Long calls work on a thread of their own while the caller's thread wakes
//! ten times a second for ctrl-c and progress ([`wait`]); large tables become numpy arrays without a copy.

mod error;
mod graph;
mod pairs;
mod simulation;
mod trainer;
mod wait;

use privacy::question::Question;
use pyo3::prelude::*;
use topology::Hint;

use error::raised;
use wait::Caller;

/// Asks a question that is written as JSON; the answer is JSON too. Questions about a graph may be asked on one at hand.
#[pyfunction]
#[pyo3(signature = (question, graph=None, *, threads=0, progress=None))]
fn ask(
    py: Python<'_>,
    question: &str,
    graph: Option<&graph::Graph>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let question: Question = serde_json::from_str(question).map_err(|error| raised(py, &error, None))?;
    let graph = graph.map(|graph| graph.inner().clone());
    Caller { threads, progress }.wait(py, move |shared| {
        let answer = match (&question, graph) {
            (Question::Calibrate(question), Some(graph)) => {
                serde_json::to_string(&question.answer_on(graph, &shared.waiting(&shared.teller()))?)
            }
            _ => serde_json::to_string(&question.answer(&shared.waiting(&shared.teller()))?),
        };
        Ok(answer?)
    })
}

/// ε(δ) of a μ-GDP mechanism, rounded up.
#[pyfunction]
fn gdp_epsilon(py: Python<'_>, mu: f64, delta: f64) -> PyResult<f64> {
    privacy::gdp::epsilon(mu, delta).map_err(|error| raised(py, &error, error.hint()))
}

/// δ(ε) of a μ-GDP mechanism, rounded up.
#[pyfunction]
fn gdp_delta(py: Python<'_>, mu: f64, epsilon: f64) -> PyResult<f64> {
    privacy::gdp::delta(mu, epsilon).map_err(|error| raised(py, &error, error.hint()))
}

/// In-process half of `murmuration`; use the package, not this module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    wait::remember_process();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<pairs::Pairs>()?;
    module.add_function(wrap_pyfunction!(ask, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::pairwise, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::nodes_of, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(gdp_epsilon, module)?)?;
    module.add_function(wrap_pyfunction!(gdp_delta, module)?)
}

//! Losses of all pairs: tables as numpy arrays, which take over the memory of the answer.

use crate::error::raised;
use crate::graph::Graph;
use crate::wait::Caller;
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use privacy::question::pairwise::{Answer, Question};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is known of the pairs beside their losses.
#[pyclass(frozen, module = "murmuration._core")]
#[derive(Debug)]
pub(crate) struct Pairs {
    answer: Answer,
}

#[pymethods]
impl Pairs {
    /// All but the tables, as JSON.
    fn head(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.answer).map_err(|error| raised(py, &error, None))
    }

    /// ε of somebody who sees every message, where that is known.
    #[getter]
    fn local_epsilon(&self) -> Option<f64> {
        self.answer.local_epsilon
    }

    /// Who watches in each row.
    #[getter]
    fn coalitions(&self) -> Vec<Vec<usize>> {
        self.answer.coalitions.iter().map(|watchers| watchers.members().to_vec()).collect()
    }

    /// The name of a node.
    fn label(&self, node: usize) -> PyResult<String> {
        if node >= self.answer.nodes {
            return Err(pyo3::exceptions::PyIndexError::new_err(format!("there is no node {node}")));
        }
        Ok(self.answer.label(node))
    }

    /// Steps between the watchers of each row and each node; −1 where there is no way, none where there is no such graph.
    fn distances<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<i32>>> {
        let table = py.detach(|| {
            let rows = (0..self.answer.coalitions.len()).map(|row| self.answer.distances(row));
            let rows = rows.collect::<Option<Vec<_>>>()?;
            let values: Vec<i32> =
                rows.iter().flatten().map(|steps| steps.map_or(-1, |steps| steps as i32)).collect();
            Array2::from_shape_vec((rows.len(), self.answer.nodes), values).ok()
        });
        table.map(|table| table.into_pyarray(py))
    }
}

/// Prices every pair; tables by name beside all else.
#[pyfunction]
#[pyo3(signature = (question, graph=None, *, threads=0, progress=None))]
pub(crate) fn pairwise<'py>(
    py: Python<'py>,
    question: &str,
    graph: Option<&Graph>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Pairs, Bound<'py, PyDict>)> {
    let question: Question = serde_json::from_str(question).map_err(|error| raised(py, &error, None))?;
    let graph = graph.map(|graph| graph.inner().clone());
    let mut answer = Caller { threads, progress }.wait(py, move |shared| {
        let teller = shared.teller();
        let waiting = shared.waiting(&teller);
        Ok(match graph {
            Some(graph) => question.answer_on(graph, &waiting)?,
            None => question.answer(&waiting)?,
        })
    })?;
    let tables = PyDict::new(py);
    tables.set_item("mu2", std::mem::take(&mut answer.mu2).into_pyarray(py))?;
    tables.set_item("epsilon", std::mem::take(&mut answer.epsilon).into_pyarray(py))?;
    let sampled = [
        ("mu2_margin_95", answer.mu2_margin_95.take()),
        ("renyi_2_upper_95", answer.renyi_2_upper_95.take()),
    ];
    for (name, table) in sampled.into_iter().filter_map(|(name, table)| Some((name, table?))) {
        tables.set_item(name, table.into_pyarray(py))?;
    }
    Ok((Pairs { answer }, tables))
}

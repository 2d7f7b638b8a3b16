//! Graphs: undirected, simple, in compressed sparse rows.

use crate::error::Trouble;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use topology::{Drawing, Spec, Spectrum, Weights};

/// A graph: who may speak with whom.
#[pyclass(frozen, module = "murmuration")]
#[derive(Debug)]
pub(crate) struct Graph {
    inner: topology::Graph,
    name: String,
}

impl Graph {
    /// The graph of the library.
    pub(crate) fn inner(&self) -> &topology::Graph {
        &self.inner
    }
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (spec, *, largest_component=false))]
    fn new(py: Python<'_>, spec: &str, largest_component: bool) -> PyResult<Self> {
        let name = spec.to_owned();
        let built = py.detach(|| -> Result<topology::Graph, Trouble> {
            let spec: Spec = name.parse()?;
            Ok(if largest_component { spec.build_largest_component()? } else { spec.build()? }.graph)
        });
        Ok(Self { inner: built.map_err(|trouble| trouble.raised(py))?, name })
    }

    #[staticmethod]
    #[pyo3(signature = (nodes, edges, labels=None))]
    fn from_edges(
        py: Python<'_>,
        nodes: usize,
        edges: &Bound<'_, PyAny>,
        labels: Option<Vec<String>>,
    ) -> PyResult<Self> {
        // Lists, tuples and arrays of any whole numbers come alike.
        let numpy = py.import("numpy")?;
        let edges = numpy.call_method1("asarray", (edges,))?;
        let edges = if edges.len()? == 0 { numpy.call_method1("zeros", ((0, 2),))? } else { edges };
        let edges: PyReadonlyArray2<'_, i64> = edges.call_method1("astype", ("int64",))?.extract()?;
        let (view, wrong) = (edges.as_array(), |what: String| Trouble::new(what, None).raised(py));
        if view.ncols() != 2 {
            return Err(wrong(format!("edges have two ends each, not {}", view.ncols())));
        }
        let end = |end: i64| u32::try_from(end).map_err(|_| wrong(format!("{end} is no number of a node")));
        let list = view.rows().into_iter().map(|row| Ok((end(row[0])?, end(row[1])?)));
        let list = list.collect::<PyResult<Vec<(u32, u32)>>>()?;
        made(nodes, &list, labels).map_err(|trouble| trouble.raised(py))
    }

    /// From a networkx graph: its nodes in its order, their names as labels. Directions, weights and loops are left out.
    #[staticmethod]
    fn from_networkx(py: Python<'_>, graph: &Bound<'_, PyAny>) -> PyResult<Self> {
        let place = PyDict::new(py);
        let mut labels = Vec::new();
        for (at, node) in graph.call_method0("nodes")?.try_iter()?.enumerate() {
            let node = node?;
            labels.push(node.str()?.to_string());
            place.set_item(node, at)?;
        }
        let end = |node: &Bound<'_, PyAny>| -> PyResult<u32> { place.as_any().get_item(node)?.extract() };
        let mut edges = Vec::new();
        for edge in graph.call_method0("edges")?.try_iter()? {
            let edge = edge?;
            edges.push((end(&edge.get_item(0)?)?, end(&edge.get_item(1)?)?));
        }
        made(labels.len(), &edges, Some(labels)).map_err(|trouble| trouble.raised(py))
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn labels(&self) -> Option<Vec<String>> {
        self.inner.labels().map(<[String]>::to_vec)
    }

    fn __len__(&self) -> usize {
        self.inner.nodes()
    }

    fn __repr__(&self) -> String {
        format!("<Graph {}: {} nodes, {} edges>", self.name, self.inner.nodes(), self.inner.edges())
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        py.detach(|| Drawing::new(&self.inner).title(self.name.clone()).to_svg())
    }

    /// Every edge once, as rows (u, v) with u < v.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let flat: Vec<u32> = self.inner.iter_edges().flat_map(|(u, v)| [u, v]).collect();
        let rows = flat.len() / 2;
        flat.into_pyarray(py).reshape([rows, 2])
    }

    /// Compressed sparse rows: offsets and neighbours.
    fn csr<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<usize>>, Bound<'py, PyArray1<u32>>) {
        let (offsets, neighbours) = self.inner.csr();
        (PyArray1::from_slice(py, offsets), PyArray1::from_slice(py, neighbours))
    }

    /// 1 minus the second largest modulus of the eigenvalues of the gossip matrix.
    #[pyo3(signature = (weights="metropolis"))]
    fn spectral_gap(&self, py: Python<'_>, weights: &str) -> PyResult<f64> {
        let found = py.detach(|| -> Result<f64, Trouble> {
            let matrix = weights.parse::<Weights>()?.matrix(&self.inner)?;
            Ok(Spectrum::of(&matrix)?.spectral_gap)
        });
        found.map_err(|trouble| trouble.raised(py))
    }
}

fn made(nodes: usize, edges: &[(u32, u32)], labels: Option<Vec<String>>) -> Result<Graph, Trouble> {
    let (inner, _) = topology::Graph::from_edges(nodes, edges)?;
    let inner = match labels {
        Some(labels) => inner.with_labels(labels)?,
        None => inner,
    };
    Ok(Graph { inner, name: "from edges".into() })
}

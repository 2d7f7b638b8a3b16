//! Trainers that are Python objects of this process: for simulations. A real node has its trainer in a process of its own.

use numpy::{PyReadonlyArray1, ToPyArray};
use protocol::work::external::{Answer, Ask, Hello, Trainer, Trouble};
use pyo3::prelude::*;

/// A callable `(kind, round, seed, records, params, factors) -> (numbers, loss)`.
pub(crate) struct FromPython {
    hello: Hello,
    answer: Py<PyAny>,
}

impl FromPython {
    /// With its hello as JSON.
    pub(crate) fn new((hello, answer): (String, Py<PyAny>)) -> Result<Self, Trouble> {
        let hello: Hello =
            serde_json::from_str(&hello).map_err(|error| Trouble::Hello { why: error.to_string() })?;
        hello.check()?;
        Ok(Self { hello, answer })
    }

    fn call(&self, py: Python<'_>, ask: &Ask<'_>) -> PyResult<Answer> {
        let question = (
            ask.kind.name(),
            ask.round,
            ask.seed,
            ask.records.to_pyarray(py),
            ask.params.to_pyarray(py),
            ask.factors.to_pyarray(py),
        );
        let (numbers, loss): (PyReadonlyArray1<'_, f32>, Option<f64>) =
            self.answer.bind(py).call1(question)?.extract()?;
        let numbers = numbers.as_array().to_vec();
        Ok(Answer { numbers, loss: loss.filter(|loss| loss.is_finite()) })
    }
}

impl Trainer for FromPython {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn answer(&mut self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        let answer = Python::attach(|py| {
            self.call(py, ask).map_err(|error| Trouble::Said { message: error.to_string() })
        })?;
        let (needs, has) = (ask.numbers(), answer.numbers.len() as u64);
        if needs as u64 == has { Ok(answer) } else { Err(Trouble::Length { asked: ask.kind, needs, has }) }
    }
}

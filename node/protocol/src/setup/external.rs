//! A run whose model is a trainer's: shapes from its hello, first values from a file that all members hold.

use std::path::PathBuf;
use std::sync::Arc;

use learn::data::{Dataset, Targets};
use learn::model::{ClippedBy, External as Shapes, ModelSpec};
use safetensors::{Dtype, SafeTensors};
use thiserror::Error;
use topology::Hint;

use super::data::{Records, Sizes};
use super::{Setup, SetupError};
use crate::config::Config;
use crate::values::Digest;
use crate::work::external::{Complain, External, Hello, Tensor, Trainer, Trouble, kind_of};

/// Why a run cannot have this trainer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// A trainer for a model of ours.
    #[error("a trainer is given, and the run trains `model.kind = {kind:?}`")]
    OwnModel {
        /// The model of the run.
        kind: &'static str,
    },
    /// A trainer that is not fit.
    #[error("the trainer is not fit for this run")]
    Trainer(#[from] Trouble),
    /// Trainers of one simulation that train different models.
    #[error("the trainers of two nodes have different tensors")]
    Different,
    /// As many trainers as nodes are needed.
    #[error("{has} trainers for {needs} nodes")]
    Count {
        /// Trainers.
        has: usize,
        /// Nodes.
        needs: usize,
    },
    /// First values that cannot be read.
    #[error("cannot read `model.initial = {:?}`: {why}", path.display())]
    Initial {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Hint for ExternalError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::OwnModel { .. } => "make the swarm with `--set model.kind=external`, or leave `--trainer` out".into(),
            Self::Trainer(trouble) => return trouble.hint(),
            Self::Different => "every node needs the same names and shapes in the same order".into(),
            Self::Count { .. } => "give one trainer per node".into(),
            Self::Initial { .. } => {
                "a safetensors file with the trainer's tensors in single precision, the same at all members; \"zeros\" starts from nothing".into()
            }
        };
        Some(hint)
    }
}

impl Setup {
    /// Prepares one real participant whose contributions its trainer makes. Others' data are unknown, as for [`for_node`](Self::for_node).
    ///
    /// # Errors
    /// A configuration that names no foreign model, a trainer that is not fit or fails a probe, first values that cannot be read.
    pub fn for_trainer(
        config: Config,
        trainer: Box<dyn Trainer>,
        complain: Complain,
    ) -> Result<Self, SetupError> {
        let (records, declared) = (trainer.hello().records as usize, config.partition.min_size);
        if records < declared {
            return Err(SetupError::TooFewRecords { records, declared, what: "records" });
        }
        let sizes = Sizes { smallest: declared, largest: None, mean: None };
        Self::of_trainers(config, vec![trainer], sizes, complain)
    }

    /// Prepares all nodes of a simulation, each with a trainer of its own.
    ///
    /// # Errors
    /// As [`for_trainer`](Self::for_trainer); trainers of different models, or another number than nodes.
    pub fn for_trainers(
        config: Config,
        trainers: Vec<Box<dyn Trainer>>,
        complain: Complain,
    ) -> Result<Self, SetupError> {
        if trainers.len() != config.nodes || trainers.is_empty() {
            return Err(ExternalError::Count { has: trainers.len(), needs: config.nodes }.into());
        }
        if trainers.iter().any(|trainer| trainer.hello().tensors != trainers[0].hello().tensors) {
            return Err(ExternalError::Different.into());
        }
        let parts: Vec<Dataset> =
            trainers.iter().map(|trainer| places(trainer.hello())).collect::<Result<_, _>>()?;
        let sizes = Sizes::of_all(&config, &parts)?;
        Self::of_trainers(config, trainers, sizes, complain)
    }

    fn of_trainers(
        config: Config,
        trainers: Vec<Box<dyn Trainer>>,
        sizes: Sizes,
        complain: Complain,
    ) -> Result<Self, SetupError> {
        let ModelSpec::External { clipping, initial } = &config.model else {
            return Err(ExternalError::OwnModel { kind: kind_name(&config) }.into());
        };
        let (clipping, hello) = (*clipping, trainers[0].hello());
        let first = match initial.as_str() {
            ZEROS => vec![0.0; hello.parameters()],
            path => read_initial(path.into(), &hello.tensors)?,
        };
        let mark = mark(&hello.tensors, &first);
        let model = Arc::new(Shapes::new(hello.shapes(), first.clone())?);
        let parts: Vec<Dataset> =
            trainers.iter().map(|trainer| places(trainer.hello())).collect::<Result<_, _>>()?;
        let setup = Self::assemble(
            config,
            model,
            Records { train: parts, own_tests: Vec::new(), test: None },
            sizes,
            None,
        )?;
        let kind = kind_of(&setup.work.unit, clipping);
        let door = External::new(setup.work.clone(), kind, trainers, &first, complain)
            .map_err(ExternalError::from)?;
        let digest = Digest::of_text(&format!("{}\n{mark}", setup.digest));
        Ok(Self { digest, ..setup }.with_work(Arc::new(door)))
    }

    /// Whether trainers make the contributions, and who clips then.
    pub fn clipped_by(&self) -> Option<ClippedBy> {
        match self.config.model {
            ModelSpec::External { clipping, .. } => Some(clipping),
            _ => None,
        }
    }
}

/// First values that are no file.
pub(crate) const ZEROS: &str = "zeros";

/// The records that only the trainer knows: as many places with nothing in them.
fn places(hello: &Hello) -> Result<Dataset, SetupError> {
    Ok(Dataset::new(vec![0.0; hello.records as usize], 1, Targets::None)?)
}

/// What tells foreign models apart: names, shapes and first values.
fn mark(tensors: &[Tensor], first: &[f32]) -> String {
    let names: Vec<String> =
        tensors.iter().map(|tensor| format!("{:?} {:?}", tensor.name, tensor.shape)).collect();
    format!("external {} {}", Digest::of_text(&names.join("\n")), Digest::of(first))
}

fn kind_name(config: &Config) -> &'static str {
    let spec = serde_json::to_value(&config.model).unwrap_or_default();
    let known = ["mean", "linear", "ridge", "logistic", "softmax", "mlp", "cnn"];
    known.into_iter().find(|name| spec["kind"] == *name).unwrap_or("another")
}

fn read_initial(path: PathBuf, tensors: &[Tensor]) -> Result<Vec<f32>, ExternalError> {
    let wrong = |why: String| ExternalError::Initial { path: path.clone(), why };
    let bytes = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|_| wrong("not a whole safetensors file".into()))?;
    if file.len() != tensors.len() {
        return Err(wrong(format!("it has {} tensors, and the trainer {}", file.len(), tensors.len())));
    }
    let mut first = Vec::new();
    for Tensor { name, shape } in tensors {
        let view = file.tensor(name).map_err(|_| wrong(format!("it has no tensor `{name}`")))?;
        if view.dtype() != Dtype::F32 || view.shape() != shape {
            return Err(wrong(format!(
                "`{name}` is {:?} of {:?}, and not F32 of {shape:?}",
                view.dtype(),
                view.shape()
            )));
        }
        let (numbers, _) = view.data().as_chunks::<4>();
        first.extend(numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)));
    }
    if first.iter().all(|value| value.is_finite()) {
        Ok(first)
    } else {
        Err(wrong("it holds NaN or infinity".into()))
    }
}

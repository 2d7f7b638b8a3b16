//! A model that is asked about: what it makes of each record to test by, as further columns of the record.
//!
//! `truth` is what was to be predicted and `predicted` what the model says; of two classes `score` is the probability of the second. `loss` is −ln of the probability that the
//! right class was given, held at 5; `error` is truth less score or, of numbers, less prediction.

use std::path::Path;

use learn::data::{CoinOf, DataError, Dataset, Readable, Task, held_out};
use learn::model::{ModelSpec, Predictions};
use learn::saved::{Saved, SavedError};
use learn::schema::{Column as Declared, Schema};
use questions::columns::{Bounds, Cell, Column, Columns, Kind, Row};
use questions::refusal::Refusal;
use sha2::{Digest, Sha256};
use topology::Hint;

/// The most bytes of a model that members send each other.
pub const MOST_MODEL: usize = 3 << 20;
/// Where a loss is held: a probability of 0.0067.
const MOST_LOSS: f64 = 5.0;

/// A model with what it adds to the columns.
#[derive(Debug)]
pub struct Judged {
    saved: Saved,
    schema: Schema,
    classes: Vec<String>,
}

/// Why a model cannot be asked about.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// Bytes that are no model.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// More bytes than members send each other.
    #[error("the model has {bytes} bytes; {MOST_MODEL} are the most that members send each other")]
    TooLarge {
        /// How many it has.
        bytes: usize,
    },
    /// Made for other columns.
    #[error("the model was made for other columns than those of the swarm: {what}")]
    Schema {
        /// The first difference.
        what: String,
    },
    /// Nothing that could be right or wrong.
    #[error("the schema names no label, so nothing says what the model should have predicted")]
    NoLabel,
    /// Nothing that a member could compute with.
    #[error("a model of a trainer cannot be computed here")]
    External,
    /// A declaration that questions refuse.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Hint for JudgeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Saved(error) => error.hint(),
            Self::Refused(refusal) => refusal.hint(),
            Self::TooLarge { .. } => Some("ask about a smaller model".into()),
            Self::Schema { .. } => Some(
                "ask about a model that this swarm trained, or one that was trained with the same schema"
                    .into(),
            ),
            Self::NoLabel => Some("name it in the schema: `[schema] label = \"sick\"`".into()),
            Self::External => Some("ask its trainer to judge it".into()),
        }
    }
}

/// What a model is called among members: SHA-256 of its file.
pub fn model_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Judged {
    /// The model in these bytes, made for the columns of `schema`.
    ///
    /// # Errors
    /// Bytes that are no model, or one for other columns, without classes or numbers to predict.
    pub fn new(bytes: &[u8], schema: &Schema) -> Result<Self, JudgeError> {
        if bytes.len() > MOST_MODEL {
            return Err(JudgeError::TooLarge { bytes: bytes.len() });
        }
        let saved = Saved::from_bytes(bytes, Path::new("the model"))?;
        if matches!(saved.about.spec, ModelSpec::External { .. }) {
            return Err(JudgeError::External);
        }
        if let Some(what) = difference(saved.about.schema.as_ref(), schema) {
            return Err(JudgeError::Schema { what });
        }
        let classes = match saved.about.task {
            Task::Classification { classes } => (0..classes).map(|class| saved.class_name(class)).collect(),
            Task::Regression => Vec::new(),
            Task::Unlabelled => return Err(JudgeError::NoLabel),
        };
        match schema.label {
            Some(_) => Ok(Self { saved, schema: schema.clone(), classes }),
            None => Err(JudgeError::NoLabel),
        }
    }

    /// The schema of a model, for whoever has no other.
    ///
    /// # Errors
    /// Bytes that are no model, or one that carries no schema.
    pub fn schema_of(bytes: &[u8]) -> Result<Schema, JudgeError> {
        let saved = Saved::from_bytes(bytes, Path::new("the model"))?;
        let what = || JudgeError::Schema { what: "the model carries no schema".into() };
        saved.about.schema.ok_or_else(what)
    }

    /// These columns and those of the model.
    ///
    /// # Errors
    /// Classes that no column can have as values.
    pub fn columns(&self, columns: &Columns) -> Result<Columns, Refusal> {
        let mut all = columns.clone();
        all.of_model = true;
        for (name, kind) in self.kinds() {
            all.declare(Column { name: self.name(name), kind, fill: None })?;
        }
        Ok(all)
    }

    /// What `murmur ask evaluate` asks.
    pub fn question(&self) -> String {
        let [truth, predicted, score, loss, error] =
            ["truth", "predicted", "score", "loss", "error"].map(|name| self.name(name));
        if self.classes.is_empty() {
            let square = libm::pow(self.range(), 2.0);
            return format!(
                "SELECT count(*), mean({error}), mean(clamp({error} * {error}, 0, {square})) FROM model"
            );
        }
        let auc = if self.classes.len() == 2 { format!("auc({score}, {truth}), ") } else { String::new() };
        format!(
            "SELECT count(*), accuracy({truth}, {predicted}), confusion({truth}, {predicted}), {auc}mean({loss}) FROM model"
        )
    }

    /// The records to test by that count, with what the model makes of them. `kept` are positions among the records of the exam.
    ///
    /// # Guarantee
    /// What is added to a record is a function of the record and the model.
    pub fn rows(&self, exam: &Exam, table: &[Row], kept: &[usize]) -> Vec<Row> {
        let Some(data) = &exam.data else { return Vec::new() };
        let among: Vec<u32> = kept.iter().map(|&at| at as u32).collect();
        let part = data.subset(&among);
        // A model that cannot be computed says nothing about anybody.
        let Ok(predictions) = self.saved.predict(&part) else { return Vec::new() };
        let row = |(at, &record): (usize, &usize)| {
            let mut row = table.get(exam.rows[record] as usize)?.clone();
            row.extend(self.cells(&part, &predictions, at));
            Some(row)
        };
        kept.iter().enumerate().filter_map(row).collect()
    }

    /// The columns of the model, in order.
    fn kinds(&self) -> Vec<(&'static str, Kind)> {
        let number = |low: f64, high: f64| Kind::Number {
            bounds: Some(Bounds { low, high }),
            integer: false,
            date: None,
        };
        if self.classes.is_empty() {
            let Bounds { low, high } = self.label_bounds();
            let range = self.range();
            return vec![
                ("truth", number(low, high)),
                ("predicted", number(low, high)),
                ("error", number(-range, range)),
            ];
        }
        let classes = || Kind::Category { values: self.classes.clone() };
        let mut kinds =
            vec![("truth", classes()), ("predicted", classes()), ("loss", number(0.0, MOST_LOSS))];
        if self.classes.len() == 2 {
            kinds.extend([("score", number(0.0, 1.0)), ("error", number(-1.0, 1.0))]);
        }
        kinds
    }

    /// What a column of the model is called: the swarm may have one of that name.
    fn name(&self, name: &str) -> String {
        if self.schema.columns.contains_key(name) { format!("model_{name}") } else { name.to_owned() }
    }

    fn label_bounds(&self) -> Bounds {
        let range = self.schema.label_column().and_then(Declared::bounds);
        range.map_or(Bounds { low: 0.0, high: 1.0 }, |range| Bounds { low: range.low, high: range.high })
    }

    fn range(&self) -> f64 {
        self.label_bounds().range()
    }

    fn cells(&self, data: &Dataset, predictions: &Predictions, at: usize) -> Vec<Cell> {
        let number = |value: f64| if value.is_finite() { Cell::Number(value) } else { Cell::Missing };
        if let (Predictions::Values(values), Some(truth)) = (predictions, data.reals()) {
            let Bounds { low, .. } = self.label_bounds();
            let [truth, said] = [truth[at], values[at]].map(|value| low + f64::from(value) * self.range());
            return [truth, said, truth - said].map(number).into();
        }
        let probabilities: Vec<f64> = match predictions {
            Predictions::Values(_) => Vec::new(),
            Predictions::Binary(ones) => vec![1.0 - f64::from(ones[at]), f64::from(ones[at])],
            Predictions::Classes { classes, probabilities } => {
                probabilities[at * classes..(at + 1) * classes].iter().map(|&p| f64::from(p)).collect()
            }
        };
        let truth = data.labels().and_then(|labels| labels.get(at).map(|&label| label as usize));
        let Some(truth) = truth.filter(|&class| class < self.classes.len()) else {
            return vec![Cell::Missing; self.kinds().len()];
        };
        if probabilities.len() != self.classes.len() || probabilities.iter().any(|p| !p.is_finite()) {
            let unknown = self.kinds().len() - 1;
            return [vec![Cell::Category(truth)], vec![Cell::Missing; unknown]].concat();
        }
        let best =
            |best: usize, class: usize| if probabilities[class] > probabilities[best] { class } else { best };
        let said = (0..probabilities.len()).fold(0, best);
        let loss = (-libm::log(probabilities[truth])).clamp(0.0, MOST_LOSS);
        let mut cells = vec![Cell::Category(truth), Cell::Category(said), number(loss)];
        if let [_, score] = probabilities[..] {
            cells.extend([number(score), number(truth as f64 - score)]);
        }
        cells
    }
}

/// The first difference of two schemas, `draft` aside.
fn difference(own: Option<&Schema>, swarm: &Schema) -> Option<String> {
    let Some(own) = own else { return Some("the model carries no schema".into()) };
    for name in own.columns.keys().chain(swarm.columns.keys()) {
        match (own.columns.get(name), swarm.columns.get(name)) {
            (Some(_), None) => return Some(format!("`{name}` is a column of the model only")),
            (None, Some(_)) => return Some(format!("`{name}` is a column of the swarm only")),
            (Some(a), Some(b)) if a != b => return Some(format!("`{name}` is declared in another way")),
            _ => {}
        }
    }
    match () {
        () if own.label != swarm.label => Some("another label".into()),
        () if own.person != swarm.person => Some("another column of persons".into()),
        () => None,
    }
}

/// The records of a table by which models are tested.
pub struct Exam {
    data: Option<Dataset>,
    /// The row of each in the table.
    rows: Vec<u32>,
}

/// Which records those are, where no column says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TestPart {
    /// All: nobody has learnt from them.
    All,
    /// Those that the members keep apart from training.
    Coin {
        /// How likely each is.
        fraction: f64,
        /// The key of the coins.
        key: u64,
        /// What has one coin.
        coin_of: CoinOf,
    },
}

impl Exam {
    /// Those of what could be read of a table.
    ///
    /// # Guarantee
    /// As [`held_out`]: a record more or less moves no other into the exam or out of it.
    ///
    /// # Assumes
    /// As there.
    ///
    /// # Errors
    /// As there.
    pub fn of(readable: Readable, part: TestPart) -> Result<Self, DataError> {
        let Readable { data, rows, test } = readable;
        let test = match (test, part) {
            (Some(test), _) => test,
            (None, TestPart::All) => vec![true; rows.len()],
            (None, TestPart::Coin { fraction, key, coin_of }) => held_out(&data, fraction, key, coin_of)?,
        };
        let kept: Vec<u32> = (0..rows.len() as u32).filter(|&at| test[at as usize]).collect();
        let rows = kept.iter().map(|&at| rows[at as usize]).collect();
        Ok(Self { data: Some(data.subset(&kept).compact()), rows })
    }

    /// Of a table without a record that can be read.
    pub fn empty() -> Self {
        Self { data: None, rows: Vec::new() }
    }

    /// The rows of its records in the table.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }
}

/// Records are private: they are never printed.
impl std::fmt::Debug for Exam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Exam({} records)", self.rows.len())
    }
}

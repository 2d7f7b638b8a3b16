//! The model that a question is about, and the question that `evaluate` stands for.

use std::path::{Path, PathBuf};

use learn::data::{CoinOf, CsvOptions, DataError, DataSource, LabelUse, SourceKind};
use learn::schema::Schema;
use protocol::work::question::{Exam, JudgeError, Judged, MOST_MODEL, TestPart, model_digest};
use questions::columns::{Column, Columns};

use super::{Args, declared};
use crate::failure::{Failure, Result};

/// The word for what is asked of a model where nothing else is.
const EVALUATE: &str = "evaluate";

/// A model with its file.
pub(super) struct Model {
    pub(super) judged: Judged,
    pub(super) digest: String,
    pub(super) path: PathBuf,
    schema: Schema,
}

impl Model {
    /// The model of the command line, if there is one; `schema` is that of the swarm, or of nobody.
    pub(super) fn of(args: &Args, schema: Option<&Schema>) -> Result<Option<Self>> {
        let Some(path) = &args.model else {
            return match is_evaluate(&args.question) {
                true => Err(Failure::new("no model is named")
                    .hint("name its file: `murmur ask evaluate model.safetensors`")),
                false => Ok(None),
            };
        };
        let context = || format!("cannot ask about the model `{}`", path.display());
        let failed = |error: JudgeError| Failure::from(error).context(context());
        let about = std::fs::metadata(path).map_err(|error| Failure::from(error).context(context()))?;
        if about.len() > MOST_MODEL as u64 {
            return Err(failed(JudgeError::TooLarge {
                bytes: usize::try_from(about.len()).unwrap_or(usize::MAX),
            }));
        }
        let bytes = std::fs::read(path).map_err(|error| Failure::from(error).context(context()))?;
        let schema = match schema {
            Some(schema) => schema.clone(),
            None => Judged::schema_of(&bytes).map_err(failed)?,
        };
        let judged = Judged::new(&bytes, &schema).map_err(failed)?;
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Ok(Some(Self { judged, digest: model_digest(&bytes), path, schema }))
    }

    /// The question in SQL.
    pub(super) fn question(&self, args: &Args) -> String {
        if is_evaluate(&args.question) { self.judged.question() } else { args.question.clone() }
    }

    /// The columns of the model's schema, and others that the file of a simulation has.
    pub(super) fn file_columns(&self, args: &Args) -> Result<Columns> {
        let mut columns = declared::of_text(&self.schema.to_toml(), "the schema of the model")?;
        for text in &args.column {
            let column: Column = text.parse()?;
            if self.schema.columns.contains_key(&column.name) {
                let text = format!("column `{}` is declared by the schema of the model", column.name);
                return Err(
                    Failure::new(text).hint("leave `--column` out: a model is asked about its own columns")
                );
            }
            columns.declare(column)?;
        }
        columns.person = args.person.clone().or(columns.person);
        Ok(columns)
    }

    /// The records of a simulation's file to test by: those that a column names, those of a coin, or all.
    pub(super) fn exam(&self, args: &Args, file: &Path) -> Result<Exam> {
        let options = CsvOptions { split: args.split.clone(), ..CsvOptions::default() };
        let part = match args.test_fraction {
            Some(fraction) => TestPart::Coin { fraction, key: args.seed, coin_of: coin_of(&self.schema) },
            None => TestPart::All,
        };
        Ok(exam(file, &options, &self.schema, part)?)
    }
}

/// What has one coin.
pub(crate) fn coin_of(schema: &Schema) -> CoinOf {
    if schema.person.is_some() { CoinOf::Group } else { CoinOf::Record }
}

/// The records of a file to test models by.
pub(crate) fn exam(
    file: &Path,
    options: &CsvOptions,
    schema: &Schema,
    part: TestPart,
) -> std::result::Result<Exam, DataError> {
    let kind = SourceKind::Csv(file.to_owned(), options.clone());
    let source = DataSource { kind, scale: None, target_bounds: None, schema: None };
    match source.with_schema(schema, LabelUse::Needed)?.readable() {
        Ok(readable) => Exam::of(readable, part),
        // Nothing that can be read is nothing to test by, and no reason to say no.
        Err(DataError::Empty { .. }) => Ok(Exam::empty()),
        Err(error) => Err(error),
    }
}

fn is_evaluate(question: &str) -> bool {
    question.trim().eq_ignore_ascii_case(EVALUATE)
}

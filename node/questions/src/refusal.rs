//! Why a question was not asked. Every reason is found before anything is spent, and none depends on the data.

use thiserror::Error;
use topology::Hint;

/// A question, a declaration or terms that are refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    /// Longer than any question should be.
    #[error("a question may have 4,096 bytes; this one has {bytes}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not SQL at all.
    #[error("this is not SQL: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// Something that SQL has and this language has not.
    #[error("{what} is outside the language: `{text}`")]
    Outside {
        /// What it is.
        what: &'static str,
        /// How it was written.
        text: String,
    },
    /// Records without a model, or a model without records to test it by.
    #[error("{}", if *.of_model {
        "a model is judged by records to test by: `FROM model`"
    } else {
        "`FROM model` needs a model"
    })]
    Source {
        /// Whether a model was named.
        of_model: bool,
    },
    /// A function that does not exist.
    #[error("there is no function `{name}`")]
    Function {
        /// Its name.
        name: String,
        /// The nearest that exists.
        nearest: Option<String>,
    },
    /// `min` and `max` show one record.
    #[error("`{name}` shows the value of a single record, which no noise of this size can hide")]
    Extreme {
        /// `min` or `max`.
        name: String,
        /// What it was asked of.
        column: String,
    },
    /// Too many, too few or wrong arguments.
    #[error("`{function}` takes {expected}: `{text}`")]
    Arguments {
        /// The function.
        function: String,
        /// What it takes.
        expected: &'static str,
        /// How it was written.
        text: String,
    },
    /// A column that no declaration names.
    #[error("column `{column}` is not declared")]
    Undeclared {
        /// Its name.
        column: String,
        /// Names that are.
        known: Vec<String>,
    },
    /// A number without bounds.
    #[error("column `{column}` has no bounds")]
    NoBounds {
        /// Its name.
        column: String,
    },
    /// Bounds that are equal, in the wrong order or not finite.
    #[error("bounds of `{what}` must be finite and in order: {low} to {high}")]
    Bounds {
        /// A column or an expression.
        what: String,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// Arithmetic whose result nobody bounds.
    #[error("arithmetic needs bounds: `{text}`")]
    Unclamped {
        /// How it was written.
        text: String,
    },
    /// A column of the wrong kind.
    #[error("`{column}` cannot be used as {wanted}: it is declared as {declared}")]
    Kind {
        /// Its name.
        column: String,
        /// What the place needs.
        wanted: &'static str,
        /// What it is.
        declared: &'static str,
    },
    /// A declaration that cannot be read.
    #[error("cannot read the declaration of column `{column}`: {why}")]
    Declaration {
        /// The column, or all of the text where no column can be told.
        column: String,
        /// What is wrong.
        why: String,
    },
    /// More numbers than a question may have.
    #[error("the question needs {count} numbers; 65,536 are the most")]
    Coordinates {
        /// Coordinates of the plan.
        count: u128,
    },
    /// A question that cannot share its sum with others.
    #[error("`{function}` must be asked alone")]
    Alone {
        /// The function.
        function: &'static str,
    },
    /// `count(DISTINCT …)` without masks.
    #[error("`{function}` needs masks: the trust is `{trust}`")]
    NeedsMasks {
        /// The function.
        function: &'static str,
        /// What was chosen.
        trust: &'static str,
    },
    /// A question that one person alone cannot answer.
    #[error("in the local model {what}")]
    Local {
        /// What is not possible.
        what: &'static str,
    },
    /// ε that is not a positive number.
    #[error("ε must be a positive number, large enough for noise that can be drawn: {value}")]
    Epsilon {
        /// What was given.
        value: f64,
    },
    /// δ outside (0, 1), or so small that nothing meets it.
    #[error("δ must lie between 0 and 1, both excluded: {value}")]
    Delta {
        /// What was given.
        value: f64,
    },
    /// Numbers of members that make no sense.
    #[error("{honest} honest members among {contributors}")]
    Members {
        /// n.
        contributors: u64,
        /// h.
        honest: u64,
    },
    /// Fewer members than a sum needs to hide one.
    #[error("{found} members would answer; at least {needed} must")]
    TooFewContributors {
        /// How many.
        found: u64,
        /// `questions.min_contributors`.
        needed: u64,
    },
    /// ε above what a member or the asker allows.
    #[error("ε = {asked} is over the rule `{rule}` = {limit}")]
    OverRule {
        /// What the question costs.
        asked: f64,
        /// Name of the rule.
        rule: String,
        /// What it allows.
        limit: f64,
    },
    /// Members declare different columns.
    #[error("members declare different columns: {difference}")]
    ColumnsDiffer {
        /// Which, on whose side.
        difference: String,
    },
    /// Node level without a limit on records.
    #[error("a whole node is protected, but nothing says how many records of a node count")]
    NoMaxRecords,
    /// Persons as unit without an id.
    #[error("persons are protected, but the schema names no person")]
    NoPerson,
}

impl Hint for Refusal {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::TooLong { .. } => "ask fewer things at once, or declare columns with shorter names".into(),
            Self::Syntax { .. } => "write `SELECT mean(age) FROM swarm WHERE sick = 1 GROUP BY sex`".into(),
            Self::Outside { .. } => {
                "a question is one SELECT of aggregates FROM swarm, with WHERE (columns against literals), \
                                     GROUP BY declared categories or bin(column, k), and HAVING nodes() >= k"
                    .into()
            }
            Self::Source { of_model: true } => "ask `FROM swarm` without a model about all records".into(),
            Self::Source { of_model: false } => {
                "name its file behind the question, or say `murmur ask evaluate model.safetensors`".into()
            }
            Self::Function { nearest: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::Function { nearest: None, .. } => {
                format!("known are {}", crate::language::FUNCTIONS.join(", "))
            }
            Self::Extreme { name, column } => {
                let q = if name == "min" { "0.01" } else { "0.99" };
                format!("ask `quantile({column}, {q})`")
            }
            Self::Arguments { .. } => "see `murmur ask --help` for the list of questions".into(),
            Self::Undeclared { column, known } => undeclared(column, known),
            Self::NoBounds { column } => {
                format!(
                    "declare them from knowledge of the field, not from the data: `--column {column}:bounds=0..100`"
                )
            }
            Self::Bounds { .. } => "give a lower and a higher number, such as `bounds=0..110`".into(),
            Self::Unclamped { text } => format!("write `clamp({text}, LOW, HIGH)`"),
            Self::Kind { wanted, .. } => declare_as(wanted).into(),
            Self::Declaration { .. } => {
                "write `age:bounds=0..110,integer`, `region:values=north+south`, `code:text=8` or \
                 `admitted:date=%d.%m.%Y,bounds=2000-01-01..2030-12-31`"
                    .into()
            }
            Self::Coordinates { .. } => "use fewer groups, bins or columns".into(),
            Self::Alone { .. } => "ask it in a question of its own, without GROUP BY".into(),
            Self::NeedsMasks { .. } => "use `--trust masked`".into(),
            Self::Local { .. } => {
                "declare `fill` for the column, ask one thing at a time, or use `--trust masked`".into()
            }
            Self::Epsilon { .. } => "use a number such as 1".into(),
            Self::Delta { .. } => "use a δ well below one over the number of records, such as 1e-5".into(),
            Self::Members { .. } => "at least one member must be honest, and no more than there are".into(),
            Self::TooFewContributors { .. } => {
                "wait for more members, or lower `questions.min_contributors`".into()
            }
            Self::OverRule { .. } => "ask with a smaller ε, or ask the member's owner".into(),
            Self::ColumnsDiffer { .. } => "agree on one schema: it belongs in the swarm file".into(),
            Self::NoMaxRecords => "say `--max-records 100`: the most that a node contributes".into(),
            Self::NoPerson => {
                "name the column with their ids: `[schema] person = \"patient\"`, or `--person patient`"
                    .into()
            }
        };
        Some(hint)
    }
}

fn declare_as(wanted: &str) -> &'static str {
    match wanted {
        "a number" => "declare it with `bounds=LOW..HIGH`",
        "a category" => "declare it with `values=A+B`, or cut a number into bins with `bin(column, k)`",
        "a yes or no" => "declare it with two values, `values=0+1`; the second is yes",
        _ => "declare it with `text=BYTES`",
    }
}

fn undeclared(column: &str, known: &[String]) -> String {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let declare = format!("declare it: `--column {column}:bounds=0..100` or `--column {column}:values=a+b`");
    match topology::nearest(column, &names) {
        Some(near) => format!("did you mean `{near}`? Else {declare}"),
        None if known.is_empty() => declare,
        None => format!("{declare}; declared are {}", known.join(", ")),
    }
}

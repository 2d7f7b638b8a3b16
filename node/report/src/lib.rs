//! What a run cost, for people: a fold over its log and its ledgers.
//!
//! [`Source::open`] reads a run, [`Report::new`] folds it, and [`html`], [`markdown`] and [`json`] write the same document, so that a number is the same
//! wherever it stands. Nothing here decides what something costs: that is [`protocol::account`].
//!
//! ```
//! use protocol::{LogLine, Setup, config::Config};
//! use report::{Options, Report, Source};
//!
//! let config = Config::from_toml("nodes = 4\nrounds = 3\nprivacy.epsilon = 5", "example")?;
//! let mut lines: Vec<LogLine> = Vec::new();
//! sim::run::run(&Setup::new(config)?, &sim::Options::default(), &mut |line| lines.push(line.clone()), &mut |_| {})?;
//! let report = Report::new(&Source::of_lines(lines)?, &Options::default())?;
//! assert_eq!((report.nodes.len(), report.private), (4, false));
//! assert!(report::markdown(&report).contains("protects nobody"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asked;
mod belief;
mod card;
mod coalitions;
mod compare;
mod curve;
mod dates;
mod document;
mod exposed;
mod faults;
mod fold;
mod folder;
mod head;
mod html;
mod lost;
mod markdown;
mod nist;
mod number;
mod own;
mod plain;
mod renewed;
mod several;
mod source;
mod watchers;
mod words;

pub use belief::{Protection, belief, group};
pub use card::card;
pub use document::{
    Budget, Coalition, Comparison, Curve, CurvePoint, Fault, Figure, NodeReport, PeerFigure, Report, Rounds,
    WorstFigure,
};
pub use fold::{Options, ReportError};
pub use folder::{Folder, FolderError};
pub use head::{Head, Member};
pub use html::html;
pub use markdown::markdown;
pub use nist::Point;
pub use several::{Several, SeveralError};
pub use source::{LedgerCopy, Source, SourceError};
pub use watchers::Watcher;

/// The JSON schema that [`json`] keeps to.
pub const SCHEMA: &str = include_str!("schema.json");

/// The report as JSON, with every figure that was priced.
///
/// # Errors
/// None that a report can cause; the writer's type has them.
pub fn json(report: &Report) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

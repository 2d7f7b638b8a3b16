//! The language: one `SELECT` of aggregates over `swarm`, read with `sqlparser` into our own checked tree. What is not on the
//! list is refused; nothing is discovered from data.

pub mod ast;
mod call;
mod describe;
mod filter;
mod scalar;
mod select;
mod written;

pub use ast::Question;
pub use describe::describe;
pub use select::parse;

/// The functions there are.
pub const FUNCTIONS: [&str; 25] = [
    "accuracy",
    "auc",
    "clamped",
    "confusion",
    "corr",
    "count",
    "crosstab",
    "describe",
    "frequent",
    "gini",
    "histogram",
    "kendall",
    "linreg",
    "mannwhitney",
    "mean",
    "median",
    "missing",
    "pairs",
    "quantile",
    "stddev",
    "sum",
    "survival",
    "variance",
    "bin",
    "clamp",
];

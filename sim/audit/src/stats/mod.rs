//! Statistics that an audit decides by: exact binomial bounds, nothing asymptotic.

mod binomial;
mod one_run;
mod rates;

pub use binomial::{at_least, at_most, lower, upper};
pub use one_run::{epsilon as one_run_epsilon, p_value as one_run_p_value};
pub use rates::{Errors, Roc, auc_interval};

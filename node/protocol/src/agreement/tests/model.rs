//! The machine under a model checker.

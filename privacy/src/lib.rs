//! Mechanisms, events and accountants.

pub mod event;
pub mod gdp;
pub mod root;
pub mod special;

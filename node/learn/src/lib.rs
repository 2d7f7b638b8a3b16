//! What a participant does with its own data.

pub mod data;
pub mod gradient;
pub mod metrics;
pub mod model;
pub mod partition;

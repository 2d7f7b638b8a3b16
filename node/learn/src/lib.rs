//! What a participant does with its own data.

pub mod calibrate;
pub mod checkpoint;
pub mod data;
pub mod gradient;
pub mod metrics;
pub mod model;
pub mod optimiser;
pub mod partition;
pub mod train;

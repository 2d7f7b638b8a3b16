//! Mechanisms, events and accountants.

pub mod clip;
pub mod event;
pub mod gdp;
pub mod mechanisms;
pub mod network;
pub mod noise;
pub mod root;
pub mod special;

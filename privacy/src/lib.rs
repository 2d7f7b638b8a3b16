//! Mechanisms, events and accountants.

pub mod accountant;
pub mod amplification;
pub mod clip;
pub mod event;
pub mod filter;
pub mod gdp;
pub mod mechanisms;
pub mod network;
pub mod noise;
pub mod odometer;
pub mod pld;
pub mod rdp;
pub mod release;
pub mod root;
pub mod special;

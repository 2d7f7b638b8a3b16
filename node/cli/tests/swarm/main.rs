//! Swarms of real processes: on a LAN of network namespaces, under churn, among strangers, with limits of their own.
//!
//! Tests wait for what happens, never for time; every wait has a limit so that a failure does not hang. Those marked `ignored` take minutes: `./test heavy`.

mod chaos;
mod churn;
mod dice;
mod disk;
mod ending;
mod engine;
mod flapping;
mod lan;
mod leaving;
mod members;
mod old_disk;
mod policy;
mod private;
#[cfg(feature = "quic")]
mod quic;
mod records;
mod refused;
mod renewal;
mod rig;
mod strangers;
mod wan;

//! Members that lie in what they contribute.

use crate::config::Config;
use crate::config::error::ConfigError;
use crate::config::field::Special;
use crate::config::form::whole;
use crate::config::keys::{Key, key};
use crate::config::read::Reader;

pub(super) const KEYS: &[Key] = &[key(
    "robust.tolerate",
    "rounds: b, so many members that lie in what they contribute move the model by little where data are alike; every member then sees every contribution, so the loss is always `local`, and there are no masks",
    &Special { read, show: |config| config.tolerate.map(whole), takes: "whole number from 1, below half of the nodes" },
)
.also(&["tolerate", "robust", "robust.byzantine", "aggregation"])];

fn read(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    config.tolerate = None;
    // What a comparison has no use for does not stand in its way.
    if reader.is_given(key) {
        let tolerate = reader.count(key, 1, 1..=u64::from(u32::MAX))? as usize;
        config.tolerate = Some(tolerate).filter(|_| !config.algorithm.kind.is_comparison());
    }
    Ok(())
}

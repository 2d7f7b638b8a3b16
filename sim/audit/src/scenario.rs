//! The scenario that is audited where none is given: small, so that thousands of runs take seconds.

use protocol::config::{Config, ConfigError, Layer};

/// Eight nodes, four rounds of softmax regression on 64 records each, at a noise where a few thousand runs come near the account.
const BUILT_IN: [&str; 10] = [
    "name=small",
    "nodes=8",
    "rounds=4",
    "batch_size=all",
    "learning_rate=0.5",
    "data=blobs:nodes=8,records=64,dim=63,classes=10,test=0",
    "test_fraction=0",
    "privacy.clip_norm=1",
    "privacy.noise_multiplier=2.5",
    "privacy.delta=1e-5",
];

/// The built-in scenario as a layer, for flags to be laid over.
///
/// # Errors
/// None: a test reads it.
pub fn layer() -> Result<Layer, ConfigError> {
    Layer::from_flags("the built-in scenario", &BUILT_IN)
}

/// The built-in scenario with these keys set.
///
/// # Errors
/// A key that does not exist or a value that does not fit.
pub fn built_in(set: &[&str]) -> Result<Config, ConfigError> {
    Config::from_layers([layer()?, Layer::from_flags("--set", set)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_scenario_is_valid_and_can_be_changed() {
        assert_eq!(built_in(&[]).unwrap().nodes, 8);
        assert_eq!(built_in(&["rounds=2"]).unwrap().rounds, 2);
        assert!(built_in(&["rouns=2"]).is_err());
    }
}

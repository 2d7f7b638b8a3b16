//! The scenario that is audited where none is given: small, so that thousands of runs take seconds.

use protocol::config::{Config, ConfigError, Layer};

/// Eight nodes, four rounds of softmax regression on 64 records each, at a noise where a few thousand runs come near the account.
const BUILT_IN: [&str; 9] = [
    "name=small",
    "nodes=8",
    "batch_size=all",
    "learning_rate=0.5",
    "data=blobs:nodes=8,records=64,dim=63,classes=10,test=0",
    "test_fraction=0",
    "privacy.clip_norm=1",
    "privacy.noise_multiplier=2.5",
    "privacy.delta=1e-5",
];

/// Its rounds, for algorithms that have several.
const ROUNDS: &str = "rounds=4";

/// The built-in scenario with these keys set.
///
/// # Errors
/// A key that does not exist or a value that does not fit.
pub fn built_in(set: &[&str]) -> Result<Config, ConfigError> {
    let common = || Layer::from_flags("the built-in scenario", &BUILT_IN);
    let set = Layer::from_flags("--set", set)?;
    let config = Config::from_layers([common()?, set.clone()])?;
    // One-shot averaging has one round: whoever asks for it did not ask for four.
    if !config.algorithm.kind.trains() {
        return Ok(config);
    }
    Config::from_layers([common()?, Layer::from_flags("the built-in scenario", &[ROUNDS])?, set])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_scenario_is_valid_and_can_be_changed() {
        assert_eq!(built_in(&[]).unwrap().nodes, 8);
        assert_eq!(built_in(&[]).unwrap().rounds, 4);
        assert_eq!(built_in(&["algorithm.kind=mean"]).unwrap().rounds, 1);
        assert!(built_in(&["algorithm.kind=mean", "rounds=4"]).is_err(), "who asks for four is told");
        assert_eq!(built_in(&["rounds=2"]).unwrap().rounds, 2);
        assert!(built_in(&["rouns=2"]).is_err());
    }
}

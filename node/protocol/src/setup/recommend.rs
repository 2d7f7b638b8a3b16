//! Settings for runs whose members bring records of their own, from what is public: nothing here looks at a record.
//!
//! **Why these.** Features lie between 0 and 1 by declared bounds, so a record's gradient has a norm of about ½√(columns) at the start and less later; a clip norm of 1 cuts the
//! first steps to one length and leaves the later ones alone. What a round moves the model is `learning_rate × clip_norm` at most, and 2 was best or near it on all
//! of six data sets (docs/DEFAULTS.md has the sweep). Noise relative to the signal falls with the batch until the sampling rate is no longer small: a thirty-second of the
//! records keeps the amplification by sampling.

use crate::config::Config;

const CLIP_NORM: &str = "1";
const LEARNING_RATE: &str = "2";
/// Part of the smallest member's records that is in a batch.
const PART: usize = 32;
/// Batches are at least and at most so large.
const BATCH: (usize, usize) = (16, 256);

/// Keys and values that are good where nothing is known but the promised number of records.
pub fn recommended(config: &Config) -> [(&'static str, String); 3] {
    let batch = (config.partition.min_size / PART).clamp(BATCH.0, BATCH.1);
    [
        ("batch_size", batch.to_string()),
        ("learning_rate", LEARNING_RATE.to_owned()),
        ("privacy.clip_norm", CLIP_NORM.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;

    #[test]
    fn the_rule_depends_on_public_numbers_only() {
        let batch = |min_size: usize| {
            let pair = format!("partition.min_size={min_size}");
            let config = Config::from_layers([Layer::from_flags("--set", &[pair]).unwrap()]).unwrap();
            recommended(&config)[0].1.clone()
        };
        assert_eq!([80, 6400, 1_000_000].map(batch), ["16", "200", "256"]);
        assert_eq!(
            recommended(&Config::default())[1..],
            [("learning_rate", "2".to_owned()), ("privacy.clip_norm", "1".to_owned())]
        );
    }
}

//! Whether there is anything but questions. What a node answers is for the node itself to say, and no key of the run.

use toml::Value;

use crate::config::field::Special;
use crate::config::keys::{Key, key};

pub(super) const KEYS: &[Key] = &[key(
    "questions.only",
    "the swarm trains nothing: its members meet, and answer what `murmur ask` asks until they are stopped",
    &Special {
        read: |key, reader, config| {
            config.questions_only = reader.flag(key, false)?;
            Ok(())
        },
        // Said only where it is so: other runs keep their digests.
        show: |config| config.questions_only.then_some(Value::Boolean(true)),
        takes: "true or false",
    },
)];

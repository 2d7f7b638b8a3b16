//! How many participants may be hostile.

use crate::agreement::hostile_by_default;
use crate::config::Config;
use crate::config::error::ConfigError;
use crate::config::field::Special;
use crate::config::form::whole;
use crate::config::keys::{Key, key};
use crate::config::read::Reader;

pub(super) const KEYS: &[Key] = &[
    key(
    "members.hostile",
    "how many members may be hostile: decisions of `rounds` need more signatures, and bear fewer absent members, the more it is; below a third",
    &Special {
        read,
        show: |config| config.hostile.map(whole),
        takes: "whole number from 0; (nodes - 1) / 3 rounded down where it is left out",
    },
)
.also(&["members.byzantine"]),
    key(
        "members.late",
        "`rounds`: a quorum of the named members begins at once, and who comes later is let in by a decision; without, the others are waited for at first",
        &Special {
            read: |key, reader, config| {
                config.late = reader.flag(key, false)?;
                Ok(())
            },
            // Said only where it is so: other runs keep their digests.
            show: |config| config.late.then_some(toml::Value::Boolean(true)),
            takes: "true or false",
        },
    ),
];

fn read(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let most = hostile_by_default(config.nodes);
    let given = reader.count(key, u64::from(most), 0..=u64::from(u32::MAX))? as u32;
    if given > most {
        let why = format!("of {} members fewer than a third can be borne", config.nodes);
        return Err(reader.bad(key, why, Some(format!("leave it out, or set at most {most}"))));
    }
    // What holds anyway is not part of what members compare.
    config.hostile = Some(given).filter(|_| reader.is_given(key) && given != most);
    Ok(())
}

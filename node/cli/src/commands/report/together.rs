//! `murmur report RUN1 RUN2 …`: what several runs on the same data cost together.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::{Options, Report, Several};

use super::{Format, open};
use crate::failure::{Failure, Result};
use crate::output;

/// Prints it.
pub(super) fn run(
    paths: &[PathBuf],
    options: &Options,
    (format, out): (Option<Format>, Option<&Path>),
) -> Result<ExitCode> {
    let sources = paths.iter().map(|path| open(path)).collect::<Result<Vec<_>>>()?;
    let mut runs = Vec::new();
    for source in &sources {
        runs.push((Report::new(source, options)?, source));
    }
    let several = Several::new(&runs)?;
    let text = match format.unwrap_or(Format::Md) {
        Format::Md => several.markdown(),
        Format::Json => output::json(&several)?,
        Format::Html | Format::Card => {
            return Err(Failure::new("several runs together are written as `md` or `json`")
                .hint("a page or a card is about one run: `murmur report RUN --format html`"));
        }
    };
    match format {
        Some(_) => output::write(out, text.as_bytes())?,
        None => output::write_words(out, &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

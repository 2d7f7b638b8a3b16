//! The user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};

/// Opens a page with what the system has for that.
pub(super) fn show(page: &Path) -> Result<()> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let silent = || Stdio::null();
    let started = Command::new(program).arg(page).stdin(silent()).stdout(silent()).stderr(silent()).spawn();
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::from(error)
            .context(format!("cannot start `{program}`"))
            .hint(format!("the page is written: open `{}` yourself", page.display()))),
    }
}

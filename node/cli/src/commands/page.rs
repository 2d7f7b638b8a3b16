//! `--http`: the live page of a run, for `murmur node` and `murmur swarm`.

use super::node::stop;
use crate::failure::{Failure, Result};
use crate::output::say;
use dashboard::{Board, Dashboard, Facts, Outline, Place};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a token may be instead of on the command line, which other users of a machine can read.
pub(crate) const TOKEN_VARIABLE: &str = "MURMUR_HTTP_TOKEN";

/// Where the page is served.
#[derive(Debug, clap::Args)]
pub(crate) struct HttpArgs {
    /// Serve a live page of the run: PORT on this machine, or ADDRESS:PORT; port 0 takes a free one, which is printed.
    /// There: /metrics for Prometheus, /api/status and /api/run as JSON, /healthz (gathering, running, stuck or finished). Read only
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// What visitors of the page must bring (`Authorization: Bearer TOKEN`, or `?token=TOKEN` in a browser); needed where
    /// other machines can reach the address. Others on this machine can read arguments: `--http-token-file` hides it
    #[arg(long, value_name = "TOKEN", requires = "http", conflicts_with = "http_token_file")]
    http_token: Option<String>,
    /// A file with that token, for its owner only; or set the variable MURMUR_HTTP_TOKEN
    #[arg(long, value_name = "FILE", requires = "http")]
    http_token_file: Option<PathBuf>,
    /// Keep the page for so many seconds after the end of the run, or until ctrl-c
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "http")]
    http_linger: u64,
}

impl HttpArgs {
    /// Takes the address, if a page is wanted: before anything else is begun, so that a mistake stops nothing half-way.
    pub(crate) fn take(&self) -> Result<Option<Place>> {
        let Some(address) = &self.http else { return Ok(None) };
        let variable = || std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
        let token = match &self.http_token_file {
            Some(file) => Some(token_in(file)?),
            None => self.http_token.clone().or_else(variable),
        };
        let place = Place::take(address, token)?;
        let token = if place.asks_for_a_token() { " (asks for the token)" } else { "" };
        say!("page       {}{token}", place.url());
        Ok(Some(place))
    }

    /// Serves the run of `outline` as `logs` tell it.
    pub(crate) fn serve(
        &self,
        place: Option<Place>,
        outline: Outline,
        logs: Vec<PathBuf>,
        facts: impl FnOnce() -> std::result::Result<Facts, String> + Send + 'static,
    ) -> Result<Page> {
        let dashboard = place.map(|place| Dashboard::start(place, outline, logs, facts)).transpose()?;
        Ok(Page { dashboard, linger: Duration::from_secs(self.http_linger) })
    }
}

/// The token in a file: its first line.
fn token_in(file: &Path) -> Result<String> {
    let failed = |error: std::io::Error| {
        Failure::from(error)
            .context(format!("cannot read the token of the page in `{}`", file.display()))
            .hint("make one with `(umask 077; openssl rand -hex 16 > FILE)`")
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(file).map_err(failed)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            say!("warning: others may read the token in `{}` (mode {mode:o}): chmod 600 it", file.display());
        }
    }
    let text = std::fs::read_to_string(file).map_err(failed)?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// A page, or none.
pub(crate) struct Page {
    dashboard: Option<Dashboard>,
    linger: Duration,
}

impl Page {
    /// Where to write how processes are, if there is a page.
    pub(crate) fn board(&self) -> Option<Board> {
        self.dashboard.as_ref().map(Dashboard::board)
    }

    /// The run is over: makes the last picture.
    pub(crate) fn over(&mut self, reason: &str) {
        if let Some(dashboard) = &mut self.dashboard {
            dashboard.finish(reason);
        }
    }

    /// Shows the last picture for as long as was asked for.
    pub(crate) fn close(self) {
        let Some(dashboard) = self.dashboard else { return };
        if !self.linger.is_zero() {
            say!("page       stays for {} s; ctrl-c ends it", self.linger.as_secs());
            wait(self.linger);
        }
        dashboard.close();
    }
}

fn wait(linger: Duration) {
    let Ok(tokio) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    tokio.block_on(async {
        tokio::select! {
            _ = stop::signalled() => {}
            () = tokio::time::sleep(linger) => {}
        }
    });
}

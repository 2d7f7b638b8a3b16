//! One node process under a swarm: started with a pipe that it ends with, watched by its status lines.

use super::ended::How;
use crate::commands::node::Told;
use crate::commands::page::TOKEN_VARIABLE;
use crate::failure::{Failure, Result};
use runtime::data_ledger::VARIABLE;
use runtime::identity::{owner_only, private_folder};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child as Process, ChildStdin, Command};
use tokio::sync::mpsc;

/// Lines of a child's log that are shown when it dies.
const LAST_LINES: usize = 12;

/// What a child reports.
#[derive(Debug)]
pub(super) enum News {
    /// A picture of the node.
    Told(Box<Told>),
    /// It ended.
    Ended(std::io::Result<ExitStatus>),
}

/// Where the records of a swarm on this machine are counted: in the folder of the run, unless the user keeps ledgers elsewhere.
fn counts(swarm: &Path) -> PathBuf {
    let own = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    own.unwrap_or_else(|| swarm.with_file_name("ledger"))
}

/// A running child. It ends with this process, however that ends: its stdin is a pipe of ours.
pub(super) struct Child {
    stdin: Option<ChildStdin>,
    errors: PathBuf,
    /// Where it listens, once it said so.
    pub(super) address: Option<String>,
    /// Bytes that it has sent.
    pub(super) bytes: u64,
    /// Whether it said that the run had begun.
    pub(super) begun: bool,
    /// Whether it has ended, and how.
    pub(super) ended: Option<How>,
    kill: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Child {
    /// Starts node `index` of `nodes` in its folder; with `judge` it says how good its model is.
    pub(super) fn start(
        (index, nodes): (usize, usize),
        swarm: &Path,
        folder: &Path,
        reports: mpsc::Sender<(usize, News)>,
        judge: bool,
    ) -> Result<Self> {
        let errors = folder.join("stderr.log");
        private_folder(folder)?;
        let stderr = owner_only().write(true).create(true).truncate(true).open(&errors)?;
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        // Ctrl-c of a terminal reaches every process of its group: children hear of it from us, and once.
        #[cfg(unix)]
        command.process_group(0);
        let mut process = command
            .arg("node")
            .arg("--swarm")
            .arg(swarm)
            .arg("--state")
            .arg(folder)
            .args(["--shard", &format!("{index}/{nodes}"), "--listen", "/ip4/127.0.0.1/tcp/0"])
            .args(["--no-mdns", "--child", "--log", "json"])
            .args(judge.then_some("--judge"))
            .env_remove(TOKEN_VARIABLE)
            .env(VARIABLE, counts(swarm))
            // As many threads as there are processes already.
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::from(error).context(format!("cannot start node {index}")))?;
        let stdin = process.stdin.take();
        let (kill, killed) = tokio::sync::oneshot::channel();
        tokio::spawn(watch(index, process, reports, killed));
        Ok(Self { stdin, errors, address: None, bytes: 0, begun: false, ended: None, kill: Some(kill) })
    }

    /// Tells it where another one listens.
    pub(super) async fn introduce(&mut self, address: &str) {
        if let Some(stdin) = &mut self.stdin {
            // A child that has gone is reported by its end.
            let _ = stdin.write_all(format!("peer {address}\n").as_bytes()).await;
        }
    }

    /// Asks it to stop.
    pub(super) fn stop(&mut self) {
        self.stdin = None;
    }

    /// Ends it.
    pub(super) fn kill(&mut self) {
        self.stdin = None;
        if let Some(kill) = self.kill.take() {
            let _ = kill.send(());
        }
    }

    /// The last lines of what it said.
    pub(super) fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(|line| format!("    {line}\n")).collect()
    }
}

async fn watch(
    index: usize,
    mut process: Process,
    reports: mpsc::Sender<(usize, News)>,
    killed: tokio::sync::oneshot::Receiver<()>,
) {
    let lines = async {
        let Some(stdout) = process.stdout.take() else { return };
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            match serde_json::from_str(&line) {
                Ok(told) => drop(reports.send((index, News::Told(told))).await),
                Err(error) => tracing::debug!(node = index, %error, "a line of a child that is no picture"),
            }
        }
    };
    tokio::select! {
        () = lines => {}
        Ok(()) = killed => {
            let _ = process.start_kill();
        }
    }
    let ended = process.wait().await;
    let _ = reports.send((index, News::Ended(ended))).await;
}

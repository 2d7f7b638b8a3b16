//! How a person asks the node of its own that runs: over the loopback, with a token that only who may read the node's folder has.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::Hint;
use protocol::work::question::{Ask, Total};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use super::said::LONGEST;
use crate::identity::replace_owner_only;

/// Name of the file that says where the node listens, and for whom.
const FILE: &str = "ask";
/// Who says nothing for so long is sent away.
const PATIENCE: Duration = Duration::from_secs(10);
/// Questions that may wait.
const WAITING: usize = 8;

/// What is wanted of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// What is left to be asked.
    Left,
    /// The answer to a question.
    Ask {
        /// Text and public numbers.
        ask: Ask,
        /// The file of the model that it is about.
        model: Option<PathBuf>,
    },
}

/// What the node says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// ε that this node's rules leave.
    Left(f64),
    /// The answer.
    Answered {
        /// The totals of the question, one after the other.
        totals: Vec<Total>,
        /// Whether it is an earlier answer, which costs nothing.
        stored: bool,
        /// ε that is left at this node.
        left: f64,
    },
    /// No answer.
    Refused {
        /// Why.
        why: String,
        /// Whether this node's ledgers were charged.
        charged: bool,
    },
}

/// A call with the way back.
pub(crate) struct Wish {
    pub(crate) call: Call,
    pub(crate) reply: oneshot::Sender<Reply>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    token: String,
    call: Call,
}

/// Why a node could not be called.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens.
    #[error("no node runs with the state in `{}`", state.display())]
    Nobody {
        /// The folder.
        state: PathBuf,
    },
    /// It went away.
    #[error("the node ended before it answered: what it had recorded is charged")]
    Gone,
    /// It says something else.
    #[error("what listens for the node with the state in `{}` is no node", state.display())]
    Garbled {
        /// The folder.
        state: PathBuf,
    },
}

impl Hint for CallError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Nobody { .. } => {
                "start `murmur node` with its usual command, and name its folder: `--state DIR`; members without the columns of the swarm file answer nothing".into()
            }
            Self::Gone => "start it again and ask the same: an answer that the others hold is free".into(),
            Self::Garbled { .. } => "start the node again".into(),
        })
    }
}

/// Where a node listens to its owner.
pub(crate) struct Door {
    path: PathBuf,
    /// What was asked.
    pub(crate) wishes: mpsc::Receiver<Wish>,
    task: tokio::task::JoinHandle<()>,
}

impl Door {
    /// Opens it. Needs a tokio runtime.
    pub(crate) fn open(state: &Path, token: String) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let path = state.join(FILE);
        replace_owner_only(&path, format!("{} {token}\n", listener.local_addr()?).as_bytes())?;
        let listener = TcpListener::from_std(listener)?;
        let (wish, wishes) = mpsc::channel(WAITING);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, token.clone(), wish.clone()));
            }
        });
        Ok(Self { path, wishes, task })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(stream: TcpStream, token: String, wishes: mpsc::Sender<Wish>) {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    let mut read = tokio::io::BufReader::new(read.take(2 * LONGEST as u64));
    let heard = tokio::time::timeout(PATIENCE, read.read_line(&mut line)).await;
    let Ok(Ok(_)) = heard else { return };
    let Ok(Line { token: theirs, call }) = serde_json::from_str::<Line>(&line) else { return };
    if theirs != token {
        return;
    }
    let (reply, answer) = oneshot::channel();
    if wishes.send(Wish { call, reply }).await.is_err() {
        return;
    }
    if let Ok(Ok(mut text)) = answer.await.map(|answer| serde_json::to_string(&answer)) {
        text.push('\n');
        // Whoever asked may have gone.
        let _ = write.write_all(text.as_bytes()).await;
    }
}

/// Calls the node that runs with this folder, and waits for its reply.
///
/// # Errors
/// As [`CallError`] says.
pub fn call(state: &Path, call: Call) -> Result<Reply, CallError> {
    let nobody = || CallError::Nobody { state: state.to_owned() };
    let text = std::fs::read_to_string(state.join(FILE)).map_err(|_| nobody())?;
    let (address, token) = text.trim().split_once(' ').ok_or_else(nobody)?;
    let mut stream = std::net::TcpStream::connect(address).map_err(|_| nobody())?;
    let line = serde_json::to_string(&Line { token: token.to_owned(), call }).map_err(|_| CallError::Gone)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(|_| CallError::Gone)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).map_err(|_| CallError::Gone)?;
    if answer.is_empty() {
        return Err(CallError::Gone);
    }
    serde_json::from_str(&answer).map_err(|_| CallError::Garbled { state: state.to_owned() })
}

//! What a node shows: one line that stays up to date where somebody watches, or JSON lines.

use super::Log;
use super::told::Told;
use dashboard::Judged;
use privacy::number::{Precision, down, up};
use runtime::driver::{Outcome, Phase, Status};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;

/// Pictures per second at most.
const PAUSE: Duration = Duration::from_millis(100);

/// Messages about the node's life go to stderr; where a person watches, only what they should act on.
pub(super) fn start_log(log: Log) {
    let default = match log {
        Log::Text => "warn",
        Log::Json => "info",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("MURMUR_LOG")
        .unwrap_or_else(|_| format!("{default},libp2p=error,libp2p_mdns=error").into());
    // Already set only in tests.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
}

/// Shows every change until the node ends.
pub(super) async fn show(
    mut status: watch::Receiver<Status>,
    judged: Option<watch::Receiver<Option<Judged>>>,
    log: Log,
) {
    let live = std::io::stderr().is_terminal();
    let lines = JsonLines::start();
    let mut last = String::new();
    let mut drawn = 0;
    loop {
        let picture = status.borrow_and_update().clone();
        match log {
            Log::Json => {
                let judged = judged.as_ref().and_then(|judged| *judged.borrow());
                lines.print(&Told { status: picture.clone(), judged });
            }
            Log::Text if live => drawn = redraw(&page(&picture), drawn),
            Log::Text => {
                let line = one_line(&picture);
                if line != last {
                    eprintln!("{line}");
                    last = line;
                }
            }
        }
        let next = tokio::time::Instant::now() + PAUSE;
        if status.changed().await.is_err() {
            return lines.finish().await;
        }
        tokio::select! {
            () = tokio::time::sleep_until(next) => {}
            // Somebody may be waiting for the address, to tell it to the others.
            _ = status.wait_for(|status| status.addresses != picture.addresses) => {}
        }
    }
}

/// JSON lines on stdout, from a thread of their own: a reader that does not read must not stop the training.
struct JsonLines {
    lines: std::sync::mpsc::SyncSender<String>,
    done: tokio::sync::oneshot::Receiver<()>,
}

impl JsonLines {
    /// Pictures that wait for the reader; what comes while they do is left out.
    const WAITING: usize = 4;
    /// How long the last ones may take.
    const FAREWELL: Duration = Duration::from_secs(1);

    fn start() -> Self {
        let (lines, incoming) = std::sync::mpsc::sync_channel::<String>(Self::WAITING);
        let (end, done) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            while let Ok(line) = incoming.recv() {
                let mut stdout = std::io::stdout().lock();
                // A reader that has gone is no reason to stop either.
                let _ = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
            }
            let _ = end.send(());
        });
        Self { lines, done }
    }

    fn print(&self, line: &Told) {
        if let Ok(mut line) = serde_json::to_string(line) {
            line.push('\n');
            let _ = self.lines.try_send(line);
        }
    }

    async fn finish(self) {
        drop(self.lines);
        let _ = tokio::time::timeout(Self::FAREWELL, self.done).await;
    }
}

/// Draws over the last picture; returns the number of lines.
fn redraw(text: &str, drawn: usize) -> usize {
    let mut stderr = std::io::stderr().lock();
    let up = if drawn > 0 { format!("\x1b[{drawn}A\x1b[J") } else { String::new() };
    let _ = write!(stderr, "{up}{text}");
    text.lines().count()
}

fn page(status: &Status) -> String {
    let mut text = format!("node       {}\n", status.me);
    for address in &status.addresses {
        text.push_str(&format!("listening  {address}\n"));
    }
    let position = status.position.map_or_else(String::new, |at| format!(", this is number {at}"));
    text.push_str(&format!("members    {} of {} here{position}\n", status.present, status.nodes));
    text.push_str(&format!("round      {} of {} ({})\n", status.round, status.rounds, phase(status.phase)));
    if let Some(loss) = status.loss {
        text.push_str(&format!("loss       {loss:.4} on own data\n"));
    }
    for (name, part) in &status.spent {
        let spent = up(100.0 * part, Precision::Decimals(1));
        let left = down(100.0 * (1.0 - part).max(0.0), Precision::Decimals(1));
        text.push_str(&format!("privacy    {spent} % spent, {left} % left of {name}\n"));
    }
    if let Some(notice) = &status.notice {
        text.push_str(&format!("notice     {notice}\n"));
    }
    text
}

fn one_line(status: &Status) -> String {
    let loss = status.loss.map_or_else(String::new, |loss| format!(", loss {loss:.4}"));
    let (present, nodes) = (status.present, status.nodes);
    format!(
        "{}: {present} of {nodes} here, round {} of {}{loss}",
        phase(status.phase),
        status.round,
        status.rounds
    )
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Gathering => "waiting for the others",
        Phase::Running => "running",
        Phase::Done => "done",
    }
}

/// Where the run stands at the end.
pub(super) fn farewell(outcome: &Outcome, state: &Path) {
    let status = &outcome.status;
    let what = if outcome.finished { "finished" } else { "stopped" };
    eprintln!(
        "{what} after round {} of {} with {} contributions on record; state in `{}`{}",
        status.round,
        status.rounds,
        status.recorded,
        state.display(),
        if outcome.finished { "" } else { ", the same command goes on" }
    );
}

/// What one can do with what there is now.
pub(super) fn next_steps(state: &Path, model: &Path) {
    let (state, model) = (state.display(), model.display());
    eprintln!(
        "\nnext: murmur report {state}\n      murmur predict {model} NEW.csv\n      murmur model show {model}"
    );
}

//! What a node shows: one line that stays up to date where somebody watches, or JSON lines.

use super::Log;
use super::told::Told;
use crate::output::say;
use ::report::Report;
use dashboard::{Cost, Figure, Judged};
use privacy::number::{Precision, given, up};
use runtime::Multiaddr;
use runtime::driver::{Outcome, Phase, Status};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Pictures per second at most.
const PAUSE: Duration = Duration::from_millis(100);

/// A line off a terminal comes so often at most, unless the node does something else.
const LINE_PAUSE: Duration = Duration::from_secs(10);

/// How much is said about the node's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Level {
    /// What stops the node
    Error,
    /// What a person should act on
    Warn,
    /// The node's life, at most a line per round
    Info,
    /// Every input and output
    Debug,
}

/// Messages about the node's life go to stderr with their time; where a person watches, only what they should act on.
pub(super) fn start_log(log: Log, level: Option<Level>) {
    let level = match (level, log) {
        (Some(Level::Error), _) => "error",
        (Some(Level::Warn), _) | (None, Log::Text) => "warn",
        (Some(Level::Info), _) | (None, Log::Json) => "info",
        (Some(Level::Debug), _) => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("MURMUR_LOG")
        .unwrap_or_else(|_| format!("{level},libp2p=error,libp2p_mdns=error").into());
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
    (log, mut cost): (Log, Cost),
) {
    let live = std::io::stderr().is_terminal();
    let lines = JsonLines::start();
    let mut last: Option<(Phase, Instant)> = None;
    let mut drawn = 0;
    loop {
        let picture = status.borrow_and_update().clone();
        match log {
            Log::Json => {
                let judged = judged.as_ref().and_then(|judged| *judged.borrow());
                lines.print(&Told { time: unix_seconds(), status: picture.clone(), judged });
            }
            Log::Text if live => drawn = redraw(&page(&picture, cost.figure(), width()), drawn),
            Log::Text => {
                let now = Instant::now();
                let due = last.is_none_or(|(phase, at)| phase != picture.phase || now - at >= LINE_PAUSE);
                if due {
                    say!("{} {}", clock(), one_line(&picture, cost.figure()));
                    last = Some((picture.phase, now));
                }
            }
        }
        let next = Instant::now() + PAUSE;
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
    let _ = write!(std::io::stderr().lock(), "{}", over(text, drawn));
    text.lines().count()
}

/// The signs that draw a picture over one of so many lines. Line by line: a screen that is cleared as a whole goes into the history of some terminals, picture by picture.
fn over(text: &str, drawn: usize) -> String {
    let up = if drawn > 0 { format!("\x1b[{drawn}A") } else { String::new() };
    let lines: String = text.lines().map(|line| format!("{line}\x1b[K\n")).collect();
    format!("{up}{lines}\x1b[J")
}

/// The picture, in lines that no terminal of this width breaks: a broken line would be drawn over in the wrong place.
fn page(status: &Status, cost: Option<&Figure>, width: usize) -> String {
    let mut lines = vec![format!("node       {}", status.me)];
    if let Some(name) = status.position.and_then(|at| status.names.get(&at)) {
        lines.push(format!("name       {name}"));
    }
    lines.extend(status.addresses.iter().map(|address| format!("listening  {}", short(address))));
    let position = status.position.map_or_else(String::new, |at| format!(", this is node {at}"));
    lines.push(format!("members    {} of {} here{position}{}", status.present, status.nodes, away(status)));
    lines.push(format!("round      {} of {} ({})", status.round, status.rounds, phase(status.phase)));
    if let Some(loss) = status.loss {
        lines.push(format!("loss       {loss:.4} on own data"));
    }
    lines.extend(current(status, cost).map(|figure| format!("privacy    {}", figure.words())));
    for (name, part) in &status.spent {
        let spent = up(100.0 * part, Precision::Decimals(1));
        lines.push(format!("limit      {spent} % by own count of {name}"));
    }
    if let Some(notice) = &status.notice {
        lines.push(format!("notice     {notice}"));
    }
    lines.iter().map(|line| fitted(line, width) + "\n").collect()
}

/// An address without the identity at its end, which stands in the first line.
fn short(address: &Multiaddr) -> String {
    let text = address.to_string();
    text.split_once("/p2p/").map_or(text.clone(), |(place, _)| place.to_owned())
}

/// `; away: node 0 (Zürich)`.
fn away(status: &Status) -> String {
    let Some(me) = status.position else { return String::new() };
    let gone = (0..status.nodes as u32).filter(|at| *at != me && !status.linked.contains(at));
    let called = |at: u32| {
        status.names.get(&at).map_or_else(|| format!("node {at}"), |name| format!("{name} (node {at})"))
    };
    let gone: Vec<String> = gone.map(called).collect();
    if gone.is_empty() || status.phase == Phase::Done {
        String::new()
    } else {
        format!("; away: {}", gone.join(", "))
    }
}

/// A line cut to fit.
fn fitted(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Columns of the terminal; eighty where it does not say.
fn width() -> usize {
    usize::from(console::Term::stderr().size().1).max(20)
}

/// The time of day, in UTC.
fn clock() -> String {
    let seconds = unix_seconds() % 86_400;
    format!("{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn unix_seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// What the run cost, unless it is over and the figure is of an earlier round: what stands below a picture says the rest.
fn current<'a>(status: &Status, cost: Option<&'a Figure>) -> Option<&'a Figure> {
    cost.filter(|figure| status.phase != Phase::Done || figure.round >= status.rounds)
}

fn one_line(status: &Status, cost: Option<&Figure>) -> String {
    let loss = status.loss.map_or_else(String::new, |loss| format!(", loss {loss:.4}"));
    let cost = current(status, cost).map_or_else(String::new, |figure| format!(", {}", figure.words()));
    // At the end the others go.
    let here = match status.phase {
        Phase::Done => String::new(),
        _ => format!("{} of {} here{}, ", status.present, status.nodes, away(status)),
    };
    format!("{}: {here}round {} of {}{loss}{cost}", phase(status.phase), status.round, status.rounds)
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Gathering => "waiting for the others",
        Phase::Running => "running",
        Phase::Done => "done",
    }
}

/// Where the run stands at the end, and what it cost.
pub(super) fn farewell(outcome: &Outcome, state: &Path, cost: Option<&Report>) {
    let status = &outcome.status;
    let done = outcome.finished && outcome.reached;
    let what = if done { "finished" } else { "stopped" };
    say!(
        "{what} after round {} of {} with {} contributions on record; state in `{}`{}",
        status.round.min(status.rounds),
        status.rounds,
        status.recorded,
        state.display(),
        if done { "" } else { ", the same command goes on" }
    );
    if let Some(report) = cost {
        say!("{}", cost_line(report));
    }
}

/// What a run cost, in one line.
fn cost_line(report: &Report) -> String {
    let (worst, local) = (&report.worst.figure, &report.local);
    let loss = |value: f64| up(value, Precision::Digits(4));
    if !report.private {
        return format!(
            "privacy: none ({})",
            report.guarantee.trim_start_matches("None: ").split(". ").next().unwrap_or_default()
        );
    }
    format!(
        "privacy: ε = {} at δ = {} towards any one member ({}), {} towards everybody together ({}), after round {}; {} protection",
        loss(worst.epsilon),
        given(report.delta),
        worst.analysis,
        loss(local.epsilon),
        local.analysis,
        report.rounds.curve.points.last().map_or(0, |point| point.round + 1),
        report.protection.word()
    )
}

/// What one can do with what there is now.
pub(super) fn next_steps(state: &Path, model: Option<&Path>) {
    say!("\nnext: murmur report {}", state.display());
    if let Some(model) = model.map(Path::display) {
        say!("      murmur predict {model} NEW.csv\n      murmur model show {model}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let me = runtime::identity::Identity::ephemeral().peer_id();
        let line = format!(
            r#"{{"me":"{me}","position":2,"phase":"running","nodes":4,"present":3,
            "addresses":["/ip4/192.168.100.200/tcp/45678/p2p/{me}"],"round":7,"rounds":20,"loss":0.5,"spent":[["ε = 4 at δ = 1e-5 (worst), this node's own limit (a bound: and so on)",0.24441]],
            "released":7,"recorded":7,"bytes":[1500000,0],"dropped":0,"notice":"{}"}}"#,
            "a long notice ".repeat(20)
        );
        let mut status: Status = serde_json::from_str(&line).unwrap();
        status.linked = vec![1, 3];
        status.names = [(0, "Zürich".to_owned())].into();
        status
    }

    #[test]
    fn a_picture_is_drawn_over_line_by_line_and_never_clears_a_whole_screen() {
        assert_eq!(over("a\nb\n", 0), "a\x1b[K\nb\x1b[K\n\x1b[J");
        // Up to the first line, which is written over; what is left of a longer picture goes at the end.
        assert_eq!(over("c\n", 2), "\x1b[2Ac\x1b[K\n\x1b[J");
    }

    #[test]
    fn no_line_of_the_screen_is_wider_than_the_terminal() {
        for width in [40, 80, 200] {
            let page = page(&status(), None, width);
            assert!(page.lines().all(|line| line.chars().count() <= width), "{page}");
        }
        let page = page(&status(), None, 80);
        assert!(page.contains("listening  /ip4/192.168.100.200/tcp/45678\n"), "{page}");
        assert!(page.contains("members    3 of 4 here, this is node 2; away: Zürich (node 0)\n"), "{page}");
        assert!(page.contains("limit      24.5 % by own count"), "{page}");
    }

    #[test]
    fn the_last_line_has_no_figure_of_an_earlier_round() {
        let mut over = status();
        (over.phase, over.round) = (Phase::Done, 20);
        let figure = |round| Figure { round, worst: 1.5, analysis: "masked".into() };
        assert_eq!(one_line(&over, Some(&figure(7))), "done: round 20 of 20, loss 0.5000");
        assert!(one_line(&over, Some(&figure(20))).ends_with("ε = 1.500 after round 20 (masked)"));
        assert!(one_line(&status(), Some(&figure(7))).contains("running: 3 of 4 here; away"));
        assert!(!page(&over, Some(&figure(7)), 80).contains("privacy"));
    }
}

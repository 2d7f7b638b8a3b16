//! A trainer in a process of its own: one socket as its stdin and stdout, one question at a time, and a deadline for all of a contribution.
//!
//! The process may hang, crash, be killed or talk nonsense; it is then ended and started anew for the next question. It can be denied the network
//! (`unshare -rn -- CMD`): it needs none. What it prints on stderr goes where the node's own does.

#[cfg(unix)]
mod live;
#[cfg(not(unix))]
#[path = "nowhere.rs"]
mod live;

use std::time::{Duration, Instant};

use protocol::work::external::{Answer, Ask, Hello, Trainer, Trouble};

use live::Live;

/// How long a trainer may take to say hello and to pass the first probes: it may have to load a library of gigabytes.
const START: Duration = Duration::from_secs(300);

/// A command, split as a shell would split it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command(Vec<String>);

impl std::str::FromStr for Command {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        words.map(Self).ok_or_else(|| {
            format!("`{text}` is no command: a program, then its arguments, in quotes where they hold blanks")
        })
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// A trainer that is a process.
pub struct Process {
    command: Command,
    hello: Hello,
    limit: Duration,
    deadline: Instant,
    live: Option<Live>,
    starts: u64,
    /// Whether the probes at the start are over.
    begun: bool,
    bytes: Vec<u8>,
}

impl Process {
    /// Starts it and hears its hello. From the first contribution on it has `limit` for the answers to one.
    ///
    /// # Errors
    /// It cannot be started, says nothing, or something else.
    pub fn start(command: Command, limit: Duration) -> Result<Self, Trouble> {
        let deadline = Instant::now() + START;
        let (live, hello) = Live::start(&command, deadline)?;
        Ok(Self {
            command,
            hello,
            limit,
            deadline,
            live: Some(live),
            starts: 1,
            begun: false,
            bytes: Vec::new(),
        })
    }

    /// Ends it now; the next question starts it anew.
    pub fn end(&mut self) {
        self.live = None;
    }

    fn live(&mut self) -> Result<Live, Trouble> {
        if let Some(live) = self.live.take() {
            return Ok(live);
        }
        self.starts += 1;
        let (live, hello) = Live::start(&self.command, self.deadline)?;
        if hello == self.hello { Ok(live) } else { Err(Trouble::Changed) }
    }
}

impl Trainer for Process {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn begin(&mut self) {
        // The first time it is for the probes at the start.
        let limit = if std::mem::replace(&mut self.begun, true) { self.limit } else { START };
        self.deadline = Instant::now() + limit;
    }

    fn starts(&self) -> u64 {
        self.starts
    }

    fn answer(&mut self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        let mut live = self.live()?;
        let answer = live.answer(ask, &mut self.bytes, self.deadline);
        // After an answer, or an error that it told, it waits for the next question; anything else ends it.
        if matches!(answer, Ok(_) | Err(Trouble::Said { .. })) {
            self.live = Some(live);
        }
        answer
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Process({})", self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let command: Command = "python3 'my trainer.py' --shard 0".parse().unwrap();
        assert_eq!(command.0, ["python3", "my trainer.py", "--shard", "0"]);
        assert!("".parse::<Command>().is_err() && "a 'b".parse::<Command>().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn programs_that_are_no_trainers_are_named_for_what_they_do() {
        let start = |text: &str| Process::start(text.parse().unwrap(), Duration::from_secs(1)).unwrap_err();
        assert!(matches!(start("/no/such/program"), Trouble::Start { .. }));
        assert!(matches!(start("true"), Trouble::Ended { .. }), "{:?}", start("true"));
        assert!(matches!(start("echo loading the model"), Trouble::Frame { .. }));
        let bad = start(r#"printf '\002\000\000\000{}'"#);
        assert!(matches!(bad, Trouble::Frame { .. }), "{bad:?}");
    }
}

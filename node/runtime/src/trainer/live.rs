//! A running process and the socket to it. Nothing waits beyond its deadline, and dropping it ends the process.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use protocol::work::external::{Answer, Ask, Hello, Said, Trouble, header_length};

use super::Command;

/// How long a process may take to end by itself once its input is closed.
const FAREWELL: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(10);
/// No wait is shorter: a socket takes no timeout of nothing.
const SHORTEST: Duration = Duration::from_millis(1);

/// A trainer that runs.
pub(super) struct Live {
    /// `None` once it is closed.
    stream: Option<UnixStream>,
    child: Child,
    since: Instant,
}

impl Live {
    /// Starts the command and hears its hello.
    pub(super) fn start(command: &Command, deadline: Instant) -> Result<(Self, Hello), Trouble> {
        let failed =
            |error: std::io::Error| Trouble::Start { command: command.to_string(), why: error.to_string() };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let copy = theirs.try_clone().map_err(failed)?;
        let child = std::process::Command::new(&command.0[0])
            .args(&command.0[1..])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(copy)))
            .spawn()
            .map_err(failed)?;
        let mut live = Self { stream: Some(ours), child, since: Instant::now() };
        let header = live.header(deadline)?;
        let hello = Said::parse_hello(&header)?;
        Ok((live, hello))
    }

    /// Asks and waits for the answer.
    pub(super) fn answer(
        &mut self,
        ask: &Ask<'_>,
        bytes: &mut Vec<u8>,
        deadline: Instant,
    ) -> Result<Answer, Trouble> {
        self.since = Instant::now();
        ask.encode(bytes);
        self.write(bytes, deadline)?;
        let said = Said::parse(&self.header(deadline)?)?;
        let length = ask.check(&said)?;
        bytes.clear();
        bytes.resize(length, 0);
        self.read(bytes, deadline)?;
        Ok(Answer::new(&said, bytes))
    }

    fn header(&mut self, deadline: Instant) -> Result<Vec<u8>, Trouble> {
        let mut length = [0; 4];
        self.read(&mut length, deadline)?;
        let mut header = vec![0; header_length(length)?];
        self.read(&mut header, deadline)?;
        Ok(header)
    }

    fn read(&mut self, mut room: &mut [u8], deadline: Instant) -> Result<(), Trouble> {
        while !room.is_empty() {
            let Some(stream) = &mut self.stream else { return Err(self.ended()) };
            let read = stream.set_read_timeout(Some(left(deadline))).and_then(|()| stream.read(room));
            let count = self.progress(read, deadline)?;
            room = &mut room[count..];
        }
        Ok(())
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), Trouble> {
        while !bytes.is_empty() {
            let Some(stream) = &mut self.stream else { return Err(self.ended()) };
            let written = stream.set_write_timeout(Some(left(deadline))).and_then(|()| stream.write(bytes));
            let count = self.progress(written, deadline)?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// How far one call came.
    fn progress(&mut self, done: std::io::Result<usize>, deadline: Instant) -> Result<usize, Trouble> {
        match done {
            Ok(0) => Err(self.ended()),
            Ok(_) if Instant::now() >= deadline => Err(self.silent()),
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(self.silent())
            }
            Err(_) => Err(self.ended()),
        }
    }

    fn silent(&self) -> Trouble {
        Trouble::Silent { seconds: self.since.elapsed().as_secs_f64() }
    }

    fn ended(&mut self) -> Trouble {
        let how = self.wait(FAREWELL).unwrap_or_else(|| "it closed its output and runs on".into());
        Trouble::Ended { how }
    }

    /// How it ended, if it did within this time.
    fn wait(&mut self, patience: Duration) -> Option<String> {
        let end = Instant::now() + patience;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status.to_string());
            }
            if Instant::now() >= end {
                return None;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(SHORTEST)
}

impl Drop for Live {
    fn drop(&mut self) {
        // End of file is how a trainer hears that it is no longer needed.
        self.stream = None;
        if self.wait(FAREWELL).is_none() {
            // It may have ended between the two.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

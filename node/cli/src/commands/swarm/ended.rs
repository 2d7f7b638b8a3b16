//! How the processes of a swarm ended, and what is said about it.

use crate::commands::node::stop::Asked;
use crate::failure::Failure;
use std::path::Path;
use std::process::ExitCode;

/// How the children ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) interrupted: bool,
    /// By which signal.
    pub(super) asked: Option<Asked>,
    /// Somebody did not want to wait any longer.
    pub(super) killed: bool,
    /// Bytes that all have sent.
    pub(super) bytes: u64,
    /// Nodes that ended before the run did, for a reason that was set.
    pub(super) early: Vec<usize>,
    /// Nodes that died, with their last words.
    pub(super) failed: Vec<(usize, String)>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Its run reached the end, or it was asked to stop.
    Well,
    /// For a reason that was set: a budget, a limit, `give_up`.
    Early,
    /// By an error, or killed.
    Died,
}

impl How {
    pub(super) fn of(status: std::io::Result<std::process::ExitStatus>) -> Self {
        match status.map(|status| status.code()) {
            Ok(Some(0)) => Self::Well,
            Ok(Some(1)) => Self::Early,
            Ok(_) | Err(_) => Self::Died,
        }
    }
}

impl Ended {
    pub(super) fn code(&self) -> ExitCode {
        match (self.asked, self.failed.is_empty(), self.early.is_empty()) {
            (Some(asked), ..) => ExitCode::from(asked.code()),
            (None, false, _) => ExitCode::from(2),
            (None, true, false) => ExitCode::from(1),
            (None, true, true) => ExitCode::SUCCESS,
        }
    }

    /// Who died, once where several died of the same.
    pub(super) fn told(&self) -> String {
        let mut told: Vec<(&str, Vec<String>)> = Vec::new();
        for (node, words) in &self.failed {
            match told.iter_mut().find(|(other, _)| other == words) {
                Some((_, nodes)) => nodes.push(node.to_string()),
                None => told.push((words, vec![node.to_string()])),
            }
        }
        let line = |(words, nodes): (&str, Vec<String>)| {
            let many = if nodes.len() == 1 { "" } else { "s" };
            format!("node{many} {} died; the last words:\n{words}", nodes.join(", "))
        };
        let early: Vec<String> = self.early.iter().map(usize::to_string).collect();
        let many = if early.len() == 1 { "" } else { "s" };
        let early = (!early.is_empty())
            .then(|| format!("node{many} {} ended before the run did; the logs say why\n", early.join(", ")));
        told.into_iter().map(line).chain(early).collect()
    }

    /// Why there is no log.
    pub(super) fn nothing(&self, folder: &Path) -> Failure {
        let text = match self.failed.first() {
            Some((node, words)) => {
                let words = if words.is_empty() { "    nothing\n" } else { words };
                format!("the run did not begin: node {node} died; its last words:\n{}", words.trim_end())
            }
            None => "the run did not begin".to_owned(),
        };
        Failure::new(text)
            .hint(format!("each node's messages are in `{}/nodes/*/stderr.log`", folder.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(words: [&str; 3]) -> Ended {
        let failed = words.iter().enumerate().map(|(node, &words)| (node, words.to_owned())).collect();
        Ended { failed, ..Ended::default() }
    }

    #[test]
    fn what_several_died_of_is_said_once() {
        let text = ended(["    error: a\n", "    error: b\n", "    error: a\n"]).told();
        assert_eq!(
            text,
            "nodes 0, 2 died; the last words:\n    error: a\nnode 1 died; the last words:\n    error: b\n"
        );
    }

    #[test]
    fn a_run_without_a_log_names_what_the_first_node_died_of() {
        let text = ended(["    error: no room\n"; 3]).nothing(Path::new("runs/x")).to_string();
        assert!(text.contains("node 0 died; its last words:\n    error: no room\n"), "{text}");
        assert!(text.contains("hint:") && text.contains("runs/x/nodes/*/stderr.log"), "{text}");
    }

    #[test]
    fn the_code_says_which_signal_ended_it() {
        let code = |ended: &Ended| format!("{:?}", ended.code());
        let is = |wanted: u8| format!("{:?}", ExitCode::from(wanted));
        assert_eq!(code(&Ended::default()), is(0));
        let mut ended = ended(["", "", ""]);
        assert_eq!(code(&ended), is(2), "a node died");
        assert_eq!(code(&Ended { early: vec![1], ..Ended::default() }), is(1), "one gave up");
        ended.asked = Some(Asked::Interrupt);
        assert_eq!(code(&ended), is(130));
        ended.asked = Some(Asked::Terminate);
        assert_eq!(code(&ended), is(143));
    }
}

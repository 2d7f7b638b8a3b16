//! One log of all nodes' logs.

use crate::failure::Result;
use protocol::folder::{self, LOG};
use protocol::log::{Log, ReadError};
use protocol::{LogLine, PeerIx, RunEvent, Time};
use report::Folder;
use std::io::ErrorKind;

/// Puts the logs of all nodes together, round by round, in the folder of the run. Lines of a node that cannot be read become a line that counts them: the merged
/// log does not claim to be whole.
pub(super) fn merge(folder: &mut Folder, nodes: usize) -> Result<Vec<LogLine>> {
    let mut logs: Vec<Log> = Vec::new();
    for node in 0..nodes {
        let path = folder::node(folder.path(), node).join(LOG);
        let log = match Log::open(&path) {
            Ok(log) => log,
            // A node that died, or was stopped, before it had anything to write.
            Err(ReadError::File { source, .. }) if source.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        // Every node writes the first line of the run; one is enough.
        let first = logs.iter().flat_map(|log| &log.lines).any(|line| line.node.is_none());
        logs.push(Log { lines: told(node as PeerIx, log, !first), lost: Vec::new() });
    }
    let lines = Log::of_several(logs).lines;
    lines.iter().for_each(|line| folder.append(line));
    folder.finish_log()?;
    Ok(lines)
}

/// The lines of a node, and at their end how many were lost.
fn told(node: PeerIx, log: Log, with_first: bool) -> Vec<LogLine> {
    let time = log.lines.last().map_or(Time::default(), |line| line.time);
    let count = u32::try_from(log.lost.len()).unwrap_or(u32::MAX);
    let lost = LogLine { time, node: Some(node), event: RunEvent::LostLines { count } };
    let lines = log.lines.into_iter().filter(|line| line.node.is_some() || with_first);
    lines.chain((count > 0).then_some(lost)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_of_a_node_s_log_is_told_by_the_merged_one() {
        let parent = tempfile::tempdir().unwrap();
        let mut run = Folder::create(parent.path(), "run", "").unwrap();
        let outside = |epoch| LogLine { time: Time(9), node: Some(0), event: RunEvent::Outside { epoch } };
        let write = |node: usize, bytes: &[u8]| {
            let folder = folder::node(run.path(), node);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(LOG), bytes).unwrap();
        };
        let text = |epoch| serde_json::to_string(&outside(epoch)).unwrap();
        // Node 0 lost two lines, one of them inside a letter; node 1 left nothing at all; node 2 nothing but a beginning.
        let cut = "{\"t\":3,\"node\":0,\"event\":\"refused\",\"round\":1,\"reason\":\"99 % of ε".as_bytes();
        let bytes =
            [text(1).as_bytes(), b"\n\xff\n", text(2).as_bytes(), b"\n", &cut[..cut.len() - 1]].concat();
        write(0, &bytes);
        write(2, b"{\"t\":3");
        let merged = merge(&mut run, 3).unwrap();
        let lost = |node, time, count| LogLine {
            time: Time(time),
            node: Some(node),
            event: RunEvent::LostLines { count },
        };
        assert_eq!(merged, [lost(2, 0, 1), outside(1), outside(2), lost(0, 9, 2)]);
        assert_eq!(Log::whole(&run.path().join(LOG)).unwrap(), merged);
    }
}

//! Whether this process has room for a node: files that it may open, and memory. Looked at before anything is begun, where the system says it.

use crate::failure::{Failure, Result};

/// Files of a node without links: its state, its log, its threads' pipes, a page.
const FILES: u64 = 20;
/// Memory of a node without a model, and the address space that its threads reserve beside it.
const MEMORY: u64 = 64 << 20;
const RESERVED: u64 = 256 << 20;
/// Memory of a process of a swarm on this machine, and of each of its links.
const PROCESS: u64 = 12 << 20;
const LINK: u64 = 48 << 10;
/// Models that a node holds for itself, and for each peer; of so many peers at a time.
const MODELS: u64 = 12;
const MODELS_OF_A_PEER: u64 = 3;
const PEERS: u64 = 16;

/// What there is at most; `None` where nothing says so.
#[derive(Debug, Default, Clone, Copy)]
struct Room {
    files: Option<u64>,
    address_space: Option<u64>,
    memory: Option<u64>,
}

/// Ends with a reason where the system allows too little for a swarm of so many nodes and a model of so many parameters.
pub(super) fn check(nodes: usize, parameters: usize) -> Result<()> {
    Room::of_this_process().is_enough(nodes as u64, parameters as u64)
}

/// Ends with a reason where so many nodes, each a process that links to all others, would take more memory than there is.
pub(crate) fn for_processes(nodes: usize) -> Result<()> {
    let read = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = read.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = free.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    are_enough(nodes as u64, free.map(|kib| kib << 10))
}

fn are_enough(nodes: u64, free: Option<u64>) -> Result<()> {
    let needed = nodes * (PROCESS + nodes * LINK);
    let Some(free) = free.filter(|&free| free < needed) else { return Ok(()) };
    let text = format!(
        "{nodes} processes, each with a link to every other, need about {} GB of memory, and {} GB are free",
        needed.div_ceil(1 << 30),
        free >> 30
    );
    Err(Failure::new(text).hint("`murmur sim` runs the same in one process, or use fewer `--nodes`"))
}

impl Room {
    fn of_this_process() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let limits = read("/proc/self/limits");
        let group = read("/proc/self/cgroup");
        let group = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
        let memory = ["/sys/fs/cgroup/memory.max".to_owned(), format!("/sys/fs/cgroup{group}/memory.max")];
        Self {
            files: soft(&limits, "Max open files"),
            address_space: soft(&limits, "Max address space"),
            memory: memory.iter().filter_map(|path| read(path).trim().parse().ok()).min(),
        }
    }

    fn is_enough(self, nodes: u64, parameters: u64) -> Result<()> {
        // Two that meet may call each other at once.
        let files = FILES + nodes + nodes / 4;
        if let Some(allowed) = self.files.filter(|&allowed| allowed < files) {
            let text =
                format!("this process may open {allowed} files, and a node among {nodes} needs {files}");
            return Err(Failure::new(text)
                .hint(format!("allow more before the start: `ulimit -n {}`", files.max(1024))));
        }
        let models = MODELS + MODELS_OF_A_PEER * nodes.saturating_sub(1).min(PEERS);
        let memory = MEMORY + models * 4 * parameters;
        let scarce = |allowed: Option<u64>, needed: u64, hint: &str| match allowed
            .filter(|&allowed| allowed < needed)
        {
            None => Ok(()),
            Some(allowed) => {
                let text = format!(
                    "this process may use {} MB of memory, and a node with a model of {parameters} numbers needs {}",
                    allowed >> 20,
                    needed >> 20
                );
                Err(Failure::new(text).hint(hint))
            }
        };
        scarce(
            self.memory,
            memory,
            "give its container or unit more memory (`MemoryMax=`, `resources.limits.memory`)",
        )?;
        scarce(self.address_space, memory + RESERVED, "allow more before the start: `ulimit -v unlimited`")
    }
}

/// The soft limit of this name, as Linux prints it.
fn soft(limits: &str, name: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_processes_than_a_machine_holds_are_refused_before_they_are_started() {
        let told = are_enough(920, Some(16 << 30)).unwrap_err().to_string();
        assert!(told.contains("920 processes") && told.contains("16 GB are free"), "{told}");
        assert!(told.contains("murmur sim"), "{told}");
        assert!(are_enough(64, Some(2 << 30)).is_ok() && are_enough(8, Some(1 << 30)).is_ok());
        assert!(are_enough(100_000, None).is_ok(), "nothing says otherwise");
    }

    #[test]
    fn too_little_is_said_with_what_is_needed() {
        let text = "Max open files            16                   4096                 files\n\
                    Max address space         unlimited            unlimited            bytes\n";
        assert_eq!((soft(text, "Max open files"), soft(text, "Max address space")), (Some(16), None));
        let room = |files, memory| Room { files, memory, address_space: None };
        let few = room(Some(16), None).is_enough(8, 100).unwrap_err().to_string();
        assert!(few.contains("16 files") && few.contains("needs 30") && few.contains("ulimit -n"), "{few}");
        let little = room(None, Some(100 << 20)).is_enough(8, 1_000_000).unwrap_err().to_string();
        assert!(little.contains("100 MB") && little.contains("1000000 numbers"), "{little}");
        assert!(room(Some(1024), Some(1 << 30)).is_enough(64, 1_000_000).is_ok());
        assert!(Room::default().is_enough(1000, 1 << 30).is_ok(), "nothing says otherwise");
    }
}

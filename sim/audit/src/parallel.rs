//! Many runs at once. Plain threads, not rayon's: a simulation waits for a thread pool of its own, and a rayon worker that waits takes up further runs on its stack.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::AuditError;

/// `make(0), make(1), …`, in this order, on so many threads (0: as many as there are cores); the first error by number ends it.
pub(crate) fn map<T: Send>(
    threads: usize,
    count: usize,
    make: impl Fn(u64) -> Result<T, AuditError> + Sync,
) -> Result<Vec<T>, AuditError> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads }.clamp(1, count.max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return made;
            }
            let one = make(index as u64);
            let failed = one.is_err();
            made.push((index, one));
            if failed {
                // Nobody needs the rest.
                next.store(count, Ordering::Relaxed);
            }
        }
    };
    let mut all: Vec<(usize, Result<T, AuditError>)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_threads() {
        for threads in [0, 1, 3] {
            let squares = map(threads, 100, |index| Ok(index * index)).unwrap();
            assert!(squares.iter().enumerate().all(|(index, &square)| square == (index * index) as u64));
        }
        assert!(map(2, 10, |index| if index == 4 { Err(AuditError::Alone) } else { Ok(()) }).is_err());
    }
}

//! The thread that writes the ledger, so that the disk never holds up the network.

use privacy::event::DpEvent;
use protocol::{Record, Snapshot};
use tokio::sync::mpsc;

use super::DriverError;
use crate::ledger::{Begun, Ledger, LedgerError};

/// What is to be kept.
enum Item {
    Begun(Begun),
    /// With the snapshot before it, where there is one that is not on disk.
    Record(Record, Option<Snapshot>),
    /// Records that were made and forgotten, each of which was this release.
    Forgotten(std::ops::Range<u64>, DpEvent),
    Finished(Option<Snapshot>),
    /// To be on disk when the answer comes.
    Promise(Snapshot, std::sync::mpsc::SyncSender<()>),
}

/// The near end of the thread. Items are written in the order in which they were given.
pub(crate) struct Keeper {
    items: std::sync::mpsc::Sender<Item>,
    /// Promises nothing, so it waits for the next record and costs no commit of its own.
    waiting: Option<Snapshot>,
    /// Numbers of records that are durable, or why nothing more can be kept.
    pub(crate) done: mpsc::Receiver<Result<u64, LedgerError>>,
    thread: std::thread::JoinHandle<()>,
}

impl Keeper {
    pub(crate) fn start(ledger: Ledger) -> std::io::Result<Self> {
        let (items, incoming) = std::sync::mpsc::channel::<Item>();
        let (report, done) = mpsc::channel(64);
        let keep = move || {
            while let Ok(item) = incoming.recv() {
                let answer = match &item {
                    Item::Begun(begun) => ledger.begin(begun).err().map(Err),
                    Item::Record(record, before) => {
                        Some(ledger.record(record, before.as_ref()).map(|()| record.id))
                    }
                    Item::Forgotten(missing, release) => {
                        ledger.forget(missing.clone(), release).err().map(Err)
                    }
                    Item::Finished(last) => ledger.finish(last.as_ref()).err().map(Err),
                    Item::Promise(snapshot, answer) => match ledger.save(snapshot) {
                        Ok(()) => {
                            let _ = answer.send(());
                            None
                        }
                        Err(error) => Some(Err(error)),
                    },
                };
                let failed = matches!(answer, Some(Err(_)));
                if answer.is_some_and(|answer| report.blocking_send(answer).is_err()) || failed {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("ledger".into()).spawn(keep)?;
        Ok(Self { items, waiting: None, done, thread })
    }

    /// In front of the first record, so durable before anything of the run is sent.
    pub(crate) fn begin(&self, begun: Begun) {
        self.give(Item::Begun(begun));
    }

    pub(crate) fn record(&mut self, record: Record) {
        let before = self.waiting.take();
        self.give(Item::Record(record, before));
    }

    /// In front of every later record.
    pub(crate) fn forgotten(&self, missing: std::ops::Range<u64>, release: DpEvent) {
        self.give(Item::Forgotten(missing, release));
    }

    /// To be on disk with the next record: after a crash in between, what the older one does not know is charged in full.
    pub(crate) fn save(&mut self, snapshot: Snapshot) {
        self.waiting = Some(snapshot);
    }

    /// The run is over: a restart has nothing left to do.
    pub(crate) fn finish(&mut self) {
        let last = self.waiting.take();
        self.give(Item::Finished(last));
    }

    /// Keeps a snapshot and waits until it is on disk; `false` where that failed, which the thread reports.
    pub(crate) fn save_now(&mut self, snapshot: Snapshot) -> bool {
        self.waiting = None;
        let (answer, done) = std::sync::mpsc::sync_channel(1);
        self.give(Item::Promise(snapshot, answer));
        done.recv().is_ok()
    }

    /// Why nothing more can be kept.
    pub(crate) fn failure(&mut self) -> DriverError {
        while let Ok(answer) = self.done.try_recv() {
            if let Err(error) = answer {
                return error.into();
            }
        }
        DriverError::Thread(std::io::Error::other("the thread of the ledger has ended"))
    }

    /// After a failure the thread is gone; its last answer stops the node.
    fn give(&self, item: Item) {
        let _ = self.items.send(item);
    }

    /// Writes everything, the last snapshot durably, and ends.
    ///
    /// # Errors
    /// What could not be written.
    pub(crate) async fn close(self, last: Option<Snapshot>) -> Result<(), LedgerError> {
        let Self { items, mut done, thread, .. } = self;
        if let Some(snapshot) = last {
            let (answer, _) = std::sync::mpsc::sync_channel(1);
            let _ = items.send(Item::Promise(snapshot, answer));
        }
        drop(items);
        let mut failure = Ok(());
        while let Some(answer) = done.recv().await {
            if let Err(error) = answer {
                failure = Err(error);
            }
        }
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        failure
    }
}

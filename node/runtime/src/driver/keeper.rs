//! The thread that writes the ledger, so that the disk never holds up the network.

use protocol::{Record, Snapshot};
use tokio::sync::mpsc;

use crate::ledger::{Begun, Ledger, LedgerError};

/// What is to be kept.
#[derive(Debug)]
enum Item {
    Begun(Begun),
    Record(Record),
    Snapshot(Snapshot),
    Last(Snapshot),
}

/// The near end of the thread. Items are written in the order in which they were given.
pub(crate) struct Keeper {
    items: std::sync::mpsc::Sender<Item>,
    /// Numbers of records that are durable, or why nothing more can be kept.
    pub(crate) done: mpsc::Receiver<Result<u64, LedgerError>>,
    thread: std::thread::JoinHandle<()>,
}

impl Keeper {
    pub(crate) fn start(ledger: Ledger) -> std::io::Result<Self> {
        let (items, incoming) = std::sync::mpsc::channel::<Item>();
        let (report, done) = mpsc::channel(16);
        let keep = move || {
            while let Ok(item) = incoming.recv() {
                let answer = match &item {
                    Item::Begun(begun) => ledger.begin(begun).err().map(Err),
                    Item::Record(record) => Some(ledger.record(record).map(|()| record.id)),
                    Item::Snapshot(snapshot) => ledger.save(snapshot).err().map(Err),
                    Item::Last(snapshot) => ledger.save_now(snapshot).err().map(Err),
                };
                let failed = matches!(answer, Some(Err(_)));
                if answer.is_some_and(|answer| report.blocking_send(answer).is_err()) || failed {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("ledger".into()).spawn(keep)?;
        Ok(Self { items, done, thread })
    }

    /// In front of the first record, so durable before anything of the run is sent.
    pub(crate) fn begin(&self, begun: Begun) {
        self.give(Item::Begun(begun));
    }

    pub(crate) fn record(&self, record: Record) {
        self.give(Item::Record(record));
    }

    pub(crate) fn save(&self, snapshot: Snapshot) {
        self.give(Item::Snapshot(snapshot));
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
        let Self { items, mut done, thread } = self;
        if let Some(snapshot) = last {
            let _ = items.send(Item::Last(snapshot));
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

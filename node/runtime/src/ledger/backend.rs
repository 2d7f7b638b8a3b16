//! Where the bytes of a ledger are: in its file, which is locked and for its owner only, or in memory, for looking at what may be damaged.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use crate::identity::owner_only;

/// Room that a damaged header may ask for beyond what is there; a repair needs some.
const MOST_GROWTH: u64 = 64 << 20;

/// The file, or a copy of its bytes.
#[derive(Debug)]
pub(super) struct Backend(Mutex<Place>);

#[derive(Debug)]
enum Place {
    File(File),
    Memory { bytes: Vec<u8>, most: u64 },
}

/// Why a file cannot be had.
#[derive(Debug)]
pub(super) enum Refused {
    InUse,
    Io(io::Error),
}

impl Backend {
    /// Opens a file for this process alone, made if it is not there, and reads what is in it.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<u8>), Refused> {
        let mut file = owner_only().read(true).write(true).create(true).open(path).map_err(Refused::Io)?;
        lock(file.try_lock())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Refused::Io)?;
        Ok((Self(Mutex::new(Place::File(file))), bytes))
    }

    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        let most = bytes.len() as u64 + MOST_GROWTH;
        Self(Mutex::new(Place::Memory { bytes, most }))
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a file that no other process writes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Refused> {
    let mut file = File::open(path).map_err(Refused::Io)?;
    lock(file.try_lock_shared())?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(Refused::Io)?;
    Ok(bytes)
}

fn lock(result: Result<(), TryLockError>) -> Result<(), Refused> {
    match result {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Refused::InUse),
        Err(TryLockError::Error(error)) => Err(Refused::Io(error)),
    }
}

/// The stretch of memory, if it is there.
fn stretch(bytes: &mut [u8], offset: u64, length: usize) -> io::Result<&mut [u8]> {
    let from = usize::try_from(offset).ok();
    let part = from.and_then(|from| bytes.get_mut(from..from.checked_add(length)?));
    part.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        match &*self.place() {
            Place::File(file) => Ok(file.metadata()?.len()),
            Place::Memory { bytes, .. } => Ok(bytes.len() as u64),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &mut *self.place() {
            Place::File(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.read_exact(out)
            }
            Place::Memory { bytes, .. } => {
                out.copy_from_slice(stretch(bytes, offset, out.len())?);
                Ok(())
            }
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        match &mut *self.place() {
            Place::File(file) => file.set_len(length),
            Place::Memory { most, .. } if length > *most => Err(io::ErrorKind::OutOfMemory.into()),
            Place::Memory { bytes, .. } => {
                bytes.resize(usize::try_from(length).map_err(io::Error::other)?, 0);
                Ok(())
            }
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        match &*self.place() {
            Place::File(file) => file.sync_data(),
            Place::Memory { .. } => Ok(()),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match &mut *self.place() {
            Place::File(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.write_all(data)
            }
            Place::Memory { bytes, .. } => {
                stretch(bytes, offset, data.len())?.copy_from_slice(data);
                Ok(())
            }
        }
    }
}

//! Whether the bytes of a ledger are whole. Looked at in memory, before anything reads or writes the file.
//!
//! redb keeps a checksum for each page, and asserts what damage can break: so the look is taken on a thread of its own, whose panic is an answer, and with
//! room for no more than the file can need.

use std::sync::Once;

use protocol::Record;
use redb::{Builder, Database, ReadableDatabase, ReadableTable, TableError};

use super::backend::Backend;
use super::{CACHE, META, RECORDS, SNAPSHOT, seal};

/// The thread on which damage may panic.
const THREAD: &str = "ledger check";

/// What a whole ledger says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// All records, in order.
    pub records: Vec<Record>,
    /// Whose it is, in words.
    pub owner: Option<String>,
    pub(super) begun: Option<Vec<u8>>,
    pub(super) forgotten: Option<Vec<u8>>,
    pub(super) header: Option<Vec<u8>>,
    pub(super) agreement: Option<Vec<u8>>,
    /// Whether the run was over for this node.
    pub finished: bool,
}

/// Reads a ledger from the bytes of its file; no bytes are an empty one.
///
/// # Guarantee
/// Either what was written last and was durable, or what is wrong: no record that was not written, and none left out but by an older state of the whole file.
/// Nothing that the bytes hold makes it panic.
///
/// # Errors
/// What is wrong, in words.
pub fn examine(bytes: Vec<u8>) -> Result<Contents, String> {
    if bytes.is_empty() {
        return Ok(Contents::default());
    }
    hush();
    let look = std::thread::Builder::new().name(THREAD.into()).spawn(move || look(bytes));
    match look.map_err(|error| error.to_string())?.join() {
        Ok(found) => found,
        Err(_) => Err("its pages contradict each other".into()),
    }
}

fn look(bytes: Vec<u8>) -> Result<Contents, String> {
    let opened = Builder::new().set_cache_size(CACHE).create_with_backend(Backend::of_bytes(bytes));
    // After a panic it is left alone: closing what is damaged could panic again.
    let mut database = std::mem::ManuallyDrop::new(opened.map_err(|error| error.to_string())?);
    match database.check_integrity() {
        Ok(true) => {}
        Ok(false) => return Err("pages do not match their checksums".into()),
        Err(error) => return Err(error.to_string()),
    }
    let found = contents(&database)?;
    drop(std::mem::ManuallyDrop::into_inner(database));
    Ok(found)
}

fn contents(database: &Database) -> Result<Contents, String> {
    let sealed = read(database).map_err(|error| error.to_string())?;
    let mut contents = sealed.1;
    for (at, (id, bytes)) in sealed.0.iter().enumerate() {
        if *id != at as u64 {
            return Err(format!("record {at} is missing"));
        }
        let text =
            seal::open(*id, bytes).ok_or_else(|| format!("record {id} does not match its checksum"))?;
        let record: Record =
            serde_json::from_slice(text).map_err(|error| format!("record {id} cannot be read: {error}"))?;
        if record.id != *id {
            return Err(format!("record {id} calls itself {}", record.id));
        }
        contents.records.push(record);
    }
    Ok(contents)
}

/// The records with their seals, and the rest.
type Raw = (Vec<(u64, Vec<u8>)>, Contents);

fn read(database: &Database) -> Result<Raw, redb::Error> {
    let transaction = database.begin_read()?;
    let records = match transaction.open_table(RECORDS) {
        Ok(table) => table
            .iter()?
            .map(|entry| entry.map(|(id, bytes)| (id.value(), bytes.value().to_vec())))
            .collect::<Result<_, _>>()?,
        Err(TableError::TableDoesNotExist(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let mut contents = Contents::default();
    match transaction.open_table(META) {
        Ok(meta) => {
            let bytes = |key| meta.get(key).map(|entry| entry.map(|bytes| bytes.value().to_vec()));
            contents.owner = bytes("owner")?.map(|text| String::from_utf8_lossy(&text).into_owned());
            contents.begun = bytes("begun")?;
            contents.forgotten = bytes("forgotten")?;
            contents.finished = bytes("finished")?.is_some();
        }
        Err(TableError::TableDoesNotExist(_)) => {}
        Err(error) => return Err(error.into()),
    }
    match transaction.open_table(SNAPSHOT) {
        Ok(saved) => {
            let bytes = |key| saved.get(key).map(|entry| entry.map(|bytes| bytes.value().to_vec()));
            (contents.header, contents.agreement) = (bytes("header")?, bytes("agreement")?);
        }
        Err(TableError::TableDoesNotExist(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok((records, contents))
}

/// What a damaged page makes redb assert is an answer here, and no news for the screen.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(THREAD) {
                before(panic);
            }
        }));
    });
}

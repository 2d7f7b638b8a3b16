//! Questions to a running swarm, as one member sees them: what it may tell ([`Rules`]), what it told ([`Book`]), what it tells from ([`Respondent`]), and the
//! door by which its owner asks ([`call`]). What is done with them is in the driver.

mod book;
mod door;
mod respondent;
mod rules;
mod said;

pub use book::{Book, BookError, Entry, Outcome, look};
pub use door::{Call, CallError, Reply, call};
pub(crate) use door::{Door, Wish};
pub(crate) use respondent::SCOPE;
pub use respondent::{Account, Respondent, Table};
pub use rules::{Agreed, Decline, Rules};
pub(crate) use said::LONGEST;
pub use said::{Known, Offer, Opinion, Said};

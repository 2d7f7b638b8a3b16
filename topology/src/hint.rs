//! What somebody who meets an error could try.

/// An error that may know what to try; one signature in all crates, and one way from it to the person.
pub trait Hint: std::error::Error {
    /// What the user could do, where there is something to say.
    fn hint(&self) -> Option<String>;
}

/// The system says what went wrong; where it did, the caller adds.
impl Hint for std::io::Error {
    fn hint(&self) -> Option<String> {
        None
    }
}

//! The `murmur` binary.
fn main() {}

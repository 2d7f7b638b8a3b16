//! Datagrams beside the stream of a link, for small frames where packets get lost.
//!
//! The system waits at least 200 ms before it sends again what a TCP connection lost, and twice as long each time, whatever the round trip is. So when the peer asks for something
//! that it should have (a nudge), both ends open a UDP socket, tell each other over the link where it is and a fresh key, and try the way with a few packets. If some get lost and
//! some come back, frames of up to 17 KiB go as datagrams from then on, are said again after about two round trips, and twice at once where much gets lost. They stay in order. A frame of the
//! stream waits until those before it have come as datagrams; a datagram's waits for the stream for a moment only, since that may hang for many seconds. If for a second nothing comes through, what is missing
//! goes over the stream.
//!
//! # Guarantee
//! What is said is sealed under keys that only the two ends of the channel have, one for each direction, and every datagram has a number of its own. Who sends datagrams without the key
//! gets no answer and costs one decryption each; one that is sent again by somebody else changes nothing but where answers go, until the next.

mod hub;
mod pace;
mod packet;
mod sending;
mod socket;
#[cfg(test)]
mod tests;
mod trial;
mod whole;

pub(super) use hub::{Beside, Way, is_in_order};

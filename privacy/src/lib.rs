//! Mechanisms, events and accountants.

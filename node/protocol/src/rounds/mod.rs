//! Stub.
use crate::Time;
use crate::core::Core;
use crate::node::{Input, Snapshot};
use crate::settings::Settings;

pub(crate) struct Rounds {}

impl Rounds {
    pub(crate) fn new(_settings: &Settings) -> Self {
        Self {}
    }
    pub(crate) fn restore(&mut self, _snapshot: &Snapshot) {}
    pub(crate) fn handle(&mut self, _core: &mut Core, _input: Input) {}
    pub(crate) fn wake_at(&self) -> Option<Time> {
        None
    }
    pub(crate) fn model(&self) -> &[f32] {
        &[]
    }
    pub(crate) fn round(&self) -> u32 {
        0
    }
}

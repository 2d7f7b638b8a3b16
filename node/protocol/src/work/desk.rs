//! Where a node's contributions are made: its place, its state, and buffers that it may share with others.

use learn::gradient::Workspace;
use learn::model::Model;

use super::NodeState;
use crate::PeerIx;

/// The place of one node while it makes a contribution.
#[derive(Debug)]
pub struct Desk<'a> {
    /// Which node of this process, from 0.
    pub node: usize,
    /// Its place among all nodes of the run.
    pub position: PeerIx,
    /// Buffers.
    pub room: &'a mut Room,
    /// What the node keeps from one contribution to the next.
    pub state: &'a mut NodeState,
}

/// Buffers for the contributions of one model, made when they are first needed. Nodes that work one after the other share them.
pub struct Room {
    lanes: usize,
    workspace: Option<Workspace>,
}

impl Default for Room {
    /// One lane, in every driver: another number rounds differently.
    fn default() -> Self {
        Self::with_lanes(1)
    }
}

impl Room {
    /// Buffers with so many lanes, at most [`MOST_LANES`](super::MOST_LANES).
    pub fn with_lanes(lanes: usize) -> Self {
        Self { lanes, workspace: None }
    }

    /// The buffers for `model`: the same model whenever it is asked.
    pub fn workspace(&mut self, model: &dyn Model) -> &mut Workspace {
        self.workspace.get_or_insert_with(|| Workspace::with_lanes(model, self.lanes))
    }

    /// Memory of a vector of the model's length that nobody needs any more.
    pub fn recycle(&mut self, values: Vec<f32>) {
        if let Some(workspace) = &mut self.workspace {
            workspace.recycle(values);
        }
    }
}

/// Buffers hold what is private: they are never printed.
impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Room({} lanes)", self.lanes)
    }
}

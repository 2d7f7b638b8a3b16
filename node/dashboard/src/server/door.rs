//! Who is connected. Nobody waits for whoever says nothing: a newcomer takes the place of the one that has been silent longest.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Connections at a time.
const MOST: usize = 128;
/// Of one address; a proxy has one.
const MOST_OF_ONE: usize = 64;

/// All connections.
#[derive(Debug, Clone, Default)]
pub(super) struct Door(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    /// In the order in which they came.
    visitors: BTreeMap<u64, Visitor>,
    next: u64,
    left: Arc<Notify>,
}

/// One connection, as requests on it see it.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// Where it comes from.
    pub(super) address: IpAddr,
    /// Whether a request on it was answered with more than a refusal.
    admitted: Arc<AtomicBool>,
    leave: Arc<Notify>,
}

/// A connection's place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    door: Door,
    id: u64,
    pub(super) visitor: Visitor,
}

impl Door {
    /// A place for somebody from this address, if one is free or can be freed.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Place> {
        let mut inside = self.inside();
        let of_one = inside.visitors.values().filter(|visitor| visitor.address == address).count();
        if of_one >= MOST_OF_ONE {
            inside.free(|visitor| visitor.address == address)?;
        } else if inside.visitors.len() >= MOST {
            inside.free(|_| true)?;
        }
        let id = inside.next;
        inside.next += 1;
        let visitor = Visitor { address, admitted: Arc::default(), leave: Arc::default() };
        inside.visitors.insert(id, visitor.clone());
        Some(Place { door: self.clone(), id, visitor })
    }

    /// Ready when everybody has left.
    pub(super) async fn until_empty(&self) {
        loop {
            let left = Arc::clone(&self.inside().left);
            if self.inside().visitors.is_empty() {
                return;
            }
            left.notified().await;
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Sends the oldest of those away that were never let in.
    fn free(&mut self, among: impl Fn(&Visitor) -> bool) -> Option<()> {
        let idle = |visitor: &Visitor| !visitor.is_admitted() && among(visitor);
        let id = self.visitors.iter().find_map(|(&id, visitor)| idle(visitor).then_some(id))?;
        self.visitors.remove(&id)?.leave.notify_one();
        Some(())
    }
}

impl Visitor {
    /// Remembers that it may see the page.
    pub(super) fn admit(&self) {
        self.admitted.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_admitted(&self) -> bool {
        self.admitted.load(Ordering::Relaxed)
    }

    /// Ready when somebody else needs the place.
    pub(super) async fn must_leave(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inside = self.door.inside();
        inside.visitors.remove(&self.id);
        inside.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn the_silent_make_room_and_visitors_stay() {
        let door = Door::default();
        let visitors: Vec<Place> = (0..10).map(|_| door.enter(HERE).unwrap()).collect();
        visitors.iter().for_each(|place| place.visitor.admit());
        let idle: Vec<Place> = (0..1000).map(|_| door.enter(HERE).unwrap()).collect();
        assert_eq!(door.inside().visitors.len(), MOST_OF_ONE);
        let inside = door.inside();
        assert!(visitors.iter().all(|place| inside.visitors.contains_key(&place.id)));
        assert!(inside.visitors.contains_key(&idle.last().unwrap().id));
        assert!(!inside.visitors.contains_key(&idle[0].id));
        drop(inside);
        let other: IpAddr = "10.0.0.1".parse().unwrap();
        assert!(door.enter(other).is_some());
        drop((idle, visitors));
        assert!(door.inside().visitors.is_empty());
    }

    #[test]
    fn where_all_are_visitors_a_newcomer_is_not_let_in() {
        let door = Door::default();
        let places: Vec<Place> = (0..MOST_OF_ONE).map(|_| door.enter(HERE).unwrap()).collect();
        places.iter().for_each(|place| place.visitor.admit());
        assert!(door.enter(HERE).is_none());
    }
}

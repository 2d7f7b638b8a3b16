//! What is still to happen in one shard: buckets as wide as a window, in order of time.

use std::collections::BTreeMap;

use protocol::PeerIx;

use crate::parcel::{Event, Parcel};

/// What happens in one window.
#[derive(Default)]
pub(crate) struct Bucket {
    /// Arrivals, in the order in which they were filed.
    pub(crate) parcels: Vec<Parcel>,
    /// Whether the last parcel was put together here, from parts of others.
    gathers: bool,
    /// Nodes of the shard that have something to do by themselves.
    pub(crate) visits: Vec<u32>,
}

impl Bucket {
    /// How many messages arrive.
    fn arrivals(&self) -> usize {
        self.parcels.iter().map(|parcel| parcel.events.len()).sum()
    }

    /// Whether all messages arrive at the same time, as they do where latency is constant and nodes work in step.
    fn is_of_one_moment(&self) -> bool {
        let mut times = self.parcels.iter().map(|parcel| (parcel.first, parcel.last));
        times.next().is_none_or(|(first, last)| first == last && times.all(|time| time == (first, last)))
    }
}

/// Where in a bucket an arrival is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    parcel: u32,
    index: u32,
}

impl Place {
    pub(crate) fn of(self, parcels: &[Parcel]) -> &Event {
        &parcels[self.parcel as usize].events[self.index as usize]
    }

    pub(crate) fn of_mut(self, parcels: &mut [Parcel]) -> &mut Event {
        &mut parcels[self.parcel as usize].events[self.index as usize]
    }
}

/// Buckets by the number of their window.
#[derive(Default)]
pub(crate) struct Calendar {
    buckets: BTreeMap<u64, Bucket>,
    /// Emptied lists of parcels that keep their memory: only of buckets with arrivals, since those of visits far ahead are many.
    spare: Vec<Vec<Parcel>>,
}

/// Spare lists kept: with a constant latency one is enough.
const SPARE: usize = 2;

impl Calendar {
    /// Files a parcel: as a whole where all of it arrives in one window, as it nearly always does, else piece by piece. What is left of it comes
    /// back to be used again.
    pub(crate) fn file(&mut self, mut parcel: Parcel, window: u64) -> Option<Parcel> {
        let number = parcel.first / window;
        if parcel.last / window == number {
            let bucket = self.bucket(number);
            bucket.parcels.push(parcel);
            bucket.gathers = false;
            return None;
        }
        for event in parcel.events.drain(..) {
            let bucket = self.bucket(event.time / window);
            if !std::mem::replace(&mut bucket.gathers, true) {
                bucket.parcels.push(Parcel::default());
            }
            bucket.parcels.last_mut().expect("a parcel that gathers").push(event);
        }
        Some(parcel.emptied())
    }

    fn bucket(&mut self, number: u64) -> &mut Bucket {
        let bucket = self.buckets.entry(number).or_default();
        if bucket.parcels.capacity() == 0 {
            bucket.parcels = self.spare.pop().unwrap_or_default();
        }
        bucket
    }

    /// Lets a node be visited in a window.
    pub(crate) fn visit(&mut self, number: u64, local: u32) {
        self.buckets.entry(number).or_default().visits.push(local);
    }

    /// The first window with something in it.
    pub(crate) fn next(&self) -> Option<u64> {
        self.buckets.first_key_value().map(|(&number, _)| number)
    }

    /// Takes what happens in a window.
    pub(crate) fn take(&mut self, number: u64) -> Option<Bucket> {
        self.buckets.remove(&number)
    }

    /// How much happens in a window: arrivals and visits.
    pub(crate) fn load(&self, number: u64) -> (usize, usize) {
        self.buckets.get(&number).map_or((0, 0), |bucket| (bucket.arrivals(), bucket.visits.len()))
    }

    /// Takes an emptied list of parcels back, to use its memory again.
    pub(crate) fn recycle(&mut self, parcels: Vec<Parcel>) {
        if self.spare.len() < SPARE && parcels.capacity() > 0 {
            self.spare.push(parcels);
        }
    }
}

/// Orders the arrivals of one bucket by node, then by time, then as they were filed; one pass, no comparison of nodes.
#[derive(Default)]
pub(crate) struct Grouping {
    counts: Vec<u32>,
    seen: Vec<bool>,
    /// Nodes with an arrival or a visit, rising.
    pub(crate) touched: Vec<u32>,
    /// Places of arrivals in the bucket, grouped by node.
    pub(crate) order: Vec<Place>,
    /// Where each touched node's group ends in `order`.
    pub(crate) ends: Vec<u32>,
}

impl Grouping {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { counts: vec![0; nodes], seen: vec![false; nodes], ..Self::default() }
    }

    /// Groups the bucket of a shard whose first node is `first`.
    pub(crate) fn group(&mut self, bucket: &Bucket, first: PeerIx) {
        self.touched.clear();
        let senders = bucket.parcels.iter().flat_map(|parcel| &parcel.events);
        for local in senders.map(|event| event.to - first) {
            self.counts[local as usize] += 1;
            self.touch(local);
        }
        bucket.visits.iter().for_each(|&local| self.touch(local));
        self.order_touched();
        let mut end = 0;
        for &local in &self.touched {
            // From here on the count of a node is the place of its next arrival.
            let count = std::mem::replace(&mut self.counts[local as usize], end);
            end += count;
        }
        self.order.clear();
        self.order.resize(end as usize, Place::default());
        for (parcel, from) in bucket.parcels.iter().enumerate() {
            for (index, event) in from.events.iter().enumerate() {
                let at = &mut self.counts[(event.to - first) as usize];
                self.order[*at as usize] = Place { parcel: parcel as u32, index: index as u32 };
                *at += 1;
            }
        }
        self.close_groups(bucket);
    }

    /// Notes where groups end and brings each in the order of time; removes all traces.
    fn close_groups(&mut self, bucket: &Bucket) {
        let in_order = bucket.is_of_one_moment();
        self.ends.clear();
        let mut start = 0;
        for &local in &self.touched {
            let end = std::mem::take(&mut self.counts[local as usize]);
            self.seen[local as usize] = false;
            let group = &mut self.order[start as usize..end as usize];
            let time = |place: &Place| place.of(&bucket.parcels).time;
            if !in_order && !group.is_sorted_by_key(time) {
                group.sort_unstable_by_key(|place| (time(place), *place));
            }
            self.ends.push(end);
            start = end;
        }
    }

    fn touch(&mut self, local: u32) {
        if !std::mem::replace(&mut self.seen[local as usize], true) {
            self.touched.push(local);
        }
    }

    fn order_touched(&mut self) {
        if 4 * self.touched.len() < self.seen.len() {
            self.touched.sort_unstable();
        } else {
            let seen = self.seen.iter().enumerate().filter(|&(_, &seen)| seen);
            self.touched.clear();
            self.touched.extend(seen.map(|(local, _)| local as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Body, Message, RunId};

    use super::*;

    fn parcel(arrivals: &[(u64, PeerIx, PeerIx)]) -> Parcel {
        let mut parcel = Parcel::default();
        for &(time, from, to) in arrivals {
            let message = Message { run: RunId(0), round: 0, step: 0, body: Body::Nudge, numbers: None };
            parcel.push(Event { time, from, to, message });
        }
        parcel
    }

    fn times(bucket: &Bucket) -> Vec<u64> {
        bucket.parcels.iter().flat_map(|parcel| &parcel.events).map(|event| event.time).collect()
    }

    #[test]
    fn arrivals_are_filed_by_window_and_windows_come_in_order() {
        let mut calendar = Calendar::default();
        let rest = calendar.file(parcel(&[(25, 0, 1), (9, 0, 1), (10, 0, 1), (19, 0, 1)]), 10);
        assert!(rest.is_some_and(|rest| rest.events.is_empty()));
        assert!(calendar.file(parcel(&[(12, 0, 1), (11, 0, 1)]), 10).is_none());
        calendar.file(parcel(&[(13, 0, 1), (21, 0, 1)]), 10);
        calendar.visit(1, 7);
        assert_eq!(calendar.next(), Some(0));
        assert_eq!(times(&calendar.take(0).unwrap()), [9]);
        assert_eq!(calendar.load(1), (5, 1));
        let bucket = calendar.take(1).unwrap();
        assert_eq!(times(&bucket), [10, 19, 12, 11, 13]);
        calendar.recycle(bucket.parcels);
        assert_eq!((calendar.next(), calendar.load(2)), (Some(2), (2, 0)));
    }

    #[test]
    fn groups_are_by_node_then_time_then_filing() {
        let parcels = vec![parcel(&[(5, 0, 12), (3, 1, 11)]), parcel(&[(5, 2, 12), (4, 3, 12), (3, 4, 11)])];
        let bucket = Bucket { parcels, visits: vec![3, 1, 3], ..Bucket::default() };
        let mut grouping = Grouping::new(8);
        // Twice: the second use must find the first one's traces removed.
        for _ in 0..2 {
            grouping.group(&bucket, 10);
            assert_eq!(grouping.touched, [1, 2, 3]);
            assert_eq!(grouping.ends, [2, 5, 5]);
            let senders: Vec<_> = grouping.order.iter().map(|place| place.of(&bucket.parcels).from).collect();
            assert_eq!(senders, [1, 4, 3, 0, 2]);
        }
    }
}

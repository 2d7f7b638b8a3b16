//! What is still to happen in one shard: buckets as wide as a window, in order of time.

use std::collections::BTreeMap;

use protocol::{Message, PeerIx};

/// A message on its way.
pub(crate) struct Event {
    /// When it arrives, in microseconds.
    pub(crate) time: u64,
    pub(crate) from: PeerIx,
    pub(crate) to: PeerIx,
    pub(crate) message: Message,
}

// A million nodes have millions of these in flight.
const _: () = assert!(size_of::<Event>() <= 96);

/// What happens in one window.
#[derive(Default)]
pub(crate) struct Bucket {
    /// Arrivals, in the order in which they were filed.
    pub(crate) events: Vec<Event>,
    /// Nodes of the shard that have something to do by themselves.
    pub(crate) visits: Vec<u32>,
}

/// Buckets by the number of their window.
#[derive(Default)]
pub(crate) struct Calendar {
    buckets: BTreeMap<u64, Bucket>,
    /// Emptied lists of arrivals that keep their memory: only for buckets with arrivals, since those of visits far ahead are many.
    spare: Vec<Vec<Event>>,
}

/// Spare lists kept: with a constant latency one is enough.
const SPARE: usize = 2;

impl Calendar {
    /// Moves all `events` to their buckets, in order.
    pub(crate) fn file(&mut self, events: &mut Vec<Event>, window: u64) {
        let mut rest = events.drain(..).peekable();
        while let Some(first) = rest.next() {
            let number = first.time / window;
            let list = &mut self.buckets.entry(number).or_default().events;
            if list.capacity() == 0 {
                *list = self.spare.pop().unwrap_or_default();
            }
            list.push(first);
            // Runs of the same window, nearly always the whole parcel, look the bucket up once.
            while let Some(next) = rest.next_if(|event| event.time / window == number) {
                list.push(next);
            }
        }
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
        self.buckets.get(&number).map_or((0, 0), |bucket| (bucket.events.len(), bucket.visits.len()))
    }

    /// Takes an emptied bucket back, to use its memory again.
    pub(crate) fn recycle(&mut self, mut bucket: Bucket) {
        if self.spare.len() < SPARE && bucket.events.capacity() > 0 {
            bucket.events.clear();
            self.spare.push(bucket.events);
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
    /// Positions of arrivals in the bucket, grouped by node.
    pub(crate) order: Vec<u32>,
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
        let nodes = bucket.visits.iter().copied().chain(bucket.events.iter().map(|event| event.to - first));
        for local in nodes {
            if !std::mem::replace(&mut self.seen[local as usize], true) {
                self.touched.push(local);
            }
        }
        bucket.events.iter().for_each(|event| self.counts[(event.to - first) as usize] += 1);
        self.order_touched();
        let mut end = 0;
        for &local in &self.touched {
            // From here on the count of a node is the place of its next arrival.
            let count = std::mem::replace(&mut self.counts[local as usize], end);
            end += count;
        }
        self.order.clear();
        self.order.resize(bucket.events.len(), 0);
        for (position, event) in bucket.events.iter().enumerate() {
            let place = &mut self.counts[(event.to - first) as usize];
            self.order[*place as usize] = position as u32;
            *place += 1;
        }
        self.ends.clear();
        let mut start = 0;
        for &local in &self.touched {
            let end = std::mem::take(&mut self.counts[local as usize]);
            self.seen[local as usize] = false;
            let group = &mut self.order[start as usize..end as usize];
            if !group.is_sorted_by_key(|&position| bucket.events[position as usize].time) {
                group.sort_unstable_by_key(|&position| (bucket.events[position as usize].time, position));
            }
            self.ends.push(end);
            start = end;
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
    use protocol::{Body, RunId};

    use super::*;

    fn event(time: u64, from: PeerIx, to: PeerIx) -> Event {
        Event { time, from, to, message: Message { run: RunId(0), round: 0, step: 0, body: Body::Nudge } }
    }

    #[test]
    fn arrivals_are_filed_by_window_and_windows_come_in_order() {
        let mut calendar = Calendar::default();
        calendar.file(&mut vec![event(25, 0, 1), event(9, 0, 1), event(10, 0, 1), event(19, 0, 1)], 10);
        calendar.visit(1, 7);
        assert_eq!(calendar.next(), Some(0));
        assert_eq!(calendar.take(0).unwrap().events.len(), 1);
        assert_eq!(calendar.load(1), (2, 1));
        let bucket = calendar.take(1).unwrap();
        assert_eq!(bucket.events.iter().map(|event| event.time).collect::<Vec<_>>(), [10, 19]);
        calendar.recycle(bucket);
        assert_eq!((calendar.next(), calendar.load(2)), (Some(2), (1, 0)));
    }

    #[test]
    fn groups_are_by_node_then_time_then_filing() {
        let mut bucket = Bucket { events: Vec::new(), visits: vec![3, 1, 3] };
        for (time, from, to) in [(5, 0, 12), (3, 1, 11), (5, 2, 12), (4, 3, 12), (3, 4, 11)] {
            bucket.events.push(event(time, from, to));
        }
        let mut grouping = Grouping::new(8);
        // Twice: the second use must find the first one's traces removed.
        for _ in 0..2 {
            grouping.group(&bucket, 10);
            assert_eq!(grouping.touched, [1, 2, 3]);
            assert_eq!(grouping.ends, [2, 5, 5]);
            let senders: Vec<_> =
                grouping.order.iter().map(|&position| bucket.events[position as usize].from).collect();
            assert_eq!(senders, [1, 4, 3, 0, 2]);
        }
    }
}

//! One node and what the driver keeps for it: its clock, its work, its ledger, its line.

use protocol::work::{Desk, Job, NodeState, Room, Work};
use protocol::{Body, Input, Message, Node, Output, PeerIx, Recipients, RunEvent, Snapshot, Time};

use crate::availability::Outage;
use crate::calendar::Place;
use crate::error::SimError;
use crate::hooks::{Delivery, Due};
use crate::hostile::Attack;
use crate::links::{Fate, LinkStream};
use crate::parcel::{Event, Parcel};
use crate::report::{Line, Outbox, Said};
use crate::world::World;

/// The end of time: never.
const NEVER: u64 = u64::MAX;

/// What a slot may use while it runs.
pub(crate) struct Context<'a, 'w> {
    pub(crate) world: &'a World<'w>,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) report: &'a mut Said,
    /// Buffers of the thread.
    pub(crate) room: &'a mut Room,
}

/// One participant in the simulator.
///
/// Invariants: time does not go back; while `node` is `None` nothing happens but the return; `ledger` survives crashes.
pub(crate) struct Slot {
    me: PeerIx,
    /// Times that it has started after a crash.
    life: u32,
    node: Option<Node>,
    /// Contributions under way, with the time when each is due.
    jobs: Vec<(u64, Job)>,
    now: u64,
    /// Paused until then.
    away_until: u64,
    start_at: u64,
    /// When it was last told that time has passed.
    ticked: u64,
    /// Window of the visit that is in the calendar.
    pub(crate) visit: u64,
    busy_until: u64,
    compute: u64,
    pub(crate) bytes: u64,
    /// Records that are durable.
    pub(crate) ledger: u64,
    /// What its contributions keep, which is durable too.
    state: NodeState,
    /// `Released` lines so far.
    released: u64,
    contributions: u32,
    /// Round of the contribution that was asked for and is not recorded.
    unrecorded: Option<u32>,
    links: LinkStream,
    special: Option<Box<Special>>,
}

/// What only some nodes have.
pub(crate) struct Special {
    /// To come, the next one last.
    outages: Vec<Outage>,
    attacks: Vec<Attack>,
    snapshot: Option<Snapshot>,
}

impl Special {
    /// A node with these outages, the first one last, and these ways to misbehave.
    pub(crate) fn new(outages: Vec<Outage>, attacks: Vec<Attack>) -> Self {
        Self { outages, attacks, snapshot: None }
    }

    /// Whether the node will lose its memory, so that what it saves is needed.
    fn will_crash(&self) -> bool {
        self.outages.iter().any(|outage| !outage.pause)
    }
}

/// What a node does next by itself.
#[derive(Clone, Copy)]
enum Next {
    Outage,
    Start,
    Computed(usize),
    Tick,
}

impl Slot {
    pub(crate) fn new(me: PeerIx, world: &World<'_>, slowness: f64, special: Option<Box<Special>>) -> Self {
        let node = Node::new(me, world.hook.settings(world.setup, me), world.message_noise(me, 0));
        let node = world.with_masks(node, me, 0);
        let will_crash = special.as_deref().is_some_and(Special::will_crash);
        Self {
            me,
            life: 0,
            node: Some(if will_crash { node } else { node.without_saving() }),
            jobs: Vec::new(),
            now: 0,
            away_until: 0,
            start_at: 0,
            ticked: NEVER,
            visit: NEVER,
            busy_until: 0,
            compute: (world.faults().compute as f64 * slowness) as u64,
            bytes: 0,
            ledger: 0,
            state: NodeState::default(),
            released: 0,
            contributions: 0,
            unrecorded: None,
            links: None,
            special,
        }
    }

    /// The model, while the node has not crashed.
    pub(crate) fn model(&self) -> Option<&[f32]> {
        self.node.as_ref().map(Node::model)
    }

    /// Whether the node came to the end of the run.
    pub(crate) fn has_reached_the_end(&self) -> bool {
        self.node.as_ref().is_some_and(Node::has_reached_the_end)
    }

    /// Frees the node and gives its model; empty after a crash.
    pub(crate) fn into_model(mut self) -> Vec<f32> {
        self.node.take().map_or_else(Vec::new, |node| node.model().to_vec())
    }

    /// Whether the node has its memory and is not paused.
    pub(crate) fn is_up(&self, now: u64) -> bool {
        self.node.is_some() && self.away_until <= now
    }

    /// Whether the run is over for this node: it is done, or lost for good.
    pub(crate) fn is_settled(&self) -> bool {
        match &self.node {
            Some(node) => node.is_done() || self.away_until == NEVER,
            None => self.start_at == NEVER,
        }
    }

    /// Handles everything up to the end of a window: arrivals (by time, as `order` says) and what the node does by itself.
    pub(crate) fn run(
        &mut self,
        end: u64,
        parcels: &mut [Parcel],
        order: &[Place],
        context: &mut Context<'_, '_>,
    ) {
        fetch(parcels, order);
        let mut arrivals = order.iter().peekable();
        loop {
            let (due, next) = self.next(context.world);
            let arrival = arrivals.peek().map_or(NEVER, |place| place.of(parcels).time);
            // Of equal times the message comes first.
            if arrival <= due && arrival < end {
                let place = arrivals.next().expect("an arrival was seen");
                self.arrive(place.of_mut(parcels), context);
            } else if due < end {
                self.now = due;
                self.act(next, context);
            } else {
                break;
            }
        }
        if context.world.check && self.released < self.ledger {
            let what = format!(
                "node {} has {} records and {} releases in the log",
                self.me, self.ledger, self.released
            );
            context.report.broken(self.now, self.me, what);
        }
    }

    /// When the node next does something by itself.
    pub(crate) fn next_time(&self, world: &World<'_>) -> u64 {
        self.next(world).0
    }

    fn next(&self, world: &World<'_>) -> (u64, Next) {
        let mut next = (self.start_at, Next::Start);
        if let Some(node) = &self.node
            && self.start_at == NEVER
        {
            if let Some(Time(wake)) = node.wake_at() {
                // A node that still wants to be woken at a past time is woken once per microsecond, so that time goes on.
                let wake = if self.ticked != NEVER && wake <= self.ticked { self.ticked + 1 } else { wake };
                next = (wake, Next::Tick);
            }
            for (index, &(due, _)) in self.jobs.iter().enumerate() {
                if due <= next.0 {
                    next = (due, Next::Computed(index));
                }
            }
        }
        if next.0 != NEVER {
            next.0 = world.next_on(self.me, next.0.max(self.now).max(self.away_until));
        }
        match self.special.as_deref().and_then(|special| special.outages.last()) {
            Some(outage) if outage.at <= next.0 => (outage.at.max(self.now), Next::Outage),
            _ => next,
        }
    }

    fn arrive(&mut self, event: &mut Event, context: &mut Context<'_, '_>) {
        self.now = event.time.max(self.now);
        let here = self.is_up(self.now) && self.start_at == NEVER && context.world.is_on(self.me, self.now);
        let nothing = Message { run: event.message.run, round: 0, step: 0, body: Body::Nudge, numbers: None };
        let message = std::mem::replace(&mut event.message, nothing);
        if here {
            let (time, from, to) = (Time(self.now), event.from, self.me);
            context.world.hook.delivered(&Delivery { time, from, to, message: &message });
            self.tell(Input::Received { from: event.from, message }, context);
        } else {
            context.report.dropped += 1;
        }
    }

    fn act(&mut self, next: Next, context: &mut Context<'_, '_>) {
        match next {
            Next::Outage => self.on_outage(context),
            Next::Start => self.on_start(context),
            Next::Computed(index) => self.on_due(index, context),
            Next::Tick => {
                self.ticked = self.now;
                self.tell(Input::Tick, context);
            }
        }
    }

    fn on_outage(&mut self, context: &mut Context<'_, '_>) {
        let Some(outage) = self.special.as_deref_mut().and_then(|special| special.outages.pop()) else {
            return;
        };
        if outage.pause {
            self.away_until = self.away_until.max(outage.back);
            return;
        }
        if self.node.take().is_some() {
            context.report.presence.push(self.me);
        }
        self.jobs = Vec::new();
        self.unrecorded = None;
        self.away_until = 0;
        self.start_at = outage.back;
    }

    fn on_start(&mut self, context: &mut Context<'_, '_>) {
        self.start_at = NEVER;
        self.ticked = NEVER;
        if self.node.is_none() {
            self.life += 1;
            let node = self.returned(context.world);
            self.node = Some(node);
            context.report.presence.push(self.me);
            self.on_log(RunEvent::Resumed { private_noise: false }, context);
        }
        self.tell(Input::Start, context);
    }

    /// The node after a crash, with what it had saved: at least the public first model.
    fn returned(&mut self, world: &World<'_>) -> Node {
        let settings = world.hook.settings(world.setup, self.me);
        let fresh = Node::new(self.me, settings.clone(), world.message_noise(self.me, self.life));
        let fresh = world.with_masks(fresh, self.me, self.life);
        let kept = self.special.as_deref().and_then(|special| special.snapshot.clone());
        let (kept, records) = world.hook.found(self.me, kept, self.ledger);
        self.ledger = records;
        match kept {
            Some(snapshot) => fresh.restored(&snapshot, self.ledger),
            None if self.ledger == 0 => fresh,
            None => fresh.restored(&Snapshot::first(&settings), self.ledger),
        }
    }

    fn on_due(&mut self, index: usize, context: &mut Context<'_, '_>) {
        let (_, job) = self.jobs.remove(index);
        if let Some(memory) = self.node.as_mut().and_then(Node::spare_memory) {
            context.room.recycle(memory);
        }
        let due = Due { setup: context.world.setup, node: self.me, count: self.contributions, job: &job };
        self.contributions += 1;
        let (node, position) = (self.me as usize, self.me);
        let desk = &mut Desk { node, position, room: &mut *context.room, state: &mut self.state };
        let liars = context.world.liars.as_ref().filter(|liars| liars.lies(self.me, self.now));
        let contribution = match liars {
            Some(liars) => liars.contribute(desk, &job, &mut due.noise()),
            None => context.world.hook.contribution(&due, desk),
        };
        let round = job.round;
        // The node need not share its model with a job that is done.
        drop(job);
        match contribution {
            Ok(computed) => {
                self.tell(Input::Computed(computed), context);
                // A contribution that was not recorded by now has been given up: it will not be sent.
                if self.unrecorded == Some(round) && self.jobs.iter().all(|(_, other)| other.round != round) {
                    self.unrecorded = None;
                }
            }
            Err(source) => {
                let error = SimError::Work { node: self.me, round, source };
                context.report.fail(self.now, self.me, error);
            }
        }
    }

    /// Feeds one input and does what the node asks for.
    fn tell(&mut self, input: Input, context: &mut Context<'_, '_>) {
        let now = Time(self.now);
        let Some(node) = &mut self.node else { return };
        node.handle(now, input);
        while let Some(output) = self.node.as_mut().and_then(Node::poll_output) {
            match output {
                Output::Compute(job) => self.on_compute(job, context.world),
                Output::Record(record) => self.on_record(record.id, record.round, context),
                Output::Send { to, message } => self.on_send(&to, message, context),
                Output::Log(event) => self.on_log(*event, context),
                Output::Save(snapshot) => self.on_save(*snapshot, context.world),
                Output::Forgotten(records) => self.ledger = self.ledger.max(records.end),
                Output::Done => {}
            }
        }
    }

    fn on_compute(&mut self, job: Job, world: &World<'_>) {
        // Noise alone is not recorded: it costs nothing, and takes no time of the data.
        if job.only_noise {
            let due = self.now.saturating_add(self.compute.min(world.faults().compute));
            return self.jobs.push((due, job));
        }
        self.unrecorded = Some(job.round);
        self.jobs.push((self.now.saturating_add(self.compute), job));
    }

    /// Durable at once: the ledger of the simulator survives every crash.
    fn on_record(&mut self, id: u64, round: u32, context: &mut Context<'_, '_>) {
        if context.world.check && id != self.ledger {
            let what = format!("node {} wrote record {id}, expected {}", self.me, self.ledger);
            context.report.broken(self.now, self.me, what);
        }
        self.ledger = self.ledger.max(id + 1);
        if self.unrecorded == Some(round) {
            self.unrecorded = None;
        }
        if let Some(node) = &mut self.node {
            node.handle(Time(self.now), Input::Recorded(id));
        }
    }

    fn on_log(&mut self, event: RunEvent, context: &mut Context<'_, '_>) {
        // A round to which it says that it adds no data.
        if matches!(event, RunEvent::Refused { round, .. } if self.unrecorded == Some(round)) {
            self.unrecorded = None;
        }
        self.released += u64::from(matches!(event, RunEvent::Released { .. }));
        context.report.lines.push(Line { time: self.now, node: self.me, event });
    }

    /// After its last crash a node saves in vain.
    fn on_save(&mut self, snapshot: Snapshot, world: &World<'_>) {
        world.hook.saved(self.me, &snapshot, self.ledger);
        if let Some(special) = self.special.as_deref_mut().filter(|special| special.will_crash()) {
            special.snapshot = Some(snapshot);
        }
    }

    fn on_send(&mut self, to: &Recipients, message: Message, context: &mut Context<'_, '_>) {
        // With several tokens one may be sent while another is worked on.
        if context.world.check
            && context.world.tokens <= 1
            && self.unrecorded.is_some()
            && message.contribution() == self.unrecorded
        {
            let (me, kind, round) = (self.me, message.body.kind(), message.round);
            let what =
                format!("node {me} sent a `{kind}` of round {round} before its contribution was recorded");
            context.report.broken(self.now, me, what);
        }
        if self.special.as_deref().is_some_and(|special| !special.attacks.is_empty()) {
            to.iter().for_each(|&to| self.send_as_hostile(to, message.clone(), context));
        } else {
            self.transmit(to, message, context);
        }
    }

    fn send_as_hostile(&mut self, to: PeerIx, message: Message, context: &mut Context<'_, '_>) {
        let now = self.now;
        let attack = self.special.as_deref_mut().and_then(|special| {
            let place = special.attacks.iter().position(|attack| attack.is_on(now))?;
            Some(special.attacks.swap_remove(place))
        });
        let Some(mut attack) = attack else { return self.transmit(&[to], message, context) };
        attack.corrupt(to, message, &mut |to, message| self.transmit(&[to], message, context));
        if let Some(special) = self.special.as_deref_mut() {
            special.attacks.push(attack);
        }
    }

    /// Puts a message on the line, to one after the other.
    fn transmit(&mut self, to: &[PeerIx], message: Message, context: &mut Context<'_, '_>) {
        let (bytes, count) = (message.bytes(), to.len() as u64);
        self.bytes += count * bytes;
        context.report.bytes += count * bytes;
        context.report.messages += count;
        let Some((&last, others)) = to.split_last() else { return };
        for &to in others {
            self.dispatch(to, bytes, message.clone(), context);
        }
        self.dispatch(last, bytes, message, context);
    }

    fn dispatch(&mut self, to: PeerIx, bytes: u64, message: Message, context: &mut Context<'_, '_>) {
        let (from, links) = (self.me, &context.world.links);
        let departure = links.departure(self.now, bytes, &mut self.busy_until);
        let reachable = (to as usize) < context.world.nodes && links.is_open(self.now, from, to);
        let fate = if reachable { links.fate(departure, from, &mut self.links) } else { Fate::Lost };
        match fate {
            Fate::Lost => context.report.dropped += 1,
            Fate::Once(time) => context.outbox.push(Event { time, from, to, message }),
            Fate::Twice(time, again) => {
                context.outbox.push(Event { time, from, to, message: message.clone() });
                context.outbox.push(Event { time: again, from, to, message });
            }
        }
    }
}

/// What arrives may be in another core's cache: looked at all at once, it comes at once, and not one message after the other.
fn fetch(parcels: &[Parcel], order: &[Place]) {
    let numbers = order.iter().filter_map(|place| place.of(parcels).message.numbers.as_ref());
    std::hint::black_box(numbers.filter(|numbers| numbers.is_finite()).count());
}

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::FutureExt;
use protocol::{Body, Message, Numbers, RunId, Values};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::Instant;

use super::hub::{Beside, Way};
use super::packet::{Heard, Open, PIECE, Packet, Piece, Seal, WINDOW};
use crate::wire::{DatagramKey, Doorway, Frame, to_bytes};

const MACHINE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PEER: SocketAddr = SocketAddr::new(MACHINE, 9);

struct End {
    beside: Beside,
    open: Open,
    /// Whether something came since it last said what was due.
    came: bool,
    /// What came as datagrams, and was used.
    used: Vec<Vec<u8>>,
}

/// Two ends that know each other's doorways, and want datagrams.
fn ends() -> [End; 2] {
    let doorway = |key: u8| Doorway { port: 7, key: DatagramKey([key; 32]) };
    let end = |ours: u8, theirs: u8| {
        let beside = Beside::new(Some(MACHINE));
        beside.on_doorway(&doorway(theirs));
        End { beside, open: Open::new(&[ours; 32]), came: false, used: Vec::new() }
    };
    [end(1, 2), end(2, 1)]
}

impl End {
    /// What it sends now, woken as by its socket.
    fn says(&mut self) -> Vec<Vec<u8>> {
        let is_due = self.beside.lock().wake_at().is_some_and(|at| at <= Instant::now());
        let is_stirred = self.beside.stir.notified().now_or_never().is_some();
        if !(std::mem::take(&mut self.came) || is_due || is_stirred) {
            return Vec::new();
        }
        let (at, datagrams) = self.beside.pour();
        assert!(at.is_some() && datagrams.iter().all(|datagram| datagram.len() <= 1232));
        datagrams
    }

    fn hears(&mut self, mut datagram: Vec<u8>, from: SocketAddr) -> bool {
        self.came = true;
        self.beside.on_datagram(&self.open, &mut datagram, from)
    }
}

/// A millisecond, in which everything that is due is carried; `lost` says what is not.
async fn carry(ends: &mut [End; 2], lost: &mut impl FnMut() -> bool) {
    for from in [0, 1] {
        for datagram in ends[from].says() {
            assert!(lost() || ends[1 - from].hears(datagram, PEER));
        }
    }
    for end in ends {
        while let Some(frame) = end.beside.give() {
            end.used.push(frame);
            end.beside.on_used();
        }
    }
    tokio::time::advance(Duration::from_millis(1)).await;
}

/// A frame that can be told from others, of so many numbers.
fn frame(round: u32, numbers: usize) -> Frame {
    let body = Body::Gossip(protocol::gossip::Say::State);
    let numbers = Some(Numbers::Reals(Values::from_wire(vec![round as f32; numbers])));
    Frame::Message(Message { run: RunId(1), round, step: 0, body, numbers })
}

fn losing(part: f64) -> impl FnMut() -> bool {
    let mut dice = ChaCha8Rng::seed_from_u64(25);
    move || dice.random_bool(part)
}

/// Ends that have found out that packets get lost.
async fn lossy(part: f64) -> ([End; 2], impl FnMut() -> bool) {
    let (mut ends, mut lost) = (ends(), losing(part));
    for _ in 0..1_500 {
        carry(&mut ends, &mut lost).await;
    }
    (ends, lost)
}

fn bytes(frame: &Frame) -> Vec<u8> {
    to_bytes(frame).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_way_on_which_nothing_is_lost_is_left_alone_and_so_is_one_that_is_closed() {
    for part in [0.0, 1.0] {
        let (ends, _) = lossy(part).await;
        for end in &ends {
            let way = end.beside.take(&frame(1, 10)).now_or_never();
            assert_eq!(way.unwrap().unwrap(), Way::Stream(Vec::new()), "{part}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn everything_comes_once_and_in_order_where_two_fifths_are_lost() {
    let (mut ends, mut lost) = lossy(0.4).await;
    let frames: Vec<Frame> =
        (0..300).map(|round| frame(round, [10, 650, 4_000][round as usize % 3])).collect();
    let mut next = 0;
    let mut waited = 0;
    while ends[1].used.len() < frames.len() {
        while let Some(one) = frames.get(next) {
            match ends[0].beside.take(one).now_or_never() {
                Some(way) => assert_eq!(way.unwrap(), Way::Datagrams),
                None => break,
            }
            next += 1;
        }
        carry(&mut ends, &mut lost).await;
        waited += 1;
        assert!(waited < 10_000, "{} of {next} have come", ends[1].used.len());
    }
    assert_eq!(ends[1].used, frames.iter().map(bytes).collect::<Vec<_>>());
    // And the sender knows.
    for _ in 0..200 {
        carry(&mut ends, &mut lost).await;
    }
    assert_eq!(ends[0].beside.emptied().now_or_never(), Some(Vec::new()));
    assert_eq!(ends[1].used.len(), frames.len(), "and none of them again");
}

#[tokio::test(start_paused = true)]
async fn datagrams_wait_for_the_stream_a_moment_and_the_stream_for_datagrams() {
    let (mut ends, mut lost) = lossy(0.2).await;
    let long = frame(1, 100_000);
    assert_eq!(ends[0].beside.take(&long).await.unwrap(), Way::Stream(Vec::new()));
    assert_eq!(ends[0].beside.take(&frame(2, 10)).await.unwrap(), Way::Datagrams);
    for _ in 0..30 {
        carry(&mut ends, &mut lost).await;
    }
    assert!(ends[1].used.is_empty(), "the long one has not come yet");
    assert_eq!(ends[0].beside.take(&long).now_or_never().map(Result::unwrap), None, "nor may the next pass");
    let word = Frame::Alive { answer: false };
    let way = ends[0].beside.take(&word).now_or_never();
    assert_eq!(
        way.unwrap().unwrap(),
        Way::Stream(Vec::new()),
        "words about the link have no place in the order"
    );
    ends[1].beside.on_streamed();
    for _ in 0..100 {
        carry(&mut ends, &mut lost).await;
    }
    assert_eq!(ends[1].used, [bytes(&frame(2, 10))]);
    assert_eq!(ends[0].beside.take(&long).now_or_never().unwrap().unwrap(), Way::Stream(Vec::new()));
    // This one hangs in the stream: it is waited for once.
    let mut waits = Vec::new();
    for round in [3, 4] {
        assert_eq!(ends[0].beside.take(&frame(round, 10)).await.unwrap(), Way::Datagrams);
        let before = Instant::now();
        while ends[1].used.len() + 1 < round as usize {
            carry(&mut ends, &mut || false).await;
        }
        waits.push(before.elapsed().as_millis());
    }
    assert!((50..60).contains(&waits[0]) && waits[1] < 5, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_get_through_goes_by_the_stream_and_is_not_used_twice() {
    let (mut ends, mut lost) = lossy(0.3).await;
    let frames: Vec<Frame> = (0..12).map(|round| frame(round, 10)).collect();
    for one in &frames[..6] {
        assert_eq!(ends[0].beside.take(one).await.unwrap(), Way::Datagrams);
    }
    // They come, and no word of it comes back.
    let mut passes = 0;
    for _ in 0..50 {
        for datagram in ends[0].says().into_iter().filter(|_| !lost()) {
            passes += u32::from(ends[1].hears(datagram, PEER));
        }
        tokio::time::advance(Duration::from_millis(5)).await;
    }
    assert!(passes > 6);
    for one in &frames[6..] {
        assert_eq!(ends[0].beside.take(one).await.unwrap(), Way::Datagrams);
    }
    for _ in 0..1_100 {
        carry(&mut ends, &mut || true).await;
    }
    assert_eq!(ends[1].used.len(), 6);
    let back = ends[0].beside.fallen().now_or_never().expect("it is known by now");
    assert_eq!(back.len(), 12);
    for one in back {
        let Frame::Again { number, bytes } = one else { unreachable!() };
        ends[1].beside.on_again(number, bytes);
    }
    assert_eq!(ends[1].beside.settled().now_or_never(), None, "what comes behind them waits");
    carry(&mut ends, &mut || true).await;
    assert_eq!(ends[1].used, frames.iter().map(bytes).collect::<Vec<_>>());
    assert_eq!(ends[1].beside.settled().now_or_never(), Some(()));
    let way = ends[0].beside.take(&frames[0]).now_or_never();
    assert_eq!(way.unwrap().unwrap(), Way::Stream(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn who_has_no_key_gets_no_answer_and_who_repeats_changes_nothing() {
    let (mut ends, mut lost) = lossy(0.2).await;
    let stranger = SocketAddr::new(MACHINE, 666);
    let (_, forged) = Seal::new(&[9; 32]).seal(&Packet::default()).unwrap();
    assert!(ends[1].says().is_empty());
    assert!(!ends[1].hears(forged, stranger));
    assert_eq!(ends[1].beside.pour(), (Some(PEER), Vec::new()), "no answer");
    assert_eq!(ends[0].beside.take(&frame(1, 10)).await.unwrap(), Way::Datagrams);
    let said = ends[0].says();
    for _ in 0..3 {
        for datagram in &said {
            assert!(ends[1].hears(datagram.clone(), PEER));
            assert!(ends[1].hears(datagram.clone(), stranger));
            assert_eq!(ends[1].beside.pour().0, Some(PEER), "answers go where they went");
        }
        carry(&mut ends, &mut lost).await;
    }
    assert_eq!(ends[1].used.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn that_the_word_of_it_was_lost_holds_nothing_up() {
    let (mut ends, _) = lossy(0.2).await;
    assert_eq!(ends[0].beside.take(&frame(1, 10)).await.unwrap(), Way::Datagrams);
    let mut first = true;
    while ends[1].used.is_empty() {
        carry(&mut ends, &mut || false).await;
    }
    // It was acknowledged, and used after that; this word does not come.
    carry(&mut ends, &mut || std::mem::take(&mut first)).await;
    assert_eq!(ends[0].beside.emptied().now_or_never(), None);
    for _ in 0..100 {
        carry(&mut ends, &mut || false).await;
    }
    assert_eq!(ends[0].beside.emptied().now_or_never(), Some(Vec::new()));
    assert_eq!(ends[1].used.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_begins_frames_and_does_not_end_them_has_sixteen() {
    let [mut end, _] = ends();
    let mut seal = Seal::new(&[1; 32]);
    for number in (0..10_000).chain([u64::MAX]) {
        let piece = Piece { frame: number, after: 0, count: 16, index: 0, bytes: vec![0; PIECE] };
        let (_, datagram) = seal.seal(&Packet { heard: Heard::default(), piece: Some(piece) }).unwrap();
        assert!(end.hears(datagram, PEER));
    }
    assert_eq!(end.beside.lock().whole.heard().parts.len(), WINDOW as usize);
    assert!(end.beside.give().is_none());
}

use std::pin::pin;

use futures::future::join;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio_util::compat::TokioAsyncReadCompatExt;

use super::*;

struct Near {
    link: Link,
    events: mpsc::Receiver<Event>,
    _known: mpsc::Receiver<(PeerId, Vec<Known>)>,
}

/// A link whose far end is in the hands of the test.
fn link(buffer: usize) -> (Near, impl Future<Output = WireError> + Send, DuplexStream) {
    link_for(10, 8, buffer)
}

/// The same for a model of so many parameters, with room for so many events.
fn link_for(
    parameters: usize,
    room: usize,
    buffer: usize,
) -> (Near, impl Future<Output = WireError> + Send, DuplexStream) {
    let (near, far) = duplex(buffer);
    let (to_events, events) = mpsc::channel(room);
    let (to_known, known) = mpsc::channel(8);
    let bounds = (Limits::for_model(parameters), Patience::default());
    let inbox = Inbox { events: to_events, known: to_known };
    let (link, run) = open(near.compat(), (PeerId::random(), 1), bounds, inbox, None);
    (Near { link, events, _known: known }, run, far)
}

#[tokio::test(start_paused = true)]
async fn a_huge_length_ends_the_link_at_once() {
    let (_near, run, mut far) = link(1 << 16);
    let sent = async {
        far.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
        far
    };
    let (error, _far) = join(run, sent).await;
    assert!(matches!(error, WireError::LongHeader { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_trickles_in_is_not_waited_for() {
    let (_near, run, mut far) = link(1 << 16);
    let start = tokio::time::Instant::now();
    let mut run = pin!(run);
    let mut sent = 0;
    let error = loop {
        tokio::select! {
            error = &mut run => break error,
            // The length of a header of 200 bytes, then one byte every five seconds: never silent, never whole.
            () = tokio::time::sleep(Duration::from_secs(5)) => {
                let byte = if sent == 0 { 200 } else { 0 };
                far.write_all(&[byte]).await.unwrap();
                sent += 1;
            }
        }
    };
    assert!(matches!(error, WireError::Io(ref io) if io.kind() == std::io::ErrorKind::TimedOut), "{error}");
    assert!(start.elapsed() <= Duration::from_secs(5) + Patience::default().frame);
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_dead() {
    let (_near, run, _far) = link(1 << 16);
    let start = tokio::time::Instant::now();
    let error = run.await;
    assert!(matches!(error, WireError::Io(ref io) if io.kind() == std::io::ErrorKind::TimedOut), "{error}");
    assert_eq!(start.elapsed(), Patience::default().silence);
}

#[tokio::test(start_paused = true)]
async fn two_idle_ends_keep_each_other_alive_and_close_together() {
    let (a, b) = duplex(1 << 16);
    let (to_events, _events) = mpsc::channel(8);
    let (to_known, _known) = mpsc::channel(8);
    let bounds = (Limits::for_model(10), Patience::default());
    let inbox = Inbox { events: to_events, known: to_known };
    let (left, run_left) = open(a.compat(), (PeerId::random(), 1), bounds, inbox.clone(), None);
    let (right, run_right) = open(b.compat(), (PeerId::random(), 2), bounds, inbox, None);
    let hour = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert!(left.answers(Duration::from_secs(1)).await && *right.heard.borrow() > 800);
        drop(left);
    };
    let (_, (), _) = tokio::join!(run_left, hour, run_right);
}

/// What a process said before it was killed is read after that, where this one is behind: it does not speak for the other process.
#[tokio::test(start_paused = true)]
async fn what_a_dead_process_has_said_is_no_sign_of_life() {
    let (near, run, mut far) = link(1 << 16);
    for _ in 0..3 {
        far.write_all(&crate::wire::to_bytes(&Frame::Finished).unwrap()).await.unwrap();
    }
    drop(far);
    let (alive, _) = join(near.link.answers(Duration::from_secs(3)), run).await;
    assert!(!alive);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_costs_a_bounded_queue_and_then_the_link() {
    let (near, run, _far) = link(16);
    let mut run = pin!(run);
    // Lets the writer take the first frame, on which it hangs.
    near.link.send(Frame::Refuse(crate::wire::Refusal::Closed, "x".repeat(100))).unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(1), &mut run).await.is_err());
    let sent = (0..1000).take_while(|_| near.link.send(Frame::Finished).is_ok()).count();
    assert_eq!(sent, QUEUE);
    assert_eq!(near.link.send(Frame::Finished), Err(SendError::Full));
    run.await;
    assert_eq!(near.link.send(Frame::Finished), Err(SendError::Ended));
}

#[tokio::test(start_paused = true)]
async fn frames_arrive_in_order_and_questions_are_answered() {
    let (mut near, run, mut far) = link(1 << 16);
    let talk = async {
        for frame in [Frame::Finished, Frame::Alive { answer: true }, Frame::Config("a = 1".into())] {
            far.write_all(&crate::wire::to_bytes(&frame).unwrap()).await.unwrap();
        }
        let mut seen = Vec::new();
        while seen.len() < 2 {
            let Some(Event::Frame { frame, id: 1, .. }) = near.events.recv().await else { unreachable!() };
            seen.push(frame);
        }
        assert_eq!(seen, [Frame::Finished, Frame::Config("a = 1".into())]);
        let answer = crate::wire::to_bytes(&Frame::Alive { answer: false }).unwrap();
        let mut heard = vec![0; answer.len()];
        far.read_exact(&mut heard).await.unwrap();
        assert_eq!(heard, answer);
    };
    tokio::select! {
        error = run => unreachable!("{error}"),
        () = talk => {}
    }
}

/// A member that sends models as fast as it can to a node that has no time for them.
#[tokio::test(start_paused = true)]
async fn a_flood_of_models_stays_at_the_peer() {
    const PARAMETERS: usize = 1_000_000;
    for numbers in [PARAMETERS, 4 * PARAMETERS] {
        let (mut near, run, mut far) = link_for(PARAMETERS, 256, 1 << 16);
        let body = if numbers == PARAMETERS {
            protocol::Body::Gossip(protocol::gossip::Say::State)
        } else {
            protocol::Body::Walk(protocol::walk::Say::Token(protocol::walk::Name {
                token: 0,
                hop: 1,
                generation: 0,
            }))
        };
        let values = protocol::Numbers::Reals(protocol::Values::from_wire(vec![0.5; numbers]));
        let message =
            protocol::Message { run: protocol::RunId(1), round: 0, step: 0, body, numbers: Some(values) };
        let bytes = crate::wire::to_bytes(&Frame::Message(message)).unwrap();
        let mut sent = 0;
        let flood = async {
            while sent < 64 * bytes.len() {
                let chunk = &bytes[sent % bytes.len()..];
                match timeout(Duration::from_secs(60), far.write(&chunk[..chunk.len().min(1 << 16)])).await {
                    Ok(Ok(count)) => sent += count,
                    _ => break,
                }
            }
        };
        tokio::select! {
            () = flood => {}
            error = run => panic!("the link ended: {error}"),
        }
        let held = sent as f64 / (4 * PARAMETERS) as f64;
        println!("frames of {numbers} numbers: {held:.2} models of a peer are held");
        assert!(held < if numbers == PARAMETERS { 3.0 } else { 5.0 }, "{held} models");
        // What is taken makes room for more.
        assert!(matches!(near.events.recv().await, Some(Event::Frame { .. })));
    }
}

/// When something is said, in milliseconds from the start, and whether it is the frame or an echo.
async fn said(far: &mut DuplexStream, frame: &[u8], echo: &[u8], until: Duration) -> Vec<(u128, bool)> {
    let (start, mut said) = (Instant::now(), Vec::new());
    while let Ok(Ok(length)) = timeout_at(start + until, far.read_u32_le()).await {
        let mut rest = vec![0; length as usize];
        far.read_exact(&mut rest).await.unwrap();
        assert!(rest == frame[4..] || rest == echo[4..], "{rest:?}");
        said.push((start.elapsed().as_millis(), rest == frame[4..]));
    }
    said
}

#[tokio::test(start_paused = true)]
async fn where_the_peer_missed_something_frames_have_echoes_for_a_minute() {
    // The far end says nothing by itself, for longer than a peer may be silent.
    let (near, mut far) = duplex(1 << 16);
    let (to_events, _events) = mpsc::channel(8);
    let (to_known, _known) = mpsc::channel(8);
    let patience = Patience { silence: Duration::from_secs(3600), ..Patience::default() };
    let inbox = Inbox { events: to_events, known: to_known };
    let bounds = (Limits::for_model(10), patience);
    let (near, run) = open(near.compat(), (PeerId::random(), 1), bounds, inbox, None);
    let bytes = |frame: &Frame| crate::wire::to_bytes(frame).unwrap();
    let (frame, echo) = (bytes(&Frame::Finished), bytes(&Frame::Alive { answer: false }));
    let body = protocol::Body::Nudge;
    let nudge = protocol::Message { run: protocol::RunId(1), round: 0, step: 0, body, numbers: None };
    let mut times = Vec::new();
    let talk = async {
        for (asks, listens) in [(false, 3_500), (true, 20), (false, 3_500), (false, 60_000), (false, 3_500)] {
            if asks {
                far.write_all(&bytes(&Frame::Message(nudge.clone()))).await.unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            near.send(Frame::Finished).unwrap();
            times.push(said(&mut far, &frame, &echo, Duration::from_millis(listens)).await);
        }
    };
    tokio::select! {
        error = run => unreachable!("{error}"),
        () = talk => {}
    }
    let after = |at: &[u64]| at.iter().map(|&at| (u128::from(at), at == 0)).collect::<Vec<_>>();
    let all = [&[0][..], &ECHOES].concat();
    assert_eq!(times[0], after(&[0]), "on a good link nothing is said twice");
    assert_eq!(times[1], after(&[0, 3, 6, 10, 15]), "what follows ends what went before");
    assert_eq!(times[2], after(&all));
    assert_eq!(times[3][..11], after(&all));
    assert_eq!(times[4], after(&[0]), "a minute later it is a good link again");
}

/// A sum of a round.
fn sum_of(round: u32) -> Frame {
    let body = protocol::Body::Gossip(protocol::gossip::Say::State);
    let numbers = Some(protocol::Numbers::Reals(protocol::Values::from_wire(vec![0.5; 10])));
    Frame::Message(protocol::Message { run: protocol::RunId(1), round, step: 0, body, numbers })
}

#[tokio::test(start_paused = true)]
async fn what_hung_in_the_stream_until_its_round_was_over_is_not_heard_twice() {
    let (to_events, mut events) = mpsc::channel(8);
    let (to_known, _known) = mpsc::channel(8);
    let (queue, _frames) = mpsc::channel(8);
    let ears = Ears {
        from: (PeerId::random(), 1),
        limits: Limits::for_model(10),
        patience: Patience::default(),
        room: Room::new(Limits::for_model(10)),
        heard: Arc::new(watch::channel(0).0),
        answers: queue.downgrade(),
        inbox: Inbox { events: to_events, known: to_known },
        missed: Missed::default(),
        beside: Beside::new(None),
        newest: AtomicU32::new(0),
    };
    let (near, mut far) = duplex(1 << 16);
    let (to_ears, whole) = mpsc::channel(8);
    let bytes = |frame: &Frame| crate::wire::to_bytes(frame).unwrap();
    let talk = async {
        let mut rounds = Vec::new();
        // Round 5 comes as datagrams, before two frames of the stream.
        ears.beside.danger_overtake(2);
        to_ears.send(bytes(&sum_of(5))).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        for round in [4, 5, 3] {
            far.write_all(&bytes(&sum_of(round))).await.unwrap();
        }
        while rounds.len() < 3 {
            let Some(Event::Frame { frame: Frame::Message(message), .. }) = events.recv().await else {
                unreachable!()
            };
            rounds.push(message.round);
        }
        // The last of the stream was not overtaken.
        assert_eq!(rounds, [5, 5, 3]);
    };
    tokio::select! {
        error = ears.read_all(near.compat()) => unreachable!("{error}"),
        error = ears.use_all(whole) => unreachable!("{error}"),
        () = talk => {}
    }
}

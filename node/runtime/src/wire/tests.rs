use std::sync::Arc;

use futures::executor::block_on;
use futures::io::Cursor;
use proptest::prelude::*;
use protocol::agreement::{self, Fingerprint};
use protocol::rounds::{Agreed, Say, Sum};
use protocol::walk::{self, Name};
use protocol::{Body, Digest, Message, Numbers, RunId, Values, Words, gossip};

use super::*;

fn message(body: impl Into<Body>) -> Frame {
    Frame::Message(Message { run: RunId(7), round: 3, step: 1, body: body.into(), numbers: None })
}

fn with(numbers: Numbers, body: impl Into<Body>) -> Frame {
    let body = body.into();
    Frame::Message(Message { run: RunId(7), round: 3, step: 1, body, numbers: Some(numbers) })
}

fn reals(values: Vec<f32>) -> Numbers {
    Numbers::Reals(Values::from_wire(values))
}

fn sum() -> Say {
    Say::Sum(Box::new(Sum { epoch: 2, count: 4, start: Digest([9; 16]), signature: None }))
}

fn asks() -> Say {
    Say::Agreement(Agreed(Arc::new(agreement::Message::Ask(agreement::Ask::Decided(5)))))
}

fn read(bytes: &[u8], limits: Limits) -> Result<Frame, WireError> {
    block_on(read_frame(&mut Cursor::new(bytes), limits))
}

/// The header of a sum behind `numbers`, then the numbers themselves.
fn sum_bytes(announced: [u8; 2], numbers: &[u8]) -> Vec<u8> {
    let mut expected = vec![30, 0, 0, 0];
    // Version, the kind of numbers and how many, a message, run, round, step, of rounds, a sum, epoch, count.
    expected.extend([5, announced[0], announced[1], 9, 7, 3, 1, 2, 0, 2, 4]);
    expected.extend([9; 16]);
    expected.push(0);
    expected[0] = (expected.len() - 4) as u8;
    expected.extend(numbers);
    expected
}

#[test]
fn the_bytes_of_a_sum_are_these() {
    let real = with(reals(vec![1.0, -2.5]), sum());
    assert_eq!(to_bytes(&real).unwrap(), sum_bytes([1, 2], &[0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]));
    let short = with(Numbers::Words(Words::modulo_32(vec![1, 0xfeff_fffd])), sum());
    assert_eq!(to_bytes(&short).unwrap(), sum_bytes([2, 2], &[1, 0, 0, 0, 0xfd, 0xff, 0xff, 0xfe]));
    let long = with(Numbers::Words(Words::modulo_64(vec![0xfe00_0000_0000_0003])), sum());
    assert_eq!(to_bytes(&long).unwrap(), sum_bytes([3, 1], &[3, 0, 0, 0, 0, 0, 0, 0xfe]));
}

#[test]
fn the_bytes_of_what_carries_no_numbers_are_these() {
    // Version, no numbers, a message, run, round, step, then what is said.
    let header = |said: &[u8]| [&[6 + said.len() as u8, 0, 0, 0, 5, 0, 9, 7, 3, 1], said].concat();
    assert_eq!(to_bytes(&message(Body::Nudge)).unwrap(), header(&[0]));
    // A message of the agreement is its own bytes behind their number: which decisions come after epoch 5.
    assert_eq!(to_bytes(&message(asks())).unwrap(), header(&[2, 1, 6, 9, 2, 5, 0, 0, 0]));
    let name = Name { token: 1, hop: 300, generation: 2 };
    assert_eq!(to_bytes(&message(walk::Say::Here(name))).unwrap(), header(&[4, 1, 1, 251, 44, 1, 2]));
    let fetch = [&[2, 2, 64][..], "01".repeat(32).as_bytes()].concat();
    let digest = Box::new(Fingerprint([1; 32]));
    assert_eq!(to_bytes(&message(Say::Fetch { digest })).unwrap(), header(&fetch));
    assert_eq!(to_bytes(&Frame::Alive { answer: true }).unwrap(), [4, 0, 0, 0, 5, 0, 8, 1]);
    let doorway = Frame::Datagrams(Doorway { port: 700, key: DatagramKey([1; 32]) });
    assert_eq!(to_bytes(&doorway).unwrap(), [&[38, 0, 0, 0, 5, 0, 12, 251, 188, 2][..], &[1; 32]].concat());
    assert!(!format!("{doorway:?}").contains("1, 1"), "{doorway:?}");
    let again = Frame::Again { number: 3, bytes: vec![9, 8] };
    assert_eq!(to_bytes(&again).unwrap(), [7, 0, 0, 0, 5, 0, 13, 3, 2, 9, 8]);
}

#[test]
fn every_kind_of_frame_comes_back_as_it_went() {
    for frame in samples() {
        let bytes = to_bytes(&frame).unwrap();
        let limits = Limits::for_model(3);
        assert_eq!(read(&bytes, limits).unwrap(), frame);
        let mut written = Vec::new();
        block_on(write_frame(&mut written, &frame)).unwrap();
        assert_eq!(written, bytes, "{frame:?}");
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], limits).is_err(), "{frame:?} cut at {cut}");
        }
    }
}

#[test]
fn a_long_vector_survives_the_chunks() {
    let all = || 0..100_001_u32;
    for numbers in [
        reals(all().map(|i| i as f32).collect()),
        Numbers::Words(Words::modulo_32(all().map(|i| i.wrapping_mul(0x9e37_79b9)).collect())),
        Numbers::Words(Words::modulo_64(all().map(|i| u64::from(i) << 33).collect())),
    ] {
        let frame = with(numbers, gossip::Say::State);
        let mut bytes = Vec::new();
        block_on(write_frame(&mut bytes, &frame)).unwrap();
        assert_eq!(bytes, to_bytes(&frame).unwrap());
        assert_eq!(read(&bytes, Limits::for_model(100_001)).unwrap(), frame);
    }
}

#[test]
fn what_is_larger_than_the_model_allows_is_refused_before_it_is_read() {
    for numbers in [
        reals(vec![0.0; 17]),
        Numbers::Words(Words::modulo_32(vec![0; 17])),
        Numbers::Words(Words::modulo_64(vec![0; 17])),
    ] {
        let bytes = to_bytes(&with(numbers, gossip::Say::State)).unwrap();
        let header = &bytes[..4 + bytes[0] as usize];
        let refused = read(header, Limits::for_model(3)).unwrap_err();
        assert!(matches!(refused, WireError::ManyNumbers { count: 17, limit: 16 }), "{refused}");
        let refused = read(header, Limits::STRANGER).unwrap_err();
        assert!(matches!(refused, WireError::ManyNumbers { limit: 0, .. }), "{refused}");
    }
    let refused = read(&u32::MAX.to_le_bytes(), Limits::for_model(3)).unwrap_err();
    assert!(matches!(refused, WireError::LongHeader { .. }), "{refused}");
}

#[test]
fn numbers_belong_behind_the_frames_that_carry_them() {
    let misplaced = |bytes: &[u8], count: usize| {
        let refused = read(bytes, Limits::for_model(3)).unwrap_err();
        assert!(matches!(refused, WireError::Misplaced { count: found } if found == count), "{refused}");
    };
    for kind in [1, 2, 3] {
        // A frame without numbers that announces one, and one that announces none in so many words.
        misplaced(&[4, 0, 0, 0, VERSION, kind, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0], 1);
        misplaced(&[4, 0, 0, 0, VERSION, kind, 0, 7], 0);
    }
    misplaced(&to_bytes(&with(reals(Vec::new()), gossip::Say::State)).unwrap(), 0);
    misplaced(&to_bytes(&message(gossip::Say::State)).unwrap(), 0);
    misplaced(&to_bytes(&with(reals(vec![1.0]), Body::Nudge)).unwrap(), 1);
}

#[test]
fn another_version_is_named() {
    let mut bytes = to_bytes(&Frame::Finished).unwrap();
    bytes[4] = 9;
    assert!(matches!(read(&bytes, Limits::for_model(3)).unwrap_err(), WireError::Version { theirs: 9 }));
}

#[test]
fn a_forged_length_inside_a_header_asks_for_no_memory() {
    // A string of 2^60 bytes, and a list of as many members.
    for content in [3, 5] {
        let mut bytes = vec![12, 0, 0, 0, VERSION, 0, content, 253];
        bytes.extend((1_u64 << 60).to_le_bytes());
        assert!(matches!(read(&bytes, Limits::for_model(3)).unwrap_err(), WireError::Malformed));
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes, Limits::for_model(50));
        let _ = Head::decode(&bytes, Limits::for_model(50));
        // Past the version byte, where random bytes seldom get.
        let mut plausible = vec![bytes.len() as u8, 0, 0, 0, VERSION];
        plausible.extend(&bytes);
        let _ = read(&plausible, Limits::for_model(50));
    }

    #[test]
    fn a_damaged_frame_never_panics(which in 0_usize..24, at in any::<usize>(), with in any::<u8>()) {
        let frames = samples();
        let mut bytes = to_bytes(&frames[which % frames.len()]).unwrap();
        let at = at % bytes.len();
        bytes[at] = with;
        let _ = read(&bytes, Limits::for_model(3));
    }

    #[test]
    fn what_decodes_encodes_to_what_was_read(bytes in proptest::collection::vec(0_u8..12, 1..40)) {
        let mut header = vec![VERSION];
        header.extend(&bytes);
        if let Ok(head) = Head::decode(&header, Limits::for_model(3)) {
            let count = head.numbers.count();
            let numbers = match head.numbers {
                Announced::Nothing => None,
                Announced::Reals(_) => Some(reals(vec![1.0; count])),
                Announced::Words32(_) => Some(Numbers::Words(Words::modulo_32(vec![1; count]))),
                Announced::Words64(_) => Some(Numbers::Words(Words::modulo_64(vec![1; count]))),
            };
            let frame = head.with(numbers);
            let again = to_bytes(&frame).unwrap();
            prop_assert_eq!(read(&again, Limits::for_model(3)).unwrap(), frame);
        }
    }
}

fn samples() -> Vec<Frame> {
    let values = || reals(vec![0.5, f32::MAX, -0.0]);
    let name = Name { token: 0, hop: 70_000, generation: 1 };
    let roster = vec![vec![1; 38], vec![2; 38]];
    vec![
        Frame::Greeting(Greeting { challenge: [3; 32] }),
        Frame::Proof([4; 32]),
        Frame::Card(Card {
            run: "digits".into(),
            config: [5; 16],
            schema: [7; 16],
            instance: 6,
            standing: Standing::Running { roster: roster.clone(), attempt: 2, signatures: vec![vec![7; 64]] },
            addresses: vec!["/ip4/127.0.0.1/tcp/1".into()],
            name: "Zürich".into(),
        }),
        Frame::Config("rounds = 3".into()),
        Frame::Schema(crate::schema::Schema {
            features: 2,
            target: "classes".into(),
            classes: Some(300),
            columns: Some(crate::schema::Names::new(&["a".into(), "é".into()])),
            class_names: None,
        }),
        Frame::Refuse(Refusal::Closed, "began".into()),
        Frame::Members(vec![Known { peer: vec![1; 38], addresses: vec!["/ip4/127.0.0.1/tcp/1".into()] }]),
        Frame::Confirm { attempt: 1, roster, signature: vec![3; 64] },
        Frame::Finished,
        Frame::Alive { answer: true },
        Frame::Datagrams(Doorway { port: 7, key: DatagramKey([9; 32]) }),
        Frame::Again { number: 300, bytes: vec![1, 2, 3] },
        with(values(), sum()),
        with(Numbers::Words(Words::modulo_32(vec![0, u32::MAX, 1 << 31])), sum()),
        with(Numbers::Words(Words::modulo_64(vec![0, u64::MAX, 1 << 63])), sum()),
        with(values(), gossip::Say::State),
        with(values(), walk::Say::Token(name)),
        message(walk::Say::Here(name)),
        message(walk::Say::Safe(name)),
        message(walk::Say::Over { token: 1 }),
        message(Body::Nudge),
        message(Body::NotYet),
        message(asks()),
        message(Say::Fetch { digest: Box::new(Fingerprint([1; 32])) }),
        with(values(), Say::Model { version: 2 }),
    ]
}

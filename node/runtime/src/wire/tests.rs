use futures::executor::block_on;
use futures::io::Cursor;
use proptest::prelude::*;
use protocol::{Body, Digest, Message, RunId, Values};

use super::*;

fn message(body: Body) -> Frame {
    Frame::Message(Message { run: RunId(7), round: 3, step: 1, body })
}

fn read(bytes: &[u8], limits: Limits) -> Result<Frame, WireError> {
    block_on(read_frame(&mut Cursor::new(bytes), limits))
}

#[test]
fn the_bytes_of_a_sum_are_these() {
    let sum = Body::Sum {
        epoch: 2,
        values: Values::from_wire(vec![1.0, -2.5]),
        count: 4,
        start: Digest([9; 16]),
        knocked: true,
    };
    let mut expected = vec![28, 0, 0, 0];
    // Version, two numbers, a message, run, round, step, a sum, epoch, count.
    expected.extend([2, 2, 9, 7, 3, 1, 0, 2, 4]);
    expected.extend([9; 16]);
    expected.push(1);
    expected[0] = (expected.len() - 4) as u8;
    expected.extend([0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]);
    assert_eq!(to_bytes(&message(sum)).unwrap(), expected);
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
    let values: Vec<f32> = (0..100_001).map(|i| i as f32).collect();
    let frame = message(Body::State { values: Values::from_wire(values) });
    let mut bytes = Vec::new();
    block_on(write_frame(&mut bytes, &frame)).unwrap();
    assert_eq!(bytes, to_bytes(&frame).unwrap());
    assert_eq!(read(&bytes, Limits::for_model(100_001)).unwrap(), frame);
}

#[test]
fn what_is_larger_than_the_model_allows_is_refused_before_it_is_read() {
    let frame = message(Body::State { values: Values::from_wire(vec![0.0; 17]) });
    let bytes = to_bytes(&frame).unwrap();
    let refused = read(&bytes, Limits::for_model(3)).unwrap_err();
    assert!(matches!(refused, WireError::ManyValues { count: 17, limit: 16 }), "{refused}");
    let refused = read(&u32::MAX.to_le_bytes(), Limits::for_model(3)).unwrap_err();
    assert!(matches!(refused, WireError::LongHeader { .. }), "{refused}");
    assert!(matches!(read(&bytes, Limits::STRANGER).unwrap_err(), WireError::ManyValues { limit: 0, .. }));
}

#[test]
fn numbers_belong_behind_the_frames_that_carry_them() {
    let mut bytes = to_bytes(&Frame::Finished).unwrap();
    bytes[5] = 1;
    bytes.extend([0; 4]);
    assert!(matches!(read(&bytes, Limits::for_model(3)).unwrap_err(), WireError::Misplaced { count: 1 }));
    let empty = message(Body::State { values: Values::from_wire(Vec::new()) });
    let refused = read(&to_bytes(&empty).unwrap(), Limits::for_model(3)).unwrap_err();
    assert!(matches!(refused, WireError::Misplaced { count: 0 }));
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
    fn a_damaged_frame_never_panics(which in 0_usize..15, at in any::<usize>(), with in any::<u8>()) {
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
            let values = vec![1.0; head.values];
            let frame = head.with(values);
            let again = to_bytes(&frame).unwrap();
            prop_assert_eq!(read(&again, Limits::for_model(3)).unwrap(), frame);
        }
    }
}

fn samples() -> Vec<Frame> {
    let assembly = r#"{"epoch":1,"ballot":[2,3],"kind":{"Promise":{"accepted":[[1,2],{"members":[0,1,2],"round":4,
        "version":3,"model":"48943f7a0ea247f8e3c9386d0c5822fe","holder":1,"banned":[2]}],"version":3,
        "model":"48943f7a0ea247f8e3c9386d0c5822fe","round":4,"accused":[5]}}}"#;
    let values = || Values::from_wire(vec![0.5, f32::MAX, -0.0]);
    let roster = vec![vec![1; 38], vec![2; 38]];
    vec![
        Frame::Greeting(Greeting { challenge: [3; 32] }),
        Frame::Proof([4; 32]),
        Frame::Card(Card {
            run: "digits".into(),
            config: [5; 16],
            schema: [7; 16],
            instance: 6,
            standing: Standing::Running { roster: roster.clone() },
            addresses: vec!["/ip4/127.0.0.1/tcp/1".into()],
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
        Frame::Confirm { attempt: 1, roster },
        Frame::Finished,
        Frame::Alive { answer: true },
        message(Body::Sum { epoch: 0, values: values(), count: 1, start: Digest([1; 16]), knocked: false }),
        message(Body::State { values: values() }),
        message(Body::Token { token: 0, hop: 70_000, generation: 1, values: values() }),
        message(Body::TokenHere { token: 0, hop: 1, generation: 1 }),
        message(Body::TokenSafe { token: 0, hop: 1, generation: 1 }),
        message(Body::Nudge),
        message(Body::NotYet),
        message(Body::Assembly(serde_json::from_str(assembly).unwrap())),
        message(Body::Fetch { digest: Digest([1; 16]) }),
        message(Body::Model { version: 2, values: values() }),
        message(Body::Knock { epoch: 300 }),
        message(Body::Over { token: 1 }),
    ]
}

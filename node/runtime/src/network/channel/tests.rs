use futures::future::join;
use futures::{AsyncReadExt, AsyncWriteExt};
use libp2p::PeerId;
use libp2p::identity::Keypair;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use super::*;
use crate::secret::Secret;

type Channel = sealed::Sealed<Compat<DuplexStream>>;
type Agreed = Result<(PeerId, Channel), ChannelError>;

fn keys(secret: &Secret) -> (Keys, PeerId) {
    let identity = Keypair::generate_ed25519();
    (Keys::new(&identity, secret).unwrap(), identity.public().to_peer_id())
}

async fn meet(caller: &Keys, called: &Keys) -> (Agreed, Agreed) {
    let (left, right) = duplex(1 << 12);
    join(agree(left.compat(), true, caller), agree(right.compat(), false, called)).await
}

/// Whether the one hears what the other says, in pieces of every kind.
async fn is_heard(from: &mut Channel, to: &mut Channel) -> bool {
    let said: Vec<u8> = (0..300_000_u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
    let mut heard = vec![0; said.len()];
    let speak = async {
        let (mut at, mut length) = (0, 1);
        while at < said.len() {
            let end = said.len().min(at + length);
            from.write_all(&said[at..end]).await.unwrap();
            if length.is_multiple_of(2) {
                from.flush().await.unwrap();
            }
            (at, length) = (end, 3 * length + 1);
        }
        from.flush().await.unwrap();
    };
    let (_, read) = join(speak, to.read_exact(&mut heard)).await;
    read.is_ok() && heard == said
}

#[tokio::test]
async fn members_hear_each_other_with_either_cipher_and_know_who_it_is() {
    let secret = Secret::generate().unwrap();
    for with_aes in [[true, true], [true, false], [false, true], [false, false]] {
        let [(mut a, id_of_a), (mut b, id_of_b)] = [(); 2].map(|()| keys(&secret));
        [a.has_aes, b.has_aes] = with_aes;
        let (of_b, of_a) = meet(&a, &b).await;
        let ((peer_b, mut to_b), (peer_a, mut to_a)) = (of_b.unwrap(), of_a.unwrap());
        assert_eq!((peer_a, peer_b), (id_of_a, id_of_b));
        assert!(is_heard(&mut to_b, &mut to_a).await, "{with_aes:?}");
        assert!(is_heard(&mut to_a, &mut to_b).await, "{with_aes:?}");
    }
}

#[tokio::test]
async fn who_has_another_secret_hears_nothing_and_both_know() {
    let [(a, _), (b, _)] = [(); 2].map(|()| keys(&Secret::generate().unwrap()));
    let (of_b, of_a) = meet(&a, &b).await;
    assert!(matches!(of_b, Err(ChannelError::Stranger)), "who calls");
    assert!(matches!(of_a, Err(ChannelError::Stranger)), "who is called");
}

#[tokio::test]
async fn a_stranger_hears_only_that_it_is_not_understood() {
    let (member, _) = keys(&Secret::generate().unwrap());
    // What begins with a plausible length, and what an older node, a browser or nobody would say.
    let plausible = [&[0, 49][..], &[7; 49]].concat();
    let none = [0, 0].to_vec();
    for words in [plausible, none, vec![0xa5; 24], b"GET / HTTP/1.1\r\n\r\n".to_vec()] {
        let (mut stranger, door) = duplex(1 << 12);
        stranger.write_all(&words).await.unwrap();
        let agreed = agree(door.compat(), false, &member).await;
        assert!(matches!(agreed, Err(ChannelError::Stranger)), "{words:?}");
        drop(agreed);
        let mut heard = Vec::new();
        stranger.read_to_end(&mut heard).await.unwrap();
        assert_eq!(heard, [0xff, 0xff], "{words:?}");
    }
}

#[tokio::test]
async fn versions_refuse_each_other_by_name_on_both_sides() {
    let secret = Secret::generate().unwrap();
    let [(old, _), (mut new, _)] = [(); 2].map(|()| keys(&secret));
    new.version = VERSION + 1;
    for (caller, called) in [(&old, &new), (&new, &old)] {
        let (of_called, of_caller) = meet(caller, called).await;
        let theirs = |agreed: Agreed| match agreed {
            Err(ChannelError::Version { theirs }) => theirs,
            other => panic!("{:?}", other.err()),
        };
        assert_eq!((theirs(of_called), theirs(of_caller)), (called.version, caller.version));
    }
}

#[tokio::test]
async fn a_thief_of_the_swarm_file_cannot_be_somebody_else() {
    let secret = Secret::generate().unwrap();
    let [(victim, _), (mut thief, _), (member, _)] = [(); 3].map(|()| keys(&secret));
    // All that the victim ever says of itself, with a channel key of the thief's own.
    thief.say_as(&victim);
    let (of_member, _) = meet(&thief, &member).await;
    assert!(of_member.is_ok(), "the member is who it is");
    let (_, of_thief) = meet(&thief, &member).await;
    assert!(matches!(of_thief, Err(ChannelError::Identity)), "as caller");
    let (of_thief, _) = meet(&member, &thief).await;
    assert!(matches!(of_thief, Err(ChannelError::Identity)), "as the one who is called");
}

/// Passes on what two say to each other, with one bit of the byte at `at` turned around; says how much it was.
async fn meddle(
    from: &mut (impl tokio::io::AsyncRead + Unpin),
    to: &mut (impl tokio::io::AsyncWrite + Unpin),
    at: usize,
) -> usize {
    let (mut passed, mut buffer) = (0, [0; 256]);
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if (passed..passed + length).contains(&at) {
            buffer[at - passed] ^= 1;
        }
        passed += length;
        if to.write_all(&buffer[..length]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
    passed
}

/// Who says "hello" to whom over somebody who turns a bit around: what is heard, and how much passed.
async fn said_over_a_meddler(caller: &Keys, called: &Keys, at: usize) -> (Option<Vec<u8>>, usize) {
    let ((left, near_left), (near_right, right)) = (duplex(1 << 12), duplex(1 << 12));
    let ((mut left_out, mut left_in), (mut right_out, mut right_in)) =
        (tokio::io::split(near_left), tokio::io::split(near_right));
    let speak = async {
        let (_, mut channel) = agree(left.compat(), true, caller).await.ok()?;
        channel.write_all(b"hello").await.ok()?;
        channel.close().await.ok()
    };
    let hear = async {
        let (_, mut channel) = agree(right.compat(), false, called).await.ok()?;
        let mut heard = Vec::new();
        channel.read_to_end(&mut heard).await.ok()?;
        Some(heard)
    };
    let there = meddle(&mut left_out, &mut right_in, at);
    let back = meddle(&mut right_out, &mut left_in, usize::MAX);
    // Where a length was changed both wait for the other; the transport would end that.
    let all = join(join(speak, hear), join(there, back));
    let all = tokio::time::timeout(std::time::Duration::from_secs(10), all).await;
    all.map_or((None, 0), |((_, heard), (passed, _))| (heard, passed))
}

#[tokio::test(start_paused = true)]
async fn a_bit_that_is_turned_around_anywhere_is_noticed() {
    let secret = Secret::generate().unwrap();
    let [(a, _), (b, _)] = [(); 2].map(|()| keys(&secret));
    let (heard, passed) = said_over_a_meddler(&a, &b, usize::MAX).await;
    assert_eq!(heard.as_deref(), Some(&b"hello"[..]));
    for at in 0..passed {
        let (heard, _) = said_over_a_meddler(&a, &b, at).await;
        assert_eq!(heard, None, "byte {at} of {passed}");
    }
}

#[tokio::test]
async fn a_record_that_is_cut_short_said_again_or_left_out_is_noticed() {
    let keys = [&[1; 32], &[2; 32]];
    let mut records = Vec::new();
    let (near, mut far) = duplex(1 << 12);
    let mut channel = sealed::Sealed::new(near.compat(), sealed::Cipher::Aes, keys);
    for word in ["first", "second"] {
        channel.write_all(word.as_bytes()).await.unwrap();
        channel.flush().await.unwrap();
        let mut record = vec![0; 2 + word.len() + 16];
        far.read_exact(&mut record).await.unwrap();
        records.push(record);
    }
    let heard = async |bytes: Vec<u8>| {
        let (near, mut far) = duplex(1 << 12);
        far.write_all(&bytes).await.unwrap();
        drop(far);
        let [ours, theirs] = keys;
        let mut channel = sealed::Sealed::new(near.compat(), sealed::Cipher::Aes, [theirs, ours]);
        let mut heard = Vec::new();
        channel.read_to_end(&mut heard).await.map(|_| heard).map_err(|error| error.kind())
    };
    use std::io::ErrorKind::{InvalidData, UnexpectedEof};
    assert_eq!(heard(records.concat()).await, Ok(b"firstsecond".to_vec()));
    assert_eq!(heard([&records[0][..], &records[0]].concat()).await, Err(InvalidData), "said again");
    assert_eq!(heard(records[1].clone()).await, Err(InvalidData), "left out");
    let whole = records.concat();
    for length in 1..whole.len() {
        let expected = if length == records[0].len() { Ok(b"first".to_vec()) } else { Err(UnexpectedEof) };
        assert_eq!(heard(whole[..length].to_vec()).await, expected, "{length} bytes");
    }
}

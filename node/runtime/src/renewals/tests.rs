use libp2p::PeerId;

use super::*;
use crate::secret::Secret;
use crate::swarm_file::SwarmFile;

fn member(name: &str) -> Member {
    let seed = [name.as_bytes()[0]; 32];
    let peer = crate::identity::peer_of(&Ed25519::public(&seed)).unwrap();
    Member { peer, addresses: Vec::new(), name: Some(name.into()) }
}

fn step(without: &[PeerId], joins: &[(&str, Option<PeerId>)], hostile: u32) -> Renewal {
    let joining =
        |(name, replaces): &(&str, Option<PeerId>)| Joining { member: member(name), replaces: *replaces };
    Renewal {
        without: without.to_vec(),
        joins: joins.iter().map(joining).collect(),
        hostile,
        next_round: 9,
        rounds: None,
        learning_rate: None,
        decision: Certificate::default(),
    }
}

/// Four founders, of whom `c` is replaced, then `a` taken out and somebody let in.
fn sample() -> SwarmFile {
    let founders: Vec<Member> = ["a", "b", "c", "d"].map(member).into();
    let (a, c) = (founders[0].peer, founders[2].peer);
    let steps = vec![
        step(&[c], &[("new", Some(c))], 1),
        Renewal { rounds: Some(80), learning_rate: Some(0.125), ..step(&[a], &[("late", None)], 1) },
    ];
    let renewals = Renewals { founders, steps };
    SwarmFile {
        name: "digits".into(),
        nodes: 4,
        config: "rounds = 20\n".into(),
        secret: Secret::generate().unwrap(),
        roster: renewals.members(),
        schema: None,
        relays: Vec::new(),
        renewals,
    }
}

#[test]
fn a_renewed_file_comes_back_with_its_members_and_places() {
    let folder = tempfile::tempdir().unwrap();
    let file = sample();
    file.create(&folder.path().join("a")).unwrap();
    let back = SwarmFile::load(&folder.path().join("a")).unwrap();
    assert_eq!(back, file);
    let names: Vec<String> = back.roster.iter().map(|member| member.name.clone().unwrap()).collect();
    assert_eq!(names, ["b", "d", "new", "late"]);
    let places = back.renewals.places();
    assert_eq!(places.len(), 6, "nobody's place is given again");
    for (at, peer) in places.members().iter().enumerate() {
        assert_eq!(places.position(peer), Some(at as PeerIx));
    }
    assert_eq!(
        (places.position(&member("new").peer), places.position(&member("late").peer)),
        (Some(4), Some(5))
    );
    let totals = back.renewals.totals();
    assert_eq!((totals.places, totals.members, totals.rounds), (6, 4, vec![(9, 80)]));
    let gone = back.renewals.gone();
    assert_eq!(gone[&member("c").peer], "`c` got another key by renewal 1");
    assert_eq!(gone[&member("a").peer], "`a` was taken out of the run by renewal 2");
}

#[test]
fn who_joins_is_waited_for_unless_members_may_be_late() {
    let renewals = sample().renewals;
    let (all, present) = (renewals.signers(false), renewals.signers(true));
    assert_eq!((all.len(), present.len()), (4, 3));
    assert!(!present.contains(&member("late").peer) && present.contains(&member("new").peer));
}

/// A digest names a renewal and all before it: whatever is changed, from the founding on, gives others.
#[test]
fn every_change_by_hand_is_noticed_and_later_digests_follow_from_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let file = sample();
    file.create(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let c = member("c").peer.to_base58();
    for (from, to) in [
        ("next_round = 9".to_owned(), "next_round = 3".to_owned()),
        ("rounds = 80".into(), "rounds = 81".into()),
        ("learning_rate = 0.125".into(), "learning_rate = 4.0".into()),
        ("hostile = 1".into(), "hostile = 0".into()),
        (format!("replaces = \"{c}\"\n"), String::new()),
        ("name = \"late\"".into(), "name = \"early\"".into()),
    ] {
        let forged = text.replacen(&from, &to, 1);
        assert_ne!(forged, text, "{from}");
        let said = SwarmFile::parse(&forged, &path).unwrap_err().to_string();
        assert!(said.contains("was changed by hand"), "{from}: {said}");
    }
    let digests = file.renewal_digests();
    let mut other = file.clone();
    other.renewals.steps[0].next_round = 10;
    let others = other.renewal_digests();
    assert!(digests[0] != others[0] && digests[1] != others[1]);
    let renamed = SwarmFile { name: "other".into(), ..file.clone() };
    assert!(renamed.renewal_digests().iter().all(|digest| !digests.contains(digest)));
    assert_eq!(
        SwarmFile { secret: Secret::generate().unwrap(), ..file }.renewal_digests(),
        digests,
        "the secret is none of it"
    );
}

#[test]
fn what_cannot_be_kept_is_refused_by_name() {
    let founders: Vec<Member> = ["a", "b", "c", "d"].map(member).into();
    let (a, b) = (founders[0].peer, founders[1].peer);
    let check = |steps: Vec<Renewal>| Renewals { founders: founders.clone(), steps }.check().unwrap_err();
    let stranger = PeerId::random();
    assert!(check(vec![step(&[stranger], &[], 0)]).contains("which takes no part"));
    assert!(check(vec![step(&[a], &[], 0), step(&[], &[("a", None)], 0)]).contains("needs a new identity"));
    assert!(check(vec![step(&[], &[("new", Some(b))], 0)]).contains("does not take out"));
    assert!(check(vec![step(&[a], &[], 1)]).contains("at most 0 of them"));
    let three: Vec<PeerId> = founders[..3].iter().map(|member| member.peer).collect();
    assert!(check(vec![step(&three, &[], 0)]).contains("leaves 1 members"));
}

#[test]
fn what_changes_is_said_with_how_many_decide_afterwards() {
    let file = sample();
    let said = Words { renewals: &file.renewals, at: 1 }.to_string();
    for part in [
        "renewal 2",
        "without   a (",
        "joins     late (",
        "rounds    80",
        "members   4: b, d, new, late",
        "decide    3 of them; 1 may be missing, 1 hostile",
        "from the beginning",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = Words { renewals: &file.renewals, at: 0 }.to_string();
    assert!(said.contains("replaced  new (") && said.contains("members   4: a, b, d, new"), "{said}");
    assert!(!said.contains("without"), "{said}");
}

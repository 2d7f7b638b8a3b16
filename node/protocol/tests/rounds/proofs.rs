//! Lies under a signature: once sums are signed, they ban.

use super::*;
use crate::findings::outsiders;
use protocol::agreement::Outline;
use protocol::agreement::danger::Liar;

/// Member 6 changes what it sends, and signs that as soon as sums are signed; how often it did.
fn lies_and_signs(
    swarm: &mut Swarm,
    change: impl Fn(PeerIx, &mut Vec<f32>) -> Option<u32> + 'static,
) -> std::rc::Rc<std::cell::Cell<u32>> {
    let liar = Liar::new(&swarm.settings, 6);
    let signed = std::rc::Rc::new(std::cell::Cell::new(0));
    let times = signed.clone();
    swarm.fate = Box::new(move |_, from, to, message| {
        let (round, step) = (message.round, message.step);
        let values =
            message.numbers.as_ref().and_then(Numbers::reals).map(|values| values.as_slice().to_vec());
        if from == 6
            && let (Body::Rounds(Say::Sum(sum)), Some(mut values)) = (&mut message.body, values)
            // Unsigned to one only: who contradicts more than f has no seat at once.
            && (to == 0 || sum.signature.is_some())
        {
            if let Some(count) = change(to, &mut values) {
                sum.count = count;
            }
            let square = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
            let digest = Outline::of(sum.count, &values, square).digest();
            if sum.signature.is_some() {
                sum.signature = Some(liar.sign_sum((sum.epoch, round, step), to, digest));
                times.set(times.get() + 1);
            }
            replace_values(message, values);
        }
        true
    });
    signed
}

/// Whom the last decision has banned, as an honest member knows it.
fn banned(swarm: &Swarm) -> Vec<PeerIx> {
    let certificate = swarm.nodes[0].as_ref().unwrap().certificate().expect("something was decided");
    certificate.chain.last().unwrap().decision.banned.clone()
}

/// Once sums are signed, who signs one that no honest member sends, or another than it states, is banned by its signature; the first lie made all sign.
#[test]
fn a_lie_under_a_signature_is_a_proof() {
    type Change = fn(PeerIx, &mut Vec<f32>) -> Option<u32>;
    let kinds: [(&str, Change); 5] = [
        ("of nothing", |_, _| Some(0)),
        ("too large", |_, values| {
            values[0] = 1e9;
            None
        }),
        ("not finite", |_, values| {
            values[0] = f32::NAN;
            None
        }),
        ("too long", |_, values| {
            values.push(0.0);
            None
        }),
        ("another for each", |to, values| {
            values[0] += 0.001 * (to + 1) as f32;
            None
        }),
    ];
    for (name, change) in kinds {
        let mut swarm = Swarm::new(settings(7, 60));
        let signed = lies_and_signs(&mut swarm, change);
        swarm.run();
        swarm.assert_all_done_and_equal(0..6);
        assert!(signed.get() > 0, "{name}: the first lie made all sign");
        assert_eq!(banned(&swarm), [6], "{name}: by proof, and nobody else");
        for honest in 0..6 {
            assert_eq!(outsiders(&swarm, honest), 0, "{name}: node {honest}");
        }
        // Whoever was a round ahead breaks that one for the same lie.
        let broken: std::collections::BTreeSet<u32> = swarm
            .log
            .iter()
            .filter_map(|(_, event)| match event {
                RunEvent::RoundBroken { epoch, .. } => Some(*epoch),
                _ => None,
            })
            .collect();
        assert!(broken.len() <= 2, "{name}: one lie to make all sign, one to be banned: {broken:?}");
    }
}

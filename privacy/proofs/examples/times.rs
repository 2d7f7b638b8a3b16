//! What proofs cost: processor seconds and bytes of one member, as `benches/proofs` prints them.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it prints a table, or stops")]

use std::hint::black_box;

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use proofs::{Bits, Member, Pad, Rules, Shown, verify};
use zeroize::Zeroizing;

/// Seconds of this process on processors: other programs do not count.
fn used() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = used();
    let made = work();
    (made, used() - before)
}

fn key(one: u32, other: u32) -> Zeroizing<[u8; 32]> {
    Zeroizing::new([(16 * one.min(other) + one.max(other)) as u8; 32])
}

fn show(rules: &Rules, me: u32) -> Shown {
    let others = rules.members().iter().copied().filter(|&other| other != me);
    let pads: Vec<Pad> = others.map(|other| Pad { with: other, key: key(me, other) }).collect();
    let values: Vec<i64> = (0..rules.numbers() as i64).map(|at| at * 1_000_003 - 500_000_000).collect();
    Member { rules, position: me }.show(&values, &pads, Zeroizing::new([me as u8; 32])).unwrap()
}

fn main() {
    // The yardstick: a product of a point and a number, as in a key agreement.
    let (point, number) =
        (RistrettoPoint::mul_base(&Scalar::from(7_u8)), Scalar::from(u128::MAX) * Scalar::from(u128::MAX));
    let (_, product) = timed(|| (0..2000).fold(point, |point, _| black_box(point * number)));
    let product = product / 2000.0;
    println!("product of a point and a number: {:.1} µs", 1e6 * product);
    println!("numbers members   show s  verify s  show/product  verify/product  bytes");
    for (numbers, members) in [(64, 8), (64, 16), (1024, 8), (1024, 16)] {
        let roster: Vec<u32> = (0..members).collect();
        let rules = Rules::new(b"times", &roster, numbers, Bits::ThirtyTwo).unwrap();
        let (mine, proving) = timed(|| show(&rules, 0));
        let all: Vec<Shown> = std::iter::once(mine).chain((1..members).map(|me| show(&rules, me))).collect();
        let (total, checking) = timed(|| verify(&rules, &all).unwrap());
        black_box(total);
        let checking = checking / f64::from(members);
        let (shown, checked) = (proving / product, checking / product);
        let bytes = all[0].to_bytes().len();
        println!(
            "{numbers:>7} {members:>7} {proving:>8.3} {checking:>9.4} {shown:>13.0} {checked:>15.0}  {bytes}"
        );
    }
}

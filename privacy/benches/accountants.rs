//! Times of the accountants in-process: `cargo bench -p murmuration-privacy --bench accountants`.
//!
//! Prints one JSON line per setting (median of several runs); `benches/accountants/compare.py` reads them.

#![allow(clippy::print_stdout, clippy::disallowed_types, reason = "a benchmark prints and reads the clock")]

use std::time::Instant;

use privacy::accountant::Accountant;
use privacy::event::DpEvent;
use privacy::pld::PldAccountant;
use privacy::rdp::RdpAccountant;

const SETTINGS: [(f64, f64, u64, f64); 6] = [
    (0.01, 1.0, 10_000, 1e-5),
    (0.01, 1.0, 10_000, 1e-6),
    (256.0 / 60_000.0, 1.1, 14_063, 1e-5),
    (0.001, 0.5, 100_000, 1e-7),
    (1e-4, 0.5, 1_000_000, 1e-9),
    (0.01, 1.0, 1, 1e-5),
];

fn main() {
    for (rate, noise_multiplier, steps, delta) in SETTINGS {
        let event = DpEvent::Gaussian { noise_multiplier }.poisson_sampled(rate);
        let (pld, pld_ms) = median_ms(|| ask(PldAccountant::default(), &event, steps, delta));
        let (renyi, renyi_ms) = median_ms(|| ask(RdpAccountant::default(), &event, steps, delta));
        println!(
            "{{\"rate\":{rate},\"sigma\":{noise_multiplier},\"steps\":{steps},\"delta\":{delta:e},\
             \"pld\":{pld},\"pld_ms\":{pld_ms:.3},\"renyi\":{renyi},\"renyi_ms\":{renyi_ms:.3}}}"
        );
    }
}

fn ask(mut accountant: impl Accountant, event: &DpEvent, steps: u64, delta: f64) -> f64 {
    accountant.compose(event, steps).expect("a supported event");
    accountant.epsilon(delta).expect("a valid δ")
}

fn median_ms(mut run: impl FnMut() -> f64) -> (f64, f64) {
    let value = run();
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(run(), value, "the same question has the same answer");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (value, times[times.len() / 2])
}

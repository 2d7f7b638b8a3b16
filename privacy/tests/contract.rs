//! One suite of promises that every accountant keeps.

#![allow(clippy::unwrap_used, reason = "a broken promise must fail the test")]

use privacy::accountant::{AccountError, Accountant, all};
use privacy::event::DpEvent;

const DELTA: f64 = 1e-5;

fn gaussian(noise_multiplier: f64) -> DpEvent {
    DpEvent::Gaussian { noise_multiplier }
}

/// One event of every kind, with a noise parameter: larger is more noise.
fn events(noise: f64) -> Vec<DpEvent> {
    vec![
        gaussian(noise),
        DpEvent::Laplace { noise_multiplier: noise },
        DpEvent::RandomizedResponse { epsilon: 1.0 / noise, categories: 4 },
        DpEvent::DPrivate { epsilon_per_unit: 1.0 / noise, distance: 0.5 },
        DpEvent::PureDp { epsilon: 1.0 / noise },
        DpEvent::ApproximateDp { epsilon: 1.0 / noise, delta: 1e-9 },
        DpEvent::ZeroConcentrated { rho: 0.5 / (noise * noise) },
        gaussian(noise).poisson_sampled(0.05),
        DpEvent::Laplace { noise_multiplier: noise }.poisson_sampled(0.05),
        DpEvent::PureDp { epsilon: 1.0 / noise }.poisson_sampled(0.05),
        gaussian(noise).sampled_without_replacement(5, 100),
        DpEvent::Laplace { noise_multiplier: noise }.sampled_without_replacement(5, 100),
        gaussian(noise).repeated(3),
        DpEvent::Sequence { events: vec![gaussian(noise), gaussian(2.0 * noise)] },
    ]
}

/// Runs a check on every accountant and every event that it takes; there must be some.
fn for_each_supported(check: impl Fn(&dyn Fn() -> Box<dyn Accountant>, usize)) {
    for which in 0..all().len() {
        let fresh = || all().swap_remove(which);
        let mut supported = 0;
        for index in 0..events(1.0).len() {
            if fresh().compose(&events(1.0)[index], 1).is_ok() {
                supported += 1;
                check(&fresh, index);
            }
        }
        assert!(supported >= 3, "{} takes only {supported} kinds", fresh().name());
    }
}

#[test]
fn composing_n_times_equals_n_single_compositions() {
    for_each_supported(|fresh, index| {
        let event = &events(1.3)[index];
        let (mut at_once, mut one_by_one, mut nested) = (fresh(), fresh(), fresh());
        at_once.compose(event, 5).unwrap();
        (0..5).for_each(|_| one_by_one.compose(event, 1).unwrap());
        nested.compose(&event.clone().repeated(5), 1).unwrap();
        let expected = at_once.epsilon(DELTA).unwrap();
        assert!(expected > 0.0, "{} {event:?}", at_once.name());
        assert_eq!(expected, one_by_one.epsilon(DELTA).unwrap(), "{} {event:?}", at_once.name());
        assert_eq!(expected, nested.epsilon(DELTA).unwrap(), "{} {event:?}", at_once.name());
        assert_eq!(
            at_once.delta(1.0).unwrap(),
            one_by_one.delta(1.0).unwrap(),
            "{} {event:?}",
            at_once.name()
        );
    });
}

#[test]
fn order_does_not_matter() {
    for_each_supported(|fresh, index| {
        let (event, other) = (&events(1.3)[index], gaussian(3.0));
        let (mut forth, mut back) = (fresh(), fresh());
        forth.compose(event, 2).unwrap();
        forth.compose(&other, 3).unwrap();
        back.compose(&other, 3).unwrap();
        back.compose(event, 2).unwrap();
        assert_eq!(forth.epsilon(DELTA).unwrap(), back.epsilon(DELTA).unwrap(), "{} {event:?}", forth.name());
    });
}

#[test]
fn more_noise_never_costs_more_and_more_events_never_less() {
    for_each_supported(|fresh, index| {
        let price = |noise: f64, count: u64| {
            let mut accountant = fresh();
            accountant.compose(&events(noise)[index], count).unwrap();
            (accountant.epsilon(DELTA).unwrap(), accountant.delta(0.5).unwrap())
        };
        let name = format!("{} {:?}", fresh().name(), events(1.0)[index]);
        let mut last = price(0.5, 3);
        for noise in [0.7, 1.0, 2.0, 8.0] {
            let now = price(noise, 3);
            // Discretised accountants are bounds within 1e-4 of the truth; below that they may wobble.
            assert!(
                now.0 <= last.0 * 1.0001 && now.1 <= last.1 * 1.002,
                "{name} at noise {noise}: {now:?} {last:?}"
            );
            last = now;
        }
        let (few, many) = (price(2.0, 3), price(2.0, 4));
        assert!(few.0 <= many.0 * 1.0001 && few.1 <= many.1 * 1.002, "{name}: {few:?} {many:?}");
    });
}

#[test]
fn epsilon_falls_with_delta_and_both_questions_agree() {
    for_each_supported(|fresh, index| {
        let mut accountant = fresh();
        accountant.compose(&events(1.3)[index], 4).unwrap();
        let name = format!("{} {:?}", accountant.name(), events(1.3)[index]);
        let (tight, loose) = (accountant.epsilon(1e-7).unwrap(), accountant.epsilon(1e-3).unwrap());
        assert!(tight >= loose && loose > 0.0, "{name}: {tight} {loose}");
        // The two questions use different lattices; a thousandth in ε covers both.
        let back = accountant.delta(tight * 1.001).unwrap();
        assert!(back <= 1e-7, "{name}: δ({tight}) = {back:e}");
    });
}

#[test]
fn infinities_propagate() {
    for mut accountant in all() {
        let name = accountant.name();
        accountant.compose(&gaussian(100.0), 1).unwrap();
        accountant.compose(&DpEvent::NonPrivate, 1).unwrap();
        assert_eq!(accountant.epsilon(0.5).unwrap(), f64::INFINITY, "{name}");
        assert_eq!(accountant.delta(1e6).unwrap(), 1.0, "{name}");
    }
}

#[test]
fn nothing_costs_nothing() {
    for mut accountant in all() {
        let name = accountant.name();
        assert_eq!(accountant.epsilon(DELTA).unwrap(), 0.0, "{name}");
        accountant.compose(&DpEvent::NonPrivate, 0).unwrap();
        accountant.compose(&gaussian(1.0).poisson_sampled(0.0), 7).unwrap();
        assert_eq!(accountant.epsilon(DELTA).unwrap(), 0.0, "{name}");
    }
}

#[test]
fn what_is_impossible_or_has_no_theorem_is_an_error_and_leaves_no_trace() {
    for mut accountant in all() {
        let name = accountant.name();
        accountant.compose(&gaussian(2.0), 1).unwrap();
        let before = accountant.epsilon(DELTA).unwrap();
        for bad in [gaussian(f64::NAN), gaussian(-1.0), gaussian(1.0).poisson_sampled(2.0)] {
            assert!(matches!(accountant.compose(&bad, 1), Err(AccountError::Ledger(_))), "{name} {bad:?}");
        }
        let mixed = DpEvent::Sequence { events: vec![gaussian(1.0), DpEvent::PureDp { epsilon: 1.0 }] };
        assert!(accountant.compose(&mixed.poisson_sampled(0.5), 1).is_err(), "{name}");
        assert!(accountant.compose(&gaussian(1.0).repeated(u64::MAX), 3).is_err(), "{name}");
        assert_eq!(accountant.epsilon(DELTA).unwrap(), before, "{name}");
    }
}

#[test]
fn bad_questions_are_refused() {
    for accountant in all() {
        for delta in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
            assert!(accountant.epsilon(delta).is_err(), "{} {delta}", accountant.name());
        }
        for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(accountant.delta(epsilon).is_err(), "{} {epsilon}", accountant.name());
        }
    }
}

#[test]
fn the_distribution_is_never_looser_than_the_others_where_all_apply() {
    let mixtures = [
        vec![(gaussian(2.0), 10), (DpEvent::Laplace { noise_multiplier: 5.0 }, 20)],
        vec![(gaussian(1.0).poisson_sampled(0.02), 500), (DpEvent::PureDp { epsilon: 0.05 }, 10)],
        vec![(gaussian(2.0).sampled_without_replacement(10, 100), 200)],
        vec![(DpEvent::RandomizedResponse { epsilon: 0.2, categories: 2 }, 100)],
        vec![(DpEvent::ApproximateDp { epsilon: 0.1, delta: 1e-8 }, 50)],
    ];
    for mixture in mixtures {
        let mut found = Vec::new();
        for mut accountant in all() {
            if mixture.iter().all(|(event, count)| accountant.compose(event, *count).is_ok()) {
                found.push((accountant.name(), accountant.epsilon(DELTA).unwrap()));
            }
        }
        let pld = found.iter().find(|(name, _)| *name == "pld").unwrap().1;
        assert!(
            found.len() >= 3 && found.iter().all(|(_, epsilon)| pld <= epsilon * 1.0001),
            "{mixture:?}: {found:?}"
        );
    }
}

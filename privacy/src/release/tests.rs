use super::*;

fn gaussian(noise_multiplier: f64) -> DpEvent {
    DpEvent::Gaussian { noise_multiplier }
}

fn ledger(events: &[(DpEvent, u64)]) -> Releases {
    let mut ledger = Releases::default();
    events.iter().for_each(|(event, count)| ledger.add(event, *count).unwrap());
    ledger
}

#[test]
fn order_and_grouping_leave_the_ledger_bit_for_bit_equal() {
    let (first, second) = (gaussian(1.0).poisson_sampled(0.1), DpEvent::PureDp { epsilon: 0.5 });
    let grouped = ledger(&[(first.clone(), 3), (second.clone(), 2)]);
    let singles =
        ledger(&[(second.clone(), 1), (first.clone(), 2), (second.clone().repeated(1), 1), (first, 1)]);
    assert_eq!(grouped, singles);
    assert_eq!(grouped.entries().len(), 2);
}

#[test]
fn gaussians_on_one_sample_become_one_gaussian() {
    let event = DpEvent::Sequence { events: vec![gaussian(3.0), gaussian(4.0)] }.poisson_sampled(0.1);
    let found = ledger(&[(event, 1)]);
    let [(Release { mechanism: Mechanism::Gaussian { noise_multiplier }, .. }, 1)] = found.entries() else {
        panic!("{found:?}")
    };
    // 1/9 + 1/16 = (1/2.4)².
    assert!((noise_multiplier - 2.4).abs() < 1e-14 && *noise_multiplier <= 2.4, "{noise_multiplier}");
}

#[test]
fn a_sample_of_a_sample_multiplies_rates_and_the_whole_population_is_no_sample() {
    let found = ledger(&[(gaussian(1.0).poisson_sampled(0.5).poisson_sampled(0.25), 1)]);
    assert_eq!(found.entries()[0].0.sampling, Sampling::Poisson { rate: 0.125f64.next_up() });
    let whole = ledger(&[(gaussian(1.0).poisson_sampled(1.0), 1)]);
    assert_eq!(whole.entries()[0].0.sampling, Sampling::All);
    assert!(ledger(&[(gaussian(1.0).poisson_sampled(0.0), 7)]).entries().is_empty());
}

#[test]
fn what_has_no_theorem_is_refused_and_leaves_no_trace() {
    let mut ledger = Releases::default();
    let mixed = DpEvent::Sequence { events: vec![gaussian(1.0), DpEvent::PureDp { epsilon: 1.0 }] };
    assert!(matches!(ledger.add(&mixed.poisson_sampled(0.1), 1), Err(LedgerError::Nesting { .. })));
    let twice = gaussian(1.0).sampled_without_replacement(1, 2).sampled_without_replacement(1, 2);
    assert!(matches!(ledger.add(&twice, 1), Err(LedgerError::Nesting { .. })));
    assert_eq!(ledger.add(&gaussian(1.0).repeated(u64::MAX), 2), Err(LedgerError::TooMany));
    assert_eq!(ledger, Releases::default());
}

#[test]
fn two_adjacencies_do_not_meet_in_one_ledger() {
    let mut ledger = Releases::default();
    ledger.add(&gaussian(1.0).poisson_sampled(0.1), 1).unwrap();
    let other = gaussian(1.0).sampled_without_replacement(1, 10);
    assert_eq!(ledger.add(&other, 1), Err(LedgerError::Event(EventError::MixedAdjacency)));
}

//! Trainers in this process, honest ones and others.

use std::sync::atomic::{AtomicUsize, Ordering};

use privacy::event::DpEvent;
use privacy::noise::danger_from_seed;

use super::*;
use crate::config::{Config, Layer};
use crate::values::Values;
use crate::work::{NodeState, Room};
use crate::{Setup, SetupError};

/// Linear regression on records (1, x), y = 2x: row i is its gradient.
struct Line {
    hello: Hello,
    lie: Lie,
    calls: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Lie {
    No,
    LongRows,
    BatchNorm,
    State,
    Position,
    Nan,
    /// Well at the start, gone from this question on.
    DiesAfter(u64),
    ShortNorms,
    LongSum,
}

const RECORDS: u32 = 40;

fn line(lie: Lie) -> Box<dyn Trainer> {
    let tensors = vec![Tensor { name: "line".into(), shape: vec![2] }];
    let answers = vec![Kind::Update, Kind::Rows, Kind::Norms, Kind::Sum];
    Box::new(Line { hello: Hello { protocol: 1, answers, records: RECORDS, tensors }, lie, calls: 0 })
}

impl Line {
    fn row(&self, record: u32, params: &[f32]) -> [f32; 2] {
        let x = record as f32 / RECORDS as f32;
        let residual = params[0] + params[1] * x - 2.0 * x + 0.3;
        [residual, residual * x]
    }

    fn numbers(&self, ask: &Ask<'_>) -> Vec<f32> {
        let rows: Vec<[f32; 2]> = ask.records.iter().map(|&record| self.row(record, ask.params)).collect();
        let norm = |row: &[f32; 2]| row[0].hypot(row[1]);
        match ask.kind {
            Kind::Update => (0..RECORDS)
                .map(|record| self.row(record, ask.params))
                .fold(vec![0.0; 2], |sum, row| vec![sum[0] - row[0], sum[1] - row[1]]),
            Kind::Rows => rows.concat(),
            Kind::Norms if self.lie == Lie::ShortNorms && self.calls > 30 => vec![1e-9; rows.len()],
            Kind::Norms => rows.iter().map(norm).collect(),
            Kind::Sum => {
                let mut sum = vec![0.0; 2];
                for (row, factor) in rows.iter().zip(ask.factors) {
                    sum[0] += factor * row[0];
                    sum[1] += factor * row[1];
                }
                sum
            }
        }
    }
}

impl Trainer for Line {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn answer(&mut self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        self.calls += 1;
        let mut numbers = self.numbers(ask);
        match self.lie {
            Lie::LongRows => numbers.iter_mut().for_each(|value| *value *= 1e30),
            Lie::BatchNorm => numbers.iter_mut().for_each(|value| *value /= ask.records.len().max(1) as f32),
            Lie::State => numbers.iter_mut().for_each(|value| *value += self.calls as f32),
            Lie::Position => numbers[0] += 1.0,
            Lie::Nan => numbers.fill(f32::NAN),
            Lie::DiesAfter(calls) if self.calls > calls => {
                return Err(Trouble::Ended { how: "signal 9".into() });
            }
            Lie::LongSum if ask.kind == Kind::Sum && self.calls > 30 => numbers.fill(1e9),
            _ => {}
        }
        Ok(Answer { numbers, loss: Some(0.5) })
    }
}

fn config(more: &[&str]) -> Config {
    let pairs: Vec<String> =
        ["nodes=2", "model.kind=external", "batch_size=20", "partition.min_size=40", "rounds=5"]
            .iter()
            .chain(more)
            .map(|&pair| pair.to_owned())
            .collect();
    Config::from_layers([Layer::from_flags("--set", &pairs).unwrap()]).unwrap()
}

fn setup(more: &[&str], lie: Lie) -> (Result<Setup, SetupError>, Arc<AtomicUsize>) {
    let complaints = Arc::new(AtomicUsize::new(0));
    let heard = complaints.clone();
    let complain: Complain = Arc::new(move |_, _| {
        heard.fetch_add(1, Ordering::SeqCst);
    });
    (Setup::for_trainer(config(more), line(lie), complain), complaints)
}

/// Contributions and events of some rounds, and how often its owner heard of trouble.
fn contributions(more: &[&str], lie: Lie) -> (Vec<(Vec<f32>, DpEvent)>, usize) {
    let (setup, complaints) = setup(more, lie);
    let setup = setup.unwrap();
    let (mut room, mut state) = (Room::default(), NodeState::default());
    let mut noise = danger_from_seed(5, "trainer");
    let made = (0..40)
        .map(|round| {
            let job = Job::new(round, Values::derived(vec![0.1, 0.2]));
            let desk = &mut Desk { node: 0, position: 0, room: &mut room, state: &mut state };
            let made = setup.door.contribute(desk, &job, &mut noise).unwrap();
            (made.contribution.reals().expect("reals").values().to_vec(), made.release)
        })
        .collect();
    (made, complaints.load(Ordering::SeqCst))
}

const NODE: &str = "privacy.adjacency=node";
const BY_TRAINER: &str = "model.clipping=trainer";
const NOISE: &str = "privacy.noise_multiplier=1";
const BARE: &str = "privacy.noise_multiplier=0";

#[test]
fn rows_that_depend_on_more_than_their_record_are_refused_at_the_start_and_the_probe_is_named() {
    let refused = |lie, more: &[&str]| match setup(more, lie).0 {
        Err(SetupError::External(error)) => {
            assert!(topology::Hint::hint(&error).is_some());
            std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default()
        }
        other => panic!("{lie:?}: {other:?}"),
    };
    for more in [&[NOISE][..], &[NOISE, BY_TRAINER]] {
        assert!(refused(Lie::State, more).contains("`twice`"));
        assert!(refused(Lie::Position, more).contains("`permuted`"));
        assert!(refused(Lie::BatchNorm, more).contains("`split`"));
        assert!(setup(more, Lie::No).0.is_ok());
    }
    assert!(refused(Lie::DiesAfter(0), &[NOISE]).contains("signal 9"));
    // At node level anything goes.
    for lie in [Lie::State, Lie::BatchNorm, Lie::Position, Lie::LongRows, Lie::Nan] {
        assert!(setup(&[NOISE, NODE], lie).0.is_ok(), "{lie:?}");
    }
}

#[test]
fn a_trainer_that_dies_costs_what_it_would_have_cost_and_only_its_owner_hears_of_it() {
    for more in [&[NOISE][..], &[NOISE, BY_TRAINER], &[NOISE, NODE]] {
        let (honest, complaints) = contributions(more, Lie::No);
        assert_eq!(complaints, 0);
        let (dead, complaints) = contributions(more, Lie::DiesAfter(30));
        assert!(complaints > 5, "{complaints}");
        assert_eq!(honest.len(), dead.len());
        for ((left, cost), (right, charged)) in honest.iter().zip(&dead) {
            assert_eq!((left.len(), cost), (right.len(), charged));
            assert!(
                right.iter().all(|value| value.is_finite() && *value != 0.0),
                "zeros without noise would tell"
            );
        }
    }
}

#[test]
fn no_contribution_is_longer_than_the_clip_norm_allows_whatever_the_trainer_sends() {
    // Without noise the contribution is the clipped sum itself: at most C per record drawn, over a batch of 20.
    let clip = 0.5_f32;
    for (more, lies) in [
        (&[BARE, "privacy.clip_norm=0.5"][..], &[Lie::LongRows, Lie::Nan][..]),
        (&[BARE, "privacy.clip_norm=0.5", NODE], &[Lie::LongRows, Lie::Nan, Lie::State]),
        (&[BARE, "privacy.clip_norm=0.5", BY_TRAINER], &[Lie::LongSum]),
    ] {
        for &lie in lies {
            let most = if more.contains(&NODE) { clip } else { clip * 40.0 / 20.0 };
            for (values, _) in contributions(more, lie).0 {
                let norm = values[0].hypot(values[1]);
                assert!(norm <= most * 1.001, "{lie:?} {norm}");
                assert!(lie != Lie::Nan || norm == 0.0);
            }
        }
    }
}

#[test]
fn rows_and_factored_sums_of_an_honest_trainer_are_the_same_contribution() {
    let (rows, _) = contributions(&[BARE, "privacy.clip_norm=0.2"], Lie::No);
    let (sums, _) = contributions(&[BARE, "privacy.clip_norm=0.2", BY_TRAINER], Lie::No);
    for ((left, _), (right, _)) in rows.iter().zip(&sums) {
        let apart = (left[0] - right[0]).hypot(left[1] - right[1]);
        assert!(apart < 1e-5 * left[0].hypot(left[1]), "{left:?} {right:?}");
    }
    assert!(rows.iter().any(|(values, _)| values[0] != 0.0));
}

#[test]
fn the_slack_of_a_trainers_sum_is_paid_for() {
    let deviation = |more: &[&str]| {
        let setup = setup(more, Lie::No).0.unwrap();
        let Unit::Record { common, .. } = &setup.work.unit else { panic!("records") };
        common.slack
    };
    let (ours, theirs) = (deviation(&[NOISE]), deviation(&[NOISE, BY_TRAINER]));
    assert!((theirs - ours - learn::gradient::TRAINER_SLACK).abs() < 1e-12);
}

#[test]
fn foreign_models_of_other_shapes_or_first_values_are_other_runs() {
    let folder = std::env::temp_dir().join(format!("murmur-initial-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, tensor: &str, values: &[f32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![values.len()], &bytes)
            .unwrap();
        let path = folder.join(name);
        std::fs::write(&path, safetensors::serialize([(tensor, view)], None).unwrap()).unwrap();
        format!("model.initial={:?}", path.display().to_string())
    };
    let digest = |key: &str| {
        setup(&[NOISE, key], Lie::No)
            .0
            .map(|setup| (setup.digest, setup.settings.initial.as_slice().to_vec()))
    };
    let (one, first) = digest(&write("same", "line", &[1.0, 2.0])).unwrap();
    assert_eq!(first, [1.0, 2.0]);
    let (two, _) = digest(&write("same", "line", &[1.0, 2.5])).unwrap();
    assert_ne!(one, two, "the same path with other values is another run");
    for (tensor, values) in [("other", &[1.0, 2.0][..]), ("line", &[1.0]), ("line", &[1.0, f32::NAN])] {
        assert!(digest(&write("wrong", tensor, values)).is_err(), "{tensor} {values:?}");
    }
    assert!(digest("model.initial=\"no/such/file\"").is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

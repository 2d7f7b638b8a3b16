use super::*;
use crate::price::Pricer;
use crate::state::row::{Judged, Quality, Standing};
use crate::testing::{Swarm, config, done, line, released, setup};
use protocol::Digest;

fn state(settings: &[&str]) -> State {
    let setup = setup(settings);
    let mut state = State::new(Outline::of(&setup.config, Only::Everybody));
    state.know(Facts::of(&setup));
    state
}

fn standings(state: &State) -> Vec<Standing> {
    state.nodes.iter().map(Row::standing).collect()
}

#[test]
fn rounds_advance_losses_fall_and_everybody_is_here() {
    let mut state = state(&["nodes=4", "rounds=10"]);
    assert_eq!(standings(&state), [Standing::Starting; 4]);
    Swarm::new(4).rounds(10).iter().for_each(|line| state.push(line));
    assert_eq!((state.round, state.totals.contributions, state.totals.lines), (10, 40, 80));
    assert_eq!(standings(&state), [Standing::Here; 4]);
    assert_eq!(state.loss(), Some(0.2));
    state.on_over("done".into());
    let losses: Vec<f64> = state.curves.loss.points().iter().map(|point| point.1).collect();
    assert_eq!(losses.len(), 10);
    assert!(losses.windows(2).all(|pair| pair[0] > pair[1]), "{losses:?}");
}

#[test]
fn a_node_whose_process_dies_is_dead_and_one_outside_the_roster_is_away_until_it_is_back() {
    let mut state = state(&["nodes=3", "rounds=10"]);
    Swarm::new(3).rounds(1).iter().for_each(|line| state.push(line));
    state.on_ended(2, false);
    assert_eq!(standings(&state)[2], Standing::Dead);
    let roster = |epoch, members: &[PeerIx]| {
        let event = RunEvent::Roster {
            epoch,
            round: 1,
            members: members.to_vec(),
            model: Digest::default(),
            apart: Vec::new(),
        };
        line(0, 1, event)
    };
    state.push(&roster(1, &[0, 2]));
    assert_eq!(standings(&state), [Standing::Here, Standing::Away, Standing::Dead]);
    // It comes back; an old line does not send it away again.
    state.on_vitals(Some(2), Vitals { phase: "running".into(), ..Vitals::default() });
    state.push(&roster(2, &[0, 1, 2]));
    state.push(&roster(1, &[0, 2]));
    assert_eq!(standings(&state), [Standing::Here; 3]);
}

#[test]
fn prices_give_every_node_its_loss_and_the_curves_a_point() {
    let setup = setup(&["nodes=4", "rounds=10"]);
    let mut state = State::new(Outline::of(&setup.config, Only::Everybody));
    let mut pricer = Pricer::new(setup.shape(), Only::Everybody);
    let mut swarm = Swarm::new(4);
    let mut last = 0.0;
    for _ in 0..5 {
        for line in swarm.rounds(1) {
            state.push(&line);
            pricer.push(&line);
        }
        state.on_priced(pricer.price());
        let (worst, mean, local) = state.epsilon().unwrap();
        assert!(worst > last && mean.unwrap() <= worst && worst <= local);
        last = worst;
    }
    assert_eq!(state.curves.worst.points().len(), 5);
    assert_eq!(state.analysis.as_deref(), Some("rounds"));
}

#[test]
fn a_node_alone_knows_its_own_loss_and_whom_it_talks_to() {
    let config = config(&["nodes=3", "rounds=10"]);
    let mut state = State::new(Outline::of(&config, Only::Myself));
    let mut pricer = Pricer::new(setup(&["nodes=3", "rounds=10"]).shape(), Only::Myself);
    let quality = Quality { auc: Some(0.75), base_rate: Some(0.5), ..Quality::default() };
    let vitals = |linked: Vec<PeerIx>| Vitals {
        phase: "running".into(),
        position: Some(1),
        linked: Some(linked),
        judged: Some(Judged { round: 1, accuracy: Some(0.5), quality, ..Judged::default() }),
        ..Vitals::default()
    };
    state.on_vitals(None, vitals(vec![0, 2]));
    for line in [released(1, 0, 1.0), done(1, 0, 3)] {
        state.push(&line);
        pricer.push(&line);
    }
    state.on_priced(pricer.price());
    assert_eq!(standings(&state), [Standing::Here; 3]);
    assert!(state.nodes[1].lost.is_some() && state.nodes[0].lost.is_none());
    assert_eq!((state.accuracy(), state.analysis.as_deref()), (Some(0.5), Some("rounds")));
    assert_eq!(state.quality(), quality, "what no node has said is not known");
    state.on_vitals(None, vitals(vec![2]));
    assert_eq!(standings(&state), [Standing::Away, Standing::Here, Standing::Here]);
}

#[test]
fn figures_of_own_models_are_means_over_the_nodes_that_made_some() {
    let mut state = state(&["nodes=3", "rounds=10"]);
    assert_eq!(state.own(), None);
    let figures = |personal| Figures {
        measure: protocol::personal::Measure::Accuracy,
        shared: 0.5,
        personal,
        alone: 0.25,
        records: 4,
    };
    state.on_own(Some(0), figures(0.75));
    state.on_own(Some(2), figures(1.0));
    // A node that is not there says nothing.
    state.on_own(Some(3), figures(0.0));
    let own = state.own().unwrap();
    assert_eq!((own.nodes(), own.means()), (2, [0.875, 0.5, 0.25]));
    let status = serde_json::to_value(crate::view::Status::of(&state)).unwrap();
    assert_eq!(status["personal"]["personal_acc"].as_f64(), Some(0.875));
}

#[test]
fn seeded_noise_at_one_node_makes_the_run_not_private() {
    let mut state = state(&["nodes=2"]);
    let first = |private_noise| LogLine {
        time: protocol::Time(0),
        node: None,
        event: RunEvent::Run {
            run: "x".into(),
            version: "0".into(),
            driver: "libp2p".into(),
            nodes: 2,
            config_digest: String::new(),
            config: String::new(),
            release: privacy::event::DpEvent::Gaussian { noise_multiplier: 1.0 },
            private_noise,
            rho: None,
            looked: None,
        },
    };
    state.push(&first(true));
    assert_eq!(state.private_noise, Some(true));
    state.push(&first(false));
    state.push(&first(true));
    assert_eq!(state.private_noise, Some(false));
}

#[test]
fn lines_with_nodes_that_do_not_exist_change_nothing_but_the_tail() {
    let mut state = state(&["nodes=2"]);
    state.push(&done(7, 0, 2));
    let members = vec![0, 9];
    state.push(&line(
        0,
        0,
        RunEvent::Roster { epoch: 5, round: 0, members, model: Digest::default(), apart: Vec::new() },
    ));
    assert_eq!((state.round, standings(&state)[1]), (0, Standing::Starting));
}

#[test]
fn messages_are_drawn_from_the_public_plan_and_never_too_many() {
    for nodes in [2, 5, 8, 1000] {
        let mut state = state(&[&format!("nodes={nodes}"), "rounds=10", "partition.min_size=1"]);
        for line in Swarm::new(nodes).rounds(3) {
            state.push(&line);
        }
        let flows = state.take_flows();
        assert!(!flows.is_empty() && flows.len() <= flow::MOST_FLOWS, "{nodes}: {}", flows.len());
        assert!(flows.iter().all(|(from, to, _)| from != to && *from < nodes && *to < nodes));
        assert!(state.take_flows().is_empty());
    }
}

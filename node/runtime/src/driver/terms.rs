//! What all nodes of a run must have in common: the configuration, and the noise that follows from it and from what a node knows of the data.
//!
//! Two nodes with one configuration can come to different noise: one that takes a share of a data set knows how many records everybody has, one with a
//! file of its own counts on `partition.min_size`. Each account takes the others' noise for its own, so they must not work together.

use protocol::account::ReleaseKind;
use protocol::agreement::{Credentials, Fingerprint, Terms};
use protocol::work::{Mechanism, Unit};
use protocol::{Digest, Setup};

use super::DriverError;
use crate::identity::Roster;

/// Digest and text of what must be equal; the text is TOML, so that a difference has a name.
///
/// Whether a node's noise is private is among them: a node whose noise can be computed hides nobody, itself or others.
pub(super) fn terms(
    setup: &Setup,
    (config, renewals): (&str, &[Fingerprint]),
    private_noise: bool,
) -> (Digest, String) {
    let mut derived = derived(setup, private_noise);
    if let Some(last) = renewals.last() {
        derived.push_str(&format!("[renewal]\nnumber = {}\ndigest = \"{last}\"\n", renewals.len()));
    }
    if let Some(schema) = &setup.schema {
        derived.push_str(&schema.to_toml());
    }
    (Digest::of_text(&format!("{}\n{derived}", setup.digest)), format!("{config}\n{derived}"))
}

/// What the members agreed on when the run was founded.
pub(super) fn founding(setup: &Setup, roster: &Roster) -> Result<Terms, DriverError> {
    // What a renewal changed is no part of it. Members that only answer questions have no rounds, whatever the configuration says.
    let decided = setup.settings.algorithm.is_decided() && !setup.config.questions_only;
    Ok(Terms {
        name: setup.config.name.clone(),
        config: Fingerprint::of("murmur config 1", setup.digest.to_string().as_bytes()),
        roster: roster.keys().ok_or(DriverError::NoKey)?,
        hostile: setup.config.hostile_members(),
        rounds: if decided { setup.config.rounds } else { setup.settings.rounds },
        model: protocol::first_model(&setup.settings),
        seats: Vec::new(),
        continued: None,
    })
}

/// Who this node is when members decide: what all agreed on, and the key of its identity.
pub(super) fn credentials(setup: &Setup, seed: &[u8; 32], terms: Terms) -> Result<Credentials, DriverError> {
    let settings = &setup.settings;
    let timeouts = (settings.timeouts.silence, settings.timeouts.resend);
    Ok(Credentials::new(terms, seed, timeouts)?.within(settings))
}

fn derived(setup: &Setup, private_noise: bool) -> String {
    let mut text = "[derived]\n".to_owned();
    // Ten digits: the last ones may depend on the processor.
    let mut line = |name: &str, value: f64| text.push_str(&format!("{name} = \"{value:.9e}\"\n"));
    line("noise_multiplier", setup.work.noise_multiplier);
    if let ReleaseKind::Sampled { rate, .. } = ReleaseKind::of(&setup.settings.release) {
        line("sampling_rate", rate);
    }
    if let Unit::Record { common, .. } | Unit::Person { common, .. } = &setup.work.unit {
        line("divisor", common.divisor);
        line("rounding", common.slack);
    }
    if let Mechanism::Grid(on) | Mechanism::DiscreteReals(on) = &setup.settings.mechanism {
        let (grid, noise) = (on.mechanism.grid(), on.mechanism.noise());
        let (bits, steps, largest) = (grid.size().bits(), grid.steps(), grid.largest());
        text.push_str(&format!("grid = \"{bits} bits, {steps} steps, largest {largest}, noise {noise}\"\n"));
    }
    text.push_str(&format!("private_noise = {private_noise}\n"));
    text
}

#[cfg(test)]
mod tests {
    use protocol::config::{Config, Layer};

    use super::*;

    fn setup(own: bool) -> Setup {
        let pairs =
            ["nodes=2", "data=blobs:nodes=2,records=60,dim=3,classes=2", "batch_size=10"].map(String::from);
        let layer = Layer::from_flags("--set", &pairs).unwrap();
        let whole = Setup::new(Config::from_layers([layer]).unwrap()).unwrap();
        if !own {
            return whole;
        }
        let data = whole.train[0].clone();
        Setup::for_node(whole.config, data, None).unwrap()
    }

    #[test]
    fn one_configuration_with_two_schemas_is_not_the_same_run_and_all_differences_are_named() {
        let with = |columns: &str| {
            let schema = learn::schema::Schema::from_toml(columns, "test").unwrap();
            terms(&Setup { schema: Some(schema.into()), ..setup(true) }, ("", &[]), true)
        };
        let (a, ours) = with("[columns.a]\nbounds = [0, 1]\n[columns.b]\nbounds = [0, 1]");
        let (b, theirs) = with("[columns.a]\nbounds = [0, 2]\n[columns.c]\nbounds = [0, 1]");
        assert_ne!(a, b);
        let named = crate::network::differences(&ours, &theirs);
        for start in
            ["columns.a.bounds: ours [0.0, 1.0], theirs [0.0, 2.0]", "columns.b.bounds", "columns.c.bounds"]
        {
            assert!(named.iter().any(|line| line.starts_with(start)), "{start}: {named:?}");
        }
    }

    #[test]
    fn one_configuration_with_different_noise_is_not_the_same_run() {
        let (shard, own) = (setup(false), setup(true));
        assert_eq!(shard.digest, own.digest);
        assert_ne!(shard.work.noise_multiplier, own.work.noise_multiplier);
        let text = shard.config.to_toml();
        let ((a, ours), (b, theirs)) = (terms(&shard, (&text, &[]), true), terms(&own, (&text, &[]), true));
        assert_ne!(a, b);
        let named = crate::network::differences(&ours, &theirs);
        assert!(named.iter().any(|line| line.starts_with("derived.noise_multiplier: ours")), "{named:?}");
        assert_eq!(terms(&setup(false), (&text, &[]), true).0, a);
    }

    #[test]
    fn a_node_whose_noise_can_be_computed_is_not_of_the_same_run() {
        let setup = setup(false);
        let text = setup.config.to_toml();
        let ((a, ours), (b, theirs)) =
            (terms(&setup, (&text, &[]), true), terms(&setup, (&text, &[]), false));
        assert_ne!(a, b);
        let named = crate::network::differences(&ours, &theirs);
        assert_eq!(named, ["derived.private_noise: ours true, theirs false"]);
    }
}

//! Synthetic data with a known truth and controllable heterogeneity, the same on every machine for a seed.
//!
//! Every record carries the number of the node that it was made for as its group, so the `natural` partition
//! gives each node the records of its own distribution.

use serde::{Deserialize, Serialize};

use super::dataset::{Dataset, Groups, Loaded, Targets};
use super::error::DataError;
use super::random::Draws;

/// Most numbers that a generator makes, so that a mistyped size is refused before memory runs out.
const MAX_VALUES: u64 = 1 << 32;

/// Linear regression over nodes that come in two clusters with different truths.
///
/// Nodes of the first half have the weights `w + h·u`, the others `w − h·u`, with `w` and `u` random orthogonal
/// unit vectors and `h` the heterogeneity; features are normal with variance `1/dim` (rows of norm about 1) and
/// the target is `⟨weights, x⟩` plus normal noise. The best common model is `w`, and its mean squared error
/// over both clusters is `h²/dim + noise²`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TwoClusters {
    /// Number of nodes.
    pub nodes: usize,
    /// Records per node.
    pub records: usize,
    /// Features per record.
    pub dim: usize,
    /// Half the distance between the two truths; 0 makes all nodes alike.
    pub heterogeneity: f64,
    /// Standard deviation of the noise of the target.
    pub noise: f64,
    /// Records of the common test set, half of each cluster; 0 for none.
    pub test: usize,
}

impl Default for TwoClusters {
    fn default() -> Self {
        Self { nodes: 10, records: 100, dim: 10, heterogeneity: 1.0, noise: 0.1, test: 1000 }
    }
}

/// The truth behind [`TwoClusters`]: the weights of each cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterWeights {
    /// Weights of the first half of the nodes.
    pub first: Vec<f64>,
    /// Weights of the other half.
    pub second: Vec<f64>,
}

impl TwoClusters {
    /// Makes the records and the weights they were made with.
    ///
    /// # Errors
    /// A size of zero (or `dim` below 2), a parameter that is negative or not finite, or too much data.
    pub fn generate(&self, seed: u64) -> Result<(Loaded, ClusterWeights), DataError> {
        check_sizes(self.nodes, self.records, self.dim, self.test)?;
        if self.dim < 2 {
            return Err(bad("dim", self.dim, "must be at least 2, for two orthogonal directions"));
        }
        check_not_negative("heterogeneity", self.heterogeneity)?;
        check_not_negative("noise", self.noise)?;
        let weights = self.weights(seed);
        let first_half = self.nodes.div_ceil(2);
        let mut table = Rows::with_capacity(self.nodes * self.records, self.dim);
        for node in 0..self.nodes {
            let mut draws = Draws::indexed(seed, "two-clusters", node as u64);
            let truth = if node < first_half { &weights.first } else { &weights.second };
            (0..self.records).for_each(|_| self.add_record(&mut table, &mut draws, truth));
        }
        let train = table.into_real(self.dim)?.with_groups(groups_of_nodes(self.nodes, self.records))?;
        let mut test_table = Rows::with_capacity(self.test, self.dim);
        let mut draws = Draws::new(seed, "two-clusters test");
        for record in 0..self.test {
            let truth = if record % 2 == 0 { &weights.first } else { &weights.second };
            self.add_record(&mut test_table, &mut draws, truth);
        }
        let test = (self.test > 0).then(|| test_table.into_real(self.dim)).transpose()?;
        Ok((Loaded { train, test }, weights))
    }

    fn weights(&self, seed: u64) -> ClusterWeights {
        let mut draws = Draws::new(seed, "two-clusters weights");
        let common = direction(&mut draws, self.dim);
        let raw = direction(&mut draws, self.dim);
        let along: f64 = raw.iter().zip(&common).map(|(r, c)| r * c).sum();
        let mut apart: Vec<f64> = raw.iter().zip(&common).map(|(r, c)| r - along * c).collect();
        normalise(&mut apart);
        let shifted =
            |sign: f64| common.iter().zip(&apart).map(|(c, a)| c + sign * self.heterogeneity * a).collect();
        ClusterWeights { first: shifted(1.0), second: shifted(-1.0) }
    }

    fn add_record(&self, table: &mut Rows, draws: &mut Draws, truth: &[f64]) {
        let scale = 1.0 / libm::sqrt(self.dim as f64);
        let mut value = 0.0;
        for weight in truth {
            // Rounded first, so that the target belongs to the row that is stored.
            let x = (draws.normal() * scale) as f32;
            value += weight * f64::from(x);
            table.features.push(x);
        }
        table.reals.push((value + self.noise * draws.normal()) as f32);
    }
}

/// Classes as Gaussian clouds, with label skew and feature shift between nodes.
///
/// The centre of each class is a random direction times `separation`; a record is its centre plus normal noise
/// of standard deviation `spread` in each feature. A node draws a label from its home class (its number modulo
/// the classes) with probability `heterogeneity`, and from all classes alike otherwise; and all its records are
/// moved by its own random direction times `shift`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Blobs {
    /// Number of nodes.
    pub nodes: usize,
    /// Records per node.
    pub records: usize,
    /// Features per record.
    pub dim: usize,
    /// Number of classes.
    pub classes: usize,
    /// Distance of the centres from the origin.
    pub separation: f64,
    /// Standard deviation of each feature around its centre.
    pub spread: f64,
    /// Label skew: 0 all nodes alike, 1 one class per node.
    pub heterogeneity: f64,
    /// Feature skew: length of the node's own shift.
    pub shift: f64,
    /// Records of the common test set, without skew; 0 for none.
    pub test: usize,
}

impl Default for Blobs {
    fn default() -> Self {
        Self {
            nodes: 10,
            records: 100,
            dim: 10,
            classes: 3,
            separation: 3.0,
            spread: 1.0,
            heterogeneity: 0.0,
            shift: 0.0,
            test: 1000,
        }
    }
}

impl Blobs {
    /// Makes the records.
    ///
    /// # Errors
    /// A size of zero, fewer than two classes, a parameter outside its range, or too much data.
    pub fn generate(&self, seed: u64) -> Result<Loaded, DataError> {
        self.check()?;
        let mut draws = Draws::new(seed, "blobs centres");
        let centres: Vec<Vec<f64>> = (0..self.classes)
            .map(|_| direction(&mut draws, self.dim).iter().map(|x| x * self.separation).collect())
            .collect();
        let mut table = Rows::with_capacity(self.nodes * self.records, self.dim);
        for node in 0..self.nodes {
            let mut draws = Draws::indexed(seed, "blobs", node as u64);
            let shift: Vec<f64> = direction(&mut draws, self.dim).iter().map(|x| x * self.shift).collect();
            for _ in 0..self.records {
                let home = draws.uniform() < self.heterogeneity;
                let class = if home { node % self.classes } else { draws.below(self.classes) };
                self.add_record(&mut table, &mut draws, (class, &centres[class]), &shift);
            }
        }
        let train = table.into_classes(self)?.with_groups(groups_of_nodes(self.nodes, self.records))?;
        let mut test_table = Rows::with_capacity(self.test, self.dim);
        let mut draws = Draws::new(seed, "blobs test");
        for _ in 0..self.test {
            let class = draws.below(self.classes);
            self.add_record(&mut test_table, &mut draws, (class, &centres[class]), &vec![0.0; self.dim]);
        }
        let test = (self.test > 0).then(|| test_table.into_classes(self)).transpose()?;
        Ok(Loaded { train, test })
    }

    fn add_record(
        &self,
        table: &mut Rows,
        draws: &mut Draws,
        (class, centre): (usize, &[f64]),
        shift: &[f64],
    ) {
        for (c, s) in centre.iter().zip(shift) {
            table.features.push((c + s + self.spread * draws.normal()) as f32);
        }
        table.labels.push(class as u32);
    }

    fn check(&self) -> Result<(), DataError> {
        check_sizes(self.nodes, self.records, self.dim, self.test)?;
        if self.classes < 2 || self.classes > 1_000_000 {
            return Err(bad("classes", self.classes, "must be between 2 and 1000000"));
        }
        check_not_negative("separation", self.separation)?;
        check_not_negative("spread", self.spread)?;
        check_not_negative("shift", self.shift)?;
        if !(0.0..=1.0).contains(&self.heterogeneity) {
            return Err(bad("heterogeneity", self.heterogeneity, "must be between 0 and 1"));
        }
        Ok(())
    }
}

/// Records under construction.
struct Rows {
    features: Vec<f32>,
    labels: Vec<u32>,
    reals: Vec<f32>,
}

impl Rows {
    fn with_capacity(records: usize, dim: usize) -> Self {
        Self { features: Vec::with_capacity(records * dim), labels: Vec::new(), reals: Vec::new() }
    }

    fn into_real(self, dim: usize) -> Result<Dataset, DataError> {
        Dataset::new(self.features, dim, Targets::Real(self.reals))
    }

    fn into_classes(self, blobs: &Blobs) -> Result<Dataset, DataError> {
        Dataset::new(self.features, blobs.dim, Targets::Class { labels: self.labels, classes: blobs.classes })
    }
}

fn groups_of_nodes(nodes: usize, records: usize) -> Groups {
    Groups {
        of_record: (0..nodes as u32).flat_map(|node| std::iter::repeat_n(node, records)).collect(),
        names: (0..nodes).map(|node| node.to_string()).collect(),
    }
}

/// A uniformly random unit vector.
fn direction(draws: &mut Draws, dim: usize) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..dim).map(|_| draws.normal()).collect();
    normalise(&mut vector);
    vector
}

fn normalise(vector: &mut [f64]) {
    let norm = libm::sqrt(vector.iter().map(|x| x * x).sum());
    vector.iter_mut().for_each(|x| *x /= norm);
}

fn check_sizes(nodes: usize, records: usize, dim: usize, test: usize) -> Result<(), DataError> {
    for (name, value) in [("nodes", nodes), ("records", records), ("dim", dim)] {
        if value == 0 {
            return Err(bad(name, value, "must be at least 1"));
        }
    }
    let values = [nodes, records, dim].iter().try_fold(1u64, |product, &x| product.checked_mul(x as u64));
    let total = values.and_then(|v| v.checked_add((test as u64).checked_mul(dim as u64)?));
    match total {
        Some(total) if total <= MAX_VALUES => Ok(()),
        _ => Err(DataError::TooLarge {
            file: "synthetic".into(),
            what: "numbers",
            count: total.unwrap_or(u64::MAX),
            limit: MAX_VALUES,
        }),
    }
}

fn check_not_negative(name: &'static str, value: f64) -> Result<(), DataError> {
    if (0.0..=1e30).contains(&value) {
        return Ok(());
    }
    Err(bad(name, value, "must be a number between 0 and 1e30"))
}

fn bad(name: &'static str, value: impl ToString, why: &str) -> DataError {
    DataError::BadParameter { name, value: value.to_string(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::super::dataset::Target;
    use super::*;

    #[test]
    fn without_noise_every_target_is_the_product_with_its_clusters_weights() {
        let spec = TwoClusters { nodes: 4, records: 5, noise: 0.0, heterogeneity: 0.7, ..Default::default() };
        let (loaded, weights) = spec.generate(3).unwrap();
        for record in 0..loaded.train.len() {
            let truth = if record < 10 { &weights.first } else { &weights.second };
            let product: f64 =
                loaded.train.row(record).iter().zip(truth).map(|(x, w)| f64::from(*x) * w).sum();
            let Target::Real(target) = loaded.train.target(record) else { panic!("a real target") };
            assert!((f64::from(target) - product).abs() < 1e-6);
        }
    }

    #[test]
    fn the_two_truths_are_twice_the_heterogeneity_apart() {
        for heterogeneity in [0.0, 0.5, 3.0] {
            let (_, weights) = TwoClusters { heterogeneity, ..Default::default() }.generate(1).unwrap();
            let squares = weights.first.iter().zip(&weights.second).map(|(a, b)| (a - b) * (a - b));
            assert!((squares.sum::<f64>().sqrt() - 2.0 * heterogeneity).abs() < 1e-12);
        }
    }

    #[test]
    fn label_skew_goes_from_none_to_one_class_per_node() {
        let labels_of = |heterogeneity: f64| {
            let spec = Blobs { nodes: 6, records: 300, heterogeneity, ..Default::default() };
            let data = spec.generate(5).unwrap().train;
            let groups = data.group_of_records().unwrap().into_owned();
            let labels = data.labels().unwrap().into_owned();
            let at_home = groups.iter().zip(&labels).filter(|(node, label)| **node % 3 == **label).count();
            at_home as f64 / labels.len() as f64
        };
        assert_eq!(labels_of(1.0), 1.0);
        // 1800 draws with probability 1/3: five standard errors are 0.056 (false alarm below one in a million).
        assert!((labels_of(0.0) - 1.0 / 3.0).abs() < 0.056);
        assert!((labels_of(0.5) - 2.0 / 3.0).abs() < 0.056);
    }

    #[test]
    fn one_seed_gives_one_data_set_and_nodes_do_not_depend_on_how_many_there_are() {
        let few = Blobs { nodes: 2, ..Default::default() }.generate(7).unwrap();
        let many = Blobs { nodes: 5, ..Default::default() }.generate(7).unwrap();
        assert_eq!(few.train.row(150), many.train.row(150));
        assert_eq!(few.test, many.test);
        assert_ne!(few.train.row(0), Blobs::default().generate(8).unwrap().train.row(0));
    }

    #[test]
    fn sizes_and_parameters_outside_their_range_are_refused_by_name() {
        let refused = |spec: Blobs| spec.generate(1).unwrap_err().to_string();
        assert!(refused(Blobs { nodes: 0, ..Default::default() }).contains("nodes = 0"));
        assert!(refused(Blobs { classes: 1, ..Default::default() }).contains("classes = 1"));
        assert!(refused(Blobs { heterogeneity: 1.5, ..Default::default() }).contains("heterogeneity = 1.5"));
        assert!(refused(Blobs { spread: f64::NAN, ..Default::default() }).contains("spread = NaN"));
        assert!(refused(Blobs { records: usize::MAX, ..Default::default() }).contains("more than"));
        assert!(TwoClusters { dim: 1, ..Default::default() }.generate(1).is_err());
    }
}

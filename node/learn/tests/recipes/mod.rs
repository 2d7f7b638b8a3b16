//! Settings of the reference table of central DP-SGD; shared by the test and by the example that writes the table.
//!
//! Chosen by hand, once for all ε of a set: only the noise changes along a row. Constants are public: bounds of features
//! are declared, and a constant is subtracted so that features lie around zero.

use std::path::PathBuf;

use learn::calibrate;
use learn::data::{DataSource, Dataset, Targets, hold_out};
use learn::gradient::PoissonSampler;
use learn::metrics::accuracy;
use learn::model::{ModelSpec, predict};
use learn::optimiser::{OptimiserSpec, StepSizes};
use learn::train::Training;
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;

/// δ of all figures.
pub(crate) const DELTA: f64 = 1e-5;

type Failure = Box<dyn std::error::Error>;

/// One row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    /// A data source; `{shared}` stands for the folder of shared data.
    pub(crate) source: &'static str,
    pub(crate) model: ModelSpec,
    /// Subtracted from every feature.
    pub(crate) centre: f32,
    /// Expected batch; infinite: all records.
    pub(crate) batch: f64,
    pub(crate) steps: u64,
    /// Steps without noise, where more of them cost nothing.
    pub(crate) plain_steps: u64,
    pub(crate) clip: f64,
    pub(crate) step_size: f64,
    pub(crate) momentum: f64,
    pub(crate) seeds: u64,
}

const MNIST: &str = "mnist:{shared}/mnist";
const HOUSES: &str = "{shared}/houses.csv.gz:label=y_price_below_mean,drop=median_house_value+y_openml823,\
    scale=median_income@0..15+housing_median_age@0..52+total_rooms@0..10000+total_bedrooms@0..2000\
    +population@0..5000+households@0..2000+latitude@32..42+longitude@-125..-114";
const ADULT: &str = "{shared}/adult.csv.gz:label=over50k,split=split,drop=fnlwgt,fill=0,\
    categorical=workclass+education+marital_status+occupation+relationship+race+sex+native_country,\
    scale=age@17..90+education_num@1..16+capital_gain@0..20000+capital_loss@0..2500+hours_per_week@1..99";

/// All rows.
pub(crate) fn all() -> Vec<Recipe> {
    let images = |name, source| Recipe {
        batch: 2_000.0,
        steps: 200,
        clip: 0.5,
        step_size: 6.0,
        seeds: 3,
        ..row(name, source)
    };
    let logistic = ModelSpec::Logistic {};
    let houses = Recipe {
        batch: 1_651.0,
        steps: 150,
        step_size: 180.0,
        momentum: 0.9,
        seeds: 3,
        ..row("houses", HOUSES)
    };
    let adult =
        Recipe { batch: 1_024.0, steps: 300, clip: 0.3, step_size: 10.0, seeds: 3, ..row("adult", ADULT) };
    let cnn = Recipe {
        batch: 1_024.0,
        steps: 400,
        step_size: 15.0,
        seeds: 2,
        ..row("MNIST, convolutional", MNIST)
    };
    vec![
        Recipe { centre: 0.25, ..row("digits", "digits") },
        Recipe {
            model: logistic.clone(),
            centre: 0.25,
            steps: 80,
            step_size: 40.0,
            ..row("breast cancer", "breast-cancer")
        },
        Recipe { model: logistic.clone(), centre: 0.25, ..houses },
        Recipe { model: logistic, ..adult },
        images("Fashion-MNIST (10,000)", "mnist:{shared}/fashion-mnist:part=test"),
        images("MNIST", MNIST),
        Recipe { model: ModelSpec::Cnn {}, ..cnn },
    ]
}

/// Softmax regression with the settings of `digits`, to be changed where another set needs it.
fn row(name: &'static str, source: &'static str) -> Recipe {
    Recipe {
        name,
        source,
        model: ModelSpec::Softmax {},
        centre: 0.0,
        batch: f64::INFINITY,
        steps: 120,
        plain_steps: 1_000,
        clip: 0.1,
        step_size: 20.0,
        momentum: 0.8,
        seeds: 5,
    }
}

impl Recipe {
    /// The row of this name.
    #[allow(dead_code, reason = "used by the test only")]
    pub(crate) fn named(name: &str) -> Self {
        all().into_iter().find(|recipe| recipe.name == name).expect("the table has this row")
    }

    /// Training and test records, or `None` where the files are not there.
    pub(crate) fn load(&self, seed: u64) -> Result<Option<(Dataset, Dataset)>, Failure> {
        let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        if self.source.contains("{shared}") && !shared.exists() {
            return Ok(None);
        }
        let source: DataSource = self.source.replace("{shared}", &shared.display().to_string()).parse()?;
        let loaded = source.load(1)?;
        let (train, test) = match loaded.test {
            Some(test) => (loaded.train, test),
            None => {
                let parts = hold_out(&loaded.train, 0.2, seed, 0)?;
                (parts.train, parts.test)
            }
        };
        Ok(Some((self.centred(&train)?, self.centred(&test)?)))
    }

    /// Test accuracy for one seed (of the split, the samples and the noise).
    #[allow(dead_code, reason = "used by the test only")]
    pub(crate) fn accuracy(&self, epsilon: f64, seed: u64) -> Result<f64, Failure> {
        let (train, test) = self.load(seed)?.ok_or("the data are not there")?;
        self.accuracy_on(&train, &test, epsilon, seed)
    }

    /// Test accuracy on given records.
    pub(crate) fn accuracy_on(
        &self,
        train: &Dataset,
        test: &Dataset,
        epsilon: f64,
        seed: u64,
    ) -> Result<f64, Failure> {
        let model = self.model.build(train)?;
        let training = self.training(train.len(), epsilon)?;
        let mut noise = danger_from_seed(seed, "central");
        let trained = training.run(&*model, model.initial(seed), train, &mut noise)?;
        let predicted =
            predict(&*model, &trained.params, test)?.labels().ok_or("a classifier predicts labels")?;
        Ok(accuracy(&predicted, &test.labels().ok_or("the test set has labels")?)?)
    }

    /// The training with the noise that ε needs.
    pub(crate) fn training(&self, records: usize, epsilon: f64) -> Result<Training, Failure> {
        let steps = if epsilon == f64::INFINITY { self.plain_steps } else { self.steps };
        let training = Training {
            steps,
            rate: PoissonSampler::for_batch(self.batch, records)?.rate(),
            clip: ClipNorm::new(self.clip)?,
            noise_multiplier: 0.0,
            schedule: StepSizes::Linear { step_size: self.step_size, steps },
            optimiser: OptimiserSpec::Momentum { momentum: self.momentum },
            average: false,
        };
        let noise_multiplier = calibrate::noise_multiplier(&training, records, epsilon, DELTA)?;
        Ok(Training { noise_multiplier, ..training })
    }

    fn centred(&self, data: &Dataset) -> Result<Dataset, Failure> {
        if self.centre == 0.0 {
            return Ok(data.clone());
        }
        let features = data.matrix().iter().map(|&x| x - self.centre).collect();
        let labels = data.labels().ok_or("a classification set")?.into_owned();
        let classes = data.classes().ok_or("a classification set")?;
        Ok(Dataset::new(features, data.columns(), Targets::Class { labels, classes })?)
    }
}

//! From a source back to text: only what differs from the defaults, so that the text is short and reads back.

use std::fmt;
use std::path::Path;

use super::super::arrays::ArrayOptions;
use super::super::csv::{Categorical, CsvOptions, Missing, TargetKind};
use super::super::libsvm::LibsvmOptions;
use super::super::mnist::MnistPart;
use super::super::scaling::{Bounds, Scaling};
use super::super::synthetic::{Blobs, TwoClusters};
use super::{DataSource, SourceKind};
use crate::schema::DateFormat;

impl fmt::Display for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs = Pairs::default();
        let head = match &self.kind {
            SourceKind::Digits => "digits".to_string(),
            SourceKind::BreastCancer => "breast-cancer".to_string(),
            SourceKind::Blobs(spec, seed) => pairs.blobs(spec, *seed),
            SourceKind::TwoClusters(spec, seed) => pairs.two_clusters(spec, *seed),
            SourceKind::Mnist(folder, part) => pairs.mnist(folder, *part),
            SourceKind::Csv(path, options) => pairs.csv(path, options),
            SourceKind::Arrays(path, options) => pairs.arrays(path, options),
            SourceKind::Libsvm(path, options) => pairs.libsvm(path, options),
        };
        pairs.add("scale", self.scale.as_ref().map(scale_text));
        pairs.add("target_bounds", self.target_bounds.map(bounds_text));
        pairs.add("schema", self.schema.as_ref().map(|path| path.display()));
        match pairs.0.is_empty() {
            true => write!(f, "{head}"),
            false => write!(f, "{head}:{}", pairs.0.join(",")),
        }
    }
}

#[derive(Default)]
struct Pairs(Vec<String>);

impl Pairs {
    fn add(&mut self, key: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.push(format!("{key}={}", value.to_string()));
        }
    }

    fn add_unless<T: PartialEq + ToString>(&mut self, key: &str, value: &T, default: &T) {
        self.add(key, (value != default).then(|| value.to_string()));
    }

    fn add_list(&mut self, key: &str, members: &[String]) {
        self.add(key, (!members.is_empty()).then(|| members.join("+")));
    }

    fn target(&mut self, target: &TargetKind) {
        match target {
            TargetKind::Discover => {}
            TargetKind::Real => self.add("target", Some("real")),
            TargetKind::Classes(count) => self.add("classes", Some(count)),
            TargetKind::ClassNames(names) => self.add("classes", Some(names.join("+"))),
            TargetKind::Above(threshold) => self.add("above", Some(threshold)),
        }
    }

    fn csv(&mut self, path: &Path, options: &CsvOptions) -> String {
        let usual = self.format(path, &["csv", "tsv", "parquet", "-"], "csv");
        self.add("label", options.label.as_ref());
        self.target(&options.target);
        let words: Vec<String> = options.categorical.iter().map(categorical_text).collect();
        self.add_list("categorical", &words);
        self.add_list("drop", &options.drop);
        self.add_list("features", options.features.as_deref().unwrap_or_default());
        self.add("id", options.id.as_ref());
        self.add("split", options.split.as_ref());
        self.add_list("fill", &fill_texts(&options.missing));
        let dates = options.dates.iter().map(|(column, format)| match format {
            DateFormat::Iso => column.clone(),
            DateFormat::Declared { text, .. } => format!("{column}@{text}"),
        });
        self.add_list("date", &dates.collect::<Vec<_>>());
        let default = (usual == "tsv").then_some('\t');
        self.add("delimiter", options.delimiter.filter(|_| options.delimiter != default).map(sign_text));
        self.add("decimal", options.decimal.map(sign_text));
        self.add("encoding", options.encoding.as_ref());
        self.add("quotes", options.plain_quotes.then_some("none"));
        path.display().to_string()
    }

    fn arrays(&mut self, path: &Path, options: &ArrayOptions) -> String {
        self.format(path, &["npy", "npz", "idx"], "npy");
        self.add("x", options.x.as_ref());
        self.add("y", options.y.as_ref());
        self.add("labels", options.labels.as_ref().map(|path| path.display()));
        self.add("label_column", options.label_column);
        self.add("id", options.id.as_ref());
        self.target(&options.target);
        self.add("fill", options.fill);
        path.display().to_string()
    }

    fn libsvm(&mut self, path: &Path, options: &LibsvmOptions) -> String {
        self.format(path, &["svm", "libsvm", "svmlight"], "libsvm");
        self.add("features", options.features);
        self.add("first", options.from_zero.then_some(0));
        self.target(&options.target);
        path.display().to_string()
    }

    fn mnist(&mut self, folder: &Path, part: MnistPart) -> String {
        self.add(
            "part",
            match part {
                MnistPart::Both => None,
                MnistPart::Train => Some("train"),
                MnistPart::Test => Some("test"),
            },
        );
        format!("mnist:{}", folder.display())
    }

    fn blobs(&mut self, spec: &Blobs, seed: Option<u64>) -> String {
        let default = Blobs::default();
        self.add_unless("nodes", &spec.nodes, &default.nodes);
        self.add_unless("records", &spec.records, &default.records);
        self.add_unless("dim", &spec.dim, &default.dim);
        self.add_unless("classes", &spec.classes, &default.classes);
        self.add_unless("separation", &spec.separation, &default.separation);
        self.add_unless("spread", &spec.spread, &default.spread);
        self.add_unless("heterogeneity", &spec.heterogeneity, &default.heterogeneity);
        self.add_unless("shift", &spec.shift, &default.shift);
        self.add_unless("test", &spec.test, &default.test);
        self.add("seed", seed);
        "blobs".to_string()
    }

    fn two_clusters(&mut self, spec: &TwoClusters, seed: Option<u64>) -> String {
        let default = TwoClusters::default();
        self.add_unless("nodes", &spec.nodes, &default.nodes);
        self.add_unless("records", &spec.records, &default.records);
        self.add_unless("dim", &spec.dim, &default.dim);
        self.add_unless("heterogeneity", &spec.heterogeneity, &default.heterogeneity);
        self.add_unless("noise", &spec.noise, &default.noise);
        self.add_unless("test", &spec.test, &default.test);
        self.add("seed", seed);
        "two-clusters".to_string()
    }

    /// Says the format where the ending of the file does not; returns the ending.
    fn format(&mut self, path: &Path, endings: &[&str], otherwise: &str) -> String {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let bare = name.strip_suffix(".gz").unwrap_or(&name);
        let ending = bare.rsplit('.').next().unwrap_or_default().to_string();
        let is_idx = ending.contains("-idx") || ending.ends_with("-ubyte");
        let told = (is_idx && endings.contains(&"idx")) || endings.contains(&ending.as_str());
        self.add("format", (!told).then_some(otherwise));
        ending
    }
}

fn sign_text(sign: char) -> String {
    match sign {
        ',' => "comma".to_string(),
        '.' => "point".to_string(),
        '\t' => "tab".to_string(),
        ';' => "semicolon".to_string(),
        ' ' => "space".to_string(),
        other => other.to_string(),
    }
}

fn categorical_text(words: &Categorical) -> String {
    match &words.categories {
        None => words.column.clone(),
        Some(categories) => format!("{}[{}]", words.column, categories.join("|")),
    }
}

fn fill_texts(missing: &Missing) -> Vec<String> {
    let own = missing.fill_column.iter().map(|(column, value)| format!("{column}@{value}"));
    missing.fill.iter().map(ToString::to_string).chain(own).collect()
}

fn bounds_text(bounds: Bounds) -> String {
    format!("{}..{}", bounds.low, bounds.high)
}

fn scale_text(scale: &Scaling) -> String {
    match scale {
        Scaling::None => "none".to_string(),
        Scaling::UnitRows => "l2".to_string(),
        Scaling::Units(bounds) => bounds_text(*bounds),
        Scaling::UnitsPerFeature(all) => all.iter().copied().map(bounds_text).collect::<Vec<_>>().join("/"),
        Scaling::UnitsByName { bounds, default } => {
            let own = bounds.iter().map(|(name, bounds)| format!("{name}@{}", bounds_text(*bounds)));
            own.chain(default.map(bounds_text)).collect::<Vec<_>>().join("+")
        }
    }
}

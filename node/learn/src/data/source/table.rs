//! All keys that may stand behind a data source, in one table: the page `docs/DATA.md` is made of it, and a test holds the reader to it.

/// A key behind a data source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceKey {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How it is written.
    pub example: &'static str,
}

/// Keys of one kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceKeys {
    /// The kind, as a heading.
    pub heading: &'static str,
    /// A source of this kind.
    pub source: &'static str,
    /// Its keys.
    pub keys: &'static [SourceKey],
}

const fn key(name: &'static str, meaning: &'static str, example: &'static str) -> SourceKey {
    SourceKey { name, meaning, example }
}

/// For every kind of source.
const COMMON: &[SourceKey] = &[
    key(
        "scale",
        "how rows are scaled: `none`, `l2`, bounds of all columns, or bounds by name",
        "scale=age@0..110+0..1",
    ),
    key("target_bounds", "bounds of a number to be predicted, brought to 0..1", "target_bounds=0..500000"),
];

const TABLE: &[SourceKey] = &[
    key(
        "schema",
        "a file that declares the columns; then only `format`, `delimiter`, `decimal`, `encoding`, `quotes` and `split` stand beside it",
        "schema=clinic.toml",
    ),
    key("label", "the column to be predicted", "label=sick"),
    key("target", "`real`: the label is a number, however few different ones there are", "target=real"),
    key("classes", "the classes: how many (numbered from 0), or their names in order", "classes=no+yes"),
    key("above", "two classes of a number: above the threshold or not", "above=0"),
    key(
        "categorical",
        "columns of words; categories in brackets, or else those of this file",
        "categorical=sex[f|m]+ward",
    ),
    key(
        "date",
        "columns of days, which become days since 1970-01-01; ISO unless a format follows",
        "date=born@%d.%m.%Y+seen",
    ),
    key("drop", "columns that are not used", "drop=note+phone"),
    key("features", "only these columns are learnt from, in this order", "features=age+weight"),
    key("id", "the column that says whom a record belongs to", "id=patient"),
    key("split", "a column with `train` and `test`: test records are never learnt from", "split=part"),
    key("fill", "what to put where a number is missing, for all columns or by name", "fill=0+age@50"),
    key("format", "csv, tsv, parquet, npy, npz, idx or libsvm, where the ending does not say", "format=csv"),
    key("delimiter", "what stands between fields; else the first line shows it", "delimiter=semicolon"),
    key(
        "decimal",
        "the decimal sign; else a point, or a comma where fields are not divided by commas",
        "decimal=comma",
    ),
    key("encoding", "the encoding; else the first line shows it", "encoding=latin1"),
    key("quotes", "`none`: quotes are letters as others are", "quotes=none"),
];

const ARRAYS: &[SourceKey] = &[
    key("labels", "the file of labels beside an NPY or IDX file", "labels=y.npy"),
    key("label_column", "the column of labels in a single table, counted from 0", "label_column=3"),
    key("x", "the array of features in an NPZ archive", "x=images"),
    key("y", "the array of labels in an NPZ archive", "y=digits"),
    key("id", "the array (NPZ) or file that says whom a record belongs to", "id=writer"),
    key("target", "`real`: labels are numbers", "target=real"),
    key("classes", "the classes: how many, or their names", "classes=10"),
    key("above", "two classes of a number", "above=0"),
    key("fill", "what to put in place of NaN", "fill=0"),
    key("format", "as above", "format=npy"),
];

const LIBSVM: &[SourceKey] = &[
    key("features", "how many features there are; the largest index of the file otherwise", "features=123"),
    key("first", "the index of the first feature, 0 or 1; 1 where nothing is said", "first=0"),
    key("target", "`real`: labels are numbers", "target=real"),
    key("classes", "the classes: how many, or their names", "classes=2"),
    key("above", "two classes of a number", "above=0"),
    key("format", "as above", "format=libsvm"),
];

const MNIST: &[SourceKey] = &[key("part", "`train`, `test` or `both`", "part=test")];

const BLOBS: &[SourceKey] = &[
    key("nodes", "groups of records", "nodes=20"),
    key("records", "records of each", "records=100"),
    key("dim", "features", "dim=10"),
    key("classes", "classes", "classes=5"),
    key("separation", "distance between classes", "separation=3"),
    key("spread", "deviation within a class", "spread=1"),
    key("heterogeneity", "how unevenly classes are spread over nodes, 0 to 1", "heterogeneity=0.8"),
    key("shift", "how far nodes are from each other", "shift=0.5"),
    key("test", "records of the common test set", "test=1000"),
    key("seed", "a seed of its own; that of the run otherwise", "seed=7"),
];

const TWO_CLUSTERS: &[SourceKey] = &[
    key("nodes", "groups of records", "nodes=8"),
    key("records", "records of each", "records=100"),
    key("dim", "features", "dim=10"),
    key("heterogeneity", "distance between the two clusters' truths", "heterogeneity=2"),
    key("noise", "deviation of the targets", "noise=0.1"),
    key("test", "records of the common test set", "test=1000"),
    key("seed", "a seed of its own; that of the run otherwise", "seed=7"),
];

/// All kinds of sources with their keys; the first are for all kinds.
pub const SOURCE_KEYS: &[SourceKeys] = &[
    SourceKeys { heading: "Every source", source: "digits", keys: COMMON },
    SourceKeys {
        heading: "Tables: CSV, TSV, Parquet, standard input (`-`)",
        source: "patients.csv",
        keys: TABLE,
    },
    SourceKeys { heading: "Arrays: NPY, NPZ, IDX", source: "x.npy", keys: ARRAYS },
    SourceKeys { heading: "libsvm", source: "a9a.svm", keys: LIBSVM },
    SourceKeys { heading: "MNIST and its family", source: "mnist:FOLDER", keys: MNIST },
    SourceKeys { heading: "Gaussian blobs", source: "blobs", keys: BLOBS },
    SourceKeys { heading: "Two clusters", source: "two-clusters", keys: TWO_CLUSTERS },
];

/// The table as Markdown, the way it stands in `docs/DATA.md`.
pub fn source_keys_page() -> String {
    let mut text = String::new();
    for kind in SOURCE_KEYS {
        text.push_str(&format!(
            "### {}\n\n`{}`\n\n| key | meaning | example |\n|---|---|---|\n",
            kind.heading, kind.source
        ));
        for key in kind.keys {
            text.push_str(&format!(
                "| `{}` | {} | `{}` |\n",
                key.name,
                key.meaning.replace('|', "\\|"),
                key.example.replace('|', "\\|")
            ));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::DataSource;
    use super::*;

    /// The keys that the reader asks for: it names them when it meets one that it does not know.
    fn known(source: &str) -> BTreeSet<String> {
        let message = format!("{source}:zzz=1").parse::<DataSource>().unwrap_err().to_string();
        let listed = message.split("keys here are").nth(1).unwrap_or_else(|| panic!("{message}"));
        listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_table_has_exactly_the_keys_that_the_reader_knows() {
        let common: BTreeSet<String> = COMMON.iter().map(|key| key.name.to_owned()).collect();
        for kind in SOURCE_KEYS {
            let own: BTreeSet<String> = kind.keys.iter().map(|key| key.name.to_owned()).collect();
            let told: BTreeSet<String> = own.union(&common).cloned().collect();
            assert_eq!(told, known(kind.source), "{}", kind.heading);
        }
    }

    #[test]
    fn every_example_can_be_read() {
        for kind in SOURCE_KEYS {
            for key in kind.keys {
                assert!(key.example.starts_with(&format!("{}=", key.name)), "{}", key.example);
                let text = format!("{}:{}", kind.source, key.example);
                assert!(text.parse::<DataSource>().is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn the_page_of_the_documents_is_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/DATA.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (before, rest) = page.split_once("<!-- keys -->\n").expect("the page has a place for the keys");
        let (shown, after) = rest.split_once("<!-- end of keys -->").expect("and an end of it");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let renewed = format!("{before}<!-- keys -->\n{}<!-- end of keys -->{after}", source_keys_page());
            std::fs::write(path, renewed).unwrap();
        } else {
            assert_eq!(shown, source_keys_page(), "run with UPDATE_DOCS=1");
        }
    }
}

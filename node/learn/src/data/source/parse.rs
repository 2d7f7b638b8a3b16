//! From text to a source. Touches no disk: the format of a file is taken from its name or from `format=`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use super::super::arrays::ArrayOptions;
use super::super::csv::{self, Categorical, CsvOptions, Missing, TargetKind};
use super::super::error::DataError;
use super::super::libsvm::LibsvmOptions;
use super::super::mnist::MnistPart;
use super::super::scaling::Scaling;
use super::super::synthetic::{Blobs, TwoClusters};
use super::keys::{Keys, parse_bounds, parse_number, split_list};
use super::{DataSource, SourceKind};
use crate::schema::DateFormat;

impl FromStr for DataSource {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        parse(text.trim()).map_err(|why| DataError::BadSource { spec: text.to_string(), why })
    }
}

fn parse(text: &str) -> Result<DataSource, String> {
    if text.is_empty() {
        return Err("it is empty; try `digits`".into());
    }
    let (head, keys) = split_head(text);
    let mut keys = Keys::parse(keys)?;
    let scale = keys.text("scale").map(|text| parse_scale(&text)).transpose()?.flatten();
    let target_bounds =
        keys.text("target_bounds").map(|text| parse_bounds("target_bounds", &text)).transpose()?;
    let kind = parse_kind(head, &mut keys)?;
    let is_table = matches!(kind, SourceKind::Csv(..));
    let schema = if is_table { keys.text("schema").map(PathBuf::from) } else { None };
    keys.finish()?;
    Ok(DataSource { kind, scale, target_bounds, schema })
}

/// Splits before the first `key=value` pair: at the first `:` behind which a word and `=` follow.
fn split_head(text: &str) -> (&str, &str) {
    let is_pair = |rest: &str| {
        rest.split_once('=').is_some_and(|(key, _)| {
            !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '-'))
        })
    };
    let colons = text.match_indices(':').map(|(at, _)| at);
    match { colons }.find(|&at| is_pair(&text[at + 1..])) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}

fn parse_kind(head: &str, keys: &mut Keys) -> Result<SourceKind, String> {
    match head.split_once(':') {
        None => match head {
            "digits" => return Ok(SourceKind::Digits),
            "breast-cancer" => return Ok(SourceKind::BreastCancer),
            "blobs" => return parse_blobs(keys),
            "two-clusters" => return parse_two_clusters(keys),
            "mnist" | "fashion-mnist" => return Err(format!("the folder is missing: `{head}:FOLDER`")),
            _ => {}
        },
        Some(("mnist" | "fashion-mnist", folder)) if !folder.is_empty() => {
            let part = match keys.text("part").as_deref() {
                None | Some("both") => MnistPart::Both,
                Some("train") => MnistPart::Train,
                Some("test") => MnistPart::Test,
                Some(other) => return Err(format!("`part={other}` is none of `both`, `train`, `test`")),
            };
            return Ok(SourceKind::Mnist(folder.into(), part));
        }
        Some(_) => {}
    }
    parse_file(head, keys)
}

fn parse_file(path: &str, keys: &mut Keys) -> Result<SourceKind, String> {
    let lower = path.to_ascii_lowercase();
    let bare = lower.strip_suffix(".gz").unwrap_or(&lower);
    let ending = bare.rsplit(['.', '/']).next().unwrap_or_default();
    let format = keys.text("format").unwrap_or_else(|| match ending {
        "-" => "csv".to_string(),
        name if name.contains("-idx") || name.ends_with("-ubyte") => "idx".to_string(),
        name => name.to_string(),
    });
    let file = PathBuf::from(path);
    match format.as_str() {
        "csv" | "tsv" | "parquet" => Ok(SourceKind::Csv(file, parse_csv(keys, format == "tsv")?)),
        "npy" | "npz" | "idx" => Ok(SourceKind::Arrays(file, parse_arrays(keys)?)),
        "svm" | "libsvm" | "svmlight" => {
            let options = LibsvmOptions {
                features: keys.number("features")?,
                from_zero: parse_first(keys)?,
                target: parse_target(keys)?,
            };
            Ok(SourceKind::Libsvm(file, options))
        }
        _ if !path.contains(['.', '/']) => Err(format!(
            "there is no set `{path}`; use digits, breast-cancer, blobs, two-clusters, mnist:FOLDER or a file"
        )),
        _ => Err("the ending tells no format; add `format=` with csv, tsv, parquet, npy, npz, idx or libsvm"
            .into()),
    }
}

fn parse_csv(keys: &mut Keys, tabs: bool) -> Result<CsvOptions, String> {
    let delimiter = keys.text("delimiter").map(|text| sign("delimiter", &text)).transpose()?;
    let encoding = keys.text("encoding");
    if let Some(name) = &encoding {
        csv::encoding_named(name).map_err(|error| error.to_string())?;
    }
    let features = keys.list("features");
    Ok(CsvOptions {
        label: keys.text("label"),
        target: parse_target(keys)?,
        categorical: keys
            .list("categorical")
            .iter()
            .map(|text| parse_categorical(text))
            .collect::<Result<_, _>>()?,
        dates: keys.list("date").iter().map(|text| parse_date(text)).collect::<Result<_, _>>()?,
        drop: keys.list("drop"),
        features: (!features.is_empty()).then_some(features),
        id: keys.text("id"),
        split: keys.text("split"),
        missing: parse_missing(keys)?,
        delimiter: delimiter.or(tabs.then_some('\t')),
        decimal: keys.text("decimal").map(|text| sign("decimal", &text)).transpose()?,
        encoding,
        plain_quotes: parse_quotes(keys)?,
    })
}

/// `none`, or nothing: what quotes mean.
fn parse_quotes(keys: &mut Keys) -> Result<bool, String> {
    match keys.text("quotes").as_deref() {
        None => Ok(false),
        Some("none") => Ok(true),
        Some(other) => {
            Err(format!("`quotes={other}` is not `none`: leave it out where quotes stand around fields"))
        }
    }
}

/// From where features are counted: whether it is zero.
fn parse_first(keys: &mut Keys) -> Result<bool, String> {
    match keys.text("first").as_deref() {
        None | Some("1") => Ok(false),
        Some("0") => Ok(true),
        Some(other) => Err(format!("`first={other}` is neither 0 nor 1")),
    }
}

/// One character, or its name. A comma cannot be written among keys that have commas between them: then nothing is left of it.
fn sign(key: &str, text: &str) -> Result<char, String> {
    match text {
        "" | "comma" => Ok(','),
        "point" => Ok('.'),
        "tab" => Ok('\t'),
        "semicolon" => Ok(';'),
        "space" => Ok(' '),
        other => other.chars().next().filter(|_| other.chars().count() == 1).ok_or_else(|| {
            format!("`{key}={other}` is not one character, `comma`, `point`, `tab`, `semicolon` or `space`")
        }),
    }
}

/// `column` with ISO dates, or `column@FORMAT`.
fn parse_date(text: &str) -> Result<(String, DateFormat), String> {
    let (column, format) = text.split_once('@').unwrap_or((text, "iso"));
    Ok((column.trim().to_string(), DateFormat::parse(format)?))
}

fn parse_arrays(keys: &mut Keys) -> Result<ArrayOptions, String> {
    Ok(ArrayOptions {
        labels: keys.text("labels").map(PathBuf::from),
        label_column: keys.number("label_column")?,
        x: keys.text("x"),
        y: keys.text("y"),
        id: keys.text("id"),
        target: parse_target(keys)?,
        fill: keys.number("fill")?,
    })
}

/// `target=real`, `classes=10`, `classes=a+b+c` or `above=0`; at most one of them.
fn parse_target(keys: &mut Keys) -> Result<TargetKind, String> {
    let mut kinds = Vec::new();
    match keys.text("target").as_deref() {
        None => {}
        Some("real") => kinds.push(TargetKind::Real),
        Some(other) => {
            return Err(format!("`target={other}` is not `real`; classes are given with `classes=`"));
        }
    }
    if let Some(text) = keys.text("classes") {
        kinds.push(match text.parse::<usize>() {
            Ok(count) if (1..=1_000_000).contains(&count) => TargetKind::Classes(count),
            Ok(count) => return Err(format!("`classes={count}` is not between 1 and 1000000")),
            Err(_) => TargetKind::ClassNames(split_list(&text)),
        });
    }
    if let Some(threshold) = keys.number::<f32>("above")? {
        kinds.push(TargetKind::Above(threshold));
    }
    if kinds.len() > 1 {
        return Err("`target`, `classes` and `above` exclude each other".into());
    }
    Ok(kinds.pop().unwrap_or_default())
}

/// `column`, or `column[word|word]` with declared categories.
fn parse_categorical(text: &str) -> Result<Categorical, String> {
    let Some((column, rest)) = text.split_once('[') else { return Ok(Categorical::discovered(text)) };
    let words = rest.strip_suffix(']').ok_or_else(|| format!("`{text}` has no closing `]`"))?;
    let categories = words.split('|').map(|word| word.trim().to_string()).collect();
    Ok(Categorical {
        column: column.trim().to_string(),
        categories: Some(categories),
        ..Categorical::default()
    })
}

/// `fill=0`, `fill=age@40`, or several joined by `+`.
fn parse_missing(keys: &mut Keys) -> Result<Missing, String> {
    let mut missing = Missing::default();
    for word in keys.list("fill") {
        let (column, value) = word.rsplit_once('@').map_or((None, word.as_str()), |(c, v)| (Some(c), v));
        let value: f32 = parse_number("fill", value)?;
        if !value.is_finite() {
            return Err(format!("`fill={word}` is not finite"));
        }
        match column {
            Some(column) => _ = missing.fill_column.insert(column.to_string(), value),
            None => missing.fill = Some(value),
        }
    }
    Ok(missing)
}

/// `none`, `l2`, `LOW..HIGH`, `feature@LOW..HIGH`, several of the last two joined by `+`, or bounds of all features
/// in their order with `/` between them; `units` is the default of
/// sets whose bounds are known.
fn parse_scale(text: &str) -> Result<Option<Scaling>, String> {
    match text {
        "none" => return Ok(Some(Scaling::None)),
        "l2" => return Ok(Some(Scaling::UnitRows)),
        "units" => return Ok(None),
        _ => {}
    }
    if text.contains('/') {
        let all = text.split('/').map(|range| parse_bounds("scale", range)).collect::<Result<_, _>>()?;
        return Ok(Some(Scaling::UnitsPerFeature(all)));
    }
    let (mut bounds, mut default) = (BTreeMap::new(), None);
    for word in split_list(text) {
        match word.rsplit_once('@') {
            Some((name, range)) => _ = bounds.insert(name.to_string(), parse_bounds("scale", range)?),
            None if word.contains("..") => default = Some(parse_bounds("scale", &word)?),
            None => return Err(format!("`scale={word}` is none of none, l2, LOW..HIGH, FEATURE@LOW..HIGH")),
        }
    }
    match (bounds.is_empty(), default) {
        (true, Some(all)) => Ok(Some(Scaling::Units(all))),
        (true, None) => Err("`scale` is empty".into()),
        _ => Ok(Some(Scaling::UnitsByName { bounds, default })),
    }
}

fn parse_blobs(keys: &mut Keys) -> Result<SourceKind, String> {
    let mut spec = Blobs::default();
    keys.set("nodes", &mut spec.nodes)?;
    keys.set("records", &mut spec.records)?;
    keys.set("dim", &mut spec.dim)?;
    keys.set("classes", &mut spec.classes)?;
    keys.set("separation", &mut spec.separation)?;
    keys.set("spread", &mut spec.spread)?;
    keys.set("heterogeneity", &mut spec.heterogeneity)?;
    keys.set("shift", &mut spec.shift)?;
    keys.set("test", &mut spec.test)?;
    Ok(SourceKind::Blobs(spec, keys.number("seed")?))
}

fn parse_two_clusters(keys: &mut Keys) -> Result<SourceKind, String> {
    let mut spec = TwoClusters::default();
    keys.set("nodes", &mut spec.nodes)?;
    keys.set("records", &mut spec.records)?;
    keys.set("dim", &mut spec.dim)?;
    keys.set("heterogeneity", &mut spec.heterogeneity)?;
    keys.set("noise", &mut spec.noise)?;
    keys.set("test", &mut spec.test)?;
    Ok(SourceKind::TwoClusters(spec, keys.number("seed")?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<DataSource>().unwrap_err().to_string()
    }

    #[test]
    fn text_and_source_say_the_same() {
        for text in [
            "digits",
            "digits:scale=none",
            "digits:scale=l2",
            "digits:scale=0..32",
            "breast-cancer",
            "blobs",
            "blobs:nodes=20,classes=5,heterogeneity=0.8,shift=0.5,seed=7",
            "two-clusters:records=10,noise=0,test=0",
            "mnist:some/folder",
            "mnist:some/folder:part=test",
            "a.csv",
            "dir.d/a.csv.gz:label=over50k,categorical=sex[Male|Female]+race,drop=fnlwgt,split=split,fill=0+age@40",
            "a.csv:label=num,above=0,id=hospital",
            "a.csv:label=y,classes=3,features=a+b",
            "a.csv:label=y,classes=cat+dog,delimiter=semicolon",
            "a.tsv:label=y,target=real,target_bounds=0..500000",
            "a.csv:scale=age@17..90+0..1",
            "a.csv:scale=0..1/-1.5..2",
            "a.csv:label=y,date=born@%d.%m.%Y+seen,delimiter=semicolon,decimal=comma,encoding=latin1",
            "a.parquet:label=y",
            "-:label=y",
            "a.csv:decimal=comma,schema=clinic.toml",
            "x.npy:labels=y.npy,classes=10",
            "t.npy:label_column=3,fill=-1",
            "a.npz:x=images,y=digits,id=writer",
            "train-images-idx3-ubyte.gz:labels=train-labels-idx1-ubyte.gz",
            "a9a.svm:features=123",
            "a9a.svm:features=123,first=0",
            "a.csv:label=y,quotes=none",
            "data.txt:format=libsvm",
        ] {
            let source = text.parse::<DataSource>().unwrap();
            assert_eq!(source.to_string(), text);
            assert_eq!(source.to_string().parse::<DataSource>().unwrap(), source);
        }
    }

    #[test]
    fn a_comma_may_be_written_as_one() {
        let written = |text: &str| text.parse::<DataSource>().unwrap();
        assert_eq!(written("a.csv:decimal=,"), written("a.csv:decimal=comma"));
        assert_eq!(written("a.csv:decimal=,,label=y"), written("a.csv:label=y,decimal=comma"));
        assert_eq!(written("a.csv:delimiter=;"), written("a.csv:delimiter=semicolon"));
    }

    #[test]
    fn a_colon_in_a_path_does_not_start_the_keys() {
        let source: DataSource = "C:/data/a.csv:label=y".parse().unwrap();
        assert!(matches!(source.kind, SourceKind::Csv(path, _) if path == *"C:/data/a.csv"));
    }

    #[test]
    fn nonsense_is_refused_with_the_word_that_is_wrong() {
        for (text, word) in [
            ("", "empty"),
            ("digit", "`digit`"),
            ("digits:lable=x", "`lable`"),
            ("a.csv:lable=x", "did you mean `label`?"),
            ("a.csv:label=x,label=y", "twice"),
            ("a.csv:label=y,classes=2,above=1", "exclude"),
            ("a.csv:scale=2..1", "2..1"),
            ("a.csv:scale=big", "`scale=big`"),
            ("a.csv:fill=inf", "finite"),
            ("a.csv:fill=x", "`fill=x`"),
            ("a.csv:categorical=sex[m", "`]`"),
            ("a.xlsx", "format="),
            ("a.csv:decimal=dot", "`decimal=dot`"),
            ("a.csv:encoding=klingon", "klingon"),
            ("a.csv:quotes=single", "`quotes=single`"),
            ("a.svm:first=2", "`first=2`"),
            ("a.csv:date=born@%d", "`%d`"),
            ("a.npy:schema=x", "`schema`"),
            ("mnist", "mnist:FOLDER"),
            ("mnist:dir:part=half", "part=half"),
            ("blobs:nodes=many", "nodes=many"),
            ("blobs:nodes=-1", "nodes=-1"),
            ("blobs:5", "`blobs:5`"),
        ] {
            let message = refused(text);
            assert!(message.contains(word), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics_and_what_is_understood_reads_back(text in "[a-c.:=,+@\\[\\]|0-9]{0,30}") {
            let text = format!("a.csv:{text}");
            if let Ok(source) = text.parse::<DataSource>() {
                prop_assert_eq!(source.to_string().parse::<DataSource>().unwrap(), source);
            }
        }
    }
}

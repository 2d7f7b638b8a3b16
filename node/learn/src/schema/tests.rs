//! Claims about declarations.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Schema {
    Schema::from_toml(text, "schema.toml").unwrap()
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let error = Schema::from_toml(text, "schema.toml").unwrap_err();
    for part in parts {
        assert!(error.to_string().contains(part), "`{part}` is not in: {error}");
    }
}

const CLINIC: &str = r#"
[schema]
label = "sick"
person = "patient"

[columns.weight]
bounds = [0, 300.5]
fill = 70

[columns.age]
bounds = [0, 110]
integer = true

[columns.region]
values = ["north", "south", 3, true]
other = true
fill = "south"

[columns.admitted]
date = "%d.%m.%Y"
bounds = ["2000-01-01", 2030-12-31]
fill = "2010-06-01"

[columns.code]
text = 8

[columns.ward]
values = ["a", "b"]
feature = false

[columns.sick]
values = ["no", "yes"]
"#;

#[test]
fn a_declaration_says_what_each_column_holds() {
    let schema = read(CLINIC);
    let features: Vec<&str> = schema.features().map(|(name, _)| name).collect();
    assert_eq!(features, ["admitted", "age", "region", "weight"]);
    let days = Range { low: 10_957.0, high: 22_279.0 };
    assert_eq!(schema.columns["admitted"].bounds(), Some(days));
    assert_eq!(schema.columns["region"].values().unwrap(), ["north", "south", "3", "true"]);
    assert_eq!(schema.columns["region"].fill, Some(Fill::Word("south".into())));
    assert_eq!(schema.label_column().unwrap().values().unwrap(), ["no", "yes"]);
    assert_eq!(schema.person.as_deref(), Some("patient"));
    assert_eq!(
        schema.columns["age"].kind,
        Kind::Number { bounds: Range { low: 0.0, high: 110.0 }, integer: true }
    );
}

#[test]
fn a_schema_reads_back_from_its_own_text() {
    for text in [
        CLINIC,
        "[columns.x]\nbounds = [0, 1]",
        "[schema]\nlabel = \"y\"\nabove = 0\ndraft = true\n[columns.x]\nbounds = [-1e300, 1e-3]\n[columns.y]\nbounds = [0, 4]",
    ] {
        // The bounds of the last are too wide for single precision.
        let text = text.replace("-1e300", "-1e30");
        let schema = read(&text);
        assert_eq!(read(&schema.to_toml()), schema);
        assert_eq!(read(&schema.to_toml()).to_toml(), schema.to_toml());
    }
}

#[test]
fn all_that_does_not_fit_is_said_at_once() {
    let text = r#"
        [schema]
        label = "y"
        [columns.a]
        integer = true
        [columns.b]
        bounds = [2, 1]
        [columns.c]
        values = ["x", "x"]
        fill = "z"
        [columns.d]
        date = "%d.%m"
        bounds = [1, 2]
        [columns.e]
        text = 0
        fill = 1
        [columns.f]
        values = ["x"]
        bounds = [0, 1]
        date = "iso"
    "#;
    refused(
        text,
        &[
            "`columns.a`: `bounds = [LOW, HIGH]` is missing",
            "`columns.b`: `bounds = [2, 1]`",
            "`columns.c`: `values` has `x` twice",
            "`columns.c`: `fill = \"z\"` is not one of the values",
            "`columns.d`: the date format `%d.%m`",
            "`columns.d`: `bounds = [1, 2]` are not two values",
            "`columns.e`: `text = 0`",
            "`columns.e`: a text has neither",
            "`columns.f`: `values`, `date` and `text` exclude each other",
        ],
    );
}

#[test]
fn keys_that_nobody_knows_and_values_of_another_kind_hide_nothing_else() {
    let text = r#"
        colums = 1
        [schema]
        lable = "y"
        label = "y"
        draft = "no"
        above = "x"
        [columns]
        z = 3
        [columns.x]
        bound = [0, 1]
        [columns.y]
        values = "no"
        [columns.v]
        bounds = 7
        integer = 1
        [columns.w]
        text = "long"
        [columns.u]
        bounds = [0, 1]
        fill = 9
        [columns.t]
        values = ["a"]
        fill = "b"
    "#;
    let wanted = [
        "unknown section `colums`",
        "`schema`: unknown key `lable`; did you mean `label`?",
        "`schema`: `draft = \"no\"` is not true or false",
        "`schema`: `above = \"x\"` is not a number",
        "`columns.z = 3` is no section: write `[columns.z]`",
        "`columns.x`: unknown key `bound`; did you mean `bounds`?",
        "`columns.x`: `bounds = [LOW, HIGH]` is missing",
        "`columns.y`: `values = \"no\"` is not a list",
        "`columns.v`: `bounds = 7` are not two values",
        "`columns.v`: `integer = 1` is not true or false",
        "`columns.w`: `text = \"long\"` is not between 1 and 64 bytes",
        "`columns.u`: `fill = 9` is not within the bounds of the column, 0 to 1",
        "`columns.t`: `fill = \"b\"` is not one of the values",
    ];
    refused(text, &wanted);
    let said = Schema::from_toml(text, "schema.toml").unwrap_err().to_string();
    assert_eq!(said.lines().count(), 1 + wanted.len(), "each once: {said}");
}

#[test]
fn what_is_filled_in_is_a_value_that_can_occur() {
    let column = |text: &str| format!("[columns.x]\n{text}");
    for (text, said) in [
        ("bounds = [0, 110]\nfill = -1", "`fill = -1` is not within the bounds of the column, 0 to 110"),
        ("bounds = [0, 110]\nfill = 110.5", "is not within the bounds"),
        ("bounds = [0, 110]\ninteger = true\nfill = 50.5", "is not a whole number"),
        ("bounds = [0, 110]\nfill = nan", "is not a number"),
        (
            "date = \"iso\"\nbounds = [\"2000-01-01\", \"2010-01-01\"]\nfill = \"2010-01-02\"",
            "is not within the bounds of the column, 2000-01-01 to 2010-01-01",
        ),
    ] {
        refused(&column(text), &[said, "columns.x"]);
    }
    for text in ["bounds = [0, 110]\nfill = 0", "bounds = [0, 110]\nfill = 110\ninteger = true"] {
        assert!(read(&column(text)).columns["x"].fill.is_some());
    }
}

#[test]
fn a_label_is_declared_never_filled_and_never_a_feature() {
    let with = |label: &str| format!("[schema]\nlabel = \"y\"\n[columns.x]\nbounds = [0, 1]\n{label}");
    refused(&with(""), &["`schema.label = \"y\"` is not declared"]);
    refused(&with("[columns.y]\nvalues = [0, 1]\nfill = 0"), &["never filled in"]);
    refused(&with("[columns.y]\nvalues = [0, 1]\nfeature = true"), &["cannot be a feature"]);
    refused(&with("[columns.y]\ntext = 3"), &["a number or one of `values`"]);
    refused(&with("[columns.y]\nvalues = [0, 1]\nother = true"), &["no other values"]);
    refused(
        "[schema]\nlabel = \"y\"\nabove = 1\n[columns.x]\nbounds = [0,1]\n[columns.y]\nvalues = [1, 2]",
        &["`schema.above`"],
    );
    refused("[schema]\nabove = 1\n[columns.x]\nbounds = [0,1]", &["needs `schema.label`"]);
    refused("[schema]\nlabel = \"y\"\n[columns.y]\nvalues = [0, 1]", &["no column is a feature"]);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics_and_what_is_understood_reads_back(
        text in "(bounds|values|date|text|fill|integer|other|feature|[ =\\[\\]\",.0-9a-z\\-\n]){0,12}"
    ) {
        if let Ok(schema) = Schema::from_toml(&format!("[columns.a]\n{text}"), "text") {
            prop_assert_eq!(Schema::from_toml(&schema.to_toml(), "again").unwrap(), schema);
        }
    }
}

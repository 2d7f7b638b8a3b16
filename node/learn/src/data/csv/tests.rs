//! Claims about the CSV reader, on small files in memory.

use proptest::prelude::*;
use topology::Hint;

use super::*;
use crate::data::{Target, Task};

fn read(text: &str, options: &CsvOptions) -> Result<Loaded, DataError> {
    read_input(&Input::Embedded { name: "test.csv", bytes: text.as_bytes().to_vec().leak() }, options)
}

fn train(text: &str, options: &CsvOptions) -> Dataset {
    read(text, options).unwrap().train
}

#[track_caller]
fn refused(text: &str, options: &CsvOptions, parts: &[&str]) -> DataError {
    let error = read(text, options).unwrap_err();
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    error
}

fn labelled() -> CsvOptions {
    CsvOptions::labelled("y")
}

#[test]
fn columns_are_found_by_name_wherever_they_stand() {
    let data = train("y,b,a\n1,2.5,-3\n0,1e2,+4\n", &labelled());
    assert_eq!((data.row(0), data.row(1)), (&[2.5, -3.0][..], &[100.0, 4.0][..]));
    assert_eq!(data.feature_names().unwrap(), ["b", "a"]);
    assert_eq!((data.target(0), data.target(1)), (Target::Class(1), Target::Class(0)));
}

#[test]
fn quotes_spaces_line_ends_and_byte_order_marks_do_not_matter() {
    let text = "\u{feff}y, x ,word\r\n1, 2 ,\"a, \"\"b\"\"\"\r\n0,3,c";
    let options = CsvOptions { categorical: vec![Categorical::discovered("word")], ..labelled() };
    let data = train(text, &options);
    assert_eq!(data.feature_names().unwrap(), ["x", "word=a, \"b\"", "word=c"]);
    assert_eq!((data.row(0), data.row(1)), (&[2.0, 1.0, 0.0][..], &[3.0, 0.0, 1.0][..]));
}

#[test]
fn words_become_one_feature_per_category_in_alphabetical_or_declared_order() {
    let text = "x,colour,y\n1,red,0\n2,blue,1\n3,red,1\n";
    let discovered = CsvOptions { categorical: vec![Categorical::discovered("colour")], ..labelled() };
    let data = train(text, &discovered);
    assert_eq!(data.feature_names().unwrap(), ["x", "colour=blue", "colour=red"]);
    assert_eq!((data.row(0), data.row(1)), (&[1.0, 0.0, 1.0][..], &[2.0, 1.0, 0.0][..]));
    let categories = Some(["red", "green", "blue"].map(String::from).to_vec());
    let declared = Categorical { column: "colour".into(), categories, ..Categorical::default() };
    let data = train(text, &CsvOptions { categorical: vec![declared], ..labelled() });
    assert_eq!((data.columns(), data.row(1)), (4, &[2.0, 0.0, 0.0, 1.0][..]));
    let too_few = Categorical {
        column: "colour".into(),
        categories: Some(vec!["red".into()]),
        ..Categorical::default()
    };
    let options = CsvOptions { categorical: vec![too_few], ..labelled() };
    refused(text, &options, &["row 2", "column `colour`", "`blue`", "`red`"]);
}

#[test]
fn labels_are_classes_or_numbers_as_declared_or_found() {
    let task = |labels: &[&str], target: TargetKind| {
        let rows: String = labels.iter().map(|label| format!("1,{label}\n")).collect();
        read(&format!("x,y\n{rows}"), &CsvOptions { target, ..labelled() }).map(|loaded| loaded.train)
    };
    let words = task(&["cat", "ant", "cat"], TargetKind::Discover).unwrap();
    assert_eq!(
        (words.class_names().unwrap(), words.target(0)),
        (&["ant".into(), "cat".into()][..], Target::Class(1))
    );
    // Numbers in their order, not in that of the alphabet.
    let numbers = task(&["10", "9", "-1"], TargetKind::Discover).unwrap();
    assert_eq!(numbers.class_names().unwrap(), ["-1", "9", "10"]);
    assert_eq!(task(&["0.5", "1"], TargetKind::Discover).unwrap().task(), Task::Regression);
    let many: Vec<String> = (0..21).map(|i| i.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(task(&many, TargetKind::Discover).unwrap().task(), Task::Regression);
    assert_eq!(task(&many, TargetKind::Classes(21)).unwrap().task(), Task::Classification { classes: 21 });
    assert_eq!(task(&["0", "1"], TargetKind::Real).unwrap().task(), Task::Regression);
    let above = task(&["0", "0.5", "3"], TargetKind::Above(0.4)).unwrap();
    assert_eq!(above.labels().unwrap().as_ref(), [0, 1, 1]);
    assert_eq!(train("x\n1\n", &CsvOptions::default()).task(), Task::Unlabelled);
}

#[test]
fn whole_numbers_are_one_class_however_they_are_written() {
    let data = train("x,y\n1,-1\n2,1\n3,+1\n4,1.0\n5,-1e0\n", &labelled());
    assert_eq!(data.labels().unwrap().as_ref(), [0, 1, 1, 1, 0]);
    assert_eq!(data.class_names().unwrap(), ["-1", "1"]);
    let data = train("x,y\n1,-0\n2,0\n3,10\n4,9\n", &labelled());
    assert_eq!(data.class_names().unwrap(), ["0", "9", "10"]);
    // Words stay what they are, and one word makes all of them words.
    assert_eq!(train("x,y\n1,a\n2,1\n3,1.0\n", &labelled()).class_names().unwrap(), ["1", "1.0", "a"]);
}

#[test]
fn a_missing_label_is_refused_without_the_advice_to_fill_it() {
    for text in ["x,y\n1,1\n2,\n", "x,y\n1,a\n2,?\n", "x,y\n1,1.5\n2,NA\n"] {
        let error = refused(text, &labelled(), &["row 2", "column `y`", "label is missing"]);
        assert!(!error.hint().unwrap().contains("fill="), "{:?}", error.hint());
    }
    let error = refused("x,y\n1,1\n,2\n", &labelled(), &["row 2", "column `x`", "value is missing"]);
    assert!(error.hint().unwrap().contains("fill="));
}

#[test]
fn a_label_outside_the_classes_is_refused_with_row_and_classes() {
    let numbered = CsvOptions { target: TargetKind::Classes(2), ..labelled() };
    for label in ["2", "-1", "0.5"] {
        let text = format!("x,y\n1,0\n1,{label}\n");
        refused(&text, &numbered, &["`test.csv`, row 2, column `y`", label, "0 to 1"]);
    }
    let names = TargetKind::ClassNames(vec!["no".into(), "yes".into()]);
    refused(
        "x,y\n1,maybe\n",
        &CsvOptions { target: names, ..labelled() },
        &["row 1", "`maybe`", "`no`, `yes`"],
    );
}

#[test]
fn a_column_that_is_not_there_is_refused_with_the_list_and_the_nearest() {
    let text = "age,weight,y\n1,2,0\n";
    let error =
        refused(text, &CsvOptions::labelled("wieght"), &["`wieght`", "`age`, `weight`, `y`", "test.csv"]);
    assert_eq!(error.hint().unwrap(), "did you mean `weight`?");
    let asked = |options: CsvOptions| _ = refused(text, &options, &["no column `nothing`"]);
    asked(CsvOptions { id: Some("nothing".into()), ..labelled() });
    asked(CsvOptions { split: Some("nothing".into()), ..labelled() });
    asked(CsvOptions { drop: vec!["nothing".into()], ..labelled() });
    asked(CsvOptions { features: Some(vec!["nothing".into()]), ..labelled() });
    asked(CsvOptions { categorical: vec![Categorical::discovered("nothing")], ..labelled() });
    let fill_column = [("nothing".to_string(), 1.0)].into();
    asked(CsvOptions { missing: Missing { fill_column, ..Missing::default() }, ..labelled() });
}

#[test]
fn text_where_a_number_should_be_is_refused_with_row_and_column() {
    let error = refused("x,y\n1,0\ntall,1\n", &labelled(), &["row 2, column `x`", "`tall` is not a number"]);
    assert!(error.hint().unwrap().contains("categorical=x"));
    let real = CsvOptions { target: TargetKind::Real, ..labelled() };
    refused("x,y\n1,high\n", &real, &["row 1, column `y`", "`high`"]);
}

#[test]
fn infinities_are_refused_even_where_missing_values_are_filled() {
    for cell in ["inf", "-Infinity", "1e39"] {
        let options = CsvOptions { missing: Missing::fill(0.0), ..labelled() };
        refused(&format!("x,y\n{cell},0\n"), &options, &["row 1, column `x`", cell, "finite"]);
    }
}

#[test]
fn missing_values_are_refused_or_filled_as_told() {
    for cell in ["", " ", "?", "NA", "n/a", "NaN", "null"] {
        let text = format!("x,z,w,y\n1,2,a,0\n{cell},{cell},{cell},1\n");
        let words = vec![Categorical::discovered("w")];
        let refusing = CsvOptions { categorical: words.clone(), ..labelled() };
        let error = refused(&text, &refusing, &["row 2, column `x`", "missing"]);
        assert!(error.hint().unwrap().contains("fill=VALUE"));
        let fill_column = [("z".to_string(), 9.0)].into();
        let missing = Missing { fill_column, ..Missing::fill(-1.0) };
        let data = train(&text, &CsvOptions { categorical: words, missing, ..labelled() });
        assert_eq!(data.row(1), [-1.0, 9.0, 0.0]);
    }
    // A label is never made up.
    let filling = CsvOptions { missing: Missing::fill(0.0), ..labelled() };
    refused("x,y\n1,0\n1,\n", &filling, &["row 2, column `y`", "missing"]);
}

#[test]
fn rows_of_unequal_length_are_refused_with_their_line() {
    refused("x,y\n1,0\n1,0,5\n", &labelled(), &["row 2 (line 3)", "3 fields", "2 were expected"]);
    refused("x,y\n1,0\n1\n", &labelled(), &["row 2 (line 3)", "1 fields"]);
}

#[test]
fn an_empty_file_and_one_without_rows_are_refused() {
    refused("x,y\n", &labelled(), &["`test.csv` has no records"]);
    refused("", &labelled(), &["`test.csv` has no records"]);
    refused("\n\n", &CsvOptions::default(), &["`test.csv` has no records"]);
}

#[test]
fn columns_without_a_name_are_not_read() {
    // Row numbers in front, a separator too much behind, both.
    for text in [",a,y\n0,1.5,0\n1,2,1\n", "a,y,\n1.5,0,\n2,1,\n", ",a,y,\n0,1.5,0,\n1,2,1,\n"] {
        let data = train(text, &labelled());
        assert_eq!((data.columns(), data.len()), (1, 2), "{text}");
        assert_eq!(data.row(0).to_vec(), [1.5], "{text}");
    }
}

#[test]
fn one_column_has_one_job() {
    let conflict = |options: CsvOptions| _ = refused("x,y\n1,0\n", &options, &["column `"]);
    conflict(CsvOptions { id: Some("y".into()), ..labelled() });
    conflict(CsvOptions { categorical: vec![Categorical::discovered("y")], ..labelled() });
    conflict(CsvOptions { features: Some(vec!["x".into()]), drop: vec!["x".into()], ..labelled() });
    let twice = TargetKind::ClassNames(vec!["0".into(), "0".into()]);
    conflict(CsvOptions { target: twice, ..labelled() });
    refused("x,x,y\n1,2,0\n", &labelled(), &["`x` is there twice"]);
    refused("y\n0\n", &labelled(), &["no column is a feature"]);
}

#[test]
fn ids_become_groups_and_are_no_feature() {
    let options = CsvOptions { id: Some("who".into()), ..labelled() };
    let data = train("who,x,y\nbo,1,0\nal,2,1\nbo,3,1\n", &options);
    assert_eq!((data.columns(), data.group_names().unwrap()), (1, &["bo".to_string(), "al".into()][..]));
    assert_eq!(data.group_of_records().unwrap().as_ref(), [0, 1, 0]);
    refused("who,x,y\n,1,0\n", &options, &["row 1, column `who`", "missing"]);
}

#[test]
fn a_split_column_gives_the_common_test_set() {
    let options = CsvOptions { split: Some("part".into()), ..labelled() };
    let loaded = read("part,x,y\ntrain,1,0\ntest,2,1\ntrain,3,1\n", &options).unwrap();
    let test = loaded.test.unwrap();
    assert_eq!((loaded.train.len(), loaded.train.row(1), test.row(0)), (2, &[3.0][..], &[2.0][..]));
    // That of no record it says `test` is no reason to keep others apart: whoever asks knows that a column decides.
    let all = read("part,x,y\ntrain,1,0\ntrain,2,1\n", &options).unwrap();
    assert_eq!((all.train.len(), all.test.map(|test| test.len())), (2, Some(0)));
    refused("part,x,y\nother,1,0\n", &options, &["row 1, column `part`", "`other`", "`train`, `test`"]);
    refused("part,x,y\ntest,1,0\n", &options, &["split `train`", "no records"]);
}

#[test]
fn chosen_and_dropped_columns_decide_the_features() {
    let text = "a,b,c,y\n1,word,3,0\n";
    let chosen = CsvOptions { features: Some(vec!["c".into(), "a".into()]), ..labelled() };
    assert_eq!(train(text, &chosen).feature_names().unwrap(), ["c", "a"]);
    let dropped = CsvOptions { drop: vec!["b".into()], ..labelled() };
    assert_eq!(train(text, &dropped).row(0), [1.0, 3.0]);
}

#[test]
fn other_delimiters_are_taken_and_impossible_ones_refused() {
    let options = |delimiter| CsvOptions { delimiter, ..labelled() };
    assert_eq!(train("x;y\n1;0\n", &options(Some(';'))).row(0), [1.0]);
    assert_eq!(train("x\ty\n1\t0\n", &options(Some('\t'))).row(0), [1.0]);
    refused("x,y\n1,0\n", &options(Some('…')), &["delimiter", "…"]);
}

#[test]
fn all_problems_of_a_file_are_in_one_list_with_rows_and_columns() {
    let text = "a,b,word,y\n1,2,red,0\nx,inf,blue,1\n2,,red,1\nz,4,green,\n5,6\n7,8,blue,0\n";
    let declared = Categorical {
        column: "word".into(),
        categories: Some(vec!["red".into(), "green".into()]),
        ..Categorical::default()
    };
    let options = CsvOptions { categorical: vec![declared], target: TargetKind::Classes(2), ..labelled() };
    let error = refused(
        text,
        &options,
        &[
            "8 problems",
            "row 2, column `a`: `x` is not a number; also in row 4",
            "row 2, column `b`: `inf` is not a finite number",
            "row 3, column `b`: the value is missing",
            "row 2, column `word`: `blue` is none of",
            "also in row 6",
            "row 4, column `y`: the label is missing",
            "row 5 (line 6): 2 fields, but 4",
        ],
    );
    assert!(error.hint().unwrap().contains("categorical=a"), "{:?}", error.hint());
    // A thousand bad cells of one column are one line.
    let many: String = (0..1000).map(|row| format!("no{row},0\n")).collect();
    let message = read(&format!("x,y\n{many}"), &labelled()).unwrap_err().to_string();
    assert!(message.contains("1000 problems") && message.contains("and 995 more"), "{message}");
    assert_eq!(message.lines().count(), 2, "{message}");
}

#[test]
fn a_decimal_comma_is_read_cell_by_cell_or_said_and_a_point_is_then_no_number() {
    assert_eq!(train("x;y\n1,5;0\n-2,25;1\n", &labelled()).row(1), [-2.25]);
    let said = CsvOptions { decimal: Some(','), ..labelled() };
    assert_eq!(train("x,y\n\"1,5\",0\n", &said).row(0), [1.5]);
    refused("x,y\n1.5,0\n", &said, &["`1.5` is not a number"]);
    let error = refused("x,y\n\"1,5\",0\n", &labelled(), &["`1,5` is not a number"]);
    assert!(error.hint().unwrap().contains("decimal=comma"));
    // 1.234 may be a little more than one, or a thousand: nobody guesses, and nobody's cell decides about another's.
    let parts = ["row 3, column `z`: `1.234` has another decimal sign than `1,5` in row 2, column `x`"];
    let error = refused("x;z;y\n7;1;0\n1,5;2;1\n3;1.234;1\n", &labelled(), &parts);
    assert!(error.hint().unwrap().contains("decimal=point"));
    assert_eq!(
        train("x;note;y\n1,5;2.5;0\n", &CsvOptions { drop: vec!["note".into()], ..labelled() }).row(0),
        [1.5]
    );
}

#[test]
fn a_quote_by_which_one_record_could_hide_another_is_refused_or_a_letter() {
    let bad = "x,note,y\n1,5\" pipe,0\n2,\"a, b\",1\n";
    let dropped = || CsvOptions { drop: vec!["note".into()], ..labelled() };
    let error = refused(bad, &dropped(), &["`test.csv`, line 2", "a quote inside a field"]);
    assert!(error.hint().unwrap().contains("quotes=none"));
    // Where quotes are letters, the comma between two of them divides.
    let letters = CsvOptions { plain_quotes: true, ..dropped() };
    refused(bad, &letters, &["row 2 (line 3): 4 fields"]);
    assert_eq!(train("x,note,y\n1,5\" pipe,0\n2,\"b,1\n", &letters).len(), 2);
}

#[test]
fn days_become_numbers_and_what_is_no_day_is_refused() {
    let dates = [("day".to_string(), crate::schema::DateFormat::parse("%d.%m.%Y").unwrap())];
    let options = CsvOptions { dates: dates.into(), ..labelled() };
    let data = train("day,y\n02.01.1970,0\n31.12.1969,1\n", &options);
    assert_eq!((data.row(0), data.row(1)), (&[1.0][..], &[-1.0][..]));
    refused(
        "day,y\n1970-01-02,0\n",
        &options,
        &["row 1, column `day`", "`1970-01-02` is not a date of the form `%d.%m.%Y`"],
    );
}

#[test]
fn letters_of_windows_are_read_and_numbers_that_are_names_match_however_written() {
    let bytes = b"wo;y\nK\xf6ln;0\nBonn;1\n".to_vec().leak();
    let options = CsvOptions { categorical: vec![Categorical::discovered("wo")], ..labelled() };
    let data = read_input(&Input::Embedded { name: "test.csv", bytes }, &options).unwrap().train;
    assert_eq!(data.feature_names().unwrap(), ["wo=Bonn", "wo=Köln"]);
    let classes = CsvOptions { target: TargetKind::ClassNames(vec!["0".into(), "1".into()]), ..labelled() };
    let data = train("x,y\n1,1.0\n2,+0\n", &classes);
    assert_eq!((data.target(0), data.target(1)), (Target::Class(1), Target::Class(0)));
}

#[test]
fn chosen_features_stand_in_the_order_in_which_they_are_chosen() {
    let options = CsvOptions { features: Some(vec!["b".into(), "a".into()]), ..labelled() };
    let data = train("a,b,c,y\n1,2,3,0\n", &options);
    assert_eq!(
        (data.feature_names().unwrap(), data.row(0)),
        (&["b".to_string(), "a".into()][..], &[2.0, 1.0][..])
    );
}

proptest! {
    #[test]
    fn numbers_are_read_to_the_nearest_f32(values in prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 1..30)) {
        let rows: String = values.iter().map(|value| format!("{value:e},0\n")).collect();
        let data = train(&format!("x,y\n{rows}"), &labelled());
        prop_assert_eq!((0..data.len()).map(|i| data.row(i)[0]).collect::<Vec<_>>(), values);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let content = [b"a,y\n", bytes.as_slice()].concat();
        let input = Input::Embedded { name: "test.csv", bytes: content.leak() };
        let options = CsvOptions { categorical: vec![Categorical::discovered("a")], ..labelled() };
        let _ = read_input(&input, &options);
        let _ = read_input(&input, &labelled());
    }
}

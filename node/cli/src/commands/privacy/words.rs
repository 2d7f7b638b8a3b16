//! Flags that take one of the words of a library, each with its line of help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Takes the names of `all`, in this order.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    summary: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words = all.iter().map(move |&item| PossibleValue::new(name(item)).help(summary(item)));
    let chosen = move |word: String| {
        let found = all.iter().copied().find(|&item| name(item) == word);
        found.expect("only these words come through")
    };
    PossibleValuesParser::new(words).map(chosen)
}

//! Events on the command line: `kind:key=value,key=value`.
//!
//! `gaussian:sigma=1,rate=0.01,count=10000` is ten thousand Gaussian releases, each on a Poisson sample of one per
//! cent. Unknown kinds and keys are refused; every value is checked by the event itself.

use crate::failure::{Failure, Result};
use privacy::event::{DpEvent, EventError};
use std::collections::BTreeMap;

/// What can be written, for `--help` and for hints.
pub(super) const SYNTAX: &str = "\
Events (kind:key=value,…):
  gaussian:sigma=1                       Gaussian noise, standard deviation over ℓ2 sensitivity
  laplace:scale=2                        Laplace noise, scale over ℓ1 sensitivity
  randomized-response:epsilon=1,categories=4   or truth=0.75,categories=2 (probability of the true answer)
  d-private:epsilon=0.5,distance=2       ε per unit of distance, largest distance of neighbours
  pure:epsilon=0.1                       anything that is ε-DP
  approximate:epsilon=0.1,delta=1e-9     anything that is (ε, δ)-DP
  zcdp:rho=0.01                          anything that is ρ-zCDP, such as the discrete Gaussian
  non-private                            a release without protection
Every event also takes:
  count=1000                             how many times
  rate=0.01                              on a Poisson sample (adding or removing a record)
  sample=10,population=1000              on a sample without replacement (replacing a record)";

/// Reads one event.
pub(super) fn parse(text: &str) -> Result<DpEvent> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut keys = Keys::read(text, rest)?;
    let event = match kind.replace('_', "-").as_str() {
        "gaussian" => DpEvent::Gaussian { noise_multiplier: keys.needed("sigma")? },
        "laplace" => DpEvent::Laplace { noise_multiplier: keys.needed("scale")? },
        "randomized-response" => randomized_response(&mut keys)?,
        "d-private" => DpEvent::DPrivate {
            epsilon_per_unit: keys.needed("epsilon")?,
            distance: keys.number("distance")?.unwrap_or(1.0),
        },
        "pure" | "pure-dp" => DpEvent::PureDp { epsilon: keys.needed("epsilon")? },
        "approximate" | "approximate-dp" => {
            DpEvent::ApproximateDp { epsilon: keys.needed("epsilon")?, delta: keys.needed("delta")? }
        }
        "zcdp" | "zero-concentrated" => DpEvent::ZeroConcentrated { rho: keys.needed("rho")? },
        "non-private" => DpEvent::NonPrivate,
        _ => return Err(Failure::new(format!("`{text}`: unknown kind of event `{kind}`")).hint(kinds())),
    };
    let event = sampled(event, &mut keys)?;
    let count = keys.whole("count")?.unwrap_or(1);
    keys.finish()?;
    event.validate().map_err(|error| event_failure(text, error))?;
    Ok(if count == 1 { event } else { event.repeated(count) })
}

fn randomized_response(keys: &mut Keys<'_>) -> Result<DpEvent> {
    let categories = keys.whole("categories")?.unwrap_or(2);
    if let Some(truth) = keys.number("truth")? {
        return DpEvent::randomized_response(truth, categories)
            .map_err(|error| event_failure(keys.text, error));
    }
    Ok(DpEvent::RandomizedResponse { epsilon: keys.needed("epsilon")?, categories })
}

fn sampled(event: DpEvent, keys: &mut Keys<'_>) -> Result<DpEvent> {
    let (rate, sample, population) = (keys.number("rate")?, keys.whole("sample")?, keys.whole("population")?);
    match (rate, sample, population) {
        (None, None, None) => Ok(event),
        (Some(rate), None, None) => Ok(event.poisson_sampled(rate)),
        (None, Some(sample), Some(population)) => Ok(event.sampled_without_replacement(sample, population)),
        (Some(_), _, _) => Err(Failure::new(format!("`{}`: both `rate` and `sample` given", keys.text))
            .hint("give `rate` for Poisson sampling, or `sample` and `population` for sampling without replacement")),
        (None, _, _) => Err(Failure::new(format!("`{}`: `sample` and `population` belong together", keys.text))
            .hint("for example sample=10,population=1000")),
    }
}

/// An impossible event, with the text that gave it.
pub(super) fn event_failure(text: &str, error: EventError) -> Failure {
    Failure::from(error).context(format!("`{text}` is not a possible event"))
}

fn kinds() -> &'static str {
    "kinds are gaussian, laplace, randomized-response, d-private, pure, approximate, zcdp and non-private; \
     see `murmur privacy account --help`"
}

/// The key=value pairs of one event, each to be used once.
struct Keys<'a> {
    text: &'a str,
    left: BTreeMap<&'a str, &'a str>,
}

impl<'a> Keys<'a> {
    fn read(text: &'a str, rest: &'a str) -> Result<Self> {
        let mut left = BTreeMap::new();
        for part in rest.split(',').filter(|part| !part.trim().is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(Failure::new(format!("`{text}`: `{part}` is not key=value"))
                    .hint("write events like gaussian:sigma=1,rate=0.01,count=1000"));
            };
            if left.insert(key.trim(), value.trim()).is_some() {
                return Err(Failure::new(format!("`{text}`: `{}` is given twice", key.trim()))
                    .hint("give each key once; for several events repeat --event"));
            }
        }
        Ok(Self { text, left })
    }

    fn number(&mut self, key: &str) -> Result<Option<f64>> {
        self.take(key, "a number", |value| value.parse().ok())
    }

    fn whole(&mut self, key: &str) -> Result<Option<u64>> {
        self.take(key, "a whole number", |value| value.replace('_', "").parse().ok())
    }

    fn needed(&mut self, key: &str) -> Result<f64> {
        self.number(key)?.ok_or_else(|| {
            Failure::new(format!("`{}`: `{key}` is missing", self.text))
                .hint(format!("add {key}=… to the event"))
        })
    }

    fn take<T>(&mut self, key: &str, what: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = self.left.remove(key) else { return Ok(None) };
        let wrong = || {
            Failure::new(format!("`{}`: {key} must be {what}: `{value}`", self.text))
                .hint(format!("give {what}, for example {key}=1"))
        };
        read(value).map(Some).ok_or_else(wrong)
    }

    fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(key) => Err(Failure::new(format!("`{}`: unknown key `{key}`", self.text))
                .hint("`murmur privacy account --help` lists the keys of every kind of event")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_forms_are_read() {
        let gaussian = DpEvent::Gaussian { noise_multiplier: 1.5 };
        assert_eq!(parse("gaussian:sigma=1.5").unwrap(), gaussian);
        assert_eq!(
            parse("gaussian: sigma=1.5, rate=0.01 ,count=10_000").unwrap(),
            gaussian.clone().poisson_sampled(0.01).repeated(10_000)
        );
        assert_eq!(
            parse("gaussian:sigma=1.5,sample=3,population=10").unwrap(),
            gaussian.sampled_without_replacement(3, 10)
        );
        assert_eq!(parse("non_private").unwrap(), DpEvent::NonPrivate);
        for line in SYNTAX.lines().filter(|line| line.starts_with("  ") && line.contains(':')) {
            let example = line.split_whitespace().next().unwrap();
            assert!(parse(example).is_ok(), "{example}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("magic:sigma=1", "magic"),
            ("gaussian", "sigma"),
            ("gaussian:sigma=-1", "noise_multiplier"),
            ("gaussian:sigma=one", "one"),
            ("gaussian:sigma=1,sigma=2", "twice"),
            ("gaussian:sigma=1,colour=2", "colour"),
            ("gaussian:sigma=1,sample=3", "population"),
            ("gaussian:sigma=1,count=1.5", "whole number"),
            ("gaussian:sigma=nan", "noise_multiplier"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("hint: "), "{text}: {message}");
        }
    }
}

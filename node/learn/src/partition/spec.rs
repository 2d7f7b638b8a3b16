//! How to divide a data set, as text: `dirichlet:alpha=0.5,min_size=10`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::PartitionError;

/// By which rule records go to nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scheme {
    /// At random, sizes equal to one record.
    Iid,
    /// Sorted by label, cut into `nodes × per_node` pieces, dealt at random (McMahan et al. 2017, section 3).
    Shards {
        /// Pieces per node.
        per_node: usize,
    },
    /// Each class spread over the nodes in proportions from a symmetric Dirichlet distribution: the smaller
    /// `alpha`, the more skew (Yurochkin et al. 2019; "distribution-based label imbalance" of Li et al. 2022).
    Dirichlet {
        /// Concentration.
        alpha: f64,
    },
    /// Each node has exactly so many classes ("quantity-based label imbalance" of Li et al. 2022).
    Pathological {
        /// Classes per node.
        classes_per_node: usize,
    },
    /// Labels alike, sizes in proportions from a symmetric Dirichlet distribution (Li et al. 2022).
    QuantitySkew {
        /// Concentration.
        alpha: f64,
    },
    /// By the id column: the records of one id stay together. With as many nodes as ids each has its own;
    /// with fewer nodes, ids are joined so that sizes come out even.
    Natural,
}

/// A rule and the least number of records of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PartitionSpec {
    /// The rule.
    pub scheme: Scheme,
    /// Every node has at least so many records; at least 1, for a node without data cannot take part.
    pub min_size: usize,
}

impl PartitionSpec {
    /// The rule, with at least one record per node.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, min_size: 1 }
    }

    /// Checks the parameters, whatever the data.
    ///
    /// # Errors
    /// The parameter that is outside its range.
    pub fn check(&self) -> Result<(), PartitionError> {
        let bad = |name, value: String, why: &str| {
            Err(PartitionError::BadParameter { name, value, why: why.to_string() })
        };
        match self.scheme {
            Scheme::Dirichlet { alpha } | Scheme::QuantitySkew { alpha }
                if !(1e-6..=1e6).contains(&alpha) =>
            {
                bad("alpha", alpha.to_string(), "must be between 1e-6 and 1e6")
            }
            Scheme::Shards { per_node: 0 } => bad("per_node", "0".into(), "must be at least 1"),
            Scheme::Pathological { classes_per_node: 0 } => {
                bad("classes_per_node", "0".into(), "must be at least 1")
            }
            _ if self.min_size == 0 => {
                bad("min_size", "0".into(), "must be at least 1: a node without data cannot take part")
            }
            _ => Ok(()),
        }
    }
}

impl Scheme {
    /// The word for it in text.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Iid => "iid",
            Self::Shards { .. } => "shards",
            Self::Dirichlet { .. } => "dirichlet",
            Self::Pathological { .. } => "pathological",
            Self::QuantitySkew { .. } => "quantity-skew",
            Self::Natural => "natural",
        }
    }
}

impl fmt::Display for PartitionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.scheme.name();
        match self.scheme {
            Scheme::Iid | Scheme::Natural => write!(f, "{name}")?,
            Scheme::Shards { per_node } => write!(f, "{name}:per_node={per_node}")?,
            Scheme::Dirichlet { alpha } | Scheme::QuantitySkew { alpha } => {
                write!(f, "{name}:alpha={alpha}")?
            }
            Scheme::Pathological { classes_per_node } => {
                write!(f, "{name}:classes_per_node={classes_per_node}")?;
            }
        }
        if self.min_size != 1 {
            let bare = matches!(self.scheme, Scheme::Iid | Scheme::Natural);
            write!(f, "{}min_size={}", if bare { ':' } else { ',' }, self.min_size)?;
        }
        Ok(())
    }
}

impl FromStr for PartitionSpec {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let bad = |why: String| PartitionError::BadSpec { spec: text.to_string(), why };
        let (name, parameters) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let mut min_size = 1;
        let mut own: Option<(&str, &str)> = None;
        for pair in parameters.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` is not key=value")))?;
            match key.trim() {
                "min_size" => min_size = number(value).map_err(bad)?,
                key if own.is_some() => return Err(bad(format!("`{key}` is one parameter too many"))),
                key => own = Some((key, value.trim())),
            }
        }
        let scheme = scheme(name.trim(), own).map_err(bad)?;
        let spec = Self { scheme, min_size };
        spec.check()?;
        Ok(spec)
    }
}

/// The scheme `name` with its one parameter, by default 2 pieces or classes per node and alpha 0.5.
fn scheme(name: &str, parameter: Option<(&str, &str)>) -> Result<Scheme, String> {
    let value_of = |wanted: &str, default: &str| match parameter {
        None => Ok(default.to_string()),
        Some((key, value)) if key == wanted => Ok(value.to_string()),
        Some((key, _)) => Err(format!("`{name}` has no parameter `{key}`, but `{wanted}`")),
    };
    let plain = |scheme: Scheme| match parameter {
        None => Ok(scheme),
        Some((key, _)) => Err(format!("`{name}` has no parameter `{key}`")),
    };
    match name {
        "iid" => plain(Scheme::Iid),
        "natural" => plain(Scheme::Natural),
        "shards" => Ok(Scheme::Shards { per_node: number(&value_of("per_node", "2")?)? }),
        "dirichlet" => Ok(Scheme::Dirichlet { alpha: number(&value_of("alpha", "0.5")?)? }),
        "pathological" => {
            Ok(Scheme::Pathological { classes_per_node: number(&value_of("classes_per_node", "2")?)? })
        }
        "quantity-skew" => Ok(Scheme::QuantitySkew { alpha: number(&value_of("alpha", "0.5")?)? }),
        _ => Err(format!("there is no scheme `{name}`")),
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number that fits"))
}

impl TryFrom<String> for PartitionSpec {
    type Error = PartitionError;

    fn try_from(text: String) -> Result<Self, PartitionError> {
        text.parse()
    }
}

impl From<PartitionSpec> for String {
    fn from(spec: PartitionSpec) -> Self {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_spec_say_the_same() {
        for text in [
            "iid",
            "iid:min_size=5",
            "shards:per_node=3",
            "dirichlet:alpha=0.1",
            "dirichlet:alpha=0.1,min_size=10",
            "pathological:classes_per_node=1",
            "quantity-skew:alpha=2",
            "natural:min_size=2",
        ] {
            assert_eq!(text.parse::<PartitionSpec>().unwrap().to_string(), text);
        }
        assert_eq!("dirichlet".parse::<PartitionSpec>().unwrap().to_string(), "dirichlet:alpha=0.5");
    }

    #[test]
    fn nonsense_is_refused_with_the_word_that_is_wrong() {
        for (text, word) in [
            ("spiral", "spiral"),
            ("dirichlet:alpha=-1", "alpha = -1"),
            ("dirichlet:alpha=nan", "alpha = NaN"),
            ("dirichlet:alpha=x", "`x`"),
            ("dirichlet:beta=1", "`beta`"),
            ("dirichlet:0.5", "`0.5`"),
            ("iid:alpha=1", "`alpha`"),
            ("shards:per_node=0", "per_node = 0"),
            ("iid:min_size=0", "min_size = 0"),
            ("pathological:classes_per_node=1,alpha=2", "`alpha`"),
        ] {
            let message = text.parse::<PartitionSpec>().unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}

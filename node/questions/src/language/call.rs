//! One aggregate: which function, and whether its arguments are of the right kind.

use sqlparser::ast::{DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::ast::{Aggregate, Kind, Levels};
use super::scalar::{self, arguments, column, levels, value, yes_no};
use super::select::outside;
use super::{FUNCTIONS, describe};
use crate::columns::Columns;
use crate::refusal::Refusal;

/// The most values that `frequent` looks for.
const MOST_FREQUENT: usize = 64;

/// The most columns of `corr`, `linreg` and `pairs`.
const MOST_COLUMNS: usize = 64;

/// What an item of the list asks; `describe(x)` asks several things.
pub(super) fn aggregates(expr: &Expr, written: &str, columns: &Columns) -> Result<Vec<Aggregate>, Refusal> {
    let Expr::Function(function) = expr else {
        return Err(match expr {
            Expr::Identifier(_) => {
                column(expr, columns)?;
                outside("a column outside an aggregate", expr)
            }
            _ => outside("anything but an aggregate among the answers", expr),
        });
    };
    let name = scalar::name(function);
    if name == "describe" {
        return match arguments(function)?.as_slice() {
            [x] => describe::column(column(x, columns)?, columns),
            _ => Err(wrong(&name, "a column", function)),
        };
    }
    let kind = kind(&name, function, columns)?;
    Ok(vec![Aggregate { written: written.to_owned(), kind }])
}

fn wrong(function: &str, expected: &'static str, text: &Function) -> Refusal {
    Refusal::Arguments { function: function.to_owned(), expected, text: text.to_string() }
}

fn kind(name: &str, function: &Function, columns: &Columns) -> Result<Kind, Refusal> {
    if name == "count" {
        return count(function, columns);
    }
    let arguments = arguments(function)?;
    match name {
        "min" | "max" => {
            let column = arguments.first().map_or_else(|| "x".into(), ToString::to_string);
            Err(Refusal::Extreme { name: name.to_owned(), column })
        }
        "histogram" | "quantile" | "frequent" => with_parameter(name, function, &arguments, columns),
        "corr" | "linreg" | "pairs" => many(name, function, &arguments, columns),
        _ => match arguments.as_slice() {
            [x] => one(name, function, x, columns),
            [x, y] => two(name, function, (x, y), columns),
            _ => Err(not_so(name, function)),
        },
    }
}

/// A known function with the wrong number of arguments, or one that does not exist.
fn not_so(name: &str, function: &Function) -> Refusal {
    const TWO: [&str; 7] = ["auc", "mannwhitney", "crosstab", "kendall", "survival", "confusion", "accuracy"];
    if TWO.contains(&name) {
        return wrong(name, "two arguments", function);
    }
    if FUNCTIONS.contains(&name) || ["avg", "var", "var_pop", "stddev_pop"].contains(&name) {
        return wrong(name, "one argument", function);
    }
    let nearest = topology::nearest(name, &FUNCTIONS).map(str::to_owned);
    Refusal::Function { name: name.to_owned(), nearest }
}

/// `count(*)`, `count(x)`, `count(DISTINCT code)`.
fn count(function: &Function, columns: &Columns) -> Result<Kind, Refusal> {
    let refuse = || wrong("count", "`*`, a column or DISTINCT and a column", function);
    let FunctionArguments::List(list) = &function.args else { return Err(refuse()) };
    let [argument] = list.args.as_slice() else { return Err(refuse()) };
    let plain = |inner: &str| format!("{}({inner})", function.name) == function.to_string();
    match (argument, &list.duplicate_treatment) {
        (FunctionArg::Unnamed(FunctionArgExpr::Wildcard), None) if plain("*") => Ok(Kind::Count),
        (FunctionArg::Unnamed(FunctionArgExpr::Expr(x)), None) if plain(&x.to_string()) => {
            Ok(Kind::CountOf(column(x, columns)?))
        }
        (FunctionArg::Unnamed(FunctionArgExpr::Expr(x)), Some(DuplicateTreatment::Distinct))
            if plain(&format!("DISTINCT {x}")) =>
        {
            Ok(Kind::Distinct(column(x, columns)?))
        }
        _ => Err(refuse()),
    }
}

fn one(name: &str, function: &Function, x: &Expr, columns: &Columns) -> Result<Kind, Refusal> {
    Ok(match name {
        "missing" => Kind::MissingOf(column(x, columns)?),
        "clamped" => Kind::Clamped(value(x, columns)?),
        "sum" => Kind::Sum(value(x, columns)?),
        "mean" | "avg" => Kind::Mean(value(x, columns)?),
        "variance" | "var" | "var_pop" => Kind::Variance(value(x, columns)?),
        "stddev" | "stddev_pop" => Kind::Stddev(value(x, columns)?),
        "median" => Kind::Quantile(value(x, columns)?, 0.5),
        "gini" => Kind::Gini(value(x, columns)?),
        _ => return Err(not_so(name, function)),
    })
}

fn two(name: &str, function: &Function, (x, y): (&Expr, &Expr), columns: &Columns) -> Result<Kind, Refusal> {
    Ok(match name {
        "auc" | "mannwhitney" => Kind::Auc(value(x, columns)?, yes_no(y, columns)?),
        "crosstab" => Kind::Crosstab(levels(x, columns)?, levels(y, columns)?),
        "kendall" => Kind::Kendall(value(x, columns)?, value(y, columns)?),
        "survival" => Kind::Survival(value(x, columns)?, yes_no(y, columns)?),
        "confusion" | "accuracy" => {
            let (truth, predicted) = (levels(x, columns)?, levels(y, columns)?);
            let names = |levels: &Levels| levels.names[..levels.declared].to_vec();
            if names(&truth) != names(&predicted) {
                return Err(wrong(name, "two columns with the same declared values", function));
            }
            if name == "confusion" {
                Kind::Confusion(truth, predicted)
            } else {
                Kind::Accuracy(truth, predicted)
            }
        }
        _ => return Err(not_so(name, function)),
    })
}

fn with_parameter(
    name: &str,
    function: &Function,
    arguments: &[Expr],
    columns: &Columns,
) -> Result<Kind, Refusal> {
    match (name, arguments) {
        ("histogram", [x]) => Ok(Kind::Histogram(scalar::histogram_levels(x, None, columns)?)),
        ("histogram", [x, k]) => Ok(Kind::Histogram(scalar::histogram_levels(x, Some(k), columns)?)),
        ("quantile", [x, q]) => {
            let q = scalar::number(q).filter(|q| *q > 0.0 && *q < 1.0);
            let q = q.ok_or_else(|| {
                wrong(name, "a number and a share between 0 and 1, both excluded", function)
            })?;
            Ok(Kind::Quantile(value(x, columns)?, q))
        }
        ("frequent", [x, k]) => {
            let k = scalar::whole(k).filter(|k| (1..=MOST_FREQUENT).contains(k));
            let k =
                k.ok_or_else(|| wrong(name, "a text column and how many values, from 1 to 64", function))?;
            Ok(Kind::Frequent(scalar::text_column(x, columns)?, k))
        }
        ("histogram", _) => Err(wrong(name, "a column and perhaps a number of bins", function)),
        ("quantile", _) => Err(wrong(name, "a number and a share between 0 and 1, both excluded", function)),
        _ => Err(wrong(name, "a text column and how many values, from 1 to 64", function)),
    }
}

fn many(name: &str, function: &Function, arguments: &[Expr], columns: &Columns) -> Result<Kind, Refusal> {
    if !(2..=MOST_COLUMNS).contains(&arguments.len()) {
        return Err(wrong(name, "two to 64 columns", function));
    }
    let texts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    if (1..texts.len()).any(|at| texts[..at].contains(&texts[at])) {
        return Err(wrong(name, "each column once", function));
    }
    let values = || arguments.iter().map(|x| value(x, columns)).collect::<Result<Vec<_>, _>>();
    Ok(match name {
        "corr" => Kind::Corr(values()?),
        "linreg" => {
            let mut values = values()?;
            // The triangle has what is explained last.
            values.rotate_left(1);
            Kind::Linreg(values)
        }
        _ => Kind::Pairs(arguments.iter().map(|x| levels(x, columns)).collect::<Result<Vec<_>, _>>()?),
    })
}

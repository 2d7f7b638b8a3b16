//! Columns, clamped arithmetic, levels and literals.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
    Value as Sql,
};

use super::ast::{LevelSource, Levels, Operator, Scalar, TextColumn, Value, YesNo};
use super::select::outside;
use crate::columns::{Bounds, Columns, Kind};
use crate::refusal::Refusal;

/// Bins of a histogram where nothing else is asked.
const HISTOGRAM_BINS: usize = 20;

/// The most bins of a histogram or group.
const MOST_BINS: usize = 65_536;

/// The position of a column that an expression names.
pub(super) fn column(expr: &Expr, columns: &Columns) -> Result<usize, Refusal> {
    match expr {
        Expr::Identifier(name) => columns.position(&name.value),
        Expr::Nested(inner) => column(inner, columns),
        _ => Err(outside("anything but a column here", expr)),
    }
}

/// A number with bounds: a declared column, or `clamp(arithmetic, low, high)`.
pub(super) fn value(expr: &Expr, columns: &Columns) -> Result<Value, Refusal> {
    match expr {
        Expr::Nested(inner) => value(inner, columns),
        Expr::Identifier(_) => column_value(expr, columns),
        Expr::Function(function) if name(function) == "clamp" => clamped(expr, function, columns),
        Expr::Function(_) => Err(outside("a function other than `clamp` here", expr)),
        _ => {
            // Say what is wrong inside first: an undeclared column, or something that is no arithmetic.
            scalar(expr, columns)?;
            Err(Refusal::Unclamped { text: expr.to_string() })
        }
    }
}

fn column_value(expr: &Expr, columns: &Columns) -> Result<Value, Refusal> {
    let at = column(expr, columns)?;
    let declared = &columns.all()[at];
    match &declared.kind {
        Kind::Number { bounds: Some(bounds), integer, .. } => Ok(Value {
            text: declared.name.clone(),
            scalar: Scalar::Column(at),
            bounds: *bounds,
            integer: *integer && bounds.low.fract() == 0.0 && bounds.high.fract() == 0.0,
            may_be_missing: declared.fill.is_none(),
        }),
        Kind::Number { bounds: None, .. } => Err(Refusal::NoBounds { column: declared.name.clone() }),
        kind => Err(wrong_kind(&declared.name, "a number", kind)),
    }
}

fn wrong_kind(name: &str, wanted: &'static str, kind: &Kind) -> Refusal {
    Refusal::Kind { column: name.to_owned(), wanted, declared: kind.name() }
}

fn clamped(expr: &Expr, function: &Function, columns: &Columns) -> Result<Value, Refusal> {
    let (inner, bounds) = clamp_parts(expr, function, columns)?;
    Ok(Value {
        text: expr.to_string(),
        scalar: Scalar::Clamp(Box::new(inner), bounds),
        bounds,
        integer: false,
        may_be_missing: true,
    })
}

fn clamp_parts(expr: &Expr, function: &Function, columns: &Columns) -> Result<(Scalar, Bounds), Refusal> {
    let arguments = arguments(function)?;
    let wrong = || Refusal::Arguments {
        function: "clamp".into(),
        expected: "a number, a lower and an upper bound",
        text: expr.to_string(),
    };
    let [inner, low, high] = arguments.as_slice() else { return Err(wrong()) };
    let (Some(low), Some(high)) = (number(low), number(high)) else { return Err(wrong()) };
    Ok((scalar(inner, columns)?, Bounds::new(&expr.to_string(), low, high)?))
}

/// Arithmetic over number columns.
fn scalar(expr: &Expr, columns: &Columns) -> Result<Scalar, Refusal> {
    match expr {
        Expr::Nested(inner) => scalar(inner, columns),
        Expr::Identifier(_) => {
            let at = column(expr, columns)?;
            let declared = &columns.all()[at];
            match &declared.kind {
                Kind::Number { .. } => Ok(Scalar::Column(at)),
                kind => Err(wrong_kind(&declared.name, "a number", kind)),
            }
        }
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            Ok(Scalar::Minus(Box::new(scalar(expr, columns)?)))
        }
        Expr::BinaryOp { left, op, right } => {
            let operator = match op {
                BinaryOperator::Plus => Operator::Plus,
                BinaryOperator::Minus => Operator::Minus,
                BinaryOperator::Multiply => Operator::Times,
                BinaryOperator::Divide => Operator::Divide,
                _ => return Err(outside("this operator", expr)),
            };
            let (left, right) = (scalar(left, columns)?, scalar(right, columns)?);
            Ok(Scalar::Operation(operator, Box::new(left), Box::new(right)))
        }
        Expr::Function(function) if name(function) == "clamp" => {
            let (inner, bounds) = clamp_parts(expr, function, columns)?;
            Ok(Scalar::Clamp(Box::new(inner), bounds))
        }
        _ => number(expr).map(Scalar::Literal).ok_or_else(|| outside("this expression", expr)),
    }
}

/// Levels of a category or of `bin(x, k)`.
pub(super) fn levels(expr: &Expr, columns: &Columns) -> Result<Levels, Refusal> {
    match expr {
        Expr::Nested(inner) => levels(inner, columns),
        Expr::Function(function) if name(function) == "bin" => {
            let arguments = arguments(function)?;
            match arguments.as_slice() {
                [x, k] => binned(expr, value(x, columns)?, whole(k)),
                _ => binned_refused(expr),
            }
        }
        _ => {
            let at = column(expr, columns)?;
            let declared = &columns.all()[at];
            match &declared.kind {
                Kind::Category { values } => Ok(category(at, &declared.name, values)),
                kind => Err(wrong_kind(&declared.name, "a category", kind)),
            }
        }
    }
}

fn category(at: usize, name: &str, values: &[String]) -> Levels {
    let names = values.iter().cloned().chain(["other".into(), "missing".into()]).collect();
    Levels { text: name.to_owned(), names, declared: values.len(), source: LevelSource::Category(at) }
}

fn binned_refused<T>(expr: &Expr) -> Result<T, Refusal> {
    let expected = "a number and how many bins, from 2 to 65,536";
    Err(Refusal::Arguments { function: "bin".into(), expected, text: expr.to_string() })
}

fn binned(expr: &Expr, value: Value, bins: Option<usize>) -> Result<Levels, Refusal> {
    match bins {
        Some(bins) if (2..=MOST_BINS).contains(&bins) => Ok(bins_of(expr.to_string(), value, bins)),
        _ => binned_refused(expr),
    }
}

fn bins_of(text: String, value: Value, bins: usize) -> Levels {
    let bounds = value.bin_bounds(bins);
    let width = bounds.range() / bins as f64;
    let edge = |bin: usize| bounds.low + bin as f64 * width;
    let name = |bin: usize| {
        if value.is_one_value_a_bin(bins) {
            format!("{}", edge(bin) + 0.5)
        } else {
            format!("{} to {}", short(edge(bin)), short(edge(bin + 1)))
        }
    };
    let names = (0..bins).map(name).chain(["missing".into()]).collect();
    Levels { text, names, declared: bins, source: LevelSource::Bins(value) }
}

/// A number with at most six digits behind the point.
fn short(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// Levels of a histogram: categories, whole numbers where there are few, or bins.
pub(super) fn histogram_levels(
    expr: &Expr,
    bins: Option<&Expr>,
    columns: &Columns,
) -> Result<Levels, Refusal> {
    if let Some(k) = bins {
        return binned(expr, value(expr, columns)?, whole(k));
    }
    if let Ok(levels) = levels(expr, columns) {
        return Ok(levels);
    }
    let value = value(expr, columns)?;
    let values = value.bounds.range() + 1.0;
    let bins =
        if value.integer && values <= HISTOGRAM_BINS as f64 { values as usize } else { HISTOGRAM_BINS };
    Ok(bins_of(expr.to_string(), value, bins))
}

/// A column of two values.
pub(super) fn yes_no(expr: &Expr, columns: &Columns) -> Result<YesNo, Refusal> {
    let at = column(expr, columns)?;
    let declared = &columns.all()[at];
    match &declared.kind {
        Kind::Category { values } if values.len() == 2 => Ok(YesNo::Category(at)),
        Kind::Number { bounds: Some(Bounds { low: 0.0, high: 1.0 }), integer: true, .. } => {
            Ok(YesNo::Number(at))
        }
        kind => Err(wrong_kind(&declared.name, "a yes or no", kind)),
    }
}

/// A column of an open set.
pub(super) fn text_column(expr: &Expr, columns: &Columns) -> Result<TextColumn, Refusal> {
    let at = column(expr, columns)?;
    let declared = &columns.all()[at];
    match declared.kind {
        Kind::Text { bytes } => Ok(TextColumn { column: at, bytes }),
        ref kind => Err(wrong_kind(&declared.name, "an open set", kind)),
    }
}

/// The name of a function in lower case.
pub(super) fn name(function: &Function) -> String {
    function.name.to_string().to_ascii_lowercase()
}

/// Plain arguments of a call; anything else about it is refused.
pub(super) fn arguments(function: &Function) -> Result<Vec<Expr>, Refusal> {
    let FunctionArguments::List(list) = &function.args else {
        return Err(outside("a call of this form", function));
    };
    let plain: Option<Vec<Expr>> = list
        .args
        .iter()
        .map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
            _ => None,
        })
        .collect();
    let plain = plain.ok_or_else(|| outside("an argument of this form", function))?;
    // As for the whole query: written again without anything special it must be the same.
    let listed: Vec<String> = plain.iter().map(ToString::to_string).collect();
    if format!("{}({})", function.name, listed.join(", ")) != function.to_string() {
        return Err(outside("a clause of this call", function));
    }
    Ok(plain)
}

/// A number literal, with a sign perhaps.
pub(super) fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Nested(inner) => number(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => number(expr).map(|value| -value),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => number(expr),
        Expr::Value(value) => match &value.value {
            Sql::Number(text, false) => text.parse().ok().filter(|value: &f64| value.is_finite()),
            _ => None,
        },
        _ => None,
    }
}

/// A whole number literal.
pub(super) fn whole(expr: &Expr) -> Option<usize> {
    number(expr)
        .filter(|value| value.fract() == 0.0 && (0.0..1e9).contains(value))
        .map(|value| value as usize)
}

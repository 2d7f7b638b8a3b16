//! WHERE: columns against literals, = <> < <= > >= IN BETWEEN IS NULL AND OR NOT.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value as Sql};

use super::ast::{Comparison, Literal, Predicate};
use super::scalar::{column, number};
use super::select::outside;
use crate::columns::{Cell, Column, Columns, Kind};
use crate::refusal::Refusal;

/// Reads a condition.
pub(super) fn predicate(expr: &Expr, columns: &Columns) -> Result<Predicate, Refusal> {
    read(expr, columns, false)
}

/// Reads a condition, negated where `not` is set: De Morgan, so that NULL compares false at every leaf.
fn read(expr: &Expr, columns: &Columns, not: bool) -> Result<Predicate, Refusal> {
    match expr {
        Expr::Nested(inner) => read(inner, columns, not),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => read(expr, columns, !not),
        Expr::IsNull(inner) => Ok(Predicate::IsNull { column: column(inner, columns)?, negated: not }),
        Expr::IsNotNull(inner) => Ok(Predicate::IsNull { column: column(inner, columns)?, negated: !not }),
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
            let (left, right) = (read(left, columns, not)?, read(right, columns, not)?);
            let both = (*op == BinaryOperator::And) != not;
            Ok(if both { and(left, right) } else { or(left, right) })
        }
        Expr::BinaryOp { left, op, right } => {
            let comparison = comparison(op).ok_or_else(|| outside("this operator", expr))?;
            compared(left, comparison, right, columns, not)
        }
        Expr::InList { expr, list, negated } => one_of(expr, list, columns, *negated != not),
        Expr::Between { expr, negated, low, high } => between((expr, low, high), columns, *negated != not),
        _ => Err(outside("this condition", expr)),
    }
}

fn and(left: Predicate, right: Predicate) -> Predicate {
    Predicate::And(Box::new(left), Box::new(right))
}

fn or(left: Predicate, right: Predicate) -> Predicate {
    Predicate::Or(Box::new(left), Box::new(right))
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn is_literal(expr: &Expr) -> bool {
    number(expr).is_some() || matches!(expr, Expr::Value(_))
}

fn compared(
    left: &Expr,
    comparison: Comparison,
    right: &Expr,
    columns: &Columns,
    not: bool,
) -> Result<Predicate, Refusal> {
    let (name, comparison, literal) =
        if is_literal(left) { (right, comparison.mirrored(), left) } else { (left, comparison, right) };
    leaf(name, if not { comparison.negated() } else { comparison }, literal, columns)
}

fn one_of(expr: &Expr, list: &[Expr], columns: &Columns, negated: bool) -> Result<Predicate, Refusal> {
    let comparison = if negated { Comparison::NotEqual } else { Comparison::Equal };
    let leaves: Result<Vec<Predicate>, Refusal> =
        list.iter().map(|item| leaf(expr, comparison, item, columns)).collect();
    let join = if negated { and } else { or };
    leaves?.into_iter().reduce(join).ok_or_else(|| outside("an empty list", expr))
}

fn between(
    (expr, low, high): (&Expr, &Expr, &Expr),
    columns: &Columns,
    negated: bool,
) -> Result<Predicate, Refusal> {
    let (from, to) = (Comparison::GreaterOrEqual, Comparison::LessOrEqual);
    if negated {
        return Ok(or(leaf(expr, from.negated(), low, columns)?, leaf(expr, to.negated(), high, columns)?));
    }
    Ok(and(leaf(expr, from, low, columns)?, leaf(expr, to, high, columns)?))
}

fn leaf(
    name: &Expr,
    comparison: Comparison,
    literal: &Expr,
    columns: &Columns,
) -> Result<Predicate, Refusal> {
    let at = column(name, columns)?;
    let declared = &columns.all()[at];
    if !is_literal(literal) {
        return Err(outside("a comparison with anything but a literal", literal));
    }
    let literal = against(declared, comparison, literal)?;
    Ok(Predicate::Compare(at, comparison, literal))
}

/// The literal in the units of the column.
fn against(declared: &Column, comparison: Comparison, literal: &Expr) -> Result<Literal, Refusal> {
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let wrong = || outside("a comparison of these two", format!("{} with {literal}", declared.name));
    let text = match literal {
        Expr::Value(value) => match &value.value {
            Sql::SingleQuotedString(text) => Some(text.clone()),
            Sql::Number(text, false) => Some(text.clone()),
            _ => None,
        },
        _ => number(literal).map(|value| value.to_string()),
    };
    let text = text.ok_or_else(wrong)?;
    match &declared.kind {
        Kind::Number { date: Some(_), .. } => {
            match (Column { fill: None, ..declared.clone() }).read(text.as_bytes()) {
                Cell::Number(days) => Ok(Literal::Number(days)),
                _ => Err(wrong()),
            }
        }
        Kind::Number { .. } => number(literal).map(Literal::Number).ok_or_else(wrong),
        Kind::Text { bytes } if is_equality => {
            Ok(Literal::Text(text.as_bytes()[..text.len().min(*bytes)].to_vec()))
        }
        Kind::Text { .. } => Err(wrong()),
        Kind::Category { .. } if is_equality => match declared.read(text.as_bytes()) {
            Cell::Category(index) => Ok(Literal::Category { index: Some(index) }),
            _ => Ok(Literal::Category { index: None }),
        },
        Kind::Category { values } => {
            let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
            match (numbers, number(literal)) {
                (Some(values), Some(number)) => Ok(Literal::Ordered { values, number }),
                _ => Err(wrong()),
            }
        }
    }
}

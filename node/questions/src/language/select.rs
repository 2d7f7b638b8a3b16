//! From text to a question: one statement, one SELECT, nothing but the five clauses.

use sqlparser::ast::{Expr, GroupByExpr, SelectItem, SetExpr, Statement, TableFactor};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::ast::{Aggregate, Levels, Question};
use super::{call, describe, filter, scalar, written};
use crate::columns::Columns;
use crate::refusal::Refusal;

/// The longest question in bytes.
const LONGEST: usize = 4096;

/// How deep expressions may nest.
const DEEPEST: usize = 32;

/// Reads a question against the declared columns.
///
/// # Errors
/// Whatever is not in the language, with a hint; never because of data, which is not looked at.
pub fn parse(text: &str, columns: &Columns) -> Result<Question, Refusal> {
    if text.len() > LONGEST {
        return Err(Refusal::TooLong { bytes: text.len() });
    }
    if text.trim().eq_ignore_ascii_case("describe") {
        return describe::describe(columns);
    }
    let select = only_select(text, columns.of_model)?;
    let names = written::items(text, select.projection.len());
    let groups = groups(&select.group_by, columns)?;
    let mut aggregates = Vec::new();
    for (at, item) in select.projection.iter().enumerate() {
        let SelectItem::UnnamedExpr(expr) = item else {
            return Err(outside("a name or star among the answers", item));
        };
        // A grouping column among the answers is shown anyway.
        if groups.iter().any(|levels: &Levels| levels.text == expr.to_string()) {
            continue;
        }
        let name = names.get(at).cloned().unwrap_or_else(|| expr.to_string());
        aggregates.extend(call::aggregates(expr, &name, columns)?);
    }
    if aggregates.is_empty() {
        return Err(outside("a question without an aggregate", text.trim()));
    }
    let filter = select.selection.as_ref().map(|expr| filter::predicate(expr, columns)).transpose()?;
    let least_nodes = select.having.as_ref().map(least_nodes).transpose()?;
    Ok(Question { text: text.trim().to_owned(), aggregates: unique(aggregates), filter, groups, least_nodes })
}

/// The same expression twice has one answer.
fn unique(aggregates: Vec<Aggregate>) -> Vec<Aggregate> {
    let mut kept: Vec<Aggregate> = Vec::new();
    for aggregate in aggregates {
        if !kept.iter().any(|known| known.written == aggregate.written) {
            kept.push(aggregate);
        }
    }
    kept
}

pub(super) fn outside(what: &'static str, text: impl ToString) -> Refusal {
    Refusal::Outside { what, text: text.to_string() }
}

fn only_select(text: &str, of_model: bool) -> Result<sqlparser::ast::Select, Refusal> {
    let mut statements = Parser::new(&GenericDialect {})
        .with_recursion_limit(DEEPEST)
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_statements())
        .map_err(|error| Refusal::Syntax { message: error.to_string() })?;
    if statements.len() > 1 {
        return Err(outside("a second statement", &statements[1]));
    }
    let Some(statement) = statements.pop() else {
        return Err(Refusal::Syntax { message: "the question is empty".into() });
    };
    let Statement::Query(query) = statement else {
        return Err(outside("anything but SELECT", statement));
    };
    let text = query.to_string();
    let SetExpr::Select(select) = *query.body else {
        return Err(outside("anything but one SELECT", text));
    };
    // Written again from the five clauses that the language has, the query must be the same: whatever else it holds
    // (joins, limits, windows, hints) shows.
    if canonical(&select) != text {
        return Err(outside("a clause of this SELECT", text));
    }
    check_source(&select, of_model)?;
    Ok(*select)
}

fn canonical(select: &sqlparser::ast::Select) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let items = list(select.projection.iter().map(ToString::to_string).collect());
    let from = list(select.from.iter().map(ToString::to_string).collect());
    let mut text = format!("SELECT {items} FROM {from}");
    if let Some(expr) = &select.selection {
        text.push_str(&format!(" WHERE {expr}"));
    }
    if let GroupByExpr::Expressions(exprs, _) = &select.group_by
        && !exprs.is_empty()
    {
        text.push_str(&format!(" GROUP BY {}", list(exprs.iter().map(ToString::to_string).collect())));
    }
    if let Some(expr) = &select.having {
        text.push_str(&format!(" HAVING {expr}"));
    }
    text
}

/// `FROM swarm`, or `FROM model` where predictions are columns; exactly one, without joins or aliases.
fn check_source(select: &sqlparser::ast::Select, of_model: bool) -> Result<(), Refusal> {
    let [table] = select.from.as_slice() else {
        return Err(outside("more than one source", canonical(select)));
    };
    let name = table.to_string();
    let is_plain = matches!(table.relation, TableFactor::Table { .. }) && table.joins.is_empty();
    match (is_plain, name.eq_ignore_ascii_case("swarm"), name.eq_ignore_ascii_case("model")) {
        (true, true, _) if !of_model => Ok(()),
        (true, _, true) if of_model => Ok(()),
        (true, true, _) => Err(Refusal::Source { of_model }),
        (true, _, true) => Err(Refusal::Source { of_model }),
        _ => Err(outside("a source other than `swarm`", name)),
    }
}

fn groups(clause: &GroupByExpr, columns: &Columns) -> Result<Vec<Levels>, Refusal> {
    match clause {
        GroupByExpr::Expressions(exprs, modifiers) if modifiers.is_empty() => {
            exprs.iter().map(|expr| scalar::levels(expr, columns)).collect()
        }
        _ => Err(outside("GROUP BY of this form", clause)),
    }
}

/// `HAVING nodes() >= k`.
fn least_nodes(expr: &Expr) -> Result<u64, Refusal> {
    let refuse = || outside("HAVING other than `nodes() >= k`", expr);
    let Expr::BinaryOp { left, op: sqlparser::ast::BinaryOperator::GtEq, right } = expr else {
        return Err(refuse());
    };
    if !left.to_string().eq_ignore_ascii_case("nodes()") {
        return Err(refuse());
    }
    right.to_string().parse().ok().filter(|&k: &u64| k >= 1).ok_or_else(refuse)
}

//! A question as runs of one masked round each, whose models are its totals: the noisy sum of everybody's features.
//!
//! Most questions are one total; a search over bytes has one for each byte, and what is counted next follows from what was found before. Agreement, masks, record before
//! send and the proof of the end are those of every run. Here is what makes it a question: its settings, which follow from the text and public numbers, its
//! contribution, and how totals are read out of models. Behind each sum two words without data are added up: how many took part, and how many of them added
//! records; so the model alone says how it is to be read.
//!
//! Masks carry every kind of trust: where nobody is trusted, or only partners are not, each node's own noise is enough, and that the sum hides more counts for nothing.
//!
//! The model holds single precision: a total beyond 2²⁴ is rounded by 6·10⁻⁸ of itself, after the noise was added and the same for all.

mod answering;
mod judged;
mod leg;

use std::sync::Arc;

use privacy::event::DpEvent;
use questions::answer::{Answers, answers, distinct, frequent, in_words, responses, single};
use questions::columns::Columns;
use questions::contribution::DistinctResponse;
use questions::kinds::frequent::Search;
use questions::noise::{Terms, Trust, Unit};
use questions::plan::{FrequentPlan, Method, QuestionPlan, Request};
use questions::refusal::Refusal;
use serde::{Deserialize, Serialize};

use crate::settings::Timeouts;

pub use answering::{Answering, Rows, ready};
pub use judged::{Exam, JudgeError, Judged, MOST_MODEL, TestPart, model_digest};
pub use leg::{Leg, Total};

/// What an asker sends: the text and public numbers. Every member plans it itself, from its own columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The question as it was written.
    pub question: String,
    /// ε of the whole question.
    pub epsilon: f64,
    /// δ of the whole question.
    pub delta: f64,
    /// What is protected.
    pub unit: Unit,
    /// Records that are expected in all.
    pub records: u64,
    /// Who is trusted.
    #[serde(default, skip_serializing_if = "is_masked")]
    pub trust: Trust,
    /// The digest of the model that is asked about, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

fn is_masked(trust: &Trust) -> bool {
    *trust == Trust::Masked
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Members {
    /// How many there are.
    pub nodes: usize,
    /// c: how many of them may pool what they saw.
    pub colluders: usize,
    /// f: how many may be hostile.
    pub hostile: u32,
    /// How long they wait.
    pub timeouts: Timeouts,
}

/// A question that can be asked of running members.
#[derive(Debug, Clone)]
pub struct Question {
    ask: Ask,
    columns: Arc<Columns>,
    members: Members,
    /// For all members and for the fewest.
    widest: [QuestionPlan; 2],
}

impl Question {
    /// The question as these members understand it.
    ///
    /// # Guarantee
    /// As [`questions::plan::plan`] for any number of members that take part.
    ///
    /// # Assumes
    /// As [`questions::plan::plan`].
    ///
    /// # Errors
    /// Whatever the language and the plan refuse; nothing depends on data.
    pub fn new(ask: Ask, columns: Arc<Columns>, members: Members) -> Result<Self, Refusal> {
        let least = (members.colluders + 2).max(3);
        if members.nodes < least {
            return Err(Refusal::TooFewContributors { found: members.nodes as u64, needed: least as u64 });
        }
        let planned = |nodes: usize| plan(&ask, &columns, (nodes, members.colluders));
        // With fewer members each adds more noise: the words have room for both.
        let widest = [planned(members.nodes)?, planned(least)?];
        let question = Self { ask, columns, members, widest };
        question.first()?;
        Ok(question)
    }

    /// What was asked.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// What it costs whoever adds records, whatever breaks.
    ///
    /// # Guarantee
    /// As [`QuestionPlan::event`].
    ///
    /// # Assumes
    /// As [`Answering`].
    ///
    /// # Errors
    /// As there.
    pub fn event(&self) -> Result<DpEvent, Refusal> {
        self.widest[0].event()
    }

    /// The plan for so many members that take part.
    ///
    /// # Guarantee
    /// As [`questions::plan::plan`].
    ///
    /// # Assumes
    /// As [`questions::plan::plan`].
    ///
    /// # Errors
    /// As there.
    pub fn plan(&self, members: usize) -> Result<QuestionPlan, Refusal> {
        // The categories of a response follow from how many are asked, not from how many are there.
        match &self.widest[0].method {
            Method::Response(_) => Ok(self.widest[0].clone()),
            _ => plan(&self.ask, &self.columns, (members, self.members.colluders)),
        }
    }

    /// The first total that is wanted.
    ///
    /// # Errors
    /// Noise that no words have room for.
    pub fn first(&self) -> Result<Leg, Refusal> {
        let search = self.search().map(|(plan, _)| Search::new(plan.values, plan.levels));
        Leg::new(self, 0, search)
    }

    /// What is wanted after this total, of which everybody holds the same; nothing where it was the last.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub fn next(&self, leg: &Leg, total: &Total) -> Result<Option<Leg>, Refusal> {
        match self.advanced(leg, total)? {
            Some(search) if !search.is_done() => Leg::new(self, leg.number() + 1, Some(search)).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// The totals in models one behind the other; nothing where they are no totals of this question.
    pub fn read(&self, models: &[f32]) -> Option<Vec<Total>> {
        let (mut totals, mut rest) = (Vec::new(), models);
        let mut leg = self.first().ok()?;
        loop {
            let (own, after) = rest.split_at_checked(leg.length())?;
            let total = leg.read(own)?;
            let next = self.next(&leg, &total).ok()?;
            totals.push(total);
            rest = after;
            match next {
                Some(next) => leg = next,
                None => return rest.is_empty().then_some(totals),
            }
        }
    }

    /// What the totals say; nothing where they are not all of the question's.
    ///
    /// # Errors
    /// If a plan or the local model refuses the question.
    pub fn answers(&self, totals: &[Total], population: bool) -> Result<Option<Answers>, Refusal> {
        let Some(last) = totals.last() else { return Ok(None) };
        let plan = self.plan(last.members)?;
        Ok(match &plan.method {
            Method::Sum(sum) => Some(answers(&plan, sum, &last.sum, population)),
            Method::Frequent(level) => self.searched(totals)?.map(|search| single(frequent(level, &search))),
            Method::Distinct => DistinctResponse::of(&plan).map(|response| {
                let empty = last.sum.iter().filter(|&&residue| residue == 0).count();
                single(distinct(&response.distinct, empty))
            }),
            Method::Response(_) => {
                // Of whoever lies a count may be below zero.
                let counts: Vec<u64> = last.sum.iter().map(|&count| count.max(0) as u64).collect();
                Some(single(responses(&plan.question, self.ask.epsilon, &counts)?))
            }
        })
    }

    /// The same on one line; nothing where they are not all of the question's.
    pub fn in_words(&self, totals: &[Total]) -> Option<String> {
        let plan = self.plan(totals.last()?.members).ok()?;
        self.answers(totals, false).ok()?.map(|answers| in_words(&plan, &answers))
    }

    /// The search after all of its totals.
    fn searched(&self, totals: &[Total]) -> Result<Option<Search>, Refusal> {
        let mut leg = self.first()?;
        for (at, total) in totals.iter().enumerate() {
            if at + 1 == totals.len() {
                return self.advanced(&leg, total);
            }
            match self.next(&leg, total)? {
                Some(next) => leg = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    fn advanced(&self, leg: &Leg, total: &Total) -> Result<Option<Search>, Refusal> {
        let Some(search) = leg.search() else { return Ok(None) };
        let Method::Frequent(level) = self.plan(total.members)?.method else { return Ok(None) };
        let mut search = search.clone();
        let counts: Vec<f64> = total.sum.iter().map(|&count| count as f64 / level.grid.scale()).collect();
        search.advance(&counts, level.noise);
        Ok(Some(search))
    }

    fn search(&self) -> Option<(FrequentPlan, questions::language::ast::TextColumn)> {
        let Method::Frequent(plan) = self.widest[0].method else { return None };
        match self.widest[0].question.aggregates.first()?.kind {
            questions::language::ast::Kind::Frequent(column, _) => Some((plan, column)),
            _ => None,
        }
    }
}

fn plan(ask: &Ask, columns: &Columns, (nodes, colluders): (usize, usize)) -> Result<QuestionPlan, Refusal> {
    let honest = match ask.trust {
        Trust::Masked => nodes.saturating_sub(colluders),
        Trust::Gossip | Trust::Local => nodes,
    };
    let terms = Terms {
        epsilon: ask.epsilon,
        delta: ask.delta,
        contributors: nodes as u64,
        honest: honest as u64,
        trust: ask.trust,
        unit: ask.unit,
    };
    Request { question: ask.question.clone(), terms, records: ask.records }.plan(columns)
}

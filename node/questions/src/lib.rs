//! Private statistics over everybody's data: every question is one private sum of small integer vectors, then arithmetic
//! on the noisy sum that anybody may do.
//!
//! ```
//! use questions::columns::Columns;
//! use questions::noise::{Terms, Trust, Unit};
//! use questions::plan::{Method, Request};
//!
//! let mut columns = Columns::default();
//! columns.declare("age:bounds=0..110,integer".parse()?)?;
//! // What an asker sends; each member plans it itself, from its own declarations.
//! let terms =
//!     Terms { epsilon: 1.0, delta: 1e-5, contributors: 16, honest: 11, trust: Trust::Masked, unit: Unit::Record };
//! let request = Request { question: "SELECT mean(age) FROM swarm".into(), terms, records: 2 };
//! let plan = request.plan(&columns)?;
//! let Method::Sum(sum_plan) = &plan.method else { unreachable!("a mean is a sum") };
//!
//! // One member: the sum of its records' features, and its part of the noise.
//! let rows = [columns.read(|_| Some(b"63")), columns.read(|_| Some(b"not a number"))];
//! let mut own = questions::contribution::sum(&plan.question, sum_plan, &rows);
//! let mut noise = privacy::noise::danger_from_seed(1, "example"); // a real node asks the operating system
//! questions::contribution::add_noise(sum_plan, &mut own, &mut noise);
//!
//! // Everybody, from the total (here of one member): the same answer, far too noisy for two records.
//! let answers = questions::answer::answers(&plan, sum_plan, &own, false);
//! assert_eq!(answers.lines[0].answers[0].note.as_deref(), Some("too few"));
//! # Ok::<(), questions::refusal::Refusal>(())
//! ```

pub mod answer;
pub mod blocks;
pub mod clean;
pub mod columns;
pub mod contribution;
mod eigen;
pub mod estimate;
pub mod grid;
pub mod kinds;
pub mod language;
pub mod local;
pub mod noise;
pub mod plan;
pub mod refusal;
pub mod simulate;

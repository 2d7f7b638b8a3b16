//! Private statistics over everybody's data: every question is one private sum of small integer vectors, then arithmetic
//! on the noisy sum that anybody may do.

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

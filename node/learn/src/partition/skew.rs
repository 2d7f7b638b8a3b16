//! How labels lie over the nodes: a table to look at, and one number for the skew.

use serde::Serialize;

use crate::data::{Dataset, Task};

use super::assignment::Assignment;

/// Bins that a real target is sorted into for the table, with equally many records in all.
const REAL_BINS: usize = 5;

/// Most columns of the text table; more classes are summarised.
const MAX_TEXT_COLUMNS: usize = 20;

/// Records per node and class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelTable {
    /// Names of the columns: classes, or ranges of a real target.
    pub columns: Vec<String>,
    /// Names of the nodes: the ids that they stand for, or their numbers.
    pub nodes: Vec<String>,
    /// One row per node, one count per column.
    pub counts: Vec<Vec<usize>>,
    /// Records per node.
    pub sizes: Vec<usize>,
    /// Whether the columns are ranges of a number, from low to high.
    pub ordered: bool,
}

impl LabelTable {
    /// Counts the labels of every node.
    ///
    /// # Panics
    /// Where `data` is not the set that was divided.
    pub fn new(data: &Dataset, assignment: &Assignment) -> Self {
        let (columns, column_of) = columns_of(data);
        let count = |node: usize| {
            let mut counts = vec![0; columns.len()];
            assignment.records(node).iter().for_each(|&record| counts[column_of[record as usize]] += 1);
            counts
        };
        let counts = (0..assignment.nodes()).map(count).collect();
        let ordered = data.task() == Task::Regression;
        let nodes = (0..assignment.nodes()).map(|node| assignment.name(node)).collect();
        Self { columns, nodes, counts, sizes: assignment.sizes(), ordered }
    }

    /// Mean over the nodes, weighted by size, of the total variation distance between a node's labels and the
    /// labels of all: 0 where all nodes are alike, near 1 where each has a label of its own.
    pub fn label_skew(&self) -> f64 {
        let total: usize = self.sizes.iter().sum();
        let share =
            |column: usize| self.counts.iter().map(|row| row[column]).sum::<usize>() as f64 / total as f64;
        let overall: Vec<f64> = (0..self.columns.len()).map(share).collect();
        let distance = |(row, &size): (&Vec<usize>, &usize)| {
            let gap = |(&count, share): (&usize, &f64)| (count as f64 / size as f64 - share).abs();
            0.5 * row.iter().zip(&overall).map(gap).sum::<f64>() * size as f64 / total as f64
        };
        self.counts.iter().zip(&self.sizes).map(distance).sum()
    }

    /// The table as aligned text with a line of sums and the skew.
    pub fn text(&self) -> String {
        let mut lines: Vec<Vec<String>> = vec![self.heading()];
        lines.extend((0..self.sizes.len()).map(|node| self.line(&self.nodes[node], node..node + 1)));
        lines.push(self.line("all", 0..self.sizes.len()));
        let mut text = align(&lines);
        text.push_str(&format!(
            "\nlabel skew {:.3} (mean total variation distance from the labels of all; 0 = alike)\n",
            self.label_skew()
        ));
        text
    }

    fn summarised(&self) -> bool {
        self.columns.len() > MAX_TEXT_COLUMNS
    }

    fn heading(&self) -> Vec<String> {
        let mut cells = vec!["node".to_string(), "records".to_string()];
        if self.summarised() {
            cells.extend(["classes".to_string(), "largest class".to_string(), "its share".to_string()]);
        } else {
            cells.extend(self.columns.iter().cloned());
        }
        cells
    }

    fn line(&self, name: &str, nodes: std::ops::Range<usize>) -> Vec<String> {
        let size: usize = self.sizes[nodes.clone()].iter().sum();
        let sums: Vec<usize> = (0..self.columns.len())
            .map(|column| self.counts[nodes.clone()].iter().map(|row| row[column]).sum())
            .collect();
        let mut cells = vec![name.to_string(), size.to_string()];
        if self.summarised() {
            let largest = (0..sums.len()).max_by_key(|&i| sums[i]).unwrap_or(0);
            cells.push(sums.iter().filter(|&&count| count > 0).count().to_string());
            cells.push(self.columns[largest].clone());
            cells.push(format!("{:.2}", sums[largest] as f64 / size as f64));
        } else {
            cells.extend(sums.iter().map(ToString::to_string));
        }
        cells
    }
}

/// Names of the columns, and the column of each record.
fn columns_of(data: &Dataset) -> (Vec<String>, Vec<usize>) {
    match data.task() {
        Task::Classification { classes } => {
            let numbered = || (0..classes).map(|class| class.to_string()).collect();
            let names = data.class_names().map_or_else(numbered, <[String]>::to_vec);
            let labels = data.labels().expect("classification has labels");
            (names, labels.iter().map(|&label| label as usize).collect())
        }
        Task::Regression => bins_of(&data.reals().expect("regression has real targets")),
        Task::Unlabelled => (vec!["unlabelled".into()], vec![0; data.len()]),
    }
}

/// Ranges of a real target with about equally many records each; equal values stay together.
fn bins_of(values: &[f32]) -> (Vec<String>, Vec<usize>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let mut lows: Vec<f32> = (0..REAL_BINS).map(|bin| sorted[bin * sorted.len() / REAL_BINS]).collect();
    lows.dedup();
    let names = (0..lows.len()).map(|bin| match lows.get(bin + 1) {
        Some(next) => format!("{}..{}", four_digits(lows[bin]), four_digits(*next)),
        None => format!("{}..", four_digits(lows[bin])),
    });
    let column = |value: &f32| lows.partition_point(|low| low <= value).saturating_sub(1);
    (names.collect(), values.iter().map(column).collect())
}

/// A number with four significant digits, for a heading.
fn four_digits(value: f32) -> String {
    let magnitude = value.abs();
    if value != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let whole_digits =
        if magnitude < 1.0 { 1 } else { magnitude.to_string().split('.').next().map_or(1, str::len) };
    let text = format!("{value:.*}", 4usize.saturating_sub(whole_digits));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Columns of equal width, numbers to the right.
fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_four_digits() {
        let pairs = [(0.0, "0"), (7.0, "7"), (19.537, "19.54"), (-0.25, "-0.25"), (123_456.0, "123456")];
        for (value, text) in pairs {
            assert_eq!(four_digits(value), text);
        }
        assert_eq!(four_digits(1.5e-5), "1.500e-5");
    }

    #[test]
    fn ranges_hold_equally_many_values_and_equal_values_stay_together() {
        let (names, columns) = bins_of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(names, ["1..2", "2..3", "3..4", "4..5", "5.."]);
        assert_eq!(columns, [4, 0, 3, 1, 2]);
        let (names, columns) = bins_of(&[1.0, 1.0, 1.0, 9.0]);
        assert_eq!((names, columns), (vec!["1..9".to_string(), "9..".into()], vec![0, 0, 0, 1]));
    }
}

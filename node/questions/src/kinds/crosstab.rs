//! `crosstab(a, b)`: a table of counts, and how strongly the two go together.

/// Cramér's V of a table whose thin categories were joined until noise no longer decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Association {
    /// V between 0 and 1.
    pub cramers_v: f64,
    /// Rows and columns that were left.
    pub shape: (usize, usize),
}

/// A table with the number of cells that were joined into each row and column.
struct Joined {
    cells: Vec<Vec<f64>>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

/// V from the raw table; `None` where even two by two is too thin for the noise.
#[must_use]
pub fn association(table: &[Vec<f64>], noise: f64) -> Option<Association> {
    let columns = table.first()?.len();
    if table.len() < 2 || columns < 2 {
        return None;
    }
    let mut joined =
        Joined { cells: table.to_vec(), rows: vec![1.0; table.len()], columns: vec![1.0; columns] };
    while joined.is_thin(noise) {
        if joined.rows.len() == 2 && joined.columns.len() == 2 {
            return None;
        }
        joined.join();
    }
    let shape = (joined.rows.len(), joined.columns.len());
    Some(Association { cramers_v: joined.cramers_v(noise), shape })
}

impl Joined {
    fn margins(&self) -> (Vec<f64>, Vec<f64>, f64) {
        let rows: Vec<f64> = self.cells.iter().map(|row| row.iter().sum()).collect();
        let columns = (0..self.columns.len()).map(|j| self.cells.iter().map(|row| row[j]).sum()).collect();
        let total = rows.iter().sum();
        (rows, columns, total)
    }

    /// Whether an expected cell lies below four deviations of its noise.
    fn is_thin(&self, noise: f64) -> bool {
        let (rows, columns, total) = self.margins();
        let thin = |i: usize, j: usize| {
            let expected = rows[i] * columns[j] / total;
            // A NaN (no records at all) is thin too.
            expected.is_nan() || expected < 4.0 * noise * (self.rows[i] * self.columns[j]).sqrt()
        };
        (0..rows.len()).any(|i| (0..columns.len()).any(|j| thin(i, j)))
    }

    /// Joins the two thinnest categories of the side that has more; of the rows where both have as many.
    fn join(&mut self) {
        let (rows, columns, _) = self.margins();
        if rows.len() >= columns.len() {
            let (keep, leave) = two_thinnest(&rows);
            let row = self.cells.remove(leave);
            self.cells[keep].iter_mut().zip(row).for_each(|(cell, more)| *cell += more);
            let size = self.rows.remove(leave);
            self.rows[keep] += size;
        } else {
            let (keep, leave) = two_thinnest(&columns);
            for row in &mut self.cells {
                let more = row.remove(leave);
                row[keep] += more;
            }
            let size = self.columns.remove(leave);
            self.columns[keep] += size;
        }
    }

    fn cramers_v(&self, noise: f64) -> f64 {
        let (rows, columns, total) = self.margins();
        let (mut chi, mut bias) = (0.0, 0.0);
        for (i, row) in self.cells.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let expected = rows[i] * columns[j] / total;
                chi += (cell - expected) * (cell - expected) / expected;
                bias += noise * noise * self.rows[i] * self.columns[j] / expected;
            }
        }
        let (r, c) = (rows.len() as f64, columns.len() as f64);
        let chi = (chi - bias * (1.0 - 1.0 / r) * (1.0 - 1.0 / c)).max(0.0);
        (chi / (total * (r.min(c) - 1.0))).sqrt().min(1.0)
    }
}

/// Positions of the two smallest margins, the earlier first.
fn two_thinnest(margins: &[f64]) -> (usize, usize) {
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by(|&a, &b| margins[a].total_cmp(&margins[b]));
    (order[0].min(order[1]), order[0].max(order[1]))
}

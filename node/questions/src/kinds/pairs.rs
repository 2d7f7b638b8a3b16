//! All pairs of columns: tables that are made to agree on their total and on every margin they share.

/// A table of two columns, by their names.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTable {
    /// Column of the rows.
    pub first: String,
    /// Column of the columns.
    pub second: String,
    /// Counts.
    pub cells: Vec<Vec<f64>>,
}

impl PairTable {
    fn size(&self) -> f64 {
        (self.cells.len() * self.cells.first().map_or(0, Vec::len)) as f64
    }

    fn total(&self) -> f64 {
        self.cells.iter().flatten().sum()
    }

    fn shift(&mut self, by: f64) {
        self.cells.iter_mut().flatten().for_each(|cell| *cell += by);
    }

    /// Sums over the other side for each category of `column`, and the length of that side.
    fn margin(&self, column: &str) -> (Vec<f64>, f64) {
        let width = self.cells.first().map_or(0, Vec::len);
        if column == self.first {
            (self.cells.iter().map(|row| row.iter().sum()).collect(), width as f64)
        } else {
            let sum = |j: usize| self.cells.iter().map(|row| row[j]).sum();
            ((0..width).map(sum).collect(), self.cells.len() as f64)
        }
    }

    /// Moves each category of `column` to its margin, all its cells equally.
    fn shift_margin(&mut self, column: &str, target: &[f64]) {
        let (margin, length) = self.margin(column);
        let by: Vec<f64> = target.iter().zip(&margin).map(|(goal, now)| (goal - now) / length).collect();
        for (i, row) in self.cells.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell += if column == self.first { by[i] } else { by[j] };
            }
        }
    }
}

/// Tables that agree: the total weighted by 1/cells, then every margin weighted by 1/(length of the other side), which are
/// the inverse variances. Returns the total.
pub fn make_consistent(tables: &mut [PairTable]) -> f64 {
    let weights: Vec<f64> = tables.iter().map(|table| 1.0 / table.size()).collect();
    let total = tables.iter().zip(&weights).map(|(table, weight)| weight * table.total()).sum::<f64>()
        / weights.iter().sum::<f64>();
    for table in tables.iter_mut() {
        let by = (total - table.total()) / table.size();
        table.shift(by);
    }
    let mut columns: Vec<String> =
        tables.iter().flat_map(|table| [table.first.clone(), table.second.clone()]).collect();
    columns.sort();
    columns.dedup();
    for column in &columns {
        align(tables, column);
    }
    total
}

fn align(tables: &mut [PairTable], column: &str) {
    let has = |table: &PairTable| table.first == column || table.second == column;
    let (mut goal, mut weights) = (Vec::new(), 0.0);
    for table in tables.iter().filter(|table| has(table)) {
        let (margin, length) = table.margin(column);
        goal.resize(margin.len(), 0.0);
        goal.iter_mut().zip(&margin).for_each(|(sum, value)| *sum += value / length);
        weights += 1.0 / length;
    }
    goal.iter_mut().for_each(|sum| *sum /= weights);
    tables.iter_mut().filter(|table| has(table)).for_each(|table| table.shift_margin(column, &goal));
}

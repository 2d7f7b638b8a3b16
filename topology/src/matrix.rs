//! A gossip (mixing) matrix in compressed sparse rows.
//!
//! Invariant: every row sums to one (to 1e-9), entries are finite, columns of a row are sorted, and the matrix is
//! [`Stochastic::Doubly`] only if its columns sum to one too. Entries are not negative unless the matrix was made
//! by [`MixingMatrix::with_negative_weights`]. There is no way to make one that does not check.

use ndarray::Array2;

use crate::error::TopologyError;

/// How far a row or column sum may be from one.
const SUM_TOLERANCE: f64 = 1e-9;

/// Which sums of a mixing matrix are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stochastic {
    /// Rows only: mixing converges, but to a weighted mean.
    Rows,
    /// Rows and columns: the plain mean is preserved.
    Doubly,
}

/// A row-stochastic n×n matrix: node `i` replaces its value by `Σ_j W_ij y_j`, so `W_ij ≠ 0` for `i ≠ j`
/// means that `i` receives a message of `j`.
#[derive(Debug, Clone, PartialEq)]
pub struct MixingMatrix {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    stochastic: Stochastic,
    symmetric: bool,
    nonnegative: bool,
}

impl MixingMatrix {
    /// Checks and takes over a matrix in compressed sparse rows: row `i` is
    /// `columns[offsets[i]..offsets[i + 1]]` with the `values` beside it, columns strictly increasing.
    ///
    /// Whether it is doubly stochastic and symmetric is found out, not claimed.
    ///
    /// # Errors
    /// A malformed structure, an entry that is negative or not finite, or a row that does not sum to one.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> Result<Self, TopologyError> {
        let matrix = Self::with_negative_weights(offsets, columns, values)?;
        if !matrix.nonnegative {
            let negative = |row: &usize| matrix.row(*row).1.iter().any(|&value| value < 0.0);
            let row = (0..matrix.nodes()).find(negative).expect("the matrix has a negative entry");
            let value = matrix.row(row).1.iter().copied().fold(f64::INFINITY, f64::min);
            return Err(TopologyError::BadWeight { row, value });
        }
        Ok(matrix)
    }

    /// Like [`MixingMatrix::new`], for weights that may be negative, as the best constant step on an irregular
    /// graph needs them. Such a matrix is no transition law of a walk: see [`MixingMatrix::is_nonnegative`].
    ///
    /// # Errors
    /// A malformed structure, an entry that is not finite, or a row that does not sum to one.
    pub fn with_negative_weights(
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self, TopologyError> {
        let nodes = check_structure(&offsets, &columns, &values)?;
        for row in 0..nodes {
            let entries = &values[offsets[row]..offsets[row + 1]];
            if let Some(value) = entries.iter().find(|v| !v.is_finite()) {
                return Err(TopologyError::BadWeight { row, value: *value });
            }
            let sum: f64 = entries.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(TopologyError::RowSum { row, sum });
            }
        }
        let mut column_sums = vec![0.0; nodes];
        for (&column, &value) in columns.iter().zip(&values) {
            column_sums[column as usize] += value;
        }
        let doubly = column_sums.iter().all(|sum| (sum - 1.0).abs() <= SUM_TOLERANCE);
        let stochastic = if doubly { Stochastic::Doubly } else { Stochastic::Rows };
        let nonnegative = values.iter().all(|&value| value >= 0.0);
        let mut matrix = Self { offsets, columns, values, stochastic, symmetric: false, nonnegative };
        matrix.symmetric = matrix.find_symmetric();
        Ok(matrix)
    }

    /// The identity: nobody speaks.
    pub fn identity(nodes: usize) -> Self {
        Self {
            offsets: (0..=nodes).collect(),
            columns: (0..nodes as u32).collect(),
            values: vec![1.0; nodes],
            stochastic: Stochastic::Doubly,
            symmetric: true,
            nonnegative: true,
        }
    }

    /// `I − part·(I − W)`: a step that goes so much of the way. The sums of rows and columns, and symmetry, stay what they are.
    ///
    /// # Panics
    /// Where the part is not above 0 and at most 1.
    #[must_use]
    pub fn damped(&self, part: f64) -> Self {
        assert!(part > 0.0 && part <= 1.0, "a part of a step is above 0 and at most 1");
        let mut damped = self.clone();
        for node in 0..self.nodes() {
            for at in self.offsets[node]..self.offsets[node + 1] {
                let rest = if self.columns[at] as usize == node { 1.0 - part } else { 0.0 };
                damped.values[at] = part.mul_add(self.values[at], rest);
            }
        }
        damped.nonnegative = damped.values.iter().all(|&value| value >= 0.0);
        damped
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of stored entries, the diagonal included.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Which sums are one.
    pub fn stochastic(&self) -> Stochastic {
        self.stochastic
    }

    /// Whether the plain mean is preserved.
    pub fn is_doubly_stochastic(&self) -> bool {
        self.stochastic == Stochastic::Doubly
    }

    /// Whether `W` equals its transpose (to the bit).
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Whether no weight is negative, so that every row is a probability law.
    pub fn is_nonnegative(&self) -> bool {
        self.nonnegative
    }

    /// Columns and values of row `node`, in increasing order of column.
    pub fn row(&self, node: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[node]..self.offsets[node + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The compressed sparse rows themselves, `(offsets, columns, values)`, in the form of [`MixingMatrix::new`].
    pub fn csr(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.offsets, &self.columns, &self.values)
    }

    /// All weights with their zeros, for programs that work on arrays; `nodes²` numbers.
    pub fn to_array(&self) -> Array2<f64> {
        let mut dense = Array2::zeros((self.nodes(), self.nodes()));
        for node in 0..self.nodes() {
            let (columns, values) = self.row(node);
            columns.iter().zip(values).for_each(|(&column, &value)| dense[[node, column as usize]] = value);
        }
        dense
    }

    /// The weight `W_ij`, zero where nothing is stored.
    pub fn weight(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
    }

    /// Nodes whose message `node` receives: the columns of its row with a weight, without itself.
    pub fn heard_by(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let (columns, values) = self.row(node);
        columns
            .iter()
            .zip(values)
            .filter(move |&(&column, &value)| column as usize != node && value != 0.0)
            .map(|(&column, _)| column as usize)
    }

    /// `out = W x`.
    ///
    /// # Panics
    /// Where a slice is not as long as the matrix is wide.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert!(x.len() == self.nodes() && out.len() == self.nodes(), "vector and matrix sizes differ");
        for (row, slot) in out.iter_mut().enumerate() {
            let (columns, values) = self.row(row);
            *slot = columns.iter().zip(values).map(|(&column, &value)| value * x[column as usize]).sum();
        }
    }

    /// The transpose as raw compressed sparse rows `(offsets, columns, values)`: its rows need not sum to one.
    pub fn transpose(&self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        let nodes = self.nodes();
        let mut offsets = vec![0usize; nodes + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut cursor = offsets.clone();
        let mut columns = vec![0u32; self.columns.len()];
        let mut values = vec![0.0; self.values.len()];
        for row in 0..nodes {
            let (row_columns, row_values) = self.row(row);
            for (&column, &value) in row_columns.iter().zip(row_values) {
                let at = &mut cursor[column as usize];
                columns[*at] = row as u32;
                values[*at] = value;
                *at += 1;
            }
        }
        (offsets, columns, values)
    }

    fn find_symmetric(&self) -> bool {
        let (offsets, columns, values) = self.transpose();
        offsets == self.offsets && columns == self.columns && values == self.values
    }
}

fn check_structure(offsets: &[usize], columns: &[u32], values: &[f64]) -> Result<usize, TopologyError> {
    let malformed = |why: &'static str| Err(TopologyError::MalformedMatrix { why });
    let Some(nodes) = offsets.len().checked_sub(1).filter(|&nodes| nodes > 0) else {
        return Err(TopologyError::Empty);
    };
    if offsets[0] != 0 || offsets[nodes] != columns.len() || columns.len() != values.len() {
        return malformed("row offsets do not fit the entries");
    }
    if offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return malformed("row offsets decrease");
    }
    for row in offsets.windows(2) {
        let row_columns = &columns[row[0]..row[1]];
        if row_columns.windows(2).any(|pair| pair[0] >= pair[1]) {
            return malformed("columns of a row are not strictly increasing");
        }
        if row_columns.last().is_some_and(|&last| last as usize >= nodes) {
            return malformed("a column lies outside the matrix");
        }
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_array_of_a_matrix_does_to_a_vector_what_the_matrix_does() {
        let matrix = MixingMatrix::new(
            vec![0, 2, 5, 7],
            vec![0, 1, 0, 1, 2, 1, 2],
            vec![0.75, 0.25, 0.25, 0.5, 0.25, 0.25, 0.75],
        )
        .unwrap();
        let (x, mut out) = ([1.0, -2.0, 4.0], [0.0; 3]);
        matrix.apply(&x, &mut out);
        assert_eq!(matrix.to_array().dot(&ndarray::arr1(&x)), ndarray::arr1(&out));
        // By hand: 0.75 − 0.5, 0.25 − 1 + 1, −0.5 + 3.
        assert_eq!(out, [0.25, 0.25, 2.5]);
    }

    #[test]
    fn half_a_step_is_half_of_the_way() {
        let whole = MixingMatrix::new(
            vec![0, 2, 5, 7],
            vec![0, 1, 0, 1, 2, 1, 2],
            vec![0.75, 0.25, 0.25, 0.5, 0.25, 0.25, 0.75],
        )
        .unwrap();
        let half = whole.damped(0.5);
        // (I + W)/2 by hand.
        assert_eq!(half.row(1), (&[0, 1, 2][..], &[0.125, 0.75, 0.125][..]));
        assert!(half.is_symmetric() && half.is_doubly_stochastic() && half.is_nonnegative());
        assert_eq!(whole.damped(1.0), whole);
        let made = MixingMatrix::new(half.csr().0.to_vec(), half.csr().1.to_vec(), half.csr().2.to_vec());
        assert_eq!(made.unwrap(), half, "what is kept beside the entries is true of them");
    }

    #[test]
    fn a_row_that_does_not_sum_to_one_is_refused() {
        let made = MixingMatrix::new(vec![0, 2, 4], vec![0, 1, 0, 1], vec![0.5, 0.4, 0.5, 0.5]);
        assert!(matches!(made, Err(TopologyError::RowSum { row: 0, .. })));
    }

    #[test]
    fn negative_weights_need_the_constructor_that_names_them() {
        let parts = || (vec![0, 2, 4], vec![0, 1, 0, 1], vec![-0.5, 1.5, 1.5, -0.5]);
        let (offsets, columns, values) = parts();
        let refused = MixingMatrix::new(offsets, columns, values);
        assert!(matches!(refused, Err(TopologyError::BadWeight { row: 0, value: -0.5 })));
        let (offsets, columns, values) = parts();
        let taken = MixingMatrix::with_negative_weights(offsets, columns, values).unwrap();
        assert!(!taken.is_nonnegative() && taken.is_symmetric() && taken.is_doubly_stochastic());
        assert!(MixingMatrix::with_negative_weights(vec![0, 1], vec![0], vec![f64::NAN]).is_err());
    }

    #[test]
    fn column_sums_decide_whether_a_matrix_is_doubly_stochastic() {
        let rows_only = MixingMatrix::new(vec![0, 2, 3], vec![0, 1, 1], vec![0.5, 0.5, 1.0]).unwrap();
        assert_eq!(rows_only.stochastic(), Stochastic::Rows);
        assert!(!rows_only.is_symmetric());
        let both = MixingMatrix::new(vec![0, 2, 4], vec![0, 1, 0, 1], vec![0.3, 0.7, 0.7, 0.3]).unwrap();
        assert_eq!(both.stochastic(), Stochastic::Doubly);
        assert!(both.is_symmetric());
    }

    #[test]
    fn a_matrix_made_of_its_own_rows_is_the_same() {
        let matrix = MixingMatrix::new(vec![0, 2, 3], vec![0, 1, 1], vec![0.5, 0.5, 1.0]).unwrap();
        let (offsets, columns, values) = matrix.csr();
        let again = MixingMatrix::new(offsets.to_vec(), columns.to_vec(), values.to_vec()).unwrap();
        assert_eq!(again, matrix);
    }

    #[test]
    fn one_hears_those_with_a_weight_in_ones_row() {
        let matrix = MixingMatrix::new(vec![0, 2, 3], vec![0, 1, 1], vec![0.5, 0.5, 1.0]).unwrap();
        assert_eq!(matrix.heard_by(0).collect::<Vec<_>>(), [1]);
        assert_eq!(matrix.heard_by(1).count(), 0);
    }
}

//! Grids in the plane and on the torus; node `r · columns + c` stands in row r and column c.

use super::Edges;

/// The rectangular grid; one row is a path.
pub(super) fn grid(rows: usize, columns: usize) -> Edges {
    let at = |r: usize, c: usize| (r * columns + c) as u32;
    let mut edges = Vec::with_capacity(2 * rows * columns);
    for r in 0..rows {
        for c in 0..columns {
            if c + 1 < columns {
                edges.push((at(r, c), at(r, c + 1)));
            }
            if r + 1 < rows {
                edges.push((at(r, c), at(r + 1, c)));
            }
        }
    }
    edges
}

/// The grid with opposite sides joined.
pub(super) fn torus(rows: usize, columns: usize) -> Edges {
    let at = |r: usize, c: usize| (r * columns + c) as u32;
    let mut edges = Vec::with_capacity(2 * rows * columns);
    for r in 0..rows {
        for c in 0..columns {
            edges.push((at(r, c), at(r, (c + 1) % columns)));
            edges.push((at(r, c), at((r + 1) % rows, c)));
        }
    }
    edges
}

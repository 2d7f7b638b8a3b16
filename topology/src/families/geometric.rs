//! Random geometric graphs: devices in a square that hear each other up to a distance (E. N. Gilbert, 1961).

use super::Edges;
use crate::stream::Stream;

/// Points uniform in the unit square. Cells at least `radius` wide: only neighbouring cells can hold neighbours,
/// so that the expected time is O(nodes + edges).
pub(super) fn geometric(nodes: usize, radius: f64, stream: &mut Stream) -> Edges {
    let points = points(nodes, stream);
    // No more cells than nodes, else a tiny radius would need more memory than the graph.
    let side = ((1.0 / radius).floor().min((nodes as f64).sqrt()) as usize).max(1);
    let cells = Cells::new(&points, side);
    let mut edges = Vec::new();
    for row in 0..side {
        for column in 0..side {
            for &u in cells.at(row, column) {
                cells.for_each_near(row, column, |v| {
                    let (p, q) = (points[u as usize], points[v as usize]);
                    let (dx, dy) = (p.0 - q.0, p.1 - q.1);
                    if u < v && dx * dx + dy * dy <= radius * radius {
                        edges.push((u, v));
                    }
                });
            }
        }
    }
    edges
}

/// The points of a geometric graph; drawings use them as the layout.
pub(super) fn points(nodes: usize, stream: &mut Stream) -> Vec<(f64, f64)> {
    (0..nodes).map(|_| (stream.unit(), stream.unit())).collect()
}

/// Points sorted by cell, cells row by row.
struct Cells {
    side: usize,
    offsets: Vec<usize>,
    members: Vec<u32>,
}

impl Cells {
    fn new(points: &[(f64, f64)], side: usize) -> Self {
        let cell_of = |&(x, y): &(f64, f64)| {
            let along = |t: f64| ((t * side as f64) as usize).min(side - 1);
            along(y) * side + along(x)
        };
        let mut offsets = vec![0; side * side + 1];
        points.iter().for_each(|p| offsets[cell_of(p) + 1] += 1);
        for cell in 0..side * side {
            offsets[cell + 1] += offsets[cell];
        }
        let mut cursor = offsets.clone();
        let mut members = vec![0; points.len()];
        for (node, point) in points.iter().enumerate() {
            let at = &mut cursor[cell_of(point)];
            members[*at] = node as u32;
            *at += 1;
        }
        Self { side, offsets, members }
    }

    fn at(&self, row: usize, column: usize) -> &[u32] {
        let cell = row * self.side + column;
        &self.members[self.offsets[cell]..self.offsets[cell + 1]]
    }

    fn for_each_near(&self, row: usize, column: usize, mut visit: impl FnMut(u32)) {
        let around = |x: usize| x.saturating_sub(1)..(x + 2).min(self.side);
        for r in around(row) {
            for c in around(column) {
                self.at(r, c).iter().for_each(|&v| visit(v));
            }
        }
    }
}

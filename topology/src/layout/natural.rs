//! Families whose structure shows best in places of their own.

use std::f64::consts::{PI, TAU};

use super::Point;

fn polar(radius: f64, angle: f64) -> Point {
    (radius * libm::cos(angle), radius * libm::sin(angle))
}

/// Node 0 at the top, then clockwise.
pub(super) fn circle(nodes: usize) -> Vec<Point> {
    (0..nodes).map(|i| polar(1.0, TAU * i as f64 / nodes as f64 - PI / 2.0)).collect()
}

/// The hub in the middle.
pub(super) fn star(nodes: usize) -> Vec<Point> {
    std::iter::once((0.0, 0.0)).chain(circle(nodes - 1)).collect()
}

/// A short path is a line; a long one winds outwards at equal steps.
pub(super) fn path(nodes: usize) -> Vec<Point> {
    if nodes <= 24 {
        return (0..nodes).map(|i| (i as f64, 0.0)).collect();
    }
    // Arms 2.2 steps apart: radius 2.2 θ / 2π, and one step along the arm turns by 1 / radius.
    let mut angle: f64 = TAU;
    (0..nodes)
        .map(|_| {
            let radius = 2.2 * angle / TAU;
            let place = polar(radius, angle);
            angle += 1.0 / radius;
            place
        })
        .collect()
}

/// Rows and columns.
pub(super) fn grid(rows: usize, columns: usize) -> Vec<Point> {
    (0..rows * columns).map(|i| ((i % columns) as f64, (i / columns) as f64)).collect()
}

/// A doughnut seen from above its rim. The longer side goes the long way round.
pub(super) fn torus(rows: usize, columns: usize) -> Vec<Point> {
    let tilt: f64 = 0.9;
    let place = |i: usize| {
        let (row, column) = ((i / columns) as f64, (i % columns) as f64);
        let (row, column) = (TAU * row / rows as f64, TAU * column / columns as f64);
        let (along, around) = if rows > columns { (row, column) } else { (column, row) };
        // A small turn keeps front and back from covering each other exactly.
        let (along, around) = (along + 0.05, around + 0.11);
        let ring = 1.0 + 0.42 * libm::cos(around);
        let (x, depth) = polar(ring, along);
        (x, depth * libm::cos(tilt) - 0.42 * libm::sin(around) * libm::sin(tilt))
    };
    (0..rows * columns).map(place).collect()
}

/// Every bit is a direction, the directions spread over a half turn: the orthogonal projection along which the
/// cube looks round. Slightly different lengths keep nodes apart that would fall on each other.
pub(super) fn hypercube(nodes: usize) -> Vec<Point> {
    let bits = nodes.trailing_zeros();
    let direction = |bit: u32| {
        let length = 1.0 + 0.45 * libm::fmod(0.618_034 * f64::from(bit + 1), 1.0);
        polar(length, PI * (f64::from(bit) + 0.5) / f64::from(bits))
    };
    let directions: Vec<Point> = (0..bits).map(direction).collect();
    let place = |i: usize| {
        let set = (0..bits as usize).filter(|bit| i >> bit & 1 == 1);
        set.fold((0.0, 0.0), |(x, y), bit| (x + directions[bit].0, y + directions[bit].1))
    };
    (0..nodes).map(place).collect()
}

/// Small circles on a large one; the nodes that lead on stand next to the neighbouring clique.
pub(super) fn cliques(nodes: usize, clique: usize) -> Vec<Point> {
    let count = nodes.div_ceil(clique);
    if count < 3 || clique == 1 {
        return circle(nodes);
    }
    // Half the distance of two centres is the most; more than the middle third would leave no bridge to see.
    let radius = 0.34 * TAU / count as f64;
    let start = |i: usize| i * nodes / count;
    let mut places = Vec::with_capacity(nodes);
    for i in 0..count {
        let middle = TAU * i as f64 / count as f64 - PI / 2.0;
        let (centre_x, centre_y) = polar(1.0, middle);
        let size = start(i + 1) - start(i);
        places.extend((0..size).map(|member| {
            let (x, y) = polar(radius, middle + angle_in_clique(member, size));
            (centre_x + x, centre_y + y)
        }));
    }
    places
}

/// The first member looks back, the last looks on, the others stand half outside and half inside.
fn angle_in_clique(member: usize, size: usize) -> f64 {
    if member == 0 {
        return -PI / 2.0;
    }
    if member + 1 == size {
        return PI / 2.0;
    }
    let outside = (size - 1) / 2;
    if member <= outside {
        PI * member as f64 / (outside + 1) as f64 - PI / 2.0
    } else {
        let inside = size - 2 - outside;
        -PI / 2.0 - PI * (member - outside) as f64 / (inside + 1) as f64
    }
}

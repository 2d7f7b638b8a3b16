//! The scripts in `examples/papers` run in their small setting, and their figures are those of the papers and of theory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A table that a script wrote: one map from column to cell per row.
type Table = Vec<BTreeMap<String, String>>;

/// Where the results of a script are, or nothing where there is no Python to run it.
fn results_of(name: &str) -> Option<PathBuf> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed, and the papers' scripts need it");
        return None;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("papers").join(name);
    let _ = std::fs::remove_dir_all(&out);
    let script = root().join("examples/papers").join(name).join("figure.py");
    let mut python = Command::new("python3");
    let done = python
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(script)
        .args(["--small", "--murmur", env!("CARGO_BIN_EXE_murmur"), "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    eprint!("{said}");
    assert!(done.status.success(), "{name}: {said}");
    let picture = std::fs::read_to_string(out.join("figure.svg")).unwrap();
    for part in ["<svg", "<title>", "<desc>", "prefers-color-scheme:dark", "</svg>"] {
        assert!(picture.contains(part), "{name}: the picture has no {part}");
    }
    Some(out)
}

fn table(folder: &Path, name: &str) -> Table {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut lines = text.lines().map(cells);
    let header = lines.next().unwrap();
    lines.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

/// Cells of a line; one that holds a comma stands in quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} in {row:?}"))
}

fn rows<'a>(table: &'a Table, column: &str, value: &str) -> Vec<&'a BTreeMap<String, String>> {
    table.iter().filter(|row| row[column] == value).collect()
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{what}: {found} for {expected}");
}

/// The paper's noise for ε = 10, δ = 1e-6: local 5.871, central 0.697, network 1.227; and the order of trust.
#[test]
fn amplification_by_decentralization_has_the_published_noise() {
    let Some(out) = results_of("amplification-by-decentralization") else { return };
    let sigmas = table(&out, "sigmas.csv");
    let row = |trust: &str| rows(&sigmas, "trust", trust)[0];
    for (trust, published) in [("local", 5.871), ("network", 1.227), ("central", 0.697)] {
        let found = number(row(trust), "sigma_published");
        assert!((found - published).abs() < 5e-4, "{trust}: {found}");
        // The theorems are sufficient, so exact accounting never asks for more.
        assert!(number(row(trust), "sigma_exact") < found, "{trust}");
    }
    let exact = |trust: &str| number(row(trust), "sigma_exact");
    assert!(exact("local") > exact("network") && exact("network") > exact("central"));
    // K = 12 releases with sensitivity 0.4 are one with 0.4·√12, and Φ says what that has at ε = 10.
    let mu = 0.4 * f64::sqrt(12.0) / exact("local");
    let delta = privacy::special::normal_cdf(mu / 2.0 - 10.0 / mu)
        - f64::exp(10.0) * privacy::special::normal_cdf(-mu / 2.0 - 10.0 / mu);
    assert_near(delta, 1e-6, 1e-3, "δ of the exact local noise");
}

/// On a hypercube of d dimensions a watcher hears enough after d + 1 steps to know the sum over every sphere around every neighbour. Among the C(d, k)
/// nodes at distance k these span d directions, all alike by symmetry, so that each node loses d/C(d, k); the opposite node is known.
#[test]
fn muffliato_is_exact_where_the_published_sum_is_not() {
    let Some(out) = results_of("muffliato") else { return };
    let synthetic = table(&out, "synthetic.csv");
    let hypercube = rows(&synthetic, "graph", "hypercube 2^6");
    assert_eq!(hypercube.len(), 6);
    for (row, nodes) in hypercube.iter().zip([6.0, 15.0, 20.0, 15.0, 6.0, 1.0]) {
        assert_eq!(number(row, "pairs"), nodes);
        assert_near(number(row, "exact"), (6.0 / nodes).min(1.0), 1e-5, "a sphere of the hypercube");
    }
    // The published sum falls with the distance all the way, so that it is below the truth on the far side.
    let published: Vec<f64> = hypercube.iter().map(|row| number(row, "published")).collect();
    assert!(published.is_sorted_by(|a, b| a >= b) && published[5] < 0.5, "{published:?}");
    for row in &synthetic {
        let (exact, noisy) = (number(row, "exact"), number(row, "noisy"));
        assert!((0.0..=1.0).contains(&exact) && noisy <= exact + 1e-9, "{row:?}");
    }
    let above = synthetic.iter().filter(|row| number(row, "exact") > number(row, "published") + 1e-9).count();
    assert!(above > 0, "the exact loss passes the published one somewhere");
    let houses = table(&out, "houses.csv");
    // One round of doubling over 64 nodes: a watcher gathers log2(64) over 63 others.
    assert_near(number(&houses[0], "doubling"), 6.0 / 63.0, 1e-5, "doubling");
    if !houses[0]["accuracy_muffliato"].is_empty() {
        // 57 % are of the larger class: a guess gets that.
        assert!(number(&houses[0], "accuracy_central") > 57.0, "{houses:?}");
    }
}

/// The closed form on the hypercube, whose eigenvalues are known: 1 − 2k/(d + 1), C(d, k) times.
#[test]
fn random_walks_have_the_closed_form_of_the_paper() {
    let Some(out) = results_of("random-walks") else { return };
    let graphs = table(&out, "graphs.csv");
    let cube = rows(&graphs, "graph", "hypercube 2^5")[0];
    let (n, d) = (32.0, 5);
    // 20·⌈ln n/λ⌉·(1/4 + 1) steps with λ = 2/(d + 1).
    let steps = (20.0 * (f64::ln(n) * 3.0).ceil() * 1.25).floor();
    assert_eq!(number(cube, "steps"), steps);
    let losses = table(&out, "losses.csv");
    for row in rows(&losses, "graph", "hypercube 2^5") {
        let distance = number(row, "distance") as usize;
        let logarithm: f64 =
            (1..=d).map(|k| krawtchouk(d, k, distance) * -f64::ln(2.0 * k as f64 / 6.0) / n).sum();
        let expected = 2.0 * steps / n * (f64::ln(steps) / n + logarithm);
        assert_near(number(row, "published"), expected, 1e-5, "closed form on the hypercube");
        // By Jensen's inequality and the confidence interval.
        assert!(number(row, "unknown_path") > number(row, "mean_of_paths"), "{row:?}");
    }
    // Neighbours lose more than distant nodes, by any account.
    for graph in ["hypercube 2^5", "Davis southern women"] {
        let found = rows(&losses, "graph", graph);
        let (first, last) = (found[0], found[found.len() - 1]);
        for kind in ["published", "mean_of_paths", "walked"] {
            assert!(number(first, kind) > number(last, kind), "{graph}, {kind}");
        }
    }
}

/// Σ_{|S| = k} (−1)^{|S ∩ D|} over subsets S of d bits, with D of `distance` bits.
fn krawtchouk(d: usize, k: usize, distance: usize) -> f64 {
    (0..1_usize << d)
        .filter(|set| set.count_ones() as usize == k)
        .map(|set| if (set & ((1 << distance) - 1)).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 })
        .sum()
}

/// "Florentine families (attacker 0, by distance 10.9110, .454052, .147308, .0487857 with row-normalised A + I)."
#[test]
fn matrix_factorisation_has_the_published_losses_on_florentine_families() {
    let Some(out) = results_of("matrix-factorisation") else { return };
    let losses = table(&out, "losses.csv");
    let florentine = rows(&losses, "graph", "Florentine families");
    let published = [10.9110, 0.454052, 0.147308, 0.0487857];
    for (row, expected) in florentine.iter().zip(published) {
        assert_near(number(row, "published"), expected, 1e-5, "Florentine families");
    }
    assert!(florentine[4..].iter().all(|row| number(row, "published") < published[3]));
    for row in &losses {
        // Ten contributions seen in full are the most that anybody can learn.
        let (linear, contractive) = (number(row, "linear"), number(row, "contractive"));
        assert!(linear <= 10.0 && contractive <= 10.0 + 1e-9, "{row:?}");
        if row["distance"] == "1" {
            assert_near(contractive, 10.0, 1e-6, "neighbours have the local loss");
        }
    }
}

/// "1.73× for 2^10 users and 2^20-dimensional vectors, 1.98× for 2^14 users and 2^24."
#[test]
fn secure_aggregation_has_the_published_factors() {
    let Some(out) = results_of("secure-aggregation") else { return };
    let published = table(&out, "published.csv");
    for (row, factor) in published.iter().zip([1.73, 1.98]) {
        assert!((number(row, "factor") - factor).abs() < 0.005, "{row:?}");
    }
    // 64 members by halving: 2·(1 − 1/64)·32 bits for each of 16; doubling: six steps of 32.
    let bytes = table(&out, "bytes.csv");
    let row = rows(&bytes, "members", "64")[0];
    assert_near(number(row, "halving"), 3.9375, 1e-5, "halving");
    assert_near(number(row, "doubling"), 12.0, 1e-9, "doubling");
}

/// A sum of discrete Gaussians is within our bound of one, and our bound within the published one: the script convolves, the library states its own.
#[test]
fn sums_of_discrete_gaussians_are_as_near_to_one_as_the_lemma_says() {
    let Some(out) = results_of("discrete-gaussian") else { return };
    let bounds = table(&out, "bounds.csv");
    let mut measured = 0;
    for row in &bounds {
        let (published, ours) = (number(row, "published"), number(row, "ours"));
        assert!(
            ours < published && (row["measured"].is_empty() || number(row, "measured") <= ours),
            "{row:?}"
        );
        measured += usize::from(!row["measured"].is_empty());
    }
    assert_eq!(measured, 3, "{bounds:?}");
}

/// The script compares each fact with its formula and fails by itself; here only that it looked at all of them.
#[test]
fn classical_facts_hold() {
    let Some(out) = results_of("classical") else { return };
    let facts = table(&out, "facts.csv");
    assert!(facts.len() >= 20, "{} facts", facts.len());
    for part in [
        "Gaussian noise",
        "randomised response",
        "basic",
        "advanced",
        "sample",
        "Rényi",
        "DP-SGD",
        "token",
        "gossip",
    ] {
        assert!(facts.iter().any(|row| row["fact"].contains(part)), "no fact on {part}");
    }
    assert!(facts.iter().all(|row| row["verdict"] == "holds"), "{facts:?}");
}

/// The published noise follows the private length of an update, so that a single release shows more than five are said to; with a public radius five cost what
/// `vectors/heterogeneity.json` says: 22 by adding up, 14.65369 at δ = 1e-5.
#[test]
fn group_privacy_is_priced_and_the_heuristic_is_not_private() {
    let Some(out) = results_of("group-privacy") else { return };
    let leakage = table(&out, "leakage.csv");
    let five = rows(&leakage, "nu", "5")[0];
    assert_near(number(five, "claimed"), 5.0 * 11.0 / 5.0, 1e-5, "five claims of n/ν");
    assert_near(number(five, "node_level_pure"), 22.0, 1e-5, "2n/ν at node level");
    assert_near(number(five, "node_level_renyi"), 14.65369, 1e-4, "by Rényi divergence");
    // One release passes the claim for its own updates, which are nine of the shorter ones' lengths apart: 9·n/ν, and here already that of all five.
    assert!(number(five, "seen_in_one_of_a_hundred") > number(five, "claimed"));
    let synthetic = table(&out, "synthetic.csv");
    let none = number(rows(&synthetic, "variant", "none")[0], "distance");
    // 200 records of a line with noise of deviation √(1/12) and mean ½, which x is blind to: ½·√(1/200) per coordinate or so.
    assert!(none < 0.3, "{none}");
    let inversion = table(&out, "inversion.csv");
    for variant in ["published", "sound"] {
        let found: Vec<f64> =
            rows(&inversion, "variant", variant).iter().map(|row| number(row, "likeness")).collect();
        // Each row of a softmax's gradient is the record itself: hardly any noise shows it.
        assert!(found[0] > 0.9 && found[1] < 0.5, "{variant}: {found:?}");
    }
}

/// With all pairs sharing noise the loss is 1/h + (1 − 1/h)/(1 + hσ_Δ²) for h honest members, own noise 1.
#[test]
fn gopa_hides_behind_all_honest_members() {
    let Some(out) = results_of("gopa") else { return };
    let losses = table(&out, "losses.csv");
    for row in rows(&losses, "choices", "all") {
        let honest = 60.0 * number(row, "honest");
        let shared = number(row, "noise").powi(2);
        let expected = 1.0 + (honest - 1.0) / (1.0 + honest * shared);
        assert_near(number(row, "over_curator"), expected, 1e-5, "all pairs");
    }
    // A tenth above a curator's loss: (h − 1)/(1 + hσ²) = 0.1. The search stops within two per cent.
    let needed = table(&out, "enough.csv");
    let all = rows(&needed, "choices", "all")[0];
    for (column, honest) in [("honest_1", 60.0_f64), ("honest_0.5", 30.0)] {
        let expected = ((10.0 * (honest - 1.0) - 1.0) / honest).sqrt();
        assert_near(number(all, column), expected, 0.021, column);
    }
}

/// Two totals of two members: cov [[2, 1], [1, 3]], whose inverse begins with 3/5.
#[test]
fn own_noise_that_comes_back_tells_more_and_is_refused() {
    let Some(out) = results_of("scaffold") else { return };
    let losses = table(&out, "losses.csv");
    let two = losses.iter().find(|row| row["members"] == "2" && row["gain"] == "1").unwrap();
    assert_near(number(two, "true"), 0.6, 1e-6, "two members");
    assert!(losses.iter().all(|row| number(row, "true") > number(row, "claimed")));
    let refused = table(&out, "refused.csv");
    assert_eq!(rows(&refused, "target", "worst")[0]["murmur"], "refused");
    assert_eq!(rows(&refused, "target", "local")[0]["murmur"], "runs");
}

/// 25 surveys: a root mean square has a relative deviation of 14 %, so a factor of 1.6 is passed by chance less than once in ten thousand times.
#[test]
fn statistics_of_pairs_err_as_their_exact_deviation_says() {
    let Some(out) = results_of("u-statistics") else { return };
    for row in table(&out, "errors.csv") {
        let (measured, deviation) = (number(&row, "measured"), number(&row, "deviation"));
        assert!(measured < 1.6 * deviation, "{row:?}");
        assert!(number(&row, "theorem") > 2.0 * deviation, "{row:?}");
        assert_near(number(&row, "murmur_theorem"), number(&row, "theorem"), 1e-4, "the theorem");
    }
}

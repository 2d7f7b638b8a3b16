//! A CSV file costs little more memory than its numbers. Alone in its process, which it measures.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "this is a test")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use learn::data::{CsvOptions, read_csv};

const ROWS: usize = 160_000;
const COLUMNS: usize = 40;

/// Bytes that one line of `/proc/self/status` gives in kB.
fn status(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

fn write_table(path: &Path) -> u64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let header: Vec<String> = (0..COLUMNS).map(|column| format!("c{column}")).collect();
    writeln!(file, "{},y", header.join(",")).unwrap();
    let mut state = 1u32;
    for row in 0..ROWS {
        for _ in 0..COLUMNS {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            write!(file, "{:.5},", state as f32 / u32::MAX as f32).unwrap();
        }
        writeln!(file, "{}", row % 3).unwrap();
    }
    file.flush().unwrap();
    path.metadata().unwrap().len()
}

#[test]
fn reading_a_large_csv_takes_at_most_half_more_memory_than_its_numbers() {
    let Some(before) = status("VmRSS:") else {
        println!("skipped: no /proc/self/status to measure memory with");
        return;
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large.csv");
    let bytes = write_table(&path);
    assert!(bytes > 50_000_000, "{bytes}");
    let data = read_csv(&path, &CsvOptions::labelled("y")).unwrap().train;
    let peak = status("VmHWM:").unwrap();
    std::fs::remove_file(&path).unwrap();
    let result = (data.len() * (data.columns() + 1) * 4) as u64;
    // Four megabytes for buffers and the allocator.
    let allowed = result + result / 2 + 4_000_000;
    let used = peak - before;
    println!("{bytes} bytes of text, {result} of numbers, {used} at the peak");
    assert!(used <= allowed, "{used} bytes at the peak, {allowed} allowed");
}

//! Text for a narrow screen: prose is folded between words, tables between columns.

/// Text for a screen of so many columns. Prose is folded between words, under its own indentation, and so is the last of two columns; of a wider table that does not
/// fit the columns are shown in several parts, each with the first one in front, so that it can be read without a line that is broken. What has no place to fold stays
/// as it is.
pub(crate) fn folded(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut table: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        if is_row(line) {
            table.push(line);
            continue;
        }
        rows(&mut out, &std::mem::take(&mut table), width);
        prose(&mut out, line, width);
    }
    rows(&mut out, &table, width);
    out
}

/// Whether columns stand apart in a line.
fn is_row(line: &str) -> bool {
    line.trim_start_matches([' ', '-']).trim_end().contains("  ")
}

fn prose(out: &mut String, line: &str, width: usize) {
    let bare = line.trim_end_matches('\n');
    let indent = bare.len() - bare.trim_start_matches([' ', '-']).len();
    hung(out, &bare.chars().collect::<Vec<_>>(), indent, width);
    out.push_str(&line[bare.len()..]);
}

/// One line, folded between words where it is too long; what follows stands below the letter at `indent`.
fn hung(out: &mut String, line: &[char], indent: usize, width: usize) {
    if line.len() <= width || indent + 20 > width {
        out.extend(line);
        return;
    }
    let mut column = indent;
    out.extend(&line[..indent]);
    for (at, word) in line[indent..].split(|letter| *letter == ' ').enumerate() {
        if at > 0 && column + 1 + word.len() > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.extend(word);
        column += word.len();
    }
}

/// Lines in which columns stand apart.
fn rows(out: &mut String, lines: &[&str], width: usize) {
    let grid: Vec<Vec<char>> = lines.iter().map(|line| line.trim_end().chars().collect()).collect();
    let widest = grid.iter().map(Vec::len).max().unwrap_or(0);
    let columns = columns(&grid, widest);
    if widest <= width {
        return lines.iter().for_each(|line| out.push_str(line));
    }
    if let [_, (begin, _)] = columns[..] {
        // A name and what is said of it, which is folded below its own beginning.
        for (row, line) in grid.iter().zip(lines) {
            hung(out, row, begin, width);
            out.push_str(if line.ends_with('\n') { "\n" } else { "" });
        }
        return;
    }
    if lines.len() == 1 || columns.len() < 3 {
        return lines.iter().for_each(|line| prose(out, line, width));
    }
    let wide = |&(begin, end): &(usize, usize)| end - begin;
    let mut rest = &columns[1..];
    while !rest.is_empty() {
        let mut taken = 1;
        let mut sum = wide(&columns[0]) + 2 + wide(&rest[0]);
        while let Some(next) = rest.get(taken).filter(|next| sum + 2 + wide(next) <= width) {
            sum += 2 + wide(next);
            taken += 1;
        }
        let (part, later) = rest.split_at(taken);
        for row in &grid {
            let cell = |&(begin, end): &(usize, usize)| -> String {
                let cell = row.iter().skip(begin).take(end - begin);
                format!("{:<wide$}", cell.collect::<String>(), wide = end - begin)
            };
            let cells: Vec<String> = columns[..1].iter().chain(part).map(cell).collect();
            // One column that is too wide by itself has a part of its own.
            let last = if taken == 1 { wide(&columns[0]) + 2 } else { 0 };
            hung(out, &cells.join("  ").trim_end().chars().collect::<Vec<_>>(), last, width);
            out.push('\n');
        }
        if !later.is_empty() {
            out.push('\n');
        }
        rest = later;
    }
}

/// Where columns begin and end: two blanks or more lie between them in every row.
fn columns(grid: &[Vec<char>], widest: usize) -> Vec<(usize, usize)> {
    let is_blank = |at: usize| grid.iter().all(|row| row.get(at).is_none_or(|&letter| letter == ' '));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in (0..widest).filter(|&at| !is_blank(at)) {
        match found.last_mut() {
            Some((_, end)) if at < *end + 2 => *end = at + 1,
            _ => found.push((at, at + 1)),
        }
    }
    // What is left of the first column belongs to it.
    if let Some((begin, _)) = found.first_mut() {
        *begin = 0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_too_wide_is_shown_in_parts_with_its_first_column() {
        let table = "\
epsilon  accuracy %           loss\n\
1             90.35  0.234 ± 0.051\n\
inf           91.52  0.225 ± 0.062\n";
        let parts = "\
epsilon  accuracy %\n\
1             90.35\n\
inf           91.52\n\
\n\
epsilon           loss\n\
1        0.234 ± 0.051\n\
inf      0.225 ± 0.062\n";
        assert_eq!(
            folded(&format!("A sentence.\n\n{table}\nAnother.\n"), 24),
            format!("A sentence.\n\n{parts}\nAnother.\n")
        );
        assert_eq!(folded(table, 34), table, "it fits");
        let two = "size  4\nσ     one two three four five six seven\n";
        assert_eq!(folded(two, 26), "size  4\nσ     one two three four\n      five six seven\n");
        let last = format!("a  b  note\n1  2  {}\n", "word ".repeat(8).trim_end());
        let parts = "a  b\n1  2\n\na  note\n1  word word word word\n   word word word word\n";
        assert_eq!(folded(&last, 24), parts);
        assert_eq!(folded("name  value that has no other column to go to\nx     y\n", 20).lines().count(), 2);
    }

    #[test]
    fn prose_is_folded_between_words() {
        let prose = "  - one two three four five six seven eight nine ten\n";
        let folded_prose = folded(prose, 30);
        assert_eq!(folded_prose, "  - one two three four five\n    six seven eight nine ten\n");
        assert!(folded_prose.lines().all(|line| line.chars().count() <= 30));
        let row = "worst pair        1.836    masked  and so on for ever\n";
        assert!(folded(row, 30).lines().all(|line| line.chars().count() <= 30), "a row by itself");
        let word = "https://example.org/a/very/long/address/without/a/place\n";
        assert_eq!(folded(word, 30), word);
        assert_eq!(folded("ε ε ε ε", 3), "ε ε ε ε", "too narrow for anything");
        assert_eq!(folded("short\n\nlines", 80), "short\n\nlines");
    }
}

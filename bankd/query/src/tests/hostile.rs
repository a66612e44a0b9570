//! Texts that mean harm, and texts that mean nothing.

use super::super::compile;
use super::{Bank, all, read};

#[test]
fn no_text_becomes_a_part_of_the_statement() {
    let bank = Bank::new();
    for value in [
        "'; DROP TABLE tx; --",
        "\" OR 1=1 --",
        "x') UNION SELECT hash FROM tx --",
        "?987",
        "%s\u{0}",
    ] {
        let quote = if value.contains('\'') { '"' } else { '\'' };
        let query = format!("Project Query Name=={quote}{value}{quote}");
        if value.contains(quote) {
            continue;
        }
        assert!(bank.lines(&query).is_empty(), "{query}");
        let statement = compile::statement(&read(&query, &all()).unwrap());
        assert!(!statement.sql.contains(value), "{}", statement.sql);
    }
    // A reader that could write would still not be asked to.
    let plan = read("Project Query", &all()).unwrap();
    let reader = bank.reader();
    let prepared = reader.prepare(&compile::statement(&plan).sql).unwrap();
    assert!(prepared.readonly());
}

/// Texts made of the language's own pieces and of noise: each is answered or refused with a reason,
/// and the bank is the same afterwards.
#[test]
fn any_text_is_answered_or_refused() {
    let seed = std::process::id().into();
    println!("seed {seed}");
    let bank = Bank::new();
    let mut random = Random(seed);
    let pieces = [
        "Account",
        "Job",
        "Entry",
        " Query ",
        "Query",
        "Name",
        "Id",
        "Amount",
        "Time",
        "==",
        "!=",
        "<",
        ">=",
        "~",
        "=",
        ":=",
        ":!",
        "&&",
        "||",
        "&!",
        "|!",
        "(",
        ")",
        "'",
        "\"",
        " ",
        ",",
        "Show",
        "Limit",
        "Unique",
        "Sort(Name)",
        "Sum(Amount)",
        "GroupBy(Name)",
        "1",
        "0.5",
        "-1",
        "now",
        "infinity",
        "none",
        "chem",
        ".",
        "*",
        "?",
        ";",
        "--",
        "\u{0}",
        "é",
        "%",
        "[",
        "]",
    ];
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut text = String::new();
        if random.below(4) > 0 {
            text.push_str("Account Query ");
        }
        for _ in 0..random.below(12) {
            text.push_str(pieces[random.below(pieces.len())]);
        }
        match bank.ask_as(&text, &all()) {
            Ok(found) => {
                taken += 1;
                assert!(
                    found
                        .rows
                        .iter()
                        .all(|row| row.len() == found.columns.len())
                );
            }
            Err(mistake) => {
                refused += 1;
                assert!(!mistake.what.is_empty(), "{text}");
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} {refused}");
    assert_eq!(
        bank.lines("Entry Query Show:=Count(*),Sum(Amount)"),
        ["3|1500"]
    );
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(limit).unwrap()).unwrap()
    }
}

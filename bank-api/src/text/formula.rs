//! Cells that a spreadsheet evaluates as formulas.

/// Whether a spreadsheet that opens a file of separated values evaluates this cell as a formula, which could
/// send data away or start a program. Such a cell begins with `=`, `+`, `-`, `@`, a tab or a carriage
/// return. A plain number is not a formula, and neither is a single sign.
pub fn is_formula(cell: &str) -> bool {
    let begins = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    begins && cell != "-" && cell != "+" && !is_number(cell)
}

/// Digits with at most one point among them, and at most one sign before them.
fn is_number(cell: &str) -> bool {
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    all_digits(whole) && all_digits(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_begin_like_a_formula_are_one_and_numbers_are_not() {
        for cell in [
            "=1+1", "+1-1", "-x", "@SUM(A1)", "\t=1", "\r=1", "-1.2.3", "-1e5", "--1", "-1 x", "=",
            "-.", "+.5", "-2,5", "-١",
        ] {
            assert!(is_formula(cell), "{cell:?}");
        }
        for cell in [
            "",
            "x",
            "1",
            "-1",
            "+1",
            "-1.000",
            "0.5",
            "-",
            "+",
            "'=1",
            "a=1",
            " =1",
            "2026-01-01",
        ] {
            assert!(!is_formula(cell), "{cell:?}");
        }
    }
}

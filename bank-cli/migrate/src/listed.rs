//! Lists of the old bank as its commands print them: `gbalance`, `glsaccount`, `glsalloc`, `glsres` and the same
//! of Moab Accounting Manager. A table has a header line and a line of hyphens, or `|` between its columns.

use crate::{
    fault::Fault,
    old::{Column, Listed, Of},
    table::decoded,
};

/// Reads all figures of a file with one or more tables.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Listed>, Fault> {
    let text = decoded(bytes).0;
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let mut found = Vec::new();
    let mut head: Option<Head> = None;
    for (index, line) in lines.iter().enumerate() {
        if let Some(new) = header(line, lines.get(index + 1).copied()) {
            head = Some(new);
            continue;
        }
        if is_rule(line) || line.trim().is_empty() {
            continue;
        }
        if let Some(head) = &head {
            let place = format!("{name}:{}", index + 1);
            figures(head, line, &place, &mut found);
        }
    }
    if found.is_empty() {
        return Err(Fault::new(
            format!("{name}: no table with amounts"),
            "save the output of gbalance, glsaccount or glsalloc, with its header lines",
        ));
    }
    Ok(found)
}

/// The columns of a table.
struct Head {
    names: Vec<String>,
    /// Beginning and end of each column; none if `|` separates them.
    spans: Option<Vec<(usize, usize)>>,
    of: Option<Of>,
}

fn header(line: &str, next: Option<&str>) -> Option<Head> {
    let spans = next.filter(|next| is_rule(next)).map(spans);
    let names: Vec<String> = match &spans {
        Some(spans) => cells(line, spans),
        None if line.starts_with("Id|") => line.split('|').map(str::to_owned).collect(),
        None => return None,
    };
    let has = |name: &str| names.iter().any(|own| own == name);
    let of = if !has("Id") {
        None
    } else if (has("Account") || has("Fund")) && has("StartTime") {
        Some(Of::Allocation)
    } else if has("StartTime") && has("Amount") {
        Some(Of::Lien)
    } else if has("Amount") || has("Balance") {
        Some(Of::Account)
    } else {
        None
    };
    Some(Head { names, spans, of })
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    line.contains('-') && line.bytes().all(|byte| byte == b'-' || byte == b' ')
}

/// Beginning and end of each group of hyphens, in characters.
fn spans(rule: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, c) in rule.chars().enumerate() {
        match spans.last_mut() {
            Some((_, end)) if c == '-' && *end == at => *end = at + 1,
            _ if c == '-' => spans.push((at, at + 1)),
            _ => {}
        }
    }
    spans
}

fn cells(line: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    let last = spans.len().saturating_sub(1);
    let cell = |(index, (from, to)): (usize, &(usize, usize))| {
        let to = if index == last {
            letters.len()
        } else {
            (*to).min(letters.len())
        };
        let cell = letters.get(*from..to).unwrap_or_default();
        cell.iter().collect::<String>().trim().to_owned()
    };
    spans.iter().enumerate().map(cell).collect()
}

fn figures(head: &Head, line: &str, place: &str, found: &mut Vec<Listed>) {
    let Some(of) = head.of else {
        return;
    };
    let row: Vec<String> = match &head.spans {
        Some(spans) => cells(line, spans),
        None => line.split('|').map(|cell| cell.trim().to_owned()).collect(),
    };
    let cell = |name: &str| {
        let index = head.names.iter().position(|own| own == name)?;
        row.get(index).filter(|text| !text.is_empty())
    };
    let Some(key) = cell("Id") else {
        return;
    };
    let has_effective = head.names.iter().any(|own| own == "Effective");
    for name in &head.names {
        let kind = match name.as_str() {
            "Amount" | "Remaining" => Column::Amount,
            "Balance" if has_effective => Column::Amount,
            "Balance" if head.names.iter().any(|own| own == "Allocated") => Column::Amount,
            "Balance" | "Effective" => Column::Balance,
            "Reserved" => Column::Reserved,
            "CreditLimit" => Column::CreditLimit,
            "Available" => Column::Available,
            "Deposited" => Column::Deposited,
            _ => continue,
        };
        let Some(text) = cell(name) else {
            continue;
        };
        found.push(Listed {
            key: key.clone(),
            name: cell("Name").cloned().unwrap_or_default(),
            of,
            column: name.clone(),
            kind,
            text: text.clone(),
            is_exact: false,
            place: place.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "\
Id Name     Amount Reserved Balance CreditLimit Available
-- -------- ------ -------- ------- ----------- ---------
4  phys     312998   288000   24998        1000     25998
7  dan-only     -5        0      -5           0        -5
Id Account Active StartTime  EndTime  Amount CreditLimit Deposited Description
-- ------- ------ ---------- -------- ------ ----------- --------- --------------
3  4       True   -infinity  infinity      1           0         2 Auto-Generated
Name Active Description
---- ------ -----------
bio  True   biology
";

    #[test]
    fn figures_are_read_by_their_columns() {
        let all = read("listed.txt", LISTED.as_bytes()).unwrap();
        let shown: Vec<String> = all
            .iter()
            .map(|own| {
                let Listed {
                    key,
                    of,
                    column,
                    text,
                    place,
                    ..
                } = own;
                format!("{place} {of:?} {key} {column} {text}")
            })
            .collect();
        assert_eq!(shown.len(), 13, "{shown:#?}");
        assert_eq!(
            shown.first().unwrap(),
            "listed.txt:3 Account 4 Amount 312998"
        );
        assert_eq!(shown.get(9).unwrap(), "listed.txt:4 Account 7 Available -5");
        assert_eq!(
            shown.get(12).unwrap(),
            "listed.txt:7 Allocation 3 Deposited 2"
        );
        let raw = read("x", b"Id|Name|Amount|Reserved\n1|chem|10|2\n").unwrap();
        assert_eq!(raw.len(), 2);
        let none = read("x", b"nothing here\n").unwrap_err();
        assert_eq!(none.what, "x: no table with amounts");
    }
}

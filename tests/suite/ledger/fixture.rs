//! The notation of ledger.md 11 for what is given: `F{a=100 [2026,2027) L=0, b=5; -u amy}`.

use bank_core::amount::Amount;
use bank_core::model::{Constraint, Dimension};
use bank_core::time::{Seconds, Timestamp, Window};

/// 2026-06-01T00:00:00Z: what the ledger clock shows at first.
pub(crate) const T0: Timestamp = Timestamp(1_780_272_000_000_000);

/// An account with its lists and allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) lists: Vec<Constraint>,
    pub(crate) allocations: Vec<GivenAllocation>,
}

/// An allocation, made by one deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenAllocation {
    pub(crate) label: String,
    pub(crate) amount: Amount,
    pub(crate) window: Window,
    pub(crate) limit: Amount,
}

/// Reads `F{…}, G{…}`.
pub(crate) fn accounts(text: &str) -> Vec<Given> {
    let parts = text
        .split('}')
        .map(|part| part.trim_start_matches([',', ' ']));
    parts.filter(|part| !part.is_empty()).map(account).collect()
}

fn account(text: &str) -> Given {
    let (name, inside) = text.split_once('{').unwrap();
    let (allocations, lists) = inside.split_once(';').unwrap_or((inside, ""));
    let allocations = allocations.split(", ").filter(|part| !part.is_empty());
    Given {
        name: name.to_owned(),
        lists: constraints(lists),
        allocations: allocations.map(allocation).collect(),
    }
}

fn allocation(text: &str) -> GivenAllocation {
    let mut words = text.split(' ').filter(|w| !w.is_empty());
    let (label, amount) = words.next().unwrap().split_once('=').unwrap();
    let mut given = GivenAllocation {
        label: label.to_owned(),
        amount: Amount(amount.parse().unwrap()),
        window: Window::ALWAYS,
        limit: Amount::ZERO,
    };
    for word in words {
        match word.strip_prefix("L=") {
            Some(limit) => given.limit = Amount(limit.parse().unwrap()),
            None => given.window = window(word),
        }
    }
    given
}

/// `-p P -u MEMBERS,-bob -m ANY --class batch`; one of the first three that is not there is that of
/// the conventions. `TOP/` is the project TOP with its descendants.
pub(super) fn constraints(text: &str) -> Vec<Constraint> {
    let words: Vec<&str> = text.split(' ').filter(|w| !w.is_empty()).collect();
    let of = |option: &str, usual: &'static str| {
        let given = words.iter().position(|w| *w == option);
        given.map_or(usual, |at| words[at + 1]).to_owned()
    };
    let lists = [
        (Dimension::Project, of("-p", "P")),
        (Dimension::User, of("-u", "MEMBERS")),
        (Dimension::Machine, of("-m", "ANY")),
    ];
    let further = words.windows(2).filter_map(|pair| {
        let name = pair[0].strip_prefix("--")?;
        Some((Dimension::parse(name).unwrap(), pair[1].to_owned()))
    });
    let lists = lists.into_iter().chain(further);
    let rows = lists.flat_map(|(dimension, list)| {
        let rows = list.split(',').map(|value| constraint(&dimension, value));
        rows.collect::<Vec<_>>()
    });
    rows.collect()
}

fn constraint(dimension: &Dimension, value: &str) -> Constraint {
    let (value, allow) = value
        .strip_prefix('-')
        .map_or((value, true), |v| (v, false));
    let (value, subtree) = value
        .strip_suffix('/')
        .map_or((value, false), |v| (v, true));
    Constraint {
        dimension: dimension.clone(),
        value: value.to_owned(),
        allow,
        subtree,
    }
}

/// `[s,e)`; an empty side is unbounded.
pub(crate) fn window(text: &str) -> Window {
    let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(')'));
    let (start, end) = inside.unwrap().split_once(',').unwrap();
    let side = |text: &str| (!text.is_empty()).then(|| time(text));
    Window {
        start: side(start),
        end: side(end),
    }
}

/// `T0`, `T0+5`, `T0-5`, `2026`, `2026-12-01` or RFC 3339.
pub(crate) fn time(text: &str) -> Timestamp {
    if let Some(rest) = text.strip_prefix("T0") {
        let seconds: i64 = if rest.is_empty() {
            0
        } else {
            rest.parse().unwrap()
        };
        return T0.plus(Seconds(seconds));
    }
    let full = match text.len() {
        4 => format!("{text}-01-01T00:00:00Z"),
        10 => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    Timestamp(bank_api::text::parse_rfc3339(&full).unwrap())
}

/// The same the other way round: seconds from T0 within a day of it, else a date or an instant.
pub(crate) fn show_time(at: Timestamp) -> String {
    match at.seconds() - T0.seconds() {
        0 => "T0".to_owned(),
        near @ -86_400..=86_400 => format!("T0{near:+}"),
        _ => {
            let full = bank_api::text::format_rfc3339(at.0);
            full.strip_suffix("T00:00:00Z").unwrap_or(&full).to_owned()
        }
    }
}

#[test]
fn the_notation_of_the_table_reads_and_shows_as_written() {
    for (text, shown) in [
        ("T0", "T0"),
        ("T0+4", "T0+4"),
        ("T0-2", "T0-2"),
        ("2030", "2030-01-01"),
        ("2026-12-01", "2026-12-01"),
        ("2026-06-02T09:00:00Z", "2026-06-02T09:00:00Z"),
    ] {
        assert_eq!(show_time(time(text)), shown);
    }
    let read = accounts("F{a=100 [2026,T0+4) L=5, b=7; -u MEMBERS,-bob -p TOP/}, G{}");
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].allocations[0].window.end, Some(time("T0+4")));
    assert_eq!(read[0].allocations[0].limit, Amount(5));
    assert_eq!(read[0].allocations[1].amount, Amount(7));
    let lists = read[0]
        .lists
        .iter()
        .map(|c| (c.value.as_str(), c.allow, c.subtree));
    let expected = [
        ("TOP", true, true),
        ("MEMBERS", true, false),
        ("bob", false, false),
        ("ANY", true, false),
    ];
    assert_eq!(lists.collect::<Vec<_>>(), expected);
    assert!(read[1].allocations.is_empty());
}

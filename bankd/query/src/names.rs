//! Names and words of queries that are right or wrong by themselves.

use bank_api::text::suggest;

use super::catalogue::Kind;
use super::{Mistake, PATTERN_MAX};

/// The options of queries.
pub(super) const OPTIONS: [&str; 6] = ["Show", "ShowHidden", "Time", "Unique", "Limit", "Offset"];
/// Those of Gold that mean nothing here, with what does.
const OPTIONS_OF_GOLD: [(&str, &str); 4] = [
    ("ShowUsage", "docs/reference/query.md lists every attribute"),
    ("UseRules", "AccountRule has the lists of who may spend"),
    ("IncludeAncestors", "Parent is the object above"),
    ("IncludeDescendants", "Parent is the object above"),
];
/// The operators of `Show`.
const OPERATORS: [&str; 8] = [
    "Sort", "Tros", "GroupBy", "Count", "Sum", "Average", "Max", "Min",
];

/// What sums values up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// How many there are.
    Count,
    /// Their sum.
    Sum,
    /// Their average.
    Average,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

impl Sum {
    pub(super) fn named(word: &str) -> Option<Sum> {
        match word {
            "Count" => Some(Sum::Count),
            "Sum" => Some(Sum::Sum),
            "Average" => Some(Sum::Average),
            "Max" => Some(Sum::Max),
            "Min" => Some(Sum::Min),
            _ => None,
        }
    }
}

/// Names that attributes had in earlier versions, with their object and their name today. `Charged` means
/// credits everywhere else.
const FORMER: [(&str, &str, &str); 1] = [("Job", "Charged", "BilledSeconds")];

/// The name of an attribute today, where it has another one than before.
pub(super) fn today<'n>(object: &str, name: &'n str) -> &'n str {
    let is = |(of, old, _): &&(&str, &str, &str)| *of == object && old.eq_ignore_ascii_case(name);
    FORMER.iter().find(is).map_or(name, |(_, _, new)| new)
}

/// The hint for a name that is none: the nearest one, and which there are.
pub(super) fn near(name: &str, all: &[&str], which: &str) -> String {
    let near = suggest(name, all).map(|near| format!("did you mean {near:?}? "));
    format!("{}{which} {}", near.unwrap_or_default(), all.join(", "))
}

/// An option that there is not, with what does instead.
pub(super) fn unknown_option(name: &str) -> Mistake {
    let gold = OPTIONS_OF_GOLD
        .iter()
        .find(|(o, _)| o.eq_ignore_ascii_case(name));
    let mistake = Mistake::new(format!("there is no option {name:?}"));
    match gold {
        Some((_, instead)) => mistake.hint(*instead),
        None => mistake.hint(near(name, &OPTIONS, "the options are")),
    }
}

/// An operator of `Show`.
pub(super) fn operator(name: &str) -> Result<&'static str, Mistake> {
    let found = OPERATORS.iter().find(|o| o.eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| {
        let what = format!("Show: there is no operator {name:?}");
        Mistake::new(what).hint(near(name, &OPERATORS, "the operators are"))
    })
}

/// Whether values of a kind can be summed up so.
pub(super) fn check_sum(sum: Sum, kind: Kind, operator: &str, name: &str) -> Result<(), Mistake> {
    let fits = match sum {
        Sum::Count => true,
        Sum::Sum | Sum::Average => kind.is_number(),
        Sum::Max | Sum::Min => kind != Kind::Flag,
    };
    if fits {
        return Ok(());
    }
    let what = format!("Show: {operator}({name}): {name} is a {}", kind.word());
    Err(Mistake::new(what).hint("Sum and Average are for numbers, Max and Min for all but flags"))
}

/// Whether a pattern is short enough.
pub(super) fn check_pattern(name: &str, pattern: &str) -> Result<(), Mistake> {
    let (longest, stars) = PATTERN_MAX;
    if pattern.chars().count() > longest || pattern.matches('*').count() > stars {
        let what = format!("{name}~ takes {longest} characters at most, and {stars} stars");
        return Err(Mistake::new(what));
    }
    Ok(())
}

/// True or false.
pub(super) fn flag(name: &str, text: &str) -> Result<bool, Mistake> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(Mistake::new(format!(
            "{name}: {text:?} is neither True nor False"
        ))),
    }
}

/// A whole number within bounds.
pub(super) fn within(name: &str, text: &str, least: usize, most: usize) -> Result<usize, Mistake> {
    let number = text.parse().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| {
        Mistake::new(format!(
            "{name}: {text:?} is not a number from {least} to {most}"
        ))
    })
}

//! The match between an instance and a value: exact, in a list or range, beyond a bound, or as the default
//! (ledger.md 3.1).

use crate::decimal::Decimal;

/// The closeness of a match; of several rates for one property the closest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The empty instance: the default where nothing else fits.
    Default,
    /// `<64`, `>64`, `<=64`, `>=64`.
    Bound,
    /// `1-64` with both ends, or one value of several.
    Range,
    /// This value alone.
    Exact,
}

/// The match between a name-based instance and a value: the name, or one of several separated by commas.
pub fn of_name(instance: &str, value: &str) -> Option<Fit> {
    if instance.is_empty() {
        return Some(Fit::Default);
    }
    if instance == value {
        return Some(Fit::Exact);
    }
    let mut listed = instance.split(',').map(str::trim);
    (instance.contains(',') && listed.any(|one| one == value)).then_some(Fit::Range)
}

/// The match between a value-based instance and a number: `16`, `1-64,128-256`, `<16`, `>1024`.
pub fn of_value(instance: &str, value: Decimal) -> Option<Fit> {
    if instance.is_empty() {
        return Some(Fit::Default);
    }
    let parts = instance.split(',').filter_map(Part::parse);
    parts.filter_map(|part| part.fit(value)).max()
}

/// Whether a value-based instance can be read.
pub fn is_expression(instance: &str) -> bool {
    instance.is_empty() || instance.split(',').all(|part| Part::parse(part).is_some())
}

/// One part of a value-based instance.
enum Part {
    Exact(Decimal),
    Range(Decimal, Decimal),
    Below(Decimal, bool),
    Above(Decimal, bool),
}

impl Part {
    fn parse(text: &str) -> Option<Part> {
        let text = text.trim();
        let number = |text: &str| Decimal::parse(text.trim()).filter(|d| !d.is_negative());
        let bound = |text: &str| match text.strip_prefix('=') {
            Some(rest) => number(rest).map(|n| (n, true)),
            None => number(text).map(|n| (n, false)),
        };
        if let Some(rest) = text.strip_prefix('<') {
            return bound(rest).map(|(n, with)| Part::Below(n, with));
        }
        if let Some(rest) = text.strip_prefix('>') {
            return bound(rest).map(|(n, with)| Part::Above(n, with));
        }
        match text.split_once('-') {
            Some((low, high)) => {
                let (low, high) = (number(low)?, number(high)?);
                (low <= high).then_some(Part::Range(low, high))
            }
            None => number(text).map(Part::Exact),
        }
    }

    fn fit(&self, value: Decimal) -> Option<Fit> {
        let (inside, fit) = match self {
            Part::Exact(n) => (value == *n, Fit::Exact),
            Part::Range(low, high) => (*low <= value && value <= *high, Fit::Range),
            Part::Below(n, with) => (value < *n || (*with && value == *n), Fit::Bound),
            Part::Above(n, with) => (value > *n || (*with && value == *n), Fit::Bound),
        };
        inside.then_some(fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_fits_what_it_describes() {
        let fit = |instance: &str, value: &str| of_value(instance, Decimal::parse(value).unwrap());
        for (instance, value, expected) in [
            ("", "5", Some(Fit::Default)),
            ("16", "16", Some(Fit::Exact)),
            ("16", "16.5", None),
            ("1-64,128-256", "64", Some(Fit::Range)),
            ("1-64,128-256", "100", None),
            ("1-64, 128-256", "128", Some(Fit::Range)),
            ("<16", "15.999999999", Some(Fit::Bound)),
            ("<16", "16", None),
            ("<=16", "16", Some(Fit::Bound)),
            (">16", "17", Some(Fit::Bound)),
            (">=16", "16", Some(Fit::Bound)),
            ("1-64,32", "32", Some(Fit::Exact)),
        ] {
            assert_eq!(fit(instance, value), expected, "{instance} {value}");
            assert!(is_expression(instance));
        }
        for bad in ["x", "5-", "-5", "64-1", "<", "1,,2", "<-1", "1e3"] {
            assert!(!is_expression(bad), "{bad}");
        }
    }

    #[test]
    fn a_name_is_alone_or_in_a_list() {
        for (instance, value, expected) in [
            ("", "x", Some(Fit::Default)),
            ("x", "x", Some(Fit::Exact)),
            ("x,y", "y", Some(Fit::Range)),
            ("x, y", "y", Some(Fit::Range)),
            ("x,y", "z", None),
            ("x,y", "x,y", Some(Fit::Exact)),
        ] {
            assert_eq!(of_name(instance, value), expected, "{instance} {value}");
        }
    }
}

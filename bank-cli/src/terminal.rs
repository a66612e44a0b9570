//! The terminal that the caller uses: its width and its characters.

use bank_picture::Terminal;

/// A terminal as wide as the variable `COLUMNS`, else `width`, else 80. The variables of the locale
/// decide whether it shows more than ASCII.
pub(crate) fn of(env: &dyn Fn(&str) -> Option<String>, width: Option<u16>) -> Terminal {
    let set = env("COLUMNS").and_then(|columns| columns.trim().parse().ok());
    let columns = set.or(width).map_or(80, usize::from).clamp(20, 1000);
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env(name));
    let locale = locale.unwrap_or_default().to_lowercase();
    Terminal {
        columns,
        unicode: locale.contains("utf-8") || locale.contains("utf8"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_and_locale_are_read_from_the_environment() {
        let none: fn(&str) -> Option<String> = |_| None;
        let plain = of(&none, None);
        assert_eq!((plain.columns, plain.unicode), (80, false));
        let named = |name: &str| match name {
            "COLUMNS" => Some("132".to_owned()),
            "LANG" => Some("de_DE.UTF-8".to_owned()),
            _ => None,
        };
        let wide = of(&named, Some(40));
        assert_eq!((wide.columns, wide.unicode), (132, true));
        let c = |name: &str| match name {
            "LC_ALL" => Some("C".to_owned()),
            "LANG" => Some("de_DE.UTF-8".to_owned()),
            "COLUMNS" => Some("wide".to_owned()),
            _ => None,
        };
        let narrow = of(&c, Some(3));
        assert_eq!((narrow.columns, narrow.unicode), (20, false));
    }
}

//! Words of a page that stay on one line: dates and times, and options of commands. Browsers break lines after a
//! hyphen, so each of them gets an element of its own, whichever part of the page wrote it.

/// Elements whose text stays as it is.
const KEPT: [&str; 7] = [
    "title", "option", "script", "style", "svg", "textarea", "pre",
];

/// A longer word is no option: a secret or a path, which a telephone breaks.
const OPTION_MAX: usize = 24;

/// The document with its dates and options in elements that the style sheet does not break.
pub(crate) fn unbroken(document: &str) -> String {
    let mut out = String::with_capacity(document.len().saturating_add(1024));
    let mut rest = document;
    let mut is_code = false;
    while let Some((text, tail)) = rest.split_once('<') {
        written(&mut out, text, is_code);
        out.push('<');
        let (tag, behind) = tail.split_once('>').unwrap_or((tail, ""));
        out.push_str(tag);
        if tail.len() > tag.len() {
            out.push('>');
        }
        rest = behind;
        match tag {
            "code" => is_code = true,
            "/code" => is_code = false,
            _ => {}
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        if KEPT.contains(&name) && !tag.ends_with('/') {
            let (kept, behind) = element(rest, name);
            out.push_str(kept);
            rest = behind;
        }
    }
    written(&mut out, rest, is_code);
    out
}

/// The text up to the end of an element that has begun, and what follows. An element may contain others of its name.
fn element<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let (opening, closing) = (format!("<{name}"), format!("</{name}"));
    let mut from = 0;
    loop {
        let behind = text.get(from..).unwrap_or_default();
        let Some(end) = behind.find(&closing) else {
            return (text, "");
        };
        let inner = behind.get(..end).and_then(|part| part.find(&opening));
        let Some(inner) = inner else {
            return text.split_at(from.saturating_add(end));
        };
        // One that is inside ends first.
        let inside = from.saturating_add(inner).saturating_add(opening.len());
        let (own, _) = element(text.get(inside..).unwrap_or_default(), name);
        from = inside
            .saturating_add(own.len())
            .saturating_add(closing.len());
    }
}

/// A text between two tags.
fn written(out: &mut String, text: &str, is_code: bool) {
    if is_code {
        for word in text.split_inclusive(' ') {
            let own = word.trim_end_matches(' ');
            if own.contains('-') && own.len() <= OPTION_MAX {
                out.push_str("<span class=\"whole\">");
                out.push_str(own);
                out.push_str("</span>");
                out.push_str(word.get(own.len()..).unwrap_or_default());
            } else {
                out.push_str(word);
            }
        }
        return;
    }
    let mut rest = text;
    let mut is_start = true;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let is_apart = before.chars().next_back().map_or(is_start, is_edge);
        let length = date(tail).filter(|_| is_apart);
        let length = length.unwrap_or_else(|| digits(tail));
        let (own, behind) = tail.split_at(length);
        let is_date = own.contains('-');
        if is_date {
            out.push_str("<time>");
        }
        out.push_str(own);
        if is_date {
            out.push_str("</time>");
        }
        rest = behind;
        is_start = false;
    }
    out.push_str(rest);
}

/// Whether a date may begin behind a character.
fn is_edge(before: char) -> bool {
    !before.is_alphanumeric() && !"-_./:+".contains(before)
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The length of a date with its time at the start of a text: `2026-10`, `2026-10-01`, `2026-10-01 14:03`.
fn date(text: &str) -> Option<usize> {
    let fits = |form: &str| {
        let own = text.as_bytes().get(..form.len())?;
        let same = own.iter().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => *byte == form,
        });
        let next = text.get(form.len()..)?.chars().next();
        let ends = next.is_none_or(|next| !next.is_alphanumeric() && next != '-');
        (same && ends).then_some(form.len())
    };
    let forms = [
        "0000-00-00T00:00:00Z",
        "0000-00-00 00:00:00",
        "0000-00-00 00:00",
        "0000-00-00",
        "0000-00",
    ];
    forms.into_iter().find_map(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_options_stay_whole() {
        for (text, expected) in [
            ("<p>2026-10-01</p>", "<p><time>2026-10-01</time></p>"),
            (
                "<h2>From 2026-10 to 2026-10-31 14:03 (exclusive)</h2>",
                "<h2>From <time>2026-10</time> to <time>2026-10-31 14:03</time> (exclusive)</h2>",
            ),
            ("job-2026-10-01 x", "job-2026-10-01 x"),
            ("0807-70c6-be53 12-34", "0807-70c6-be53 12-34"),
            (
                "<a title=\"2026-10-01\">é</a>",
                "<a title=\"2026-10-01\">é</a>",
            ),
            (
                "<svg><svg>2026-10</svg>2026-10</svg>2026-10",
                "<svg><svg>2026-10</svg>2026-10</svg><time>2026-10</time>",
            ),
            (
                "<code>bankd verify --public-key KEY</code>",
                "<code>bankd verify <span class=\"whole\">--public-key</span> KEY</code>",
            ),
            (
                "<option>2026-10</option>1,234.50",
                "<option>2026-10</option>1,234.50",
            ),
            (
                "<code>bk_0123456789-0123456789-0123</code>",
                "<code>bk_0123456789-0123456789-0123</code>",
            ),
            ("a < b 2026", "a < b 2026"),
        ] {
            assert_eq!(unbroken(text), expected);
        }
    }
}

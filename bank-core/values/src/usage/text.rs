//! The priced usage as one line of text, kept with a charge so that its arithmetic can be shown again.

use super::{IdleTime, Usage};
use crate::decimal::Decimal;
use crate::exact::Fraction;
use crate::time::Timestamp;

/// Between two properties.
const BETWEEN: char = '\u{1f}';
/// Before the letter that replaces one of [`MARKS`]. Names and values may hold any character.
const ESCAPE: char = '\u{1b}';
/// Characters with a meaning in the text, and the letters that replace them. The equals sign has one in a
/// name only.
const MARKS: [(char, char); 3] = [(BETWEEN, 'b'), (ESCAPE, 'e'), ('=', 'i')];

/// Everything but the processors, which have a separate column; empty for none.
pub fn write(usage: &Usage) -> String {
    let mut text = String::with_capacity(96);
    let numbers = [
        ('n', usage.nodes),
        ('m', usage.memory_mb),
        ('d', usage.disk_mb),
    ];
    for (tag, value) in numbers {
        if let Some(value) = value {
            begin(&mut text, tag, "");
            value.push_to(&mut text);
        }
    }
    if let Some(counted) = usage.counted {
        add(&mut text, 'p', "", &counted.to_string());
    }
    if let Some(idle) = usage.idle {
        add(&mut text, 'i', "", &idle_text(&idle));
    }
    for (tag, value) in [('q', &usage.qos), ('c', &usage.class)] {
        if let Some(value) = value {
            add(&mut text, tag, "", value);
        }
    }
    for (name, value) in &usage.gres {
        begin(&mut text, 'g', name);
        value.push_to(&mut text);
    }
    for (name, value) in &usage.attributes {
        add(&mut text, 'a', name, value);
    }
    text
}

/// Idle processor-seconds, in billionths, with the start and the end of their time, in microseconds, if they have one.
fn idle_text(idle: &IdleTime) -> String {
    let seconds = idle.processor_seconds;
    match idle.span {
        Some((start, end)) => format!("{seconds},{},{}", start.0, end.0),
        None => seconds.to_string(),
    }
}

/// Reads what [`idle_text`] wrote.
fn idle(text: &str) -> Option<IdleTime> {
    let mut parts = text.split(',');
    let processor_seconds = parts.next()?.parse().ok()?;
    let mut instants = parts.map(|part| part.parse().ok().map(Timestamp));
    let span = match (instants.next(), instants.next(), instants.next()) {
        (None, ..) => None,
        (Some(start), Some(end), None) => Some((start?, end?)),
        _ => return None,
    };
    Some(IdleTime {
        processor_seconds,
        span,
    })
}

/// The tag and name of a property.
fn begin(text: &mut String, tag: char, name: &str) {
    if !text.is_empty() {
        text.push(BETWEEN);
    }
    text.push(tag);
    push(text, name, &MARKS);
    text.push('=');
}

/// A property that is text.
fn add(text: &mut String, tag: char, name: &str, value: &str) {
    begin(text, tag, name);
    push(text, value, MARKS.get(..2).unwrap_or_default());
}

/// Appends text, with a letter in place of each mark.
fn push(text: &mut String, plain: &str, marks: &[(char, char)]) {
    let letter = |c: char| marks.iter().find(|(mark, _)| *mark == c);
    if !plain.chars().any(|c| letter(c).is_some()) {
        text.push_str(plain);
        return;
    }
    for c in plain.chars() {
        match letter(c) {
            Some((_, letter)) => text.extend([ESCAPE, *letter]),
            None => text.push(c),
        }
    }
}

/// Reads text that [`push`] wrote. Any other escape comes from a text that is older than the escapes.
fn plain(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        let mark = |letter: char| MARKS.iter().find(|(_, own)| *own == letter);
        match letters.clone().next().and_then(mark) {
            Some((mark, _)) if c == ESCAPE => {
                read.push(*mark);
                letters.next();
            }
            _ => read.push(c),
        }
    }
    read
}

/// Reads what [`write()`] wrote; none where it is no such text.
pub fn read(text: &str, processors: Option<Decimal>) -> Option<Usage> {
    let mut usage = Usage {
        processors,
        ..Usage::default()
    };
    for part in text.split(BETWEEN).filter(|part| !part.is_empty()) {
        // A number holds no equals sign; names of before may.
        let (name, value) = match part.strip_prefix('g') {
            Some(_) => part.rsplit_once('=')?,
            None => part.split_once('=')?,
        };
        let number = || Decimal::read(value);
        let tag = name.chars().next()?;
        let name = plain(name.get(tag.len_utf8()..)?);
        match tag {
            'n' => usage.nodes = Some(number()?),
            'm' => usage.memory_mb = Some(number()?),
            'd' => usage.disk_mb = Some(number()?),
            'p' => usage.counted = Some(Fraction::parse(value)?),
            'i' => usage.idle = Some(idle(value)?),
            'q' => usage.qos = Some(plain(value)),
            'c' => usage.class = Some(plain(value)),
            'g' => usage.gres.push((name, number()?)),
            'a' => usage.attributes.push((name, plain(value))),
            _ => return None,
        }
    }
    Some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Names and values with every character that means something in the text.
    fn any_text() -> impl Strategy<Value = String> {
        let letters = "[a-z0-9=:/+ \u{1f}\u{1b}\u{e9}\u{fffd}\n\\-bei]{0,12}";
        prop_oneof![letters, any::<String>()]
    }

    fn number() -> impl Strategy<Value = Decimal> {
        prop_oneof![
            any::<i64>().prop_map(|n| Decimal::from_billionths(n.into())),
            (0_i64..1_000_000).prop_map(Decimal::whole),
        ]
    }

    fn any_usage() -> impl Strategy<Value = Usage> {
        let maybe = || prop::option::of(number());
        let named = prop::collection::vec((any_text(), number()), 0..4);
        let texts = prop::collection::vec((any_text(), any_text()), 0..4);
        let counted = (any::<i64>(), 1_i64..1_000_000);
        (
            (maybe(), maybe(), maybe(), maybe()),
            (named, texts),
            prop::option::of(any_text()),
            prop::option::of(any_text()),
            prop::option::of(counted),
            prop::option::of(any_idle()),
        )
            .prop_map(
                |(numbers, (gres, attributes), qos, class, counted, idle)| Usage {
                    processors: numbers.0,
                    nodes: numbers.1,
                    memory_mb: numbers.2,
                    disk_mb: numbers.3,
                    gres,
                    qos,
                    class,
                    attributes,
                    counted: counted.and_then(|(n, d)| Fraction::new(n.into(), d.into())),
                    idle,
                },
            )
    }

    fn any_idle() -> impl Strategy<Value = IdleTime> {
        let span = (any::<i64>(), any::<i64>());
        let span = span.prop_map(|(start, end)| (Timestamp(start), Timestamp(end)));
        (any::<i128>(), prop::option::of(span)).prop_map(|(processor_seconds, span)| IdleTime {
            processor_seconds,
            span,
        })
    }

    proptest! {
        #[test]
        fn every_usage_reads_back(usage in any_usage()) {
            let text = write(&usage);
            prop_assert_eq!(read(&text, usage.processors), Some(usage), "{}", text);
        }

        #[test]
        fn no_text_is_read_with_a_panic(text in any_text()) {
            let _ = read(&text, None);
        }
    }

    /// Texts from before names could contain every character.
    #[test]
    fn texts_of_before_read_as_before() {
        let text = "n2\u{1f}gbad=1";
        assert_eq!(read(text, None), None);
        let text = "n=2\u{1f}q=hi\u{1b}gh=x\u{1f}ggpu=4\u{1f}gpu=x=2\u{1f}aZone=a=b c";
        let usage = read(text, None).unwrap();
        let gres = [("gpu", 4), ("pu=x", 2)].map(|(n, v)| (n.to_owned(), Decimal::whole(v)));
        assert_eq!(usage.gres, gres);
        assert_eq!(usage.qos.as_deref(), Some("hi\u{1b}gh=x"));
        assert_eq!(usage.attributes, [("Zone".to_owned(), "a=b c".to_owned())]);
    }

    #[test]
    fn what_was_priced_reads_back() {
        let full = Usage {
            processors: Some(Decimal::whole(16)),
            nodes: Some(Decimal::whole(2)),
            memory_mb: Decimal::parse("0.5"),
            disk_mb: None,
            gres: vec![("gpu".into(), Decimal::whole(4))],
            qos: Some("high".into()),
            class: Some(String::new()),
            attributes: vec![("Zone".into(), "a=b c".into())],
            counted: Fraction::new(100, 3),
            idle: Some(IdleTime {
                processor_seconds: -7_200_000_000_000,
                span: None,
            }),
        };
        let text = write(&full);
        assert_eq!(read(&text, full.processors), Some(full));
        let plain = Usage {
            processors: Some(Decimal::whole(1)),
            ..Usage::default()
        };
        assert_eq!(write(&plain), "");
        assert_eq!(read("", plain.processors), Some(plain));
        assert_eq!(read("x1=2", None), None);
    }
}

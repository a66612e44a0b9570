//! What was priced as one line of text, kept with a charge so that its arithmetic can be shown
//! again.

use super::Usage;
use crate::decimal::Decimal;
use crate::exact::Fraction;

/// Between two properties; no document holds it.
const BETWEEN: char = '\u{1f}';

/// Everything but the processors, which have a column of their own; empty for nothing.
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

/// The tag and name of a property.
fn begin(text: &mut String, tag: char, name: &str) {
    if !text.is_empty() {
        text.push(BETWEEN);
    }
    text.push(tag);
    text.push_str(name);
    text.push('=');
}

/// A property that is text: nothing of it is taken for the end of it.
fn add(text: &mut String, tag: char, name: &str, value: &str) {
    begin(text, tag, name);
    if value.contains(BETWEEN) {
        text.extend(value.chars().filter(|c| *c != BETWEEN));
    } else {
        text.push_str(value);
    }
}

/// Reads what [`write()`] wrote; none where it is no such text.
pub fn read(text: &str, processors: Option<Decimal>) -> Option<Usage> {
    let mut usage = Usage {
        processors,
        ..Usage::default()
    };
    for part in text.split(BETWEEN).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let number = || Decimal::read(value);
        let tag = name.chars().next()?;
        let name = name.get(tag.len_utf8()..)?.to_owned();
        match tag {
            'n' => usage.nodes = Some(number()?),
            'm' => usage.memory_mb = Some(number()?),
            'd' => usage.disk_mb = Some(number()?),
            'p' => usage.counted = Some(Fraction::parse(value)?),
            'q' => usage.qos = Some(value.to_owned()),
            'c' => usage.class = Some(value.to_owned()),
            'g' => usage.gres.push((name, number()?)),
            'a' => usage.attributes.push((name, value.to_owned())),
            _ => return None,
        }
    }
    Some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

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

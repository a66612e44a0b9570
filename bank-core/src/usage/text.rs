//! What was priced as one line of text, kept with a charge so that its arithmetic can be shown
//! again.

use super::Usage;
use crate::decimal::Decimal;
use crate::exact::Fraction;

/// Between two properties; no document holds it.
const BETWEEN: char = '\u{1f}';

/// Everything but the processors, which have a column of their own; empty for nothing.
pub fn write(usage: &Usage) -> String {
    let mut text = String::new();
    let mut add = |tag: char, name: &str, value: &str| {
        if !text.is_empty() {
            text.push(BETWEEN);
        }
        text.push(tag);
        text.push_str(name);
        text.push('=');
        text.extend(value.chars().filter(|c| *c != BETWEEN));
    };
    let numbers = [
        ('n', usage.nodes),
        ('m', usage.memory_mb),
        ('d', usage.disk_mb),
    ];
    for (tag, value) in numbers {
        if let Some(value) = value {
            add(tag, "", &value.to_string());
        }
    }
    if let Some(counted) = usage.counted {
        add('p', "", &counted.to_string());
    }
    for (tag, value) in [('q', &usage.qos), ('c', &usage.class)] {
        if let Some(value) = value {
            add(tag, "", value);
        }
    }
    for (name, value) in &usage.gres {
        add('g', name, &value.to_string());
    }
    for (name, value) in &usage.attributes {
        add('a', name, value);
    }
    text
}

/// Reads what [`write()`] wrote; none where it is no such text.
pub fn read(text: &str, processors: Option<Decimal>) -> Option<Usage> {
    let mut usage = Usage {
        processors,
        ..Usage::default()
    };
    for part in text.split(BETWEEN).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let number = || Decimal::parse(value);
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

//! Finds the objects of a document, as a best effort: enough to keep the documents of one object in
//! their order. A misread document is at worst sent sooner or later than necessary.
//!
//! Also finds how long the same bytes are a repeat: only if the document states times that allow no
//! second charge. The daemon alone interprets the document.

/// Most objects looked for; the daemon reads no more elements than that (`nami.md` 3.2).
const MAX_OBJECTS: usize = 2000;

/// The ids of a document's objects, in the order found, each once. Empty if there is none.
pub(crate) fn object_ids(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body);
    let mut found = Found::default();
    for element in (Elements { rest: &text }) {
        if found.strong.len() + found.weak.len() >= MAX_OBJECTS {
            break;
        }
        found.offer(element.name, element.value);
        if is_root(element.name) {
            read_attributes(element.attributes, &mut found);
        }
    }
    if found.strong.is_empty() {
        found.weak
    } else {
        found.strong
    }
}

/// A tag of a document, with the text behind it. Comments are passed over.
struct Element<'a> {
    name: &'a str,
    attributes: &'a str,
    value: &'a str,
}

/// The tags of a document, in order.
struct Elements<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        loop {
            let (_, tag) = self.rest.split_once('<')?;
            if let Some(comment) = tag.strip_prefix("!--") {
                self.rest = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            let (inside, after) = split_tag(tag);
            let is_end = |c: char| c.is_whitespace() || c == '/';
            let (name, attributes) = inside.split_at(inside.find(is_end).unwrap_or(inside.len()));
            self.rest = after;
            let value = after.split('<').next().unwrap_or_default();
            return Some(Element {
                name,
                attributes,
                value,
            });
        }
    }
}

/// How long the same charge is a repeat, in seconds; none if it may be a new charge. A document of one
/// object without any time is never a repeat: the scheduler sends the same bytes for each interval. If
/// the use is over, it is a repeat for the whole flush interval. If the document states another time, it
/// is a repeat for three quarters of the time that it charges: the next charge of that length is later.
pub(crate) fn repeat_seconds(
    body: &[u8],
    ends: bool,
    time_us: i64,
    interval_s: i64,
) -> Option<i64> {
    let text = String::from_utf8_lossy(body);
    let [_] = object_ids(body).as_slice() else {
        return None;
    };
    let times = Times::of(&text)?;
    let is_over = times.end.is_some_and(|end| end <= time_us / 1_000_000);
    if is_over || (ends && times.is_named) {
        return Some(interval_s);
    }
    let charged = times.charged.filter(|_| times.is_named)?;
    Some(charged.min(interval_s) * 3 / 4).filter(|seconds| *seconds > 0)
}

/// The times of a document of one object.
#[derive(Default)]
struct Times {
    is_named: bool,
    end: Option<i64>,
    charged: Option<i64>,
}

impl Times {
    /// None if a field occurs twice with different values, or cannot be read.
    fn of(text: &str) -> Option<Times> {
        let mut times = Times::default();
        for element in (Elements { rest: text }) {
            times.offer(element.name, element.value)?;
            if is_root(element.name) {
                let mut found = Vec::new();
                each_attribute(element.attributes, |name, value| {
                    found.push((name.to_owned(), value.to_owned()));
                });
                for (name, value) in found {
                    times.offer(&name, &value)?;
                }
            }
        }
        Some(times)
    }

    fn offer(&mut self, name: &str, value: &str) -> Option<()> {
        let value = value.trim();
        if value.is_empty() {
            return Some(());
        }
        let place = match plain(name).as_str() {
            "starttime" | "submittime" => {
                self.is_named = true;
                return Some(());
            }
            "endtime" | "completiontime" | "completion" => &mut self.end,
            "chargeduration" | "chargetime" => &mut self.charged,
            _ => return Some(()),
        };
        let number = seconds(value)?;
        if place.is_some_and(|known| known != number) {
            return None;
        }
        *place = Some(number);
        self.is_named |= self.end.is_some();
        Some(())
    }
}

/// Seconds, also as `[[DD:]HH:]MM:]SS`.
fn seconds(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text
        .split(':')
        .map(|part| part.parse().ok().filter(|number| *number >= 0))
        .collect::<Option<_>>()?;
    let sizes = [1_i64, 60, 3600, 86_400];
    if parts.len() > sizes.len() {
        return None;
    }
    let mut scaled = parts.iter().rev().zip(sizes);
    scaled.try_fold(0_i64, |sum, (part, size)| {
        sum.checked_add(part.checked_mul(size)?)
    })
}

/// Ids under the names that can only be ids, and under those that could be something else too.
#[derive(Default)]
struct Found {
    strong: Vec<String>,
    weak: Vec<String>,
}

impl Found {
    fn offer(&mut self, name: &str, value: &str) {
        let list = match plain(name).as_str() {
            "objectid" | "jobid" | "reservationid" | "rsvid" => &mut self.strong,
            "id" | "name" => &mut self.weak,
            _ => return,
        };
        let value = value.trim();
        if !value.is_empty() && value.len() <= 1024 && !list.iter().any(|known| known == value) {
            list.push(value.to_owned());
        }
    }
}

/// A name without prefix, case, `_` and `-` (`nami.md` 3.1).
fn plain(name: &str) -> String {
    let local = name.rsplit(':').next().unwrap_or(name);
    if local.len() > 32 {
        return String::new();
    }
    local
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

fn is_root(name: &str) -> bool {
    matches!(plain(name).as_str(), "job" | "reservation" | "rsv")
}

/// The inside of a tag and the text after it; a `>` between quotes does not end it.
fn split_tag(tag: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => {
                let (inside, after) = tag.split_at(at);
                return (inside, after.get(1..).unwrap_or_default());
            }
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    (tag, "")
}

fn read_attributes(attributes: &str, found: &mut Found) {
    each_attribute(attributes, |name, value| found.offer(name, value));
}

fn each_attribute(mut attributes: &str, mut see: impl FnMut(&str, &str)) {
    while let Some((name, rest)) = attributes.split_once('=') {
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return;
        };
        let Some((value, after)) = rest.get(1..).and_then(|rest| rest.split_once(quote)) else {
            return;
        };
        see(name.trim(), value);
        attributes = after;
    }
}

/// A short fixed name for an id (FNV-1a, 64 bits); two ids with the same only wait for each other.
pub(crate) fn tag_of(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for (body, expected) in [
            (
                "<Job><ObjectID>Moab.1024</ObjectID><User>amy</User></Job>",
                vec!["Moab.1024"],
            ),
            ("<job><object_id> a b </object_id></job>", vec!["a b"]),
            (
                "<Job><JobID>1</JobID></Job><Rsv><RsvID>2</RsvID></Rsv>",
                vec!["1", "2"],
            ),
            ("<Data><Job><Id>1</Id></Job></Data>", vec!["1"]),
            ("<Job><Name>x</Name><ObjectID>1</ObjectID></Job>", vec!["1"]),
            ("<Job ObjectID=\"a&gt;b\" User='amy'/>", vec!["a&gt;b"]),
            ("<Job note='>' Job-Id='7'></Job>", vec!["7"]),
            ("<Job><Var name=\"BILLTID\">q1</Var></Job>", vec![]),
            (
                "<!-- <ObjectID>no</ObjectID> --><Job><ObjectID>yes</ObjectID></Job>",
                vec!["yes"],
            ),
            ("<Job><ObjectID/></Job>", vec![]),
            (
                "<Job><ObjectID>1</ObjectID><ObjectID>1</ObjectID></Job>",
                vec!["1"],
            ),
            ("<Job", vec![]),
            ("<Job ObjectID=", vec![]),
            ("<", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(object_ids(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(
            object_ids(b"<Job><ObjectID>\xff</ObjectID></Job>"),
            ["\u{fffd}"]
        );
    }

    #[test]
    fn repeats_are_bounded_by_the_times_of_the_document() {
        let charge = "<ChargeDuration>600</ChargeDuration>";
        let start = "<StartTime>900</StartTime>";
        for (more, ends, expected) in [
            (charge.to_owned(), false, None),
            (charge.to_owned(), true, None),
            (format!("{charge}{start}"), false, Some(450)),
            (format!("{charge}{start}"), true, Some(3600)),
            (start.to_owned(), false, None),
            // A future end is a plan: the next charge may have the same bytes.
            (format!("{charge}<EndTime>2000</EndTime>"), false, Some(450)),
            (
                format!("{charge}<EndTime>1000</EndTime>"),
                false,
                Some(3600),
            ),
            (
                format!("{charge}<Completion>999</Completion>"),
                false,
                Some(3600),
            ),
            (
                format!("{charge}<SubmitTime>1</SubmitTime>"),
                false,
                Some(450),
            ),
            (
                format!("{start}<ChargeTime>02:00:00</ChargeTime>"),
                false,
                Some(2700),
            ),
            (format!("{charge}{charge}{start}"), false, Some(450)),
            (
                format!("{charge}<ChargeTime>7</ChargeTime>{start}"),
                false,
                None,
            ),
            (
                format!("{start}<ChargeDuration>x</ChargeDuration>"),
                true,
                None,
            ),
            (
                format!("{start}<ChargeDuration>0</ChargeDuration>"),
                false,
                None,
            ),
            (format!("{start}<JobID>2</JobID>"), true, None),
            ("<EndTime/>".to_owned(), true, None),
        ] {
            let body = format!("<Job><ObjectID>1</ObjectID>{more}</Job>");
            let seconds = repeat_seconds(body.as_bytes(), ends, 1_000_000_000, 3600);
            assert_eq!(seconds, expected, "{more} {ends}");
        }
        let attributes = b"<Job ObjectID='1' StartTime='900' ChargeDuration='600'/>";
        assert_eq!(
            repeat_seconds(attributes, false, 1_000_000_000, 3600),
            Some(450)
        );
    }

    #[test]
    fn hostile_bodies_are_bounded() {
        let deep = "<a>".repeat(300_000);
        assert_eq!(object_ids(deep.as_bytes()), [] as [&str; 0]);
        let many: Vec<String> = (0..5000).map(|n| format!("<Id>{n}</Id>")).collect();
        assert_eq!(object_ids(many.concat().as_bytes()).len(), MAX_OBJECTS);
    }

    #[test]
    fn tags_are_those_of_fnv_1a() {
        assert_eq!(tag_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(tag_of("a"), 0xaf63_dc4c_8601_ec8c);
    }
}

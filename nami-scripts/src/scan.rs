//! Which objects a document is about, as a best effort: enough to keep the documents of one object
//! in their order. It decides nothing else, so a document that it misreads is at worst sent sooner
//! or later than it might have been; what the document says is for the daemon.

/// Most objects looked for; the daemon reads no more elements than that (`nami.md` 3.2).
const MAX_OBJECTS: usize = 2000;

/// The ids of a document's objects, in the order found, each once. Empty if there is none.
pub(crate) fn object_ids(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body);
    let mut found = Found::default();
    let mut rest: &str = &text;
    while let Some((_, tag)) = rest.split_once('<') {
        if found.strong.len() + found.weak.len() >= MAX_OBJECTS {
            break;
        }
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let (inside, after) = split_tag(tag);
        let name_end = inside
            .find(|c: char| c.is_whitespace() || c == '/')
            .unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(name_end);
        rest = after;
        let value = after.split('<').next().unwrap_or_default();
        found.offer(name, value);
        if is_root(name) {
            read_attributes(attributes, &mut found);
        }
    }
    if found.strong.is_empty() {
        found.weak
    } else {
        found.strong
    }
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

/// The inside of a tag and what follows it; a `>` between quotes does not end it.
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

fn read_attributes(mut attributes: &str, found: &mut Found) {
    while let Some((name, rest)) = attributes.split_once('=') {
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return;
        };
        let Some((value, after)) = rest.get(1..).and_then(|rest| rest.split_once(quote)) else {
            return;
        };
        found.offer(name.trim(), value);
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

//! The content of a message in any spelling (`gold-wire.md` 3). The names are those of that document. Order
//! and white space are ignored, and so are unknown elements.

use bank_core::time::Timestamp;

use super::Fault;
use super::xml::Element;

/// Conditions and attributes of one query at most: each costs something for every row.
const PARTS_MAX: usize = 64;

/// A request for one action on one kind of object; a query may join several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) action: String,
    pub(super) object: String,
    /// The objects that a query joins with the first one.
    pub(super) others: Vec<String>,
    /// Names and values of the one object in `Data`, or of `Set`.
    pub(super) fields: Vec<(String, String)>,
    /// Names and values of `Option`.
    pub(super) options: Vec<(String, String)>,
    pub(super) conditions: Vec<Condition>,
    /// The attributes asked for; empty for all that are usual.
    pub(super) wanted: Vec<Wanted>,
}

/// `<Where conj="CONJ" group="GROUP" object="OBJECT" name="NAME" op="OP" subject="SUBJECT">VALUE</Where>`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Condition {
    /// Joined to the condition before it by or; else by and.
    pub(super) or: bool,
    pub(super) negates: bool,
    pub(super) opens: usize,
    pub(super) closes: usize,
    /// The object of the attribute, where the query has several.
    pub(super) object: Option<String>,
    pub(super) name: String,
    pub(super) op: String,
    /// With a subject, the value is the name of an attribute of that object.
    pub(super) subject: Option<String>,
    pub(super) value: String,
}

/// `<Get object="OBJECT" name="NAME" op="OP" alias="ALIAS"></Get>`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) object: Option<String>,
    pub(super) name: String,
    /// `Sort`, `Tros`, `GroupBy`, `Count`, Sum, Average, Max or Min; empty for none.
    pub(super) op: String,
    /// The name of the element in the answer.
    pub(super) alias: Option<String>,
}

/// The actions on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Hold its estimated cost.
    Reserve,
    /// Charge its usage.
    Charge,
    /// Return its estimated cost.
    Quote,
}

impl Verb {
    /// The action of a request.
    pub(super) fn word(self) -> &'static str {
        match self {
            Verb::Reserve => "Reserve",
            Verb::Charge => "Charge",
            Verb::Quote => "Quote",
        }
    }
}

impl Call {
    /// Reads a body.
    pub(super) fn of(body: &Element) -> Result<Call, Fault> {
        if body.name != "Body" {
            return Err(Fault::new("bad_document", "the root is not a Body"));
        }
        let request = only(body.all("Request"), "Request")?;
        let request = request.ok_or_else(|| missing("Request"))?;
        let mut objects = request.all("Object").map(Element::value);
        let object = objects.next().or_else(|| request.attribute("object"));
        let others: Vec<String> = objects.map(str::to_owned).collect();
        let checked = |value: Option<&str>, name| match value {
            None | Some("") => Err(missing(name)),
            Some(value) => Ok(value.to_owned()),
        };
        let mut call = Call {
            action: checked(request.attribute("action"), "action")?,
            object: checked(object, "Object")?,
            others,
            ..Call::default()
        };
        if call.action != "Query" && !call.others.is_empty() {
            return Err(unsupported("more than one Object"));
        }
        call.read_fields(request)?;
        call.check_fields()?;
        let parts = request.all("Where").chain(request.all("Get"));
        if parts.chain(request.all("Option")).count() > PARTS_MAX {
            let what = format!("more than {PARTS_MAX} Where, Get and Option");
            return Err(unsupported(&what));
        }
        for place in request.all("Option") {
            let name = named(place)?;
            let value = match place.attribute("op").unwrap_or_default() {
                "" => place.value().to_owned(),
                // A name that a list of a new account excludes.
                "Not" if call.action == "Create" => format!("-{}", place.value()),
                _ => return Err(unsupported("Option with op")),
            };
            call.options.push((name, value));
        }
        for place in request.all("Where") {
            call.conditions.push(Condition::of(place)?);
        }
        for place in request.all("Get") {
            call.wanted.push(Wanted {
                object: given(place, "object"),
                name: named(place)?,
                op: place.attribute("op").unwrap_or_default().to_owned(),
                alias: given(place, "alias"),
            });
        }
        Ok(call)
    }

    /// The value of an option.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Refuses a field that a change has twice: only one of the values could count. Actions on jobs check their
    /// own fields.
    fn check_fields(&self) -> Result<(), Fault> {
        if !["Create", "Modify"].contains(&self.action.as_str()) {
            return Ok(());
        }
        let mut seen: Vec<&str> = Vec::new();
        for (name, _) in &self.fields {
            if seen.contains(&name.as_str()) {
                let message = format!("Set {} given twice", plain(name));
                return Err(Fault::new("bad_value", message));
            }
            seen.push(name);
        }
        Ok(())
    }

    fn read_fields(&mut self, request: &Element) -> Result<(), Fault> {
        let data = only(request.all("Data"), "Data")?;
        let objects = data.map_or(&[][..], |data| data.children.as_slice());
        if objects.len() > 1 {
            return Err(unsupported("more than one object in Data"));
        }
        for object in objects {
            if object.name != self.object {
                return Err(unsupported("an object in Data of another kind than Object"));
            }
            for field in &object.children {
                if !field.children.is_empty() {
                    let message = format!("{} holds elements", plain(&field.name));
                    return Err(Fault::new("bad_value", message));
                }
                let value = field.value().to_owned();
                self.fields.push((field.name.clone(), value));
            }
        }
        for place in request.all("Set") {
            if !matches!(place.attribute("op").unwrap_or_default(), "" | "Assign") {
                return Err(unsupported("Set with op"));
            }
            self.fields.push((named(place)?, place.value().to_owned()));
        }
        Ok(())
    }
}

impl Condition {
    fn of(place: &Element) -> Result<Condition, Fault> {
        let (or, negates) = match place.attribute("conj").unwrap_or_default() {
            "" | "And" | "and" => (false, false),
            "Or" | "or" => (true, false),
            "AndNot" => (false, true),
            "OrNot" => (true, true),
            _ => return Err(unsupported("Where with this conj")),
        };
        let groups = ["groups", "group"]
            .iter()
            .find_map(|name| place.attribute(name));
        let groups = groups.filter(|text| !text.is_empty()).unwrap_or("0");
        let groups: i16 = groups
            .trim_start_matches('+')
            .parse()
            .map_err(|_| unsupported("Where with this group"))?;
        Ok(Condition {
            or,
            negates,
            opens: usize::try_from(groups).unwrap_or(0),
            closes: usize::try_from(groups.saturating_neg()).unwrap_or(0),
            object: given(place, "object"),
            name: named(place)?,
            op: place.attribute("op").unwrap_or_default().to_owned(),
            subject: given(place, "subject"),
            value: place.value().to_owned(),
        })
    }
}

/// An attribute that is there and not empty.
fn given(place: &Element, name: &str) -> Option<String> {
    let value = place.attribute(name).filter(|value| !value.is_empty());
    value.map(str::to_owned)
}

/// The attribute `name` of an element that cannot do without it.
fn named(place: &Element) -> Result<String, Fault> {
    match place.attribute("name") {
        None | Some("") => Err(missing(&format!("name of {}", place.name))),
        Some(name) => Ok(name.to_owned()),
    }
}

fn only<'a>(
    mut all: impl Iterator<Item = &'a Element>,
    name: &str,
) -> Result<Option<&'a Element>, Fault> {
    let first = all.next();
    match all.next() {
        None => Ok(first),
        Some(_) => Err(unsupported(&format!("more than one {name}"))),
    }
}

/// A time in seconds since 1970, up to the end of the year 9999, as in documents about jobs; none for the ends that
/// Gold writes for infinity.
pub(super) fn time(text: &str, bad: impl FnOnce() -> Fault) -> Result<Option<Timestamp>, Fault> {
    if ["-infinity", "infinity", "0", "2147483647"].contains(&text) {
        return Ok(None);
    }
    let seconds = bankd_nami::epoch(text).ok_or_else(bad)?;
    Ok(Some(Timestamp::from_seconds(seconds)))
}

pub(super) fn missing(what: &str) -> Fault {
    Fault::new("missing_field", format!("{what} is missing"))
}

pub(super) fn unsupported(what: &str) -> Fault {
    Fault::new("unsupported", format!("{what} is not supported"))
}

/// A name or value of the message in readable form: at most 64 characters, with `?` for each one that
/// not every client can read.
pub(super) fn plain(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "._-/:*+,@".contains(c);
    let shown = |c| if safe(c) { c } else { '?' };
    text.chars().map(shown).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::super::xml::parse;
    use super::*;

    fn parsed(request: &str) -> Result<Call, String> {
        let body = parse(&format!("<Body>{request}</Body>")).unwrap();
        Call::of(&body).map_err(|fault| format!("{}: {}", fault.code, fault.message))
    }

    #[test]
    fn new_and_old_spellings_say_the_same() {
        let new = "<Request action=\"Query\" actor=\"x\"><Object>Account</Object>\
            <Where name=\"Name\">chem</Where><Where name=\"Id\" op=\"GE\" conj=\"And\">2</Where>\
            <Get name=\"Id\"></Get><Option name=\"Odd\">x</Option></Request>";
        let old = "<Request object='Account' action='Query'><Get name='Id'/>\
            <Where name='Name' value='chem' groups='0'/><Where value='2' op='GE' name='Id'/>\
            <Option value='x' name='Odd'/></Request>";
        assert_eq!(parsed(new).unwrap(), parsed(old).unwrap());
        let data = "<Request action='Charge'><Object> Job </Object><Data><Job><JobId>j</JobId>\
            <UserId value='amy'/></Job></Data></Request>";
        let set = "<Request action='Charge' object='Job'><Set name='JobId'>j</Set>\
            <Set name='UserId' value='amy'/></Request>";
        assert_eq!(parsed(data).unwrap(), parsed(set).unwrap());
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        let query = "action='Query'><Object>Job</Object>";
        for (request, fault) in [
            ("", "missing_field: Request is missing"),
            (
                "<Request/><Request/>",
                "unsupported: more than one Request is not supported",
            ),
            (
                "<Request><Object>Job</Object></Request>",
                "missing_field: action is missing",
            ),
            (
                "<Request action='Query'/>",
                "missing_field: Object is missing",
            ),
            (
                "<Request action='Charge'><Object>A</Object><Object>B</Object></Request>",
                "unsupported: more than one Object is not supported",
            ),
            (
                "<Request action='Modify'><Object>A</Object><Set name='B'>1</Set><Set name='B'>2</Set></Request>",
                "bad_value: Set B given twice",
            ),
            (
                &format!("<Request {query}<Where name='A' conj='Xor'>x</Where></Request>"),
                "unsupported: Where with this conj is not supported",
            ),
            (
                &format!("<Request {query}<Where name='A' groups='two'>x</Where></Request>"),
                "unsupported: Where with this group is not supported",
            ),
            (
                "<Request action='Modify'><Object>A</Object><Set name='B' op='Inc'>1</Set></Request>",
                "unsupported: Set with op is not supported",
            ),
            (
                &format!("<Request {query}<Option name='A' op='Not'>x</Option></Request>"),
                "unsupported: Option with op is not supported",
            ),
            (
                &format!("<Request {query}<Where>x</Where></Request>"),
                "missing_field: name of Where is missing",
            ),
            (
                &format!(
                    "<Request {query}{}</Request>",
                    "<Get name='Id'/>".repeat(65)
                ),
                "unsupported: more than 64 Where, Get and Option is not supported",
            ),
            (
                &format!("<Request {query}<Data><Job/><Job/></Data></Request>"),
                "unsupported: more than one object in Data is not supported",
            ),
            (
                &format!("<Request {query}<Data><User/></Data></Request>"),
                "unsupported: an object in Data of another kind than Object is not supported",
            ),
            (
                &format!("<Request {query}<Data><Job><A><B/></A></Job></Data></Request>"),
                "bad_value: A holds elements",
            ),
        ] {
            assert_eq!(parsed(request).unwrap_err(), fault);
        }
    }

    #[test]
    fn ids_are_cut_to_what_every_client_can_be_sent() {
        assert_eq!(plain("maint.0.0"), "maint.0.0");
        assert_eq!(plain("a&b <c>\u{e9}_-1"), "a?b??c??_-1");
        assert_eq!(plain(&"x".repeat(100)).len(), 64);
    }
}

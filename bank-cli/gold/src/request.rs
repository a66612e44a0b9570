//! A request of Gold's protocol: what to do with which objects, and its XML.
//!
//! Times are converted here: a value of an attribute that ends in `Time` goes out as seconds since 1970.

use std::fmt::Write as _;

use super::{
    clock::{Clock, is_time},
    xml::escaped,
};

/// One element inside of a request: its attributes without the empty ones, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: String,
}

/// A condition: an attribute compared with a value, or with an attribute of another object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) conjunction: String,
    /// Parentheses that it opens, or closes if negative.
    pub(super) group: i32,
    pub(super) object: String,
    pub(super) name: String,
    pub(super) operator: String,
    /// The object of the value, if that is an attribute.
    pub(super) subject: String,
    pub(super) value: String,
}

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Request {
    action: String,
    objects: Vec<Part>,
    gets: Vec<Part>,
    sets: Vec<Part>,
    conditions: Vec<Part>,
    options: Vec<Part>,
    /// Properties of the job in the data.
    job: Vec<Part>,
    /// Data as it was typed, already XML.
    data: String,
}

impl Part {
    fn new(tag: &'static str, attributes: &[(&'static str, &str)], text: &str) -> Self {
        let present = attributes.iter().filter(|(_, value)| !value.is_empty());
        Self {
            tag,
            attributes: present
                .map(|(name, value)| (*name, (*value).to_owned()))
                .collect(),
            text: text.to_owned(),
        }
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The text, as seconds if it is a time.
    fn sent(&self, clock: &Clock) -> String {
        let is_value = matches!(self.tag, "Set" | "Where" | "Option");
        let is_plain = is_value && self.attribute("subject").is_none();
        if is_plain && self.attribute("name").is_some_and(is_time) {
            clock.epoch(&self.text)
        } else {
            self.text.clone()
        }
    }

    fn write(&self, out: &mut String, clock: &Clock) {
        let _ = write!(out, "<{}", self.tag);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escaped(value));
        }
        let _ = write!(out, ">{}</{}>", escaped(&self.sent(clock)), self.tag);
    }
}

impl Request {
    pub(super) fn new(action: &str, object: &str) -> Self {
        Self::of(action).object(object, "")
    }

    /// A request without an object.
    pub(super) fn of(action: &str) -> Self {
        Self {
            action: action.to_owned(),
            ..Self::default()
        }
    }

    /// The action.
    pub(super) fn action(&self) -> &str {
        &self.action
    }

    /// One more object, for a join.
    pub(super) fn object(mut self, name: &str, alias: &str) -> Self {
        self.objects
            .push(Part::new("Object", &[("alias", alias)], name));
        self
    }

    /// A column of the answer.
    pub(super) fn get(self, name: &str) -> Self {
        self.get_of("", name, "", "")
    }

    /// A column with an operator such as `Sum`.
    pub(super) fn get_op(self, name: &str, operator: &str) -> Self {
        self.get_of("", name, operator, "")
    }

    /// A column of an object, with an operator and under another name.
    pub(super) fn get_of(mut self, object: &str, name: &str, operator: &str, alias: &str) -> Self {
        let attributes = [
            ("object", object),
            ("name", name),
            ("op", operator),
            ("alias", alias),
        ];
        self.gets.push(Part::new("Get", &attributes, ""));
        self
    }

    /// An assignment.
    pub(super) fn set(self, name: &str, value: &str) -> Self {
        self.set_op(name, "", value)
    }

    /// An assignment with an operator: `Inc` or `Dec`.
    pub(super) fn set_op(mut self, name: &str, operator: &str, value: &str) -> Self {
        let attributes = [("name", name), ("op", operator)];
        self.sets.push(Part::new("Set", &attributes, value));
        self
    }

    /// A condition: the attribute has the value.
    pub(super) fn filter(self, name: &str, value: &str) -> Self {
        self.filter_op(name, "", value)
    }

    /// A condition with an operator such as `GE`.
    pub(super) fn filter_op(self, name: &str, operator: &str, value: &str) -> Self {
        self.condition(&Condition {
            name: name.to_owned(),
            operator: operator.to_owned(),
            value: value.to_owned(),
            ..Condition::default()
        })
    }

    /// Any condition.
    pub(super) fn condition(mut self, condition: &Condition) -> Self {
        let group = match condition.group {
            0 => String::new(),
            group => format!("{group:+}"),
        };
        let attributes = [
            ("conj", condition.conjunction.as_str()),
            ("group", &group),
            ("object", &condition.object),
            ("name", &condition.name),
            ("op", &condition.operator),
            ("subject", &condition.subject),
        ];
        self.conditions
            .push(Part::new("Where", &attributes, &condition.value));
        self
    }

    /// A condition on start and end: the window contains now, or does not.
    pub(super) fn window(self, is_active: bool) -> Self {
        if is_active {
            return self
                .filter_op("StartTime", "LE", "now")
                .filter_op("EndTime", "GT", "now");
        }
        let bound = |conjunction: &str, group, name: &str, operator: &str| Condition {
            conjunction: conjunction.to_owned(),
            group,
            name: name.to_owned(),
            operator: operator.to_owned(),
            value: "now".to_owned(),
            ..Condition::default()
        };
        self.condition(&bound("And", 1, "StartTime", "GT"))
            .condition(&bound("Or", -1, "EndTime", "LE"))
    }

    /// An option of the request.
    pub(super) fn option(self, name: &str, value: &str) -> Self {
        self.option_op(name, "", value)
    }

    /// An option with the operator `Not`.
    pub(super) fn option_op(mut self, name: &str, operator: &str, value: &str) -> Self {
        let attributes = [("name", name), ("op", operator)];
        self.options.push(Part::new("Option", &attributes, value));
        self
    }

    /// True if the request has an option.
    pub(super) fn has_option(&self, name: &str) -> bool {
        self.options
            .iter()
            .any(|option| option.attribute("name") == Some(name))
    }

    /// A property of the job in the data.
    pub(super) fn job(mut self, name: &str, value: &str) -> Self {
        self.job.push(Part::new("", &[("name", name)], value));
        self
    }

    /// Data that is XML already.
    pub(super) fn data(mut self, data: &str) -> Self {
        self.data.push_str(data);
        self
    }

    /// True if nothing is assigned.
    pub(super) fn sets_nothing(&self) -> bool {
        self.sets.is_empty()
    }

    /// The XML of the request.
    pub(super) fn xml(&self, actor: &str, clock: &Clock) -> String {
        let mut out = format!(
            "<Request action=\"{}\" actor=\"{}\">",
            escaped(&self.action),
            escaped(actor)
        );
        let parts = [
            &self.objects,
            &self.gets,
            &self.sets,
            &self.conditions,
            &self.options,
        ];
        for part in parts.into_iter().flatten() {
            part.write(&mut out, clock);
        }
        if !(self.job.is_empty() && self.data.is_empty()) {
            out.push_str("<Data>");
            out.push_str(&self.data);
            self.write_job(&mut out, clock);
            out.push_str("</Data>");
        }
        out + "</Request>"
    }

    fn write_job(&self, out: &mut String, clock: &Clock) {
        if self.job.is_empty() {
            return;
        }
        out.push_str("<Job>");
        for part in &self.job {
            let name = part.attribute("name").unwrap_or_default();
            let value = if is_time(name) {
                clock.epoch(&part.text)
            } else {
                part.text.clone()
            };
            let _ = write!(out, "<{name}>{}</{name}>", escaped(&value));
        }
        out.push_str("</Job>");
    }
}

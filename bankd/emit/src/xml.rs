//! XML output for usage records 1.0 and 2.0: no text in a value can end it or break a line.

/// Attributes without their prefix; those without a value are left out.
pub(super) type AttributeList<'l> = [(&'l str, Option<&'l str>)];

/// XML in the making.
pub(super) struct Xml {
    /// The text so far.
    pub(super) text: String,
}

impl Xml {
    pub(super) fn new() -> Self {
        Self {
            text: String::with_capacity(1500),
        }
    }

    /// A block of elements on a separate line, two levels in.
    pub(super) fn block(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        for part in ["    <", name, ">"] {
            self.text.push_str(part);
        }
        content(self);
        for part in ["</", name, ">\n"] {
            self.text.push_str(part);
        }
    }

    /// An element with text, left out where there is none.
    pub(super) fn element(
        &mut self,
        name: &str,
        attributes: &AttributeList<'_>,
        content: Option<&str>,
    ) {
        let Some(content) = content.filter(|content| !content.is_empty()) else {
            return;
        };
        self.open(name, attributes);
        self.text.push('>');
        self.escape(content);
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }

    pub(super) fn plain(&mut self, name: &str, content: Option<&str>) {
        self.element(name, &[], content);
    }

    pub(super) fn resource(&mut self, description: &str, content: Option<&str>) {
        self.element("Resource", &[("description", Some(description))], content);
    }

    pub(super) fn empty(&mut self, name: &str, attributes: &AttributeList<'_>) {
        self.open(name, attributes);
        self.text.push_str("/>");
    }

    fn open(&mut self, name: &str, attributes: &AttributeList<'_>) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            let Some(value) = value else { continue };
            self.text.push_str(" urf:");
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.escape(value);
            self.text.push('"');
        }
    }

    /// Line breaks become references, so that a record stays one line; what
    /// XML cannot hold at all becomes U+FFFD.
    fn escape(&mut self, value: &str) {
        for c in value.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\t' => self.text.push_str("&#9;"),
                '\n' => self.text.push_str("&#10;"),
                '\r' => self.text.push_str("&#13;"),
                c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => self.text.push('\u{fffd}'),
                c => self.text.push(c),
            }
        }
    }
}

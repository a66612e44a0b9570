//! A response of Gold's protocol: its status and its rows.

use super::xml;

/// One row: the columns in order, each with its name and its value.
pub(super) type Row = Vec<(String, String)>;

/// A response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) is_failure: bool,
    /// Three digits; the first two are the exit code of a tool.
    pub(super) code: String,
    pub(super) message: String,
    /// The number of rows, or an amount.
    pub(super) count: String,
    pub(super) rows: Vec<Row>,
}

impl Response {
    /// Reads the XML. The error is the reason.
    pub(super) fn read(source: &str) -> Result<Self, String> {
        let root = xml::parse(source)?;
        let status = root.child("Status").filter(|_| root.name == "Response");
        let status = status.ok_or_else(|| "it is not a response".to_owned())?;
        let data = root.child("Data").into_iter();
        let row = |row: &xml::Element| {
            let field = |field: &xml::Element| (field.name.clone(), field.content());
            row.children.iter().map(field).collect()
        };
        Ok(Self {
            is_failure: status.value("Value") == "Failure",
            code: status.value("Code").to_owned(),
            message: status.value("Message").to_owned(),
            count: root.value("Count").to_owned(),
            rows: data.flat_map(|data| &data.children).map(row).collect(),
        })
    }

    /// The exit code of a tool.
    pub(super) fn exit(&self) -> u8 {
        self.number()
            .and_then(|code| u8::try_from(code / 10).ok())
            .unwrap_or(72)
    }

    /// The exit code of `goldsh`.
    pub(super) fn shell_exit(&self) -> u8 {
        if self.code.starts_with('0') {
            return 0;
        }
        self.number()
            .and_then(|code| u8::try_from(code / 4).ok())
            .unwrap_or(u8::MAX)
    }

    fn number(&self) -> Option<u16> {
        self.code.parse().ok()
    }

    /// A value of the first row.
    pub(super) fn first(&self, name: &str) -> Option<&str> {
        value(self.rows.first()?, name)
    }
}

/// A value of a row.
pub(super) fn value<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    let found = row.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_a_status_and_rows() {
        let read = Response::read(
            "<Response actor=\"root\"><Status><Value>Success</Value><Code>080</Code>\
             <Message>done &amp; well\nmore</Message></Status><Count>1</Count>\
             <Data><Job><Id>4</Id><Charge><Amount>12</Amount></Charge></Job></Data></Response>",
        )
        .unwrap();
        assert_eq!(read.message, "done & well\nmore");
        assert_eq!((read.exit(), read.shell_exit()), (8, 0));
        assert_eq!(read.first("Charge"), Some("12"));
        let refused =
            "<Response><Status><Value>Failure</Value><Code>740</Code></Status></Response>";
        let refused = Response::read(refused).unwrap();
        assert!(refused.is_failure);
        assert_eq!((refused.exit(), refused.shell_exit()), (74, 185));
        assert!(Response::read("<Reply/>").is_err());
    }
}

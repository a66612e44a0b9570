//! The part of Structured Fields (RFC 9651) that the three headers of the profile need.
//!
//! A cursor over the bytes of one field value. Everything borrows: nothing is allocated here, and
//! no input, however long, costs more than one pass. Strings with escapes are understood and
//! skipped where they do not matter, and refused where their value would be used.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The field does not have the form that the profile demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// A position in a field value.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// One covered component as written in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Component<'a> {
    /// The name between the quotes.
    pub(super) name: &'a str,
    /// The parameter after the name.
    pub(super) parameter: ComponentParameter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ComponentParameter {
    None,
    /// Exactly `;req`.
    Req,
    /// Any other, or more than one.
    Other,
}

/// Most components that a signature may cover; ours cover six.
pub(super) const MAX_COMPONENTS: usize = 32;

/// One member of `Signature-Input`.
#[derive(Debug, Clone)]
pub(super) struct SignatureInput<'a> {
    pub(super) label: &'a str,
    pub(super) components: Vec<Component<'a>>,
    pub(super) created: Option<i64>,
    pub(super) expires: Option<i64>,
    pub(super) keyid: Option<&'a str>,
    pub(super) nonce: Option<&'a str>,
    pub(super) alg: Option<&'a str>,
    /// Inner list and parameters exactly as received, for the last line of the base.
    pub(super) raw: &'a [u8],
}

/// Value of a parameter.
enum Item<'a> {
    Integer(i64),
    /// A string without escapes.
    Text(&'a str),
    /// A well-formed value that is not used.
    Other,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut cursor = Self { bytes, at: 0 };
        cursor.skip_blank();
        cursor
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    fn skip_blank(&mut self) {
        self.take_while(|byte| byte == b' ' || byte == b'\t');
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| !wanted(*byte))
            .unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// A key: the label of a member or the name of a parameter.
    pub(super) fn key(&mut self) -> Result<&'a str, Malformed> {
        if !matches!(self.peek(), Some(b'a'..=b'z' | b'*')) {
            return Err(Malformed);
        }
        let key = self.take_while(
            |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'),
        );
        std::str::from_utf8(key).map_err(|_| Malformed)
    }

    /// `:base64:`; returns the text between the colons, not decoded.
    pub(super) fn byte_sequence(&mut self) -> Result<&'a str, Malformed> {
        self.expect(b':')?;
        let encoded = self.take_while(
            |byte| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'='),
        );
        self.expect(b':')?;
        std::str::from_utf8(encoded).map_err(|_| Malformed)
    }

    /// A quoted string; `None` if it holds an escape, which no value that we use needs.
    fn string(&mut self) -> Result<Option<&'a str>, Malformed> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.take_while(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\');
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    if !self.accept(b'"') && !self.accept(b'\\') {
                        return Err(Malformed);
                    }
                }
                _ => return Err(Malformed),
            }
        }
        let text = std::str::from_utf8(self.since(start)).map_err(|_| Malformed)?;
        self.at += 1;
        Ok((!escaped).then_some(text))
    }

    fn item(&mut self) -> Result<Item<'a>, Malformed> {
        match self.peek() {
            Some(b'"') => Ok(self.string()?.map_or(Item::Other, Item::Text)),
            Some(b':') => self.byte_sequence().map(|_| Item::Other),
            Some(b'?') => {
                self.at += 1;
                if self.accept(b'0') || self.accept(b'1') {
                    Ok(Item::Other)
                } else {
                    Err(Malformed)
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let text = self.take_while(|byte| matches!(byte, b'-' | b'.' | b'0'..=b'9'));
                let text = std::str::from_utf8(text).map_err(|_| Malformed)?;
                if text.len() > 16 {
                    return Err(Malformed);
                }
                text.parse().map(Item::Integer).map_err(|_| Malformed)
            }
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'*') => {
                self.take_while(|byte| {
                    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
                });
                Ok(Item::Other)
            }
            _ => Err(Malformed),
        }
    }

    /// The next `;name=value`; `None` when the parameters are at their end. A bare name is true.
    fn parameter(&mut self) -> Result<Option<(&'a str, Item<'a>)>, Malformed> {
        if !self.accept(b';') {
            return Ok(None);
        }
        self.take_while(|byte| byte == b' ');
        let name = self.key()?;
        let value = if self.accept(b'=') {
            self.item()?
        } else {
            Item::Other
        };
        Ok(Some((name, value)))
    }

    pub(super) fn skip_parameters(&mut self) -> Result<(), Malformed> {
        while self.parameter()?.is_some() {}
        Ok(())
    }

    /// Moves behind the comma; false at the end of the field.
    pub(super) fn next_member(&mut self) -> Result<bool, Malformed> {
        self.skip_blank();
        if self.at == self.bytes.len() {
            return Ok(false);
        }
        self.expect(b',')?;
        self.skip_blank();
        Ok(true)
    }

    fn components(&mut self) -> Result<Vec<Component<'a>>, Malformed> {
        self.expect(b'(')?;
        let mut list = Vec::with_capacity(8);
        loop {
            self.take_while(|byte| byte == b' ');
            if self.accept(b')') {
                return Ok(list);
            }
            if list.len() == MAX_COMPONENTS {
                return Err(Malformed);
            }
            let name = self.string()?.ok_or(Malformed)?;
            let mut parameter = ComponentParameter::None;
            while let Some((key, _)) = self.parameter()? {
                parameter = match parameter {
                    ComponentParameter::None if key == "req" => ComponentParameter::Req,
                    _ => ComponentParameter::Other,
                };
            }
            if !matches!(self.peek(), Some(b' ' | b')')) {
                return Err(Malformed);
            }
            list.push(Component { name, parameter });
        }
    }

    /// One member of `Signature-Input`. A parameter given twice is refused rather than resolved:
    /// two readers could resolve it in two ways.
    pub(super) fn signature_input(&mut self) -> Result<SignatureInput<'a>, Malformed> {
        let label = self.key()?;
        self.expect(b'=')?;
        let start = self.at;
        let components = self.components()?;
        let mut input = SignatureInput {
            label,
            components,
            created: None,
            expires: None,
            keyid: None,
            nonce: None,
            alg: None,
            raw: &[],
        };
        while let Some((name, value)) = self.parameter()? {
            match (name, value) {
                ("created", Item::Integer(at)) => set_once(&mut input.created, at)?,
                ("expires", Item::Integer(at)) => set_once(&mut input.expires, at)?,
                ("keyid", Item::Text(text)) => set_once(&mut input.keyid, text)?,
                ("nonce", Item::Text(text)) => set_once(&mut input.nonce, text)?,
                ("alg", Item::Text(text)) => set_once(&mut input.alg, text)?,
                ("created" | "expires" | "keyid" | "nonce" | "alg", _) => return Err(Malformed),
                _ => {}
            }
        }
        input.raw = self.since(start);
        Ok(input)
    }
}

fn set_once<T>(slot: &mut Option<T>, value: T) -> Result<(), Malformed> {
    if slot.replace(value).is_some() {
        Err(Malformed)
    } else {
        Ok(())
    }
}

/// The bytes of the member `label` of a `Signature` field; 32 of them, or the field is malformed.
pub(super) fn signature_of(field: &[u8], label: &str) -> Result<[u8; 32], Malformed> {
    let mut cursor = Cursor::new(field);
    let mut found = None;
    loop {
        let name = cursor.key()?;
        cursor.expect(b'=')?;
        let encoded = cursor.byte_sequence()?;
        cursor.skip_parameters()?;
        if name == label {
            set_once(&mut found, decode_32(encoded).ok_or(Malformed)?)?;
        }
        if !cursor.next_member()? {
            return found.ok_or(Malformed);
        }
    }
}

/// Decodes base64 of exactly 32 bytes, without allocating.
pub(super) fn decode_32(encoded: &str) -> Option<[u8; 32]> {
    // 32 bytes are 43 digits and one `=`; the decoder needs room for three bytes per four digits.
    if encoded.len() != 44 {
        return None;
    }
    let mut room = [0_u8; 33];
    let count = STANDARD.decode_slice(encoded, &mut room).ok()?;
    room.get(..count)?.try_into().ok()
}

/// Without blanks and tabs at its ends, as field values are compared.
pub(super) fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let Some(start) = value.iter().position(|byte| !blank(byte)) else {
        return &[];
    };
    let end = value
        .iter()
        .rposition(|byte| !blank(byte))
        .map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}

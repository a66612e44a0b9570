//! The text of a query as its parts: objects, terms with their conjunctions and parentheses, options
//! (ledger.md 6). What the names mean is the business of `plan`.

use std::str::CharIndices;

use super::condition::{self, Comparison, Condition, Op, Text, Token};
use super::{DEPTH_MAX, Mistake, TERMS_MAX};

/// Longest text, in bytes.
pub const TEXT_MAX: usize = 4096;
/// Most objects.
pub const OBJECTS_MAX: usize = 3;

/// A query as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The names of the objects.
    pub objects: Vec<String>,
    /// The condition, if there is one.
    pub condition: Option<Condition>,
    /// The options, in the order in which they were written.
    pub options: Vec<Setting>,
}

/// One option, such as `Limit:=10`; `:!` says it is not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether the opposite is meant.
    pub negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Compare(Op),
    Option { negated: bool },
    Assign,
}

/// Longer ones first, so that `<=` is not `<`.
const SIGNS: [(&str, Sign); 12] = [
    ("==", Sign::Compare(Op::Equal)),
    ("!=", Sign::Compare(Op::Unequal)),
    ("<=", Sign::Compare(Op::AtMost)),
    (">=", Sign::Compare(Op::AtLeast)),
    (":=", Sign::Option { negated: false }),
    (":!", Sign::Option { negated: true }),
    ("+=", Sign::Assign),
    ("-=", Sign::Assign),
    ("<", Sign::Compare(Op::Less)),
    (">", Sign::Compare(Op::More)),
    ("~", Sign::Compare(Op::Match)),
    ("=", Sign::Assign),
];

/// Conjunctions: whether it is `or`, and whether it negates.
const JOINS: [(&str, bool, bool); 4] = [
    ("&&", false, false),
    ("||", true, false),
    ("&!", false, true),
    ("|!", true, true),
];

/// Reads a text.
///
/// # Errors
/// What is wrong with it, and where.
pub fn read(text: &str) -> Result<Written, Mistake> {
    if text.len() > TEXT_MAX {
        let what = format!("the query is longer than {TEXT_MAX} bytes");
        return Err(Mistake::new(what));
    }
    let mut reader = Reader { text, at: 0 };
    let objects = reader.objects()?;
    reader.action()?;
    let mut terms = Terms::default();
    loop {
        reader.skip_space();
        if reader.rest().is_empty() {
            break;
        }
        terms.take(&mut reader)?;
    }
    let (condition, options) = terms.end()?;
    Ok(Written {
        objects,
        condition,
        options,
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes a text if it comes next.
    fn took(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Where it is, for people: the place of the next character, from 1.
    fn place(&self) -> usize {
        let before = self.text.get(..self.at).unwrap_or_default();
        before.chars().count() + 1
    }

    fn mistake(&self, wanted: &str) -> Mistake {
        let next: String = self.rest().chars().take(20).collect();
        let found = if next.is_empty() {
            "the end".to_owned()
        } else {
            format!("{next:?}")
        };
        let place = self.place();
        Mistake::new(format!("at character {place}: {wanted}, not {found}"))
    }

    /// A name: letters, digits, `_`, and points between the parts.
    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let name = rest.get(..end)?;
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        self.at += end;
        Some(name.to_owned())
    }

    fn objects(&mut self) -> Result<Vec<String>, Mistake> {
        let mut objects = Vec::new();
        loop {
            self.skip_space();
            let object = self.name();
            objects.push(
                object.ok_or_else(|| self.mistake("the name of an object is expected here"))?,
            );
            if objects.len() > OBJECTS_MAX {
                let what = format!("a query is about {OBJECTS_MAX} objects at most");
                return Err(Mistake::new(what));
            }
            self.skip_space();
            if !self.took(",") {
                return Ok(objects);
            }
        }
    }

    fn action(&mut self) -> Result<(), Mistake> {
        let wanted = "after the objects comes the action Query";
        let at = self.at;
        let name = self.name();
        match name {
            Some(name) if name.eq_ignore_ascii_case("Query") => Ok(()),
            Some(name) if !self.rest().starts_with(['=', '!', '<', '>', '~', ':']) => {
                let what = format!("the action is Query, not {name:?}: a query changes nothing");
                Err(Mistake::new(what).hint("the commands of `bank` change things"))
            }
            _ => {
                self.at = at;
                Err(self.mistake(wanted).hint("as in: Account Query Name==chem"))
            }
        }
    }

    fn sign(&mut self, name: &str) -> Result<Sign, Mistake> {
        self.skip_space();
        let found = SIGNS.iter().find(|(text, _)| self.rest().starts_with(text));
        let Some((text, sign)) = found else {
            return Err(self.mistake(&format!(
                "after {name} comes one of == != < > <= >= ~ or := "
            )));
        };
        if *sign == Sign::Assign {
            let what = format!("{name}{text} sets a value, and a query changes nothing");
            return Err(Mistake::new(what).hint(format!("{name}== compares")));
        }
        self.at += text.len();
        Ok(*sign)
    }

    /// A value: in quotes anything; else up to a space, a conjunction, or a parenthesis that was not
    /// opened in it.
    fn value(&mut self, name: &str) -> Result<Text, Mistake> {
        self.skip_space();
        if let Some(quote) = self.rest().chars().next().filter(|c| "'\"".contains(*c)) {
            return self.quoted(quote);
        }
        let rest = self.rest();
        let mut depth = 0_usize;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let tail = rest.get(at..).unwrap_or_default();
            let closes = c == ')' && depth == 0;
            if c.is_whitespace() || closes || JOINS.iter().any(|(j, ..)| tail.starts_with(j)) {
                end = at;
                break;
            }
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
        }
        let text = rest.get(..end).unwrap_or_default().to_owned();
        if text.is_empty() {
            let wanted = format!("a value of {name} is expected here");
            return Err(self.mistake(&wanted).hint("'' is the empty one"));
        }
        self.at += end;
        Ok(Text {
            text,
            quoted: false,
        })
    }

    fn quoted(&mut self, quote: char) -> Result<Text, Mistake> {
        let place = self.place();
        let inner = self.rest().get(1..).unwrap_or_default();
        let Some(end) = inner.find(quote) else {
            let what = format!("at character {place}: the quote {quote} is never closed");
            return Err(Mistake::new(what));
        };
        self.at += end + 2;
        Ok(Text {
            text: inner.get(..end).unwrap_or_default().to_owned(),
            quoted: true,
        })
    }
}

#[derive(Default)]
struct Terms {
    tokens: Vec<Token>,
    options: Vec<Setting>,
    count: usize,
    depth: usize,
}

impl Terms {
    fn take(&mut self, reader: &mut Reader<'_>) -> Result<(), Mistake> {
        self.count += 1;
        if self.count > TERMS_MAX {
            let what = format!("a query has {TERMS_MAX} terms at most");
            return Err(Mistake::new(what));
        }
        let join = JOINS.iter().find(|(text, ..)| reader.took(text));
        let mut opened = 0;
        reader.skip_space();
        while reader.took("(") {
            opened += 1;
            reader.skip_space();
        }
        if self.depth + opened > DEPTH_MAX {
            let what = format!("parentheses are nested at most {DEPTH_MAX} deep");
            return Err(Mistake::new(what));
        }
        let name = reader.name();
        let name =
            name.ok_or_else(|| reader.mistake("the name of an attribute is expected here"))?;
        match reader.sign(&name)? {
            Sign::Option { negated } => {
                if join.is_some() || opened > 0 {
                    let what = format!("{name} is an option and no part of the condition");
                    return Err(Mistake::new(what).hint("an option is not part of a condition"));
                }
                let value = reader.value(&name)?.text;
                self.options.push(Setting {
                    name,
                    value,
                    negated,
                });
                return Ok(());
            }
            Sign::Compare(op) => {
                self.joined(join);
                self.tokens
                    .extend(std::iter::repeat_with(|| Token::Open).take(opened));
                let value = reader.value(&name)?;
                self.tokens.push(Token::Is(Comparison { name, op, value }));
            }
            Sign::Assign => {}
        }
        self.depth += opened;
        loop {
            reader.skip_space();
            let place = reader.place();
            if !reader.took(")") {
                return Ok(());
            }
            self.depth = self
                .depth
                .checked_sub(1)
                .ok_or_else(|| Mistake::new(format!("at character {place}: ) without its (")))?;
            self.tokens.push(Token::Close);
        }
    }

    /// Between two comparisons without a conjunction stands `and`.
    fn joined(&mut self, join: Option<&(&str, bool, bool)>) {
        let (or, negates) = join.map_or((false, false), |(_, or, negates)| (*or, *negates));
        if !self.tokens.is_empty() || negates {
            self.tokens.push(Token::Join { or, negates });
        }
    }

    fn end(self) -> Result<(Option<Condition>, Vec<Setting>), Mistake> {
        if self.depth > 0 {
            return Err(Mistake::new("a parenthesis is never closed"));
        }
        if self.tokens.is_empty() {
            return Ok((None, self.options));
        }
        let condition = condition::of(self.tokens)?;
        Ok((Some(condition), self.options))
    }
}

/// One column of `Show`: operators from the outside in, and the name within.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Such as `Sum`.
    pub operators: Vec<String>,
    /// The attribute.
    pub name: String,
    /// The name of the column in the answer, if it has another one: `Sum(Charge)=Total`.
    pub alias: Option<String>,
}

/// Longest alias of a column, in bytes.
const ALIAS_MAX: usize = 64;

/// The columns of `Show`.
///
/// # Errors
/// The column that is none.
pub fn shown(text: &str) -> Result<Vec<Shown>, Mistake> {
    let parts = text.split(',').map(str::trim);
    parts.map(column).collect()
}

fn column(text: &str) -> Result<Shown, Mistake> {
    let wrong = || {
        let what = format!("Show: {text:?} is not a column");
        Mistake::new(what)
            .hint("columns are Name, Sum(Name) or Sum(Name)=Alias, with commas between them")
    };
    let (text, alias) = match text.split_once('=') {
        Some((column, alias)) => (column.trim_end(), Some(alias.trim())),
        None => (text, None),
    };
    if alias.is_some_and(|alias| alias.len() > ALIAS_MAX || !is_alias(alias)) {
        return Err(wrong());
    }
    let mut operators = Vec::new();
    let mut rest = text;
    while let Some((operator, inner)) = rest.split_once('(') {
        operators.push(operator.trim().to_owned());
        rest = inner.trim_end().strip_suffix(')').ok_or_else(wrong)?;
        if operators.len() > 2 {
            return Err(wrong());
        }
    }
    let name = rest.trim();
    let fits = |(at, c): (usize, char)| {
        c.is_ascii_alphabetic() || (at > 0 && (c.is_ascii_alphanumeric() || "_.".contains(c)))
    };
    let chars: CharIndices<'_> = name.char_indices();
    let is_star = name == "*" && operators.len() <= 2;
    if name.is_empty() || !(is_star || chars.into_iter().all(fits)) {
        return Err(wrong());
    }
    Ok(Shown {
        operators,
        name: name.to_owned(),
        alias: alias.map(str::to_owned),
    })
}

/// A letter first, then letters, digits and `_`.
fn is_alias(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(fits)
}

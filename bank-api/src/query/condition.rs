//! The condition of a query: comparisons, joined by conjunctions and parentheses, as a tree.

use std::iter::Peekable;

use super::{DEPTH_MAX, Mistake, TERMS_MAX};

/// What rows must fulfil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// A comparison.
    Is(Comparison),
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The attribute.
    pub name: String,
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub value: Text,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its characters.
    pub text: String,
    /// In quotes it is never the name of an attribute, nor a word with a meaning.
    pub quoted: bool,
}

/// What compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `>`
    More,
    /// `~`: a pattern with `*` and `?`.
    Match,
}

/// One part of a condition, in the order in which it was written.
#[derive(Debug)]
pub(super) enum Token {
    Join { or: bool, negates: bool },
    Open,
    Close,
    Is(Comparison),
}

/// A comparison of a condition, with the conjunction and the parentheses around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Joined to the term before it by `or`; else by `and`.
    pub or: bool,
    /// Whether the conjunction negates it.
    pub negates: bool,
    /// Parentheses that open before it.
    pub opens: usize,
    /// Parentheses that close behind it.
    pub closes: usize,
    /// The attribute, with or without its object.
    pub name: String,
    /// How it compares.
    pub op: Op,
    /// With what.
    pub value: Text,
}

/// The condition of terms in their order; none without terms.
///
/// # Errors
/// Too many terms, or parentheses that do not fit.
pub fn of_terms(terms: Vec<Term>) -> Result<Option<Condition>, Mistake> {
    if terms.len() > TERMS_MAX {
        let what = format!("a query has {TERMS_MAX} terms at most");
        return Err(Mistake::new(what));
    }
    let mut tokens = Vec::new();
    let mut depth = 0_usize;
    for term in terms {
        if !tokens.is_empty() || term.negates {
            tokens.push(Token::Join {
                or: term.or,
                negates: term.negates,
            });
        }
        depth = depth.saturating_add(term.opens);
        if depth > DEPTH_MAX {
            let what = format!("parentheses are nested at most {DEPTH_MAX} deep");
            return Err(Mistake::new(what));
        }
        tokens.extend(std::iter::repeat_with(|| Token::Open).take(term.opens));
        let (name, op, value) = (term.name, term.op, term.value);
        tokens.push(Token::Is(Comparison { name, op, value }));
        let left = depth.checked_sub(term.closes);
        depth = left.ok_or_else(|| Mistake::new("a parenthesis is closed and was never opened"))?;
        tokens.extend(std::iter::repeat_with(|| Token::Close).take(term.closes));
    }
    if depth > 0 {
        return Err(Mistake::new("a parenthesis is never closed"));
    }
    if tokens.is_empty() {
        return Ok(None);
    }
    of(tokens).map(Some)
}

/// The condition of tokens, of which there are some.
pub(super) fn of(tokens: Vec<Token>) -> Result<Condition, Mistake> {
    any(&mut tokens.into_iter().peekable())
}

type Tokens = Peekable<std::vec::IntoIter<Token>>;

/// `a && b || c`: or of ands, as in SQL and in Gold. Depth is bounded by the reader.
fn any(tokens: &mut Tokens) -> Result<Condition, Mistake> {
    let mut parts = vec![all(tokens)?];
    while tokens
        .next_if(|t| {
            matches!(
                t,
                Token::Join {
                    or: true,
                    negates: false
                }
            )
        })
        .is_some()
        || matches!(tokens.peek(), Some(Token::Join { or: true, .. }))
    {
        parts.push(all(tokens)?);
    }
    Ok(one_of(parts, Condition::Any))
}

fn all(tokens: &mut Tokens) -> Result<Condition, Mistake> {
    let mut parts = Vec::new();
    loop {
        let negates = match tokens.next_if(
            |t| matches!(t, Token::Join { or, negates } if !*or || (*negates && parts.is_empty())),
        ) {
            Some(Token::Join { negates, .. }) => negates,
            _ => false,
        };
        let part = primary(tokens)?;
        parts.push(if negates {
            Condition::Not(Box::new(part))
        } else {
            part
        });
        if !matches!(tokens.peek(), Some(Token::Join { or: false, .. })) {
            return Ok(one_of(parts, Condition::All));
        }
    }
}

fn primary(tokens: &mut Tokens) -> Result<Condition, Mistake> {
    match tokens.next() {
        Some(Token::Is(comparison)) => Ok(Condition::Is(comparison)),
        Some(Token::Open) => {
            let inner = any(tokens)?;
            match tokens.next() {
                Some(Token::Close) => Ok(inner),
                _ => Err(Mistake::new("a parenthesis is never closed")),
            }
        }
        _ => Err(Mistake::new("a comparison is missing in the condition")),
    }
}

fn one_of(mut parts: Vec<Condition>, of: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            of(parts)
        }
        None => of(parts),
    }
}

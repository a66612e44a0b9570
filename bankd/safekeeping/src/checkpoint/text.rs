//! Text form of a checkpoint. The signature covers the exact bytes: the parsed contents are trusted
//! only if the signature is valid.

use std::fmt::Write as _;
use std::path::Path;

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bankd_store::checkpoint::Facts;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{Error, PublicKey, SigningKey, bad};

/// The first line of every checkpoint.
const FIRST: &str = "bank-checkpoint 1";
/// The word of the last line.
const SIGNATURE: &str = "signature ";

/// A checkpoint with a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The state of the bank.
    pub facts: Facts,
    /// When it was made, µs since 1970 by the machine's clock.
    pub made_at: i64,
}

/// A checkpoint, signed.
pub fn write(facts: &Facts, made_at: i64, key: &SigningKey) -> String {
    let mut text = format!("{FIRST}\n");
    for (name, value) in [
        ("bank", facts.uuid.clone()),
        ("made", format_rfc3339(made_at)),
        ("transactions", facts.transactions.to_string()),
        ("entries", facts.entries.to_string()),
        ("usages", facts.usages.to_string()),
        ("head", facts.head.clone()),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {value}");
    }
    for (kind, (entries, sums)) in &facts.kinds {
        let sums = sums.map(|sum| sum.to_string()).join(" ");
        let _ = writeln!(text, "kind {kind} {entries} {sums}");
    }
    for (table, (rows, digest)) in &facts.tables {
        let _ = writeln!(text, "table {table} {rows} {digest}");
    }
    let _ = writeln!(text, "key {}", key.public().id());
    let signature = BASE64_STANDARD.encode(key.sign(text.as_bytes()));
    let _ = writeln!(text, "{SIGNATURE}{signature}");
    text
}

/// Reads a checkpoint that is signed with a key.
///
/// # Errors
/// If it is none, or not signed with this key.
pub fn parse(path: &Path, text: &str, key: &PublicKey) -> Result<Checkpoint, Error> {
    let (signed, signature) = text
        .strip_suffix('\n')
        .and_then(|text| text.rsplit_once('\n'))
        .and_then(|(_, last)| Some((text.len().checked_sub(last.len() + 1)?, last)))
        .and_then(|(end, last)| Some((text.get(..end)?, last.strip_prefix(SIGNATURE)?)))
        .ok_or_else(|| bad(path, "its last line is not a signature"))?;
    if signed.lines().next() != Some(FIRST) {
        return Err(bad(path, format!("its first line is not `{FIRST}`")));
    }
    let signature = BASE64_STANDARD.decode(signature).unwrap_or_default();
    if !key.verifies(signed.as_bytes(), &signature) {
        let named = signed.lines().find_map(|line| line.strip_prefix("key "));
        let named = named.unwrap_or("none");
        return Err(bad(
            path,
            format!(
                "its signature is not right: it names the key {named}, and was held against {}",
                key.id()
            ),
        ));
    }
    read(signed).ok_or_else(|| bad(path, "a line of it cannot be read"))
}

fn read(signed: &str) -> Option<Checkpoint> {
    let (mut facts, mut made_at) = (Facts::default(), None);
    for line in signed.lines().skip(1) {
        let (name, rest) = line.split_once(' ')?;
        let mut words = rest.split(' ');
        match name {
            "bank" => rest.clone_into(&mut facts.uuid),
            "made" => made_at = Some(parse_rfc3339(rest)?),
            "transactions" => facts.transactions = rest.parse().ok()?,
            "entries" => facts.entries = rest.parse().ok()?,
            "usages" => facts.usages = rest.parse().ok()?,
            "head" => rest.clone_into(&mut facts.head),
            "kind" => {
                let (kind, entries) = (words.next()?, words.next()?.parse().ok()?);
                let mut sums = [0_i128; 5];
                for sum in &mut sums {
                    *sum = words.next()?.parse().ok()?;
                }
                facts.kinds.insert(kind.to_owned(), (entries, sums));
            }
            "table" => {
                let (table, rows) = (words.next()?, words.next()?.parse().ok()?);
                let digest = words.next()?.to_owned();
                facts.tables.insert(table.to_owned(), (rows, digest));
            }
            "key" => {}
            _ => return None,
        }
    }
    Some(Checkpoint {
        facts,
        made_at: made_at?,
    })
}

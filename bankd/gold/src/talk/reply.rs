//! The result of a command, in the form of the peer (`gold-wire.md` 4 and 5).
//!
//! Inside the ledger's transaction, a result becomes a line of a few plain words, stored with the key of a
//! charge. The answer is made from that line each time, because a repeat may arrive from another peer. A
//! message contains a job, an amount and a cause, never a project or a user.

use bank_api::{error, text};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::effects::{Billing, Outcome};
use bank_core::time::Seconds;
use bankd_config::NoFundsWord;
use bankd_ledger::refused;
use bankd_ledger::writer::Decided;
use bankd_store::answer::{Answer, Media};

use super::request::{Verb, plain};
use crate::{Content, Value, Verified};

/// The values of the message about its job. The answer to a quote repeats them.
#[derive(Clone, Debug, Default)]
pub(super) struct JobValues {
    pub(super) job: String,
    pub(super) wall: Option<Seconds>,
    pub(super) user: Option<String>,
    pub(super) project: Option<String>,
    pub(super) machine: Option<String>,
    /// The message is from one of Gold's own clients.
    pub(super) is_clients: bool,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Success, with its amount, and the number of what it made: a guaranteed quote, an account, a job.
    Done(Amount, Option<i64>),
    /// Refused, with the code and one sentence.
    Refused(String, String),
}

impl Came {
    /// The stored form.
    fn line(&self) -> String {
        match self {
            Came::Done(amount, None) => format!("done {}", amount.0),
            Came::Done(amount, Some(made)) => format!("done {} {made}", amount.0),
            Came::Refused(code, why) => format!("refused {code} {why}"),
        }
    }

    /// Reads the stored form.
    pub(super) fn read(line: &[u8]) -> Option<Came> {
        let line = std::str::from_utf8(line).ok()?;
        match line.split_once(' ')? {
            ("done", rest) => {
                let (amount, quote) = match rest.split_once(' ') {
                    Some((amount, quote)) => (amount, Some(quote.parse().ok()?)),
                    None => (rest, None),
                };
                Some(Came::Done(Amount(amount.parse().ok()?), quote))
            }
            ("refused", rest) => {
                // Older answers have the code only.
                let (code, why) = rest.split_once(' ').unwrap_or((rest, ""));
                Some(Came::Refused(code.to_owned(), why.to_owned()))
            }
            _ => None,
        }
    }

    /// Whether the command succeeded.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Came::Done(..))
    }
}

/// The stored line. Warnings go to the log, because the answer has no field for them (`gold-wire.md` 4).
pub(super) fn rendered(decided: &Decided<'_>) -> Answer {
    let came = match decided.decision {
        Ok(Outcome::Reserved(reserved)) => {
            if let Some(refusal) = &reserved.would_refuse {
                warn(decided, refusal.code());
            }
            // The amount of this lien, without that of an older one.
            let new = reserved.held.0.saturating_sub(reserved.added_to.0);
            Came::Done(Amount(new.max(0)), Some(reserved.instance.0))
        }
        Ok(Outcome::Quoted(quoted)) => {
            Came::Done(quoted.cost, quoted.quote.as_ref().map(|quote| quote.id.0))
        }
        Ok(Outcome::Charged(charged)) => {
            if charged.billing == Billing::Unbilled {
                warn(decided, "unbilled");
            }
            if !charged.debt.is_zero() {
                warn(decided, "charge_debt");
            }
            if charged.late {
                warn(decided, "late_charge");
            }
            if charged.repeats {
                warn(decided, "repeated");
            }
            if charged.disputed.0 > 0 {
                warn(decided, "disputed");
            }
            if charged.unpriced && charged.amount.is_zero() {
                warn(decided, "unpriced");
            }
            Came::Done(charged.amount, Some(charged.instance.0))
        }
        Ok(Outcome::Repeated(_)) => {
            warn(decided, "repeated");
            Came::Done(Amount::ZERO, None)
        }
        Ok(outcome) => other(outcome),
        Err(refusal) => {
            let why = refused::detail(refusal, &decided.directory.bank);
            Came::Refused(refusal.code().to_owned(), why)
        }
    };
    let code = match &came {
        Came::Done(..) => None,
        Came::Refused(code, _) => Some(code.as_str()),
    };
    Answer {
        status: code.map_or(200, |code| error::row_or_internal(code).http),
        media: Media::Text,
        body: came.line().into_bytes(),
    }
}

/// The result of commands that are not about a job's money.
fn other(outcome: &Outcome) -> Came {
    match outcome {
        Outcome::Deposited(own) => Came::Done(own.amount, None),
        Outcome::Withdrawn(own) => Came::Done(own.amount, None),
        Outcome::Transferred(own) => Came::Done(own.amount, None),
        Outcome::Refunded(own) => Came::Done(own.amount, None),
        Outcome::Account(account, _) => Came::Done(Amount::ZERO, Some(account.id.0)),
        Outcome::Created(own) => Came::Done(Amount::ZERO, Some(own.instance.0)),
        _ => Came::Done(Amount::ZERO, None),
    }
}

fn warn(decided: &Decided<'_>, what: &'static str) {
    let request_id = decided.request_id;
    tracing::warn!(
        request_id,
        tx = decided.transaction,
        what,
        "gold charge or lien"
    );
}

/// The answer for the peer.
pub(super) fn of(
    came: &Came,
    verb: Verb,
    values: &JobValues,
    request: &Verified,
    bank: &Bank,
) -> Content {
    match came {
        Came::Done(amount, made) if values.is_clients => {
            for_client(*amount, *made, verb, values, bank)
        }
        Came::Done(amount, made) => done(*amount, *made, verb, values, bank),
        Came::Refused(code, _) => refusal(code, verb, values, request),
    }
}

/// The form of Gold's own clients: the count is the amount, and the data are of a job.
fn for_client(
    amount: Amount,
    made: Option<i64>,
    verb: Verb,
    values: &JobValues,
    bank: &Bank,
) -> Content {
    let number = text::format_amount(amount.0, bank.precision.places());
    let amount_of = |name, id: String| element(name, &(id + &element("Amount", &number)));
    let id = made.map_or_else(String::new, |id| element("Id", &id.to_string()));
    let inner = match verb {
        Verb::Reserve => id + &amount_of("Reservation", String::new()),
        Verb::Charge => id + &amount_of("Charge", String::new()),
        Verb::Quote => amount_of("Quotation", id),
    };
    Content {
        count: Some(number.clone()),
        data: Some(element("Job", &inner)),
        ..done(amount, made, verb, values, bank)
    }
}

fn done(
    amount: Amount,
    quote: Option<i64>,
    verb: Verb,
    values: &JobValues,
    bank: &Bank,
) -> Content {
    let number = text::format_amount(amount.0, bank.precision.places());
    let (job, unit) = (plain(&values.job), &bank.unit);
    let (message, data) = match verb {
        Verb::Reserve => (
            format!("Successfully reserved {number} {unit} for job {job}"),
            element("Reservation", &element("Amount", &number)),
        ),
        Verb::Charge => (
            format!("Successfully charged job {job} for {number} {unit}"),
            element("Job", &element("Charge", &number)),
        ),
        Verb::Quote => {
            let with = quote.map(|id| format!(" with quote id {id}"));
            let with = with.unwrap_or_default();
            (
                format!("Successfully quoted {number} {unit}{with}"),
                quotation(&number, quote, values),
            )
        }
    };
    Content {
        value: Value::Success,
        code: "000",
        message: Some(message),
        count: Some("1".to_owned()),
        data: Some(data),
    }
}

/// A field that the request omitted is omitted.
fn quotation(amount: &str, quote: Option<i64>, values: &JobValues) -> String {
    let id = quote.map(|id| element("Id", &id.to_string()));
    let mut inner = id.unwrap_or_default();
    inner.push_str(&element("Amount", amount));
    let wall = values.wall.map(|wall| wall.0.to_string());
    for (name, value) in [
        ("WallDuration", &wall),
        ("User", &values.user),
        ("Project", &values.project),
        ("Machine", &values.machine),
    ] {
        if let Some(value) = value {
            inner.push_str(&element(name, &escaped(value)));
        }
    }
    element("Quotation", &inner)
}

/// The two refusals that a scheduler acts on have a form for each kind of peer (`gold-wire.md` 4). All
/// others consist of a code and a cause.
fn refusal(code: &str, verb: Verb, values: &JobValues, request: &Verified) -> Content {
    let row = error::row_or_internal(code);
    let to_maui = match request.peer.no_funds {
        NoFundsWord::Auto => request.is_maui,
        NoFundsWord::Maui => true,
        NoFundsWord::Gold => false,
    };
    let does = match verb {
        Verb::Reserve | Verb::Quote => "reserve",
        Verb::Charge => "charge",
    };
    let job = plain(&values.job);
    let what = format!("{does} job {job}");
    let what = what.trim_end();
    let project = plain(values.project.as_deref().unwrap_or_default());
    let user = plain(values.user.as_deref().unwrap_or_default());
    let machine = plain(values.machine.as_deref().unwrap_or_default());
    let message = match (row.gold, to_maui) {
        _ if values.is_clients && row.code == "project_unknown" => {
            format!("Project {project} does not exist")
        }
        _ if values.is_clients && row.code == "user_unknown" => {
            format!("User {user} does not exist")
        }
        _ if values.is_clients && row.code == "machine_unknown" => {
            format!("Machine {machine} does not exist")
        }
        ("782", false) if values.is_clients && verb == Verb::Quote => {
            "Insufficient balance to satisfy quotation".to_owned()
        }
        ("782", false) if values.is_clients => {
            format!("Insufficient balance to {does} job (JobId {job})")
        }
        ("782", true) => format!("Not enough credits to {what}"),
        ("782", false) => format!("Insufficient balance to {what}"),
        ("740", true) => format!("Not allowed to {what}"),
        ("740", false) => format!("Not allowed to {what}: {}", row.title),
        ("444", _) => format!("Not allowed to {what}: not in this peer's scope"),
        _ => format!("Cannot {what}: {}", row.title),
    };
    let is_for_maui = to_maui && verb != Verb::Charge && matches!(row.gold, "782" | "740");
    Content {
        data: is_for_maui.then(String::new),
        ..Content::failure(row.gold, message)
    }
}

/// `<NAME>INNER</NAME>`, with an escaped inner text.
pub(super) fn element(name: &str, inner: &str) -> String {
    format!("<{name}>{inner}</{name}>")
}

/// A text as XML, on one line: there are clients that split an answer at its line feeds.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if bankd_nami::is_character(c) && c >= ' ' => safe.push(c),
            _ => safe.push(' '),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        for came in [
            Came::Done(Amount(-12), None),
            Came::Done(Amount(2400), Some(7)),
            Came::Refused("not_a_member".into(), "user \"x\" is none".into()),
        ] {
            assert_eq!(Came::read(came.line().as_bytes()), Some(came));
        }
        for line in ["", "done", "done x", "gone 1", "\u{e9}"] {
            assert_eq!(Came::read(line.as_bytes()), None);
        }
    }

    #[test]
    fn values_are_escaped_and_stay_on_their_line() {
        assert_eq!(
            escaped("R&D <\"a\"\n\u{1}>é"),
            "R&amp;D &lt;&quot;a&quot;  &gt;é"
        );
    }
}

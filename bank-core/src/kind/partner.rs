//! Partner banks: banks whose projects run here, or where projects of this bank run.

use super::{Field, KeyType, Kind, Objects, Readers, Record, Type, Value, choice};
use crate::partner::TIMEOUT_MS;
use crate::refusal::Refusal;

/// Most projects that are named for a partner.
const PROJECTS_MAX: usize = 1_000;
/// The longest name, in bytes: `partner-NAME` is the id of its secret.
const NAME_MAX: usize = 56;
/// The shortest and the longest wait for an answer, in milliseconds. A scheduler waits for 8 s.
const TIMEOUT: (i64, i64) = (100, 6_000);

pub(super) fn kind() -> Kind {
    let ops = ["partner_add", "partner_set", "partner_rm"];
    let about = "Partner banks: their projects run here, or ours run there";
    let kind = Kind {
        deleted_after: 8,
        key: KeyType::Name,
        key_rule: name,
        readers: Readers::Auditors,
        most: 1_000,
        of_messages: true,
        help: [
            "Add a partner bank".into(),
            "Change a partner bank".into(),
            "Remove a partner bank without messages".into(),
            "no partner banks".into(),
        ],
        check,
        ..Kind::new("partner", "partners", ops, about)
    };
    reached(kind).with(Field::description())
}

fn reached(kind: Kind) -> Kind {
    let projects = Type::References("project".into(), PROJECTS_MAX);
    let active = "Let the partner and its projects start jobs and deliver charges";
    let account = "Account that has what the partner owes for jobs of its projects here";
    let url = "Address of the partner's daemon: HTTP or HTTPS with host and port";
    let key =
        "Id of the key that the partner gave to this bank; its secret is in keys/partner-NAME";
    let away = "Answer to a reserve while the partner cannot be reached";
    let timeout = "Longest wait for an answer, in milliseconds";
    let open = "Project that the partner may charge, with those below it";
    kind.with(Field::new("active", Type::Flag, active).default(Value::Flag(true)))
        .with(
            Field::new("account", Type::Text(256), account)
                .absent("none of its projects may run here")
                .once()
                .rule(owing),
        )
        .with(
            Field::new("url", Type::Text(256), url)
                .label("Address")
                .absent("it cannot be reached")
                .rule(address),
        )
        .with(
            Field::new("signing_key", Type::Text(64), key)
                .label("Key")
                .absent("it cannot be reached")
                .option("signing-key")
                .secondary(),
        )
        .with(
            Field::new("away", choice(["refuse", "accept"]), away)
                .default(Value::Text("refuse".to_owned())),
        )
        .with(
            Field::new("timeout_ms", Type::Whole(TIMEOUT.0, TIMEOUT.1), timeout)
                .default(Value::Whole(TIMEOUT_MS))
                .option("timeout")
                .secondary(),
        )
        .with(
            Field::new("projects", projects, open)
                .absent("all")
                .option("project")
                .letter('A'),
        )
}

/// A domain name: both banks name each other alike.
fn name(text: &str) -> Result<(), Refusal> {
    let is_label = |label: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        !label.is_empty() && label.bytes().all(plain) && label.trim_matches('-') == label
    };
    if text.len() <= NAME_MAX && text.split('.').all(is_label) {
        return Ok(());
    }
    Err(Refusal::bad_name(
        text,
        "the name of a partner bank is a domain name of at most 56 bytes, such as physics.example.org",
    ))
}

/// An account of one project.
fn owing(text: &str, objects: &dyn Objects) -> Result<String, Refusal> {
    if !objects.has("account", text) {
        return Err(Refusal::not_found("account", text));
    }
    if objects.has_payer(text) {
        return Ok(text.to_owned());
    }
    Err(Refusal::bad_field(
        "account",
        "an account whose lists allow one project",
    ))
}

/// `http://HOST:PORT` or `https://HOST:PORT`, without a path.
fn address(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let (scheme, authority) = text.split_once("://").unwrap_or_default();
    let is_known = ["http", "https"].contains(&scheme);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let port = authority
        .rsplit_once(':')
        .map(|(host, port)| (host, port.parse::<u16>()));
    match port {
        Some((host, Ok(1..))) if is_known && !host.is_empty() && authority.chars().all(plain) => {
            Ok(text.to_owned())
        }
        _ => Err(Refusal::bad_field(
            "url",
            "http://HOST:PORT or https://HOST:PORT",
        )),
    }
}

/// An address needs a key, and each partner has an account of its own: their debts could not be separated.
fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let account = own.value("account");
    let has_same = |other: &&Record| other.key != own.key && other.value("account") == account;
    let mut others = objects.records().all("partner");
    if let Some(other) = others.find(has_same).filter(|_| !account.is_none()) {
        return Err(Refusal::bad_field(
            "account",
            format!(
                "an account of its own; partner {} has this one",
                other.name()
            ),
        ));
    }
    if own.value("url").is_none() == own.value("signing_key").is_none() {
        return Ok(());
    }
    Err(Refusal::bad_field(
        "signing_key",
        "url and signing_key together, or neither",
    ))
}

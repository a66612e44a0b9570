//! Reserve, Charge and Quote of a job, as commands for the writer (`gold-wire.md` 3.2 to 3.4, 5).

use std::fmt::Write as _;
use std::sync::Arc;

use bank_core::command::{Charge, Command, Promise, QuoteRequest, Repeat, Request, Reserve, Scope};
use bank_core::directory::Directory;
use bank_core::model::InstanceKey;
use bank_core::terms::Terms;
use bank_core::time::{Seconds, Timestamp};
use sha2::{Digest, Sha256};

use super::request::{Asked, missing, unsupported};
use super::said::{self, Came, Told};
use super::{Fault, Said};
use crate::app::App;
use crate::gold::Verified;
use crate::nami::{self, Document, ObjectKind};
use crate::writer::{Caller, IdempotencyKey, Origin, Reply, Submission, Summary};

/// The name of the gateway as a machine's charging source (decision 19).
const SOURCE: &str = "gold";

/// What is done with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Hold what it will cost.
    Reserve,
    /// Bill what it used.
    Charge,
    /// Say what it would cost.
    Quote,
}

/// A command, and what its answer and its log line are made of.
#[derive(Clone, Debug)]
struct Made {
    command: Command,
    /// The key that tells a repeat, where there is one, and what a repeat is journalled as.
    keyed: Option<(IdempotencyKey, Repeat)>,
    told: Told,
}

/// What holds for all messages of a peer.
struct Setting<'a> {
    scope: &'a Scope,
    strict_project: bool,
    reservation_idle: Seconds,
    /// Who and what there is, and what the site declared.
    directory: &'a Directory,
}

/// Runs a message about a job.
pub(super) async fn answer(
    app: &Arc<App>,
    request: &Verified,
    verb: Verb,
    asked: &Asked,
    request_id: &str,
) -> Result<Said, Fault> {
    let peer = &request.peer;
    let directory = app.writer.directory();
    let setting = Setting {
        scope: &peer.scope,
        strict_project: peer.strict_project,
        reservation_idle: Seconds(app.config.gold.reservation_idle),
        directory: &directory,
    };
    let made = of(asked, verb, &request.body, &setting)?;
    let submission = |command, key| Submission {
        command,
        caller: Caller {
            actor: peer.key_id.clone(),
            client: peer.client.clone(),
            origin: Origin::Gold,
            scope: peer.scope.clone(),
        },
        key,
        request_id: request_id.to_owned(),
        dry_run: false,
        render: said::rendered,
        fingerprint: String::new(),
    };
    let (key, repeat) = made.keyed.unzip();
    let reply = app.writer.submit(submission(made.command, key)).await?;
    let (answer, repeat) = match reply {
        Reply::Fresh { answer, summary } => {
            log(&made.told, summary, request_id);
            (answer, None)
        }
        Reply::Stored(answer) => (answer, repeat),
        // The key is made from the whole body, and a message has no nonce.
        Reply::KeyReused | Reply::Replay => {
            return Err(Fault::new("internal", "a key that fits two messages"));
        }
    };
    let came = Came::read(&answer.body).ok_or_else(|| unreadable(request_id))?;
    if let Some(repeat) = repeat.filter(|_| came.is_done()) {
        let note = submission(Command::Repeat(repeat), None);
        app.writer.submit(note).await?;
    }
    let bank = &app.writer.directory().bank;
    Ok(said::of(&came, verb, &made.told, request, bank))
}

fn unreadable(request_id: &str) -> Fault {
    tracing::error!(request_id, "a stored answer of the gateway is none");
    Fault::new("internal", "a stored answer could not be read")
}

/// The command of a message.
fn of(asked: &Asked, verb: Verb, body: &[u8], setting: &Setting<'_>) -> Result<Made, Fault> {
    if !(asked.conditions.is_empty() && asked.wanted.is_empty()) {
        return Err(unsupported("Where or Get beside a job"));
    }
    let mut document = document(asked, verb)?;
    let wall = document.wall_duration_s.map(Seconds);
    let kind = document.kind;
    let (started, ended) = (document.start_time_s, document.end_time_s);
    let told = Told {
        job: document.object_id.clone().unwrap_or_default(),
        wall,
        user: document.user.clone(),
        project: document.account.clone(),
        machine: document.machine.clone(),
    };
    // Only Moab's documents bill a duration of their own.
    document.charge_duration_s = None;
    let machine = setting.scope.only_machine().unwrap_or_default();
    let request = nami::request(document, setting.directory, machine);
    let is_job = kind == ObjectKind::Job;
    let object = request.key();
    let is_keyed = verb == Verb::Charge && is_job && started.is_some() && ended.is_some();
    let command = match verb {
        Verb::Reserve => Command::Reserve(reserve(request, wall)),
        Verb::Quote => Command::Quote(quote(request, wall)),
        Verb::Charge => {
            let mut request = request;
            request.event_time = ended.map(Timestamp::from_seconds);
            Command::Charge(Charge {
                request,
                duration: wall,
                closes: is_job && ended.is_some(),
                terms: Terms {
                    // The gateway hears of charges when they happen, and in their order.
                    newest: is_job,
                    named_only: setting.strict_project,
                    idle: (!is_job).then_some(setting.reservation_idle),
                    source: Some(SOURCE.to_owned()),
                    ..Terms::default()
                },
                ..Charge::default()
            })
        }
    };
    Ok(Made {
        command,
        keyed: is_keyed.then(|| keyed(body, object)),
        told,
    })
}

fn reserve(mut request: Request, wall: Option<Seconds>) -> Reserve {
    // No duration is one of 0 (gold-wire.md 3.2).
    request.facts.wall = Some(wall.unwrap_or_default());
    Reserve {
        request,
        ..Reserve::default()
    }
}

fn quote(request: Request, wall: Option<Seconds>) -> QuoteRequest {
    QuoteRequest {
        whose: request.whose,
        usage: request.facts.usage,
        duration: Some(wall.unwrap_or_default()),
        promise: Promise::None,
        tid: String::new(),
        uses: 1,
        group: request.facts.group,
        cost_only: false,
        any_member: false,
    }
}

/// The fields of a message as a document, with all that the verb needs.
fn document(asked: &Asked, verb: Verb) -> Result<Document, Fault> {
    let fields = || asked.fields.iter().map(|(n, v)| (n.as_str(), v.as_str()));
    let is_reservation = |(name, value): (&str, &str)| {
        name == "Type"
            && ["reservation", "rsv"]
                .iter()
                .any(|r| value.eq_ignore_ascii_case(r))
    };
    let kind = if fields().any(is_reservation) {
        ObjectKind::Reservation
    } else {
        ObjectKind::Job
    };
    // Whatever is wrong with a field makes that field unusable, not the message's syntax.
    let unusable = |e: nami::DocumentError| Fault::new("bad_number", harmless(&e.message));
    let document = nami::of_fields(kind, fields()).map_err(unusable)?;
    if document.object_id.is_none() && verb != Verb::Quote {
        return Err(missing("JobId"));
    }
    if document.wall_duration_s.is_none() && verb == Verb::Charge {
        return Err(missing("WallDuration"));
    }
    Ok(document)
}

/// A message without what one client or another cannot read.
fn harmless(message: &str) -> String {
    let safe = |c: char| c.is_ascii_graphic() && !"<>&\"'".contains(c) || c == ' ';
    message
        .chars()
        .map(|c| if safe(c) { c } else { '?' })
        .collect()
}

/// The key of a charge: the same bytes are the same charge (decision 22).
fn keyed(body: &[u8], object: InstanceKey) -> (IdempotencyKey, Repeat) {
    let fingerprint: [u8; 32] = Sha256::digest(body).into();
    let mut digits = String::with_capacity(64);
    for byte in fingerprint {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    let key = IdempotencyKey {
        key: format!("gold:{digits}"),
        whole: None,
        fingerprint,
        nonce: String::new(),
        is_content: true,
    };
    let repeat = Repeat {
        key: object,
        of: key.key.clone(),
    };
    (key, repeat)
}

/// The line of a command, as of one that came another way.
fn log(told: &Told, summary: Summary, request_id: &str) {
    tracing::info!(
        request_id,
        op = summary.op,
        refused = summary.code,
        tx = summary.transaction,
        amount = summary.amount,
        project = told.project,
        user = told.user,
        machine = told.machine,
        job = told.job,
        batch = summary.batch,
        queue_us = summary.queue_us,
        commit_us = summary.commit_us,
        "command"
    );
}

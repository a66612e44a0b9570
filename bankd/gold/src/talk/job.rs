//! Reserve, Charge and Quote of a job, as commands for the writer (`gold-wire.md` 3.2 to 3.4, 5).

use std::fmt::Write as _;
use std::sync::Arc;

use bank_core::command::{Charge, Command, Promise, QuoteRequest, Repeat, Request, Reserve, Scope};
use bank_core::directory::Directory;
use bank_core::model::{InstanceKey, ObjectType};
use bank_core::terms::Terms;
use bank_core::time::Seconds;
use bankd_ledger::access::right::Right;
use bankd_ledger::keys;
use bankd_ledger::writer::{IdempotencyKey, Origin, Reply, Summary};
use bankd_nami::{self as nami, Document, ObjectKind};
use bankd_services::Services;
use bankd_store::read::jobs;
use sha2::{Digest, Sha256};

use super::options::{Options, not_read};
use super::reply::{self, Came, JobValues};
use super::request::{Call, Verb, missing, plain, unsupported};
use super::{Asked, Content, Fault, demand, key_reused, money, replayed, submission};
use crate::Verified;

/// The name of the gateway as a machine's charging source (decisions.md 19).
const SOURCE: &str = "gold";

/// A command, with the data for its answer and its log line.
#[derive(Clone, Debug)]
struct Made {
    command: Command,
    /// The key to detect a repeat, if any, and the operation name of a repeat.
    keyed: Option<(IdempotencyKey, Repeat)>,
    values: JobValues,
}

/// Values for all messages of a peer.
struct Setting<'a> {
    scope: &'a Scope,
    strict_project: bool,
    reservation_idle: Seconds,
    is_maui: bool,
    /// The request is from the gateway. The charging source of the machine decides whether its charges bill.
    is_gateway: bool,
    /// Objects and settings of the bank.
    directory: &'a Directory,
}

/// Runs a message about a job.
pub(super) async fn answer(
    services: &Arc<Services>,
    request: &Verified,
    verb: Verb,
    call: &Call,
    request_id: &str,
) -> Result<Content, Fault> {
    demand(
        request,
        match verb {
            Verb::Reserve => Right::Hold,
            Verb::Charge => Right::Charge,
            Verb::Quote => Right::Quote,
        },
    )?;
    let peer = &request.peer;
    let directory = services.writer.directory();
    let setting = Setting {
        scope: &peer.scope,
        strict_project: peer.strict_project,
        reservation_idle: Seconds(services.gold.reservation_idle),
        is_maui: request.is_maui,
        is_gateway: request.origin == Origin::Gold,
        directory: &directory,
    };
    let asked = Asked::new(services, request, call, &directory);
    check_view(&asked)?;
    let options = Options::of(call, verb)?;
    left_out(services, &options.ignored, verb.word(), request_id);
    let mut made = of(call, &options, verb, &request.body, &setting)?;
    find_quote(services, &mut made.command).await?;
    // Other interfaces have a key of their own.
    let keyed = made.keyed.filter(|_| setting.is_gateway);
    let (key, repeat) = keyed.unzip();
    let key = request.key.clone().or(key);
    let submitted = submission(request, made.command, key, request_id);
    let reply = services.submit(submitted).await?;
    let (answer, repeat) = match reply {
        Reply::Fresh { answer, summary } => {
            log(&made.values, summary, request_id);
            (answer, None)
        }
        Reply::Stored(answer) => (answer, repeat),
        Reply::KeyReused => return Err(key_reused()),
        Reply::Replay => return Err(replayed()),
    };
    let came = Came::read(&answer.body).ok_or_else(|| unreadable(request_id))?;
    if let Some(repeat) = repeat.filter(|_| came.is_done()) {
        let note = submission(request, Command::Repeat(repeat), None, request_id);
        services.writer.submit(note).await?;
    }
    let bank = &services.writer.directory().bank;
    Ok(reply::of(&came, verb, &made.values, request, bank))
}

/// Objects out of the view of a person do not exist for them. A scheduler is limited by the scope of its key
/// only, which the rules check.
fn check_view(asked: &Asked<'_>) -> Result<(), Fault> {
    let (view, directory) = (&asked.view, asked.directory);
    if view.sees_everything() {
        return Ok(());
    }
    let unknown = |code, object, name: &str| {
        let name = plain(name);
        Err(Fault::new(code, format!("{object} {name} does not exist")))
    };
    for (field, value) in &asked.call.fields {
        match field.as_str() {
            "ProjectId" | "Project" => {
                let project = directory.project_named(value);
                let account = directory.account_named(value);
                // An account is meant where no project has the name.
                let is_seen = match project {
                    Some(project) => view.sees_project(project),
                    None => account.is_some_and(|own| view.sees_account(own)),
                };
                if !is_seen {
                    return unknown("project_unknown", "Project", value);
                }
            }
            "UserId" | "User" => {
                let user = directory.user_named(value);
                if !user.is_some_and(|own| view.sees_user(own)) {
                    return unknown("user_unknown", "User", value);
                }
            }
            "MachineName" | "Machine" if !view.sees_machine(value) => {
                return unknown("machine_unknown", "Machine", value);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Logs and counts options that were left out.
pub(super) fn left_out(services: &Services, names: &[String], action: &str, request_id: &str) {
    if names.is_empty() {
        return;
    }
    let options = names.iter().map(|name| plain(name)).collect::<Vec<_>>();
    let options = options.join(",");
    tracing::warn!(request_id, action, options, "options were left out");
    services.counters.options_left_out(names.len());
}

/// A client names a quote by its number or its TID. An unknown one has no effect, like an expired one
/// (ledger.md 2.7).
async fn find_quote(services: &Arc<Services>, command: &mut Command) -> Result<(), Fault> {
    let request = match command {
        Command::Reserve(reserve) => &mut reserve.request,
        Command::Charge(charge) => &mut charge.request,
        _ => return Ok(()),
    };
    let Some(name) = request.tid.clone() else {
        return Ok(());
    };
    let question = move |connection: &_| jobs::quote_named(connection, &name);
    if let Some(tid) = services.readers.run(question).await? {
        request.tid = Some(tid);
    }
    Ok(())
}

pub(super) fn unreadable(request_id: &str) -> Fault {
    tracing::error!(request_id, "a stored answer of the gateway is none");
    Fault::new("internal", "a stored answer could not be read")
}

/// The command of a message.
fn of(
    call: &Call,
    options: &Options,
    verb: Verb,
    body: &[u8],
    setting: &Setting<'_>,
) -> Result<Made, Fault> {
    if !(call.conditions.is_empty() && call.wanted.is_empty()) {
        return Err(unsupported("Where or Get with a job"));
    }
    let mut document = document(call, verb)?;
    let durations = options.durations(&document);
    let (wall, priced) = durations.ok_or_else(|| no_duration(verb, setting.is_maui))?;
    let kind = document.kind;
    let values = JobValues {
        job: document.object_id.clone().unwrap_or_default(),
        wall: Some(wall),
        user: document.user.clone(),
        project: document.account.clone(),
        machine: document.machine.clone(),
        is_clients: options.is_clients,
    };
    // Only Moab's documents contain a separate charged duration.
    document.charge_duration_s = None;
    let machine = setting.scope.only_machine().unwrap_or_default();
    let mut request = nami::request(document, setting.directory, machine);
    let other = &mut request.facts.other;
    let is_described = other.iter().any(|(name, _)| name == "Description");
    if let Some(text) = options.description.as_ref().filter(|_| !is_described) {
        other.push(("Description".to_owned(), text.clone()));
    }
    let object = request.key();
    let is_job = kind == ObjectKind::Job;
    let mut keyed_by = None;
    let command = match verb {
        Verb::Reserve => Command::Reserve(reserve(request, (wall, priced), options)),
        Verb::Quote => Command::Quote(quote(request, priced, options)?),
        Verb::Charge => {
            let mut charge = charge(request, (wall, priced), options, setting);
            let bank = &setting.directory.bank;
            let given = options.amount.as_deref();
            let given = given.map(|text| money::amount(text, bank));
            charge.terms.amount = given.transpose()?;
            let facts = &charge.request.facts;
            let is_keyed = is_job && facts.start.is_some() && facts.end.is_some();
            keyed_by = is_keyed.then(|| keyed(body, object));
            Command::Charge(charge)
        }
    };
    Ok(Made {
        command,
        keyed: keyed_by,
        values,
    })
}

/// A message without a duration, in the words of Gold for all clients but Maui.
fn no_duration(verb: Verb, is_maui: bool) -> Fault {
    if is_maui {
        return missing("WallDuration");
    }
    let purpose = match verb {
        Verb::Reserve => "reservation",
        Verb::Charge => "charge",
        Verb::Quote => "quote",
    };
    let message = format!("A wall duration must be specified for the {purpose}");
    Fault::new("missing_field", message)
}

/// A scheduler repeats a reserve, so it replaces the older one (gold-wire.md 5). Gold's own clients request
/// that with `Replace`. Without it, the lien grows.
fn reserve(mut request: Request, (wall, priced): (Seconds, Seconds), options: &Options) -> Reserve {
    request.facts.wall = Some(wall);
    Reserve {
        request,
        charge_duration: (priced != wall).then_some(priced),
        start: options.start,
        end: options.end,
        adds: options.is_clients && !options.replaces,
        ..Reserve::default()
    }
}

/// A charge of a job with its end closes it, as one of Gold's own clients does; `Incremental` leaves
/// it open.
fn charge(
    mut request: Request,
    (wall, priced): (Seconds, Seconds),
    options: &Options,
    setting: &Setting<'_>,
) -> Charge {
    let is_job = request.object_type == ObjectType::Job;
    let facts = &mut request.facts;
    facts.wall = facts.wall.or(Some(wall));
    facts.start = facts.start.or(options.start);
    facts.end = facts.end.or(options.end);
    // The end of the charged time if the request has one, else that of the job.
    request.event_time = options.end.or(facts.end);
    let ends = facts.end.is_some() || options.is_clients;
    // Over HTTP a person's own client sends options.
    let is_schedulers = setting.is_gateway || !options.is_clients;
    Charge {
        duration: Some(priced),
        closes: is_job && options.incremental.map_or(ends, |incremental| !incremental),
        // A person with one of Gold's own clients charges any time.
        is_checked: !options.is_clients,
        terms: Terms {
            // Charges reach the gateway when they happen, and in their order.
            newest: is_job,
            named_only: setting.strict_project,
            idle: (!is_job).then_some(setting.reservation_idle),
            source: is_schedulers.then(|| SOURCE.to_owned()),
            ..Terms::default()
        },
        request,
        ..Charge::default()
    }
}

fn quote(request: Request, priced: Seconds, options: &Options) -> Result<QuoteRequest, Fault> {
    let (promise, tid) = if options.guarantee {
        let failed = |_| Fault::new("internal", "no random numbers");
        (Promise::Guarantee, keys::new_tid().map_err(failed)?)
    } else {
        (Promise::None, String::new())
    };
    Ok(QuoteRequest {
        whose: request.whose,
        usage: request.facts.usage,
        duration: Some(priced),
        promise,
        tid,
        uses: 1,
        group: request.facts.group,
        cost_only: options.cost_only,
        any_member: false,
    })
}

/// The fields of a message as a document, with all that the verb needs.
fn document(call: &Call, verb: Verb) -> Result<Document, Fault> {
    let fields = || call.fields.iter().map(|(n, v)| (n.as_str(), v.as_str()));
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
    let document = nami::of_fields(kind, fields()).map_err(|error| not_read(&error))?;
    if document.object_id.is_none() && verb != Verb::Quote {
        return Err(missing("JobId"));
    }
    Ok(document)
}

/// The key of a charge: the same bytes are the same charge (decisions.md 22).
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

/// The log line of a command, in the form of other interfaces.
pub(super) fn log(values: &JobValues, summary: Summary, request_id: &str) {
    tracing::info!(
        request_id,
        op = summary.op,
        refused = summary.code,
        tx = summary.transaction,
        amount = summary.amount,
        project = values.project,
        user = values.user,
        machine = values.machine,
        job = values.job,
        batch = summary.batch,
        queue_us = summary.queue_us,
        commit_us = summary.commit_us,
        "command"
    );
}

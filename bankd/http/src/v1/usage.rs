//! Finished usage: each record is a separate command, and is accepted or refused independently.

use bank_api::error::Problem;
use bank_api::text::own_words;
use bank_api::v1::{
    NewEquivalents, NewUsage, NewUsages, Number, USAGE_RECORDS_MAX, UsageItem, UsageTaken,
};
use bank_core::command::{AsNamed, Command, Request, UsageReport, Whose};
use bank_core::decimal::Decimal;
use bank_core::effects::{Became, Outcome, Used};
use bank_core::host;
use bank_core::mapping::{Mapped, Naming};
use bank_core::model::{Facts, ObjectType};
use bank_core::policy::{Ended, Equivalents, Figures, Share};
use bank_core::refusal::Refusal;
use bank_core::time::Seconds;
use bank_core::usage::kept::{HOSTS, PROCESSORS, kept};
use bank_core::usage::{Usage, add_resource};
use bankd_intake::namespace;
use bankd_ledger::access::right::Right;
use bankd_ledger::writer::{Decided, result};
use bankd_store::answer::{Answer, Media};
use serde_json::Value;

use super::call::{Call, Handled, ok, rendered};
use super::json::{self, cleared, read_amount, read_time_of};
use super::object::only_machine;
use crate::error::{Failure, problem};

/// Most requirements of one record.
const TASKS_MAX: usize = 64;

/// `POST /api/v1/usage`: one record, or several under `records`.
pub(super) async fn take(call: Call) -> Handled {
    let body: Value = call.json()?;
    let records = if body.get("records").is_some() {
        call.json::<NewUsages>()?.records
    } else {
        // A single invalid record makes the request invalid.
        call.json::<NewUsage>()?;
        vec![body]
    };
    if !(1..=USAGE_RECORDS_MAX).contains(&records.len()) {
        let detail = format!("records: 1 to {USAGE_RECORDS_MAX} of them in one request");
        return Err(Failure::new("bad_request", detail).hint("send them in several requests"));
    }
    // Whoever may send this decides that usage is not charged.
    if records
        .iter()
        .any(|record| record.get("charged_before").is_some())
    {
        call.demand(Right::ChangeReference)?;
    }
    let mut items: Vec<Result<UsageItem, String>> = Vec::with_capacity(records.len());
    let mut commands = Vec::new();
    for (number, record) in (1_usize..).zip(records) {
        let id = record.get("id").and_then(Value::as_str).unwrap_or_default();
        let id = id.to_owned();
        match read(record, &call) {
            Ok(report) => {
                commands.push((number, Command::Usage(Box::new(report))));
                items.push(Err(id));
            }
            Err(problem) => items.push(Ok(refused(id, *problem))),
        }
    }
    let dry_run = call.dry_run()?;
    let (answers, beside) = call.write_all(commands, render).await?;
    let mut answers = answers.into_iter();
    let mut taken = Vec::with_capacity(items.len());
    for item in items {
        taken.push(match item {
            Ok(item) => item,
            Err(id) => answered(id, answers.next())?,
        });
    }
    let answer = ok(&UsageTaken {
        transaction: taken.iter().find_map(|item| item.transaction),
        items: taken,
        dry_run,
    })?;
    Ok(beside.mark(answer))
}

fn answered(id: String, answer: Option<Answer>) -> Result<UsageItem, Failure> {
    let broken = || Failure::new("internal", "a record has no answer");
    let answer = answer.ok_or_else(broken)?;
    if answer.media == Media::Json {
        return serde_json::from_slice(&answer.body).map_err(|_| broken());
    }
    let problem = Problem::from_json(&answer.body).ok_or_else(broken)?;
    Ok(refused(id, problem))
}

fn refused(id: String, problem: Problem) -> UsageItem {
    UsageItem {
        id,
        outcome: "refused".to_owned(),
        code: Some(problem.code),
        detail: problem.detail,
        ..UsageItem::default()
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| {
        let (Outcome::Used(used), Command::Usage(report)) = (outcome, decided.command) else {
            return None;
        };
        Some(shaped(decided, report, used))
    })
}

fn shaped(decided: &Decided<'_>, report: &UsageReport, used: &Used) -> UsageItem {
    let bank = &decided.directory.bank;
    let charged = used.charged.as_ref();
    let account = charged
        .and_then(|c| c.account)
        .and_then(|id| decided.directory.account(id));
    let machine = &report.request.whose.machine;
    let unbilled = charged.is_some_and(|c| c.billing == bank_core::effects::Billing::Unbilled);
    let known = decided.directory.any_machine_named(machine);
    let is_own = known.is_some_and(|known| known.source.as_deref() == Some(&report.source));
    let detail = match (used.became, &used.charged_by) {
        (Became::Kept | Became::Duplicate, Some(_)) if is_own => Some(format!(
            "kept for reconciliation: the job was charged before, by documents of its scheduler or by hand; \
             `bank reconcile -m {machine}` compares both"
        )),
        (Became::Kept | Became::Duplicate, Some(source)) => Some(format!(
            "kept for reconciliation: machine {machine} is charged from {source}; \
             `bank machine set {machine} --source {}` changes that",
            report.source
        )),
        _ if unbilled => Some(format!(
            "unbilled: project {:?} could not be billed when the job ran; charged to #unbilled",
            charged.map_or("", |c| c.project.as_str())
        )),
        _ => None,
    };
    UsageItem {
        id: report.request.object_id.clone(),
        outcome: result(report, used.became, charged).to_owned(),
        amount: charged.map(|c| json::amount(c.amount, bank)),
        unit: bank.unit.clone(),
        account: account.map(|a| a.name.clone()),
        policy: json::some(&used.policy),
        counted: json::some(&used.counted),
        code: None,
        detail,
        transaction: decided.transaction,
    }
}

/// The command of a record, or its error.
fn read(record: Value, call: &Call) -> Result<UsageReport, Box<Problem>> {
    let new: NewUsage = serde_json::from_value(record)
        .map_err(|error| Box::new(Problem::new("bad_request", own_words(&error.to_string()))))?;
    report(new, call).map_err(|refusal| Box::new(problem(&refusal, &call.directory().bank)))
}

fn report(new: NewUsage, call: &Call) -> Result<UsageReport, Refusal> {
    let figures = figures(&new)?;
    let word = new.kind.as_deref().unwrap_or(ObjectType::Job.word());
    let object_type =
        ObjectType::parse(word).ok_or(Refusal::bad_value("type", "job or reservation"))?;
    let machine = new.machine.clone();
    let machine = machine.map_or_else(|| only_machine(&call.view), Ok)?;
    let mut facts = facts(&new)?;
    let charged_before = new.charged_before.as_deref();
    let charged_before =
        charged_before.map(|text| read_amount(text, call.directory().bank.precision));
    let (account, login) = (facts.project.clone(), facts.user.clone());
    let Mapped {
        project, user, pi, ..
    } = call.directory().mapped(&Naming {
        source: &new.source,
        machine: &machine,
        user: &login,
        group: &facts.group,
        account: &account,
        queue: new.class.as_deref().unwrap_or_default(),
        qos: new.qos.as_deref().unwrap_or_default(),
        namespace: namespace("", "", &new.attributes),
        attributes: Some(&new.attributes),
    });
    let named = AsNamed {
        account: (project != account).then_some(account),
        user: (user != login).then_some(login),
    };
    facts.project.clone_from(&project);
    facts.user.clone_from(&user);
    Ok(UsageReport {
        host: new.host.as_deref().and_then(host::first),
        more: more(&new, facts.usage.processors),
        source: new.source,
        figures,
        named,
        pi,
        flags: String::new(),
        track: false,
        is_present: false,
        charged_before: charged_before.transpose()?,
        request: Request {
            object_type,
            object_id: new.id,
            whose: Whose {
                project: cleared(project),
                user: cleared(user),
                machine,
                for_reservation: object_type == ObjectType::Reservation,
            },
            facts,
            ..Request::default()
        },
    })
}

/// The facts of a record, with the names as its source has them.
fn facts(new: &NewUsage) -> Result<Facts, Refusal> {
    Ok(Facts {
        project: new.project.clone().unwrap_or_default(),
        user: new.user.clone().unwrap_or_default(),
        group: new.group.clone().unwrap_or_default(),
        wall: new.requested_s.map(Seconds),
        start: read_time_of(new.start.as_ref(), "start")?,
        end: read_time_of(new.end.as_ref(), "end")?,
        submit: read_time_of(new.submit.as_ref(), "submit")?,
        state: state(new),
        exit_code: new.exit_code,
        usage: usage(new)?,
        other: Vec::new(),
    })
}

/// Values that are stored for reports and exports.
fn more(new: &NewUsage, processors: Option<Decimal>) -> Option<String> {
    // The column of processors has thousandths.
    let exact = processors.filter(|processors| processors.billionths() % 1_000_000 != 0);
    let exact = exact.map(|processors| processors.to_string());
    let exact = exact.as_deref().map(|exact| (PROCESSORS, exact));
    let hosts = new.host.as_deref().map(|list| (HOSTS, list));
    kept(exact.into_iter().chain(hosts), &new.attributes)
}

fn usage(new: &NewUsage) -> Result<Usage, Refusal> {
    let mut gres = Vec::new();
    for (name, Number(text)) in &new.gres {
        let number = decimal(text, "gres")?;
        let beyond = Refusal::BadValue {
            field: "gres",
            expected: "a smaller number",
        };
        add_resource(&mut gres, name.clone(), number).ok_or(beyond)?;
    }
    Ok(Usage {
        processors: known(new.processors.as_ref(), "processors")?,
        nodes: known(new.nodes.as_ref(), "nodes")?,
        memory_mb: known(new.memory_mb.as_ref(), "memory_mb")?,
        disk_mb: known(new.disk_mb.as_ref(), "disk_mb")?,
        gres,
        qos: new.qos.clone(),
        class: new.class.clone(),
        attributes: new.attributes.clone().into_iter().collect(),
        counted: None,
        idle: None,
    })
}

/// The state, without the user that Slurm adds: `CANCELLED by 7`.
fn state(new: &NewUsage) -> String {
    let state = new.state.as_deref().unwrap_or_default();
    let (word, _) = state.split_once(" by ").unwrap_or((state, ""));
    word.to_owned()
}

fn figures(new: &NewUsage) -> Result<Figures, Refusal> {
    let ended = Ended::parse(&state(new)).ok_or(Refusal::BadValue {
        field: "state",
        expected: "completed, failed, timeout, removed, preempted, suspended, rejected, queued \
                   or unknown",
    })?;
    Ok(Figures {
        ended,
        wall_us: None,
        backwards: false,
        cpu_s: known(new.cpu_s.as_ref(), "cpu_s")?,
        blocked_processors: known(new.blocked_processors.as_ref(), "blocked_processors")?,
        dedicated: new.dedicated,
        equivalents: new.equivalents.as_ref().map(equivalents).transpose()?,
    })
}

fn equivalents(new: &NewEquivalents) -> Result<Equivalents, Refusal> {
    if new.tasks.len() > TASKS_MAX {
        return Err(Refusal::bad_value("tasks", "at most 64 rows"));
    }
    let NewEquivalents { partition, tasks } = new;
    let partition = share([
        Some(&partition.processors),
        partition.memory_mb.as_ref(),
        partition.disk_mb.as_ref(),
        partition.swap_mb.as_ref(),
    ]);
    let tasks = tasks.iter().map(|row| {
        let Number(tasks) = &row.tasks;
        let each = share([
            Some(&row.processors),
            row.memory_mb.as_ref(),
            row.disk_mb.as_ref(),
            row.swap_mb.as_ref(),
        ])?;
        Ok((decimal(tasks, "tasks")?, each))
    });
    Ok(Equivalents {
        partition: partition?,
        tasks: tasks.collect::<Result<_, Refusal>>()?,
    })
}

/// Processors, memory, disk and swap. Missing values are zero.
fn share([processors, memory, disk, swap]: [Option<&Number>; 4]) -> Result<Share, Refusal> {
    let number = |text, field| known(text, field).map(Option::unwrap_or_default);
    Ok(Share {
        processors: number(processors, "processors")?,
        memory_mb: number(memory, "memory_mb")?,
        disk_mb: number(disk, "disk_mb")?,
        swap_mb: number(swap, "swap_mb")?,
    })
}

fn known(text: Option<&Number>, field: &'static str) -> Result<Option<Decimal>, Refusal> {
    text.map(|Number(text)| decimal(text, field)).transpose()
}

/// Up to 15 digits before the point (nami.md 3.2), and 9 places.
fn decimal(text: &str, field: &'static str) -> Result<Decimal, Refusal> {
    let digits = text.split('.').next().unwrap_or_default();
    let bounded = digits.trim_start_matches('-').len() <= 15;
    let number = Decimal::parse(text).filter(|_| bounded);
    number.ok_or(Refusal::BadValue {
        field,
        expected: "a decimal number such as 16 or \"0.25\"",
    })
}

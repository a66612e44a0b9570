//! Alerts and the outbox of notifications. Callers see the alerts of visible projects. Other alerts, the
//! outbox and every change require an unlimited view or the matching right.

use std::collections::{BTreeMap, BTreeSet};

use axum::response::IntoResponse;
use bank_api::text::suggest;
use bank_api::v1::{
    AckAttention, Attention, AttentionDone, AttentionQuery, AttentionStatus, List, Notice,
    OutboxQuery, SwitchAttention, TargetStatus, Written,
};
use bank_core::attention::{ATTENTION_KINDS, AttentionKind, Open, Topic};
use bank_core::command::{Ack, Attention as AttentionCommand, Command, Switch};
use bank_core::effects::Outcome;
use bank_core::ids::TxId;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_notices::deliver;
use bankd_store::NoticeChange;
use bankd_store::answer::Answer;
use bankd_store::read::attention::{self, EventRow, NoticeRow, TargetStanding};

use super::call::Empty;
use super::call::{Call, Handled, new_state, ok, rendered};
use super::json;
use super::pages;
use super::path::Path;
use super::view::Lookup as _;
use super::view::View;
use crate::error::Failure;

/// `GET /api/v1/attention`: the newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: AttentionQuery = call.query()?;
    let kind = query.kind.as_deref().map(read_kind).transpose()?;
    if let Some(name) = &query.project {
        call.view.project(name)?;
    }
    let (limit, below) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let below = below.unwrap_or(i64::MAX);
    let (view, project) = (call.view.clone(), query.project);
    let keep = move |row: &EventRow| {
        let of = &row.event.concern.project;
        sees(&view, row)
            && kind.is_none_or(|kind| row.event.topic.kind == kind)
            && project.as_ref().is_none_or(|wanted| wanted == of)
    };
    let (all, highest) = (query.all, query.highest);
    let found = call
        .ask(move |connection| {
            let passed = if highest {
                passed(&attention::open(connection)?)
            } else {
                BTreeSet::new()
            };
            let keep = |row: &EventRow| !passed.contains(&row.tx) && keep(row);
            attention::events(connection, below, limit.saturating_add(1), all, keep)
        })
        .await?
        .within(limit, |row| row.tx.0);
    let directory = call.directory();
    ok(&List::<Attention> {
        items: found
            .rows
            .iter()
            .map(|row| deliver::shape(directory, row))
            .collect(),
        next: found.next.map(|tx| tx.to_string()),
    })
}

/// Open alerts for thresholds below another one that the same object has reached.
fn passed(open: &[Open]) -> BTreeSet<TxId> {
    // Percent that were used go up, days that are left go down.
    let rank = |topic: &Topic| match topic.kind {
        AttentionKind::Expiring => topic.threshold.saturating_neg(),
        _ => topic.threshold,
    };
    let mut most: BTreeMap<(AttentionKind, &str), i64> = BTreeMap::new();
    for one in open {
        let of = (one.topic.kind, one.topic.subject.as_str());
        let own = most.entry(of).or_insert(i64::MIN);
        *own = rank(&one.topic).max(*own);
    }
    let is_below = |one: &&Open| {
        let of = (one.topic.kind, one.topic.subject.as_str());
        most.get(&of).is_some_and(|most| rank(&one.topic) < *most)
    };
    open.iter().filter(is_below).map(|one| one.tx).collect()
}

/// `GET /api/v1/attention/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    call.query::<Empty>()?;
    let tx = number(&call, &id)?;
    let found = call
        .ask(move |connection| attention::event_of(connection, tx))
        .await?;
    let found = found.filter(|row| sees(&call.view, row));
    let row = found.ok_or_else(|| unknown(&call, &id))?;
    ok(&deliver::shape(call.directory(), &row))
}

/// `POST /api/v1/attention/{id}/ack`: acknowledges an alert. It remains open until it clears.
pub(super) async fn ack(Path(id): Path<String>, call: Call) -> Handled {
    let body: AckAttention = call.json()?;
    let command = Command::Attention(AttentionCommand::Ack(Ack {
        tx: TxId(number(&call, &id)?),
        note: body.note.unwrap_or_default(),
    }));
    Ok(call.write(command, render).await?.into_response())
}

/// `PATCH /api/v1/attention/projects/{name}`: whether anything of the project is watched.
pub(super) async fn switch(Path(name): Path<String>, call: Call) -> Handled {
    let body: SwitchAttention = call.json()?;
    let project = call.view.project(&name)?.name.clone();
    let on = body.on;
    let command = Command::Attention(AttentionCommand::Switch(Switch { project, on }));
    Ok(call.write(command, render).await?.into_response())
}

/// `GET /api/v1/attention/outbox`: the newest first.
pub(super) async fn outbox(call: Call) -> Handled {
    let query: OutboxQuery = call.query()?;
    unlimited(&call)?;
    let (limit, below) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let below = below.unwrap_or(i64::MAX);
    let found = call
        .ask(move |connection| attention::notices(connection, below, limit, query.all))
        .await?;
    ok(&List::<Notice> {
        items: found.rows.into_iter().map(noticed).collect(),
        next: found.next.map(|id| id.to_string()),
    })
}

/// `POST /api/v1/attention/outbox/{id}/retry`: a notice that was given up is tried again.
pub(super) async fn retry(Path(id): Path<String>, call: Call) -> Handled {
    unlimited(&call)?;
    let dry_run = call.dry_run()?;
    call.check_key(dry_run)?;
    let notice = number(&call, &id)?;
    let below = notice.saturating_add(1);
    let found = call
        .ask(move |connection| attention::notices(connection, below, 1, true))
        .await?;
    let row = found.rows.into_iter().find(|row| row.id == notice);
    let mut row = row.ok_or_else(|| call.refused(&Refusal::not_found("notice", &id)))?;
    if row.state != "dead" {
        let detail = format!("notice {notice} is {}, not abandoned", row.state);
        return Err(Failure::new("bad_value", detail));
    }
    if !dry_run {
        let change = NoticeChange::Retry(notice);
        call.services.writer.change_notice(change).await?;
        "waiting".clone_into(&mut row.state);
        row.attempts = 0;
    }
    ok(&Written {
        object: noticed(row),
        transaction: None,
        dry_run,
        warnings: Vec::new(),
    })
}

/// The state of alerts, for the state of the daemon.
pub(super) fn standing(
    call: &Call,
    (open, targets): (i64, Vec<TargetStanding>),
) -> AttentionStatus {
    let directory = call.directory();
    let names = directory.quiet().filter_map(|id| directory.project(id));
    AttentionStatus {
        on: call.services.notices.attention.on,
        open,
        targets: targets
            .into_iter()
            // A target that is no longer in the settings appears while it has pending or failed
            // notifications.
            .filter(|target| target.active || target.waiting + target.dead > 0)
            .map(|target| TargetStatus {
                name: target.name,
                active: target.active,
                waiting: target.waiting,
                dead: target.dead,
                error: json::some(&target.error),
            })
            .collect(),
        off: names.map(|project| project.name.clone()).collect(),
    }
}

/// Whether an event is visible. An event of a job is visible if the job is.
fn sees(view: &View, row: &EventRow) -> bool {
    let of = &row.event.concern;
    if !of.user.is_empty() {
        return view.sees_work(&of.project, &of.user, &of.machine);
    }
    let project = view.directory().project_named(&of.project);
    view.is_unlimited() || project.is_some_and(|project| view.sees_project(project))
}

fn read_kind(word: &str) -> Result<AttentionKind, Failure> {
    AttentionKind::parse(word).ok_or_else(|| {
        let kinds = ATTENTION_KINDS.map(|(_, word)| word);
        let near = suggest(word, &kinds).map(|near| format!("did you mean {near:?}? "));
        let hint = format!(
            "{}the kinds are {}",
            near.unwrap_or_default(),
            kinds.join(", ")
        );
        Failure::new("bad_request", format!("kind: there is no kind {word:?}")).hint(hint)
    })
}

fn number(call: &Call, id: &str) -> Result<i64, Failure> {
    id.parse().map_err(|_| unknown(call, id))
}

fn unknown(call: &Call, id: &str) -> Failure {
    call.refused(&Refusal::not_found("alert", id))
}

/// The outbox is of all projects together.
pub(super) fn unlimited(call: &Call) -> Result<(), Failure> {
    if call.view.is_unlimited() {
        return Ok(());
    }
    let what = "the outbox: this key is for single projects or machines".to_owned();
    Err(call.refused(&Refusal::NotAllowed { what }))
}

fn noticed(row: NoticeRow) -> Notice {
    Notice {
        id: row.id,
        target: row.target,
        made_at: json::time(row.made_at),
        state: row.state,
        events: row.events,
        recipient: json::some(&row.recipient),
        report: row.report.map(|(name, period)| format!("{name} {period}")),
        attempts: row.attempts,
        tried_at: row.tried_at.map(json::time),
        error: json::some(&row.error),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Attention(count) => {
            let changed = i64::try_from(*count).unwrap_or(i64::MAX);
            Some(new_state(AttentionDone { changed }, decided))
        }
        _ => None,
    })
}

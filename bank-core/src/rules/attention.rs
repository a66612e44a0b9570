//! Attention in the journal: one transaction for each threshold that is raised, cleared or seen.

use crate::attention::{CHANGES_MAX, Event, Open, Turn};
use crate::command::{Ack, Attention, Switch};
use crate::effects::{DirectoryRow, Effects, EntryKind, Outcome};
use crate::ids::{BOUNDED_RULE, NAME_BYTES_MAX};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::view::{Context, View};

/// The longest sentence or note, in bytes.
const MESSAGE_MAX: usize = 1000;

pub(super) fn decide(
    command: &Attention,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    match command {
        Attention::Turn(events) => turn(events, view, ctx),
        Attention::Ack(ack) => acknowledge(ack, view, ctx),
        Attention::Switch(set) => switch(set, view, ctx),
    }
}

/// Raises the topics that are not raised and clears those that are: each (kind, subject, threshold) once,
/// however often the figures are checked.
fn turn(events: &[Event], view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    if events.len() > CHANGES_MAX {
        return Err(Refusal::bad_value("attention", "at most 256 changes"));
    }
    let mut postings = Postings::new(view);
    let mut open = view.attention.clone();
    let mut count = 0_usize;
    for event in events {
        let at = open.iter().position(|o| o.topic == event.topic);
        let of = match (event.turn, at) {
            (Turn::Raised, None) => None,
            (Turn::Cleared, Some(at)) => Some(open.swap_remove(at).tx),
            _ => continue,
        };
        let event = Event {
            of,
            ..event.clone()
        };
        let tx = write(&mut postings, event.clone(), "attention", ctx)?;
        if event.turn == Turn::Raised {
            open.push(Open {
                topic: event.topic,
                tx,
                acked: None,
                concern: event.concern,
                urgent: event.urgent,
                is_notified: event.is_notified,
            });
        }
        count = count.saturating_add(1);
    }
    Ok(postings.finish(Outcome::Attention(count)))
}

fn acknowledge(ack: &Ack, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let number = || ack.tx.0.to_string();
    let open = view.attention.iter().find(|open| open.tx == ack.tx);
    let open = open.ok_or_else(|| Refusal::not_found("alert", &number()))?;
    if open.acked.is_some() {
        return Err(Refusal::already_exists("acknowledgement", number()));
    }
    check_text(&ack.note, "note")?;
    let event = Event {
        topic: open.topic.clone(),
        turn: Turn::Acked,
        of: Some(open.tx),
        level: 0,
        concern: open.concern.clone(),
        amount: None,
        urgent: false,
        is_notified: false,
        message: ack.note.clone(),
    };
    let mut postings = Postings::new(view);
    write(&mut postings, event, "attention_ack", ctx)?;
    Ok(postings.finish(Outcome::Attention(1)))
}

fn switch(set: &Switch, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let project = ctx.directory.project_named(&set.project);
    let project = project.ok_or_else(|| Refusal::not_found("project", &set.project))?;
    let mut postings = Postings::new(view);
    postings.begin("attention_set", ctx.now);
    let word = if set.on { "on" } else { "off" };
    postings.remark(&format!("{} {word}", project.name));
    let row = DirectoryRow::Quiet(project.id, !set.on);
    postings.directory.push(row);
    Ok(postings.finish(Outcome::Attention(1)))
}

/// A separate transaction with one entry that moves nothing.
fn write(
    postings: &mut Postings,
    event: Event,
    op: &'static str,
    ctx: &Context<'_>,
) -> Result<crate::ids::TxId, Refusal> {
    check_text(&event.message, "says")?;
    if event.topic.subject.len() > NAME_BYTES_MAX.saturating_add(32) {
        return Err(Refusal::bad_name(&event.topic.subject, BOUNDED_RULE));
    }
    let tx = postings.begin(op, ctx.now);
    postings.remark(&event.message);
    let about = About {
        project: event.concern.project.clone(),
        user: event.concern.user.clone(),
        machine: event.concern.machine.clone(),
        lien: event.concern.lien,
        ..About::default()
    };
    postings.note(EntryKind::Attention, &about);
    postings.attend(event);
    Ok(tx)
}

fn check_text(text: &str, field: &'static str) -> Result<(), Refusal> {
    if text.len() <= MESSAGE_MAX && !text.contains(char::is_control) {
        return Ok(());
    }
    Err(Refusal::BadValue {
        field,
        expected: "at most 1000 bytes on one line",
    })
}

#[cfg(test)]
mod tests;

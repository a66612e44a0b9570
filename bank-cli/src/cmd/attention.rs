//! `bank attention`: what wants some, who has seen it, and what is on its way to whom.

use bank_api::v1::{
    AckAttention, Attention, AttentionDone, AttentionQuery, List, Notice, OutboxQuery,
    SwitchAttention, Written,
};
use ureq::http::Method;

use crate::{
    cli::{AttentionCommand, ListAttention, WriteArgs},
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
};

/// Rows of one request.
const PAGE: u32 = 1000;

pub(super) fn run(context: &Context, command: AttentionCommand) -> Result<String, Failure> {
    match command {
        AttentionCommand::Ls(args) => list(context, &args),
        AttentionCommand::Show { id } => {
            let sheet = |rows: &[Attention]| events(rows, true);
            context.show(&["attention", &id.to_string()], &(), sheet)
        }
        AttentionCommand::Ack { id, note, write } => {
            let body = AckAttention { note };
            let id = id.to_string();
            let answer: Written<AttentionDone> =
                context.send(Method::POST, &["attention", &id, "ack"], &body, &write)?;
            context.written(&answer, &format!("alert {id} is marked as seen"))
        }
        AttentionCommand::Off { project, write } => switch(context, &project, false, &write),
        AttentionCommand::On { project, write } => switch(context, &project, true, &write),
        AttentionCommand::Outbox { all } => outbox(context, all),
        AttentionCommand::Retry { id, write } => {
            let id = id.to_string();
            let target = ["attention", "outbox", id.as_str(), "retry"];
            let answer: Written<Notice> = context.send(Method::POST, &target, &(), &write)?;
            let sentence = format!("notice {id} for {} waits again", answer.object.target);
            context.written(&answer, &sentence)
        }
    }
}

fn list(context: &Context, args: &ListAttention) -> Result<String, Failure> {
    let most = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut items: Vec<Attention> = Vec::new();
    let mut after = None;
    let next = loop {
        let left = most.saturating_sub(items.len());
        let query = AttentionQuery {
            all: args.all,
            highest: args.highest,
            project: args.project.clone(),
            kind: args.kind.clone(),
            after: after.take(),
            limit: Some(u32::try_from(left).unwrap_or(PAGE).clamp(1, PAGE)),
        };
        let page: List<Attention> = context.get(&["attention"], &query)?;
        items.extend(page.items);
        after = page.next;
        if after.is_none() || items.len() >= most {
            break after;
        }
    };
    if next.is_some() {
        out::warn("more rows: use a larger --limit");
    }
    let sheet = events(&items, args.all);
    context.form.list(&List { items, next }, &sheet)
}

fn switch(
    context: &Context,
    project: &str,
    on: bool,
    write: &WriteArgs,
) -> Result<String, Failure> {
    let body = SwitchAttention { on };
    let target = ["attention", "projects", project];
    let answer: Written<AttentionDone> = context.send(Method::PATCH, &target, &body, write)?;
    let sentence = if on {
        format!("project {project:?} is watched")
    } else {
        format!("alerts of project {project:?} are off")
    };
    context.written(&answer, &sentence)
}

fn outbox(context: &Context, all: bool) -> Result<String, Failure> {
    let query = OutboxQuery {
        all,
        after: None,
        limit: Some(PAGE),
    };
    context.list(&["attention", "outbox"], &query, notices)
}

fn events(items: &[Attention], all: bool) -> Sheet {
    let seen = items.iter().any(|item| item.acked_by.is_some());
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("at", "At", Kind::Time),
        column("turn", "Turn", Kind::Text).screen_if(all),
        column("kind", "Kind", Kind::Text),
        column("threshold", "Threshold", Kind::Number),
        column("project", "Project", Kind::Text),
        column("message", "Message", Kind::Text),
        column("acked_by", "Seen by", Kind::Text).screen_if(seen),
        column("subject", "Subject", Kind::Text).if_machine(),
        column("level", "Level", Kind::Number).if_machine(),
        column("account", "Account", Kind::Text).if_machine(),
        column("allocation", "Allocation", Kind::Number).if_machine(),
        column("lien", "Lien", Kind::Number).if_machine(),
        column("user", "User", Kind::Text).if_machine(),
        column("machine", "Machine", Kind::Text).if_machine(),
        column("amount", "Amount", Kind::Amount).if_machine(),
        column("urgent", "Urgent", Kind::Text).if_machine(),
        column("open", "Open", Kind::Text).if_machine(),
        column("raised_by", "Raised by", Kind::Number).if_machine(),
    ];
    Sheet::new(columns, items, "no alerts")
}

fn notices(items: &[Notice]) -> Sheet {
    let digests = items.iter().any(|item| item.recipient.is_some());
    let reports = items.iter().any(|item| item.report.is_some());
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("target", "Target", Kind::Text),
        column("made_at", "Made at", Kind::Time),
        column("state", "State", Kind::Text),
        column("events", "Events", Kind::Text),
        column("recipient", "Recipient", Kind::Text).screen_if(digests),
        column("report", "Report", Kind::Text).screen_if(reports),
        column("attempts", "Attempts", Kind::Number).secondary(),
        column("tried_at", "Tried at", Kind::Time).secondary(),
        column("error", "Error", Kind::Text),
    ];
    Sheet::new(columns, items, "nothing waits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_of_events() {
        let event = |id, threshold, message: &str| Attention {
            id,
            at: "2026-11-20T21:41:00Z".to_owned(),
            turn: "raised".to_owned(),
            kind: "used".to_owned(),
            threshold,
            message: message.to_owned(),
            project: Some("chem".to_owned()),
            open: true,
            ..Attention::default()
        };
        let context = crate::context::test_context();
        let items = vec![
            event(7, Some(80), "chem: 81 % used"),
            event(9, None, "below zero"),
        ];
        let sheet = events(&items, false);
        let text = context.form.list(&List::whole(items), &sheet).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("Threshold  Project  Message"), "{text}");
        assert!(
            !lines[0].contains("Seen by") && !lines[0].contains("Turn"),
            "{text}"
        );
        assert!(lines[1].ends_with("80  chem     chem: 81 % used"), "{text}");
        let none = events(&[], false);
        let text = context
            .form
            .list(&List::<Attention>::whole(vec![]), &none)
            .unwrap();
        assert!(text.contains("no alerts"), "{text}");
    }
}

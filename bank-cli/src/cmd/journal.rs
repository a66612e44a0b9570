//! `bank journal`: what was written, and, with `--follow`, what is being written.

mod place;

use std::time::Duration;

use bank_api::{
    exit::bank as exit,
    v1::{JournalEntry, JournalPage, JournalQuery},
};

use self::place::Place;
use super::Context;
use crate::{
    cli::{Format, JournalArgs},
    clock,
    fail::Failure,
    figure,
    out::{self, Kind, Row, Sheet, column, row},
    when,
};

/// Rows per request.
const PAGE: u32 = 1000;
/// How long a follower waits before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) fn run(context: &Context, args: JournalArgs) -> Result<String, Failure> {
    let mut query = JournalQuery {
        since: context.time(args.since.as_ref())?,
        until: context.time(args.until.as_ref())?,
        project: args.only.project,
        tree: args.tree,
        actor: args.actor,
        user: args.only.user,
        machine: args.only.machine,
        account: args.account,
        job: args.job,
        kind: args.kind,
        after: args.after,
        limit: None,
        ..JournalQuery::default()
    };
    if args.cursor.is_none()
        && let (Some(limit), None) = (args.limit, &query.after)
    {
        let list = newest(context, &mut query, limit)?;
        return context.form.list(&list, &sheet(context, &list.items));
    }
    if context.form.format == Format::Json && !args.follow && args.cursor.is_none() {
        let list = whole(context, &mut query, args.limit)?;
        return context.form.list(&list, &sheet(context, &list.items));
    }
    let place = args.cursor.map(Place::new).transpose()?;
    if let (Some(place), None) = (&place, &query.after) {
        query.after = place.read()?;
    }
    stream(context, query, args.limit, args.follow, place.as_ref())
}

/// All rows up to `limit` in one document.
fn whole(
    context: &Context,
    query: &mut JournalQuery,
    limit: Option<u32>,
) -> Result<JournalPage, Failure> {
    let mut all = JournalPage::default();
    let mut left = limit;
    while left != Some(0) {
        let page = page(context, query, &mut left)?;
        all.items.extend(page.items);
        all.next = page.next;
        match &all.next {
            Some(next) => query.after = Some(next.clone()),
            None => break,
        }
    }
    Ok(all)
}

/// The newest rows up to `limit`, the oldest of them first.
fn newest(context: &Context, query: &mut JournalQuery, limit: u32) -> Result<JournalPage, Failure> {
    query.newest = true;
    let mut left = Some(limit);
    let mut rows = Vec::new();
    while left != Some(0) {
        let page = page(context, query, &mut left)?;
        rows.splice(..0, page.items);
        match page.next {
            Some(before) => query.before = Some(before),
            None => break,
        }
    }
    Ok(JournalPage {
        items: rows,
        ..JournalPage::default()
    })
}

/// Page by page, so that a long journal needs little memory; with `follow` then each new row,
/// until the program is stopped or nobody reads. The last text is returned, the others are printed.
fn stream(
    context: &Context,
    mut query: JournalQuery,
    mut left: Option<u32>,
    follow: bool,
    place: Option<&Place>,
) -> Result<String, Failure> {
    let mut form = context.form.clone();
    if form.format == Format::Json {
        form.format = Format::Jsonl;
    }
    let mut answered = false;
    loop {
        let page = match page(context, &query, &mut left) {
            Ok(page) => page,
            // A follower outlives the daemon: what it has seen stands in `after`.
            Err(failure) if follow && answered && failure.exit == exit::UNAVAILABLE => {
                wait_for_the_daemon(context, &query, &failure);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        answered = true;
        let last = page.next.is_none() || left == Some(0);
        let text = if page.items.is_empty() && (follow || !form.header) {
            String::new()
        } else {
            form.list(&page, &sheet(context, &page.items))?
        };
        if last && !follow && place.is_none() {
            return Ok(text);
        }
        if !context.quiet && !crate::print(&text)? {
            return Ok(String::new());
        }
        form.header = form.header && page.items.is_empty();
        let newest = page.items.last().map(|entry| entry.transaction.to_string());
        let before = query.after.clone();
        query.after = page.next.or(page.upto).or(newest).or(query.after);
        if let (Some(place), Some(after)) = (place, &query.after)
            && before != query.after
        {
            place.keep(after)?;
        }
        if last && !follow {
            return Ok(String::new());
        }
        if last {
            clock::wait(PAUSE);
        }
    }
}

/// Says once that the daemon is away, and waits until it answers again, whatever it answers.
fn wait_for_the_daemon(context: &Context, query: &JournalQuery, failure: &Failure) {
    if !context.quiet {
        out::warn(&format!("{}; waiting for it", failure.what));
    }
    let look = JournalQuery {
        limit: Some(1),
        ..query.clone()
    };
    loop {
        clock::wait(PAUSE);
        match page(context, &look, &mut None) {
            Err(failure) if failure.exit == exit::UNAVAILABLE => {}
            _ => return,
        }
    }
}

/// One page, at most `left` rows, which becomes what is left after it.
fn page(
    context: &Context,
    query: &JournalQuery,
    left: &mut Option<u32>,
) -> Result<JournalPage, Failure> {
    let limit = Some(left.map_or(PAGE, |left| left.min(PAGE)));
    let query = JournalQuery {
        limit,
        ..query.clone()
    };
    let page: JournalPage = context.get(&["journal"], &query)?;
    let got = u32::try_from(page.items.len()).unwrap_or(u32::MAX);
    *left = left.map(|left| left.saturating_sub(got));
    Ok(page)
}

fn sheet(context: &Context, entries: &[JournalEntry]) -> Sheet {
    let some = |test: fn(&JournalEntry) -> bool| entries.iter().any(test);
    let mut columns = vec![
        column("at_effective", "time", Kind::Time).if_machine(),
        column("time", "time", Kind::Text).on_screen(),
        column("kind", "kind", Kind::Text),
        column("account", "account", Kind::Text).screen_if(some(|entry| {
            entry.account.is_some() && entry.account != entry.project
        })),
        column("project", "project", Kind::Text),
        column("user", "user", Kind::Text),
        column("object", "object", Kind::Text).on_screen(),
        column("job", "object", Kind::Text).if_machine(),
        column("amount", "amount", Kind::Amount).wide(9),
        // A charge that shrinks its own lien says so by its kind.
        column("held", "held", Kind::Amount).screen_if(some(|entry| {
            !figure::is_zero(&entry.held) && figure::is_zero(&entry.amount)
        })),
        column("shadow", "shadow", Kind::Amount)
            .on_screen_if(some(|entry| !figure::is_zero(&entry.shadow))),
        column("shadow_held", "shadow held", Kind::Amount)
            .on_screen_if(some(|entry| !figure::is_zero(&entry.shadow_held))),
        // A window that begins or ends moves no amount, but what can be spent of it.
        column("active", "active", Kind::Amount).on_screen_if(some(|entry| {
            figure::is_zero(&entry.amount) && !figure::is_zero(&entry.active)
        })),
        column("amount_after", "amount after", Kind::Amount),
        column("transaction", "txn", Kind::Text),
        column("entry", "entry", Kind::Number).if_asked(),
        column("at_recorded", "recorded", Kind::Time).if_asked(),
        column("op", "op", Kind::Text).if_asked(),
        column("actor", "actor", Kind::Text).if_asked(),
        column("client", "client", Kind::Text).if_asked(),
        column("origin", "origin", Kind::Text).if_asked(),
        column("allocation", "allocation", Kind::Number).if_asked(),
        column("lien", "lien", Kind::Number).if_asked(),
        column("machine", "machine", Kind::Text).if_asked(),
        column("held_after", "held after", Kind::Amount).if_asked(),
        column("reason", "reason", Kind::Text).screen_if(some(|entry| entry.reason.is_some())),
    ];
    if context.is_json() {
        // What only a row of text has.
        columns.retain(|column| !["time", "object"].contains(&column.key()));
    }
    let today = when::day(context.now_us, context.zone);
    let is_today = |entry: &JournalEntry| {
        when::read(&entry.at_effective).is_some_and(|us| when::day(us, context.zone) == today)
    };
    let one_day = entries.iter().all(is_today);
    let rows = entries
        .iter()
        .map(|entry| flat(context, entry, one_day))
        .collect();
    Sheet {
        columns,
        rows,
        empty: "nothing in the journal",
        ..Sheet::default()
    }
}

/// A row whose `time` leaves out the day where all are of today.
fn flat(context: &Context, entry: &JournalEntry, one_day: bool) -> Row {
    let mut row = row(entry);
    let time = if one_day {
        when::clock(&entry.at_effective, context.zone)
    } else {
        when::moment(&entry.at_effective, context.zone)
    };
    row.insert("time".to_owned(), time.into());
    if let Some(job) = &entry.job {
        let kind = entry.job_type.as_deref().unwrap_or("job");
        row.insert("object".to_owned(), format!("{kind} {job}").into());
    }
    row
}

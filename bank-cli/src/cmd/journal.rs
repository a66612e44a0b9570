//! `bank journal`: what was written, and, with `--follow`, what is being written.

mod cursor;

use std::time::Duration;

use bank_api::{
    exit::bank as exit,
    v1::{JournalEntry, JournalPage, JournalQuery},
};
use bank_picture::figure;

use self::cursor::Place;
use crate::{
    cli::{Format, JournalArgs},
    clock,
    context::Context,
    fail::Failure,
    out::{self, Column, Kind, Parts, Row, Sheet, column, row},
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
        return context.form.list(
            &list,
            &sheet(context, &list.items, Look::of(context, &list.items)),
        );
    }
    if context.form.format == Format::Json && !args.follow && args.cursor.is_none() {
        let list = whole(context, &mut query, args.limit)?;
        return context.form.list(
            &list,
            &sheet(context, &list.items, Look::of(context, &list.items)),
        );
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
    let mut parts = Parts::new(&form);
    let mut answered = false;
    let mut look: Option<Look> = None;
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
        let mut text = if page.items.is_empty() && (follow || !form.header) {
            String::new()
        } else {
            let own = Look::of(context, &page.items);
            // What comes later stands below the same heads.
            let own = own.kept(follow || page.next.is_some());
            let look = *look.get_or_insert(own);
            parts.list(&page, &sheet(context, &page.items, look))?
        };
        if last {
            text.push_str(&parts.end());
        }
        if last && !follow && place.is_none() {
            return Ok(text);
        }
        if !context.quiet && !crate::print(&text)? {
            return Ok(String::new());
        }
        let newest = page.items.last().map(|entry| entry.transaction.to_string());
        let before = query.after.clone();
        query.after = page.upto.or(page.next).or(newest).or(query.after);
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

/// What the rows on a screen have in common: columns that some of them need, and whether more rows come
/// below them, for which there must be room.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a column of its own, or a fact of all rows"
)]
struct Look {
    account: bool,
    held: bool,
    shadow: bool,
    shadow_held: bool,
    active: bool,
    reason: bool,
    /// All are of today, and say the time alone.
    one_day: bool,
    is_kept: bool,
}

impl Look {
    fn of(context: &Context, entries: &[JournalEntry]) -> Self {
        let some = |test: fn(&JournalEntry) -> bool| entries.iter().any(test);
        let today = context.zone.day(context.now_us);
        let is_today = |entry: &JournalEntry| {
            when::read(&entry.at_effective).is_some_and(|us| context.zone.day(us) == today)
        };
        Self {
            account: some(|entry| entry.account.is_some() && entry.account != entry.project),
            // A charge that shrinks its own lien says so by its kind.
            held: some(|entry| !figure::is_zero(&entry.held) && figure::is_zero(&entry.amount)),
            shadow: some(|entry| !figure::is_zero(&entry.shadow)),
            shadow_held: some(|entry| !figure::is_zero(&entry.shadow_held)),
            // A window that begins or ends moves no amount, but what can be spent of it.
            active: some(|entry| figure::is_zero(&entry.amount) && !figure::is_zero(&entry.active)),
            reason: some(|entry| entry.reason.is_some()),
            one_day: entries.iter().all(is_today),
            is_kept: false,
        }
    }

    /// The same for rows of which nobody knows yet what they will have: the usual columns, and days.
    fn kept(self, is_kept: bool) -> Self {
        if !is_kept {
            return self;
        }
        Self {
            account: true,
            held: true,
            reason: true,
            one_day: false,
            is_kept,
            ..self
        }
    }
}

fn sheet(context: &Context, entries: &[JournalEntry], look: Look) -> Sheet {
    let wide = |column: Column, width| {
        if look.is_kept {
            column.wide(width)
        } else {
            column
        }
    };
    let text = |key, title, width| wide(column(key, title, Kind::Text), width);
    let amount = |key, title, width| wide(column(key, title, Kind::Amount), width);
    let mut columns = vec![
        column("at_effective", "time", Kind::Time).if_machine(),
        text("time", "time", 19).on_screen(),
        text("kind", "kind", 15),
        text("account", "account", 12)
            .secondary()
            .screen_if(look.account),
        text("project", "project", 12),
        text("user", "user", 10),
        text("object", "object", 14).on_screen(),
        column("job", "object", Kind::Text).if_machine(),
        wide(column("amount", "amount", Kind::Amount).wide(9), 14),
        amount("held", "held", 14).screen_if(look.held),
        amount("shadow", "shadow", 14)
            .secondary()
            .on_screen_if(look.shadow),
        amount("shadow_held", "shadow held", 14)
            .secondary()
            .on_screen_if(look.shadow_held),
        amount("active", "active", 14).on_screen_if(look.active),
        amount("amount_after", "amount after", 16).secondary(),
        text("transaction", "txn", 9),
        column("entry", "entry", Kind::Number).on_request(),
        column("at_recorded", "recorded", Kind::Time).on_request(),
        column("op", "op", Kind::Text).on_request(),
        column("actor", "actor", Kind::Text).on_request(),
        column("client", "client", Kind::Text).on_request(),
        column("origin", "origin", Kind::Text).on_request(),
        column("allocation", "allocation", Kind::Number).on_request(),
        column("lien", "lien", Kind::Number).on_request(),
        column("machine", "machine", Kind::Text).on_request(),
        column("held_after", "held after", Kind::Amount).on_request(),
        column("reason", "reason", Kind::Text).screen_if(look.reason),
    ];
    if context.is_json() {
        // What only a row of text has.
        columns.retain(|column| !["time", "object"].contains(&column.key()));
    }
    let rows = entries
        .iter()
        .map(|entry| flat(context, entry, look.one_day))
        .collect();
    Sheet {
        columns,
        rows,
        empty: "nothing in the journal".into(),
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
    if let (Some(reason), true) = (&entry.reason, context.form.is_table()) {
        row.insert(
            "reason".to_owned(),
            when::reason(reason, context.zone).into(),
        );
    }
    if let Some(job) = &entry.job {
        let kind = entry.job_type.as_deref().unwrap_or("job");
        row.insert("object".to_owned(), format!("{kind} {job}").into());
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::test_context;

    fn entry(at: &str, user: &str, amount: &str, transaction: i64) -> JournalEntry {
        JournalEntry {
            at_effective: at.to_owned(),
            kind: "charge".to_owned(),
            project: Some("chem".to_owned()),
            account: Some("chem".to_owned()),
            user: Some(user.to_owned()),
            amount: amount.to_owned(),
            held: "0.000".to_owned(),
            amount_after: Some("352500.000".to_owned()),
            transaction,
            ..JournalEntry::default()
        }
    }

    /// What comes later, of today and with other names, stands below the heads of the first page.
    #[test]
    fn later_rows_are_in_the_same_columns() {
        let mut context = test_context();
        context.now_us = when::read("2026-11-20T22:00:00Z").unwrap();
        context.form.width = 200;
        let mut parts = Parts::new(&context.form);
        let first = [entry("2026-11-19T10:00:00Z", "amy", "-12.500", 1_048_702)];
        let later = [entry("2026-11-20T21:00:00Z", "bob-from-far", "-196.000", 9)];
        let look = Look::of(&context, &first).kept(true);
        let mut shown = Vec::new();
        for entries in [&first, &later] {
            let list = JournalPage {
                items: entries.to_vec(),
                ..JournalPage::default()
            };
            let sheet = sheet(&context, entries, look);
            let text = parts.list(&list, &sheet).unwrap();
            shown.extend(text.lines().map(str::to_owned));
        }
        let ends = |line: &str, word: &str| {
            let at = line.find(word).unwrap() + word.len();
            line.get(..at).unwrap().chars().count()
        };
        let begins = |line: &str, word: &str| ends(line, word) - word.chars().count();
        let (head, old, new) = (&shown[0], &shown[1], shown.last().unwrap());
        assert_eq!(ends(head, "amount "), ends(old, "12.500 "), "{shown:#?}");
        assert_eq!(begins(head, "kind"), begins(new, "charge"), "{shown:#?}");
        assert_eq!(begins(head, "kind"), begins(old, "charge"), "{shown:#?}");
        assert_eq!(begins(old, "1048702"), begins(head, "txn"), "{shown:#?}");
        // A name that is longer than its column moves what is behind it by no more than it is longer.
        assert_eq!(
            begins(new, "352,500.000"),
            begins(old, "352,500.000") + 2,
            "{shown:#?}"
        );
    }
}

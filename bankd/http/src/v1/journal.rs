//! The journal.

use std::collections::HashSet;

use bank_api::text::suggest;
use bank_api::v1::{JournalEntry, JournalPage, JournalQuery};
use bank_core::command::OPS;
use bank_core::effects::{ENTRY_KINDS, EntryKind};
use bank_core::ids::AccountId;
use bank_core::refusal::Refusal;
use bankd_store as store;
use bankd_store::read::jobs;
use bankd_store::read::journal::{self, JournalRow, Span};
use rusqlite::Connection;

use super::call::{Call, Handled, ok};
use super::mark::Mark;
use super::named::Names;
use super::view::Lookup as _;
use super::view::View;
use super::{json, pages, reason};
use crate::error::Failure;

/// `GET /api/v1/journal`: oldest first, from the beginning or, with `newest`, the end of it.
pub(super) async fn list(call: Call) -> Handled {
    let query: JournalQuery = call.query()?;
    let after = query
        .after
        .as_deref()
        .map_or_else(|| Some(Mark::default()), Mark::read);
    let after = after.ok_or_else(|| call.refused(&pages::bad_cursor()))?;
    let span = span(&query, &after).map_err(|r| call.refused(&r))?;
    if let Some(kind) = &query.kind {
        kind.split(',').try_for_each(check_kind)?;
    }
    let job = query.job.clone();
    let newest = query.newest;
    let before = query.before.as_deref();
    let before = before.map(|text| pages::cursor_in(text, "before"));
    let before = before.transpose().map_err(|r| call.refused(&r))?;
    let named = Named::of(&query);
    let mut filter = Filter::new(&call.view, query)?;
    let (reached, mark) = (span.after, after.clone());
    let page = call.ask(move |connection| {
        let mut span = span;
        if let Some(job) = job {
            filter.of_job(connection, &mut span, &job)?;
        }
        let last = store::numbers::last_transaction(connection)?;
        let limit = span.limit;
        span.limit = limit.saturating_add(1);
        let page = if newest {
            journal::newest(connection, &span, before, |row| filter.holds(row))?
        } else {
            journal::page(connection, &span, |row| filter.holds(row))?
        };
        let page = page.without_more(limit, newest);
        // Up to the newest row nothing is omitted. From a future number nothing is skipped.
        let upto = match page.next.filter(|_| !newest) {
            Some(next) => next,
            None => last.max(reached),
        };
        let upto = Mark::at(connection, upto)?;
        Ok((page, last, upto, mark.is_in(connection)?))
    });
    let (page, last, upto, is_known) = page.await?;
    if after.tx > last {
        return Err(call.refused(&Refusal::BadValue {
            field: "after",
            expected: "a transaction that there is: the journal ends before it",
        }));
    }
    if !is_known {
        return Err(call.refused(&Mark::refused("after")));
    }
    if page.rows.is_empty() && page.next.is_none() && after.tx == 0 && before.is_none() {
        named.met(&call).await?;
    }
    ok(&JournalPage {
        items: page
            .rows
            .iter()
            .map(|row| shaped(&call.view, row))
            .collect(),
        next: page.next.map(|id| id.to_string()),
        upto: Some(upto.to_string()),
    })
}

/// Names that the journal may carry without anybody having registered them.
struct Named {
    job: Option<String>,
    user: Option<String>,
    machine: Option<String>,
}

impl Named {
    fn of(query: &JournalQuery) -> Named {
        Named {
            job: query.job.clone(),
            user: query.user.clone(),
            machine: query.machine.clone(),
        }
    }

    /// Checks an empty result. A registered name, or one in any visible row, is valid without matching
    /// rows. For a restricted caller, hidden names count as missing.
    ///
    /// # Errors
    /// 404 for the first other one; if the store cannot be read.
    async fn met(self, call: &Call) -> Result<(), Failure> {
        let names = Names {
            user: self.user.as_deref(),
            machine: self.machine.as_deref(),
            ..Names::default()
        };
        if let Err(unknown) = names.check(call).await {
            let bare = JournalQuery {
                user: self.user.clone(),
                machine: self.machine.clone(),
                ..JournalQuery::default()
            };
            if !is_in_journal(call, bare, None).await? {
                return Err(unknown);
            }
        }
        let Some(job) = self.job else {
            return Ok(());
        };
        if is_in_journal(call, JournalQuery::default(), Some(job.clone())).await? {
            return Ok(());
        }
        Err(call.refused(&Refusal::not_found("job", &job)))
    }
}

/// Whether any visible row matches.
async fn is_in_journal(
    call: &Call,
    query: JournalQuery,
    job: Option<String>,
) -> Result<bool, Failure> {
    let mut filter = Filter::new(&call.view, query)?;
    let found = call.ask(move |connection| {
        let mut span = Span {
            limit: 1,
            ..Span::default()
        };
        if let Some(job) = job {
            filter.of_job(connection, &mut span, &job)?;
        }
        let page = journal::page(connection, &span, |row| filter.holds(row))?;
        // A search that stopped early may have missed a match.
        Ok(page.next.is_some() || !page.rows.is_empty())
    });
    found.await
}

/// A kind that no row can have is a slip of the fingers, not an empty list.
fn check_kind(kind: &str) -> Result<(), Failure> {
    if EntryKind::parse(kind).is_some() || OPS.contains(&kind) {
        return Ok(());
    }
    let entries = ENTRY_KINDS.iter().map(|(_, word)| *word);
    let all: Vec<&str> = entries.chain(OPS.iter().copied()).collect();
    let near = suggest(kind, &all).map(|near| format!("did you mean {near:?}? "));
    let near = near.unwrap_or_default();
    let hint = format!("{near}docs/reference/schema.md lists the kinds of entries (`entry`)");
    Err(Failure::new("bad_request", format!("kind: there is no kind {kind:?}")).hint(hint))
}

fn span(query: &JournalQuery, after: &Mark) -> Result<Span, Refusal> {
    let (since, until) = (query.since.as_ref(), query.until.as_ref());
    let period = json::read_period((since, "since"), (until, "until"))?;
    Ok(Span {
        after: after.tx,
        since: period.start,
        until: period.end,
        recorded_from: None,
        limit: pages::limit(query.limit, pages::USUAL_OF_LONG)?,
    })
}

/// Selection of visible rows.
struct Filter {
    view: View,
    query: JournalQuery,
    account: Option<AccountId>,
    instances: Option<HashSet<i64>>,
    /// The requested project, with its subprojects if requested.
    projects: Option<HashSet<String>>,
}

impl Filter {
    fn new(view: &View, query: JournalQuery) -> Result<Filter, Failure> {
        let mut projects = None;
        if let Some(name) = &query.project {
            let project = view.project_ever(name)?;
            let directory = view.directory();
            let below = |id| query.tree && directory.lineage(id).iter().any(|p| p.id == project.id);
            let all = directory.projects().filter(|p| below(p.id));
            let all = std::iter::once(project).chain(all);
            projects = Some(all.map(|p| p.name.clone()).collect());
        } else if query.tree {
            return Err(Failure::new("bad_request", "tree: no project is named"));
        }
        let account = query
            .account
            .as_deref()
            .map(|n| view.account_ever(n))
            .transpose()?;
        let account = account.map(|a| a.id);
        Ok(Filter {
            view: view.clone(),
            query,
            account,
            instances: None,
            projects,
        })
    }

    /// Only rows of a job. Nothing about it is journalled before its first document.
    fn of_job(
        &mut self,
        connection: &Connection,
        span: &mut Span,
        job: &str,
    ) -> Result<(), store::Error> {
        let uses = jobs::uses(connection, job)?;
        // The position of the search must not reveal the time of a hidden use.
        let seen = uses
            .iter()
            .filter(|row| self.view.sees_work(&row.project, &row.user, &row.machine));
        span.recorded_from = seen.map(|row| row.opened).min();
        self.instances = Some(uses.iter().map(|row| row.id).collect());
        Ok(())
    }

    fn holds(&self, row: &JournalRow) -> bool {
        let entry = row.entry.as_ref().map(|(_, entry)| entry);
        let query = &self.query;
        let kind = entry.map_or(row.tx.op.as_str(), |e| e.kind.as_str());
        let machine = entry.map_or("", |e| e.machine.as_str());
        let user = entry.map_or("", |e| e.user.as_str());
        let account = entry.and_then(|e| e.account).map(AccountId);
        let instance = entry.and_then(|e| e.instance).or(row.tx.instance);
        query
            .kind
            .as_deref()
            .is_none_or(|all| all.split(',').any(|own| own == kind))
            && query
                .machine
                .as_deref()
                .is_none_or(|m| m == machine || reason::changes(&row.tx, "machine", m))
            && query
                .user
                .as_deref()
                .is_none_or(|u| u == user || reason::changes(&row.tx, "user", u))
            && self.account.is_none_or(|a| Some(a) == account)
            && self
                .instances
                .as_ref()
                .is_none_or(|all| instance.is_some_and(|i| all.contains(&i)))
            && query.actor.as_deref().is_none_or(|a| a == row.tx.actor)
            && self
                .projects
                .as_ref()
                .is_none_or(|all| self.is_about(row, all))
            && sees(&self.view, row)
    }

    /// Whether a row is about one of these projects, or changes one.
    fn is_about(&self, row: &JournalRow, projects: &HashSet<String>) -> bool {
        self.project(row).is_some_and(|p| projects.contains(p))
            || projects
                .iter()
                .any(|name| reason::changes(&row.tx, "project", name))
    }

    /// The project that a row is about: the one that it names, else that of its account.
    fn project<'a>(&'a self, row: &'a JournalRow) -> Option<&'a str> {
        let (_, entry) = row.entry.as_ref()?;
        if !entry.project.is_empty() {
            let meant = self.view.meant(&entry.project);
            return meant.map_or(Some(entry.project.as_str()), |p| Some(p.name.as_str()));
        }
        let account = self.view.directory().account(AccountId(entry.account?))?;
        account.only_project()
    }
}

/// Rows of visible projects and accounts. Changes of reference data name other objects, so only callers
/// with an unlimited view see them.
pub(super) fn sees(view: &View, row: &JournalRow) -> bool {
    if view.is_unlimited() {
        return true;
    }
    let Some((_, entry)) = &row.entry else {
        return false;
    };
    if !entry.project.is_empty() {
        return view.sees_work(&entry.project, &entry.user, &entry.machine);
    }
    let account = entry.account.map(AccountId);
    let account = account.and_then(|id| view.directory().account(id));
    account.is_some_and(|account| view.sees_account(account))
}

/// A row in the answer. The balance of an account appears only if the caller sees the account, because
/// another project's account may have paid.
pub(super) fn shaped(view: &View, row: &JournalRow) -> JournalEntry {
    let directory = view.directory();
    let bank = &directory.bank;
    let tx = &row.tx;
    let minor = |minor: i64| json::sum(i128::from(minor), bank);
    let mut shape = JournalEntry {
        transaction: tx.id,
        at_effective: json::time(tx.at_effective),
        at_recorded: json::time(tx.at_recorded),
        kind: tx.op.clone(),
        op: tx.op.clone(),
        actor: tx.actor.clone(),
        client: json::some(&tx.client),
        origin: tx.origin.clone(),
        job: row.object.as_ref().map(|(job, ..)| job.clone()),
        job_type: row.object.as_ref().map(|(.., kind)| kind.clone()),
        machine: row.object.as_ref().map(|(_, machine, _)| machine.clone()),
        amount: minor(0),
        held: minor(0),
        active: minor(0),
        shadow: minor(0),
        shadow_held: minor(0),
        reason: reason::shown(tx),
        ..JournalEntry::default()
    };
    let Some((place, entry)) = &row.entry else {
        return shape;
    };
    let account = entry
        .account
        .and_then(|id| directory.account(AccountId(id)));
    shape.entry = *place;
    shape.kind.clone_from(&entry.kind);
    shape.account = account.map(|a| a.name.clone());
    shape.allocation = entry.allocation;
    shape.lien = entry.lien;
    shape.project = json::some(&entry.project);
    shape.user = json::some(&entry.user);
    shape.machine = json::some(&entry.machine).or(shape.machine);
    shape.amount = minor(entry.delta_amount);
    shape.held = minor(entry.delta_held);
    shape.active = minor(entry.delta_active);
    shape.shadow = minor(entry.delta_shadow);
    shape.shadow_held = minor(entry.delta_shadow_held);
    let seen = account.is_some_and(|account| view.saw_account(account));
    let on = entry.allocation.is_some() && (seen || view.is_unlimited());
    shape.amount_after = on.then(|| minor(entry.amount_after));
    shape.held_after = on.then(|| minor(entry.held_after));
    shape
}

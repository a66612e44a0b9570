//! `bank status`: is the daemon healthy, how full is its queue, when did machines last speak.

mod faults;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use anstream::adapter::strip_str;
use bank_api::{
    exit::bank as exit,
    v1::{PartnerWaiting, SinkStatus, Status, Unbilled},
};
use bank_picture::figure;

use crate::{
    cli::StatusArgs,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, alarming, column, fitted},
    when,
};

/// A write-ahead log that is worth a line: smaller ones are the daily case.
const WAL_REPORTED: i64 = 64 << 20;
/// The width of the labels.
const LABEL: usize = 15;

pub(super) fn run(context: &Context, args: StatusArgs) -> Result<String, Failure> {
    let status: Status = context.get(&["status"], &())?;
    let text = if context.form.is_table() && context.form.columns.is_empty() {
        let text = screen(&status, context.now_us);
        fitted(&text, context.form.width, values)
    } else {
        context.form.one(&status, &sheet(&status))?
    };
    let faults = faults::faults(&status);
    if faults.is_empty() || !args.check {
        return Ok(text);
    }
    let number = figure::counted(&faults.len().to_string(), "fault");
    let what = format!("{number}: {}", faults.join(", "));
    let mut failure = Failure::of(exit::REFUSED, what);
    failure.before = (!context.quiet).then_some(text);
    Err(failure)
}

/// Where the values of a line begin: those of a line with a label in a column, or else two columns in.
fn values(line: &str) -> usize {
    let line = strip_str(line).to_string();
    let label = line.get(..LABEL).unwrap_or_default();
    if label.ends_with("  ") && !label.trim_end().contains("  ") {
        LABEL
    } else {
        2
    }
}

fn screen(status: &Status, now_us: i64) -> String {
    let mut out = headline(status);
    out.push_str(&cluster(status));
    out.push_str(&modes(status));
    out.push_str(&work(status));
    out.push_str(&times(status, now_us));
    out.push_str(&contacts(status, now_us));
    out.push_str(&sinks(status));
    out.push_str(&silent(status));
    out.push_str(&silent_sources(status));
    out.push_str(&partners(status));
    out.push_str(&attention(status));
    out.push_str(&super::scheduled::state_of_reports(status));
    out.push_str(&refused(status));
    out.push_str(&safety(status, now_us));
    let _ = writeln!(out, "unit {}, {} decimals", status.unit, status.precision);
    out
}

/// What runs, since when, and how large it is.
fn headline(status: &Status) -> String {
    let health = if status.healthy {
        "healthy".to_owned()
    } else {
        alarming("NOT healthy !")
    };
    let refusing = status.obstacles.iter().map(|reason| {
        let text = alarming(&format!("commands are refused: {reason} !"));
        format!("writer         {text}\n")
    });
    let refusing: String = refusing.collect();
    let size = status
        .database_bytes
        .map(|bytes| format!(" ({})", size(bytes)))
        .unwrap_or_default();
    format!(
        "bankd {}  {health}  up {}   sqlite {}  journal {} entries{size}\n{refusing}",
        status.version,
        when::span(status.uptime_s),
        status.sqlite_version,
        count(status.journal_entries),
    )
}

/// What this node does in its cluster, and how far the others are.
fn cluster(status: &Status) -> String {
    let Some(own) = &status.cluster else {
        return String::new();
    };
    let role = match own.role.as_str() {
        "stopped" => alarming("stopped !"),
        role => role.to_owned(),
    };
    let writer = match (&own.writer, own.role.as_str()) {
        (_, "writer") => format!("   epoch {}", own.epoch),
        (Some(writer), _) => format!("   writer {writer}, epoch {}", own.epoch),
        (None, _) => format!("   {}", alarming("no writer !")),
    };
    let mut out = format!(
        "node           {} {role}   position {}{writer}\n",
        own.node,
        count(own.position)
    );
    for node in own.nodes.iter().filter(|node| node.node != own.node) {
        let seen = when::span(node.age_ms / 1000);
        let position = count(node.position);
        let _ = writeln!(
            out,
            "node           {}   position {position}   seen {seen} ago",
            node.node
        );
    }
    if let Some(error) = &own.error {
        let _ = writeln!(out, "log            {}", alarming(&format!("{error} !")));
    }
    out
}

/// What each machine's work is to the bank.
fn modes(status: &Status) -> String {
    let mut modes: Vec<_> = status
        .machines
        .iter()
        .map(|machine| {
            let test = if machine.test { " (test)" } else { "" };
            format!("{} {}{test}", machine.name, machine.mode)
        })
        .collect();
    modes.push(format!("default {}", status.mode));
    format!("modes          {}\n", modes.join("   "))
}

/// Open liens, the queue and unbilled usage. The daemon leaves out sums over all projects for callers
/// that do not see the whole bank.
fn work(status: &Status) -> String {
    let liens = status.open_liens;
    let liens = liens.map_or_else(String::new, |n| format!("open liens {}   ", count(n)));
    let unbilled = status.unbilled.as_ref();
    let unbilled = unbilled.map_or_else(String::new, |sum| unbilled_usage(sum, &status.unit));
    let disputed = match status.disputed {
        None | Some(0) => String::new(),
        Some(jobs) => format!("   {}", alarming(&format!("disputed {} !", count(jobs)))),
    };
    format!(
        "{liens}queue {}/{}   commands {} in {} commits{unbilled}{disputed}\n",
        status.queue_depth,
        status.queue_capacity,
        count(status.commands),
        count(status.commits)
    )
}

fn unbilled_usage(sum: &Unbilled, unit: &str) -> String {
    if sum.count == 0 && figure::is_zero(&sum.amount) {
        return "   unbilled 0".to_owned();
    }
    // The daemon looks at no more of them.
    let more = if sum.count < 10_000 { "" } else { " or more" };
    let (jobs, amount) = (count(sum.count), figure::grouped(&sum.amount));
    let text = format!("unbilled jobs {jobs}{more} ({amount} {unit}) !");
    format!("   {}", alarming(&text))
}

/// When each machine last spoke.
fn contacts(status: &Status, now_us: i64) -> String {
    let contacts: Vec<_> = status
        .machines
        .iter()
        .filter_map(|machine| {
            let us = when::read(machine.last_contact.as_deref()?)?;
            let ago = when::span(now_us.saturating_sub(us).div_euclid(1_000_000));
            Some(format!("{} {ago} ago", machine.name))
        })
        .collect();
    if contacts.is_empty() {
        return String::new();
    }
    format!("last document  {}\n", contacts.join("   "))
}

/// Whom access was refused since the start, and who could not be told.
fn refused(status: &Status) -> String {
    let mut words: Vec<String> = Vec::new();
    for row in &status.refused_access {
        words.push(format!("{} {} {}", row.roles, row.code, count(row.count)));
    }
    for (cause, times) in &status.auth_failures {
        words.push(format!("strangers {cause} {}", count(*times)));
    }
    if words.is_empty() {
        return String::new();
    }
    format!("refused        {}\n", words.join("   "))
}

/// The record files: how far each is behind, and why.
fn sinks(status: &Status) -> String {
    if status.sinks.is_empty() {
        return String::new();
    }
    let word = |sink: &SinkStatus| match (sink.behind, &sink.error) {
        (0, None) => format!("{} ok", sink.name),
        (behind, None) => format!("{} behind by {}", sink.name, count(behind)),
        (behind, Some(_)) => alarming(&format!("{} behind by {} !", sink.name, count(behind))),
    };
    let words: Vec<String> = status.sinks.iter().map(word).collect();
    let mut out = format!("records        {}\n", words.join("   "));
    for sink in &status.sinks {
        let (name, error) = (&sink.name, sink.error.as_ref());
        let error = error.map(|error| format!("record file {name} ({}): {error} !", sink.path));
        let counted = |number: i64, noun: &str, what: &str| {
            let number_text = figure::counted(&number.to_string(), noun);
            let text = format!("record file {name}: {number_text} {what}");
            (number > 0).then_some(text)
        };
        let rejected = counted(sink.rejected, "record", "without a line !");
        let left_out = counted(sink.left_out, "correction", "left out");
        let alarms = error.into_iter().chain(rejected);
        for line in alarms.map(|line| alarming(&line)).chain(left_out) {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// Machines of which nothing came yet: nothing is wrong with that by itself.
fn silent(status: &Status) -> String {
    let machines = status.machines.iter();
    let silent =
        machines.filter(|machine| machine.last_contact.is_none() && machine.source.is_none());
    let names: Vec<&str> = silent.map(|machine| machine.name.as_str()).collect();
    match names.as_slice() {
        [] => String::new(),
        _ => format!(
            "not reported   {}: no request of a scheduler and no usage of a collector yet\n",
            names.join("   ")
        ),
    }
}

/// Collectors that should have said something by now.
fn silent_sources(status: &Status) -> String {
    match status.silent_sources.as_slice() {
        [] => String::new(),
        names => {
            let names = names.join("   ");
            let line = format!("silent         {names}: `bank source ls` shows the last contact !");
            format!("{}\n", alarming(&line))
        }
    }
}

/// Messages that wait for partner banks, with the cause.
fn partners(status: &Status) -> String {
    let line = |one: &PartnerWaiting| {
        let cause = one.cause.as_deref().map(|why| format!(": {why}"));
        let line = format!(
            "partner        {}: {} waiting since {}{} !",
            one.name,
            figure::counted(&one.waiting.to_string(), "message"),
            one.since,
            cause.unwrap_or_default()
        );
        format!("{}\n", alarming(&line))
    };
    status.partners.iter().map(line).collect()
}

/// Raised alerts, and what those who are told wait for.
fn attention(status: &Status) -> String {
    let Some(attention) = status.attention.as_ref() else {
        return String::new();
    };
    let mut out = String::new();
    if attention.open > 0 {
        let open = count(attention.open);
        let line = format!("alerts         {open} raised: `bank attention ls` !");
        let _ = writeln!(out, "{}", alarming(&line));
    }
    for target in &attention.targets {
        let dead = match target.dead {
            0 => String::new(),
            dead => format!(", {} abandoned", count(dead)),
        };
        let gone = if target.active {
            ""
        } else {
            ", not in the settings"
        };
        let why = target.error.as_deref().map(|why| format!(": {why}"));
        let line = format!(
            "notices        {}: {} waiting{dead}{gone}{}",
            target.name,
            count(target.waiting),
            why.unwrap_or_default()
        );
        if target.error.is_some() || target.dead > 0 {
            let _ = writeln!(out, "{}", alarming(&format!("{line} !")));
        } else if attention.on {
            let _ = writeln!(out, "{line}");
        }
    }
    if !attention.off.is_empty() {
        let _ = writeln!(out, "not watched    {}", attention.off.join("   "));
    }
    out
}

/// The last backup, the write-ahead log, and requests refused by limits.
fn safety(status: &Status, now_us: i64) -> String {
    let mut parts = Vec::new();
    if let Some(last) = &status.last_backup {
        let proven = match last.proof.as_str() {
            "journal" => "verified",
            _ => "its structure checked",
        };
        let ago = when::read(&last.made_at).map(|us| now_us.saturating_sub(us).max(0));
        let ago = ago.map_or_else(String::new, |us| {
            format!("{} ago, ", when::span(us.div_euclid(1_000_000)))
        });
        parts.push(format!("{ago}{proven}, {}", last.path));
    }
    let error = status.backup_error.iter();
    parts.extend(error.map(|error| alarming(&format!("{error} !"))));
    let mut out = String::new();
    if !parts.is_empty() {
        let _ = writeln!(out, "last backup    {}", parts.join("   "));
    }
    if let Some(error) = &status.checkpoint_error {
        let _ = writeln!(out, "no checkpoint  {}", alarming(&format!("{error} !")));
    }
    if let Some(bytes) = status.wal_bytes.filter(|bytes| *bytes >= WAL_REPORTED) {
        let _ = writeln!(out, "write-ahead log {}", size(bytes));
    }
    let limited = &status.limited;
    if (limited.rate, limited.concurrent, limited.body) != (0, 0, 0) {
        let _ = writeln!(
            out,
            "refused        {} too often   {} too many at once   {} too large",
            count(limited.rate),
            count(limited.concurrent),
            count(limited.body)
        );
    }
    out
}

/// The clock, what comes next, and what could not come.
fn times(status: &Status, now_us: i64) -> String {
    let clock = match status.clock.state.as_str() {
        "held" => alarming(&format!(
            "jumped to {}, the ledger stays at {}: `bank clock confirm` if it is right !",
            status.clock.clock, status.clock.ledger
        )),
        "behind" => alarming(&format!(
            "behind at {}, the ledger waits at {} !",
            status.clock.clock, status.clock.ledger
        )),
        _ => "ok".to_owned(),
    };
    // From the ledger's present, which a test may have moved.
    let now_us = when::read(&status.at).unwrap_or(now_us);
    let ahead = |at: &str| {
        let us = when::read(at).unwrap_or(now_us);
        when::span(us.saturating_sub(now_us).max(0).div_euclid(1_000_000))
    };
    let boundary = status.next_boundary.as_deref();
    let boundary = boundary.map_or_else(|| "none".to_owned(), |at| format!("in {}", ahead(at)));
    let mut out = format!("clock {clock}   next boundary {boundary}");
    if let Some(next) = &status.next_cycle {
        let _ = write!(out, "   next cycle {} in {}", next.name, ahead(&next.at));
    }
    out.push('\n');
    for stuck in &status.stuck {
        let line = format!(
            "stuck: {}, due {}: {} !",
            stuck.subject(),
            stuck.at,
            stuck.code
        );
        let _ = writeln!(out, "{}", alarming(&line));
    }
    out
}

fn count(number: i64) -> String {
    figure::grouped(&number.to_string())
}

/// Bytes for people: `3.1 GiB`.
fn size(bytes: i64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fit = units.into_iter().find(|(_, shift)| bytes >= 1 << shift);
    fit.map_or_else(
        || format!("{bytes} bytes"),
        |(unit, shift)| {
            let tenths = bytes.saturating_mul(10) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        },
    )
}

fn sheet(status: &Status) -> Sheet {
    let columns = vec![
        column("version", "Version", Kind::Text),
        column("healthy", "Healthy", Kind::Text),
        column("uptime_s", "Up s", Kind::Number),
        column("mode", "Mode", Kind::Text),
        column("open_liens", "Open liens", Kind::Number),
        column("queue_depth", "Queue", Kind::Number),
        column("queue_capacity", "Capacity", Kind::Number),
        column("commits", "Commits", Kind::Number),
        column("commands", "Commands", Kind::Number),
        column("journal_transactions", "Transactions", Kind::Number),
        column("journal_entries", "Entries", Kind::Number),
        column("unit", "Unit", Kind::Text),
        column("precision", "Precision", Kind::Number),
        column("sqlite_version", "SQLite", Kind::Text).on_request(),
        column("database_bytes", "Bytes", Kind::Number).on_request(),
        column("unbilled", "Unbilled", Kind::Text).on_request(),
        column("disputed", "Disputed", Kind::Number).on_request(),
        column("machines", "Machines", Kind::Text).on_request(),
        column("at", "At", Kind::Time).on_request(),
        column("clock", "Clock", Kind::Text).on_request(),
        column("next_boundary", "Next boundary", Kind::Time).on_request(),
        column("next_cycle", "Next cycle", Kind::Text).on_request(),
        column("stuck", "Stuck", Kind::Text).on_request(),
        column("stuck_total", "Stuck so far", Kind::Number).on_request(),
        column("sinks", "Record files", Kind::Text).on_request(),
        column("wal_bytes", "Log bytes", Kind::Number).on_request(),
        column("last_backup", "Last backup", Kind::Text).on_request(),
        column("backup_error", "Backup error", Kind::Text).on_request(),
        column("checkpoint_error", "Checkpoint error", Kind::Text).on_request(),
        column("limited", "Refused by limits", Kind::Text).on_request(),
    ];
    Sheet::new(columns, std::slice::from_ref(status), "no status")
}

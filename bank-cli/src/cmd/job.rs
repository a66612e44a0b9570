//! `bank jobs`: jobs and what each was charged, or one job and why.

use std::fmt::Write as _;

use bank_api::{
    text::format_clock,
    v1::{ChargeRow, Job, JobLien, JobQuery, List, RecordedUse, RecordedUseQuery},
};
use bank_picture::figure;
use serde::Serialize;

use crate::{
    cli::JobsArgs,
    context::Context,
    fail::Failure,
    out::{Form, Kind, Sheet, column, fitted, width},
    when,
};

pub(super) fn run(context: &Context, args: JobsArgs) -> Result<String, Failure> {
    if let Some(job) = &args.job {
        let machine = JobQuery {
            machine: args.only.machine,
            ..JobQuery::default()
        };
        let job: Job = context.get(&["jobs", job], &machine)?;
        return if context.form.is_table() && context.form.columns.is_empty() {
            Ok(screen(&context.form, &job))
        } else {
            context.form.one(&job, &sheet(std::slice::from_ref(&job)))
        };
    }
    if args.recorded {
        return recorded(context, args);
    }
    let query = JobQuery {
        project: args.only.project,
        user: args.only.user,
        machine: args.only.machine,
        state: args.state,
        outcome: args.outcome,
        from: context.bounded(args.from.as_ref())?,
        until: context.bounded(args.to.as_ref())?,
        period: args.period,
        limit: args.limit,
        after: args.after,
    };
    let list: List<Job> = context.get(&["jobs"], &query)?;
    let sheet = sheet(&list.items);
    continued(context, &list, sheet)
}

/// A page of a list, with the cursor of the next one.
fn continued<T: Serialize>(
    context: &Context,
    list: &List<T>,
    mut sheet: Sheet,
) -> Result<String, Failure> {
    if let Some(next) = &list.next {
        sheet.attention.push(format!("more rows: --after {next}"));
    }
    context.form.list(list, &sheet)
}

/// Finished uses without a charge.
fn recorded(context: &Context, args: JobsArgs) -> Result<String, Failure> {
    let query = RecordedUseQuery {
        project: args.only.project,
        user: args.only.user,
        machine: args.only.machine,
        from: context.bounded(args.from.as_ref())?,
        until: context.bounded(args.to.as_ref())?,
        period: args.period,
        limit: args.limit,
        after: args.after,
    };
    let list: List<RecordedUse> = context.get(&["uses"], &query)?;
    let some = |test: fn(&RecordedUse) -> bool| list.items.iter().any(test);
    let columns = vec![
        column("id", "Job", Kind::Text),
        column("source", "Source", Kind::Text).secondary(),
        column("type", "Type", Kind::Text).on_screen_if(some(|one| one.kind != "job")),
        column("machine", "Machine", Kind::Text),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("group", "Group", Kind::Text).on_screen_if(false),
        column("queue", "Queue", Kind::Text).secondary(),
        column("qos", "QOS", Kind::Text).on_screen_if(false),
        column("state", "State", Kind::Text).secondary(),
        column("submit", "Submitted", Kind::Time).on_screen_if(false),
        column("start", "Start", Kind::Time).secondary(),
        column("end", "End", Kind::Time),
        column("wall_s", "Seconds", Kind::Amount),
        column("processors", "Procs", Kind::Number),
        column("nodes", "Nodes", Kind::Number).on_screen_if(false),
        column("gpus", "GPUs", Kind::Number).on_screen_if(some(|one| one.gpus.is_some())),
        column("shadow_charged", "Shadow", Kind::Amount)
            .on_screen_if(some(|one| one.shadow_charged.is_some())),
        column("unit", "Unit", Kind::Text).on_request(),
    ];
    let unit = list.items.first().map_or("", |one| &one.unit);
    let sheet = Sheet::new(columns, &list.items, "no recorded uses").unit(unit);
    continued(context, &list, sheet)
}

fn sheet(jobs: &[Job]) -> Sheet {
    let some = |test: fn(&Job) -> bool| jobs.iter().any(test);
    let columns = vec![
        column("job", "Job", Kind::Text),
        column("number", "Use", Kind::Number).on_screen_if(some(|job| job.number > 1)),
        column("machine", "Machine", Kind::Text),
        column("type", "Type", Kind::Text).on_screen_if(some(|job| job.kind != "job")),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("state", "State", Kind::Text),
        column("processors", "Procs", Kind::Number).secondary(),
        column("charged_s", "Seconds", Kind::Number).secondary(),
        column("charged", "Charged", Kind::Amount),
        column("refunded", "Refunded", Kind::Amount).on_screen_if(jobs.iter().any(has_refunds)),
        column("net", "Net", Kind::Amount).on_screen_if(jobs.iter().any(has_refunds)),
        column("disputed_s", "Disputed s", Kind::Number)
            .on_screen_if(some(|job| job.disputed_s > 0)),
        column("account", "Account", Kind::Text).secondary(),
        column("fallback_from", "In place of", Kind::Text)
            .on_screen_if(some(|job| job.fallback_from.is_some())),
        column("outcome", "Outcome", Kind::Text).on_screen_if(some(|job| {
            job.outcome.as_deref().is_some_and(|o| o != "charged")
        })),
        column("late", "Late", Kind::Text).on_screen_if(some(|job| job.late)),
        column("opened", "Opened", Kind::Time).secondary(),
        column("closed", "Closed", Kind::Time),
        column("qos", "QOS", Kind::Text).on_request(),
        column("class", "Class", Kind::Text).on_request(),
        column("requested_s", "Requested s", Kind::Number).on_request(),
        column("unit", "Unit", Kind::Text).on_request(),
    ];
    let unit = jobs.first().map_or("", |job| &job.unit);
    Sheet::new(columns, jobs, "no jobs").unit(unit)
}

/// One job for people: a line about it, then its lien, its charges, and who paid.
fn screen(form: &Form, job: &Job) -> String {
    let mut out = fitted(&heading(job), form.width, |_| 2);
    let lines = money(form, job);
    let label = lines
        .iter()
        .map(|line| width(&line.label))
        .max()
        .unwrap_or(0)
        .max(7);
    let amounts = lines.iter().map(|line| width(&line.amount)).max();
    let amounts = amounts.unwrap_or(0);
    for Line {
        label: name,
        amount,
        rest,
    } in &lines
    {
        let gap = if name == "total" { " " } else { "  " };
        let line = format!("{name:<label$}  {amount:>amounts$}{gap}{rest}");
        let behind = label + 2 + amounts + 2;
        out.push_str(&fitted(line.trim_end(), form.width, |_| behind));
    }
    let payers = payers(form, job, label);
    out.push_str(&fitted(&payers, form.width, |_| label + 2));
    out + &fitted(&remarks(form, job), form.width, |_| 2)
}

/// Lines about a job below its amounts.
fn remarks(form: &Form, job: &Job) -> String {
    let mut out = String::new();
    if let Some(account) = &job.fallback_from {
        let _ = writeln!(out, "fallback: {account} could not pay");
    }
    if job.disputed_s > 0 {
        let seconds = form.amount(&job.disputed_s.to_string());
        let _ = writeln!(
            out,
            "disputed: {seconds} s more were reported than can have been used"
        );
    }
    if let Some(outcome) = job
        .outcome
        .as_deref()
        .filter(|outcome| *outcome != "charged")
    {
        let _ = writeln!(out, "outcome: {outcome}");
    }
    out
}

/// The payers; if there are several, with the sum of each over all charges.
fn payers(form: &Form, job: &Job, label: usize) -> String {
    let mut out = String::new();
    let alone = job.paid_by.len() == 1;
    for payer in &job.paid_by {
        let until = payer.until.as_ref().map(|time| when::date(time, form.zone));
        let until = until
            .map(|date| format!(" (until {date})"))
            .unwrap_or_default();
        let of = if job.project.as_ref() == Some(&payer.account) {
            String::new()
        } else {
            format!(" of {}", payer.account)
        };
        let part = if alone {
            String::new()
        } else {
            format!("  {}", form.amount(&payer.amount))
        };
        let _ = writeln!(
            out,
            "{:<label$}  allocation {}{of}{until}{part}",
            "paid by", payer.allocation
        );
    }
    if !alone && !job.paid_by.is_empty() {
        let _ = writeln!(
            out,
            "{:<label$}  sums over all charges less refunds; bank explain {} shows each charge",
            "", job.job
        );
    }
    out
}

/// An amount with what it is and what is to be said of it.
struct Line {
    label: String,
    amount: String,
    rest: String,
}

/// The lien, the charges and the total of a job.
fn money(form: &Form, job: &Job) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(lien) = &job.lien {
        let rest = format!(
            "{}  {}",
            when::moment(&lien.placed, form.zone),
            fate(form, lien)
        );
        let amount = form.amount(&lien.placed_amount);
        lines.push(Line {
            label: "lien".to_owned(),
            amount,
            rest,
        });
    }
    lines.extend(job.charges.iter().map(|charge| {
        let mut rest = vec![when::moment(&charge.at, form.zone)];
        rest.extend(remark(form, charge));
        let amount = form.amount(&charge.amount);
        Line {
            label: charge.kind.clone(),
            amount,
            rest: rest.join("  "),
        }
    }));
    let mut because = job.explanation.join("; ");
    if !because.is_empty() {
        because.insert_str(0, "= ");
    }
    let amount = form.amount(&job.charged);
    lines.push(Line {
        label: "total".to_owned(),
        amount,
        rest: because,
    });
    for (label, amount) in refunds(job) {
        lines.push(Line {
            label: label.to_owned(),
            amount: form.amount(amount),
            rest: String::new(),
        });
    }
    lines
}

/// The refunded and the net amount of a job with refunds.
pub(super) fn refunds(job: &Job) -> Vec<(&'static str, &str)> {
    let back = [("refunded", &job.refunded), ("net", &job.net)];
    let back = back
        .into_iter()
        .filter_map(|(label, amount)| Some((label, amount.as_deref()?)));
    if has_refunds(job) {
        back.collect()
    } else {
        Vec::new()
    }
}

fn has_refunds(job: &Job) -> bool {
    let refunded = job.refunded.as_deref();
    refunded.is_some_and(|amount| !figure::is_zero(amount))
}

/// `interim,  25,342 s, then end`: for how long it was, behind the first word.
fn remark(form: &Form, charge: &ChargeRow) -> Option<String> {
    let message = charge.explanation.clone()?;
    let Some(seconds) = charge.seconds else {
        return Some(message);
    };
    let seconds = form.amount(&seconds.to_string());
    Some(match message.split_once(", ") {
        Some((word, rest)) => format!("{word},  {seconds} s, {rest}"),
        None => format!("{message},  {seconds} s"),
    })
}

/// What has become of a lien.
fn fate(form: &Form, lien: &JobLien) -> String {
    if lien.state == "open" {
        return format!("{} still held", form.amount(&lien.amount));
    }
    if figure::is_zero(&lien.released) {
        return lien.state.clone();
    }
    let how = if lien.state == "settled" {
        "released"
    } else {
        &lien.state
    };
    format!("{} {how} at the end", form.amount(&lien.released))
}

/// `Job 1632  chem  amy  ia64  64 procs  ran 11:02:10 (requested 12:00:00)`
fn heading(job: &Job) -> String {
    let noun = if job.kind == "reservation" {
        "Reservation"
    } else {
        "Job"
    };
    let mut words = vec![format!("{noun} {}", job.job)];
    if job.number > 1 {
        words.push(format!("(use {} of this id)", job.number));
    }
    words.extend(job.project.clone());
    words.extend(job.user.clone());
    words.push(job.machine.clone());
    words.extend(job.processors.map(processors));
    let requested = job
        .requested_s
        .map(|seconds| format!("requested {}", format_clock(seconds)));
    let ran = format_clock(job.charged_s);
    words.push(match (job.state.as_str(), requested) {
        ("closed", Some(requested)) => format!("ran {ran} ({requested})"),
        ("closed", None) => format!("ran {ran}"),
        (_, Some(requested)) => format!("charged for {ran} so far ({requested})"),
        (_, None) => format!("charged for {ran} so far"),
    });
    words.join("  ")
}

fn processors(count: i64) -> String {
    format!("{count} {}", if count == 1 { "proc" } else { "procs" })
}

#[cfg(test)]
mod tests {
    use bank_api::v1::Payer;

    use super::*;
    use crate::out::{assert_fits, filled, test_form};

    #[test]
    fn the_widest_job_fits_a_terminal() {
        for mut job in filled::<Job>() {
            for state in ["open", "closed"] {
                job.state = state.to_owned();
                assert_fits(&screen(&test_form(), &job));
            }
        }
    }

    /// Sums of several payers are marked as such: they are not the split of one charge.
    #[test]
    fn sums_of_payers_are_marked() {
        let payer = |allocation, amount: &str| Payer {
            account: "chem".into(),
            allocation,
            amount: amount.into(),
            until: None,
        };
        let mut job = Job {
            job: "7".into(),
            machine: "ia64".into(),
            kind: "job".into(),
            project: Some("chem".into()),
            charged: "150.000".into(),
            paid_by: vec![payer(3, "100.000"), payer(4, "50.000")],
            ..Job::default()
        };
        let text = screen(&test_form(), &job);
        assert!(text.contains("paid by  allocation 3  100.000\n"), "{text}");
        let note = "sums over all charges less refunds; bank explain 7 shows each charge\n";
        assert!(text.ends_with(note), "{text}");
        job.paid_by.truncate(1);
        assert!(!screen(&test_form(), &job).contains("sums over"));
    }
}

//! `xdmod` in the layout `openshift`: a row for each sample of a pod, along a cursor (decision 0172).

use bank_api::v1::ExportQuery;
use bank_core::decimal::Decimal;
use bank_core::ids::NAME_BYTES_MAX;
use bank_core::refusal::Refusal;
use bank_core::usage::kept;
use bankd_emit::samples::Samples;
use bankd_records::export::site;
use bankd_store::read::feed::{self, Place};
use bankd_store::read::pods::{PodPart, PodRow, page as pods};

use super::mark::{self, Mark};
use super::{Call, DEFAULT_LIMIT, Handled, Making, Wanted, bad, go_on, ok, pages};

/// Between the head and the positions of a cursor.
const KIND: &str = "pods";

/// Samples of one run at most: ten years of samples every 15 minutes, or six days of one each second.
const SAMPLES_MAX: i64 = 500_000;

/// `xdmod` with `layout=openshift`
pub(super) async fn page(call: &Call, wanted: Wanted, query: &ExportQuery) -> Handled {
    if query.explain_loss.is_some_and(bool::from) {
        return Err(bad(call, "explain_loss", "nothing with layout openshift"));
    }
    let bank = site(&call.directory().bank, &call.services.export).bank;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let limit = pages::limit(query.limit, DEFAULT_LIMIT).map_err(refused)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let since = query.since.as_deref().map(|text| read_cursor(text, &bank));
    let (mark, since) = since.transpose().map_err(refused)?.unwrap_or_default();
    let answer = call.ask(move |connection| {
        let newest = feed::newest(connection)?;
        let is_ahead = since.identity > newest.identity || since.change > newest.change;
        go_on(connection, is_ahead, &mark, |connection| {
            pods(connection, since, limit)
        })
    });
    let (portion, mark) = answer.await?.map_err(refused)?;
    let mut page = Making::default();
    for part in &portion.parts {
        let row = &part.row;
        if wanted.work.holds(&row.project, &row.user, &row.machine) {
            write(&mut page, &wanted, part);
        }
    }
    let Place {
        identity, change, ..
    } = portion.place;
    let next = format!("{}{KIND}-{identity}-{change}", mark::head(&bank, &mark));
    ok(&page.done(String::new(), "", Some(next), portion.more))
}

/// The rows of a run that an export does not have yet. Each belongs to the time in which it ended.
fn write(page: &mut Making, wanted: &Wanted, part: &PodPart) {
    let row = &part.row;
    let mut leave_out = |reason| {
        let pod = kept::value(&row.more, kept::POD).unwrap_or_default();
        page.leave_out(format!("{}/{pod}", row.namespace), reason);
    };
    let Some(step) = row.step() else {
        return leave_out("the duration of its samples is unknown");
    };
    let count = row.samples();
    if count > SAMPLES_MAX {
        return leave_out("it has more than 500,000 samples");
    }
    let Some(samples) = samples(row, step) else {
        return leave_out("a figure is invalid or out of range");
    };
    for n in 0..count {
        let Some((start, end)) = samples.span(n) else {
            continue;
        };
        if start < part.from || start >= part.to || !wanted.is_at(end) {
            continue;
        }
        if let Some(line) = samples.row(n) {
            page.text.push_str(&line);
            page.records = page.records.saturating_add(1);
        }
    }
}

/// A run as its rows have it. Without a PI from a mapping and without annotations the namespace stands for
/// them, and without limits the requests.
fn samples(row: &PodRow, step: i64) -> Option<Samples<'_>> {
    let text = |name| kept::value(&row.more, name).filter(|value| !value.is_empty());
    let usable = |name| text(name).filter(|value| value.len() <= NAME_BYTES_MAX);
    let number = |name| match text(name) {
        Some(value) => Decimal::parse(value).map(Some),
        None => Some(None),
    };
    let cpu = number(kept::CPU_REQUEST)??;
    let memory = number(kept::MEMORY_REQUEST)??;
    let whole = |number: Decimal| i64::try_from(number.billionths() / 1_000_000_000).ok();
    let mapped = Some(row.pi.as_str()).filter(|pi| !pi.is_empty());
    let replicas = number(kept::REPLICAS)?.unwrap_or(Decimal::whole(1));
    Some(Samples {
        number: row.id,
        cluster: &row.machine,
        pi: mapped.or(usable(kept::CF_PI)).unwrap_or(&row.namespace),
        project: usable(kept::CF_PROJECT).unwrap_or(&row.namespace),
        namespace: &row.namespace,
        pod: text(kept::POD)?,
        start: row.start,
        step,
        cpu,
        cpu_limit: number(kept::CPU_LIMIT)?.unwrap_or(cpu),
        memory_limit: whole(number(kept::MEMORY_LIMIT)?.unwrap_or(memory))?,
        gpus: number(kept::GPU_REQUEST)?.unwrap_or(Decimal::ZERO),
        replicas: whole(replicas)?,
    })
}

fn read_cursor(text: &str, bank: &str) -> Result<(Mark, Place), Refusal> {
    let number = |text: &str| text.parse::<i64>().ok().filter(|n| *n >= 0);
    let read = || {
        let (mark, rest) = mark::behind_head(text, bank)?;
        let (identity, change) = rest
            .strip_prefix(KIND)?
            .strip_prefix('-')?
            .split_once('-')?;
        let place = Place {
            record: 0,
            identity: number(identity)?,
            change: number(change)?,
            run: None,
        };
        Some((mark, place))
    };
    read().ok_or(Refusal::bad_value(
        "since",
        "the `next` of an export of this bank in the same layout",
    ))
}

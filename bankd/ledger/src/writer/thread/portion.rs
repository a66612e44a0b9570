//! Takes portions into the ledger: all uses of one as one command, and those that it leaves alone each as a
//! separate command.

use super::Thread;
use crate::hooks;
use crate::writer::{Item, Landed, Others, Portion, result};
use bank_api::reason::bounded;
use bank_core::command::{Chunk, Command, Reports, UsageReport};
use bank_core::effects::{Became, Fate, Outcome};
use bank_core::ledger;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_store::{self as store, QuarantineRow, Stamp};

/// Bytes that the quarantine keeps of a record.
const BODY_MAX: usize = 64 << 10;

impl Thread {
    /// Takes a portion in. What the rules refuse goes into the quarantine, with the reason.
    pub(super) fn portion(
        &mut self,
        portion: &Portion,
        now: Timestamp,
    ) -> Result<Landed, store::Error> {
        self.sweep(now)?;
        let mut taking = Taking {
            portion,
            now,
            landed: Landed::default(),
            refused: Vec::new(),
        };
        let cut = self.cut(portion)?;
        let (items, reports) = match &cut {
            Some(cut) => (&cut.items, &cut.reports),
            None => (&portion.items, &portion.reports),
        };
        for _ in 0..cut.as_ref().map_or(0, |cut| cut.known) {
            taking.count(Became::Duplicate.word());
        }
        if portion.alone {
            taking.landed.block = portion.block;
            for item in items {
                self.alone(&mut taking, item)?;
            }
        } else if !items.is_empty() {
            self.together(&mut taking, items, reports)?;
            let left = &mut taking.landed.alone;
            let left = if portion.others == Others::None {
                std::mem::take(left)
            } else {
                Vec::new()
            };
            for item in &left {
                self.alone(&mut taking, item)?;
            }
        }
        self.store.of_block(None, None);
        let Taking {
            mut landed,
            refused,
            ..
        } = taking;
        let aside = portion.quarantine.len().saturating_add(refused.len());
        landed.quarantined = number(aside);
        if portion.dry_run {
            return Ok(landed);
        }
        let mut seen = portion.seen.clone();
        seen.rejected = seen.rejected.saturating_add(number(refused.len()));
        self.store.saw(&seen, now)?;
        for snapshot in &portion.snapshots {
            self.store.count(&portion.seen.name, snapshot)?;
        }
        let marks = if landed.alone.is_empty() {
            portion.marks.as_slice()
        } else {
            &[]
        };
        self.aside(&portion.quarantine, marks, now)?;
        self.store.quarantine(&refused, now)?;
        hooks::point("portion");
        Ok(landed)
    }

    fn stamp_portion(&mut self, portion: &Portion, now: Timestamp) {
        self.store.stamp(Stamp {
            now,
            request_id: portion.request_id.clone(),
            actor: portion.caller.actor.clone(),
            client: portion.caller.client.clone(),
            origin: portion.caller.origin.word(),
            key: None,
        });
    }

    /// All items as one command.
    fn together(
        &mut self,
        taking: &mut Taking<'_>,
        items: &[Item],
        reports: &Reports,
    ) -> Result<(), store::Error> {
        let portion = taking.portion;
        self.stamp_portion(portion, taking.now);
        let block = match &portion.raw {
            Some(_) if !portion.dry_run => Some(self.store.begin_block()?),
            _ => None,
        };
        let lines = portion.items.last();
        let lines = lines.map_or(0, |item| u64::from(item.place).saturating_add(1));
        let command = Command::Import(Box::new(Chunk {
            source: portion.seen.name.clone(),
            digest: portion.digest.clone(),
            lines,
            reports: reports.clone(),
            digests: items.iter().map(|item| item.digest).collect(),
            places: items.iter().map(|item| item.place).collect(),
        }));
        let (scope, now) = (&portion.caller.scope, taking.now);
        let decision = self.recorded(|recording| {
            ledger::execute(recording, &command, scope, now, portion.dry_run)
        })?;
        let imported = match decision {
            Ok(Outcome::Imported(imported)) => *imported,
            Ok(_) => return Ok(()),
            Err(refusal) => {
                for item in items {
                    taking.refuse(item, &refusal);
                }
                return Ok(());
            }
        };
        for (item, fate) in items.iter().zip(&imported.fates) {
            match fate {
                Fate::Took(became) => taking.count(result(&item.report, *became, None)),
                Fate::Alone => taking.landed.alone.push(item.clone()),
                Fate::Refused(refusal) => taking.refuse(item, refusal),
            }
        }
        let is_kept = imported.tx.is_some() || !taking.landed.alone.is_empty();
        if let (Some(id), Some(raw), true) = (block, &portion.raw, is_kept) {
            let tx = imported.tx.map(|tx| tx.0);
            self.store.keep_raw(id, &portion.seen.name, tx, raw)?;
            taking.landed.block = Some(id);
        }
        Ok(())
    }

    /// Runs one item as a separate command.
    fn alone(&mut self, taking: &mut Taking<'_>, item: &Item) -> Result<(), store::Error> {
        let portion = taking.portion;
        self.sweep(taking.now)?;
        self.stamp_portion(portion, taking.now);
        self.store.of_block(taking.landed.block, Some(item.place));
        let command = Command::Usage(Box::new(UsageReport::clone(&item.report)));
        let (scope, now) = (&portion.caller.scope, taking.now);
        let decision = self.recorded(|recording| {
            ledger::execute(recording, &command, scope, now, portion.dry_run)
        })?;
        match decision {
            Ok(Outcome::Used(used)) => {
                let charged = used.charged.as_ref();
                taking.count(result(&item.report, used.became, charged));
            }
            Ok(_) => taking.count("charged"),
            Err(refusal) => taking.refuse(item, &refusal),
        }
        Ok(())
    }
}

/// A portion as it is taken in.
struct Taking<'a> {
    portion: &'a Portion,
    now: Timestamp,
    landed: Landed,
    refused: Vec<QuarantineRow>,
}

impl Taking<'_> {
    fn count(&mut self, word: &str) {
        if let Some(count) = self.landed.outcomes.get_mut(word) {
            *count = count.saturating_add(1);
        } else {
            self.landed.outcomes.insert(word.to_owned(), 1);
        }
    }

    fn refuse(&mut self, item: &Item, refusal: &Refusal) {
        self.count("refused");
        let (start, length) = item.raw;
        let lines = self.portion.lines.get(start..).unwrap_or_default();
        let line = lines.get(..length).unwrap_or(lines);
        let body = if line.is_empty() {
            statements(&item.report)
        } else {
            line.to_vec()
        };
        self.refused.push(QuarantineRow {
            source: item.report.source.clone(),
            peer: self.portion.caller.client.clone(),
            place: item.file.to_string(),
            line: item.line,
            reason: reason(refusal),
            body,
        });
    }
}

/// The text of a use without a line, which is made of samples: its statements, one in a line.
fn statements(report: &UsageReport) -> Vec<u8> {
    let text = report.canonical().replace(char::is_control, "\n");
    let mut body = format!("id={}\n{text}", report.request.object_id).into_bytes();
    body.truncate(BODY_MAX);
    body
}

/// The code of a refusal; with the field, if the code alone does not name what is expected.
fn reason(refusal: &Refusal) -> String {
    let code = refusal.code();
    match refusal {
        Refusal::BadField { field, expected } => {
            bounded(format!("{code}: {field}: expected {expected}"))
        }
        _ => code.to_owned(),
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

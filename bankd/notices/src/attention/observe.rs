//! Alert levels computed from the bank's rows, each with a sentence for people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bank_api::text::{counted, format_grouped, format_rfc3339};
use bank_core::amount::Amount;
use bank_core::attention::{AttentionKind, Concern, Observed, THERE};
use bank_core::directory::Directory;
use bank_core::ids::UNBILLED;
use bank_core::model::{Account, Allocation, LienState};
use bank_core::rules::sweep::Subject;
use bank_core::time::{Seconds, Timestamp};
use bank_core_figures::forecast::{DAY_US, Forecast, forecast};
use bankd_config as config;
use bankd_ledger::usable::ran_elsewhere;
use bankd_ledger::writer::Standing;
use bankd_store as store;
use bankd_store::partner;
use bankd_store::read::attention::{self, StuckLien};
use bankd_store::read::burn::{self, Burn};
use bankd_store::read::fallback::{self, ShortJob};
use bankd_store::read::money::{self, Figures};
use bankd_store::read::sources;
use rusqlite::Connection;

use super::unfunded;

/// An allocation that kept money is reported for this time after its end.
const AFTER_END: Seconds = Seconds(30 * 86_400);
/// The largest percentage that is distinguished.
const PERCENT_MAX: i128 = 1_000_000;

/// Observed levels.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) observed: Vec<Observed>,
    /// Kinds that were not checked completely.
    pub(super) incomplete: BTreeSet<AttentionKind>,
}

/// One look: everything that is needed beside the rows.
pub(super) struct Look {
    settings: config::Attention,
    silent_after: Seconds,
    directory: Arc<Directory>,
    standing: Standing,
    now: Timestamp,
}

impl Look {
    pub(super) fn new(
        settings: &config::Notices,
        directory: Arc<Directory>,
        standing: Standing,
        now: Timestamp,
    ) -> Self {
        Self {
            settings: settings.attention.clone(),
            silent_after: settings.silent_after,
            directory,
            standing,
            now,
        }
    }

    /// Looks at everything that is watched.
    pub(super) fn seen(&self, connection: &Connection) -> Result<Seen, store::Error> {
        let mut seen = Seen::default();
        let since = self.now.minus(AFTER_END);
        let allocations = attention::living(connection, since)?;
        let burn = burn::burn(connection, None, self.now)?;
        self.accounts(&allocations, &burn, &mut seen);
        if self.settings.fallback_used {
            self.fallbacks(connection, &mut seen)?;
        }
        if self.settings.lien_stuck_s > 0 {
            self.liens(connection, &mut seen)?;
        }
        if self.settings.job_unfunded {
            self.unfunded(connection, &allocations, &mut seen)?;
        }
        if self.settings.collector_silent {
            self.collectors(connection, &mut seen)?;
        }
        if self.settings.partner_waiting_s > 0 {
            self.partners(connection, &mut seen)?;
        }
        Ok(seen)
    }

    fn accounts(&self, allocations: &[Allocation], burn: &Burn, seen: &mut Seen) {
        for own in allocations.chunk_by(|a, b| a.account == b.account) {
            let Some(first) = own.first() else { continue };
            let account = self.directory.account(first.account);
            let watched = account.filter(|a| !a.deleted && a.name != UNBILLED);
            let Some(account) = watched.filter(|a| !self.is_quiet(a)) else {
                continue;
            };
            let figures = Figures::of(own, self.now);
            self.used(account, &figures, seen);
            self.negative(account, &figures, seen);
            let speed = burn.speed(account.id);
            let credit = figures.credit_limit;
            let future = forecast(own, speed, credit, self.now);
            for allocation in own {
                self.expiring(account, allocation, &future, seen);
            }
        }
    }

    /// Whether the only project of an account is switched off.
    fn is_quiet(&self, account: &Account) -> bool {
        let project = account
            .only_project()
            .and_then(|name| self.directory.project_named(name));
        project.is_some_and(|project| self.directory.is_quiet(project.id))
    }

    fn used(&self, account: &Account, figures: &Figures, seen: &mut Seen) {
        let allocated = figures.allocated();
        let Some(share) = figures.used_hundredths() else {
            return;
        };
        let percent = share.div_euclid(100).clamp(-PERCENT_MAX, PERCENT_MAX);
        let message = format!(
            "{}: {} % used, {} of {} {}; {} available",
            account.name,
            money::hundredths(share),
            self.amount(figures.used),
            self.amount(allocated),
            self.directory.bank.unit,
            self.amount(figures.available()),
        );
        seen.observed.push(Observed {
            kind: AttentionKind::Used,
            subject: format!("account:{}", account.id.0),
            level: i64::try_from(percent).unwrap_or(0),
            concern: of_account(account),
            amount: narrow(figures.available()),
            message,
        });
    }

    fn negative(&self, account: &Account, figures: &Figures, seen: &mut Seen) {
        if figures.amount >= 0 {
            return;
        }
        let message = format!(
            "{}: below zero by {} {}",
            account.name,
            self.amount(figures.amount.saturating_neg()),
            self.directory.bank.unit,
        );
        seen.observed.push(Observed {
            kind: AttentionKind::Negative,
            subject: format!("account:{}", account.id.0),
            level: THERE,
            concern: of_account(account),
            amount: narrow(figures.amount),
            message,
        });
    }

    fn expiring(
        &self,
        account: &Account,
        allocation: &Allocation,
        future: &Forecast,
        seen: &mut Seen,
    ) {
        let Some(end) = allocation.window.end.filter(|_| allocation.amount.0 > 0) else {
            return;
        };
        let begun = allocation
            .window
            .start
            .is_none_or(|start| start <= self.now);
        if !begun || end.plus(AFTER_END) <= self.now {
            return;
        }
        let days = days_left(end, self.now);
        let in_days = counted(days, "day");
        let left = self.amount(allocation.amount.0.into());
        let (name, unit) = (&account.name, &self.directory.bank.unit);
        let until = format_rfc3339(end.0);
        let mut own = future.ends.iter();
        let unused = own
            .find(|e| e.allocation == allocation.id)
            .map(|e| e.unused);
        let message = match unused {
            _ if days <= 0 => format!("{name}: {left} {unit} ended unused at {until}"),
            Some(unused) if unused > 0 => format!(
                "{name}: {left} {unit} end in {in_days}, at {until}; as spent of late {} end unused",
                self.amount(unused)
            ),
            _ => {
                format!("{name}: {left} {unit} end in {in_days}, at {until}; they will be spent")
            }
        };
        seen.observed.push(Observed {
            kind: AttentionKind::Expiring,
            subject: format!("allocation:{}", allocation.id.0),
            level: days.max(0).saturating_neg(),
            concern: Concern {
                allocation: Some(allocation.id),
                ..of_account(account)
            },
            amount: Some(allocation.amount),
            message,
        });
    }

    /// One for each project that was short, with the account that paid last.
    fn fallbacks(&self, connection: &Connection, seen: &mut Seen) -> Result<(), store::Error> {
        let from = self.now.minus(Seconds(self.settings.fallback_clear_s));
        let until = Timestamp(self.now.0.saturating_add(1));
        let keep = |job: &ShortJob| ran_elsewhere(&self.directory, job);
        let (jobs, complete) = fallback::short(connection, (from, until), keep)?;
        if !complete {
            seen.incomplete.insert(AttentionKind::FallbackUsed);
        }
        let mut by_project: BTreeMap<&str, (usize, i128, &ShortJob)> = BTreeMap::new();
        for job in &jobs {
            let of = by_project.entry(&job.project).or_insert((0, 0, job));
            *of = (of.0 + 1, of.1.saturating_add(job.charged), job);
        }
        for (name, (count, charged, last)) in by_project {
            let project = self.directory.project_named(name);
            if project.is_some_and(|project| self.directory.is_quiet(project.id)) {
                continue;
            }
            let paying = last.account.and_then(|id| self.directory.account(id));
            let paying = paying.map_or("another account", |account| account.name.as_str());
            let jobs = if count == 1 { "job" } else { "jobs" };
            let message = format!(
                "{name}: {count} {jobs} paid by {paying}, {} {} so far; the last is {}",
                self.amount(charged),
                self.directory.bank.unit,
                last.object_id,
            );
            seen.observed.push(Observed {
                kind: AttentionKind::FallbackUsed,
                subject: format!("project:{name}"),
                level: THERE,
                concern: Concern {
                    account: last.account,
                    project: name.to_owned(),
                    ..Concern::default()
                },
                amount: narrow(charged),
                message,
            });
        }
        Ok(())
    }

    fn liens(&self, connection: &Connection, seen: &mut Seen) -> Result<(), store::Error> {
        let beyond = Seconds(self.settings.lien_stuck_s);
        let (liens, complete) = attention::stuck_liens(connection, beyond, self.now)?;
        if !complete {
            seen.incomplete.insert(AttentionKind::LienStuck);
        }
        for lien in &liens {
            seen.observed.push(self.stuck(lien));
        }
        for stuck in &self.standing.stuck {
            let Subject::Instance(id) = stuck.subject else {
                continue;
            };
            seen.observed.push(Observed {
                kind: AttentionKind::LienStuck,
                subject: format!("instance:{}", id.0),
                level: THERE,
                concern: Concern::default(),
                amount: None,
                message: format!(
                    "instance {}: its end at {} cannot be journalled: {}",
                    id.0,
                    format_rfc3339(stuck.at.0),
                    stuck.refusal.code()
                ),
            });
        }
        Ok(())
    }

    fn stuck(&self, lien: &StuckLien) -> Observed {
        let over = self.now.0.saturating_sub(lien.over_at.0);
        let minutes = over.div_euclid(60_000_000);
        let message = format!(
            "lien {}: job {} on {} holds {} {} still, {minutes} minutes beyond its wall time",
            lien.lien.0,
            lien.object_id,
            lien.machine,
            self.amount(lien.held),
            self.directory.bank.unit,
        );
        Observed {
            kind: AttentionKind::LienStuck,
            subject: format!("lien:{}", lien.lien.0),
            level: THERE,
            concern: Concern {
                account: Some(lien.account),
                lien: Some(lien.lien),
                project: lien.project.clone(),
                user: lien.user.clone(),
                machine: lien.machine.clone(),
                ..Concern::default()
            },
            amount: narrow(lien.held),
            message,
        }
    }

    /// Every job with a lien, or that outlived its lien: one that was raised stays so until it ends.
    fn unfunded(
        &self,
        connection: &Connection,
        allocations: &[Allocation],
        seen: &mut Seen,
    ) -> Result<(), store::Error> {
        let unit = &self.directory.bank.unit;
        let name = |id| {
            self.directory
                .account(id)
                .map(|account| account.name.as_str())
        };
        let (jobs, complete) = unfunded::jobs(connection, allocations, self.now)?;
        if !complete {
            seen.incomplete.insert(AttentionKind::JobUnfunded);
        }
        for job in jobs {
            let project = self.directory.project_named(&job.lien.project);
            if project.is_some_and(|project| self.directory.is_quiet(project.id)) {
                continue;
            }
            seen.observed.push(job.observed(|row, short| {
                let payer = row.accounts.first().and_then(|id| name(*id));
                let payer = payer.unwrap_or("its account");
                let why = match short {
                    0 if row.lien.state != LienState::Open => {
                        format!("its lien has ended, and {payer} has nothing available")
                    }
                    0 => format!("its hold is used up, and {payer} has nothing available"),
                    _ => format!("{payer} lacks {} {unit} for it", self.amount(short)),
                };
                format!(
                    "job {} on {} runs without money: {why}",
                    row.object_id, row.machine
                )
            }));
        }
        Ok(())
    }

    fn partners(&self, connection: &Connection, seen: &mut Seen) -> Result<(), store::Error> {
        let latest = self.now.minus(Seconds(self.settings.partner_waiting_s));
        for one in partner::all_waiting(connection)? {
            if one.since > latest {
                continue;
            }
            seen.observed.push(Observed {
                kind: AttentionKind::PartnerWaiting,
                subject: format!("partner:{}", one.partner),
                level: THERE,
                concern: Concern::default(),
                amount: None,
                message: format!(
                    "partner bank {}: {} waiting since {}; `bank status` shows the cause",
                    one.partner,
                    counted(one.count, "message"),
                    format_rfc3339(one.since.0),
                ),
            });
        }
        Ok(())
    }

    fn collectors(&self, connection: &Connection, seen: &mut Seen) -> Result<(), store::Error> {
        for source in sources::list(connection, None)? {
            if !source.is_silent(self.silent_after, self.now) {
                continue;
            }
            let [_, last] = source.contacts;
            let last = last.map(|last| format!(" since {}", format_rfc3339(last.0)));
            seen.observed.push(Observed {
                kind: AttentionKind::CollectorSilent,
                subject: format!("source:{}", source.name),
                level: THERE,
                concern: Concern {
                    machine: source.machine.clone(),
                    ..Concern::default()
                },
                amount: None,
                message: format!(
                    "collector {}: no data received{}",
                    source.name,
                    last.unwrap_or_default()
                ),
            });
        }
        Ok(())
    }

    fn amount(&self, amount: i128) -> String {
        let minor = i64::try_from(amount).unwrap_or(if amount < 0 { i64::MIN } else { i64::MAX });
        format_grouped(minor, self.directory.bank.precision.places())
    }
}

fn of_account(account: &Account) -> Concern {
    Concern {
        account: Some(account.id),
        project: account.only_project().unwrap_or_default().to_owned(),
        ..Concern::default()
    }
}

/// Days until an end, rounded up; zero or below once it is over.
fn days_left(end: Timestamp, now: Timestamp) -> i64 {
    let left = end.0.saturating_sub(now.0);
    left.saturating_add(DAY_US - 1).div_euclid(DAY_US)
}

fn narrow(amount: i128) -> Option<Amount> {
    i64::try_from(amount).ok().map(Amount)
}

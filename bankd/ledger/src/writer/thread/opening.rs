//! Runs the commands of an opening one after the other. The caller undoes the transaction if the result is not to
//! be written.

use super::Thread;
use crate::hooks;
use crate::writer::{Opened, Opening, Step, StepDone, Unopened};
use bank_core::command::{Command, RecordAction, SetRate};
use bank_core::directory::Directory;
use bank_core::ledger::{self, Ledger as _};
use bank_core::model::Figures;
use bank_core::need::Need;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_store::answer::{Answer, Media};
use bankd_store::{self as store, Known, Stamp, StoredAnswer};

impl Thread {
    /// Decides all steps, and compares the figures.
    pub(super) fn open(
        &mut self,
        opening: &Opening,
        now: Timestamp,
    ) -> Result<Opened, store::Error> {
        let mut opened = Opened::default();
        for (place, step) in opening.steps.iter().enumerate() {
            match self.step(opening, step, now)? {
                Ok(done) => opened.steps.push(done),
                Err(None) => opened.unopened = Some(Unopened::Changed(place)),
                Err(Some(refusal)) => {
                    opened.unopened = Some(Unopened::Refused(place, Box::new(refusal)));
                }
            }
            if opened.unopened.is_some() {
                return Ok(opened);
            }
            hooks::point("opening");
        }
        self.sweep(now)?;
        for (account, expected) in &opening.expected {
            let found = self.figures(account)?;
            if found.is_none_or(|found| found != *expected) {
                opened.unopened = Some(Unopened::Unequal);
            }
            opened.found.push(found);
        }
        if opening.dry_run && opened.unopened.is_none() {
            opened.unopened = Some(Unopened::DryRun);
        }
        Ok(opened)
    }

    /// One step; the error is the refusal, or none if an earlier opening wrote it with other contents.
    fn step(
        &mut self,
        opening: &Opening,
        step: &Step,
        now: Timestamp,
    ) -> Result<Result<StepDone, Option<Refusal>>, store::Error> {
        if let Some(own) = &step.key {
            let (key, fingerprint) = (&own.key.key, &own.key.fingerprint);
            match self.store.known(&own.client, key, fingerprint, "")? {
                Known::New => {}
                Known::Answered(_) => return Ok(Ok(StepDone::Before)),
                Known::Reused | Known::Replay => return Ok(Err(None)),
            }
        } else if exists(&step.command, &self.store.reference(), now) {
            return Ok(Ok(StepDone::Exists));
        }
        self.sweep(now)?;
        self.store.stamp(Stamp {
            now,
            request_id: opening.request_id.clone(),
            actor: opening.caller.actor.clone(),
            client: opening.caller.client.clone(),
            origin: opening.caller.origin.word(),
            key: step.key.as_ref().map(|own| own.key.key.clone()),
        });
        let scope = &opening.caller.scope;
        let mut first = None;
        let decision = self.recorded(|recording| {
            let decision = ledger::execute(recording, &step.command, scope, now, false)?;
            first = recording.first_tx;
            Ok(decision)
        })?;
        if let Err(refusal) = decision {
            return Ok(Err(Some(refusal)));
        }
        self.keep_step(step, first, now)?;
        Ok(Ok(StepDone::Added(first.filter(|_| !opening.dry_run))))
    }

    /// Keeps the key of a step for ever: its money is never moved in twice.
    fn keep_step(
        &mut self,
        step: &Step,
        transaction: Option<i64>,
        now: Timestamp,
    ) -> Result<(), store::Error> {
        let Some(own) = &step.key else { return Ok(()) };
        let stored = StoredAnswer {
            answer: Answer {
                status: 201,
                media: Media::Json,
                body: transaction.unwrap_or_default().to_string().into_bytes(),
            },
            fingerprint: own.key.fingerprint.to_vec(),
            nonce: String::new(),
        };
        self.store
            .keep_answer(&own.client, &own.key.key, &stored, true, now)
    }

    /// The figures of an account; none if it does not exist.
    fn figures(&mut self, account: &str) -> Result<Option<Figures>, store::Error> {
        let directory = self.store.reference();
        let Some(account) = directory.account_named(account) else {
            return Ok(None);
        };
        let view = self.store.load(&Need {
            accounts: vec![account.id],
            ..Need::default()
        })?;
        Ok(Some(Figures::of(view.of_account(account.id))))
    }
}

/// Whether the object that a command adds exists.
fn exists(command: &Command, directory: &Directory, now: Timestamp) -> bool {
    match command {
        Command::Record(change) => match &change.action {
            RecordAction::Add(Some(key), _) => directory.records.get(&change.kind, key).is_some(),
            _ => false,
        },
        Command::AddAccount(set) => directory.account_named(&set.name).is_some(),
        Command::SetMember(set) => {
            let project = directory.project_named(&set.project);
            let user = directory.user_named(&set.user);
            let known = project.zip(user);
            let known = known.and_then(|(p, u)| directory.membership(p.id, u.id));
            known.is_some_and(|own| {
                set.active.is_none_or(|active| active == own.active)
                    && set.role.is_none_or(|role| role == own.role)
            })
        }
        Command::SetRate(set) => has_rate(set, directory, now),
        _ => false,
    }
}

/// Whether an equal rate is in force.
fn has_rate(set: &SetRate, directory: &Directory, now: Timestamp) -> bool {
    let machine = set
        .machine
        .as_deref()
        .map(|name| directory.machine_named(name));
    let machine = machine.flatten().map(|machine| machine.id);
    let mut rates = directory.rates_at(now).iter();
    rates.any(|rate| {
        rate.window.contains(now)
            && rate.kind == set.kind
            && rate.name.eq_ignore_ascii_case(&set.name)
            && rate.instance == set.instance
            && (rate.value, rate.per) == (set.value, set.per)
            && rate.machine == machine
            && rate.when.as_deref() == set.when.as_ref()
    })
}

//! Questions to a partner: whether a job of its project may start here. They are asked before the command is
//! written, so the writer never waits for another bank.
//!
//! 1. A dry run prices the job by the rates here.
//! 2. The question becomes a row, so that what the partner holds is released if no reserve follows.
//! 3. The partner holds the amount, or refuses.
//! 4. The command is written with that answer, and its row takes the question away.

use std::time::Instant;

use bank_api::error::Problem;
use bank_api::text::{format_amount, format_rfc3339, parse_amount};
use bank_api::v1::{PartnerHeld, PartnerRelease, PartnerReserve};
use bank_core::amount::Amount;
use bank_core::command::{Command, Whose};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::kind::Record;
use bank_core::model::{InstanceKey, ObjectType};
use bank_core::partner::{Held, Step, object_at_partner};
use bank_core::refusal::Refusal;
use bank_core::select;
use bank_core::time::Timestamp;
use bankd_ledger::hooks;
use bankd_ledger::writer::{Decided, Reply, Submission, SubmitError, Summary, Turn, Writer};
use bankd_store::answer::{Answer, Media};
use bankd_store::partner::{PartnerChange, Question, waiting};
use bankd_store::read::Pool;
use bankd_store::{self as store, Known};
use uuid::Uuid;

use super::Partners;
use super::client::Fault;

/// The part of the time for an answer, one in so many, in which a partner that was away may take the messages before a
/// reserve: with the answer, that is less than a script waits.
const AWAY_PART: u32 = 4;

/// The route of a partner for reserves.
const RESERVES: &str = "/api/v1/partner/reserves";

/// What a job of a partner's project needs, by the rates here.
struct Sketch {
    /// The amount.
    amount: Amount,
    /// End of the lien.
    end: Timestamp,
    /// The use of the object's id.
    number: i64,
}

impl Partners {
    /// Runs a command, after a question to the partner whose project it is for, if any.
    ///
    /// # Errors
    /// As [`Writer::submit`].
    pub async fn submit(
        &self,
        writer: &Writer,
        readers: &Pool,
        submission: Submission,
    ) -> Result<Reply, SubmitError> {
        let directory = writer.directory();
        let partner = partner_of(&submission.command, &directory).cloned();
        let Some(partner) = partner else {
            return writer.submit(submission).await;
        };
        if submission.turn.as_ref().is_some_and(Turn::is_of_whole) {
            return Err(SubmitError::Alone);
        }
        if is_known(readers, &submission).await? {
            return writer.submit(submission).await;
        }
        let Some(sketch) = sketch(writer, &submission).await? else {
            return writer.submit(submission).await;
        };
        let whole = Instant::now();
        let is_question = submission.dry_run || matches!(submission.command, Command::Quote(_));
        let asking = Asking::new(&submission, &partner, &directory, &sketch);
        if !is_question {
            self.deliver_first(readers, &partner).await;
            let asked = PartnerChange::Asked(asking.row(&partner, writer.ledger_now()));
            writer.change_partner(asked).await?;
            hooks::point("partner_asked");
        }
        let answer = self
            .ask(&partner, &asking.body, is_question, &asking.id)
            .await;
        hooks::point("partner_answered");
        if !matches!(answer, Err(Fault::Away(_))) {
            self.lives(partner.name());
        }
        let step = asking.step(answer, &partner, &directory, &sketch);
        tracing::info!(
            partner = %partner.name(), request_id = %submission.request_id,
            waited_ms = whole.elapsed().as_millis(), "asked a partner"
        );
        if let (Step::Refused(_), false) = (&step, is_question) {
            writer
                .change_partner(PartnerChange::Settled(asking.id.clone()))
                .await?;
        }
        let reply = answered(writer, submission, step, &partner).await?;
        if let (Reply::Stored(_), false) = (&reply, is_question) {
            // The same request was written meanwhile: the lien is that of its reserve.
            writer
                .change_partner(PartnerChange::Settled(asking.id))
                .await?;
        }
        Ok(reply)
    }

    /// Waits until the partner has the messages before a reserve: those of an earlier charge of the job would take the
    /// lien of this one. Not longer than for an answer. If the last attempt failed, one more is awaited, for a part of
    /// that time: the partner may run again.
    async fn deliver_first(&self, readers: &Pool, partner: &Record) {
        let Ok(client) = self.client(partner) else {
            return;
        };
        let began = Instant::now();
        let limit = match self.fault(partner.name()) {
            Some(_) => client.limit() / AWAY_PART,
            None => client.limit(),
        };
        let mut is_hurried = false;
        loop {
            // Before the look, so that no attempt after it is missed.
            let mut attempt = std::pin::pin!(self.attempts.notified());
            attempt.as_mut().enable();
            let name = partner.name().to_owned();
            let waits = readers
                .run(move |connection| waiting(connection, &name))
                .await;
            if !matches!(waits, Ok(Some(_))) {
                return;
            }
            if !is_hurried {
                self.hurry();
                is_hurried = true;
            }
            let left = limit.saturating_sub(began.elapsed());
            let attempt = tokio::time::timeout(left, attempt).await;
            if attempt.is_err() || self.fault(partner.name()).is_some() {
                return;
            }
        }
    }

    /// Asks a partner in a thread that may wait.
    async fn ask(
        &self,
        partner: &Record,
        body: &[u8],
        is_question: bool,
        key: &str,
    ) -> Result<PartnerHeld, Fault> {
        let client = self.client(partner).map_err(Fault::Away)?;
        let (body, key) = (body.to_vec(), key.to_owned());
        let target = if is_question {
            format!("{RESERVES}?dry_run=true")
        } else {
            RESERVES.to_owned()
        };
        let limit = client.limit();
        let asked = tokio::task::spawn_blocking(move || client.post(&target, &body, &key));
        let broken = |error: tokio::task::JoinError| Err(Fault::Away(error.to_string()));
        // The thread itself can wait longer, for the name of the partner's host.
        match tokio::time::timeout(limit, asked).await {
            Ok(asked) => asked.unwrap_or_else(broken),
            Err(_) => Err(Fault::Away("no answer in time".to_owned())),
        }
    }
}

/// The partner whose project a quote or a reserve is for.
fn partner_of<'d>(command: &Command, directory: &'d Directory) -> Option<&'d Record> {
    let whose = match command {
        Command::Reserve(reserve) if reserve.partner.is_none() => &reserve.request.whose,
        Command::Quote(quote) if !quote.cost_only => &quote.whose,
        _ => return None,
    };
    let name = whose.project.as_deref().filter(|name| name.contains('@'))?;
    let there = directory.at_partner(name)?;
    // A project of this bank can have such a name.
    let payer = select::find(directory, whose);
    let mode = directory.mode(payer.project, payer.machine);
    let is_real = payer.only == Some(there.account.id) && !mode.is_shadow();
    is_real.then_some(there.partner)
}

/// Whether the request was answered before: then the partner was asked before.
async fn is_known(readers: &Pool, submission: &Submission) -> Result<bool, SubmitError> {
    let Some(key) = submission.key.clone() else {
        return Ok(false);
    };
    let client = submission.caller.client.clone();
    let look_up = move |connection: &rusqlite::Connection| {
        store::known(connection, &client, &key.key, &key.fingerprint, &key.nonce)
    };
    let known = readers.run(look_up).await;
    Ok(!matches!(known.map_err(|_| SubmitError::Busy)?, Known::New))
}

/// The amount by the rates here; none if the command is refused here, or needs no money of the partner.
async fn sketch(writer: &Writer, of: &Submission) -> Result<Option<Sketch>, SubmitError> {
    let dry_run = Submission {
        command: of.command.clone(),
        caller: of.caller.clone(),
        key: None,
        request_id: of.request_id.clone(),
        dry_run: true,
        render: figures,
        fingerprint: String::new(),
        turn: None,
    };
    let Reply::Fresh { answer, .. } = writer.submit(dry_run).await? else {
        return Ok(None);
    };
    let text = String::from_utf8(answer.body).unwrap_or_default();
    let mut numbers = text.split(' ').map(str::parse::<i64>);
    let mut next = || numbers.next().and_then(Result::ok);
    let (Some(amount), Some(end), Some(number)) = (next(), next(), next()) else {
        return Ok(None);
    };
    Ok((amount > 0).then_some(Sketch {
        amount: Amount(amount),
        end: Timestamp(end),
        number,
    }))
}

/// The figures of a dry run: amount, end and number; nothing for a refusal.
fn figures(decided: &Decided<'_>) -> Answer {
    let body = match decided.decision {
        Ok(Outcome::Reserved(reserved)) => {
            let end = reserved.lien.as_ref().map_or(0, |lien| lien.end.0);
            format!("{} {end} {}", reserved.held.0, reserved.number)
        }
        Ok(Outcome::Quoted(quoted)) => {
            let lasts = match decided.command {
                Command::Quote(quote) => quote.duration.unwrap_or_default(),
                _ => bank_core::time::Seconds(0),
            };
            format!("{} {} 1", quoted.cost.0, decided.now.plus(lasts).0)
        }
        _ => String::new(),
    };
    Answer {
        status: 200,
        media: Media::Text,
        body: body.into_bytes(),
    }
}

/// A question as it is sent.
struct Asking {
    id: String,
    body: Vec<u8>,
    release: String,
}

impl Asking {
    fn new(of: &Submission, partner: &Record, directory: &Directory, sketch: &Sketch) -> Asking {
        let id = Uuid::new_v4().to_string();
        let nobody = Whose::default();
        let quoted = ObjectType::Job;
        let (whose, kind, object, wall, processors) = match &of.command {
            Command::Reserve(reserve) => {
                let request = &reserve.request;
                let wall = request.facts.wall.or(reserve.charge_duration);
                let processors = request.facts.usage.processors;
                (
                    &request.whose,
                    request.object_type,
                    request.object_id.as_str(),
                    wall,
                    processors,
                )
            }
            Command::Quote(quote) => {
                let processors = quote.usage.processors;
                (&quote.whose, quoted, "quote", quote.duration, processors)
            }
            _ => (&nobody, quoted, "", None, None),
        };
        let key = InstanceKey {
            machine: whose.machine.clone(),
            object_type: kind,
            object_id: object.to_owned(),
        };
        let job = object_at_partner(&key, sketch.number);
        let named = whose.project.as_deref().unwrap_or_default();
        let project = named.strip_suffix(&format!("@{}", partner.name()));
        let places = directory.bank.precision.places();
        let question = PartnerReserve {
            question: id.clone(),
            project: project.unwrap_or(named).to_owned(),
            user: whose.user.clone().unwrap_or_default(),
            machine: key.machine.clone(),
            kind: kind.word().to_owned(),
            job: job.clone(),
            amount: format_amount(sketch.amount.0, places),
            unit: directory.bank.unit.clone(),
            precision: places,
            end: format_rfc3339(sketch.end.0),
            wall_s: wall.unwrap_or_default().0,
            processors: processors.map_or_else(|| "0".to_owned(), |p| p.to_string()),
        };
        let release = PartnerRelease {
            question: id.clone(),
            machine: key.machine,
            kind: kind.word().to_owned(),
            job,
        };
        Asking {
            id,
            body: serde_json::to_vec(&question).unwrap_or_default(),
            release: serde_json::to_string(&release).unwrap_or_default(),
        }
    }

    fn row(&self, partner: &Record, now: Timestamp) -> Question {
        Question {
            id: self.id.clone(),
            partner: partner.name().to_owned(),
            at: now.0,
            message: self.release.clone(),
        }
    }

    fn step(
        &self,
        answer: Result<PartnerHeld, Fault>,
        partner: &Record,
        directory: &Directory,
        sketch: &Sketch,
    ) -> Step {
        match answer {
            Ok(held) => Step::Held(Held {
                question: self.id.clone(),
                number: sketch.number,
                transaction: held.transaction.unwrap_or(0),
            }),
            Err(Fault::Away(why)) => {
                tracing::warn!(partner = %partner.name(), "no answer to a question: {why}");
                Step::Away
            }
            Err(Fault::Refused(problem)) => {
                Step::Refused(refusal(&problem, partner, directory, sketch.amount))
            }
        }
    }
}

/// The refusal of a partner as one of this bank.
fn refusal(problem: &Problem, partner: &Record, directory: &Directory, needed: Amount) -> Refusal {
    let name = partner.name().to_owned();
    let places = directory.bank.precision.places();
    if matches!(
        problem.code.as_str(),
        "insufficient_funds" | "account_blocked"
    ) {
        let available = problem
            .available
            .as_deref()
            .map(|a| parse_amount(a, places));
        return Refusal::InsufficientFunds {
            needed,
            available: Amount(available.and_then(Result::ok).unwrap_or(0)),
            whose: name,
        };
    }
    Refusal::PartnerRefused {
        partner: name,
        why: Fault::Refused(Box::new(problem.clone())).to_string(),
    }
}

/// Writes the command with the answer of the partner. A question of a person is refused without a command.
async fn answered(
    writer: &Writer,
    mut submission: Submission,
    step: Step,
    partner: &Record,
) -> Result<Reply, SubmitError> {
    if let Command::Reserve(reserve) = &mut submission.command {
        reserve.partner = Some(step);
        return writer.submit(submission).await;
    }
    let refusal = match step {
        Step::Refused(refusal) => refusal,
        Step::Away if partner.text("away") == "refuse" => Refusal::PartnerAway {
            partner: partner.name().to_owned(),
        },
        _ => return writer.submit(submission).await,
    };
    let code = refusal.code();
    let answer = (submission.render)(&Decided {
        directory: &writer.directory(),
        command: &submission.command,
        scope: &submission.caller.scope,
        decision: &Err(refusal),
        now: writer.ledger_now(),
        transaction: None,
        dry_run: submission.dry_run,
        request_id: &submission.request_id,
        fingerprint: &submission.fingerprint,
    });
    let summary = Summary {
        op: submission.command.op(),
        code,
        transaction: None,
        amount: None,
        batch: 0,
        queue_us: 0,
        commit_us: 0,
    };
    Ok(Reply::Fresh { answer, summary })
}

//! A document of the scheduler as a command (`nami.md` 1, 3).
//!
//! This module decides nothing. A value that is missing in the document remains missing. Values without a
//! field in the ledger are stored verbatim with the instance.

use bank_core::amount::Amount;
use bank_core::command::{
    AfterEnd, Charge, Close, Command, Create, Promise, QuoteRequest, Request, Reserve,
};
use bank_core::directory::Directory;
use bank_core::model::{ChargeDuration, Closing};
use bank_core::terms::Terms;
use bank_core::time::{Seconds, Timestamp};
use bankd_ledger::keys;
use bankd_ledger::writer::Render;
use bankd_nami::{Document, Event, asserted_amount, request};

use super::line;

/// The name of the scheduler as a machine's charging source (decisions.md 19).
const SOURCE: &str = "nami";

/// Values for all objects of a request.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// Objects and settings of the bank.
    pub directory: &'a Directory,
    /// The machine for documents without one; may be empty.
    pub machine: String,
    /// A quote becomes a row with a TID, and a create answers one.
    pub with_tid: bool,
    /// Time of the event, if the document was delayed.
    pub event_time: Option<Timestamp>,
    /// Meaning of `ChargeDuration` for machines without a setting.
    pub charge_duration: ChargeDuration,
    /// The amount that a document asserts is billed.
    pub trusts_amounts: bool,
}

impl<'a> Setting<'a> {
    /// A site that has set nothing.
    pub fn new(directory: &'a Directory) -> Self {
        Self {
            directory,
            machine: String::new(),
            with_tid: false,
            event_time: None,
            charge_duration: ChargeDuration::default(),
            trusts_amounts: false,
        }
    }
}

/// A command, and its data for the log.
#[derive(Clone, Debug)]
pub struct Made {
    /// The command.
    pub command: Command,
    /// The form of its answer.
    pub render: Render,
    /// Whether its answer is stored. A plain quote writes nothing (decisions.md 15).
    pub is_stored: bool,
    /// The project as named.
    pub project: String,
    /// The user as named.
    pub user: String,
    /// The scheduler's id.
    pub job: String,
    /// The machine as named.
    pub machine: String,
}

/// The command of a document.
///
/// # Errors
/// If a TID is requested and the system has no randomness.
pub fn of(document: Document, event: Event, setting: &Setting<'_>) -> std::io::Result<Made> {
    let may_have_tid = matches!(event, Event::Quote | Event::Create);
    let tid = if setting.with_tid && may_have_tid {
        Some(keys::new_tid()?)
    } else {
        None
    };
    let is_stored = event != Event::Quote || tid.is_some();
    let event_request = EventRequest {
        priced: document.priced_seconds().map(Seconds),
        lasts: document.lien_seconds().map(Seconds),
        charged: document.charge_duration_s.map(Seconds),
        amount: trusted_amount(&document, setting),
        request: common(document, setting),
    };
    let whose = &event_request.request.whose;
    let (project, user) = (whose.project.clone(), whose.user.clone());
    let (job, machine) = (
        event_request.request.object_id.clone(),
        whose.machine.clone(),
    );
    let (command, render): (Command, Render) = match event {
        Event::Quote => (event_request.quote(tid), line::quoted),
        Event::Create => (event_request.create(tid), line::created),
        Event::Modify => (Command::Modify(event_request.request), line::modified),
        Event::Reserve | Event::Start => (
            event_request.reserve(AfterEnd::AbsorbedOnce),
            line::reserved,
        ),
        Event::Continue | Event::Resume => {
            (event_request.reserve(AfterEnd::Absorbed), line::reserved)
        }
        Event::Charge | Event::Update | Event::Pause | Event::End => {
            (event_request.charge(event, setting), line::charged)
        }
        Event::Delete => (
            Command::Close(deletion(&event_request.request)),
            line::deleted,
        ),
    };
    Ok(Made {
        command,
        render,
        is_stored,
        project: project.unwrap_or_default(),
        user: user.unwrap_or_default(),
        job,
        machine,
    })
}

/// The cost in a document, if the site trusts it.
fn trusted_amount(document: &Document, setting: &Setting<'_>) -> Option<Amount> {
    let amount = || asserted_amount(document, setting.directory);
    setting.trusts_amounts.then(amount).flatten()
}

/// The part of a document that every command uses.
fn common(document: Document, setting: &Setting<'_>) -> Request {
    Request {
        event_time: setting.event_time,
        ..request(document, setting.directory, &setting.machine)
    }
}

/// The request of a document, for any event.
struct EventRequest {
    request: Request,
    /// Duration of the price of a quote or a lien.
    priced: Option<Seconds>,
    /// Duration of a lien: the wall duration, else the charged one (`nami.md` 3.1).
    lasts: Option<Seconds>,
    /// `ChargeDuration`.
    charged: Option<Seconds>,
    /// The asserted amount, if the site trusts it.
    amount: Option<Amount>,
}

impl EventRequest {
    fn quote(self, tid: Option<String>) -> Command {
        Command::Quote(QuoteRequest {
            whose: self.request.whose,
            usage: self.request.facts.usage,
            group: self.request.facts.group,
            duration: self.priced,
            promise: tid.as_ref().map_or(Promise::None, |_| Promise::Tid),
            tid: tid.unwrap_or_default(),
            uses: 1,
            cost_only: false,
            any_member: false,
        })
    }

    fn create(self, tid: Option<String>) -> Command {
        Command::Create(Create {
            request: self.request,
            tid,
            duration: self.priced,
        })
    }

    fn reserve(mut self, after_end: AfterEnd) -> Command {
        self.request.facts.wall = self.lasts;
        Command::Reserve(Reserve {
            request: self.request,
            charge_duration: self.charged,
            amount: self.amount,
            start: None,
            end: None,
            flush_grace: true,
            adds: false,
            partner: None,
            after_end,
        })
    }

    fn charge(self, event: Event, setting: &Setting<'_>) -> Command {
        let machine = setting
            .directory
            .any_machine_named(&self.request.whose.machine);
        let meaning = machine.and_then(|m| m.charge_duration);
        let meaning = meaning.unwrap_or(setting.charge_duration);
        Command::Charge(Charge {
            request: self.request,
            duration: self.charged,
            closes: event == Event::End,
            releases: event == Event::Pause,
            is_checked: true,
            terms: Terms {
                total: meaning == ChargeDuration::Cumulative,
                amount: self.amount,
                source: Some(SOURCE.to_owned()),
                ..Terms::default()
            },
        })
    }
}

fn deletion(request: &Request) -> Close {
    Close {
        key: request.key(),
        by: Closing::Delete,
        event_time: request.event_time,
    }
}

#[cfg(test)]
mod tests {
    use bank_core::amount::Precision;
    use bank_core::decimal::Decimal;
    use bank_core::directory::{Bank, Policy};
    use bank_core::kind::{Key, Record};

    use super::*;
    use bankd_nami::{ReadOptions, read};

    fn directory() -> Directory {
        let bank = Bank {
            uuid: "u".to_owned(),
            precision: Precision::DEFAULT,
            unit: "SU".to_owned(),
        };
        let mut directory = Directory::new(bank, Policy::default());
        directory.put_record(Record::new("attribute", Key::Name("Site".to_owned())));
        directory
    }

    fn made(xml: &str, event: Event, with_tid: bool) -> Made {
        let document = read(xml.as_bytes(), &ReadOptions::default())
            .unwrap()
            .remove(0);
        let directory = directory();
        let setting = Setting {
            machine: "colony".to_owned(),
            with_tid,
            event_time: Some(Timestamp::from_seconds(1_767_225_600)),
            ..Setting::new(&directory)
        };
        of(document, event, &setting).unwrap()
    }

    const JOB: &str = "<Job><ObjectID>Moab.1</ObjectID><User>amy</User><Account>chemistry</Account>\
        <Requestor>root</Requestor><Processors>16</Processors><GRes name=\"gpu\">0.5</GRes>\
        <WallDuration>3600</WallDuration><ChargeDuration>1800</ChargeDuration>\
        <Var name=\"BILLTID\">q1</Var><Var name=\"site\">lab</Var><Amount>12.5</Amount>\
        <Odd>x</Odd></Job>";

    #[test]
    fn a_charge_contains_every_field_once() {
        let made = made(JOB, Event::Charge, true);
        assert!(made.is_stored);
        assert_eq!(
            (made.job.as_str(), made.machine.as_str()),
            ("Moab.1", "colony")
        );
        let Command::Charge(charge) = made.command else {
            panic!("not a charge");
        };
        assert_eq!(charge.duration, Some(Seconds(1800)));
        assert!(!charge.closes);
        let request = charge.request;
        assert_eq!(request.event_time, Some(Timestamp(1_767_225_600_000_000)));
        assert_eq!(request.tid.as_deref(), Some("q1"));
        assert_eq!(request.whose.user.as_deref(), Some("amy"));
        assert_eq!(request.facts.usage.processors, Some(Decimal::whole(16)));
        assert_eq!(
            request.facts.usage.gres[0].1,
            Decimal::parse("0.5").unwrap()
        );
        let kept: Vec<_> = request
            .facts
            .other
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(kept, ["Requestor", "Amount", "site", "Odd"]);
        let declared = [("Site".to_owned(), "lab".to_owned())];
        assert_eq!(request.facts.usage.attributes, declared);
    }

    #[test]
    fn a_reserve_holds_for_the_charged_and_lasts_for_the_wall_duration() {
        let Command::Reserve(reserve) = made(JOB, Event::Reserve, false).command else {
            panic!("not a reserve");
        };
        assert_eq!(reserve.charge_duration, Some(Seconds(1800)));
        assert_eq!(reserve.request.facts.wall, Some(Seconds(3600)));
        assert!(reserve.flush_grace && reserve.after_end == AfterEnd::AbsorbedOnce);
        let short = JOB.replace("<WallDuration>3600</WallDuration>", "");
        let Command::Reserve(reserve) = made(&short, Event::Reserve, false).command else {
            panic!("not a reserve");
        };
        assert_eq!(reserve.request.facts.wall, Some(Seconds(1800)));
    }

    #[test]
    fn only_a_quote_with_a_tid_is_kept() {
        let Made {
            command, is_stored, ..
        } = made(JOB, Event::Quote, true);
        let Command::Quote(quote) = command else {
            panic!("not a quote");
        };
        assert!(is_stored && quote.promise == Promise::Tid && quote.tid.len() == 16);
        assert_eq!(quote.duration, Some(Seconds(1800)));
        let plain = made(JOB, Event::Quote, false);
        assert!(!plain.is_stored);
        let Command::Close(close) = made(JOB, Event::Delete, false).command else {
            panic!("not a close");
        };
        assert_eq!(
            (close.by, close.key.machine.as_str()),
            (Closing::Delete, "colony")
        );
    }

    #[test]
    fn the_document_names_its_machine() {
        let xml = JOB.replace("<Odd>x</Odd>", "<Machine>blue</Machine>");
        assert_eq!(made(&xml, Event::Create, false).machine, "blue");
    }
}

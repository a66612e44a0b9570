//! A document of the scheduler as a command (`nami.md` 1, 3).
//!
//! Nothing is decided here: what the document does not say stays unsaid, and what the ledger has no
//! place for is kept verbatim with the instance.

use bank_core::command::{Charge, Close, Command, Promise, QuoteRequest, Request, Reserve};
use bank_core::model::Closing;
use bank_core::terms::Terms;
use bank_core::time::{Seconds, Timestamp};

use super::line;
use crate::keys;
use crate::nami::{Document, Event, request};
use crate::writer::Render;

/// The name of the scheduler as a machine's charging source (decision 19).
const SOURCE: &str = "nami";

/// What holds for all objects of a request.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The machine where a document names none; may be empty.
    pub machine: String,
    /// A quote becomes a row with a TID.
    pub with_tid: bool,
    /// When the event happened, if the document was kept back.
    pub event_time: Option<Timestamp>,
    /// The declared usage attributes.
    pub attributes: Vec<String>,
}

/// A command, and what the log says of it.
#[derive(Clone, Debug)]
pub struct Made {
    /// What is asked.
    pub command: Command,
    /// How its answer looks.
    pub render: Render,
    /// Whether its answer is kept: a plain quote writes nothing (decision 15).
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
/// If a TID is wanted and the system has no randomness to give.
pub fn of(document: Document, event: Event, setting: &Setting) -> std::io::Result<Made> {
    let with_tid = event == Event::Quote && setting.with_tid;
    let (promise, tid) = if with_tid {
        (Promise::Tid, keys::new_tid()?)
    } else {
        (Promise::None, String::new())
    };
    let priced = document.priced_seconds().map(Seconds);
    let lasts = document.lien_seconds().map(Seconds);
    let charged = document.charge_duration_s.map(Seconds);
    let mut request = request(document, &setting.machine, &setting.attributes);
    request.event_time = setting.event_time;
    let (project, user) = (request.whose.project.clone(), request.whose.user.clone());
    let (job, machine) = (request.object_id.clone(), request.whose.machine.clone());
    let (command, render): (Command, Render) = match event {
        Event::Quote => {
            let quote = QuoteRequest {
                whose: request.whose,
                usage: request.facts.usage,
                group: request.facts.group,
                duration: priced,
                promise,
                tid,
                uses: 1,
                cost_only: false,
                any_member: false,
            };
            (Command::Quote(quote), line::quoted)
        }
        Event::Create => (Command::Create(request), line::created),
        Event::Reserve => {
            // A lien lasts as long as the wall duration, else as the charged one (nami.md 3.1).
            request.facts.wall = lasts;
            let reserve = Reserve {
                request,
                charge_duration: charged,
                start: None,
                end: None,
                flush_grace: true,
                absorb_after_end: true,
            };
            (Command::Reserve(reserve), line::reserved)
        }
        Event::Charge => {
            let charge = Charge {
                request,
                duration: charged,
                closes: false,
                terms: Terms {
                    source: Some(SOURCE.to_owned()),
                    ..Terms::default()
                },
            };
            (Command::Charge(charge), line::charged)
        }
        Event::Delete => (Command::Close(deletion(&request)), line::deleted),
    };
    Ok(Made {
        command,
        render,
        is_stored: event != Event::Quote || with_tid,
        project: project.unwrap_or_default(),
        user: user.unwrap_or_default(),
        job,
        machine,
    })
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
    use super::*;
    use crate::nami::{ReadOptions, read};
    use bank_core::decimal::Decimal;

    fn made(xml: &str, event: Event, with_tid: bool) -> Made {
        let document = read(xml.as_bytes(), &ReadOptions::default())
            .unwrap()
            .remove(0);
        let setting = Setting {
            machine: "colony".to_owned(),
            with_tid,
            event_time: Some(Timestamp::from_seconds(1_767_225_600)),
            attributes: vec!["Site".to_owned()],
        };
        of(document, event, &setting).unwrap()
    }

    const JOB: &str = "<Job><ObjectID>Moab.1</ObjectID><User>amy</User><Account>chemistry</Account>\
        <Requestor>root</Requestor><Processors>16</Processors><GRes name=\"gpu\">0.5</GRes>\
        <WallDuration>3600</WallDuration><ChargeDuration>1800</ChargeDuration>\
        <Var name=\"BILLTID\">q1</Var><Var name=\"site\">lab</Var><Amount>12.5</Amount>\
        <Odd>x</Odd></Job>";

    #[test]
    fn a_charge_says_everything_once() {
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
        assert!(reserve.flush_grace && reserve.absorb_after_end);
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

//! Requests in the notation of ledger.md 11: `r("j", 300)` is `R(j,300)`, and so on.

use super::fixture::{time, window};
use bank_core::amount::Amount;
use bank_core::command::{
    Charge, Command, Deposit, ExtendLien, Promise, QuoteRequest, Request, Reserve, SetRate, Whose,
    Withdraw,
};
use bank_core::decimal::Decimal;
use bank_core::ids::LienId;
use bank_core::model::{Facts, InstanceKey, ObjectType};
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::terms::{Shortfall, Span};
use bank_core::time::Seconds;
use bank_core::usage::Usage;

/// A request on its way: a command, its key, or why its text is none.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) command: Result<Command, &'static str>,
    pub(crate) key: Option<String>,
}

impl From<Command> for Ask {
    fn from(command: Command) -> Ask {
        Ask {
            command: Ok(command),
            key: None,
        }
    }
}

/// The conventions: user amy of project P on machine colony.
pub(crate) fn amy() -> Whose {
    Whose {
        project: Some("P".to_owned()),
        user: Some("amy".to_owned()),
        machine: "colony".to_owned(),
        ..Whose::default()
    }
}

/// The object of these tests: a job on colony.
pub(crate) fn job(machine: &str, id: &str) -> InstanceKey {
    InstanceKey {
        machine: machine.to_owned(),
        object_type: ObjectType::Job,
        object_id: id.to_owned(),
    }
}

fn request(id: &str) -> Request {
    Request {
        object_id: id.to_owned(),
        whose: amy(),
        facts: Facts {
            project: "P".to_owned(),
            user: "amy".to_owned(),
            usage: one_processor(),
            ..Facts::default()
        },
        ..Request::default()
    }
}

fn one_processor() -> Usage {
    Usage {
        processors: Some(Decimal::whole(1)),
        ..Usage::default()
    }
}

/// `R(id,n)`: reserves for 1 processor and n seconds.
pub(crate) fn r(id: &str, seconds: i64) -> Ask {
    let mut request = request(id);
    request.facts.wall = Some(Seconds(seconds));
    let reserve = Reserve {
        request,
        ..Reserve::default()
    };
    Command::Reserve(reserve).into()
}

/// `C(id,n)`: charges 1 processor and n seconds, and closes the instance.
pub(crate) fn c(id: &str, seconds: i64) -> Ask {
    Command::Charge(Charge {
        request: request(id),
        duration: Some(Seconds(seconds)),
        closes: true,
        ..Charge::default()
    })
    .into()
}

/// `CI(id,n)`: the same as an interim charge.
pub(crate) fn ci(id: &str, seconds: i64) -> Ask {
    Command::Charge(Charge {
        request: request(id),
        duration: Some(Seconds(seconds)),
        closes: false,
        ..Charge::default()
    })
    .into()
}

/// A charge whose duration is text, as a caller types it; empty for none.
pub(crate) fn c_text(id: &str, duration: &str) -> Ask {
    let seconds = match duration {
        "" => None,
        text => match bank_api::text::parse_duration(text) {
            Some(seconds) => Some(Seconds(seconds)),
            None => return unreadable("bad_duration"),
        },
    };
    Command::Charge(Charge {
        request: request(id),
        duration: seconds,
        closes: true,
        ..Charge::default()
    })
    .into()
}

/// Moves the end of a lien.
pub(crate) fn extend(lien: i64, end: &str) -> Ask {
    let (lien, end) = (LienId(lien), time(end));
    Command::ExtendLien(ExtendLien { lien, end }).into()
}

/// Gives back what a lien holds.
pub(crate) fn release(lien: i64) -> Ask {
    Command::ReleaseLien(LienId(lien)).into()
}

/// A plain quote for 1 processor.
pub(crate) fn quote(seconds: i64) -> Ask {
    Command::Quote(QuoteRequest {
        whose: amy(),
        usage: one_processor(),
        duration: Some(Seconds(seconds)),
        promise: Promise::None,
        tid: String::new(),
        uses: 1,
        group: String::new(),
        cost_only: false,
        any_member: false,
    })
    .into()
}

/// A deposit of an amount as it is typed.
pub(crate) fn deposit(name: &str, amount: &str) -> Ask {
    let amount = match bank_api::text::parse_amount(amount, 0) {
        Ok(minor) => Amount(minor),
        Err(error) => return unreadable(error.code()),
    };
    Command::Deposit(Deposit {
        name: name.to_owned(),
        amount,
        ..Deposit::default()
    })
    .into()
}

/// A withdrawal.
pub(crate) fn withdraw(name: &str, amount: i64) -> Ask {
    Command::Withdraw(Withdraw {
        name: name.to_owned(),
        amount: Amount(amount),
        ..Withdraw::default()
    })
    .into()
}

/// A rate such as `VBR Processors 0.5`, `NBF Zone=Asia 200`, `NBM QualityOfService= 3`.
pub(crate) fn rate(text: &str) -> Ask {
    let words: Vec<&str> = text.split(' ').collect();
    let (name, instance) = words[1].split_once('=').unwrap_or((words[1], ""));
    Command::SetRate(SetRate {
        kind: RateKind::parse(words[0]).unwrap(),
        name: name.to_owned(),
        instance: instance.to_owned(),
        value: RateValue::parse(words[2]).unwrap(),
        per: Per::Second,
        machine: None,
        from: None,
        until: None,
        when: None,
        description: String::new(),
    })
    .into()
}

fn unreadable(code: &'static str) -> Ask {
    Ask {
        command: Err(code),
        key: None,
    }
}

impl Ask {
    /// With an idempotency key of the test's own.
    pub(crate) fn key(mut self, key: &str) -> Ask {
        self.key = Some(key.to_owned());
        self
    }

    pub(crate) fn user(self, user: &str) -> Ask {
        self.whose(|w| w.user = Some(user.to_owned()))
    }

    pub(crate) fn machine(self, machine: &str) -> Ask {
        self.whose(|w| machine.clone_into(&mut w.machine))
    }

    pub(crate) fn project(self, project: &str) -> Ask {
        self.whose(|w| w.project = Some(project.to_owned()))
    }

    pub(crate) fn processors(self, count: i64) -> Ask {
        self.usage(|u| u.processors = Some(Decimal::whole(count)))
    }

    pub(crate) fn no_processors(self) -> Ask {
        self.usage(|u| u.processors = None)
    }

    pub(crate) fn qos(self, qos: &str) -> Ask {
        self.usage(|u| u.qos = Some(qos.to_owned()))
    }

    pub(crate) fn memory(self, megabytes: i64) -> Ask {
        self.usage(|u| u.memory_mb = Some(Decimal::whole(megabytes)))
    }

    pub(crate) fn attribute(self, name: &str, value: &str) -> Ask {
        self.usage(|u| u.attributes.push((name.to_owned(), value.to_owned())))
    }

    /// When it happened.
    pub(crate) fn at(self, text: &str) -> Ask {
        let at = time(text);
        self.change(|command| match command {
            Command::Charge(charge) => charge.request.event_time = Some(at),
            Command::Reserve(reserve) => reserve.request.event_time = Some(at),
            _ => panic!("has no event time"),
        })
    }

    pub(crate) fn start(self, text: &str) -> Ask {
        let at = time(text);
        self.reserve(|reserve| reserve.start = Some(at))
    }

    pub(crate) fn end(self, text: &str) -> Ask {
        let at = time(text);
        self.reserve(|reserve| reserve.end = Some(at))
    }

    /// Start and end of the charged window sent, and no duration.
    pub(crate) fn used(self, text: &str) -> Ask {
        let given = window(text);
        let span = given.start.zip(given.end);
        let span = span.map(|(start, end)| Span { start, end });
        self.charge(|charge| {
            charge.duration = None;
            charge.terms.window = span;
        })
    }

    /// The duration is the total of the job.
    pub(crate) fn total(self) -> Ask {
        self.charge(|charge| charge.terms.total = true)
    }

    /// This amount, whatever the rates say.
    pub(crate) fn amount(self, amount: i64) -> Ask {
        self.charge(|charge| charge.terms.amount = Some(Amount(amount)))
    }

    pub(crate) fn itemisation(self, text: &str) -> Ask {
        self.charge(|charge| text.clone_into(&mut charge.terms.itemisation))
    }

    pub(crate) fn shortfall(self, shortfall: Shortfall) -> Ask {
        self.charge(|charge| charge.terms.shortfall = Some(shortfall))
    }

    pub(crate) fn charge(self, edit: impl FnOnce(&mut Charge)) -> Ask {
        self.change(|command| match command {
            Command::Charge(charge) => edit(charge),
            _ => panic!("is no charge"),
        })
    }

    /// As the scheduler's script sends it: with the grace for two flushes.
    pub(crate) fn nami(self) -> Ask {
        self.reserve(|reserve| reserve.flush_grace = true)
    }

    pub(crate) fn cost_only(self) -> Ask {
        self.change(|command| match command {
            Command::Quote(quote) => quote.cost_only = true,
            _ => panic!("is no quote"),
        })
    }

    /// A quote that is kept, under a TID.
    pub(crate) fn promised(self, promise: Promise, tid: &str) -> Ask {
        self.change(|command| match command {
            Command::Quote(quote) => {
                quote.promise = promise;
                tid.clone_into(&mut quote.tid);
            }
            _ => panic!("is no quote"),
        })
    }

    /// With the TID of a quote.
    pub(crate) fn tid(self, tid: &str) -> Ask {
        self.change(|command| match command {
            Command::Charge(charge) => charge.request.tid = Some(tid.to_owned()),
            Command::Reserve(reserve) => reserve.request.tid = Some(tid.to_owned()),
            _ => panic!("takes no quote"),
        })
    }

    pub(crate) fn window(self, text: &str) -> Ask {
        self.deposit(|d| d.window = window(text))
    }

    pub(crate) fn limit(self, limit: i64) -> Ask {
        self.deposit(|d| d.credit_limit = Some(Amount(limit)))
    }

    pub(crate) fn allow_past(self) -> Ask {
        self.deposit(|d| d.allow_past = true)
    }

    pub(crate) fn effective(self, text: &str) -> Ask {
        self.deposit(|d| d.effective = Some(time(text)))
    }

    pub(crate) fn no_credit(self) -> Ask {
        self.change(|command| match command {
            Command::Withdraw(withdraw) => withdraw.no_credit = true,
            _ => panic!("is no withdrawal"),
        })
    }

    /// All of a deposit to the account named.
    pub(crate) fn no_tree(self) -> Ask {
        self.deposit(|d| d.no_tree = true)
    }

    pub(crate) fn class(self, class: &str) -> Ask {
        self.usage(|u| u.class = Some(class.to_owned()))
    }

    pub(crate) fn group(self, group: &str) -> Ask {
        self.change(|command| match command {
            Command::Charge(charge) => group.clone_into(&mut charge.request.facts.group),
            Command::Reserve(reserve) => group.clone_into(&mut reserve.request.facts.group),
            Command::Quote(quote) => group.clone_into(&mut quote.group),
            _ => panic!("has no group"),
        })
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut Command)) -> Ask {
        change(self.command.as_mut().unwrap());
        self
    }

    fn deposit(self, change: impl FnOnce(&mut Deposit)) -> Ask {
        self.change(|command| match command {
            Command::Deposit(deposit) => change(deposit),
            _ => panic!("is no deposit"),
        })
    }

    fn reserve(self, change: impl FnOnce(&mut Reserve)) -> Ask {
        self.change(|command| match command {
            Command::Reserve(reserve) => change(reserve),
            _ => panic!("is no reserve"),
        })
    }

    fn whose(self, edit: impl FnOnce(&mut Whose)) -> Ask {
        self.change(|command| match command {
            Command::Charge(charge) => edit(&mut charge.request.whose),
            Command::Reserve(reserve) => edit(&mut reserve.request.whose),
            Command::Quote(quote) => edit(&mut quote.whose),
            _ => panic!("is for nobody"),
        })
    }

    fn usage(self, edit: impl FnOnce(&mut Usage)) -> Ask {
        self.change(|command| match command {
            Command::Charge(charge) => edit(&mut charge.request.facts.usage),
            Command::Reserve(reserve) => edit(&mut reserve.request.facts.usage),
            Command::Quote(quote) => edit(&mut quote.usage),
            _ => panic!("has no usage"),
        })
    }
}

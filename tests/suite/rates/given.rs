//! A bank with rates, and prices asked of it.

use bank_core::amount::Precision;
use bank_core::book::Book;
use bank_core::calendar::Calendar;
use bank_core::command::{Charge, Command, Request, Scope, SetRate, Whose};
use bank_core::decimal::Decimal;
use bank_core::directory::{Bank, Policy};
use bank_core::effects::{Charged, Outcome};
use bank_core::exact::Rounding;
use bank_core::ledger::execute;
use bank_core::model::Facts;
use bank_core::price::{Named, Priced};
use bank_core::rate::{Per, Rate, RateKind, RateValue};
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::Usage;
use bankd_config::zones;

/// 2026-06-01T00:00:00Z, a Monday.
pub(crate) const T0: Timestamp = Timestamp(1_780_272_000_000_000);

/// A ledger in memory with two machines and nobody to pay: charges go to `#unbilled` in full.
pub(crate) struct Site {
    pub(crate) book: Book,
    pub(crate) now: Timestamp,
    precision: Precision,
}

impl Site {
    pub(crate) fn new(precision: u8, rounding: Rounding) -> Site {
        let precision = Precision::new(precision).unwrap();
        let bank = Bank {
            uuid: "00000000-0000-4000-8000-000000000001".to_owned(),
            precision,
            unit: "credits".to_owned(),
        };
        let policy = Policy {
            rounding,
            ..Policy::default()
        };
        let mut site = Site {
            book: Book::new(bank, policy),
            now: T0,
            precision,
        };
        for name in ["blue", "colony"] {
            site.run(&Command::add_record("machine", name, &[]));
        }
        site
    }

    pub(crate) fn run(&mut self, command: &Command) -> Outcome {
        let scope = Scope::default();
        let Ok(decision) = execute(&mut self.book, command, &scope, self.now, false);
        decision.unwrap_or_else(|refusal| panic!("{command:?}: {refusal:?}"))
    }

    /// Sets a rate long before anything is charged: `VBR Processors 1 hour`,
    /// `NBM QualityOfService=high 2 @20:00-08:00`.
    pub(crate) fn rate(&mut self, line: &str) -> Rate {
        let now = self.now;
        self.now = now.minus(Seconds(400_000_000));
        let set = self.run(&Command::SetRate(set_rate(line)));
        self.now = now;
        match set {
            Outcome::Rate(rate) => rate,
            other => panic!("{other:?}"),
        }
    }

    /// The price of usage on colony, as a charge of a new job says it.
    pub(crate) fn quote(&mut self, usage: Usage, duration: Seconds) -> String {
        let before = self.book.usages.len();
        self.charge(&format!("quoted-{before}"), usage, duration)
    }

    /// Charges a job of amy and project P on colony as interim; says what was billed.
    pub(crate) fn charge(&mut self, job: &str, usage: Usage, duration: Seconds) -> String {
        let charged = self.charged(job, usage, duration);
        charged.amount.display(self.precision).to_string()
    }

    pub(crate) fn charged(&mut self, job: &str, usage: Usage, duration: Seconds) -> Charged {
        let command = Command::Charge(Charge {
            request: Request {
                object_id: job.to_owned(),
                whose: Whose {
                    project: Some("P".to_owned()),
                    user: Some("amy".to_owned()),
                    machine: "colony".to_owned(),
                    ..Whose::default()
                },
                facts: Facts {
                    usage,
                    ..Facts::default()
                },
                ..Request::default()
            },
            duration: Some(duration),
            closes: false,
            ..Charge::default()
        });
        match self.run(&command) {
            Outcome::Charged(charged) => charged,
            other => panic!("{other:?}"),
        }
    }

    /// All that was billed.
    pub(crate) fn billed(&self) -> String {
        let sum = self.book.usages.iter().map(|u| u.amount.0).sum();
        let sum = bank_core::amount::Amount(sum);
        sum.display(self.precision).to_string()
    }
}

/// A rate as a command.
pub(crate) fn set_rate(line: &str) -> SetRate {
    let (line, when) = match line.split_once(" @") {
        Some((line, when)) => (line, Some(calendar(when))),
        None => (line, None),
    };
    let mut words = line.split_whitespace();
    let kind = RateKind::parse(words.next().unwrap()).unwrap();
    let subject = words.next().unwrap();
    let (name, instance) = subject.split_once('=').unwrap_or((subject, ""));
    SetRate {
        kind,
        name: name.to_owned(),
        instance: instance.to_owned(),
        value: RateValue::parse(words.next().unwrap()).unwrap(),
        per: words.next().map_or(Per::Second, |w| Per::parse(w).unwrap()),
        machine: words.next().map(str::to_owned),
        from: None,
        until: None,
        when,
        description: String::new(),
    }
}

pub(crate) fn calendar(text: &str) -> Calendar {
    Calendar::read(text, zones::zone).unwrap()
}

/// Sets a property of usage by its name.
pub(crate) fn property(usage: &mut Usage, name: &str, value: &str) {
    match name {
        "Processors" => usage.processors = Decimal::parse(value),
        "Memory" => usage.memory_mb = Decimal::parse(value),
        "Nodes" => usage.nodes = Decimal::parse(value),
        "Disk" => usage.disk_mb = Decimal::parse(value),
        "QualityOfService" => usage.qos = Some(value.to_owned()),
        "Class" => usage.class = Some(value.to_owned()),
        "GPUs" => usage
            .gres
            .push((name.to_owned(), Decimal::parse(value).unwrap())),
        _ => usage.attributes.push((name.to_owned(), value.to_owned())),
    }
}

/// `Processors=16 Memory=2048`.
pub(crate) fn usage(text: &str) -> Usage {
    let mut usage = Usage::default();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap();
        property(&mut usage, name, value);
    }
    usage
}

/// What is asked for usage of amy in P on colony.
pub(crate) fn priced_usage(usage: &Usage, from: Timestamp, duration: Seconds) -> Priced<'_> {
    Priced {
        usage,
        duration,
        machine: None,
        machine_name: "colony",
        named: Named {
            user: "amy",
            project: "P",
            group: "staff",
        },
        at: from,
        from,
    }
}

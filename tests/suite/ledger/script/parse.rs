//! A line of a script as a command.

mod registry;

use crate::ledger::ask::{Ask, c, ci, deposit, job, quote, r};
use crate::ledger::fixture::time;
use bank_core::amount::Amount;
use bank_core::command::{
    After, AfterEnd, Charge, Close, Command, Create, ExtendLien, Promise, Repeat, Reserve,
    UsageReport, Whose, Withdraw,
};
use bank_core::decimal::Decimal;
use bank_core::ids::{AllocationId, LienId, QuoteId, RateId};
use bank_core::model::{Closing, Facts, Mode};
use bank_core::policy::{Ended, Figures};
use bank_core::terms::Shortfall;
use bank_core::time::{Seconds, Timestamp};

/// What a line may refer to.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) now: Timestamp,
    /// The transactions so far that can be undone.
    pub(crate) txs: Vec<i64>,
    /// How many liens there are.
    pub(crate) liens: i64,
    /// How many commands there were: each has a TID of its own to give.
    pub(crate) submitted: usize,
}

/// The words of a line.
struct Line<'a> {
    words: Vec<&'a str>,
    lists: Option<&'a str>,
    known: &'a Known,
}

/// The command that a line is.
pub(crate) fn command(line: &str, known: &Known) -> Command {
    let (text, lists) = line
        .split_once(" ; ")
        .map_or((line, None), |(text, lists)| (text, Some(lists)));
    let words = text.split(' ').collect();
    Line {
        words,
        lists,
        known,
    }
    .command()
}

#[expect(
    clippy::option_option,
    reason = "as the commands have it: not said, nothing, something"
)]
impl<'a> Line<'a> {
    fn word(&self, at: usize) -> &'a str {
        self.words[at]
    }

    fn number(&self, at: usize) -> i64 {
        self.word(at).parse().unwrap()
    }

    /// The number of a lien; `~N` counts back from the newest.
    fn lien(&self) -> LienId {
        let back = self.word(2).strip_prefix('~');
        let number = back.map(|back| self.known.liens - back.parse::<i64>().unwrap());
        LienId(number.unwrap_or_else(|| self.number(2)))
    }

    fn has(&self, flag: &str) -> bool {
        self.words.contains(&flag)
    }

    /// The value of `KEY=`.
    fn option(&self, key: &str) -> Option<&'a str> {
        let mut words = self.words.iter();
        words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    fn count(&self, key: &str) -> Option<i64> {
        self.option(key).map(|text| text.parse().unwrap())
    }

    fn name(&self, key: &str) -> Option<String> {
        self.option(key).map(str::to_owned)
    }

    /// A name, or `none`.
    fn other(&self, key: &str) -> Option<Option<String>> {
        self.name(key)
            .map(|name| Some(name).filter(|name| name != "none"))
    }

    fn switch(&self, key: &str) -> Option<bool> {
        self.option(key).map(|text| text == "on")
    }

    fn mode(&self) -> Option<Option<Mode>> {
        self.option("mode").map(Mode::parse)
    }

    fn instant(&self, text: &str) -> Timestamp {
        if text.starts_with(['+', '-']) {
            return self.known.now.plus(Seconds(text.parse().unwrap()));
        }
        time(text)
    }

    fn at(&self, key: &str) -> Option<Timestamp> {
        self.option(key).map(|text| self.instant(text))
    }

    /// An instant, or `none` for no bound.
    fn bound(&self, key: &str) -> Option<Option<Timestamp>> {
        let text = self.option(key)?;
        Some((text != "none").then(|| self.instant(text)))
    }

    fn ago(&self) -> Option<Timestamp> {
        let seconds = Seconds(self.count("ago")?);
        Some(self.known.now.minus(seconds))
    }

    fn command(&self) -> Command {
        let verb = if self.words.len() > 1 {
            self.word(1)
        } else {
            ""
        };
        match (self.word(0), verb) {
            ("deposit", _) => self.deposit(),
            ("withdraw", _) => Command::Withdraw(Withdraw {
                name: verb.to_owned(),
                amount: Amount(self.number(2)),
                allocation: self.count("on").map(AllocationId),
                no_credit: self.has("no-credit"),
                note: String::new(),
            }),
            ("quote", _) => self.quote(),
            ("create" | "modify" | "reserve" | "charge", id) => self.work(id),
            ("usage", id) => self.usage(id),
            ("again", id) => Command::Repeat(Repeat {
                key: job(self.option("at").unwrap(), id),
                of: "the first".to_owned(),
            }),
            ("delete" | "end", id) => Command::Close(Close {
                key: job(self.option("at").unwrap(), id),
                by: if self.word(0) == "end" {
                    Closing::End
                } else {
                    Closing::Delete
                },
                event_time: self.ago(),
            }),
            ("lien", "extend") => Command::ExtendLien(ExtendLien {
                lien: self.lien(),
                end: self.instant(self.word(3)),
            }),
            ("lien", "rm") => Command::ReleaseLien(self.lien()),
            ("allocation", _) => self.allocation(verb),
            ("account", "rm") if self.has("force") => {
                Command::After(After::RemoveAccount(self.word(2).to_owned()))
            }
            ("account", "rm") => Command::RemoveAccount(self.word(2).to_owned()),
            ("account", "back") => Command::After(After::RestoreAccount(self.word(2).to_owned())),
            ("account", "add") => Command::AddAccount(self.account()),
            ("account", "set") => Command::SetAccount(self.account()),
            ("rate", "set") => self.rate(),
            ("rate", "rm") => Command::RemoveRate(RateId(self.number(2))),
            ("attr", "rm") => Command::remove_record("attribute", self.word(2)),
            ("attr", "add") => {
                let of = if self.has("number") { "number" } else { "text" };
                Command::add_record("attribute", self.word(2), &[("type", of.into())])
            }
            ("promise", "rm") => Command::RemoveQuote(QuoteId(self.number(2))),
            ("clock", _) => Command::ConfirmClock(self.instant(self.word(2)), String::new()),
            ("cycle", _) => self.cycle(verb),
            ("project" | "user" | "machine" | "member", _) => self.registry(verb),
            _ => self.after(),
        }
    }

    fn deposit(&self) -> Command {
        let mut ask = deposit(self.word(1), self.word(2));
        if let Some(text) = self.words.iter().find(|w| w.starts_with('[')) {
            ask = ask.window(text);
        }
        if let Some(limit) = self.count("L") {
            ask = ask.limit(limit);
        }
        let mut command = ask.command.unwrap();
        if let Command::Deposit(deposit) = &mut command {
            deposit.allocation = self.count("on").map(AllocationId);
            deposit.always_new = self.has("new");
            deposit.allow_past = self.has("past");
            deposit.no_tree = self.has("alone");
        }
        command
    }

    /// Who asks, and what they use: `by=USER/PROJECT/MACHINE 2p 30s`; `-` for nobody.
    fn used(&self, ask: Ask) -> Ask {
        let by: Vec<&str> = self.option("by").unwrap().split('/').collect();
        let name = |at: usize| Some(by[at].to_owned()).filter(|name| name != "-");
        let whose = Whose {
            project: name(1),
            user: name(0),
            machine: by[2].to_owned(),
            ..Whose::default()
        };
        let ask = ask.change(|command| match command {
            Command::Charge(charge) => charge.request.whose = whose,
            Command::Reserve(reserve) => reserve.request.whose = whose,
            Command::Quote(quote) => quote.whose = whose,
            _ => panic!("is for nobody"),
        });
        let mut ask = match self.many('p') {
            Some(processors) => ask.processors(processors),
            None => ask.no_processors(),
        };
        for (name, value) in self.words.iter().filter_map(|word| word.split_once('=')) {
            ask = match name {
                "qos" => ask.qos(value),
                "class" => ask.class(value),
                "group" => ask.group(value),
                "Zone" | "Power" => ask.attribute(name, value),
                _ => ask,
            };
        }
        ask
    }

    /// The last number before a unit.
    fn many(&self, unit: char) -> Option<i64> {
        let mut words = self.words.iter().rev();
        words.find_map(|word| word.strip_suffix(unit)?.parse().ok())
    }

    fn quote(&self) -> Command {
        let mut ask = self.used(quote(self.many('s').unwrap()));
        if self.has("cost-only") {
            ask = ask.cost_only();
        }
        for (word, promise) in [("tid", Promise::Tid), ("guarantee", Promise::Guarantee)] {
            if self.has(word) {
                ask = ask.promised(promise, &format!("t{}", self.known.submitted));
            }
        }
        let mut command = ask.command.unwrap();
        if let (Command::Quote(quote), Some(uses)) = (&mut command, self.count("uses")) {
            quote.uses = uses;
        }
        command
    }

    fn work(&self, id: &str) -> Command {
        let seconds = self.many('s').unwrap();
        let is_charge = self.word(0) == "charge";
        let ask = match (is_charge, self.has("last")) {
            (true, true) => c(id, seconds),
            (true, false) => ci(id, seconds),
            _ => r(id, seconds),
        };
        let mut ask = self.used(ask);
        if let Some(tid) = self.option("tid") {
            ask = ask.tid(tid);
        }
        let mut command = ask.command.unwrap();
        if let Command::Reserve(Reserve { request, .. }) | Command::Charge(Charge { request, .. }) =
            &mut command
        {
            request.event_time = self.ago();
            self.times(&mut request.facts);
        }
        match &mut command {
            Command::Reserve(reserve) => {
                reserve.start = self.at("start");
                reserve.end = self.at("end");
                reserve.flush_grace = self.has("nami");
                reserve.adds = self.has("adds");
                reserve.after_end = match (self.has("nami"), self.has("resume")) {
                    (true, _) => AfterEnd::AbsorbedOnce,
                    (_, true) => AfterEnd::Absorbed,
                    _ => AfterEnd::Begins,
                };
                reserve.amount = self.count("hold").map(Amount);
                let tid = self
                    .has("promise")
                    .then(|| format!("t{}", self.known.submitted));
                let request = reserve.request.clone();
                match self.word(0) {
                    "create" => {
                        let duration = Some(Seconds(seconds));
                        return Command::Create(Create {
                            request,
                            tid,
                            duration,
                        });
                    }
                    "modify" => return Command::Modify(request),
                    _ => {}
                }
            }
            Command::Charge(charge) => {
                charge.releases = self.has("pause");
                charge.is_checked = self.has("checked");
                let terms = &mut charge.terms;
                terms.newest = self.has("newest");
                terms.named_only = self.has("named");
                terms.idle = self.count("idle").map(Seconds);
                terms.source = self.name("from");
                terms.total = self.has("total");
                terms.amount = self.count("amount").map(Amount);
                terms.shortfall = self
                    .option("short")
                    .map(|word| Shortfall::parse(word).unwrap());
                if let Some((start, end)) = self.option("window").and_then(|w| w.split_once(',')) {
                    let (start, end) = (self.instant(start), self.instant(end));
                    terms.window = Some(bank_core::terms::Span { start, end });
                    charge.duration = None;
                }
            }
            _ => panic!("is no work"),
        }
        command
    }

    /// Used for so long: `ran=START,END`, either may be `-`.
    fn times(&self, facts: &mut Facts) {
        let side = |text: &str| (text != "-").then(|| self.instant(text));
        if let Some((start, end)) = self.option("ran").and_then(|w| w.split_once(',')) {
            (facts.start, facts.end) = (side(start), side(end));
        }
    }

    /// A finished use; its seconds are what was asked for.
    fn usage(&self, id: &str) -> Command {
        let ask = self.used(r(id, self.many('s').unwrap()));
        let Ok(Command::Reserve(reserve)) = ask.command else {
            panic!("is no work");
        };
        let mut request = reserve.request;
        self.times(&mut request.facts);
        request.facts.exit_code = self.count("exit");
        let ended = self.option("ended").unwrap_or_default();
        Command::Usage(Box::new(UsageReport {
            source: self.name("from").unwrap_or_else(|| "slurm".to_owned()),
            request,
            figures: Figures {
                ended: Ended::parse(ended).unwrap(),
                cpu_s: self.count("cpu").map(Decimal::whole),
                ..Figures::default()
            },
            ..UsageReport::default()
        }))
    }
}

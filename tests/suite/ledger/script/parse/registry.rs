//! Lines about what is registered, and about what was done before.

use super::Line;
use crate::ledger::ask::rate;
use crate::ledger::fixture::constraints;
use bank_core::amount::Amount;
use bank_core::command::{
    AddCycle, Adjust, After, Command, Refund, RemoveAllocation, Reverse, SetAccount, SetAllocation,
    SetCycle, SetMember, Settle, Transfer,
};
use bank_core::ids::{AllocationId, TxId};
use bank_core::kind::Value;
use bank_core::model::Mode;
use bank_core::model::{Every, Overflow};
use bank_core::rate::Per;

impl Line<'_> {
    pub(super) fn allocation(&self, verb: &str) -> Command {
        let id = AllocationId(self.number(2));
        match verb {
            "set" => Command::SetAllocation(SetAllocation {
                id,
                start: self.bound("start"),
                end: self.bound("end"),
                credit_limit: self.count("L").map(Amount),
            }),
            "rm" => Command::After(After::RemoveAllocation(RemoveAllocation {
                id,
                force: self.has("force"),
            })),
            _ => Command::After(After::SetFixed(id, "amount")),
        }
    }

    pub(super) fn account(&self) -> SetAccount {
        SetAccount {
            name: self.word(2).to_owned(),
            constraints: self.lists.map(constraints),
            priority: self.count("priority"),
            fallback: self.other("fallback"),
            parent: self.other("parent"),
            share: self.count("share"),
            overflow: self.option("overflow").and_then(Overflow::parse),
            discrete: self.switch("discrete"),
            ..SetAccount::default()
        }
    }

    pub(super) fn rate(&self) -> Command {
        let ask = rate(&self.words[2..5].join(" "));
        let mut command = ask.command.unwrap();
        if let Command::SetRate(set) = &mut command {
            set.per = self
                .option("per")
                .map_or(Per::Second, |word| Per::parse(word).unwrap());
            set.machine = self.name("machine");
            set.from = self.at("from");
            set.until = self.at("until");
        }
        command
    }

    pub(super) fn cycle(&self, verb: &str) -> Command {
        let name = self.word(2).to_owned();
        let every = self.option("every").and_then(Every::parse);
        match verb {
            "add" => Command::AddCycle(AddCycle {
                name,
                account: self.word(3).to_owned(),
                every: every.unwrap(),
                amount: Amount(self.number(4)),
                rollover: self.count("rollover").unwrap(),
                start: self.at("start"),
                note: String::new(),
            }),
            "set" => Command::SetCycle(SetCycle {
                name,
                active: self.switch("active"),
                every,
                amount: self.count("amount").map(Amount),
                rollover: self.count("rollover"),
                note: None,
            }),
            "rm" => Command::RemoveCycle(name),
            _ => Command::RunCycle(name, false),
        }
    }

    /// The values that a line gives to a record of a kind.
    fn of_record(&self, kind: &str) -> Vec<(&'static str, Value)> {
        let other = |word: &str| self.other(word).map(|name| Value::from(name.as_deref()));
        let mode = |mode: Option<Mode>| Value::from(mode.map_or("default", Mode::word));
        let machines = |all: &str| {
            let names = all.split(',').filter(|name| *name != "none");
            Value::List(names.map(str::to_owned).collect())
        };
        let active = ("active", self.switch("active").map(Value::Flag));
        let mode = ("mode", self.mode().map(mode));
        let organization = ("organization", self.option("organization").map(Value::from));
        let values = match kind {
            "machine" => vec![
                active,
                mode,
                ("fallback", other("fallback")),
                ("source", other("source")),
                ("charge_policy", self.option("policy").map(Value::from)),
                ("fallback_qos", other("fallback-qos")),
                ("test", self.switch("test").map(Value::Flag)),
            ],
            "user" => vec![active, ("default_project", other("default")), organization],
            _ => vec![
                active,
                ("parent", other("parent")),
                mode,
                organization,
                ("machines", self.option("machines").map(machines)),
            ],
        };
        let values = values.into_iter();
        values
            .filter_map(|(field, value)| Some((field, value?)))
            .collect()
    }

    pub(super) fn registry(&self, verb: &str) -> Command {
        let name = self.word(2).to_owned();
        match (self.word(0), verb) {
            ("project", "add") => {
                let own = ("no_account", Value::Flag(true));
                let values = [self.of_record("project"), vec![own]].concat();
                Command::add_record("project", &name, &values)
            }
            (kind @ ("user" | "machine"), "add") => {
                Command::add_record(kind, &name, &self.of_record(kind))
            }
            (kind @ ("project" | "user" | "machine"), "set") => {
                Command::set_record(kind, &name, &self.of_record(kind))
            }
            (kind @ ("project" | "user" | "machine"), _) => Command::remove_record(kind, &name),
            _ if self.has("gone") => Command::RemoveMember(verb.to_owned(), name),
            _ => Command::SetMember(SetMember {
                project: verb.to_owned(),
                user: name,
                active: Some(self.has("on")),
                role: None,
            }),
        }
    }

    pub(super) fn after(&self) -> Command {
        let on = self.count("on").map(AllocationId);
        Command::After(match self.word(0) {
            "transfer" => After::Transfer(Transfer {
                from: self.word(1).to_owned(),
                to: self.word(2).to_owned(),
                amount: Amount(self.number(3)),
                allocation: on,
                note: String::new(),
            }),
            "adjust" => After::Adjust(Adjust {
                name: Some(self.word(1).to_owned()),
                allocation: on,
                amount: Amount(self.number(2)),
                note: "put right".to_owned(),
            }),
            "refund" => After::Refund(Refund {
                object_id: self.word(1).to_owned(),
                machine: self.name("at"),
                object_type: None,
                number: None,
                amount: self.count("part").map(Amount),
                account: self.name("of"),
                reissue_until: self.at("until"),
                note: String::new(),
            }),
            "settle" => After::Settle(Settle {
                object_id: self.word(1).to_owned(),
                machine: self.name("at"),
                object_type: None,
                number: None,
                project: self.word(2).to_owned(),
                note: String::new(),
            }),
            "undo" => After::Reverse(Reverse {
                transaction: TxId(self.target()),
                allow_debt: self.has("debt"),
                note: String::new(),
            }),
            other => panic!("{other} is no command"),
        })
    }

    /// What an undo is about: so many back of those that can be undone, or the one named.
    fn target(&self) -> i64 {
        if let Some(tx) = self.count("tx") {
            return tx;
        }
        let back = usize::try_from(self.number(1)).unwrap();
        let all = &self.known.txs;
        all.len().checked_sub(back).map_or(0, |at| all[at])
    }
}

//! Objects that a command names: the caller's scope must cover each of them (decisions.md 39).
//!
//! Each command that a caller limited to projects or machines can send is destructured field by field,
//! without `..`. A new command or a new field does not compile until it is listed here.

use super::{
    Access, After, Approve, Charge, Chunk, Close, Command, Create, Deposit, ExtendLien, Propose,
    QuoteRequest, RecordAction, RecordChange, Refund, Reject, Repeat, Request, Reserve, SetAccount,
    SetMember, Settle, Transfer, UsageReport, Whose, Withdraw,
};
use crate::ids::{AllocationId, LienId};
use crate::kind::{Key, Kind, Record, Type, Value, Writers};
use crate::model::{Constraint, InstanceKey};
use std::borrow::Cow;

/// An object that a command names, in the words of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object<'a> {
    /// The whole bank: the command belongs to no project.
    Bank,
    /// A project.
    Project(&'a str),
    /// An account, else a project with one account.
    Account(Cow<'a, str>),
    /// A user.
    User(&'a str),
    /// A machine, known or not.
    Machine(&'a str),
    /// The payer, from project, user and machine.
    Payer(&'a Whose),
    /// A row of a list of this account.
    Row(&'a str, &'a Constraint),
    /// An allocation by number: the rule takes it only from the account that is named beside it.
    Allocation(AllocationId),
    /// A lien by number: the rule finds its job and with it its project.
    Lien(LienId),
    /// A job or reservation by id: the rule finds it among those of the caller's scope.
    Job(&'a str),
    /// A command inside.
    Inside(&'a Command),
}

impl Command {
    /// Every object that the command names.
    pub fn objects(&self) -> Vec<Object<'_>> {
        match self {
            Command::Quote(quote) => of_quote(quote),
            Command::Create(create) => of_create(create),
            Command::Modify(request) => of_request(request),
            Command::Reserve(reserve) => of_reserve(reserve),
            Command::Charge(charge) => of_charge(charge),
            Command::Usage(used) => of_usage(used),
            Command::Import(chunk) => of_chunk(chunk),
            Command::Close(close) => of_close(close),
            Command::Repeat(repeat) => of_repeat(repeat),
            Command::Deposit(deposit) => of_deposit(deposit),
            Command::Withdraw(withdraw) => of_withdraw(withdraw),
            Command::SetMember(set) => of_member(set),
            Command::RemoveMember(project, user) => {
                vec![Object::Project(project), Object::User(user)]
            }
            Command::ExtendLien(extend) => of_lien(extend),
            Command::ReleaseLien(lien) => vec![Object::Lien(*lien)],
            Command::After(after) => of_after(after),
            // The name of a new account is not looked up: it is taken or free.
            Command::AddAccount(set) => of_account(set),
            Command::SetAccount(set) => [vec![account(&set.name)], of_account(set)].concat(),
            Command::RemoveAccount(name) => vec![account(name)],
            Command::Access(access) => of_access(access),
            Command::Record(change) => of_record(change),
            Command::MergeUser(_)
            | Command::SetAllocation(_)
            | Command::SetRate(_)
            | Command::RemoveRate(_)
            | Command::AddKey(_)
            | Command::SetKey(_)
            | Command::RemoveKey(_)
            | Command::AddCycle(_)
            | Command::SetCycle(_)
            | Command::RemoveCycle(_)
            | Command::RunCycle(..)
            | Command::ConfirmClock(..)
            | Command::Attention(_)
            | Command::RemoveQuote(_)
            | Command::Assign(_)
            | Command::Period(_)
            | Command::Open(_) => vec![Object::Bank],
        }
    }
}

fn account(name: &str) -> Object<'_> {
    Object::Account(Cow::Borrowed(name))
}

fn of_quote(quote: &QuoteRequest) -> Vec<Object<'_>> {
    let QuoteRequest {
        whose,
        usage: _,
        duration: _,
        promise: _,
        tid: _,
        uses: _,
        group: _,
        cost_only: _,
        any_member: _,
    } = quote;
    vec![Object::Payer(whose)]
}

fn of_create(create: &Create) -> Vec<Object<'_>> {
    let Create {
        request,
        tid: _,
        duration: _,
    } = create;
    of_request(request)
}

fn of_close(close: &Close) -> Vec<Object<'_>> {
    let Close {
        key,
        by: _,
        event_time: _,
    } = close;
    of_key(key)
}

fn of_repeat(repeat: &Repeat) -> Vec<Object<'_>> {
    let Repeat { key, of: _ } = repeat;
    of_key(key)
}

fn of_member(set: &SetMember) -> Vec<Object<'_>> {
    let SetMember {
        project,
        user,
        active: _,
        role: _,
    } = set;
    vec![Object::Project(project), Object::User(user)]
}

fn of_lien(extend: &ExtendLien) -> Vec<Object<'_>> {
    let ExtendLien { lien, end: _ } = extend;
    vec![Object::Lien(*lien)]
}

/// The quote of a TID holds only for the project that it was given for; its facts are text.
fn of_request(request: &Request) -> Vec<Object<'_>> {
    let Request {
        object_type: _,
        object_id,
        whose,
        facts: _,
        tid: _,
        event_time: _,
        asserted: _,
    } = request;
    vec![Object::Payer(whose), Object::Job(object_id)]
}

fn of_reserve(reserve: &Reserve) -> Vec<Object<'_>> {
    let Reserve {
        request,
        charge_duration: _,
        amount: _,
        start: _,
        end: _,
        flush_grace: _,
        after_end: _,
        adds: _,
        partner: _,
    } = reserve;
    of_request(request)
}

fn of_charge(charge: &Charge) -> Vec<Object<'_>> {
    let Charge {
        request,
        duration: _,
        closes: _,
        releases: _,
        is_checked: _,
        terms: _,
    } = charge;
    of_request(request)
}

fn of_usage(used: &UsageReport) -> Vec<Object<'_>> {
    let UsageReport {
        source: _,
        request,
        figures: _,
        named: _,
        pi: _,
        host: _,
        more: _,
        flags: _,
        track: _,
        is_present: _,
        charged_before: _,
    } = used;
    of_request(request)
}

/// Each of its reports is checked on its own, and the answer lists the refused ones.
fn of_chunk(chunk: &Chunk) -> Vec<Object<'_>> {
    let Chunk {
        source: _,
        digest: _,
        lines: _,
        reports: _,
        digests: _,
        places: _,
    } = chunk;
    Vec::new()
}

fn of_key(key: &InstanceKey) -> Vec<Object<'_>> {
    let InstanceKey {
        machine,
        object_type: _,
        object_id,
    } = key;
    vec![Object::Machine(machine), Object::Job(object_id)]
}

fn of_deposit(deposit: &Deposit) -> Vec<Object<'_>> {
    let Deposit {
        name,
        amount: _,
        allocation,
        window: _,
        credit_limit: _,
        always_new: _,
        allow_past: _,
        note: _,
        no_tree: _,
        effective: _,
    } = deposit;
    with_allocation(vec![account(name)], *allocation)
}

fn of_withdraw(withdraw: &Withdraw) -> Vec<Object<'_>> {
    let Withdraw {
        name,
        amount: _,
        allocation,
        no_credit: _,
        note: _,
    } = withdraw;
    with_allocation(vec![account(name)], *allocation)
}

fn with_allocation(mut all: Vec<Object<'_>>, allocation: Option<AllocationId>) -> Vec<Object<'_>> {
    all.extend(allocation.map(Object::Allocation));
    all
}

/// A change of a project names it and what it refers to.
fn of_record(change: &RecordChange) -> Vec<Object<'_>> {
    let RecordChange {
        kind,
        op: _,
        writers,
        types,
        action,
    } = change;
    let of = |field: &str| {
        types
            .iter()
            .find(|(name, _)| name == field)
            .map(|(_, of)| of)
    };
    let set = match action {
        RecordAction::Add(_, set) | RecordAction::Set(_, set) => set.as_slice(),
        RecordAction::Remove(_) => &[],
    };
    let others = set
        .iter()
        .flat_map(|(field, value)| references(of(field), value));
    match action {
        RecordAction::Set(Key::Name(name), _) if kind == "project" => {
            [Object::Project(name)].into_iter().chain(others).collect()
        }
        // Records that operators change belong to no project, and operators have projects only.
        _ if *writers == Writers::Operators => others.filter(|own| *own != Object::Bank).collect(),
        _ => vec![Object::Bank],
    }
}

/// What a stored record refers to.
pub(crate) fn of_stored<'a>(kind: &'a Kind, record: &'a Record) -> Vec<Object<'a>> {
    let fields = kind.fields.iter();
    let all = fields.flat_map(|field| references(Some(&field.of), record.value(&field.name)));
    all.filter(|own| *own != Object::Bank).collect()
}

/// What a value refers to. Records of other kinds may belong to anybody.
fn references<'a>(of: Option<&Type>, value: &'a Value) -> Vec<Object<'a>> {
    let Some(Type::Reference(kind) | Type::References(kind, _)) = of else {
        return Vec::new();
    };
    let names = match value {
        Value::Text(name) => std::slice::from_ref(name),
        Value::List(names) => names.as_slice(),
        Value::None => &[],
        _ => return vec![Object::Bank],
    };
    let object = |name: &'a String| match kind.as_str() {
        "project" => Object::Project(name),
        "machine" => Object::Machine(name),
        "user" => Object::User(name),
        "account" => account(name),
        _ => Object::Bank,
    };
    names
        .iter()
        .filter(|name| !name.is_empty())
        .map(object)
        .collect()
}

/// The objects that an account refers to.
fn of_account(set: &SetAccount) -> Vec<Object<'_>> {
    let SetAccount {
        name,
        constraints,
        lists,
        priority: _,
        fallback,
        description: _,
        parent,
        share: _,
        overflow: _,
        discrete: _,
    } = set;
    let single = lists.iter().flat_map(|(_, rows)| rows);
    let rows = constraints.iter().flatten().chain(single);
    let mut all: Vec<Object<'_>> = rows.map(|row| Object::Row(name, row)).collect();
    let fallback = fallback.iter().flatten();
    all.extend(fallback.map(|other| match other.strip_prefix('+') {
        Some(suffix) => Object::Account(Cow::Owned(format!("{name}{suffix}"))),
        None => account(other),
    }));
    all.extend(parent.iter().flatten().map(|other| account(other)));
    all
}

fn of_after(after: &After) -> Vec<Object<'_>> {
    match after {
        After::Transfer(transfer) => {
            let Transfer {
                from,
                to,
                amount: _,
                allocation,
                note: _,
            } = transfer;
            with_allocation(vec![account(from), account(to)], *allocation)
        }
        After::Refund(refund) => {
            let Refund {
                object_id,
                machine,
                object_type: _,
                number: _,
                amount: _,
                account: only,
                reissue_until: _,
                note: _,
            } = refund;
            let mut all = of_job(object_id, machine.as_deref());
            all.extend(only.as_deref().map(account));
            all
        }
        After::Settle(settle) => {
            let Settle {
                object_id,
                machine,
                object_type: _,
                number: _,
                project,
                note: _,
            } = settle;
            let mut all = vec![Object::Project(project)];
            all.extend(of_job(object_id, machine.as_deref()));
            all
        }
        After::Adjust(_)
        | After::Reverse(_)
        | After::RemoveAccount(_)
        | After::RestoreAccount(_)
        | After::RemoveAllocation(_)
        | After::SetFixed(..) => vec![Object::Bank],
    }
}

fn of_job<'a>(object_id: &'a str, machine: Option<&'a str>) -> Vec<Object<'a>> {
    let mut all: Vec<Object<'a>> = machine.map(Object::Machine).into_iter().collect();
    all.push(Object::Job(object_id));
    all
}

/// A proposal is looked up by its number when it is read. The objects here are those of its command.
fn of_access(access: &Access) -> Vec<Object<'_>> {
    match access {
        Access::Propose(propose) => {
            let Propose {
                request: _,
                command,
                keep: _,
                asked,
                start: _,
            } = propose;
            // Who asks has no right to it: the rule of requests looks the objects up.
            match asked {
                Some(_) => Vec::new(),
                None => vec![Object::Inside(command)],
            }
        }
        Access::Approve(approve) => {
            let Approve {
                id: _,
                request: _,
                command,
                // A project is made by those only who may do the rest too.
                start: _,
                propose: _,
                proposers: _,
                reason: _,
            } = approve;
            vec![Object::Inside(command)]
        }
        Access::Reject(reject) => {
            let Reject {
                id: _,
                command,
                is_withdrawal,
                reason: _,
            } = reject;
            if *is_withdrawal {
                return Vec::new();
            }
            let inside = command.as_deref().map(Object::Inside);
            vec![inside.unwrap_or(Object::Bank)]
        }
        Access::Grant(_)
        | Access::Revoke(_)
        | Access::SetLimit(_)
        | Access::RemoveLimit(_)
        | Access::RotateKey(_) => vec![Object::Bank],
    }
}

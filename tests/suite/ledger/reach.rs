//! What a command looks at and what it changes, roughly: two that are apart may come in either
//! order.
//!
//! The world of the scripts has islands that share no account: project P with its family, and N, T
//! and X each on its own. A command that may touch more than its islands, or that looks at something
//! every command looks at, reaches further. What is said here is on the safe side.

use bank_core::book::Book;
use bank_core::command::{After, Command, Whose};
use bank_core::ids::{AccountId, AllocationId, InstanceId, LienId, UNBILLED};
use bank_core::model::Dimension;
use std::collections::BTreeSet;

/// The places that a command looks at or changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    looks: BTreeSet<String>,
    changes: BTreeSet<String>,
}

/// What everybody's price or place in the order hangs on.
const RATES: &str = "rates";
const PEOPLE: &str = "people";

impl Reach {
    pub(super) fn are_apart(one: &Reach, two: &Reach) -> bool {
        let free = |a: &Reach, b: &Reach| {
            a.changes.is_disjoint(&b.changes) && a.changes.is_disjoint(&b.looks)
        };
        free(one, two) && free(two, one)
    }

    fn changing(places: impl IntoIterator<Item = String>) -> Reach {
        Reach {
            looks: BTreeSet::new(),
            changes: places.into_iter().collect(),
        }
    }

    fn looking(mut self, place: &str) -> Reach {
        self.looks.insert(place.to_owned());
        self
    }
}

/// The island of a project; those of P's family are one.
fn island(project: &str) -> String {
    match project {
        "P" | "TOP" | "S" | "W" | "nosuch" => "P".to_owned(),
        other => other.to_owned(),
    }
}

/// Where an account's money may go: the islands of its lists, all of them where it is for any
/// project.
fn of_account(book: &Book, id: AccountId) -> Option<BTreeSet<String>> {
    let account = book.reference().account(id)?;
    if account.name == UNBILLED {
        return Some(BTreeSet::from(["unbilled".to_owned()]));
    }
    let rows = account.constraints.iter();
    let named = rows.filter(|c| c.allow && c.dimension == Dimension::Project);
    let mut islands: BTreeSet<String> = named.clone().map(|c| island(&c.value)).collect();
    let is_open = |word: &str| word == "ANY" || word == "MEMBERS";
    if islands.is_empty() || named.clone().any(|c| is_open(&c.value)) {
        return None;
    }
    // An account's own name is what people call it; the family of A and Q is that of P.
    if ["A", "B", "C", "D", "E", "F", "Q", "Z"].contains(&account.name.as_str()) {
        islands.insert("P".to_owned());
    }
    Some(islands)
}

/// Whether some account may be spent by more than one island, so that none is alone.
fn is_mixed(book: &Book) -> bool {
    let directory = book.reference();
    let own = |id| of_account(book, id).is_none_or(|islands| islands.len() > 1);
    directory.accounts().any(|a| own(a.id))
        || directory.accounts().any(|a| {
            let link = a.link.map(|l| l.parent);
            link.is_some_and(|p| of_account(book, p) != of_account(book, a.id))
        })
        || directory.machines().any(|m| m.fallback.is_some())
}

fn named(book: &Book, name: &str) -> Option<BTreeSet<String>> {
    let account = book.reference().any_account_named(name);
    match account {
        Some(account) => of_account(book, account.id),
        None => Some(BTreeSet::from([island(name)])),
    }
}

fn of_allocation(book: &Book, id: AllocationId) -> Option<BTreeSet<String>> {
    of_account(book, book.allocations.get(&id.0)?.account)
}

fn of_instance(book: &Book, id: InstanceId) -> Option<BTreeSet<String>> {
    let instance = book.instances.get(&id.0)?;
    let mut islands = BTreeSet::from([island(&instance.facts.project)]);
    if let Some(account) = instance.account {
        islands.extend(of_account(book, account)?);
    }
    Some(islands)
}

fn of_lien(book: &Book, id: LienId) -> Option<BTreeSet<String>> {
    of_instance(book, book.liens.get(&id.0)?.instance)
}

/// A job is of the island that its id begins with, and of that of whoever asks.
fn of_work(book: &Book, id: &str, whose: Option<&Whose>) -> Option<BTreeSet<String>> {
    let mut islands = BTreeSet::from([island(id.trim_end_matches(|c: char| c.is_ascii_digit()))]);
    if let Some(whose) = whose {
        // A user's usual project, or an account in place of a project: anything.
        let project = whose.project.as_deref()?;
        book.reference().project_named(project)?;
        islands.insert(island(project));
    }
    for instance in book.instances.values().filter(|i| i.key.object_id == id) {
        islands.extend(of_instance(book, instance.id)?);
    }
    Some(islands)
}

/// None for a command that may reach everything.
pub(super) fn reach(command: &Command, book: &Book) -> Option<Reach> {
    if is_mixed(book) {
        return None;
    }
    let spends =
        |islands: BTreeSet<String>| Reach::changing(islands).looking(RATES).looking(PEOPLE);
    match command {
        Command::Deposit(deposit) => Some(Reach::changing(named(book, &deposit.name)?)),
        Command::Withdraw(withdraw) => Some(Reach::changing(named(book, &withdraw.name)?)),
        Command::SetAllocation(set) => Some(Reach::changing(of_allocation(book, set.id)?)),
        Command::Quote(quote) => {
            // A quote that is kept makes a change of rates in its instant come after it.
            let mut reach = spends(of_work(book, "", Some(&quote.whose))?);
            if quote.promise != bank_core::command::Promise::None {
                reach.changes.insert("promises".to_owned());
            }
            Some(reach)
        }
        Command::Create(create) => {
            let request = &create.request;
            let islands = of_work(book, &request.object_id, Some(&request.whose))?;
            // A promise is numbered in its turn.
            let is_plain = create.tid.is_none();
            is_plain.then(|| spends(islands).looking("promises"))
        }
        Command::Modify(request) => {
            let islands = of_work(book, &request.object_id, Some(&request.whose))?;
            Some(spends(islands))
        }
        Command::Repeat(repeat) => {
            Some(Reach::changing(of_work(book, &repeat.key.object_id, None)?))
        }
        Command::Reserve(reserve) => {
            let request = &reserve.request;
            let islands = of_work(book, &request.object_id, Some(&request.whose))?;
            Some(spends(islands).looking("promises"))
        }
        Command::Charge(charge) => {
            let request = &charge.request;
            let islands = of_work(book, &request.object_id, Some(&request.whose))?;
            Some(spends(islands).looking("promises"))
        }
        Command::Close(close) => Some(Reach::changing(of_work(book, &close.key.object_id, None)?)),
        Command::ExtendLien(extend) => Some(spends(of_lien(book, extend.lien)?)),
        Command::ReleaseLien(id) => Some(Reach::changing(of_lien(book, *id)?)),
        Command::SetRate(_) | Command::RemoveRate(_) => {
            Some(Reach::changing([RATES.to_owned()]).looking("promises"))
        }
        Command::SetMember(_) | Command::RemoveMember(..) => {
            Some(Reach::changing([PEOPLE.to_owned()]))
        }
        Command::Record(change) if ["machine_set", "user_set"].contains(&change.op) => {
            Some(Reach::changing([PEOPLE.to_owned()]))
        }
        Command::SetAccount(set) => {
            // Another list, parent or fallback may join islands.
            let plain = set.constraints.is_none() && set.parent.is_none() && set.fallback.is_none();
            Some(Reach::changing(named(book, &set.name).filter(|_| plain)?))
        }
        Command::RemoveAccount(name) => Some(Reach::changing(named(book, name)?)),
        Command::After(after) => {
            let islands = after_the_fact(after, book)?;
            Some(spends(islands))
        }
        _ => None,
    }
}

fn after_the_fact(after: &After, book: &Book) -> Option<BTreeSet<String>> {
    match after {
        After::Transfer(transfer) => {
            let mut islands = named(book, &transfer.from)?;
            islands.extend(named(book, &transfer.to)?);
            Some(islands)
        }
        After::Adjust(adjust) => named(book, adjust.name.as_deref()?),
        After::Refund(refund) => of_work(book, &refund.object_id, None),
        After::RemoveAllocation(remove) => of_allocation(book, remove.id),
        After::RemoveAccount(name) => {
            let account = book.reference().account_named(name)?;
            let mut islands = of_account(book, account.id)?;
            let on = |id: AllocationId| book.allocations.get(&id.0).map(|a| a.account);
            for lien in book.liens.values() {
                if lien
                    .portions
                    .iter()
                    .any(|p| on(p.allocation) == Some(account.id))
                {
                    islands.extend(of_instance(book, lien.instance)?);
                }
            }
            Some(islands)
        }
        After::Reverse(reverse) => {
            let tx = book
                .journal
                .iter()
                .find(|tx| tx.id == reverse.transaction)?;
            let mut islands = BTreeSet::new();
            if let Some(instance) = tx.instance {
                islands.extend(of_instance(book, instance)?);
            }
            for allocation in tx.entries.iter().filter_map(|e| e.allocation) {
                islands.extend(of_allocation(book, allocation)?);
            }
            // What hangs on it is of the same island; the removal of an account may not be.
            // A machine that is as it was before counts for every account.
            let is_elsewhere = tx.op == "account_rm" || tx.op == "undo";
            (!is_elsewhere && !tx.op.starts_with("machine_")).then_some(islands)
        }
        After::Settle(_) | After::RestoreAccount(_) | After::SetFixed(..) => None,
    }
}

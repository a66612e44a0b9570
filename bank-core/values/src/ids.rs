//! Numbers that name rows, and the bounds of names that come from outside.

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);
    )*};
}

id! {
    /// A project's number.
    ProjectId,
    /// A user's number.
    UserId,
    /// A machine's number.
    MachineId,
    /// An account's number, from 1.
    AccountId,
    /// An allocation's number, from 1.
    AllocationId,
    /// The number of one use of a scheduler object's id (decisions.md 11).
    InstanceId,
    /// A lien's number.
    LienId,
    /// A quote's number.
    QuoteId,
    /// A usage row's number: the record id that leaves the bank (usage-records.md 1.8).
    UsageId,
    /// A rate's number.
    RateId,
    /// A mapping's number.
    MappingId,
    /// A cycle's number.
    CycleId,
    /// The number of a role that somebody was given.
    GrantId,
    /// A proposal's number: that of the transaction that proposed it.
    ProposalId,
    /// A journal transaction's number, without gaps from 1.
    TxId,
    /// A journal entry's number, without gaps from 1.
    EntryId,
}

/// The next number of each kind of row. Numbers have no gaps: a refused command takes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Transactions.
    pub tx: i64,
    /// Entries.
    pub entry: i64,
    /// Allocations.
    pub allocation: i64,
    /// Instances.
    pub instance: i64,
    /// Liens.
    pub lien: i64,
    /// Quotes.
    pub quote: i64,
    /// Usage rows.
    pub usage: i64,
}

impl Default for Next {
    fn default() -> Self {
        Next {
            tx: 1,
            entry: 1,
            allocation: 1,
            instance: 1,
            lien: 1,
            quote: 1,
            usage: 1,
        }
    }
}

impl Next {
    /// Gives out a number and moves on.
    pub fn take(number: &mut i64) -> i64 {
        let given = *number;
        *number = given.saturating_add(1);
        given
    }
}

/// Longest name of a project, user, machine or account, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// The account of usage that no project could be billed for (decisions.md 14).
pub const UNBILLED: &str = "#unbilled";

/// A name that [`check_name`] rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName<'a>(pub &'a str, pub &'static str);

/// The rule of names.
const NAME_RULE: &str =
    "a name has 1 to 256 bytes, no control characters, no blank at an end, no # in front";
/// The rule of names that another system made.
pub const BOUNDED_RULE: &str = "a name has at most 256 bytes and no control characters";

/// Checks a name that a person gives to a new project, user, machine or account: 1 to 256 bytes,
/// no control characters, no blank at either end, and no `#` in front, which is kept for the
/// bank's own accounts.
pub fn check_name(name: &str) -> Result<(), BadName<'_>> {
    let bounded = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
    let clean = !name.chars().any(char::is_control) && name.trim() == name;
    if bounded && clean && !name.starts_with('#') {
        return Ok(());
    }
    Err(BadName(name, NAME_RULE))
}

/// Words with a special meaning in the lists of an account.
pub const LIST_WORDS: [&str; 2] = ["ANY", "MEMBERS"];

/// Checks the name of something that lists of accounts may name.
pub fn check_listed_name(name: &str) -> Result<(), BadName<'_>> {
    if LIST_WORDS.contains(&name) {
        return Err(BadName(
            name,
            "lists of accounts use ANY and MEMBERS as words",
        ));
    }
    check_name(name)
}

/// Words of schedulers' documents for a value that is absent (`nami.md` 3.1).
pub const ABSENT_WORDS: [&str; 3] = ["NONE", "[NONE]", "[DEFAULT]"];

/// Checks the name of a new project, user or machine: a document that names one of [`ABSENT_WORDS`] names nothing, so
/// its job would be charged to another project.
pub fn check_new_name(name: &str) -> Result<(), BadName<'_>> {
    if ABSENT_WORDS.contains(&name) {
        return Err(BadName(
            name,
            "documents of schedulers use NONE, [NONE] and [DEFAULT] for no value",
        ));
    }
    check_listed_name(name)
}

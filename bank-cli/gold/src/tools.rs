//! Gold's commands: one row for each, with its options and its work.
//!
//! The program acts as a command if it is called by its name. `bank gen links DIR` makes the links.

use std::{ffi::OsStr, path::Path};

use super::{
    lists, records,
    shape::{List, Record},
};

/// One of Gold's commands.
#[derive(Debug)]
pub struct Tool {
    /// The name of the program.
    pub name: &'static str,
    /// One line of help.
    pub(crate) about: &'static str,
    /// Its options, by their long words.
    options: &'static [&'static [&'static str]],
    /// The option that a word without a letter gives; empty for none.
    pub(super) word: &'static str,
    /// How help names the words.
    pub(super) words: &'static str,
    pub(super) work: Work,
}

/// The work of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// Prints rows.
    List(&'static List),
    /// Creates, modifies or deletes objects.
    Record(&'static Record),
    MakeAccount,
    Balance,
    MyBalance,
    Statement,
    Usage,
    Deposit,
    Withdraw,
    Transfer,
    Refund,
    /// Quotes, reserves or charges a job: the action.
    Job(&'static str),
    Shell,
    Password,
}
use Work::{
    Balance, Deposit, Job, MakeAccount, MyBalance, Password, Refund, Shell, Statement, Transfer,
    Usage, Withdraw,
};

/// A row of the table.
const fn tool(
    name: &'static str,
    about: &'static str,
    work: Work,
    place: (&'static str, &'static str),
    options: &'static [&'static [&'static str]],
) -> Tool {
    Tool {
        name,
        about,
        options,
        word: place.0,
        words: place.1,
        work,
    }
}

const WRITE: &[&str] = &["quiet", "verbose"];
const TABLE: &[&str] = &["show", "showHidden", "raw", "quiet"];
const LISTS: &[&str] = &["show", "showHidden", "raw", "quiet", "long", "wide"];
const HOURS: &[&str] = &["hours"];
const STATE: &[&str] = &["active", "inactive"];
const SCOPE: &[&str] = &["project", "user", "machine"];
const ABOUT: &[&str] = &["description", "organization", "extension"];
const PERSON: &[&str] = &["user", "name", "phone", "email", "project"];
const SYSTEM: &[&str] = &["machine", "arch", "opsys"];
#[rustfmt::skip]
const JOB: &[&str] = &[
    "jobId", "job", "project", "user", "machine", "organization", "queue", "qualityOfService",
    "processors", "nodes", "memory", "disk", "name", "application", "type", "wallDuration",
    "startTime", "endTime", "description", "extension",
];
#[rustfmt::skip]
const RECORD: &[&str] = &[
    "jobId", "project", "user", "machine", "organization", "queue", "qualityOfService",
    "processors", "nodes", "memory", "disk", "name", "application", "executable", "type",
    "wallDuration", "startTime", "endTime", "description", "extension",
];
#[rustfmt::skip]
const MEMBERS: &[&str] = &[
    "addUsers", "addMachines", "delUsers", "delMachines",
    "actUsers", "actMachines", "deactUsers", "deactMachines",
];
#[rustfmt::skip]
const SHARERS: &[&str] = &[
    "addProjects", "addUsers", "addMachines", "delProjects", "delUsers", "delMachines",
];

const NONE: (&str, &str) = ("", "");
const ACCOUNT: (&str, &str) = ("account", "ACCOUNT");
const ALLOCATION: (&str, &str) = ("allocation", "ALLOCATION");
const AMOUNT: (&str, &str) = ("", "[ACCOUNT] AMOUNT");
const JOB_ID: (&str, &str) = ("jobId", "JOB");
const JOB_NUMBER: (&str, &str) = ("job", "JOB");
const MACHINE: (&str, &str) = ("machine", "MACHINE");
const PROJECT: (&str, &str) = ("project", "PROJECT");
const QUOTE: (&str, &str) = ("quote", "QUOTE");
const RESERVATION: (&str, &str) = ("reservation", "RESERVATION");
const USER: (&str, &str) = ("user", "USER");

const fn list(list: &'static List) -> Work {
    Work::List(list)
}

const fn record(record: &'static Record) -> Work {
    Work::Record(record)
}

/// The commands, in the order of their names.
#[rustfmt::skip]
pub static TOOLS: [Tool; 43] = [
    tool("gbalance", "Show balances of accounts", Balance, NONE,
        &[LISTS, HOURS, SCOPE, &["account", "callType", "total", "available"]]),
    tool("gchaccount", "Modify an account", record(&records::CHANGE_ACCOUNT), ACCOUNT,
        &[WRITE, SCOPE, SHARERS, &["account", "name", "description", "extension"]]),
    tool("gchalloc", "Modify an allocation", record(&records::CHANGE_ALLOCATION), ALLOCATION,
        &[WRITE, HOURS, &["allocation", "startTime", "endTime", "creditLimit", "description", "extension"]]),
    tool("gcharge", "Charge a job", Job("Charge"), JOB_NUMBER,
        &[WRITE, HOURS, JOB, &["executable", "state", "quote", "reservation", "amount", "incremental"]]),
    tool("gchjob", "Modify a job record", record(&records::CHANGE_JOB), JOB_NUMBER,
        &[WRITE, RECORD, &["job"]]),
    tool("gchmachine", "Modify a machine", record(&records::CHANGE_MACHINE), MACHINE,
        &[WRITE, STATE, SYSTEM, ABOUT]),
    tool("gchpasswd", "Explain keys, which replace passwords", Password, USER,
        &[WRITE, &["user"]]),
    tool("gchproject", "Modify a project and its members", record(&records::CHANGE_PROJECT), PROJECT,
        &[WRITE, STATE, ABOUT, MEMBERS, &["project"]]),
    tool("gchquote", "Modify a quote", record(&records::CHANGE_QUOTE), QUOTE,
        &[WRITE, &["quote", "startTime", "endTime", "description", "extension"]]),
    tool("gchres", "Modify a reservation", record(&records::CHANGE_RESERVATION), RESERVATION,
        &[WRITE, &["reservation", "startTime", "endTime", "description", "extension"]]),
    tool("gchuser", "Modify a user", record(&records::CHANGE_USER), USER,
        &[WRITE, STATE, PERSON, ABOUT]),
    tool("gdeposit", "Deposit credits into an account", Deposit, AMOUNT,
        &[WRITE, HOURS, SCOPE, &["account", "allocation", "startTime", "endTime", "amount", "creditLimit", "callType", "description"]]),
    tool("glsaccount", "List accounts", list(&lists::ACCOUNTS), ACCOUNT,
        &[LISTS, HOURS, STATE, SCOPE, &["account", "name", "exact-match"]]),
    tool("glsalloc", "List allocations", list(&lists::ALLOCATIONS), ALLOCATION,
        &[LISTS, HOURS, STATE, &["allocation", "account", "project", "callType"]]),
    tool("glsjob", "List jobs", list(&lists::JOBS), JOB_NUMBER,
        &[TABLE, HOURS, SCOPE, &["job", "jobId", "queue", "type", "stage", "startTime", "endTime"]]),
    tool("glsmachine", "List machines", list(&lists::MACHINES), MACHINE,
        &[TABLE, STATE, &["machine", "showSpecial"]]),
    tool("glsproject", "List projects", list(&lists::PROJECTS), PROJECT,
        &[LISTS, STATE, &["project", "showSpecial"]]),
    tool("glsquote", "List quotes", list(&lists::QUOTES), QUOTE,
        &[LISTS, HOURS, STATE, SCOPE, &["quote", "callType"]]),
    tool("glsres", "List reservations", list(&lists::RESERVATIONS), RESERVATION,
        &[LISTS, HOURS, STATE, SCOPE, &["reservation", "jobId", "name", "callType", "exact-match"]]),
    tool("glstxn", "List transactions", list(&lists::TRANSACTIONS), NONE,
        &[TABLE, HOURS, SCOPE, &["object", "action", "name", "actor", "account", "allocation", "jobId", "startTime", "endTime", "transaction", "request"]]),
    tool("glsuser", "List users", list(&lists::USERS), USER,
        &[LISTS, STATE, &["user", "showSpecial"]]),
    tool("gmkaccount", "Create an account", MakeAccount, NONE,
        &[WRITE, SCOPE, &["name", "description", "extension"]]),
    tool("gmkjob", "Create a job record", record(&records::MAKE_JOB), JOB_ID,
        &[WRITE, RECORD]),
    tool("gmkmachine", "Create a machine", record(&records::MAKE_MACHINE), MACHINE,
        &[WRITE, STATE, SYSTEM, ABOUT]),
    tool("gmkproject", "Create a project", record(&records::MAKE_PROJECT), PROJECT,
        &[WRITE, STATE, SCOPE, ABOUT, &["createAccount"]]),
    tool("gmkuser", "Create a user", record(&records::MAKE_USER), USER,
        &[WRITE, STATE, PERSON, ABOUT]),
    tool("goldsh", "Run a query or a change in Gold's language", Shell, ("", "OBJECT ACTION [PREDICATE]..."),
        &[WRITE, HOURS, &["raw"]]),
    tool("gquote", "Quote the price of a job", Job("Quote"), JOB_NUMBER,
        &[WRITE, HOURS, JOB, &["state", "guarantee", "costOnly"]]),
    tool("grefund", "Refund a job", Refund, JOB_NUMBER,
        &[WRITE, HOURS, &["jobId", "job", "account", "machine", "type", "amount", "description"]]),
    tool("greserve", "Reserve credits for a job", Job("Reserve"), JOB_NUMBER,
        &[WRITE, HOURS, JOB, &["state", "quote", "replace"]]),
    tool("grmaccount", "Delete an account", record(&records::REMOVE_ACCOUNT), ACCOUNT,
        &[WRITE, &["account"]]),
    tool("grmalloc", "Delete an allocation", record(&records::REMOVE_ALLOCATION), ALLOCATION,
        &[WRITE, &["allocation", "inactive"]]),
    tool("grmjob", "Delete a job record", record(&records::REMOVE_JOB), JOB_NUMBER,
        &[WRITE, &["job", "jobId"]]),
    tool("grmmachine", "Delete a machine", record(&records::REMOVE_MACHINE), MACHINE,
        &[WRITE, &["machine"]]),
    tool("grmproject", "Delete a project", record(&records::REMOVE_PROJECT), PROJECT,
        &[WRITE, &["project"]]),
    tool("grmquote", "Delete a quote", record(&records::REMOVE_QUOTE), QUOTE,
        &[WRITE, &["quote", "inactive"]]),
    tool("grmres", "Delete a reservation", record(&records::REMOVE_RESERVATION), RESERVATION,
        &[WRITE, &["reservation", "name", "inactive"]]),
    tool("grmuser", "Delete a user", record(&records::REMOVE_USER), USER,
        &[WRITE, &["user"]]),
    tool("gstatement", "Show the statement of accounts", Statement, ACCOUNT,
        &[HOURS, SCOPE, &["account", "startTime", "endTime", "summarize"]]),
    tool("gtransfer", "Transfer credits between accounts", Transfer, ("amount", "AMOUNT"),
        &[WRITE, HOURS, &["fromAccount", "toAccount", "fromProject", "toProject", "allocation", "amount", "callType", "description"]]),
    tool("gusage", "Show charges by user, less refunds", Usage, PROJECT,
        &[HOURS, SCOPE, &["startTime", "endTime", "show", "raw", "quiet"]]),
    tool("gwithdraw", "Withdraw credits from an account", Withdraw, AMOUNT,
        &[WRITE, HOURS, &["account", "project", "allocation", "amount", "callType", "description"]]),
    tool("mybalance", "Show balances that the caller may use", MyBalance, NONE,
        &[LISTS, HOURS, &["total", "available"]]),
];

impl Tool {
    /// The command of a program's own name; none for `bank` and everything else.
    pub fn of(argv0: &OsStr) -> Option<&'static Self> {
        let name = Path::new(argv0).file_name()?.to_str()?;
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Whether it reads queries from standard input.
    pub fn is_shell(&self) -> bool {
        matches!(self.work, Shell)
    }

    /// The most words without an option.
    pub(super) fn words_max(&self) -> usize {
        match self.work {
            Shell => usize::MAX,
            Deposit | Withdraw => 2,
            _ => 1,
        }
    }

    /// Whether the tool has an option.
    pub(super) fn takes(&self, option: &str) -> bool {
        self.options.iter().any(|group| group.contains(&option))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_selects_the_command() {
        for tool in &TOOLS {
            for path in [tool.name.to_owned(), format!("/usr/bin/{}", tool.name)] {
                let found = Tool::of(OsStr::new(&path)).unwrap();
                assert_eq!(found.name, tool.name);
            }
        }
        for name in ["bank", "/usr/bin/bank", "gbalance.sh", "", "gusagex"] {
            assert!(Tool::of(OsStr::new(name)).is_none(), "{name}");
        }
        assert!(TOOLS.is_sorted_by_key(|tool| tool.name));
    }
}

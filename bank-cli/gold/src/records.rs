//! The changes of each `gmk…`, `gch…` and `grm…`.

use super::shape::{Change, Members, Purge, Record};

type Pairs = &'static [(&'static str, &'static str)];

const ACCOUNT: Pairs = &[("account", "Id")];
const ALLOCATION: Pairs = &[("allocation", "Id")];
const JOB: Pairs = &[("jobId", "JobId"), ("job", "Id")];
const MACHINE: Pairs = &[("machine", "Name")];
const PROJECT: Pairs = &[("project", "Name")];
const QUOTE: Pairs = &[("quote", "Id")];
const RESERVATION: Pairs = &[("name", "Name"), ("reservation", "Id")];
const USER: Pairs = &[("user", "Name")];

const ABOUT_PROJECT: Pairs = &[
    ("organization", "Organization"),
    ("description", "Description"),
];
const ABOUT_MACHINE: Pairs = &[
    ("arch", "Architecture"),
    ("opsys", "OperatingSystem"),
    ("organization", "Organization"),
    ("description", "Description"),
];
const ABOUT_USER: Pairs = &[
    ("name", "CommonName"),
    ("phone", "PhoneNumber"),
    ("email", "EmailAddress"),
    ("project", "DefaultProject"),
    ("organization", "Organization"),
    ("description", "Description"),
];
const ABOUT_JOB: Pairs = &[
    ("application", "Application"),
    ("description", "Description"),
    ("disk", "Disk"),
    ("endTime", "EndTime"),
    ("executable", "Executable"),
    ("machine", "Machine"),
    ("memory", "Memory"),
    ("nodes", "Nodes"),
    ("name", "Name"),
    ("organization", "Organization"),
    ("processors", "Processors"),
    ("project", "Project"),
    ("qualityOfService", "QualityOfService"),
    ("queue", "Queue"),
    ("startTime", "StartTime"),
    ("wallDuration", "WallDuration"),
    ("type", "Type"),
    ("user", "User"),
];
const WINDOW: Pairs = &[
    ("endTime", "EndTime"),
    ("startTime", "StartTime"),
    ("description", "Description"),
];

const fn record(action: &'static str, object: &'static str, keys: Pairs, sets: Pairs) -> Record {
    Record {
        action,
        object,
        keys,
        sets,
        members: &[],
        numbered: "",
        purge: Purge::Nothing,
    }
}

const fn removal(object: &'static str, keys: Pairs, purge: Purge) -> Record {
    Record {
        purge,
        ..record("Delete", object, keys, &[])
    }
}

const fn of_project(option: &'static str, object: &'static str, change: Change) -> Members {
    Members {
        option,
        object,
        parent: "Project",
        sign: "Active",
        change,
    }
}

const fn of_account(option: &'static str, object: &'static str, change: Change) -> Members {
    Members {
        option,
        object,
        parent: "Account",
        sign: "Access",
        change,
    }
}

pub(super) const MAKE_JOB: Record = Record {
    numbered: "Job",
    ..record("Create", "Job", &[("jobId", "JobId")], ABOUT_JOB)
};
pub(super) const MAKE_MACHINE: Record = record("Create", "Machine", MACHINE, ABOUT_MACHINE);
pub(super) const MAKE_PROJECT: Record = Record {
    members: &[
        of_project("user", "ProjectUser", Change::Initial),
        of_project("machine", "ProjectMachine", Change::Initial),
    ],
    ..record("Create", "Project", PROJECT, ABOUT_PROJECT)
};
pub(super) const MAKE_USER: Record = record("Create", "User", USER, ABOUT_USER);

pub(super) const CHANGE_ACCOUNT: Record = Record {
    members: &[
        of_account("addProjects", "AccountProject", Change::Add),
        of_account("addUsers", "AccountUser", Change::Add),
        of_account("addMachines", "AccountMachine", Change::Add),
        of_account("delProjects", "AccountProject", Change::Remove),
        of_account("delUsers", "AccountUser", Change::Remove),
        of_account("delMachines", "AccountMachine", Change::Remove),
    ],
    ..record(
        "Modify",
        "Account",
        ACCOUNT,
        &[("name", "Name"), ("description", "Description")],
    )
};
pub(super) const CHANGE_ALLOCATION: Record = record(
    "Modify",
    "Allocation",
    ALLOCATION,
    &[
        ("startTime", "StartTime"),
        ("endTime", "EndTime"),
        ("creditLimit", "CreditLimit"),
        ("description", "Description"),
    ],
);
pub(super) const CHANGE_JOB: Record = record("Modify", "Job", JOB, ABOUT_JOB);
pub(super) const CHANGE_MACHINE: Record = record("Modify", "Machine", MACHINE, ABOUT_MACHINE);
pub(super) const CHANGE_PROJECT: Record = Record {
    members: &[
        of_project("addUsers", "ProjectUser", Change::Add),
        of_project("addMachines", "ProjectMachine", Change::Add),
        of_project("delUsers", "ProjectUser", Change::Remove),
        of_project("delMachines", "ProjectMachine", Change::Remove),
        of_project("actUsers", "ProjectUser", Change::Activate),
        of_project("actMachines", "ProjectMachine", Change::Activate),
        of_project("deactUsers", "ProjectUser", Change::Deactivate),
        of_project("deactMachines", "ProjectMachine", Change::Deactivate),
    ],
    ..record("Modify", "Project", PROJECT, ABOUT_PROJECT)
};
pub(super) const CHANGE_QUOTE: Record = record("Modify", "Quotation", QUOTE, WINDOW);
pub(super) const CHANGE_RESERVATION: Record =
    record("Modify", "Reservation", &[("reservation", "Id")], WINDOW);
pub(super) const CHANGE_USER: Record = record("Modify", "User", USER, ABOUT_USER);

pub(super) const REMOVE_ACCOUNT: Record = removal("Account", ACCOUNT, Purge::Nothing);
pub(super) const REMOVE_ALLOCATION: Record = removal("Allocation", ALLOCATION, Purge::Window);
pub(super) const REMOVE_JOB: Record = removal("Job", JOB, Purge::Nothing);
pub(super) const REMOVE_MACHINE: Record = removal("Machine", MACHINE, Purge::Nothing);
pub(super) const REMOVE_PROJECT: Record = removal("Project", PROJECT, Purge::Nothing);
pub(super) const REMOVE_QUOTE: Record = removal("Quotation", QUOTE, Purge::End);
pub(super) const REMOVE_RESERVATION: Record = removal("Reservation", RESERVATION, Purge::End);
pub(super) const REMOVE_USER: Record = removal("User", USER, Purge::Nothing);

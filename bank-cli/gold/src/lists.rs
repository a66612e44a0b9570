//! The lists: columns, filters and joined objects of each `gls…`.

use super::shape::{
    Filter::{
        self, Active, ActiveOption, Choice, End, Is, Like, OneAccount, Ordinary, Rules, Window,
    },
    Join, List,
};

const STAMPS: &str = "Deleted";
const SPECIAL_STAMPS: &str = "Special,Deleted";
const CALL_STAMPS: &str = "CallType";
const DETAIL_STAMPS: &str = "CreationTime,RequestId";

const OF_ACCOUNT: &[Filter] = &[Is("account", "Account", "")];

/// Rows that belong to an object.
const fn members(
    object: &'static str,
    columns: &'static [(&'static str, &'static [&'static str])],
    gets: &'static [(&'static str, &'static str)],
    parent: &'static str,
    filters: &'static [Filter],
    sign: &'static str,
) -> Join {
    Join {
        object,
        columns,
        gets,
        parent,
        sign,
        is_sum: false,
        filters,
        is_current: false,
    }
}

const ACCESS: &[(&str, &str)] = &[("Account", ""), ("Name", ""), ("Access", "")];
const ACTIVE: &[(&str, &str)] = &[("Project", ""), ("Name", ""), ("Active", "")];

const fn of_account(
    object: &'static str,
    columns: &'static [(&'static str, &'static [&'static str])],
    filters: &'static [Filter],
) -> Join {
    members(object, columns, ACCESS, "Account", filters, "Access")
}

const fn of_project(
    object: &'static str,
    columns: &'static [(&'static str, &'static [&'static str])],
) -> Join {
    let filters: &[Filter] = &[Like("project", "Project")];
    members(object, columns, ACTIVE, "Project", filters, "Active")
}

/// Sums of the allocations of accounts.
const fn sums(filters: &'static [Filter], is_current: bool) -> Join {
    Join {
        object: "Allocation",
        columns: &[
            ("Amount", &["Amount"]),
            ("CreditLimit", &["CreditLimit"]),
            ("Deposited", &["Deposited"]),
        ],
        gets: &[
            ("Account", "GroupBy"),
            ("Amount", "Sum"),
            ("CreditLimit", "Sum"),
            ("Deposited", "Sum"),
        ],
        parent: "Account",
        sign: "",
        is_sum: true,
        filters,
        is_current,
    }
}

/// Columns of balances: members of accounts, and figures.
pub(super) const BALANCES: &[Join] = &[
    of_account("AccountUser", &[("User", &["Name"])], &[]),
    of_account("AccountProject", &[("Project", &["Name"])], &[]),
    of_account("AccountMachine", &[("Machine", &["Name"])], &[]),
    Join {
        columns: &[
            ("Amount", &["Amount"]),
            ("CreditLimit", &["CreditLimit"]),
            ("Deposited", &["Deposited"]),
            ("Reserved", &[]),
            ("Balance", &[]),
            ("Available", &[]),
            ("Percentage", &[]),
        ],
        ..sums(&[], true)
    },
];

pub(super) const ACCOUNTS: List = List {
    object: "Account",
    key: ("Id", "Sort"),
    show: "Id,Name,Amount,Projects,Users,Machines,Description",
    hidden: STAMPS,
    filters: &[
        Is("account", "Id", ""),
        Is("name", "Name", ""),
        Choice("project", "Project"),
        Choice("user", "User"),
        Choice("machine", "Machine"),
        ActiveOption,
        Rules,
    ],
    joins: &[
        of_account("AccountUser", &[("User", &["Name"])], OF_ACCOUNT),
        of_account("AccountProject", &[("Project", &["Name"])], OF_ACCOUNT),
        of_account("AccountMachine", &[("Machine", &["Name"])], OF_ACCOUNT),
        sums(OF_ACCOUNT, true),
        members(
            "Allocation",
            &[("Allocations", &["Id", "Amount", "StartTime", "EndTime"])],
            &[
                ("Id", ""),
                ("Account", ""),
                ("Amount", ""),
                ("StartTime", ""),
                ("EndTime", ""),
            ],
            "Account",
            &[Is("account", "Account", ""), Window],
            "",
        ),
    ],
};

pub(super) const ALLOCATIONS: List = List {
    object: "Allocation",
    key: ("Account", ""),
    show: "Id,Account,Active,StartTime,EndTime,Amount,CreditLimit,Deposited,Description",
    hidden: CALL_STAMPS,
    filters: &[
        OneAccount,
        Is("allocation", "Id", ""),
        Window,
        Is("callType", "CallType", ""),
    ],
    joins: &[of_account(
        "AccountProject",
        &[("Project", &["Name"])],
        OF_ACCOUNT,
    )],
};

pub(super) const JOBS: List = List {
    object: "Job",
    key: ("", ""),
    show: "Id,JobId,User,Project,Machine,Queue,QualityOfService,Stage,Charge,Processors,Nodes,\
           WallDuration,StartTime,EndTime,Description",
    hidden: CALL_STAMPS,
    filters: &[
        Like("jobId", "JobId"),
        Is("job", "Id", ""),
        Is("project", "Project", ""),
        Is("user", "User", ""),
        Is("machine", "Machine", ""),
        Is("queue", "Queue", ""),
        Is("type", "Type", ""),
        Is("stage", "Stage", ""),
        Is("startTime", "StartTime", "GE"),
        Is("endTime", "EndTime", "LE"),
    ],
    joins: &[],
};

pub(super) const MACHINES: List = List {
    object: "Machine",
    key: ("", ""),
    show: "Name,Active,Architecture,OperatingSystem,Organization,Description",
    hidden: SPECIAL_STAMPS,
    filters: &[Like("machine", "Name"), Active, Ordinary],
    joins: &[],
};

pub(super) const PROJECTS: List = List {
    object: "Project",
    key: ("Name", "Sort"),
    show: "Name,Active,Users,Machines,Description",
    hidden: SPECIAL_STAMPS,
    filters: &[Like("project", "Name"), Active, Ordinary],
    joins: &[
        of_project("ProjectUser", &[("Users", &["Name"])]),
        of_project("ProjectMachine", &[("Machines", &["Name"])]),
    ],
};

pub(super) const QUOTES: List = List {
    object: "Quotation",
    key: ("Id", "Sort"),
    show: "Id,Amount,Job,Project,User,Machine,StartTime,EndTime,WallDuration,Uses,ChargeRates,\
           Description",
    hidden: CALL_STAMPS,
    filters: &[
        Is("quote", "Id", ""),
        End,
        Is("project", "Project", ""),
        Is("user", "User", ""),
        Is("machine", "Machine", ""),
        Is("callType", "CallType", ""),
    ],
    joins: &[members(
        "QuotationChargeRate",
        &[("ChargeRates", &["Type", "Name", "Rate"])],
        &[("Quotation", ""), ("Type", ""), ("Name", ""), ("Rate", "")],
        "Quotation",
        &[Is("quote", "Quotation", "")],
        "",
    )],
};

pub(super) const RESERVATIONS: List = List {
    object: "Reservation",
    key: ("Id", "Sort"),
    show: "Id,Name,Amount,StartTime,EndTime,Job,User,Project,Machine,Accounts,Description",
    hidden: CALL_STAMPS,
    filters: &[
        Is("reservation", "Id", ""),
        Like("name", "Name"),
        Is("jobId", "Name", ""),
        Is("user", "User", ""),
        Is("project", "Project", ""),
        Is("machine", "Machine", ""),
        Is("callType", "CallType", ""),
        Window,
        Rules,
    ],
    joins: &[
        members(
            "ReservationAllocation",
            &[
                ("Accounts", &["Account"]),
                ("Allocations", &["Id", "Account", "Amount"]),
            ],
            &[
                ("Reservation", ""),
                ("Id", ""),
                ("Account", ""),
                ("Amount", ""),
            ],
            "Reservation",
            &[],
            "",
        ),
        Join {
            object: "ReservationAllocation",
            columns: &[("Amount", &["Amount"])],
            gets: &[("Reservation", "GroupBy"), ("Amount", "Sum")],
            parent: "Reservation",
            sign: "",
            is_sum: true,
            filters: &[],
            is_current: false,
        },
    ],
};

pub(super) const TRANSACTIONS: List = List {
    object: "Transaction",
    key: ("", ""),
    show: "Id,Object,Action,Actor,Name,Child,JobId,Amount,Delta,Account,Project,User,Machine,\
           Allocation,Count,Description",
    hidden: DETAIL_STAMPS,
    filters: &[
        Is("startTime", "CreationTime", "GT"),
        Is("endTime", "CreationTime", "LE"),
        Is("transaction", "Id", ""),
        Is("request", "RequestId", ""),
        Is("object", "Object", ""),
        Is("action", "Action", ""),
        Is("name", "Name", ""),
        Is("project", "Project", ""),
        Is("user", "User", ""),
        Is("machine", "Machine", ""),
        Is("account", "Account", ""),
        Is("allocation", "Allocation", ""),
        Is("actor", "Actor", ""),
        Is("jobId", "JobId", ""),
    ],
    joins: &[],
};

pub(super) const USERS: List = List {
    object: "User",
    key: ("Name", "Sort"),
    show: "Name,Active,CommonName,PhoneNumber,EmailAddress,DefaultProject,Description",
    hidden: SPECIAL_STAMPS,
    filters: &[Like("user", "Name"), Active, Ordinary],
    joins: &[members(
        "ProjectUser",
        &[("Projects", &["Project"])],
        ACTIVE,
        "Name",
        &[Like("user", "Name")],
        "Active",
    )],
};

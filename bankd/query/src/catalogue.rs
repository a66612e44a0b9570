//! The views that queries are about: their attributes, whence each comes, and who sees which rows.

/// Of what kind values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Whole,
    /// Minor units of the bank.
    Amount,
    /// A number with decimals, in billionths.
    Decimal,
    /// µs since 1970 UTC; the ends of the range are `-infinity` and `infinity`.
    Time,
    /// True or false.
    Flag,
}

impl Kind {
    /// Its word in the reference and in answers.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Whole => "number",
            Kind::Amount => "amount",
            Kind::Decimal => "decimal",
            Kind::Time => "time",
            Kind::Flag => "flag",
        }
    }

    /// Whether it can be summed.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Kind::Whole | Kind::Amount | Kind::Decimal)
    }
}

/// A column of a view.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether it may have none.
    pub optional: bool,
    /// Whether an answer has it only if the query names it.
    pub hidden: bool,
    /// What it is.
    pub description: &'static str,
    /// An expression. `${column}` is a text with decimals; in front of what names others, `@project`,
    /// `@user`, `@machine`, `@account`, `@payer` hide those out of view, `@work`
    /// and `@workid` what is of a job out of view, `@standing` what an account out of view has.
    pub(super) sql: &'static str,
}

/// Which rows of a view are seen by whom something is hidden from. The texts are expressions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// All.
    All,
    /// Those of accounts in view, by number.
    Account(&'static str),
    /// Those of projects in view, by name.
    Project(&'static str),
    /// Those of users in view, by name.
    User(&'static str),
    /// Those of projects and users in view.
    Member(&'static str, &'static str),
    /// Those of machines in view, by name.
    Machine(&'static str),
    /// Those of projects and machines in view.
    MachineOf(&'static str, &'static str),
    /// Rates in view, by number.
    Rate(&'static str),
    /// Those of work in view, with a rate in view.
    RateOf(&'static str, &'static str, &'static str, &'static str),
    /// Those of two accounts in view, by number.
    AccountOf(&'static str, &'static str),
    /// Those of work in view: what it names as its project, its machine and its user.
    Work(&'static str, &'static str, &'static str),
    /// Entries: by their work, else by their account.
    Entry,
    /// The same, and transactions without entries for who sees everything.
    Journal,
    /// Liens of work in view, and of accounts in view for who is not limited to machines.
    Lien,
    /// Their parts.
    LienPart,
    /// Rows of lists, by what they name.
    Rule,
    /// Work that collectors recorded, for who may see collectors.
    Recorded(&'static str, &'static str, &'static str),
    /// None, unless all is seen.
    Unlimited,
    /// Records, by their readers.
    Readers(bank_core::kind::Readers),
}

/// A view.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Its name.
    pub name: &'static str,
    /// What a row of it is.
    pub description: &'static str,
    /// Its columns.
    pub attributes: &'static [Attribute],
    /// Its table. `{now}` and `{until}` are the present and the time of the query's option `Time`.
    pub(super) from: &'static str,
    pub(super) seen: Seen,
    /// What holds of rows that are there, where some may have been removed.
    pub(super) there: Option<&'static str>,
    /// When a row counts, where it is of the journal.
    pub(super) effective: Option<&'static str>,
    /// Its table for the option `Time`, where it differs.
    pub(super) timed: Option<&'static str>,
    /// An attribute with numbers, and the table for a query of some of them, `{keys}`.
    pub(super) keyed: Option<(&'static str, &'static str)>,
}

macro_rules! attributes {
    ($($name:ident $kind:ident $($opt:ident)? $(/ $hidden:ident)? = $sql:expr, $description:literal;)*) => {
        &[$(Attribute {
            name: stringify!($name),
            kind: Kind::$kind,
            optional: attributes!(@ $($opt)?),
            hidden: attributes!(@ $($hidden)?),
            description: $description,
            sql: $sql,
        },)*]
    }; (@) => { false }; (@ opt) => { true }; (@ hidden) => { true };
}

pub(super) mod gold;

/// The views, by name.
pub(super) const OBJECTS: &[Object] = &[
    ACCOUNT,
    ACCOUNT_RULE,
    ALLOCATION,
    CHARGE,
    ENTRY,
    JOB,
    LIEN,
    MEMBER,
    QUOTE,
    RATE,
    TRANSACTION,
    USAGE,
];

/// A view without anything, of which others have the usual members.
const VIEW: Object = Object {
    name: "",
    description: "",
    attributes: &[],
    from: "",
    seen: Seen::All,
    there: None,
    effective: None,
    timed: None,
    keyed: None,
};

const ACCOUNT: Object = Object {
    name: "Account",
    description: "An account, with sums over its active allocations.",
    attributes: attributes! {
        Id Whole = "a.id", "Its number.";
        Name Text = "a.name", "Its name.";
        Parent Text = "@account (SELECT p.id, p.name FROM account p WHERE p.id = a.parent)", "The account above it.";
        Priority Whole = "a.priority", "Lower pays first.";
        Fallback Text = "@payer coalesce(a.fallback, '')", "Who pays where it is short.";
        Blocked Flag = "a.blocked", "Whether it is blocked until a deposit.";
        Amount Amount = "coalesce(s.amount, 0)", "What is on it.";
        Held Amount = "coalesce(s.held, 0)", "What liens hold of it.";
        Balance Amount = "coalesce(s.amount - s.held, 0)", "Amount less what is held.";
        CreditLimit Amount = "coalesce(s.credit_limit, 0)", "How far it may go below zero.";
        Available Amount = "coalesce(s.amount - s.held + s.credit_limit, 0)", "What may still be spent.";
        Deposited Amount = "coalesce(s.deposited, 0)", "What came in.";
        Used Amount = "coalesce(s.used, 0)", "Charges less what was given back of them.";
        Shadow Amount = "coalesce(-s.shadow, 0)", "What the modes notional and track would have charged.";
        Description Text = "a.description", "Free text.";
        Deleted Flag = "a.deleted", "Whether it was removed; such rows need `ShowHidden`.";
    },
    from: "account a LEFT JOIN (SELECT account, sum(amount) AS amount, sum(held) AS held,
        sum(credit_limit) AS credit_limit, sum(deposited) AS deposited, sum(used) AS used,
        sum(shadow) AS shadow FROM allocation WHERE phase = 'active' GROUP BY account) s
        ON s.account = a.id",
    seen: Seen::Account("a.id"),
    there: Some("a.deleted = 0"),
    ..VIEW
};

const ACCOUNT_RULE: Object = Object {
    name: "AccountRule",
    description: "A row of an account's lists: who or what may spend from it, and who may not.",
    attributes: attributes! {
        Account Text = "a.name", "The account.";
        Number Whole = "c.n", "Its place in the list, from 0.";
        Dimension Text = "c.dimension", "What it looks at: project, user, machine, class, or any property.";
        Value Text = "c.value", "The name, or ANY, or MEMBERS.";
        Allow Flag = "c.allow", "Whether it allows; else it denies.";
        Subtree Flag = "c.subtree", "Whether it holds for projects below that one too.";
    },
    from: "account_constraint c JOIN account a ON a.id = c.account AND a.deleted = 0",
    seen: Seen::Rule,
    ..VIEW
};

const ALLOCATION: Object = Object {
    name: "Allocation",
    description: "A sum of an account with its window.",
    attributes: attributes! {
        Id Whole = "l.id", "Its number.";
        Account Text = "a.name", "Its account.";
        Start Time = "coalesce(l.start_at, -9223372036854775808)", "From when it can be spent.";
        End Time = "coalesce(l.end_at, 9223372036854775807)", "From when it can no longer be spent.";
        Phase Text = "l.phase", "future, active or expired.";
        Active Flag = "l.phase = 'active'", "Whether it is in its window.";
        Amount Amount = "l.amount", "What is on it.";
        Held Amount = "l.held", "What liens hold of it.";
        Balance Amount = "l.amount - l.held", "Amount less what is held.";
        CreditLimit Amount = "l.credit_limit", "How far it may go below zero.";
        Available Amount = "l.amount - l.held + l.credit_limit", "What may still be spent in its window.";
        Deposited Amount = "l.deposited", "What came in.";
        Used Amount = "l.used", "Charges less what was given back of them.";
        Shadow Amount = "-l.shadow", "What the modes notional and track would have charged.";
        ShadowHeld Amount = "l.shadow_held", "What they would hold.";
    },
    from: "allocation l JOIN account a ON a.id = l.account",
    seen: Seen::Account("l.account"),
    ..VIEW
};

const CHARGE: Object = Object {
    name: "Charge",
    description: "One charge of a job, a refund of it, or what took one back.",
    attributes: attributes! {
        Id Whole = "c.id", "Its number.";
        Transaction Whole = "c.tx", "The transaction.";
        Time Time = "c.at", "The end of the use.";
        Job Text = "i.object_id", "The scheduler's object id.";
        Type Text = "i.object_type", "job or reservation.";
        Machine Text = "i.machine", "Machine as named.";
        Project Text = "i.project", "Project of the job now. An Entry has that of each charge.";
        User Text = "i.user", "User of the job now. An Entry has that of each charge.";
        Seconds Whole = "c.charged_s", "Seconds that it bills.";
        Processors Decimal opt = "${c.processors}", "How many it prices.";
        Amount Amount = "c.amount", "What it bills; a refund is below zero.";
        Billing Text = "c.billing", "billed, notional, free, unbilled, refund, …";
        Late Flag = "c.late", "Whether it came after the close.";
    },
    from: "usage c JOIN instance i ON i.id = c.instance",
    seen: Seen::Work("i.project", "i.machine", "i.user"),
    effective: Some("c.at"),
    ..VIEW
};

const ENTRY: Object = Object {
    name: "Entry",
    description: "An entry of the journal with the data of its transaction.",
    attributes: attributes! {
        Id Whole = "e.id", "Its number.";
        Transaction Whole = "e.tx", "The transaction.";
        Number Whole = "e.n + 1", "Its place there, from 1.";
        Time Time = "t.at_effective", "When it counts.";
        Recorded Time = "t.at_recorded", "When it was written.";
        Kind Text = "e.kind", "deposit, lien, charge, …";
        Op Text = "t.op", "What was asked for.";
        Actor Text = "t.actor", "Who.";
        Client Text = "t.client", "Through which client.";
        Origin Text = "t.origin", "cli, nami, gold, auditor, web or system.";
        Account Text = "coalesce(a.name, '')", "The account.";
        Allocation Whole opt = "e.allocation", "The allocation.";
        Lien Whole opt = "e.lien", "The lien.";
        Charge Whole opt = "e.usage", "The charge.";
        Project Text = "e.project", "Project as named.";
        User Text = "e.user", "User as named.";
        Machine Text = "e.machine", "Machine as named.";
        Job Text = "coalesce((SELECT i.object_id FROM instance i WHERE i.id = coalesce(e.instance, t.instance)), '')", "The scheduler's object id.";
        Amount Amount = "e.delta_amount", "Change of the allocation's amount.";
        Held Amount = "e.delta_held", "Change of what is held on it.";
        Active Amount = "e.delta_active", "Change of the account's active money.";
        Shadow Amount = "e.delta_shadow", "Change of the shadow charges.";
        ShadowHeld Amount = "e.delta_shadow_held", "Change of the shadow liens.";
        AmountAfter Amount opt = "@standing e.amount_after", "The allocation's amount afterwards, of accounts in view.";
        HeldAfter Amount opt = "@standing e.held_after", "Held on it afterwards, likewise.";
        Reason Text = "t.reason", "Note, or why the system acted.";
    },
    from: "entry e CROSS JOIN tx t ON t.id = e.tx LEFT JOIN account a ON a.id = e.account",
    seen: Seen::Entry,
    effective: Some("t.at_effective"),
    ..VIEW
};

const JOB: Object = Object {
    name: "Job",
    description: "One use of a scheduler's object, with what it was billed.",
    attributes: attributes! {
        Id Whole = "i.id", "The bank's number of it.";
        Job Text = "i.object_id", "The scheduler's object id.";
        Type Text = "i.object_type", "job or reservation.";
        Machine Text = "i.machine", "Machine as named.";
        Number Whole = "i.number", "Which use of the id it is.";
        Project Text = "i.project", "Project as named.";
        User Text = "i.user", "User as named.";
        Group Text = "i.group_name", "Group as named.";
        Pi Text = "coalesce((SELECT u.pi FROM usage_identity u WHERE u.instance = i.id AND u.pi <> '' ORDER BY u.id DESC LIMIT 1), '')", "The PI from a mapping; empty for none.";
        Account Text = "coalesce(a.name, '')", "The account that pays.";
        Qos Text = "coalesce(i.qos, '')", "Quality of service.";
        Class Text = "coalesce(i.class, '')", "Class or queue.";
        Processors Decimal opt = "${i.processors}", "The last reported value.";
        Nodes Decimal opt = "${i.nodes}", "The last reported value.";
        Attributes Text = "i.attributes", "Attributes that the site declared, with their last reported values.";
        Opened Time = "i.opened_at", "Its first document.";
        Closed Time opt = "i.closed_at", "When it was closed; none while it is open.";
        ClosedBy Text = "coalesce(i.closed_by, '')", "What closed it.";
        Start Time opt = "i.start_at", "As reported by the scheduler.";
        End Time opt = "i.end_at", "As reported by the scheduler.";
        Wall Whole opt = "i.wall_s", "Seconds that were asked for.";
        BilledSeconds Whole = "i.charged_s", "Seconds billed so far.";
        Disputed Whole = "i.disputed_s", "Seconds beyond what can have been used.";
        Billed Amount = "i.billed", "Billed so far.";
        ShadowBilled Amount = "i.shadow_billed", "Billed so far in the shadow totals.";
        State Text = "i.state", "As reported by the scheduler.";
    },
    from: "instance i LEFT JOIN account a ON a.id = i.account",
    seen: Seen::Work("i.project", "i.machine", "i.user"),
    ..VIEW
};

const LIEN: Object = Object {
    name: "Lien",
    description: "Money held, or once held, for a job.",
    attributes: attributes! {
        Id Whole = "l.id", "Its number.";
        Job Text = "i.object_id", "The scheduler's object id.";
        Type Text = "i.object_type", "job or reservation.";
        Machine Text = "i.machine", "Machine as named.";
        Project Text = "i.project", "Project as named.";
        User Text = "i.user", "User as named.";
        State Text = "l.state", "open, settled, released, replaced or expired.";
        Placed Amount = "l.placed", "What it was placed for.";
        Held Amount = "coalesce((SELECT sum(p.amount) FROM lien_allocation p WHERE p.lien = l.id), 0)", "What it holds now.";
        Shadow Flag = "l.shadow", "Whether it holds in the shadow totals only.";
        Start Time = "l.start_at", "From when.";
        End Time = "l.end_at", "Until when.";
    },
    from: "lien l JOIN instance i ON i.id = l.instance",
    seen: Seen::Work("i.project", "i.machine", "i.user"),
    ..VIEW
};

const MEMBER: Object = Object {
    name: "Member",
    description: "A user who is a member of a project.",
    attributes: attributes! {
        Project Text = "p.name", "The project.";
        User Text = "u.name", "The user.";
        Active Flag = "m.active", "Whether they count as a member now.";
    },
    from: "member m JOIN project p ON p.id = m.project AND p.deleted = 0
        JOIN user u ON u.id = m.user AND u.deleted = 0",
    seen: Seen::Member("p.name", "u.name"),
    ..VIEW
};

const QUOTED_MACHINE: &str = "coalesce((SELECT m.name FROM machine m WHERE m.id = q.machine), '')";
const QUOTED_USER: &str = "coalesce((SELECT u.name FROM user u WHERE u.id = q.user), '')";

const QUOTE: Object = Object {
    name: "Quote",
    description: "A price that was frozen.",
    attributes: attributes! {
        Id Whole = "q.id", "Its number.";
        Name Text = "q.tid", "Its TID.";
        Project Text = "p.name", "For which project.";
        User Text = "coalesce((SELECT u.name FROM user u WHERE u.id = q.user), '')", "For which user.";
        Machine Text = "coalesce((SELECT m.name FROM machine m WHERE m.id = q.machine), '')", "On which machine.";
        Amount Amount = "q.amount", "The price.";
        Duration Whole = "q.duration_s", "Seconds that it is for.";
        Start Time = "q.from_at", "From when it holds.";
        End Time = "q.until_at", "Until when it holds.";
        Uses Whole = "q.uses", "How many jobs may still be bound to it.";
    },
    from: "quote q JOIN project p ON p.id = q.project",
    seen: Seen::Work("p.name", QUOTED_MACHINE, QUOTED_USER),
    ..VIEW
};

const RATE: Object = Object {
    name: "Rate",
    description: "What a unit of use costs, from when until when.",
    attributes: attributes! {
        Id Whole = "r.id", "Its number.";
        Kind Text = "r.kind", "VBR, NBR, MVBR, VBU, NBU, VBM, NBM, VBF, NBF, MIN or MAX.";
        Name Text = "r.name", "The property.";
        Instance Text = "r.instance", "Its value, or the other property.";
        Rate Decimal = "r.billionths", "How much.";
        Per Whole = "r.per_s", "For so many seconds.";
        Machine Text = "coalesce((SELECT m.name FROM machine m WHERE m.id = r.machine), '')", "On which machine; empty for all.";
        Start Time = "coalesce(r.from_at, -9223372036854775808)", "From when.";
        End Time = "coalesce(r.until_at, 9223372036854775807)", "Until when.";
        Hours Text = "r.hours", "In which hours of the week; empty for all.";
        Description Text = "r.description", "Free text.";
    },
    from: "rate r",
    seen: Seen::Rate("r.id"),
    ..VIEW
};

const TRANSACTION: Object = Object {
    name: "Transaction",
    description: "A transaction of the journal. Only for those who see the whole bank; others ask Entry.",
    attributes: attributes! {
        Id Whole = "t.id", "Its number.";
        Time Time = "t.at_effective", "When it counts.";
        Recorded Time = "t.at_recorded", "When it was written.";
        Op Text = "t.op", "What was asked for.";
        Actor Text = "t.actor", "Who.";
        Client Text = "t.client", "Through which client.";
        Origin Text = "t.origin", "cli, nami, gold, auditor, web or system.";
        Request Text = "CASE WHEN t.req_uuid IS NULL THEN t.req_id ELSE lower(substr(hex(t.req_uuid), 1, 8) || '-' || substr(hex(t.req_uuid), 9, 4) || '-' || substr(hex(t.req_uuid), 13, 4) || '-' || substr(hex(t.req_uuid), 17, 4) || '-' || substr(hex(t.req_uuid), 21)) END", "The id of the request in the log.";
        Job Text = "coalesce((SELECT i.object_id FROM instance i WHERE i.id = t.instance), '')", "The scheduler's object id.";
        Reverses Whole opt = "t.reverses", "The transaction that it reverses.";
        Corrects Whole opt = "t.corrects", "The transaction that it corrects.";
        Reason Text = "t.reason", "Note, or why the system acted.";
    },
    from: "tx t",
    seen: Seen::Unlimited,
    effective: Some("t.at_effective"),
    ..VIEW
};

const USAGE: Object = Object {
    name: "Usage",
    description: "A finished use as a collector recorded it. Only for those who see collectors.",
    attributes: attributes! {
        Id Whole = "u.id", "Its number.";
        Source Text = "s.name", "The collector.";
        Job Text = "u.object_id", "The scheduler's object id.";
        Type Text = "u.object_type", "job or reservation.";
        Machine Text = "u.machine", "Machine as named.";
        Project Text = "u.project", "What it is to the bank.";
        User Text = "u.user", "Who it is to the bank.";
        Pi Text = "u.pi", "The PI from a mapping; empty for none.";
        Account Text = "u.account", "As the source names it.";
        Login Text = "u.login", "As the source names them.";
        Queue Text = "u.queue", "Queue.";
        State Text = "u.state", "How it ended.";
        Submitted Time opt = "u.submit_at", "When it was handed in.";
        Start Time opt = "nullif(u.start_at, 0)", "When it started; none where it never did.";
        End Time opt = "u.end_at", "When it ended.";
        Processors Decimal opt = "u.millis * 1000000", "Processors.";
        Nodes Whole opt = "u.nodes", "Nodes.";
        Gpus Whole opt = "u.gpus", "GPUs.";
        MemoryBytes Whole opt = "u.memory_bytes", "Memory.";
        WallMicros Whole opt = "u.wall_us", "Elapsed, in millionths of a second.";
        CpuMicros Whole opt = "u.cpu_us", "Processor time, in millionths of a second.";
        Became Text = "u.became", "What became of it.";
        Amount Amount opt = "u.amount", "What it was priced at.";
        Refusal Text = "coalesce(u.refusal, '')", "The refusal under strict enforcement.";
        Transaction Whole opt = "u.tx", "The transaction that took it in.";
    },
    from: "usage_identity u JOIN source s ON s.id = u.source",
    seen: Seen::Recorded("u.project", "u.machine", "u.user"),
    ..VIEW
};

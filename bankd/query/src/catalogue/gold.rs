//! The views that clients of Gold ask for: Gold's objects and attributes over the tables of this bank
//! (ledger.md 1.2). Times are whole seconds since 1970; 0 and 2147483647 are the ends that Gold writes for
//! none. What Gold hides is hidden: an answer has it only if the query names it.

use super::{Attribute, Kind, Object, Seen, VIEW};

/// The views, in the order of the manual.
pub(crate) const OBJECTS: &[Object] = &[
    USER,
    PROJECT,
    MACHINE,
    PROJECT_USER,
    PROJECT_MACHINE,
    ACCOUNT,
    ACCOUNT_PROJECT,
    ACCOUNT_USER,
    ACCOUNT_MACHINE,
    ACCOUNT_ACCOUNT,
    ALLOCATION,
    RESERVATION,
    RESERVATION_ALLOCATION,
    QUOTATION,
    QUOTATION_CHARGE_RATE,
    CHARGE_RATE,
    JOB,
    TRANSACTION,
    SYSTEM,
];

const USER: Object = Object {
    name: "User",
    attributes: attributes! {
        Name Text = "u.name", "";
        Active Flag = "u.active", "";
        CommonName Text = "u.common_name", "";
        PhoneNumber Text = "u.phone", "";
        EmailAddress Text = "u.email", "";
        DefaultProject Text = "@project (SELECT p.name AS id, p.name FROM project p WHERE p.id = u.default_project AND p.deleted = 0)", "";
        Organization Text = "u.organization", "";
        Description Text = "u.description", "";
        Special Flag / hidden = "0", "";
        Deleted Flag / hidden = "u.deleted", "";
    },
    from: "user u",
    seen: Seen::User("u.name"),
    there: Some("u.deleted = 0"),
    ..VIEW
};

const PROJECT: Object = Object {
    name: "Project",
    attributes: attributes! {
        Name Text = "p.name", "";
        Active Flag = "p.active", "";
        Organization Text = "p.organization", "";
        Description Text = "p.description", "";
        Special Flag / hidden = "0", "";
        Deleted Flag / hidden = "p.deleted", "";
    },
    from: "project p",
    seen: Seen::Project("p.name"),
    there: Some("p.deleted = 0"),
    ..VIEW
};

const MACHINE: Object = Object {
    name: "Machine",
    attributes: attributes! {
        Name Text = "m.name", "";
        Active Flag = "m.active", "";
        Architecture Text = "m.architecture", "";
        OperatingSystem Text = "m.operating_system", "";
        Organization Text = "''", "";
        Description Text = "m.description", "";
        Special Flag / hidden = "0", "";
        Deleted Flag / hidden = "m.deleted", "";
    },
    from: "machine m",
    seen: Seen::Machine("m.name"),
    there: Some("m.deleted = 0"),
    ..VIEW
};

const PROJECT_USER: Object = Object {
    name: "ProjectUser",
    attributes: attributes! {
        Project Text = "p.name", "";
        Name Text = "u.name", "";
        Active Flag = "m.active", "";
        Admin Flag = "m.role = 'manager'", "";
    },
    from: "member m JOIN project p ON p.id = m.project AND p.deleted = 0
        JOIN user u ON u.id = m.user AND u.deleted = 0",
    seen: Seen::Member("p.name", "u.name"),
    ..VIEW
};

const PROJECT_MACHINE: Object = Object {
    name: "ProjectMachine",
    attributes: attributes! {
        Project Text = "p.name", "";
        Name Text = "m.name", "";
        Active Flag = "1", "";
    },
    from: "project_machine pm JOIN project p ON p.id = pm.project AND p.deleted = 0
        JOIN machine m ON m.id = pm.machine AND m.deleted = 0",
    seen: Seen::MachineOf("p.name", "m.name"),
    ..VIEW
};

const ACCOUNT: Object = Object {
    name: "Account",
    attributes: attributes! {
        Id Whole = "a.id", "";
        Name Text = "a.name", "";
        Description Text = "a.description", "";
        Amount Amount / hidden = "coalesce(s.amount, 0)", "";
        Reserved Amount / hidden = "coalesce(s.held, 0)", "";
        Balance Amount / hidden = "coalesce(s.amount - s.held, 0)", "";
        CreditLimit Amount / hidden = "coalesce(s.credit_limit, 0)", "";
        Available Amount / hidden = "coalesce(s.amount - s.held + s.credit_limit, 0)", "";
        Deleted Flag / hidden = "a.deleted", "";
    },
    from: "account a LEFT JOIN (SELECT account, sum(amount) AS amount, sum(held) AS held,
        sum(credit_limit) AS credit_limit FROM allocation WHERE phase = 'active' GROUP BY account) s
        ON s.account = a.id",
    seen: Seen::Account("a.id"),
    there: Some("a.deleted = 0 AND a.name NOT LIKE '#%'"),
    ..VIEW
};

/// The lists of one dimension. A list without a name that may spend lets every name spend: Gold writes `ANY`.
macro_rules! list {
    ($object:literal, $dimension:literal) => {
        Object {
            name: $object,
            attributes: attributes! {
                Account Whole = "a.id", "";
                Name Text = "c.value", "";
                Access Flag = "c.allow", "";
            },
            from: concat!(
                "(SELECT account, dimension, value, allow FROM account_constraint
                  WHERE dimension = '", $dimension, "'
                  UNION ALL SELECT x.id, '", $dimension, "', 'ANY', 1 FROM account x WHERE NOT EXISTS
                  (SELECT 1 FROM account_constraint y WHERE y.account = x.id AND y.allow = 1
                   AND y.dimension = '", $dimension, "')) c
                  JOIN account a ON a.id = c.account AND a.deleted = 0 AND a.name NOT LIKE '#%'"
            ),
            seen: Seen::Rule,
            ..VIEW
        }
    };
}

const ACCOUNT_PROJECT: Object = list!("AccountProject", "project");
const ACCOUNT_USER: Object = list!("AccountUser", "user");
const ACCOUNT_MACHINE: Object = list!("AccountMachine", "machine");

const ACCOUNT_ACCOUNT: Object = Object {
    name: "AccountAccount",
    attributes: attributes! {
        Account Whole = "a.parent", "";
        Id Whole = "a.id", "";
        DepositShare Whole = "coalesce(a.share, 0)", "";
        Overflow Flag = "coalesce(a.overflow, 'no') <> 'no'", "";
    },
    from: "account a JOIN account b ON b.id = a.parent AND b.deleted = 0",
    seen: Seen::AccountOf("a.parent", "a.id"),
    there: Some("a.deleted = 0"),
    ..VIEW
};

const ALLOCATION: Object = Object {
    name: "Allocation",
    attributes: attributes! {
        Id Whole = "l.id", "";
        Account Whole = "l.account", "";
        StartTime Whole = "coalesce(l.start_at / 1000000, 0)", "";
        EndTime Whole = "coalesce(l.end_at / 1000000, 2147483647)", "";
        Amount Amount = "l.amount", "";
        CreditLimit Amount = "l.credit_limit", "";
        Deposited Amount = "l.deposited", "";
        Active Flag = "l.active", "";
        Description Text = "''", "";
        CallType Text / hidden = "'Normal'", "";
    },
    from: "(SELECT x.*, x.phase = 'active' AS active FROM allocation x
        JOIN account a ON a.id = x.account AND a.deleted = 0 AND a.name NOT LIKE '#%') l",
    seen: Seen::Account("l.account"),
    // What the journal had on it before then: each entry has the number of the one before it. Its window can have been
    // another one, so what was usable comes from the journal too.
    timed: Some(
        "(SELECT y.*, iif(y.amount = 0, y.is_within, y.amount = y.usable) AS active
            FROM (SELECT x.id, x.account, x.start_at, x.end_at, x.credit_limit, x.deposited,
            (WITH RECURSIVE chain(id) AS (SELECT x.last_entry UNION ALL
             SELECT e.prev FROM chain c JOIN entry e ON e.id = c.id WHERE e.prev IS NOT NULL)
             SELECT sum(e.delta_amount) FROM chain c JOIN entry e ON e.id = c.id JOIN tx t ON t.id = e.tx
             WHERE t.at_effective < {until}) AS amount,
            (WITH RECURSIVE chain(id) AS (SELECT x.last_entry UNION ALL
             SELECT e.prev FROM chain c JOIN entry e ON e.id = c.id WHERE e.prev IS NOT NULL)
             SELECT sum(e.delta_active) FROM chain c JOIN entry e ON e.id = c.id JOIN tx t ON t.id = e.tx
             WHERE t.at_effective < {until}) AS usable,
            coalesce(x.start_at < {until}, 1) AND coalesce({until} <= x.end_at, 1) AS is_within
            FROM allocation x JOIN account a ON a.id = x.account AND a.name NOT LIKE '#%') y
            WHERE y.amount IS NOT NULL) l",
    ),
    ..VIEW
};

/// Liens that hold, and those whose time is over and whose job was never charged. A person sees all liens on
/// accounts in view, and what a lien is for if the job is in view too.
const OPEN_LIENS: &str = "lien l JOIN instance i ON i.id = l.instance AND l.shadow = 0
    AND (l.state = 'open' OR (l.state = 'expired' AND i.last_usage IS NULL))";

const RESERVATION: Object = Object {
    name: "Reservation",
    attributes: attributes! {
        Id Whole = "l.id", "";
        Name Text = "@work i.object_id", "";
        Job Whole opt = "@workid i.id", "";
        User Text = "@work i.user", "";
        Project Text = "@work i.project", "";
        Machine Text = "@work i.machine", "";
        StartTime Whole = "l.start_at / 1000000", "";
        EndTime Whole = "l.end_at / 1000000", "";
        Description Text = "''", "";
        CallType Text / hidden = "'Normal'", "";
    },
    from: OPEN_LIENS,
    seen: Seen::Lien,
    ..VIEW
};

const RESERVATION_ALLOCATION: Object = Object {
    name: "ReservationAllocation",
    attributes: attributes! {
        Reservation Whole = "l.id", "";
        Id Whole = "p.allocation", "";
        Account Whole = "x.account", "";
        Amount Amount = "p.amount", "";
    },
    from: "lien_allocation p JOIN lien l ON l.id = p.lien AND l.shadow = 0 AND l.state = 'open'
        JOIN instance i ON i.id = l.instance JOIN allocation x ON x.id = p.allocation",
    seen: Seen::LienPart,
    ..VIEW
};

const QUOTED_MACHINE: &str = "coalesce((SELECT m.name FROM machine m WHERE m.id = q.machine), '')";
const QUOTED_USER: &str = "coalesce((SELECT u.name FROM user u WHERE u.id = q.user), '')";

const QUOTATION: Object = Object {
    name: "Quotation",
    attributes: attributes! {
        Id Whole = "q.id", "";
        Amount Amount = "q.amount", "";
        StartTime Whole = "q.from_at / 1000000", "";
        EndTime Whole = "q.until_at / 1000000", "";
        WallDuration Whole = "q.duration_s", "";
        Job Whole opt = "q.instance", "";
        User Text = QUOTED_USER, "";
        Project Text = "p.name", "";
        Machine Text = QUOTED_MACHINE, "";
        Uses Whole = "q.uses", "";
        Description Text = "''", "";
        CallType Text / hidden = "'Normal'", "";
    },
    from: "quote q JOIN project p ON p.id = q.project",
    seen: Seen::Work("p.name", QUOTED_MACHINE, QUOTED_USER),
    there: Some("q.until_at > {now}"),
    ..VIEW
};

const QUOTATION_CHARGE_RATE: Object = Object {
    name: "QuotationChargeRate",
    attributes: attributes! {
        Quotation Whole = "q.id", "";
        Type Text = "r.kind", "";
        Name Text = "r.name", "";
        Instance Text / hidden = "r.instance", "";
        Rate Decimal = "r.billionths", "";
    },
    from: "quote q JOIN project p ON p.id = q.project AND q.until_at > {now} JOIN rate r
        ON coalesce(r.from_at <= q.from_at, 1) AND coalesce(q.from_at < r.until_at, 1)
        AND (r.machine IS NULL OR r.machine IS q.machine)",
    seen: Seen::RateOf("r.id", "p.name", QUOTED_MACHINE, QUOTED_USER),
    ..VIEW
};

const CHARGE_RATE: Object = Object {
    name: "ChargeRate",
    attributes: attributes! {
        Type Text = "r.kind", "";
        Name Text = "r.name", "";
        Instance Text = "r.instance", "";
        Rate Decimal = "r.billionths", "";
        Description Text = "r.description", "";
        Id Whole / hidden = "r.id", "";
        Per Whole / hidden = "r.per_s", "";
    },
    from: "rate r",
    seen: Seen::Rate("r.id"),
    there: Some("coalesce(r.from_at <= {now}, 1) AND coalesce({now} < r.until_at, 1)"),
    ..VIEW
};

const JOB: Object = Object {
    name: "Job",
    attributes: attributes! {
        Id Whole = "i.id", "";
        JobId Text = "i.object_id", "";
        User Text = "i.user", "";
        Project Text = "i.project", "";
        Machine Text = "i.machine", "";
        Queue Text = "coalesce(i.class, '')", "";
        QualityOfService Text = "coalesce(i.qos, '')", "";
        Type Text = "CASE i.object_type WHEN 'reservation' THEN 'Reservation' ELSE i.object_type END", "";
        Stage Text = "CASE WHEN i.closed_at IS NULL AND i.last_usage IS NULL THEN 'Reserve' ELSE 'Charge' END", "";
        // What was billed less what was refunded: refunds are rows of the job's chain of usage.
        Charge Amount = "i.billed + coalesce((WITH RECURSIVE chain(id) AS (SELECT i.last_usage UNION ALL
            SELECT u.prev FROM chain c JOIN usage u ON u.id = c.id WHERE u.prev IS NOT NULL)
            SELECT sum(u.amount) FROM chain c JOIN usage u ON u.id = c.id WHERE u.billing = 'refund'), 0)", "";
        Nodes Decimal opt = "${i.nodes}", "";
        Processors Decimal opt = "${i.processors}", "";
        StartTime Whole opt = "i.start_at / 1000000", "";
        EndTime Whole opt = "i.end_at / 1000000", "";
        WallDuration Whole opt = "CASE WHEN i.last_usage IS NULL THEN i.wall_s ELSE i.charged_s END", "";
        Description Text = "coalesce((SELECT json_extract(o.value, '$[1]') FROM json_each(nullif(i.other, '')) o
            WHERE json_extract(o.value, '$[0]') = 'Description'), '')", "";
        Executable Text / hidden = "''", "";
        Application Text / hidden = "''", "";
        QuoteId Whole opt / hidden = "i.quote", "";
        Closed Flag / hidden = "i.closed_at IS NOT NULL", "";
        CallType Text / hidden = "'Normal'", "";
    },
    from: "instance i",
    seen: Seen::Work("i.project", "i.machine", "i.user"),
    ..VIEW
};

/// The rows of entries, from where their numbers are.
macro_rules! entries {
    ($from:literal) => {
        concat!(
            "SELECT e.tx AS id,
            CASE WHEN e.kind IN ('deposit', 'withdraw', 'transfer_in', 'transfer_out', 'adjust', 'cycle_reset')
                   THEN 'Account'
                 WHEN e.kind IN ('activate', 'expire', 'modify', 'delete') THEN 'Allocation'
                 WHEN e.kind IN ('lien_release', 'lien_expire') THEN 'Reservation'
                 WHEN e.kind = 'quote_use' THEN 'Quotation'
                 WHEN e.kind = 'reverse' THEN 'Transaction'
                 WHEN i.object_type = 'reservation' THEN 'Reservation' ELSE 'Job' END AS object,
            CASE e.kind WHEN 'deposit' THEN 'Deposit' WHEN 'withdraw' THEN 'Withdraw'
                 WHEN 'transfer_in' THEN 'Transfer' WHEN 'transfer_out' THEN 'Transfer'
                 WHEN 'activate' THEN 'Activate' WHEN 'expire' THEN 'Deactivate'
                 WHEN 'modify' THEN 'Modify' WHEN 'delete' THEN 'Delete' WHEN 'adjust' THEN 'Adjust'
                 WHEN 'lien' THEN 'Reserve' WHEN 'lien_replace' THEN 'Reserve'
                 WHEN 'lien_release' THEN 'Delete' WHEN 'lien_expire' THEN 'Expire'
                 WHEN 'refund' THEN 'Refund' WHEN 'reverse' THEN 'Undo' WHEN 'quote_use' THEN 'Modify'
                 WHEN 'cycle_reset' THEN 'Reset'
                 WHEN 'would_refuse' THEN 'Refuse' WHEN 'disputed' THEN 'Dispute'
                 WHEN 'clock_back' THEN 'Modify' ELSE 'Charge' END AS action,
            t.actor AS actor, coalesce(CAST(i.id AS TEXT), CAST(e.account AS TEXT), '') AS name,
            coalesce(i.object_id, '') AS child, coalesce(i.object_id, '') AS job,
            abs(CASE WHEN e.delta_amount <> 0 THEN e.delta_amount WHEN e.delta_active <> 0 THEN e.delta_active
                 WHEN e.delta_held <> 0 THEN e.delta_held WHEN e.delta_shadow <> 0 THEN e.delta_shadow
                 ELSE e.delta_shadow_held END) AS amount,
            nullif(e.delta_active, 0) AS delta, -e.delta_amount AS charged, e.account AS account,
            coalesce(nullif(e.project, ''), i.project, '') AS project,
            coalesce(nullif(e.user, ''), i.user, '') AS user,
            coalesce(nullif(e.machine, ''), i.machine, '') AS machine, e.allocation AS allocation, t.reason AS description, t.at_effective AS at,
            1 AS is_entry
              FROM ",
            $from,
            " JOIN tx t ON t.id = e.tx LEFT JOIN instance i ON i.id = coalesce(e.instance, t.instance)"
        )
    };
}

/// A line for each entry of the journal, and one for each transaction without entries. `Delta` is the change
/// of an account's active money; entries that change none have no `Delta`.
const TRANSACTION: Object = Object {
    name: "Transaction",
    attributes: attributes! {
        Id Whole = "e.id", "";
        Object Text = "e.object", "";
        Action Text = "e.action", "";
        Actor Text = "e.actor", "";
        Name Text = "e.name", "";
        Child Text = "e.child", "";
        JobId Text = "e.job", "";
        Amount Amount opt = "e.amount", "";
        Delta Amount opt = "e.delta", "";
        Charged Amount opt / hidden = "e.charged", "";
        Account Whole opt = "e.account", "";
        Project Text = "e.project", "";
        User Text = "e.user", "";
        Machine Text = "e.machine", "";
        Allocation Whole opt = "e.allocation", "";
        Count Whole = "1", "";
        Description Text = "e.description", "";
        CreationTime Whole / hidden = "e.at / 1000000", "";
        RequestId Whole / hidden = "e.id", "";
    },
    from: concat!(
        "(",
        entries!("entry e"),
        " UNION ALL
          SELECT t.id, CASE WHEN t.op LIKE 'member%' THEN 'ProjectUser' WHEN t.op LIKE 'rate%' THEN 'ChargeRate'
                 WHEN t.op LIKE 'quote%' THEN 'Quotation' WHEN t.op LIKE 'lien%' THEN 'Reservation'
                 WHEN instr(t.op, '_') = 0 THEN 'Job'
                 ELSE upper(substr(t.op, 1, 1)) || substr(t.op, 2, instr(t.op, '_') - 2) END,
            CASE WHEN t.op LIKE '%\\_add' ESCAPE '\\' THEN 'Create' WHEN t.op LIKE '%\\_rm' ESCAPE '\\' THEN 'Delete'
                 WHEN instr(t.op, '_') = 0 THEN upper(substr(t.op, 1, 1)) || substr(t.op, 2) ELSE 'Modify' END,
            t.actor, coalesce((SELECT CASE v.kind
                 WHEN 'project' THEN (SELECT o.name FROM project o WHERE o.id = CAST(v.key AS INTEGER))
                 WHEN 'user' THEN (SELECT o.name FROM user o WHERE o.id = CAST(v.key AS INTEGER))
                 WHEN 'machine' THEN (SELECT o.name FROM machine o WHERE o.id = CAST(v.key AS INTEGER))
                 WHEN 'account' THEN (SELECT o.name FROM account o WHERE o.id = CAST(v.key AS INTEGER))
                 ELSE v.key END
                 FROM version v WHERE v.tx = t.id ORDER BY instr(t.op, v.kind) <> 1 LIMIT 1), i.object_id, ''),
            '', coalesce(i.object_id, ''), NULL, NULL, NULL, NULL, coalesce(i.project, ''), coalesce(i.user, ''),
            coalesce(i.machine, ''), NULL, t.reason, t.at_effective, 0
          FROM tx t LEFT JOIN instance i ON i.id = t.instance
          WHERE t.id NOT IN (SELECT tx FROM entry)) e"
    ),
    // The entries of some accounts: of each allocation, from the last one back.
    keyed: Some((
        "Account",
        concat!(
            "(WITH RECURSIVE chain(id) AS (
                SELECT last_entry FROM allocation WHERE account IN (SELECT value FROM json_each({keys}))
                UNION ALL SELECT e.prev FROM chain c JOIN entry e ON e.id = c.id WHERE e.prev IS NOT NULL) ",
            entries!("chain c JOIN entry e ON e.id = c.id"),
            ") e"
        ),
    )),
    seen: Seen::Journal,
    effective: Some("e.at"),
    ..VIEW
};

const SYSTEM: Object = Object {
    name: "System",
    attributes: attributes! {
        Name Text = "'bankd'", "";
        Version Text = concat!("'", env!("CARGO_PKG_VERSION"), "'"), "";
        Organization Text = "''", "";
        Description Text = "'Allocation bank'", "";
    },
    from: "(SELECT 1)",
    ..VIEW
};

//! The table of forms: a new form is one row. A row has entries that are accepted, and one entry that is not.

use super::form::{Before, Form, asked, button, decision, form, members, order, question};

const BOB: &[&[&str]] = &[&["project", "members", "add", "chemistry", "bob"]];

pub(super) const FORMS: &[Form] = &[
    order(
        "/deposit",
        &[
            ("name", "chemistry"),
            ("amount", "5"),
            ("note", "a \"b\" <c>"),
        ],
        ("amount", "much"),
    ),
    order(
        "/withdraw",
        &[("name", "chemistry"), ("amount", "5"), ("note", "back")],
        ("amount", "-5"),
    ),
    order(
        "/transfer",
        &[("from", "chemistry"), ("to", "physics"), ("amount", "5")],
        ("amount", "1,5"),
    ),
    Form {
        before: Before::Commands(&[&[
            "charge",
            "77",
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
            "--procs",
            "1",
            "--duration",
            "100",
        ]]),
        ..order(
            "/refund",
            &[("job", "77"), ("amount", "40"), ("note", "the node failed")],
            ("job", "no<such>"),
        )
    },
    order(
        "/adjust",
        &[
            ("account", "chemistry"),
            ("amount", "-5"),
            ("note", "a correction"),
        ],
        ("amount", "x"),
    ),
    Form {
        button: "button[value=add]",
        of: ":has(button[value=add])",
        wrong: Some(("user", "no<body>")),
        entries: &[("user", "carol"), ("role", "manager")],
        ..members(&[])
    },
    Form {
        button: "button[value=off]",
        of: ":has([name=user][value=bob])",
        ..members(BOB)
    },
    Form {
        button: "button[value=remove]",
        of: ":has([name=user][value=bob])",
        ..members(BOB)
    },
    Form {
        before: Before::Commands(&[&["deposit", "chemistry", "7"]]),
        wrong: None,
        ..order(
            "/transactions/{id}/undo",
            &[("note", "a \"b\" <c>")],
            ("note", ""),
        )
    },
    decision("button[value=approve]"),
    Form {
        wrong: Some(("reason", "")),
        ..decision("button[value=reject]")
    },
    asked(
        "/ask/deposit",
        &[
            ("name", "chemistry"),
            ("amount", "70"),
            ("end", "2090-01-01"),
            ("reason", "a \"b\" <c>"),
        ],
        ("amount", "much"),
    ),
    Form {
        before: Before::Commands(&[&["deposit", "chemistry", "5", "--end", "2080-01-01"]]),
        ..asked(
            "/ask/extension",
            &[
                ("allocation", "{allocation}"),
                ("until", "2085-01-01"),
                ("reason", "late"),
            ],
            ("until", "soon"),
        )
    },
    asked(
        "/ask/member",
        &[
            ("project", "chemistry"),
            ("user", "amy"),
            ("reason", "a student"),
        ],
        ("project", "no<such>"),
    ),
    asked(
        "/ask/project",
        &[
            ("name", "lasers"),
            ("description", "<i>light</i>"),
            ("amount", "12"),
            ("reason", "a grant"),
        ],
        ("amount", "1,5"),
    ),
    Form {
        who: "amy",
        ..button("/requests/{id}", "/requests/{id}/withdraw", Before::Request)
    },
    order(
        "/closes/new",
        &[("until", "2025-12-01"), ("note", "the books")],
        ("until", "soon"),
    ),
    button(
        "/closes",
        "/closes/undo",
        Before::Commands(&[&["close", "--until", "2025-12-15"]]),
    ),
    form(
        "/people",
        "/people/grant",
        &[
            ("name", "bob"),
            ("role", "operator"),
            ("project", "chemistry"),
            ("until", "2036-01-01"),
        ],
        ("until", "soon"),
    ),
    question(
        "/people",
        "/people/revoke",
        ":has([name=name][value=carol])",
        &[&["role", "grant", "carol", "auditor"]],
    ),
    form(
        "/limits",
        "/limits/set",
        &[
            ("name", "amy"),
            ("per_operation", "12345"),
            ("per_day", "99999"),
        ],
        ("per_day", "much"),
    ),
    question(
        "/limits",
        "/limits/remove",
        ":has([name=who][value=bob])",
        &[&["limit", "set", "bob", "--per-day", "20000"]],
    ),
    form(
        "/keys",
        "/keys/new",
        &[
            ("id", "colony-9"),
            ("roles", "scheduler"),
            ("valid_until", "2036-01-01"),
        ],
        ("valid_until", "soon"),
    ),
    question("/keys", "/keys/end", ":has([name=id][value=moab])", &[]),
    form(
        "/tokens",
        "/tokens/new",
        &[
            ("id", "t-9"),
            ("roles", "auditor"),
            ("valid_until", "2036-01-01"),
        ],
        ("valid_until", "soon"),
    ),
    question(
        "/tokens",
        "/tokens/end",
        ":has([name=id][value=t-8])",
        &[&[
            "token",
            "add",
            "t-8",
            "--role",
            "auditor",
            "--until",
            "2036-01-01",
        ]],
    ),
];

/// Forms that only show something: they change the address. Each has entries and a wrong one.
pub(super) const QUESTIONS: &[Form] = &[
    order(
        "/quote",
        &[
            ("project", "chemistry"),
            ("machine", "colony"),
            ("processors", "2"),
            ("wall_s", "1:00:00"),
        ],
        ("wall_s", "long"),
    ),
    order(
        "/rates/test",
        &[
            ("kind", "VBR"),
            ("name", "Processors"),
            ("rate", "2"),
            ("from", "2025-12-01"),
            ("to", "2026-01-01"),
        ],
        ("rate", "much"),
    ),
    order(
        "/rates/test",
        &[
            ("kind", "VBR"),
            ("name", "Processors"),
            ("rate", "2"),
            ("from", "2025-12-01"),
            ("to", "2026-01-01"),
        ],
        ("from", "soon"),
    ),
    order(
        "/rates/test",
        &[
            ("kind", "VBR"),
            ("name", "Processors"),
            ("rate", "2"),
            ("machine", "colony"),
        ],
        ("rate", "1,5"),
    ),
];

/// Targets of forms without a row, each with the reason.
pub(super) const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "/sessions/end",
        "a session is not in the journal: web::session",
    ),
    (
        "/sessions/all/end",
        "a session is not in the journal: web::access",
    ),
    ("/sign-out", "a session is not in the journal: web::session"),
    (
        "/proof/verify",
        "it starts a check that writes no transaction: web::audit",
    ),
];

//! One person for each role of the demo.

/// A person whose first screen shows what their role is for.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) role: &'static str,
    pub(super) name: &'static str,
    pub(super) purpose: &'static str,
}

const fn person(role: &'static str, name: &'static str, purpose: &'static str) -> Person {
    Person {
        role,
        name,
        purpose,
    }
}

pub(super) const FIRST_SCREENS: [Person; 6] = [
    person("user", "amy", "runs jobs in climate-ocean and climate-ice"),
    person(
        "manager",
        "hartmann",
        "leads climate-ocean, which may not last until its end",
    ),
    person(
        "account manager",
        "mona",
        "awards and requests of all projects",
    ),
    person(
        "operator",
        "otto",
        "collectors, machines, unmapped and rejected usage",
    ),
    person("auditor", "ada", "journal, statements and closed periods"),
    person("admin", "grace", "roles, keys, limits and approvals"),
];

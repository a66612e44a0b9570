//! The kinds of scheduled reports, and the commands of `bank` that make them.

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that a command takes or does"
)]
pub struct Kind {
    /// Its word.
    pub word: &'static str,
    /// The words of `bank`.
    pub words: &'static [&'static str],
    /// Whether it takes `--from` and `--to`.
    pub spans: bool,
    /// Whether it takes `--tz`.
    pub zoned: bool,
    /// Whether it can be a page.
    pub page: bool,
    /// Whether it performs an action, so that recipients are optional.
    pub acts: bool,
    /// Whether it is a page of one person, with that person's rights.
    pub personal: bool,
}

const fn kind(word: &'static str, words: &'static [&'static str]) -> Kind {
    Kind {
        word,
        words,
        spans: true,
        zoned: false,
        page: true,
        acts: false,
        personal: false,
    }
}

/// Every kind of report, and other scheduled actions.
pub const KINDS: &[Kind] = &[
    Kind {
        zoned: true,
        ..kind("usage", &["usage"])
    },
    kind("statement", &["statement"]),
    kind("monthly", &["report", "monthly"]),
    Kind {
        zoned: true,
        ..kind("contribution", &["report", "contribution"])
    },
    Kind {
        zoned: true,
        ..kind("utilization", &["report", "utilization"])
    },
    Kind {
        zoned: true,
        ..kind("top", &["report", "top"])
    },
    kind("balance-sheet", &["report", "balance-sheet"]),
    kind("efficiency", &["report", "efficiency"]),
    kind("fallback", &["report", "fallback"]),
    Kind {
        personal: true,
        ..kind("personal", &["report", "personal"])
    },
    Kind {
        personal: true,
        ..kind("efficiency-letter", &["report", "efficiency-letter"])
    },
    Kind {
        spans: false,
        ..kind("forecast", &["report", "forecast"])
    },
    Kind {
        spans: false,
        ..kind("expiring", &["report", "expiring"])
    },
    Kind {
        spans: false,
        ..kind("negative", &["report", "negative"])
    },
    Kind {
        spans: false,
        page: false,
        acts: true,
        ..kind("export-apel", &["export", "apel"])
    },
    Kind {
        page: false,
        acts: true,
        ..kind(
            "export-apel-summary",
            &["export", "apel", "--message", "summary"],
        )
    },
    Kind {
        spans: false,
        page: false,
        acts: true,
        ..kind("priority", &["priority", "--yes"])
    },
];

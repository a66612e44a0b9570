//! The parts of which lists and changes are made: data without work.

/// A list.
#[derive(Debug)]
pub(super) struct List {
    pub(super) object: &'static str,
    /// The attribute by which other rows belong to this one, and its operator; empty for none.
    pub(super) key: (&'static str, &'static str),
    /// The columns.
    pub(super) show: &'static str,
    /// More columns of `--showHidden`.
    pub(super) hidden: &'static str,
    pub(super) filters: &'static [Filter],
    pub(super) joins: &'static [Join],
}

/// A filter by an option of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// Option, attribute and operator.
    Is(&'static str, &'static str, &'static str),
    /// Option and attribute; `*` and `?` match any text and any character.
    Like(&'static str, &'static str),
    /// Option of the command line and option of the request.
    Choice(&'static str, &'static str),
    /// `-A` and `-I` by the attribute `Active`.
    Active,
    /// `-A` and `-I` by start and end.
    Window,
    /// `-A` and `-I` by end.
    End,
    /// `-A` and `-I` by an option.
    ActiveOption,
    /// Without special objects, unless `--showSpecial`.
    Ordinary,
    /// Rows that concern project, user and machine, unless `--exact-match`.
    Rules,
    /// Rows of the one account of a project.
    OneAccount,
}

/// Columns from the rows of another object.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) object: &'static str,
    /// A word in the names of the columns, and the attributes of a value.
    pub(super) columns: &'static [(&'static str, &'static [&'static str])],
    /// Columns of the query with their operators.
    pub(super) gets: &'static [(&'static str, &'static str)],
    /// The attribute that has the key of the row.
    pub(super) parent: &'static str,
    /// A value whose attribute is false has a minus.
    pub(super) sign: &'static str,
    /// One value for each row, zero if absent: a sum.
    pub(super) is_sum: bool,
    pub(super) filters: &'static [Filter],
    /// Only rows whose window contains now (with `-I`: does not).
    pub(super) is_current: bool,
}

impl Join {
    /// The attributes that make the values of a column; none if it is not from here.
    pub(super) fn parts(&self, column: &str) -> Option<&'static [&'static str]> {
        let found = self.columns.iter().find(|(word, _)| column.contains(word));
        found.map(|(_, parts)| *parts)
    }
}

/// A change of an object.
#[derive(Debug)]
pub(super) struct Record {
    /// `Create`, `Modify` or `Delete`.
    pub(super) action: &'static str,
    pub(super) object: &'static str,
    /// Options that name the object, and their attributes.
    pub(super) keys: &'static [(&'static str, &'static str)],
    /// Options with new values, and their attributes.
    pub(super) sets: &'static [(&'static str, &'static str)],
    pub(super) members: &'static [Members],
    /// The object in the message about a new one that has a number.
    pub(super) numbered: &'static str,
    /// Whether `-I` deletes everything that has expired.
    pub(super) purge: Purge,
}

/// Objects that `-I` deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purge {
    Nothing,
    /// Objects whose window does not contain now.
    Window,
    /// Objects whose end has passed.
    End,
}

/// A change of the members of an object.
#[derive(Debug)]
pub(super) struct Members {
    /// The option that lists them.
    pub(super) option: &'static str,
    pub(super) object: &'static str,
    /// The attribute that names the owner.
    pub(super) parent: &'static str,
    /// The attribute that a minus makes false.
    pub(super) sign: &'static str,
    pub(super) change: Change,
}

/// The change of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Added by the tool that creates the owner: only failures are printed.
    Initial,
    Add,
    Remove,
    Activate,
    Deactivate,
}

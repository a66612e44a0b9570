//! The columns of `sacct`: its layouts, the format of each column, and the reconstruction of fields
//! that contain the separator (`collectors.md` a.1, a.5).

use crate::split::split;

/// Open `XDMoD`'s order since 2021-12.
const XDMOD26: &str = "jobid jobidraw cluster partition qos account group gid user uid submit \
    eligible start end elapsed exitcode state nnodes ncpus reqcpus reqmem reqtres alloctres \
    timelimit nodelist jobname";
/// The names of the layouts without a header line.
pub(super) const LAYOUTS: [&str; 4] = ["xdmod26", "xdmod25-2021", "xdmod25-2019", "xdmod26-2020"];

/// Columns of free text, in the order in which they get surplus fields.
const TEXTS: [&str; 11] = [
    "jobname",
    "submitline",
    "comment",
    "admincomment",
    "systemcomment",
    "workdir",
    "constraints",
    "reason",
    "wckey",
    "account",
    "reservation",
];

/// Checks one assignment of fields to columns.
type Check<'c, 'a> = dyn FnMut(&[(usize, usize)]) -> Option<Vec<&'a str>> + 'c;

/// Ways of giving surplus fields back that are tried for one line.
const WAYS_MAX: usize = 20_000;

/// The columns that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    JobId,
    JobIdRaw,
    Cluster,
    Partition,
    Qos,
    Account,
    Group,
    User,
    Submit,
    Start,
    End,
    Elapsed,
    ExitCode,
    State,
    NNodes,
    NCpus,
    AllocCpus,
    ReqMem,
    ReqTres,
    AllocTres,
    AllocGres,
    ReqGres,
    TimeLimit,
    NodeList,
    JobName,
    TotalCpu,
    UserCpu,
    SystemCpu,
    Uid,
    Gid,
    ReqCpus,
    Reservation,
}

/// Their names in a header line, in the order of [`Column`].
const NAMES: [&str; 32] = [
    "jobid",
    "jobidraw",
    "cluster",
    "partition",
    "qos",
    "account",
    "group",
    "user",
    "submit",
    "start",
    "end",
    "elapsed",
    "exitcode",
    "state",
    "nnodes",
    "ncpus",
    "alloccpus",
    "reqmem",
    "reqtres",
    "alloctres",
    "allocgres",
    "reqgres",
    "timelimit",
    "nodelist",
    "jobname",
    "totalcpu",
    "usercpu",
    "systemcpu",
    "uid",
    "gid",
    "reqcpus",
    "reservation",
];

/// Whether a field has the format of its column.
type Look = fn(&str) -> bool;

/// The names of the columns, lower case, the positions of those that are read, and the format of
/// each.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    names: Vec<String>,
    places: [Option<usize>; NAMES.len()],
    looks: Vec<Option<Look>>,
}

impl Columns {
    pub(super) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let lower = |name: String| name.trim().to_ascii_lowercase();
        let names: Vec<String> = names.into_iter().map(lower).collect();
        Self {
            places: NAMES.map(|name| names.iter().rposition(|known| known == name)),
            looks: names.iter().map(|name| look(name)).collect(),
            names,
        }
    }

    /// A layout by its name; `None` if there is no such.
    pub(super) fn layout(name: &str) -> Option<Self> {
        let order: Vec<&str> = XDMOD26.split_whitespace().collect();
        let without = |gone: &'static [&'static str]| {
            let kept = order.iter().filter(move |name| !gone.contains(name));
            kept.map(|name| (*name).to_owned()).collect::<Vec<_>>()
        };
        let with_gres = |mut names: Vec<String>| {
            let at = names.iter().position(|name| name == "reqtres");
            names.insert(at.unwrap_or(names.len()), "reqgres".to_owned());
            names
        };
        let names = match name {
            "xdmod26" => without(&[]),
            "xdmod25-2021" => without(&["qos"]),
            "xdmod25-2019" => with_gres(without(&["qos", "alloctres"])),
            "xdmod26-2020" => with_gres(without(&["qos"])),
            _ => return None,
        };
        Some(Self::new(names))
    }

    /// The columns that a header line names, if the line is one.
    pub(super) fn header(line: &str, delimiter: &str) -> Option<Self> {
        let line = line.strip_suffix(delimiter).unwrap_or(line);
        let names = split(line, delimiter, usize::MAX);
        let first = names.first()?.to_ascii_lowercase();
        let plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic());
        let is_header = (first == "jobid"
            || first == "account"
            || XDMOD26.split_whitespace().any(|known| known == first))
            && names.len() > 1
            && names.iter().all(plain);
        is_header.then(|| Self::new(names.iter().map(|name| (*name).to_owned())))
    }

    /// The columns of a header line behind the first line: the output of another call. One of a user's text
    /// would have to name the columns without which there is no job.
    pub(super) fn later_header(line: &str, delimiter: &str) -> Option<Self> {
        let begins = line.bytes().next()?.is_ascii_alphabetic();
        let needed = [Column::JobId, Column::State, Column::Start, Column::End];
        let header = begins.then(|| Self::header(line, delimiter)).flatten();
        header.filter(|header| needed.iter().all(|column| header.place(*column).is_some()))
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Position of a column; of several with one name the last.
    pub(super) fn place(&self, column: Column) -> Option<usize> {
        self.places.get(column as usize).copied().flatten()
    }

    /// Whether every field has the format of its column.
    pub(super) fn fit(&self, fields: &[&str]) -> bool {
        self.misfit(fields).is_none()
    }

    /// The place of the first field without the format of its column.
    fn misfit(&self, fields: &[&str]) -> Option<usize> {
        let mut looks = self.looks.iter().zip(fields);
        looks.position(|(looks, field)| looks.is_some_and(|looks| !looks(field)))
    }

    /// The first field without the format of its column, and the column: `NCPUS: "4x" does not fit this column`.
    pub(super) fn unreadable(&self, fields: &[&str]) -> Option<String> {
        let at = self.misfit(fields)?;
        let (name, field) = (self.names.get(at)?, fields.get(at)?);
        Some(format!("{name}: {field:?} does not fit this column"))
    }

    /// The fields of a line that has more than there are columns: the surplus goes to as few columns
    /// of free text as make all others look right, the first of them in the order of the list. `None`
    /// if there is no way.
    pub(super) fn aligned<'a>(&self, line: &'a str, delimiter: &str) -> Option<Vec<&'a str>> {
        let ends: Vec<usize> = line
            .match_indices(delimiter)
            .map(|(at, _)| at)
            .chain([line.len()])
            .collect();
        let surplus = ends.len().checked_sub(self.names.len())?;
        let place = |name: &&str| self.names.iter().rposition(|known| known == name);
        let texts: Vec<usize> = TEXTS.iter().filter_map(place).collect();
        let mut left = WAYS_MAX;
        for columns in 1..=3 {
            let mut chosen = Vec::with_capacity(columns);
            let found = Self::ways(&texts, columns, surplus, &mut chosen, &mut |given| {
                left = left.checked_sub(1)?;
                let fields = cut(line, delimiter.len(), &ends, self.names.len(), given)?;
                self.fit(&fields).then_some(fields)
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Tries every way to give `surplus` fields to exactly `columns` of the texts.
    fn ways<'a>(
        texts: &[usize],
        columns: usize,
        surplus: usize,
        chosen: &mut Vec<(usize, usize)>,
        check: &mut Check<'_, 'a>,
    ) -> Option<Vec<&'a str>> {
        if columns == 0 {
            return if surplus == 0 { check(chosen) } else { None };
        }
        for (at, column) in texts.iter().enumerate() {
            let shares = if columns == 1 {
                surplus..=surplus
            } else {
                1..=surplus
            };
            for share in shares {
                if share == 0 {
                    continue;
                }
                chosen.push((*column, share));
                let rest = texts.get(at.saturating_add(1)..).unwrap_or_default();
                let left = surplus.saturating_sub(share);
                let found = Self::ways(rest, columns.saturating_sub(1), left, chosen, check);
                if found.is_some() {
                    return found;
                }
                chosen.pop();
            }
        }
        None
    }
}

/// The fields of a line, where some columns take so many separators more.
fn cut<'a>(
    line: &'a str,
    delimiter: usize,
    ends: &[usize],
    columns: usize,
    given: &[(usize, usize)],
) -> Option<Vec<&'a str>> {
    let mut fields = Vec::with_capacity(columns);
    let (mut begin, mut next) = (0, 0_usize);
    for column in 0..columns {
        let more = given.iter().find(|(at, _)| *at == column);
        next = next.checked_add(more.map_or(0, |(_, share)| *share))?;
        let end = *ends.get(next)?;
        fields.push(line.get(begin..end)?);
        begin = end.checked_add(delimiter)?;
        next = next.checked_add(1)?;
    }
    Some(fields)
}

/// How the fields of a column look; columns that are not checked take anything.
fn look(column: &str) -> Option<Look> {
    match column {
        "jobid" | "jobidraw" => Some(is_job_id),
        "submit" | "start" | "end" | "eligible" => {
            Some(|field| matches!(field, "" | "Unknown" | "None") || is_time(field))
        }
        "ncpus" | "nnodes" | "uid" | "gid" | "reqcpus" => Some(is_digits),
        "state" => Some(|field| {
            let (word, by) = field.split_once(" by ").unwrap_or((field, "0"));
            let is_word = word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            !word.is_empty() && is_word && is_digits(by)
        }),
        "elapsed" => Some(|field| {
            let mut bytes = field.bytes();
            bytes.all(|b| b.is_ascii_digit() || b":.-".contains(&b))
        }),
        "exitcode" => Some(|field| {
            field.is_empty()
                || field.split_once(':').is_some_and(|(code, signal)| {
                    !code.is_empty() && is_digits(code) && is_digits(signal)
                })
        }),
        "nodelist" => Some(|field| {
            let mut bytes = field.bytes();
            field == "None assigned"
                || bytes.all(|b| b.is_ascii_alphanumeric() || b"_.[],-".contains(&b))
        }),
        "alloctres" => Some(|field| {
            field.is_empty() || field.split(',').all(|pair| pair.split_once('=').is_some())
        }),
        _ => None,
    }
}

/// Digits, or nothing.
fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// `123`, `123_7`, `123_[1-3]`, `123+1`, and steps of them behind a point.
fn is_job_id(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let head = match text.split_once("_[") {
        Some((base, rest)) => {
            let Some((_, behind)) = rest.split_once(']') else {
                return false;
            };
            return digits(base) && (behind.is_empty() || behind.starts_with(['.', '+']));
        }
        None => text.split('.').next().unwrap_or(text),
    };
    let head = head.split('+').next().unwrap_or(head);
    match head.split_once('_') {
        Some((base, task)) => digits(base) && digits(task),
        None => digits(head),
    }
}

/// `YYYY-MM-DDTHH:MM:SS`
fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let fits = |(b, form): (u8, &u8)| match form {
        b'0' => b.is_ascii_digit(),
        mark => b == *mark,
    };
    text.len() == FORM.len() && text.bytes().zip(FORM).all(fits)
}

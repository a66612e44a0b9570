//! `bank user import`: a directory of people, merged into what the bank knows of its users. It adds
//! and fills in; it takes nothing away.

use bank_api::text;
use bank_api::v1::{BadLine, ImportedUsers, MERGE_MAX, MergeEntry, MergeUsers, MergedUsers};
use ureq::http::Method;

use super::{counted, read_file};
use crate::{
    cli::{ImportUsers, PeopleFormat, WriteArgs},
    context::Context,
    fail::Failure,
    out,
    people::{self, People},
};

/// Most bytes of the entries of one request; the daemon takes 1 MiB.
const BYTES_MAX: usize = 256 * 1024;

pub(super) fn run(context: &Context, args: &ImportUsers) -> Result<String, Failure> {
    let file = &args.file;
    let bytes = read_file(file);
    let bytes = bytes.map_err(|why| Failure::usage(format!("cannot read {file}: {why}")))?;
    let format = args
        .people_format
        .unwrap_or(if bytes.trim_ascii_start().starts_with(b"{") {
            PeopleFormat::Ai4
        } else {
            PeopleFormat::Csv
        });
    let people = match format {
        PeopleFormat::Csv => people::separated(&bytes),
        PeopleFormat::Ai4 => people::ai4(&bytes),
    };
    let people = people.map_err(|why| Failure::usage(format!("{}: {why}", args.file)))?;
    let mut import = Import::new(context, args, &people);
    import.send(people.entries)?;
    import.end()
}

/// An import on its way.
struct Import<'a> {
    context: &'a Context,
    args: &'a ImportUsers,
    requests: u64,
    done: ImportedUsers,
}

impl<'a> Import<'a> {
    fn new(context: &'a Context, args: &'a ImportUsers, people: &People) -> Self {
        let mut import = Self {
            context,
            args,
            requests: 0,
            done: ImportedUsers {
                unread: people.unread.clone(),
                dry_run: args.write.dry_run,
                ..ImportedUsers::default()
            },
        };
        for bad in &people.bad {
            import.count("refused");
            import.bad(bad.clone());
        }
        import
    }

    fn count(&mut self, word: &str) {
        self.done.entries += 1;
        *self.done.outcomes.entry(word.to_owned()).or_default() += 1;
    }

    fn bad(&mut self, bad: BadLine) {
        let BadLine { line, code, detail } = &bad;
        out::warn(&format!("{}:{line}: {code}: {detail}", self.args.file));
        self.done.bad.push(bad);
    }

    fn send(&mut self, entries: Vec<(u64, MergeEntry)>) -> Result<(), Failure> {
        let (mut waiting, mut bytes) = (Vec::new(), 0);
        for (line, entry) in entries {
            let size = size(&entry);
            if waiting.len() >= MERGE_MAX || (bytes + size > BYTES_MAX && !waiting.is_empty()) {
                self.portion(std::mem::take(&mut waiting))?;
                bytes = 0;
            }
            bytes += size;
            waiting.push((line, entry));
        }
        if waiting.is_empty() {
            return Ok(());
        }
        self.portion(waiting)
    }

    fn portion(&mut self, waiting: Vec<(u64, MergeEntry)>) -> Result<(), Failure> {
        self.requests += 1;
        let key = self.args.write.key.as_ref();
        let write = WriteArgs {
            dry_run: self.args.write.dry_run,
            key: key.map(|key| format!("{key}.{}", self.requests)),
        };
        let (lines, entries): (Vec<u64>, Vec<MergeEntry>) = waiting.into_iter().unzip();
        let body = MergeUsers {
            entries,
            by_email: self.args.by_email,
            known_only: self.args.known_only,
            keep: self.args.keep,
        };
        let sent = self
            .context
            .send(Method::POST, &["user-directory"], &body, &write);
        let merged: MergedUsers = sent.map_err(|failure| {
            let line = lines.first().copied().unwrap_or(1);
            let file = &self.args.file;
            failure.hint(format!(
                "stopped at {file}:{line}; the same import again goes on"
            ))
        })?;
        for (line, item) in lines.into_iter().zip(merged.items) {
            self.count(&item.outcome);
            if item.outcome == "refused" {
                self.bad(BadLine {
                    line,
                    code: item.code.unwrap_or_default(),
                    detail: format!("user {:?}: {}", item.user, item.detail.unwrap_or_default()),
                });
            }
        }
        Ok(())
    }

    fn end(self) -> Result<String, Failure> {
        let ImportedUsers {
            entries,
            outcomes,
            bad,
            unread,
            dry_run,
        } = &self.done;
        if !unread.is_empty() {
            out::warn(&format!("not read: {}", unread.join(", ")));
        }
        let sentence = format!("{}{}", text::counted(*entries, "entry"), counted(outcomes));
        let left_out = (!bad.is_empty() && self.args.strict)
            .then(|| format!("{} not merged", text::counted(bad.len(), "entry")));
        self.context
            .imported(&self.done, &sentence, *dry_run, left_out)
    }
}

/// About how many bytes an entry takes in a request.
fn size(entry: &MergeEntry) -> usize {
    let texts = [
        &entry.common_name,
        &entry.email,
        &entry.default_project,
        &entry.organization,
        &entry.phone,
        &entry.description,
    ];
    let texts = texts.into_iter().flatten().chain(&entry.aliases);
    texts.fold(entry.user.len() + 128, |sum, text| sum + text.len() + 24)
}

//! `bank source`: collectors, what they brought and when they were heard last.

use std::fmt::Write as _;

use bank_api::v1::{Followed, LeftOut, List, PatchSource, Source, SourceQuery, Written};
use bank_picture::figure;
use ureq::http::Method;

use super::nothing_to_set;
use crate::{
    cli::{SetSource, SourceCommand},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, alarming, column, fitted},
    when,
};

/// Files that are not read: how many of them are shown.
const LISTED: usize = 20;

pub(super) fn run(context: &Context, command: SourceCommand) -> Result<String, Failure> {
    match command {
        SourceCommand::Ls { all } => {
            let query = SourceQuery {
                all,
                ..SourceQuery::default()
            };
            let list: List<Source> = context.all(&["sources"], &query)?;
            let mut text = context.form.list(&list, &sheet(&list.items))?;
            if context.form.is_table() && context.form.columns.is_empty() {
                let troubles: String = list.items.iter().map(troubles).collect();
                text.push_str(&fitted(&troubles, context.form.width, |_| 4));
            }
            Ok(text)
        }
        SourceCommand::Show { name } => {
            let source: Source = context.get(&["sources", &name], &())?;
            let rows = std::slice::from_ref(&source);
            let mut text = context.form.one(&source, &sheet(rows))?;
            if context.form.is_table() && context.form.columns.is_empty() {
                let files: String = source.follow.iter().map(followed).collect();
                text.push_str(&fitted(&files, context.form.width, |_| 4));
            }
            Ok(text)
        }
        SourceCommand::Set(args) => set(context, args),
        SourceCommand::Rm { name, remove } => {
            let what = format!("take collector {name:?} off the list");
            let answer = context.remove(&["sources", &name], &what, &remove)?;
            let sentence =
                format!("collector {name:?} is removed from the list until it reports again");
            context.removed(&answer, &sentence)
        }
    }
}

fn set(context: &Context, args: SetSource) -> Result<String, Failure> {
    let Some(after) = args.silent_after else {
        return Err(nothing_to_set());
    };
    let after = match after.as_str() {
        "never" | "default" => after,
        time => when::seconds(time)?.to_string(),
    };
    let body = PatchSource {
        silent_after: Some(after),
    };
    let target = ["sources", args.name.as_str()];
    let answer: Written<Source> = context.send(Method::PATCH, &target, &body, &args.write)?;
    context.written(&answer, &format!("collector {:?} changed", args.name))
}

fn sheet(sources: &[Source]) -> Sheet {
    let columns = vec![
        column("name", "Source", Kind::Text),
        column("format", "Format", Kind::Text).secondary(),
        column("machine", "Machine", Kind::Text)
            .on_screen_if(sources.iter().any(|s| s.machine.is_some())),
        column("charges", "Charges", Kind::Text).secondary(),
        column("last_contact", "Last contact", Kind::Time),
        column("last_event", "Last event", Kind::Time).secondary(),
        column("lag_s", "Lag s", Kind::Number),
        column("records", "Records", Kind::Number),
        column("jobs", "Jobs", Kind::Number).secondary(),
        column("skipped", "Skipped", Kind::Number).secondary(),
        column("rejected", "Rejected", Kind::Number),
        column("quarantined", "Quarantined", Kind::Number),
        column("silent", "Silent", Kind::Text).on_screen_if(sources.iter().any(|s| s.silent)),
        column("removed", "Removed", Kind::Text).on_screen_if(sources.iter().any(|s| s.removed)),
        column("first_contact", "First contact", Kind::Time).if_machine(),
        column("silent_after_s", "Silent after s", Kind::Number).if_machine(),
    ];
    Sheet::new(columns, sources, "no collector has reported anything")
}

/// What is wrong with a collector's files.
fn troubles(source: &Source) -> String {
    let failing = source.follow.iter().filter(|file| file.state != "ok");
    failing.map(followed).collect()
}

/// The state of a followed file, and the files and parts that are not read.
fn followed(file: &Followed) -> String {
    let mut text = file_state(file);
    if file.left_out.is_empty() {
        return text;
    }
    let count = file.left_out.len();
    let line = format!("not read: {count} (`bank import` takes files that are still there) !");
    let _ = writeln!(text, "  {}", alarming(&line));
    for left in file.left_out.iter().take(LISTED) {
        let _ = writeln!(text, "  {}: {}", left.file, reason(left));
    }
    if count > LISTED {
        let _ = writeln!(text, "  and {} more (--json lists all)", count - LISTED);
    }
    text
}

fn reason(left: &LeftOut) -> String {
    let read = figure::grouped(&left.read.to_string());
    match left.reason.as_str() {
        "before_first_start" => "rotated before the first start".to_owned(),
        "unsupported_compression" => "compressed, and neither .gz nor .zst".to_owned(),
        "unreadable" => "cannot be read; the log has the error, and it is tried again".to_owned(),
        "emptied" => format!("emptied without a copy after {read} bytes were read"),
        "gone" => format!("removed after {read} bytes were read"),
        other => other.to_owned(),
    }
}

fn file_state(file: &Followed) -> String {
    let mut line = format!("follows {}", file.path);
    match (file.state.as_str(), &file.error) {
        ("waiting", _) => line.push_str(": no such file yet"),
        (_, Some(error)) => {
            let _ = write!(line, ": {error} !");
            return format!("{}\n", alarming(&line));
        }
        _ => {
            let (offset, behind) = (file.offset.to_string(), file.behind.to_string());
            let (offset, behind) = (figure::grouped(&offset), figure::grouped(&behind));
            let _ = write!(line, ": {offset} bytes taken, {behind} to go");
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{assert_fits, filled};

    #[test]
    fn the_widest_file_fits_a_terminal() {
        for mut file in filled::<Followed>() {
            assert_fits(&fitted(&followed(&file), 80, |_| 4));
            file.error = None;
            assert_fits(&fitted(&followed(&file), 80, |_| 4));
        }
    }

    #[test]
    fn files_show_their_state() {
        let file = |state: &str, error: Option<&str>| Followed {
            path: "/var/acct".to_owned(),
            state: state.to_owned(),
            offset: 1_234_567,
            behind: 12,
            error: error.map(str::to_owned),
            ..Followed::default()
        };
        assert_eq!(
            followed(&file("ok", None)),
            "follows /var/acct: 1,234,567 bytes taken, 12 to go\n"
        );
        let waiting = followed(&file("waiting", None));
        assert_eq!(waiting, "follows /var/acct: no such file yet\n");
        let failing = followed(&file("failing", Some("permission denied")));
        let plain = anstream::adapter::strip_str(&failing).to_string();
        assert_eq!(plain, "follows /var/acct: permission denied !\n");
        let left = |number: usize, reason: &str| LeftOut {
            file: format!("/var/acct.{number}"),
            reason: reason.to_owned(),
            read: 12_000,
        };
        let mut some = file("ok", None);
        some.left_out = vec![left(1, "before_first_start"), left(2, "emptied")];
        let plain = anstream::adapter::strip_str(&followed(&some)).to_string();
        assert_eq!(
            plain,
            "follows /var/acct: 1,234,567 bytes taken, 12 to go\n  \
             not read: 2 (`bank import` takes files that are still there) !\n  \
             /var/acct.1: rotated before the first start\n  \
             /var/acct.2: emptied without a copy after 12,000 bytes were read\n"
        );
        some.left_out = (0..25).map(|n| left(n, "gone")).collect();
        assert!(followed(&some).contains("and 5 more"));
    }
}

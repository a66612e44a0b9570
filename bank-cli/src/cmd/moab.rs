//! `bank moab check`: the scheduler's files against what the scripts and the bank say.

use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use bank_api::exit::bank as exit;
use bank_api::v1::{Account, Finding, Findings, List, Project};
use serde_json::Value;

use super::Record;
use crate::{
    cli::{CheckArgs, MoabCommand},
    context::Context,
    fail::Failure,
    moab::{self, Facts, File, Names, Scripts},
    out::{Kind, Sheet, column, fitted},
};

/// Largest file of a scheduler's configuration, in bytes.
const MAX_FILE: u64 = 4 << 20;
/// Where Moab's configuration lies if nobody says.
const USUAL: [&str; 3] = [
    "/opt/moab/etc/moab.cfg",
    "/opt/moab/moab.cfg",
    "/var/spool/moab/moab.cfg",
];

pub(super) fn run(context: &Context, command: MoabCommand) -> Result<String, Failure> {
    let MoabCommand::Check(args) = command;
    let mut notes = Vec::new();
    let (moab, maui) = files(&args)?;
    let facts = facts(context, &args, &mut notes)?;
    let mut findings = moab::check(&moab, &maui, &facts);
    findings.notes.extend(notes);
    concluded(context, &findings)
}

/// The output of a check; the exit code 1 if there are findings.
pub(super) fn concluded(context: &Context, findings: &Findings) -> Result<String, Failure> {
    let message = shown(context, findings)?;
    let count = findings.findings.len();
    if count == 0 {
        return Ok(message);
    }
    let s = if count == 1 { "" } else { "s" };
    let mut failure = Failure::of(exit::REFUSED, format!("{count} finding{s}"));
    failure.before = Some(message);
    Err(failure)
}

fn files(args: &CheckArgs) -> Result<(Vec<File>, Vec<File>), Failure> {
    let mut named = args.files.clone();
    if named.is_empty() && args.maui.is_empty() {
        let usual = USUAL.iter().map(PathBuf::from).find(|path| path.is_file());
        named.extend(usual);
        if named.is_empty() {
            return Err(Failure::usage("no moab.cfg in the usual places")
                .hint("bank moab check /path/of/moab.cfg, or --maui /path/of/maui.cfg"));
        }
    }
    Ok((
        read(with_private(named, "moab"))?,
        read(with_private(args.maui.clone(), "maui"))?,
    ))
}

/// Adds the private file that lies beside the first one, if it is there and was not named.
fn with_private(mut named: Vec<PathBuf>, scheduler: &str) -> Vec<PathBuf> {
    let private = format!("{scheduler}-private.cfg");
    let is_private = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name == private.as_str())
    };
    if !named.iter().any(is_private)
        && let Some(beside) = named.first().map(|first| first.with_file_name(&private))
        && beside.is_file()
    {
        named.push(beside);
    }
    named
}

pub(super) fn read(paths: Vec<PathBuf>) -> Result<Vec<File>, Failure> {
    let one = |path: PathBuf| {
        let name = path.display().to_string();
        let bad =
            |why: &dyn std::fmt::Display| Failure::usage(format!("cannot read {name}: {why}"));
        let file = std::fs::File::open(&path).map_err(|error| bad(&error))?;
        let meta = file.metadata().map_err(|error| bad(&error))?;
        if !meta.is_file() {
            return Err(bad(&"not a file"));
        }
        if meta.len() > MAX_FILE {
            return Err(bad(&"larger than 4 MiB, so it is not a configuration"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE)
            .read_to_end(&mut bytes)
            .map_err(|error| bad(&error))?;
        Ok(File {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            is_open: meta.permissions().mode() & 0o077 != 0,
            name,
        })
    };
    paths.into_iter().map(one).collect()
}

fn facts(context: &Context, args: &CheckArgs, notes: &mut Vec<String>) -> Result<Facts, Failure> {
    let conf = args.conf.conf.as_deref();
    let scripts = match nami_scripts::Facts::load(conf) {
        Ok(scripts) => Some(scripts),
        // A file that was named must be usable.
        Err(why) if conf.is_some() => return Err(Failure::usage(why)),
        Err(why) => {
            notes.push(format!("the scripts' settings were not compared: {why}"));
            None
        }
    };
    let mut facts = Facts {
        scripts: scripts.as_ref().map(|scripts| Scripts {
            timeout_s: scripts.timeout_s,
            print_tid: scripts.print_tid,
            fail_open: scripts.fail_open,
        }),
        tid_variable: args.tid_variable.clone(),
        home: args.home.clone(),
        ..Facts::default()
    };
    if args.offline {
        return Ok(facts);
    }
    let requested = args.machine.clone().or(scripts.and_then(|s| s.machine));
    match ask(context) {
        Ok((machines, names)) => {
            facts.machine = machine(machines, requested.as_deref(), notes)?;
            facts.names = Some(names);
        }
        Err(failure) => notes.push(format!(
            "the bank was not asked about machines and accounts: {}",
            failure.what
        )),
    }
    Ok(facts)
}

fn ask(context: &Context) -> Result<(Vec<Record>, Names), Failure> {
    let machines: List<Record> = context.all(&["machines"], &())?;
    let projects: List<Project> = context.all(&["projects"], &())?;
    let accounts: List<Account> = context.all(&["accounts"], &())?;
    let names = Names {
        projects: projects
            .items
            .into_iter()
            .map(|project| project.name)
            .collect(),
        accounts: accounts
            .items
            .into_iter()
            .map(|account| (account.name, account.fallback))
            .collect(),
    };
    Ok((machines.items, names))
}

fn machine(
    machines: Vec<Record>,
    requested: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Option<moab::Machine>, Failure> {
    let count = machines.len();
    let text = |machine: &Record, field: &str| {
        let value = machine.get(field).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let mut fitting = machines.into_iter().filter(|machine| match requested {
        Some(name) => text(machine, "name") == name,
        None => count == 1,
    });
    if let Some(machine) = fitting.next() {
        let interval = machine.get("flush_interval_s").and_then(Value::as_i64);
        return Ok(Some(moab::Machine {
            name: text(&machine, "name"),
            mode: text(&machine, "mode"),
            flush_interval_s: interval.unwrap_or_default(),
        }));
    }
    let Some(name) = requested else {
        notes.push("machine and flush interval were not compared: --machine names it".into());
        return Ok(None);
    };
    Err(Failure::of(exit::NOT_FOUND, format!("no machine {name:?}"))
        .hint("`bank machine ls` lists them; --machine and nami.conf name this scheduler's"))
}

fn shown(context: &Context, findings: &Findings) -> Result<String, Failure> {
    let form = &context.form;
    if !(form.is_table() && form.columns.is_empty()) {
        let columns = vec![
            column("code", "Code", Kind::Text),
            column("file", "File", Kind::Text),
            column("line", "Line", Kind::Number),
            column("what", "What", Kind::Text),
            column("change", "Change", Kind::Text),
        ];
        let sheet = Sheet::new(columns, &findings.findings, "nothing found");
        // In JSON the notes are part of the answer.
        return if super::nami::is_json(form) && form.columns.is_empty() {
            form.one(findings, &sheet)
        } else {
            form.list(findings, &sheet)
        };
    }
    let mut text = String::new();
    for Finding {
        code,
        file,
        line,
        what,
        change,
    } in &findings.findings
    {
        let _ = writeln!(text, "{file}:{line}: {code}: {what}\n    {change}");
    }
    for note in &findings.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if findings.findings.is_empty() {
        text.push_str("nothing here defeats the bank\n");
    }
    // The change to make is indented further than the finding.
    let indent = |line: &str| if line.starts_with("    ") { 6 } else { 2 };
    Ok(fitted(&text, form.width, indent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::test_context,
        out::{assert_fits, filled},
    };

    #[test]
    fn findings_fit_a_terminal() {
        let context = test_context();
        for findings in filled::<Findings>() {
            assert_fits(&shown(&context, &findings).unwrap());
        }
        let finding = Finding {
            code: "timeout_too_short".to_owned(),
            file: "moab.cfg".to_owned(),
            line: 2,
            what: "Moab ends a script after 5 seconds, and the script waits for 8".to_owned(),
            change: "AMCFG[bank]  TIMEOUT=10".to_owned(),
        };
        let findings = Findings {
            findings: vec![finding],
            notes: vec!["the bank was not asked".to_owned()],
        };
        assert_eq!(
            shown(&context, &findings).unwrap(),
            "moab.cfg:2: timeout_too_short: Moab ends a script after 5 seconds, and the\n  \
             script waits for 8\n    AMCFG[bank]  TIMEOUT=10\nnote: the bank was not asked\n"
        );
    }

    #[test]
    fn the_private_file_is_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let (main, private) = (
            folder.path().join("moab.cfg"),
            folder.path().join("moab-private.cfg"),
        );
        let alone = with_private(vec![main.clone()], "moab");
        assert_eq!(alone.as_slice(), std::slice::from_ref(&main));
        std::fs::write(&private, "").unwrap();
        let both = [main.clone(), private.clone()];
        assert_eq!(with_private(vec![main], "moab"), both);
        assert_eq!(with_private(both.to_vec(), "moab"), both);
        assert_eq!(with_private(Vec::new(), "moab"), Vec::<PathBuf>::new());
    }
}

//! Checks before a report is due: the program, whether it accepts the options, and whether mail can
//! be sent. They run at the start of the daemon, and in `bankd doctor`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bankd_config::{Deliver, DeliverWord, Notices, ScheduledReport, located, of_number};
use bankd_store::SpanRow;

use super::child::{Child, Trouble};
use super::words;

/// Time limit for the program to check its options.
const LIMIT: Duration = Duration::from_secs(20);

/// The program `bank`: that of the settings, or one that is installed if `named` is empty.
///
/// # Errors
/// Where it was looked for.
pub fn program(named: &str) -> Result<PathBuf, String> {
    if !named.is_empty() {
        let path = PathBuf::from(named);
        let there = path.is_file();
        return there
            .then_some(path)
            .ok_or_else(|| format!("report.program: {named} is not a file"));
    }
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent);
    let mut places: Vec<PathBuf> = Vec::new();
    places.extend(beside.map(|folder| folder.join("bank")));
    places.extend(["/usr/bin/bank", "/usr/local/bin/bank"].map(PathBuf::from));
    let found = places.iter().find(|place| place.is_file());
    found.cloned().ok_or_else(|| {
        let shown: Vec<String> = places
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        format!(
            "report.program: scheduled reports need the program bank, and it is not at {}",
            shown.join(", ")
        )
    })
}

/// All checks that are possible before a report is due. Blocks while the program runs.
///
/// # Errors
/// The first problem, with its position in the settings file.
pub fn all(settings: &Notices, file: &Path) -> Result<(), String> {
    if settings.scheduled_report.is_empty() {
        return Ok(());
    }
    let program = program(&settings.program)?;
    for (number, report) in (1..).zip(&settings.scheduled_report) {
        let checked = one(&settings.deliver, &program, report);
        checked.map_err(|why| {
            let error = of_number(number, &report.name, &why);
            // Without the text the line number is unknown: the definition is named anyway.
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let name = file.file_name().unwrap_or(file.as_os_str());
            located(&name.to_string_lossy(), &text, error)
        })?;
    }
    Ok(())
}

fn one(targets: &[Deliver], program: &Path, report: &ScheduledReport) -> Result<(), String> {
    for target in targets {
        if !report.deliver.contains(&target.name) || target.by != DeliverWord::Sendmail {
            continue;
        }
        let mailer = target.mailer();
        if !mailer.is_file() {
            let (name, mailer) = (&target.name, mailer.display());
            return Err(format!(
                "deliver: {name} sends mail by {mailer}, which is not there: install a mail \
                 program, or name one with `command`"
            ));
        }
    }
    let mut arguments = vec!["gen".to_owned(), "check".to_owned(), "--".to_owned()];
    let person = report.each.map(|_| "nobody");
    let period = SpanRow::default();
    arguments.extend(words(report, &period, "unix:/nowhere", person));
    let child = Child {
        program,
        words: &arguments,
        zone: "UTC",
        limit: LIMIT,
        most: 1 << 20,
    };
    match child.run(&AtomicBool::new(false)) {
        Ok(_) | Err(Trouble::Stopped) => Ok(()),
        Err(Trouble::Failed(why)) => Err(format!("options: {why}")),
    }
}

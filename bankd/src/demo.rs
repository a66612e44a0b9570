//! `bankd demo`: a bank's first day, played with the real programs.
//!
//! Creates a bank in a temporary directory and starts the daemon. A scheduler's scripts and an
//! account manager's commands then run one working day; each command is shown with its output.
//! Nothing is simulated: the demo prints the output of the programs.

mod document;
mod ended;
mod stage;
mod web;
mod year;

use std::path::PathBuf;

use bank_api::exit::bank as exit;
use document::{Event, Job};
use ended::Ended;
use stage::Stage;

/// Arguments of the demo.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Leave the daemon running afterwards
    #[arg(long)]
    keep: bool,
    /// Fill a bank with one year of a small centre and serve it on loopback
    #[arg(long, conflicts_with = "keep")]
    web: bool,
    /// Directory of that bank, which is then kept [default: a temporary one]
    #[arg(long = "data", value_name = "DIR", requires = "web")]
    folder: Option<PathBuf>,
}

/// Runs the demo that was requested; returns the exit code.
///
/// # Errors
/// If a program of the demo fails, or the bank cannot be filled or served.
pub fn run(args: &DemoArgs) -> anyhow::Result<u8> {
    if args.web {
        return web::run(args.folder.as_deref());
    }
    first_day(args.keep)
}

/// Plays the first day; with `keep` the daemon keeps running afterwards. A demo that a signal ends leaves nothing behind.
fn first_day(keep: bool) -> anyhow::Result<u8> {
    let ended = Ended::watch()?;
    let mut stage = Stage::build(ended.clone())?;
    let played = play(&mut stage);
    if let Some(code) = ended.code() {
        stage.remove()?;
        return Ok(code);
    }
    played?;
    stage.leave(keep)?;
    Ok(exit::DONE)
}

fn play(stage: &mut Stage) -> anyhow::Result<()> {
    founding(stage)?;
    one_job(stage)?;
    short_of_money(stage)?;
    reservation(stage)?;
    outage(stage)?;
    closing(stage)
}

/// Projects, users and money.
fn founding(stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("A bank is created, and the daemon started");
    stage.bankd(&[
        "init",
        "--data",
        "bank-data",
        "--precision",
        "0",
        "--unit",
        "credits",
    ])?;
    stage.serve()?;
    stage.chapter("The account manager enters machine, users and projects, and deposits");
    stage.bank(&["machine", "add", "colony"])?;
    for user in ["amy", "bob", "ops"] {
        stage.bank(&["user", "add", user])?;
    }
    stage.bank(&["project", "add", "chemistry", "--members", "amy"])?;
    stage.bank(&["project", "add", "astro", "--members", "bob"])?;
    stage.bank(&["project", "add", "operations", "--members", "ops"])?;
    stage.bank(&["project", "add", "freecycle"])?;
    stage.bank(&["account", "set", "freecycle", "--users", "ANY"])?;
    stage.bank(&["deposit", "chemistry", "100000", "--note", "first award"])?;
    stage.bank(&["deposit", "astro", "20000"])?;
    stage.bank(&["deposit", "operations", "1000000"])?;
    stage.bank(&["deposit", "freecycle", "500000"])?;
    stage.bank(&["rate", "set", "VBR", "storage", "0.01"])?;
    stage.bank(&["balance"])
}

/// A job's whole life: quote, create, reserve, interim charge, final charge, delete.
fn one_job(stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("Job Moab.1024 of amy: 16 processors for an hour, 57600 credits");
    let job = Job {
        id: "Moab.1024",
        user: "amy",
        account: "chemistry",
        seconds: 3600,
    };
    Stage::show_document(&job.document(Event::Reserve));
    stage.script("quote", &job.document(Event::Quote), 0)?;
    stage.script("create", &job.document(Event::Create), 0)?;
    stage.script("reserve", &job.document(Event::Reserve), 0)?;
    stage.balance("chemistry")?;
    Stage::say("After half an hour the scheduler flushes an interim charge; the lien shrinks.");
    stage.script("charge", &job.document(Event::Charge(1800)), 0)?;
    stage.balance("chemistry")?;
    Stage::say("The job ends after 434 s more. Delete releases the rest of the lien.");
    stage.script("charge", &job.document(Event::Charge(434)), 0)?;
    stage.script("delete", &job.document(Event::Delete), 0)?;
    stage.balance("chemistry")?;
    stage.bank(&["jobs", "Moab.1024"])
}

/// The primary account is short: exit 78, and the scheduler asks again under the fallback.
fn short_of_money(stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("Job Moab.1025 of bob: astro is short, the scheduler falls back");
    let job = Job {
        id: "Moab.1025",
        user: "bob",
        account: "astro",
        seconds: 3600,
    };
    Stage::say("Only insufficient funds have exit code 78.");
    stage.script("reserve", &job.document(Event::Reserve), 78)?;
    let again = Job {
        account: "freecycle",
        ..job
    };
    Stage::say("The same job under the fallback account: one lien, on freecycle.");
    stage.script("reserve", &again.document(Event::Reserve), 0)?;
    stage.script("charge", &again.document(Event::Charge(600)), 0)?;
    stage.script("delete", &again.document(Event::Delete), 0)?;
    stage.balance("freecycle")
}

/// A reservation of the scheduler's, charged with a generic resource and no processors.
fn reservation(stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("Reservation maint.7: 8 processors, then 100 units of storage as well");
    stage.script("reserve", document::RESERVATION, 0)?;
    stage.balance("operations")?;
    Stage::say("8 × 3600 for the processors it reserved, 100 × 3600 × 0.01 for the storage.");
    stage.script("charge", document::RESERVATION_CHARGE, 0)?;
    stage.script("delete", document::RESERVATION, 0)?;
    stage.balance("operations")
}

/// The daemon dies; charges wait in the spool and are taken once, with their own time.
fn outage(stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("The power fails while a job runs");
    let job = Job {
        id: "Moab.1026",
        user: "amy",
        account: "chemistry",
        seconds: 1200,
    };
    stage.script("reserve", &job.document(Event::Reserve), 0)?;
    stage.kill()?;
    Stage::say("The scheduler charges twice. No charge is lost: both wait in the spool.");
    stage.script("charge", &job.document(Event::Charge(600)), 0)?;
    stage.script("charge", &job.document(Event::Charge(300)), 0)?;
    Stage::say("A new job cannot be admitted meanwhile: exit 22, unreachable, never 78.");
    let new = Job {
        id: "Moab.1027",
        ..job
    };
    stage.script("reserve", &new.document(Event::Reserve), 22)?;
    stage.serve()?;
    Stage::say("The next call drains the spool first; draining again changes nothing.");
    stage.script("drain", "", 0)?;
    stage.script("drain", "", 0)?;
    stage.script("delete", &job.document(Event::Delete), 0)?;
    stage.balance("chemistry")
}

/// The books at the end of the day.
fn closing(stage: &mut Stage) -> anyhow::Result<()> {
    stage.chapter("The end of the day");
    stage.bank(&["balance"])?;
    stage.bank(&["journal", "-a", "chemistry"])?;
    stage.print_file(
        "bank-data/charges.log",
        "output of the FILE writer for the site's own tools",
    )?;
    stage.bankd(&["verify", "--data", "bank-data"])
}

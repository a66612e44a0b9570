//! `bank slurm check`: the configuration of Slurm against the settings of the scripts and the rates of the bank.

use std::path::{Path, PathBuf};

use bank_api::v1::{List, Rate, RateQuery};

use super::moab::{concluded, read};
use crate::{
    cli::{SlurmArgs, SlurmCommand},
    context::Context,
    fail::Failure,
    slurm::{self, File, Scripts},
};

/// Usual places of Slurm's configuration.
const USUAL: [&str; 3] = [
    "/etc/slurm/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/usr/local/etc/slurm.conf",
];

pub(super) fn run(context: &Context, command: SlurmCommand) -> Result<String, Failure> {
    let SlurmCommand::Check(args) = command;
    let file = file(&args)?;
    let conf = args.conf.conf.as_deref();
    let mut notes = Vec::new();
    let mut machine = slurm::cluster_of(&file.text);
    let scripts = match nami_scripts::Facts::load(conf) {
        Ok(scripts) => {
            machine = scripts.machine.or(machine);
            Some(Scripts {
                timeout_s: scripts.timeout_s,
            })
        }
        // A file that was named must be usable.
        Err(why) if conf.is_some() => return Err(Failure::usage(why)),
        Err(why) => {
            notes.push(format!("the scripts' settings were not compared: {why}"));
            None
        }
    };
    let rates = if args.offline {
        Vec::new()
    } else {
        rates(context, machine.as_deref()).unwrap_or_else(|failure| {
            notes.push(format!(
                "the bank was not asked about its rates: {}",
                failure.what
            ));
            Vec::new()
        })
    };
    let mut findings = slurm::check(&file, scripts, &rates);
    findings.notes.extend(notes);
    concluded(context, &findings)
}

/// The names of the resources that have a rate on this machine.
fn rates(context: &Context, machine: Option<&str>) -> Result<Vec<String>, Failure> {
    let list: List<Rate> = context.all(&["rates"], &RateQuery::default())?;
    let is_here = |rate: &Rate| rate.machine.is_none() || rate.machine.as_deref() == machine;
    let rates = list.items.into_iter().filter(is_here);
    Ok(rates.map(|rate| rate.name).collect())
}

fn file(args: &SlurmArgs) -> Result<File, Failure> {
    let usual = || USUAL.iter().map(PathBuf::from).find(|path| path.is_file());
    let Some(path) = args.file.clone().or_else(usual) else {
        return Err(Failure::usage("no slurm.conf in the usual places")
            .hint("bank slurm check /path/of/slurm.conf, or a file with the output of scontrol show config"));
    };
    let folder = path.parent().map(Path::to_owned);
    let Some(read) = read(vec![path])?.pop() else {
        return Err(Failure::usage("no file"));
    };
    // The output of `scontrol show config` names the file.
    let stated = slurm::conf_of(&read.text).and_then(|conf| conf.parent().map(Path::to_owned));
    Ok(File {
        folder: stated.or(folder),
        name: read.name,
        text: read.text,
    })
}

//! `bank slurm check`: the configuration of Slurm against the settings of the scripts.

use std::path::{Path, PathBuf};

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
    let scripts = match nami_scripts::Facts::load(conf) {
        Ok(scripts) => Some(Scripts {
            timeout_s: scripts.timeout_s,
        }),
        // A file that was named must be usable.
        Err(why) if conf.is_some() => return Err(Failure::usage(why)),
        Err(why) => {
            notes.push(format!("the scripts' settings were not compared: {why}"));
            None
        }
    };
    let mut findings = slurm::check(&file, scripts);
    findings.notes.extend(notes);
    concluded(context, &findings)
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

//! `bank gen`: what an installation needs and this program knows: links by Gold's names, manual
//! pages, completions. The daemon is not asked.

use std::{fs, io, os::unix::fs::symlink, path::Path};

use clap::{CommandFactory as _, Parser as _};

use bank_cli_gold::TOOLS;

use crate::{
    cli::{Cli, GenCommand},
    fail::Failure,
};

/// Makes what is wanted and says what it made; a completion is itself the output.
pub(crate) fn run(command: GenCommand) -> Result<String, Failure> {
    match command {
        GenCommand::Links { dir } => links(&dir),
        GenCommand::Man { dir } => {
            fs::create_dir_all(&dir).map_err(|error| failed(&dir, &error))?;
            let tools = TOOLS.iter().map(bank_cli_gold::command);
            let own = Cli::command().about("command line of the allocation bank");
            for command in std::iter::once(own).chain(tools) {
                clap_mangen::generate_to(command, &dir).map_err(|error| failed(&dir, &error))?;
            }
            Ok(format!("manual pages in {}\n", dir.display()))
        }
        GenCommand::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "bank", &mut out);
            Ok(String::from_utf8_lossy(&out).into_owned())
        }
        GenCommand::Check { words } => check(words),
    }
}

/// Nothing where the words are understood.
fn check(words: Vec<String>) -> Result<String, Failure> {
    let all = std::iter::once("bank".to_owned()).chain(words);
    match Cli::try_parse_from(all) {
        Ok(_) => Ok(String::new()),
        Err(error) => {
            let help = || Failure::usage("this asks for help, not for a report");
            Err(Failure::of_parser(&error).unwrap_or_else(help))
        }
    }
}

/// A link to this program for each of Gold's names. A link that is there is made anew; any other
/// file of that name is somebody else's.
fn links(dir: &Path) -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| failed(dir, &error))?;
    fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    for tool in &TOOLS {
        let link = dir.join(tool.name);
        match link.symlink_metadata() {
            Ok(there) if there.is_symlink() => fs::remove_file(&link),
            Ok(_) => Err(io::Error::other(
                "a file of this name exists and is not a link",
            )),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
        .and_then(|()| symlink(&program, &link))
        .map_err(|error| failed(&link, &error))?;
    }
    Ok(format!("{} links in {}\n", TOOLS.len(), dir.display()))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_twice_and_spare_what_is_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("bin");
        for _ in 0..2 {
            assert!(links(&dir).unwrap().starts_with("43 links in "));
        }
        let program = std::env::current_exe().unwrap();
        assert_eq!(fs::read_link(dir.join("gbalance")).unwrap(), program);
        fs::remove_file(dir.join("gquote")).unwrap();
        fs::write(dir.join("gquote"), "theirs").unwrap();
        assert_eq!(links(&dir).unwrap_err().exit, 2);
        assert_eq!(fs::read_to_string(dir.join("gquote")).unwrap(), "theirs");
    }

    #[test]
    fn words_are_understood_or_not() {
        let check = |words: &str| check(words.split(' ').map(str::to_owned).collect());
        assert_eq!(check("usage --by user -O html").unwrap(), "");
        for wrong in [
            "usage --bye user",
            "report weekly",
            "--help",
            "usage --top 0",
        ] {
            let failure = check(wrong).unwrap_err();
            assert_eq!(failure.exit, 2, "{wrong}");
        }
    }

    #[test]
    fn pages_and_completions_contain_the_commands() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        run(GenCommand::Man { dir: dir.clone() }).unwrap();
        let page = fs::read_to_string(dir.join("bank-deposit.1")).unwrap();
        assert!(
            page.contains("credit limit") || page.contains("Credit limit"),
            "{page}"
        );
        for tool in &TOOLS {
            let page = fs::read_to_string(dir.join(format!("{}.1", tool.name))).unwrap();
            assert!(page.contains("Print help"), "{page}");
        }
        let shell = clap_complete::Shell::Bash;
        let text = run(GenCommand::Completions { shell }).unwrap();
        assert!(text.contains("deposit"));
    }
}

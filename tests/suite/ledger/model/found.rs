//! Scripts that other seeds found, played one by one.

use super::{SITES, Trio};

/// Scripts that other seeds found.
const FOUND: [&str; 10] = [
    // An amended record names another user after a refund.
    "on a site with order hierarchy-first\nusage P1 by=bob/P/colony 1p 15s ran=-30,-5\nrefund P1 at=colony part=5\n\
     usage P1 by=amy/P/colony 1p 15s ran=T0-30,T0-10",
    // A fee is undone, then the charge before it.
    "on a site with the defaults\ncharge P1 by=amy/P/colony 1p 3s\ncharge P2 by=amy/P/colony 1p 0s\naccount rm B force\n\
     charge P1 by=amy/P/colony 1p 0s Zone=Asia\nundo 4\ncharge P1 by=amy/P/blue 1p 0s\nundo 3",
    // A total falls, and another user is charged in the same second.
    "on a site with the defaults\ncharge P1 by=amy/P/colony 1p 17s\ncharge P1 by=amy/P/colony 1p 16s\n\
     charge P1 by=amy/P/colony 1p 0s total\ncharge P1 by=bob/P/colony 1p 0s\nundo 2",
    // So is one after an undo.
    "on a site with the defaults\ncharge P1 by=bob/P/colony 1p 0s window=-60,-20\n\
     charge P1 by=amy/P/colony 1p 0s short=reject\nundo 2\ncharge P1 by=amy/P/colony 1p 0s\nundo 2",
    // An account with the liens of two jobs is removed.
    "on a site with the defaults\nreserve P1 by=amy/P/colony 1p 19s\nreserve P1 by=amy/P/blue 2p 31s\n\
     account rm A force",
    // A charge that is kept has an attribute of the wrong type.
    "on a site with the defaults\nattr add Power number\nreserve P1 by=amy/P/colony 1p 31s\n\
     charge P1 by=amy/P/colony 1p 0s Power=x last checked newest from=gold ran=-20,+0",
    // An amended record moves a use; the move is undone, done again and undone.
    "on a site with the defaults\nusage P1 by=amy/P/colony 1p 15s ran=T0-30,T0-10\n\
     usage P1 by=amy/W/colony 1p 15s ran=T0-30,T0-10\nundo 1\nundo 1\nundo 1",
    // A charge of nothing is undone after another user has the use.
    "on a site with the defaults\nusage P1 by=bob/P/colony 1p 15s ran=-30,-10\ncharge P1 by=bob/P/colony 1p 0s\n\
     usage P1 by=amy/P/colony 1p 15s ran=T0-30,T0-10\nundo 2",
    // A lien that expired with nothing left is revived and replaced.
    "on a site with the defaults\nreserve P1 by=amy/P/colony 1p 3s\ncharge P1 by=amy/P/colony 1p 3s\ntick 650\n\
     lien extend 1 +5\nreserve P1 by=amy/P/colony 1p 0s",
    // A machine with a rate of its own is removed before a charge.
    "on a site with the defaults\nrate set VBR Processors 2 machine=blue\nmachine rm blue\ntick 60\n\
     charge P1 by=amy/P/blue 1p 1s",
];

#[test]
fn scripts_that_differed_once_agree() {
    for script in FOUND {
        play(script).unwrap_or_else(|why| panic!("{script}\n\n{why}"));
    }
}

/// Plays a script as a failure prints it, and prints what each step does. `BANK_MODEL_SCRIPT` names a file with one.
pub(super) fn play(script: &str) -> Result<(), String> {
    let mut lines = script.lines().filter(|line| !line.is_empty());
    let site = lines.next().unwrap_or_default();
    let site = site.trim_start_matches("on a site with ");
    let site = site.trim_end_matches(':');
    let number = SITES.iter().position(|name| name.starts_with(site));
    let mut trio = Trio::new(number.expect("the first line names a site"));
    for line in lines {
        let before = trio.naive.written();
        let played = trio.step(line);
        let answer = trio.submitted.last().map(|s| s.answer.as_str());
        println!("{line}: {}", answer.unwrap_or_default());
        let jobs = trio.naive.shown().into_iter();
        let jobs = jobs.filter(|state| state.starts_with("job"));
        let journal = trio.naive.journal_from(before).into_iter();
        journal.chain(jobs).for_each(|line| println!("    {line}"));
        played?;
    }
    trio.at_the_end()
}

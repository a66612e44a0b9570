//! What is used of a limit, in minutes: from `scontrol -o show assoc_mgr flags=assoc`, where a limit is written
//! `cpu=1000(253)`, or from `sshare -P` with the column `GrpTRESRaw`.

use std::collections::BTreeMap;

use super::{Slurm, dump::Dump};
use crate::{
    fault::Fault,
    figure::Figure,
    table::{Table, decoded},
};

/// The remedy for a file in another form.
const AGAIN: &str = "make the file again: scontrol -o show assoc_mgr flags=assoc, or: sshare -a -P -o \
     Account,User,GrpTRESMins,GrpTRESRaw";

pub(super) fn read(
    name: &str,
    bytes: &[u8],
    slurm: &Slurm,
    dump: &Dump,
) -> Result<BTreeMap<String, Figure>, Fault> {
    let text = decoded(bytes).0;
    let used = if text.contains("Account=") && text.contains("GrpTRESMins=") {
        associations(name, &text, slurm, dump)?
    } else {
        shares(name, bytes, slurm)?
    };
    if used.is_empty() {
        let what = format!("{name}: no account with usage of {}", slurm.tres);
        return Err(Fault::new(what, AGAIN));
    }
    Ok(used)
}

/// Words of a line: `ClusterName=x Account=chem UserName= … GrpTRESMins=cpu=1000(253),mem=N(0)`. A record on
/// several lines (without `-o`) begins with `ClusterName`.
fn associations(
    name: &str,
    text: &str,
    slurm: &Slurm,
    dump: &Dump,
) -> Result<BTreeMap<String, Figure>, Fault> {
    let mut used = BTreeMap::new();
    let mut account = String::new();
    let (mut is_user, mut is_ours) = (false, true);
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else {
                continue;
            };
            match key {
                "ClusterName" => {
                    is_ours = value.eq_ignore_ascii_case(&dump.cluster);
                    account.clear();
                    is_user = false;
                }
                "Account" => value.clone_into(&mut account),
                // `UserName=` of an account, `UserName=amy(1000)` of a user.
                "UserName" => is_user = !value.is_empty() && value != "(null)",
                "GrpTRESMins" if is_ours && !is_user && !account.is_empty() => {
                    if let Some(own) = inside(value, &slurm.tres) {
                        let minutes = Figure::parse(own).filter(|own| !own.is_negative());
                        let bad = || {
                            Fault::new(
                                format!(
                                    "{name}:{number}: GrpTRESMins: usage {own:?} of {account} is not a number"
                                ),
                                AGAIN,
                            )
                        };
                        used.insert(account.clone(), minutes.ok_or_else(bad)?);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(used)
}

/// The number in parentheses of a resource: `253` of `cpu=1000(253)`.
fn inside<'a>(list: &'a str, tres: &str) -> Option<&'a str> {
    let mut pairs = list.split(',').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(own, _)| own.eq_ignore_ascii_case(tres))?;
    let (_, rest) = value.split_once('(')?;
    Some(rest.trim_end_matches(')'))
}

/// `sshare`: the raw usage of each resource in minutes, of the rows without a user.
fn shares(name: &str, bytes: &[u8], slurm: &Slurm) -> Result<BTreeMap<String, Figure>, Fault> {
    let table = Table::read(name, bytes)?;
    table.require(&["Account", "GrpTRESRaw"])?;
    let mut used = BTreeMap::new();
    for row in table.rows() {
        if !row.text("User").is_empty() {
            continue;
        }
        let account = row.need("Account")?;
        let list = row.text("GrpTRESRaw").split(',');
        let mut pairs = list.filter_map(|pair| pair.split_once('='));
        let own = pairs.find(|(own, _)| own.trim().eq_ignore_ascii_case(&slurm.tres));
        let text = own.map_or("0", |(_, value)| value.trim());
        let minutes = Figure::parse(text).filter(|own| !own.is_negative());
        let bad = || {
            let fault = row.fault("GrpTRESRaw", &format!("{text:?} is not a number"));
            fault.hint(AGAIN)
        };
        used.insert(account.to_owned(), minutes.ok_or_else(bad)?);
    }
    Ok(used)
}

//! Moab Accounting Manager: its lists as CSV, one file for each of `mam-list-users`, `-accounts`, `-funds`,
//! `-allocations`, `-liens`, `-usagerecords` and `-chargerates`. Its account is our project, its fund our
//! account.

mod money;
mod objects;
mod rates;

use std::collections::BTreeMap;

use crate::{Reading, fault::Fault, folder::Folder, old::Old, table::Table};

/// The lists, with the columns that each must have and those that are read beside them.
const LISTS: [(&str, &[&str], &[&str]); 8] = [
    (
        "users",
        &["Name"],
        &[
            "Active",
            "CommonName",
            "PhoneNumber",
            "EmailAddress",
            "DefaultAccount",
            "Organization",
            "Description",
            "Special",
        ],
    ),
    (
        "accounts",
        &["Name"],
        &["Active", "Users", "Organization", "Description", "Special"],
    ),
    (
        "machines",
        &["Name"],
        &[
            "Active",
            "Architecture",
            "OperatingSystem",
            "Description",
            "Special",
        ],
    ),
    (
        "funds",
        &["Id"],
        &[
            "Name",
            "Constraints",
            "Priority",
            "Allocated",
            "Amount",
            "Balance",
            "Reserved",
            "Effective",
            "CreditLimit",
            "Available",
            "DefaultDeposit",
            "Description",
            "Capacity",
            "Used",
            "PercentUsed",
            "PercentRemaining",
        ],
    ),
    (
        "allocations",
        &["Id", "Fund"],
        &[
            "Active",
            "StartTime",
            "EndTime",
            "InitialDeposit",
            "Allocated",
            "Deposited",
            "Amount",
            "Remaining",
            "CreditLimit",
            "PercentUsed",
            "Description",
        ],
    ),
    (
        "liens",
        &["Id", "Instance", "EndTime"],
        &[
            "Amount",
            "StartTime",
            "UsageRecord",
            "Funds",
            "Account",
            "User",
            "Machine",
            "Duration",
            "Description",
        ],
    ),
    (
        "usagerecords",
        &["Id", "Charge"],
        &[
            "Instance",
            "Type",
            "Stage",
            "User",
            "Group",
            "Account",
            "Organization",
            "Class",
            "QualityOfService",
            "Machine",
            "Nodes",
            "Processors",
            "Memory",
            "Duration",
            "StartTime",
            "EndTime",
            "CreationTime",
            "ModificationTime",
            "Description",
        ],
    ),
    (
        "chargerates",
        &["Name"],
        &["Type", "Value", "Instance", "Amount", "Rate", "Description"],
    ),
];

/// Words of MAM that are no names.
const SPECIAL: [&str; 5] = ["ANY", "NONE", "SELF", "MEMBERS", "ADMIN"];

/// The lists of a folder by their names.
type Lists = BTreeMap<&'static str, Table>;

pub(crate) fn folder(folder: &Folder, reading: &Reading) -> Result<Old, Fault> {
    let mut lists: Lists = BTreeMap::new();
    let mut old = Old::default();
    for file in &folder.names {
        let Some((name, needed, read)) = LISTS.iter().find(|(name, ..)| is_named(file, name))
        else {
            continue;
        };
        let table = Table::read(file, &folder.find(file)?.unwrap_or_default())?;
        table.require(needed)?;
        let others = table.others(&[*needed, *read].concat());
        if !others.is_empty() {
            old.notes.push(format!(
                "{file}: columns that are not read: {}",
                others.join(", ")
            ));
        }
        if let Some(first) = lists.insert(name, table) {
            return Err(Fault::new(
                format!("{} and {file} are both the list of {name}", first.name),
                "keep one of them in the folder",
            ));
        }
    }
    for name in ["funds", "allocations", "accounts", "users"] {
        if !lists.contains_key(name) {
            return Err(folder.missing(&format!("{name}.csv")).hint(format!(
                "make it with: mam-list-{name} --format csv > {name}.csv"
            )));
        }
    }
    for (name, is_needed) in [
        ("liens", reading.reservations),
        ("usagerecords", reading.history),
    ] {
        if is_needed && !lists.contains_key(name) {
            old.notes
                .push(format!("there is no list of {name}: none are moved"));
        }
    }
    old.has_rates = lists.contains_key("chargerates");
    objects::read(&lists, &mut old)?;
    money::read(&lists, reading, &mut old)?;
    if let Some(table) = lists.get("chargerates") {
        rates::read(table, &mut old)?;
    }
    for table in lists.values() {
        old.notes.extend(table.note_of_latin());
    }
    Ok(old)
}

/// `funds.csv`, `mam-list-funds.csv` or `MAM_List_Funds.csv`.
fn is_named(file: &str, name: &str) -> bool {
    let lower = file.to_lowercase();
    let Some(stem) = lower.strip_suffix(".csv") else {
        return false;
    };
    let letters: String = stem.chars().filter(char::is_ascii_alphanumeric).collect();
    letters == name || letters.strip_prefix("mamlist") == Some(name)
}

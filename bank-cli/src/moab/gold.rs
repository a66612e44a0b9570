//! A scheduler that speaks the Gold protocol to the bank's gateway (`gold-wire.md` 9, `nami.md` 8).

use bank_api::gold::{LONGEST_KEY, Unfit, check_key};

use super::config::{Config, manager_of};
use super::read::{Attribute, Block};
use super::{Facts, Report, Scheduler};

pub(super) fn check(config: &Config<'_>, _: &Facts, report: &mut Report) {
    server(config, report);
    keys(config, report);
}

fn server(config: &Config<'_>, report: &mut Report) {
    match config.get(&["SERVER"]) {
        Some(server) if config.server_scheme().as_deref() == Some("gold") => {
            let host = server.value.split_once("://").map_or("", |(_, rest)| rest);
            if host.split([':', '/']).next().is_none_or(str::is_empty) {
                report.add(
                    "server_without_host",
                    server.at,
                    format!("SERVER={} names no host", server.value),
                    config.line("SERVER=gold://HOST:7112"),
                );
            }
        }
        _ if config.get(&["HOST"]).is_some() => {}
        _ => report.add(
            "server_without_host",
            config.place(),
            "TYPE=GOLD without SERVER or HOST: the scheduler has no address of the bank",
            config.line("SERVER=gold://HOST:7112"),
        ),
    }
}

/// The keys of this manager: there must be one, and it must be usable.
fn keys(config: &Config<'_>, report: &mut Report) {
    let label = config.label();
    let head = format!("CLIENTCFG[AM:{label}]");
    for block in config
        .keys
        .iter()
        .filter(|block| manager_of(block) != Some(label))
    {
        report.add(
            "key_label",
            block.at,
            format!("this key is for another manager than [{label}]"),
            format!("{head}  …"),
        );
    }
    let own: Vec<_> = config
        .keys
        .iter()
        .filter(|block| manager_of(block) == Some(label))
        .collect();
    let named = |names: &[&str]| -> Vec<&Attribute<'_>> {
        let all = own.iter().flat_map(|block: &&Block<'_>| &block.attributes);
        let mut found: Vec<_> = all.collect();
        found.extend(config.attributes().filter(|a| a.name.starts_with("CS")));
        found.retain(|attribute| names.contains(&attribute.name.as_str()));
        found
    };
    let (secrets, kinds) = (named(&["KEY", "CSKEY"]), named(&["AUTHTYPE", "CSALGO"]));
    let (secret_name, kind_name) = match config.scheduler {
        Scheduler::Moab => ("KEY", "AUTHTYPE"),
        Scheduler::Maui => ("CSKEY", "CSALGO"),
    };
    let place = own.first().map_or(config.place(), |block| block.at);
    let example = format!("{head}  {secret_name}=<letters and digits> {kind_name}=HMAC64");
    if secrets.is_empty() {
        report.add(
            "key_missing",
            place,
            format!("no key for [{label}]: the bank rejects unsigned messages"),
            format!("{example}   (in the private file, mode 0600)"),
        );
        return;
    }
    for secret in &secrets {
        key(secret, &example, report);
    }
    match kinds.last() {
        None => report.add(
            "key_algorithm",
            place,
            format!("{kind_name} is not set: the signature is of a kind that the bank refuses"),
            format!("{head}  {kind_name}=HMAC64"),
        ),
        Some(kind) if !kind.value.eq_ignore_ascii_case("HMAC64") => report.add(
            "key_algorithm",
            kind.at,
            format!(
                "{}={}: the bank verifies HMAC64 only",
                kind.name, kind.value
            ),
            format!("{head}  {}=HMAC64", kind.name),
        ),
        Some(_) => {}
    }
}

/// One key; its text is never said.
fn key(secret: &Attribute<'_>, example: &str, report: &mut Report) {
    let length = secret.value.chars().count();
    if length == 0 {
        report.add("key_missing", secret.at, "the key is empty", example);
        return;
    }
    if length > LONGEST_KEY {
        report.add(
            "key_too_long",
            secret.at,
            format!(
                "the key has {length} characters; schedulers keep {LONGEST_KEY} of them, and no \
                 signature fits"
            ),
            example,
        );
    }
    if check_key(secret.value.as_bytes()) == Err(Unfit::Character) {
        report.add(
            "key_characters",
            secret.at,
            "the key contains a character that schedulers change when they read it: a blank, # \\ \" ', an = at \
             the beginning, or one outside of ASCII",
            example,
        );
    }
    if secret.at.file.is_open {
        report.add(
            "key_readable",
            secret.at,
            "others may read this file, and with it the key",
            format!("chmod 600 {}", secret.at.file.name),
        );
    }
}

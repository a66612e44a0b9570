//! The settings of a copy that runs beside its original: those of the original, without what acts outside of the copy.

use toml::{Table, Value};

use super::overlay;

/// The sections that listen, write files, or send something.
const OUTSIDE: [&str; 11] = [
    "auditor",
    "backup",
    "checkpoint",
    "cluster",
    "deliver",
    "file",
    "ggf",
    "gold",
    "scheduled_report",
    "sink",
    "web",
];
/// The beginning of the file.
const HEAD: &str = "\
# The settings of a copy (`bankd restore --rekey`): those of the original, without its listeners and without what it
# writes or sends. `bankd config show` prints all settings.

";

/// The settings of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The text of the file.
    pub text: String,
    /// What the original has and the copy has not: sections, and `http.listen`.
    pub off: Vec<String>,
}

/// Whether a section has any setting, also in a section below it.
fn is_set(value: &Value) -> bool {
    let table = value.as_table();
    table.is_none_or(|table| table.values().any(is_set))
}

/// The settings of a copy of a bank with these settings, which serves its own socket only.
///
/// # Errors
/// If the text is not TOML; `name` is its name there.
pub fn beside(text: &str, name: &str) -> Result<Beside, String> {
    let mut all: Table = toml::from_str(text).map_err(|e| overlay::located(name, text, &e))?;
    let gone = OUTSIDE.into_iter().filter(|section| {
        let value = all.remove(*section);
        value.as_ref().is_some_and(is_set)
    });
    let mut off: Vec<String> = gone.map(str::to_owned).collect();
    let http = all.entry("http").or_insert(Value::Table(Table::new()));
    if let Some(http) = http.as_table_mut() {
        http.remove("socket");
        let listen = http.insert("listen".to_owned(), Value::String(String::new()));
        off.extend(listen.map(|_| "http.listen".to_owned()));
    }
    // A section with defaults only needs no line.
    all.retain(|_, value| is_set(value));
    Ok(Beside {
        text: HEAD.to_owned() + &all.to_string(),
        off,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, SAMPLE};

    #[test]
    fn a_copy_keeps_the_rules_and_nothing_that_acts_outside() {
        let text = "[http]\nlisten = \"0.0.0.0:7113\"\nsocket = false\nbody_limit = 4096\n\
                    [backup]\nfolder = \"/backup\"\n[ledger]\nmode = \"fast\"\n[log]\n\
                    [[deliver]]\nname = \"mail\"\nby = \"folder\"\nfolder = \"/srv\"\n\
                    [[sink]]\nname = \"x\"\npath = \"/x\"\n";
        let made = beside(text, "bankd.toml").unwrap();
        assert_eq!(made.off, ["backup", "deliver", "sink", "http.listen"]);
        let config: Config = toml::from_str(&made.text).unwrap();
        config.check().unwrap();
        let mut expected = Config::default();
        expected.http.listen = String::new();
        expected.http.body_limit = 4096;
        expected.ledger.mode = toml::from_str::<Config>(text).unwrap().ledger.mode;
        assert_eq!(config, expected);
        assert_ne!(config.ledger.mode, Config::default().ledger.mode);
    }

    #[test]
    fn the_shipped_settings_have_nothing_to_switch_off() {
        for text in [SAMPLE, ""] {
            let made = beside(text, "bankd.toml").unwrap();
            assert_eq!(made.off, Vec::<String>::new());
            assert!(
                made.text.ends_with("[http]\nlisten = \"\"\n"),
                "{}",
                made.text
            );
        }
        let error = beside("[http\n", "bankd.toml").unwrap_err();
        assert!(error.starts_with("bankd.toml line 1: "), "{error}");
    }
}

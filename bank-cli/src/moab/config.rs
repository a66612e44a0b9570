//! A configuration as the rules look at it: the manager's attributes from all its lines, the keys,
//! and the few parameters of the scheduler that matter.

use super::Scheduler;
use super::read::{At, Attribute, Block, File, read};

/// A scheduler's configuration.
#[derive(Debug)]
pub(super) struct Config<'a> {
    pub(super) scheduler: Scheduler,
    /// The first line of its first file.
    pub(super) start: At<'a>,
    /// Every `AMCFG` line.
    pub(super) managers: Vec<Block<'a>>,
    /// Every `CLIENTCFG[AM:…]` line.
    pub(super) keys: Vec<Block<'a>>,
    /// All other lines.
    others: Vec<Block<'a>>,
    pub(super) includes: Vec<(String, At<'a>)>,
}

/// What may stand before the name of a manager in the label of a key.
const KEY_PREFIX: &str = "AM:";

impl<'a> Config<'a> {
    /// Reads the files as one; there is at least one.
    pub(super) fn read(scheduler: Scheduler, files: &'a [File]) -> Self {
        static EMPTY: std::sync::OnceLock<File> = std::sync::OnceLock::new();
        let first = files
            .first()
            .unwrap_or_else(|| EMPTY.get_or_init(File::default));
        let mut config = Self {
            scheduler,
            start: At {
                file: first,
                line: 1,
            },
            managers: Vec::new(),
            keys: Vec::new(),
            others: Vec::new(),
            includes: Vec::new(),
        };
        for file in files {
            let content = read(file);
            config.includes.extend(content.includes);
            for block in content.blocks {
                match block.parameter.as_str() {
                    "AMCFG" => config.managers.push(block),
                    "CLIENTCFG" if manager_of(&block).is_some() => config.keys.push(block),
                    _ => config.others.push(block),
                }
            }
        }
        config
    }

    /// The manager's name; `bank` where no line has one.
    pub(super) fn label(&self) -> &str {
        let mut labels = self
            .managers
            .iter()
            .filter_map(|block| block.label.as_deref());
        labels.next().unwrap_or("bank")
    }

    /// Every attribute of the manager, in the order of the files.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &Attribute<'a>> {
        self.managers.iter().flat_map(|block| &block.attributes)
    }

    /// The last attribute of a name, or of one of its other spellings.
    pub(super) fn get(&self, names: &[&str]) -> Option<&Attribute<'a>> {
        self.attributes()
            .filter(|attribute| names.contains(&attribute.name.as_str()))
            .last()
    }

    /// Where something that is missing belongs: the manager's first line.
    pub(super) fn place(&self) -> At<'a> {
        self.managers.first().map_or(self.start, |block| block.at)
    }

    /// The last line of a parameter without a label.
    pub(super) fn parameter(&self, name: &str) -> Option<&Block<'a>> {
        self.others
            .iter()
            .rev()
            .find(|block| block.parameter == name)
    }

    /// Every line of a parameter.
    pub(super) fn lines(&self, name: &str) -> impl Iterator<Item = &Block<'a>> {
        self.others
            .iter()
            .filter(move |block| block.parameter == name)
    }

    /// The line as it should be.
    pub(super) fn line(&self, setting: &str) -> String {
        format!("AMCFG[{}]  {setting}", self.label())
    }

    /// Whether it calls programs.
    pub(super) fn is_native(&self) -> bool {
        let by_type = self.get(&["TYPE"]);
        let is_native = by_type.is_some_and(|kind| kind.value.eq_ignore_ascii_case("NATIVE"));
        is_native || self.attributes().any(|a| a.name.ends_with("URL"))
    }

    /// Whether it speaks the Gold protocol.
    pub(super) fn is_gold(&self) -> bool {
        let by_type = self.get(&["TYPE"]);
        by_type.is_some_and(|kind| kind.value.eq_ignore_ascii_case("GOLD"))
            || self.server_scheme().is_some_and(|scheme| scheme == "gold")
    }

    /// What stands before `://` in SERVER, in small letters.
    pub(super) fn server_scheme(&self) -> Option<String> {
        let (scheme, _) = self.get(&["SERVER"])?.value.split_once("://")?;
        Some(scheme.to_ascii_lowercase())
    }
}

/// The manager that a key is for: `CLIENTCFG[AM:bank]`.
pub(super) fn manager_of<'b>(block: &'b Block<'_>) -> Option<&'b str> {
    let label = block.label.as_deref()?;
    let (prefix, name) = label.split_at_checked(KEY_PREFIX.len())?;
    prefix.eq_ignore_ascii_case(KEY_PREFIX).then_some(name)
}

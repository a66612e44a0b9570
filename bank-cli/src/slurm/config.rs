//! Slurm's settings: `Name=Value` lines of `slurm.conf`, or `Name = Value` of `scontrol show config`. Names in any
//! case, `#` begins a comment, a backslash at the end continues the line. The last value of a name counts.

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    name: String,
    pub(super) value: String,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Setting {
    /// The words of a list.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.value
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
    }

    /// Whether a list has a word, in any case.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words().any(|known| known.eq_ignore_ascii_case(word))
    }
}

/// A configuration.
#[derive(Debug, Default)]
pub(super) struct Config {
    settings: Vec<Setting>,
    /// Lines that include other files.
    pub(super) includes: Vec<usize>,
}

impl Config {
    pub(super) fn read(text: &str) -> Self {
        let mut config = Self::default();
        let mut whole = String::new();
        let mut first = 0;
        for (line, part) in (1..).zip(text.lines()) {
            let part = part.split('#').next().unwrap_or_default();
            if whole.is_empty() {
                first = line;
            }
            if let Some(begun) = part.trim_end().strip_suffix('\\') {
                whole.push_str(begun);
                whole.push(' ');
                continue;
            }
            whole.push_str(part);
            config.add(&std::mem::take(&mut whole), first);
        }
        config.add(&whole, first);
        config
    }

    fn add(&mut self, text: &str, line: usize) {
        let text = text.trim();
        let is_include = text
            .get(..8)
            .is_some_and(|word| word.eq_ignore_ascii_case("include "));
        if is_include {
            self.includes.push(line);
        }
        let Some((name, value)) = text.split_once('=') else {
            return;
        };
        self.settings.push(Setting {
            name: name.trim().to_owned(),
            value: value.trim().trim_matches('"').to_owned(),
            line,
        });
    }

    /// A setting that has a value.
    pub(super) fn get(&self, name: &str) -> Option<&Setting> {
        let named = |setting: &&Setting| setting.name.eq_ignore_ascii_case(name);
        let found = self.settings.iter().rfind(named)?;
        let is_none = matches!(found.value.as_str(), "" | "(null)" | "N/A");
        (!is_none).then_some(found)
    }
}

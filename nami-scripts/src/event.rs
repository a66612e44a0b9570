//! Which event this process is: by the name it was called by, or by `--event` (`nami.md` 2).

/// An event of the scheduler, or the draining of the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Quote,
    Create,
    Reserve,
    Charge,
    Delete,
    /// Sends what waits in the spool, and nothing else.
    Drain,
    /// An event whose name is known and which this version does not serve.
    Later(&'static str),
}

/// Every name, with what it means.
const NAMES: [(&str, Event); 14] = [
    ("quote", Event::Quote),
    ("create", Event::Create),
    ("reserve", Event::Reserve),
    ("charge", Event::Charge),
    ("delete", Event::Delete),
    ("drain", Event::Drain),
    ("start", Event::Later("start")),
    ("update", Event::Later("update")),
    ("continue", Event::Later("continue")),
    ("pause", Event::Later("pause")),
    ("resume", Event::Later("resume")),
    ("end", Event::Later("end")),
    ("query", Event::Later("query")),
    ("modify", Event::Later("modify")),
];

impl Event {
    /// An event by its bare name, such as `charge`; `bank.charge` is accepted too.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let name = name.strip_prefix("bank.").unwrap_or(name);
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, event)| *event)
    }

    /// The event of a program name: the last part of the path, `bank.` in front, a `.pl` or `.sh`
    /// at the end ignored, so that a manual's sample configuration works as it stands.
    pub(crate) fn of_program(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name
            .strip_suffix(".pl")
            .or_else(|| name.strip_suffix(".sh"))
            .unwrap_or(name);
        Self::parse(name.strip_prefix("bank.")?)
    }

    /// The bare name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Later(name) => name,
            known => NAMES
                .iter()
                .find(|(_, event)| *event == known)
                .map_or("", |(name, _)| name),
        }
    }

    /// Whether a document of this event that the bank did not accept is kept for later: the
    /// scheduler only logs its failure and never sends it again (decision 27).
    pub(crate) fn is_always_kept(self) -> bool {
        matches!(self, Self::Charge | Self::Delete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (path, event) in [
            ("/usr/libexec/bank/nami/bank.quote", Some(Event::Quote)),
            ("bank.charge.pl", Some(Event::Charge)),
            ("./bank.delete.sh", Some(Event::Delete)),
            ("bank.drain", Some(Event::Drain)),
            ("bank.end.pl", Some(Event::Later("end"))),
            ("bank.charge.py", None),
            ("nami-scripts", None),
            ("charge", None),
            ("", None),
        ] {
            assert_eq!(Event::of_program(path), event, "{path}");
        }
        assert_eq!(Event::parse("reserve"), Some(Event::Reserve));
        assert_eq!(Event::parse("bank.reserve"), Some(Event::Reserve));
        assert_eq!(Event::parse("Reserve"), None);
        for (name, event) in NAMES {
            assert_eq!(event.name(), name);
        }
    }
}

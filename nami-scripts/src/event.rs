//! Which event this process is: by the name it was called by, or by `--event` (`nami.md` 2).

/// An event of the scheduler, or the draining of the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Quote,
    Create,
    Reserve,
    Start,
    Charge,
    Update,
    Continue,
    Pause,
    Resume,
    End,
    Delete,
    Modify,
    /// Sends the documents in the spool, and nothing else.
    Drain,
    /// Moab's question about balances: its answer is written down nowhere, so that it has none.
    Query,
}

/// Every name with its event.
const NAMES: [(&str, Event); 14] = [
    ("quote", Event::Quote),
    ("create", Event::Create),
    ("reserve", Event::Reserve),
    ("charge", Event::Charge),
    ("delete", Event::Delete),
    ("drain", Event::Drain),
    ("start", Event::Start),
    ("update", Event::Update),
    ("continue", Event::Continue),
    ("pause", Event::Pause),
    ("resume", Event::Resume),
    ("end", Event::End),
    ("query", Event::Query),
    ("modify", Event::Modify),
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

    /// The event of a program name: the last part of the path. A leading `bank.` and a trailing
    /// `.pl` or `.sh` are ignored, so that a manual's sample configuration works unchanged.
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
        let known = NAMES.iter().find(|(_, event)| *event == self);
        known.map_or("", |(name, _)| name)
    }

    /// Whether a document of this event that the bank did not accept is kept for later: the
    /// scheduler only logs its failure and never sends it again (decisions.md 27).
    pub(crate) fn is_always_kept(self) -> bool {
        matches!(
            self,
            Self::Charge | Self::Update | Self::Pause | Self::End | Self::Delete
        )
    }

    /// Whether it bills, so that the same document within a short time is a repeat.
    pub(crate) fn charges(self) -> bool {
        matches!(self, Self::Charge | Self::Update | Self::Pause | Self::End)
    }

    /// Whether it places a lien: kept for later where the site lets jobs start during an outage.
    pub(crate) fn reserves(self) -> bool {
        matches!(
            self,
            Self::Reserve | Self::Start | Self::Continue | Self::Resume
        )
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
            ("bank.end.pl", Some(Event::End)),
            ("bank.query", Some(Event::Query)),
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

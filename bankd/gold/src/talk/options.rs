//! The options of a request about a job, `<Option name="NAME">VALUE</Option>`. Gold's own clients send
//! durations, times and modes as options; a scheduler sends them as fields of the job.
//!
//! An unknown option could change an amount, so it is refused. Only options that cannot change an amount
//! are left out, logged and counted (decisions.md 40).

use bank_core::time::{Seconds, Timestamp};
use bankd_nami::{self as nami, Document, DocumentError, ObjectKind};

use super::Fault;
use super::request::{Call, Verb, plain, unsupported};

/// Options that set a field of the job, in the format of the field.
const FIELDS: [&str; 4] = ["WallDuration", "ChargeDuration", "StartTime", "EndTime"];

/// Options about the words of an answer or of a record: none of them can change an amount.
const WORDS: [&str; 4] = ["Itemize", "ItemizedCharges", "ShowHours", "Verbose"];

/// The options of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub(super) struct Options {
    /// Seconds of the lien, the charge or the quote.
    wall: Option<Seconds>,
    /// Seconds to price, if they differ.
    priced: Option<Seconds>,
    /// Start of the lien or of the charged time.
    pub(super) start: Option<Timestamp>,
    /// End of the lien or of the charged time.
    pub(super) end: Option<Timestamp>,
    /// Whether a reserve replaces the older ones.
    pub(super) replaces: bool,
    /// Whether a charge keeps the rest of the lien; `None` without this option.
    pub(super) incremental: Option<bool>,
    /// Whether the price of a quote is guaranteed.
    pub(super) guarantee: bool,
    /// Whether a quote tests no balance.
    pub(super) cost_only: bool,
    /// What a charge bills, independent of the rates.
    pub(super) amount: Option<String>,
    /// Kept with the job.
    pub(super) description: Option<String>,
    /// Names of options that were left out.
    pub(super) ignored: Vec<String>,
    /// The request has options, so it is from one of Gold's own clients.
    pub(super) is_clients: bool,
}

impl Options {
    /// Reads the options of a request about a job.
    ///
    /// # Errors
    /// A repeated option, an invalid value, or an unknown option.
    pub(super) fn of(call: &Call, verb: Verb) -> Result<Options, Fault> {
        let mut options = Options {
            is_clients: !call.options.is_empty(),
            ..Options::default()
        };
        let mut fields = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &call.options {
            let name = name.as_str();
            if seen.contains(&name) {
                return Err(unusable(name, "given twice"));
            }
            seen.push(name);
            if FIELDS.contains(&name) && can_take(verb, name) {
                fields.push((name, value.as_str()));
            } else {
                options.read(verb, name, value)?;
            }
        }
        let times = nami::of_fields(ObjectKind::Job, fields.iter().copied())
            .map_err(|error| not_read(&error))?;
        for (name, value) in fields.iter().filter(|(name, _)| name.ends_with("Duration")) {
            if value.is_empty() {
                return Err(unusable(name, "is empty"));
            }
        }
        options.wall = times.wall_duration_s.map(Seconds);
        options.priced = times.charge_duration_s.map(Seconds);
        // A time of 0 is Gold's minus infinity: no time at all.
        options.start = times.start_time_s.map(Timestamp::from_seconds);
        options.end = times.end_time_s.map(Timestamp::from_seconds);
        if let (Some(start), Some(end)) = (options.start, options.end)
            && start >= end
        {
            return Err(unusable("EndTime", "is not after StartTime"));
        }
        if options.guarantee && options.cost_only {
            return Err(unusable("CostOnly", "excludes Guarantee"));
        }
        Ok(options)
    }

    /// An option that is no field.
    fn read(&mut self, verb: Verb, name: &str, value: &str) -> Result<(), Fault> {
        match (name, verb) {
            ("Replace", Verb::Reserve) => self.replaces = truth(name, value)?,
            ("Incremental", Verb::Charge) => self.incremental = Some(truth(name, value)?),
            ("Guarantee", Verb::Quote) => self.guarantee = truth(name, value)?,
            ("CostOnly", Verb::Quote) => self.cost_only = truth(name, value)?,
            ("Amount", Verb::Charge) => self.amount = Some(value.to_owned()),
            ("Description", _) => self.description = Some(value.to_owned()),
            // Any other value is about the share of another bank in the job.
            ("CallType", _) if value == "Normal" => {}
            // With `True` a request asks for its syntax only, and must not be carried out.
            ("ShowUsage", _) if value != "True" => {}
            (name, _) if WORDS.contains(&name) => self.ignored.push(name.to_owned()),
            (name, verb) => {
                let what = format!("option {} of {} Job", plain(name), verb.word());
                return Err(unsupported(&what));
            }
        }
        Ok(())
    }

    /// Duration of the lien, the charge or the quote, and duration of its price. An option takes precedence
    /// over the field of the job, which describes the job itself.
    /// `None` if there is no duration at all.
    pub(super) fn durations(&self, job: &Document) -> Option<(Seconds, Seconds)> {
        let own = job.wall_duration_s.map(Seconds);
        let wall = self.wall.or(own).or(self.priced);
        wall.map(|wall| (wall, self.priced.unwrap_or(wall)))
    }
}

/// Whether a verb accepts a field as an option. A quote is priced at the present time.
fn can_take(verb: Verb, name: &str) -> bool {
    verb != Verb::Quote || name.ends_with("Duration")
}

fn truth(name: &str, value: &str) -> Result<bool, Fault> {
    match value {
        "True" | "true" => Ok(true),
        "False" | "false" => Ok(false),
        _ => Err(unusable(name, "is not True or False")),
    }
}

fn unusable(name: &str, why: &str) -> Fault {
    Fault::new("bad_number", format!("option {} {why}", plain(name)))
}

/// Whatever is wrong with a field makes that field unusable, not the message's syntax.
pub(super) fn not_read(error: &DocumentError) -> Fault {
    Fault::new("bad_number", harmless(&error.message))
}

/// A message without characters that some client cannot read.
pub(super) fn harmless(message: &str) -> String {
    let safe = |c: char| c.is_ascii_graphic() && !"<>&\"'".contains(c) || c == ' ';
    message
        .chars()
        .map(|c| if safe(c) { c } else { '?' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verb: Verb, options: &[(&str, &str)]) -> Result<Options, String> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let call = Call {
            options: options.iter().map(own).collect(),
            ..Call::default()
        };
        Options::of(&call, verb).map_err(|fault| format!("{}: {}", fault.code, fault.message))
    }

    #[test]
    fn what_could_change_an_amount_is_never_left_out() {
        for (verb, name, value) in [
            (Verb::Reserve, "Nonsense", "1"),
            (Verb::Reserve, "Incremental", "True"),
            (Verb::Reserve, "Guarantee", "True"),
            (Verb::Reserve, "wallduration", "600"),
            (Verb::Reserve, "Id", "7"),
            (Verb::Reserve, "ShowUsage", "True"),
            (Verb::Charge, "Replace", "True"),
            (Verb::Charge, "CallType", "Back"),
            (Verb::Charge, "CallType", "Forward"),
            (Verb::Charge, "BackProject", "chem"),
            (Verb::Charge, "ForwardMachine", "m"),
            (Verb::Reserve, "Amount", "7"),
            (Verb::Quote, "Amount", "7"),
            (Verb::Quote, "StartTime", "1795216010"),
            (Verb::Quote, "EndTime", "1795216010"),
        ] {
            let refused = read(verb, &[("WallDuration", "600"), (name, value)]).unwrap_err();
            let expected = format!(
                "unsupported: option {name} of {} Job is not supported",
                verb.word()
            );
            assert_eq!(refused, expected);
        }
    }

    #[test]
    fn a_value_that_cannot_be_read_is_refused() {
        for (options, expected) in [
            (&[("WallDuration", "")][..], "option WallDuration is empty"),
            (&[("WallDuration", "1e3")], "WallDuration 1e3 is not"),
            (&[("WallDuration", "-4")], "WallDuration -4 is not"),
            (
                &[("WallDuration", "1"), ("WallDuration", "2")],
                "option WallDuration given twice",
            ),
            (&[("Replace", "yes")], "option Replace is not True or False"),
            (
                &[("StartTime", "20"), ("EndTime", "20")],
                "option EndTime is not after StartTime",
            ),
        ] {
            let refused = read(Verb::Reserve, options).unwrap_err();
            assert!(refused.starts_with("bad_number: "), "{refused}");
            assert!(refused.contains(expected), "{refused}");
        }
        let both = [("Guarantee", "True"), ("CostOnly", "True")];
        assert!(read(Verb::Quote, &both).is_err());
    }

    #[test]
    fn what_is_left_out_is_named() {
        let options = read(
            Verb::Charge,
            &[
                ("CallType", "Normal"),
                ("Itemize", "True"),
                ("Description", "d"),
            ],
        );
        let options = options.unwrap();
        assert_eq!(options.ignored, ["Itemize"]);
        assert_eq!(options.description.as_deref(), Some("d"));
        assert!(options.is_clients);
    }

    #[test]
    fn an_option_goes_before_the_field_of_the_job() {
        let job = |fields: &[(&'static str, &'static str)]| {
            nami::of_fields(ObjectKind::Job, fields.iter().copied()).unwrap()
        };
        for (options, fields, expected) in [
            (&[("WallDuration", "600")][..], &[][..], Some((600, 600))),
            (&[], &[("WallDuration", "900")], Some((900, 900))),
            (
                &[("WallDuration", "600")],
                &[("WallDuration", "900")],
                Some((600, 600)),
            ),
            (
                &[("ChargeDuration", "30")],
                &[("WallDuration", "900")],
                Some((900, 30)),
            ),
            (&[("ChargeDuration", "30")], &[], Some((30, 30))),
            (&[("StartTime", "10"), ("EndTime", "20")], &[], None),
            (&[("WallDuration", "0")], &[], Some((0, 0))),
        ] {
            let options = read(Verb::Charge, options).unwrap();
            let durations = options.durations(&job(fields));
            let expected = expected.map(|(a, b)| (Seconds(a), Seconds(b)));
            assert_eq!(durations, expected, "{options:?}");
        }
    }
}

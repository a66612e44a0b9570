//! The usage of a job or reservation, as the price engine sees it: properties with values.

pub mod kept;
pub mod text;

use crate::decimal::Decimal;
use crate::exact::Fraction;
use crate::time::{Seconds, Timestamp};

/// Most attributes of one document.
pub const ATTRIBUTES_MAX: usize = 64;
/// Longest name of an attribute, in bytes.
pub const ATTRIBUTE_NAME_MAX: usize = 64;
/// Longest value of an attribute, in bytes.
pub const ATTRIBUTE_VALUE_MAX: usize = 1024;

/// Adds a number of a generic resource. Equal names, in any spelling, are added up (nami.md 3.1); none if the sum is too
/// great.
pub fn add_resource(all: &mut Vec<(String, Decimal)>, name: String, number: Decimal) -> Option<()> {
    match all
        .iter_mut()
        .find(|(own, _)| own.eq_ignore_ascii_case(&name))
    {
        Some((_, sum)) => {
            let sums = sum.billionths().checked_add(number.billionths())?;
            *sum = Decimal::from_billionths(sums);
        }
        None => all.push((name, number)),
    }
    Some(())
}

/// Measured or requested usage of one document, without its duration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processors; none if the document has none.
    pub processors: Option<Decimal>,
    /// Nodes.
    pub nodes: Option<Decimal>,
    /// Memory in MB.
    pub memory_mb: Option<Decimal>,
    /// Disk in MB.
    pub disk_mb: Option<Decimal>,
    /// Generic resources by name (nami.md 3.1).
    pub gres: Vec<(String, Decimal)>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Class or queue.
    pub class: Option<String>,
    /// Other usage attributes, as text; those that read as a decimal count as numbers too.
    pub attributes: Vec<(String, String)>,
    /// The quantity that rates by `Processors` count over time, if a charge policy sets it (nami.md 4.3).
    pub counted: Option<Fraction>,
    /// The processor-seconds that count in place of the processors over the time of the charge: the idle part of a
    /// reservation, or a change of it.
    pub idle: Option<IdleTime>,
}

/// Idle processor-seconds of a reservation that a charge adds, or that a correction adds or takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTime {
    /// Processor-seconds, in billionths; below zero if jobs used more than was known before.
    pub processor_seconds: i128,
    /// From when, until when (exclusive); none for the time of the charge.
    pub span: Option<(Timestamp, Timestamp)>,
}

impl Usage {
    /// Whether its attributes are bounded: at most 64, each with a name of 1 to 64 bytes and a value
    /// of at most 1024, without control characters.
    pub fn is_bounded(&self) -> bool {
        let plain =
            |text: &str, most: usize| text.len() <= most && !text.chars().any(char::is_control);
        let fits = |(name, value): &(String, String)| {
            !name.is_empty() && plain(name, ATTRIBUTE_NAME_MAX) && plain(value, ATTRIBUTE_VALUE_MAX)
        };
        self.attributes.len() <= ATTRIBUTES_MAX && self.attributes.iter().all(fits)
    }

    /// GPUs.
    pub fn gpus(&self) -> Option<Decimal> {
        let own = |(name, _): &&(String, Decimal)| name.eq_ignore_ascii_case("gpu");
        self.gres.iter().find(own).map(|(_, number)| *number)
    }

    /// The factor `ConsumptionRate` (ledger.md 3.1): 1 where it is absent, empty or 0.
    pub fn consumption(&self) -> Decimal {
        let given = self.attribute("ConsumptionRate").and_then(Decimal::parse);
        let given = given.filter(|rate| *rate != Decimal::ZERO);
        given.unwrap_or(Decimal::whole(1))
    }

    /// Processor-seconds over a time, in billionths: the idle part of a reservation, or what a charge policy counts,
    /// else the processors weighted with [`Usage::consumption`]. A time below zero takes them back.
    pub fn processor_seconds(&self, time: Seconds) -> i128 {
        if let Some(idle) = self.idle {
            return if time.0 < 0 {
                idle.processor_seconds.saturating_neg()
            } else {
                idle.processor_seconds
            };
        }
        let by_policy = self.counted.and_then(Fraction::billionths);
        let own = || {
            let processors = self.processors.unwrap_or(Decimal::ZERO).billionths();
            let weighted = processors.saturating_mul(self.consumption().billionths());
            weighted.checked_div(1_000_000_000).unwrap_or(0)
        };
        by_policy
            .unwrap_or_else(own)
            .saturating_mul(i128::from(time.0))
    }

    /// The processors, nodes, memory, disk and generic resources of another usage instead of its own.
    pub fn take_quantities(&mut self, other: Usage) {
        self.processors = other.processors;
        self.nodes = other.nodes;
        self.memory_mb = other.memory_mb;
        self.disk_mb = other.disk_mb;
        self.gres = other.gres;
    }

    /// The usage of the idle part of a reservation: its idle processors, in billionths. The other quantities count in
    /// the same proportion; those of a reservation without processors count whole. None if it exceeds exact
    /// arithmetic.
    #[must_use]
    pub fn idle_part(self, processors: i128, idle: i128) -> Option<Usage> {
        if processors == 0 {
            return Some(self);
        }
        let share = |value: Decimal| {
            let whole = Fraction::new(value.billionths(), 1)?;
            let part = whole.times(Fraction::new(idle, processors)?)?;
            let part = part.numerator().checked_div(part.denominator())?;
            Some(Decimal::from_billionths(part))
        };
        let shared = |value: Option<Decimal>| value.map_or(Some(None), |own| share(own).map(Some));
        let gres = self.gres.iter();
        let gres = gres.map(|(name, value)| Some((name.clone(), share(*value)?)));
        Some(Usage {
            processors: Some(Decimal::from_billionths(idle)),
            nodes: shared(self.nodes)?,
            memory_mb: shared(self.memory_mb)?,
            disk_mb: shared(self.disk_mb)?,
            gres: gres.collect::<Option<_>>()?,
            ..self
        })
    }

    /// The value of a number property by its rate name, matched without case.
    pub fn number(&self, name: &str) -> Option<Decimal> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("Processors") {
            return self.processors;
        }
        if is("Nodes") {
            return self.nodes;
        }
        if is("Memory") {
            return self.memory_mb;
        }
        if is("Disk") {
            return self.disk_mb;
        }
        let by_gres = self.gres.iter().find(|(n, _)| is(n)).map(|(_, v)| *v);
        by_gres.or_else(|| self.attribute(name).and_then(Decimal::parse))
    }

    /// The value that a rate of this name counts: [`Usage::number`], but one processor if a charge policy counts
    /// a use that states none, or 0 (nami.md 4.3). A use of which the policy counts nothing has what it states.
    pub fn rated(&self, name: &str) -> Option<Decimal> {
        let own = self.number(name);
        let is_counted = self.counted.is_some_and(|of| of.numerator() > 0);
        if is_counted && name.eq_ignore_ascii_case("Processors") {
            return own
                .filter(|own| *own > Decimal::ZERO)
                .or(Some(Decimal::whole(1)));
        }
        own
    }

    /// The value of a text property by its rate name, matched without case.
    pub fn text(&self, name: &str) -> Option<&str> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("QualityOfService") || is("QOS") {
            return self.qos.as_deref();
        }
        if is("Class") || is("Queue") {
            return self.class.as_deref();
        }
        self.attribute(name)
    }

    /// Fills what this document does not state from an earlier one of the same instance
    /// (nami.md 3.1: processors absent are taken from the instance's last document).
    pub fn complete_from(&mut self, earlier: &Usage) {
        self.processors = self.processors.or(earlier.processors);
        self.nodes = self.nodes.or(earlier.nodes);
        self.memory_mb = self.memory_mb.or(earlier.memory_mb);
        self.disk_mb = self.disk_mb.or(earlier.disk_mb);
        if self.qos.is_none() {
            self.qos.clone_from(&earlier.qos);
        }
        if self.class.is_none() {
            self.class.clone_from(&earlier.class);
        }
        if self.gres.is_empty() {
            self.gres.clone_from(&earlier.gres);
        }
        for (name, value) in &earlier.attributes {
            if self.attribute(name).is_none() && self.attributes.len() < ATTRIBUTES_MAX {
                self.attributes.push((name.clone(), value.clone()));
            }
        }
    }

    /// Whether any quantity is below zero.
    pub fn has_negative(&self) -> bool {
        let own = [self.processors, self.nodes, self.memory_mb, self.disk_mb];
        let own = own.into_iter().flatten();
        own.chain(self.gres.iter().map(|(_, v)| *v))
            .any(Decimal::is_negative)
            || self
                .attributes
                .iter()
                .any(|(_, v)| Decimal::parse(v).is_some_and(Decimal::is_negative))
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self
            .attributes
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, v)| v.as_str())
    }
}

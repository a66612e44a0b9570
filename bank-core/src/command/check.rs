//! Checks of a request or a report by itself, independent of the state of the bank.

use super::{Request, UsageReport};
use crate::ids::{BOUNDED_RULE, NAME_BYTES_MAX, check_name};
use crate::refusal::Refusal;
use crate::time::{Seconds, TEN_YEARS_S};

impl UsageReport {
    /// That it is a record at all. Whether its times have passed is asked with the clock.
    ///
    /// # Errors
    /// A name, id, attribute, duration or quantity out of its bounds.
    pub fn check(&self) -> Result<(), Refusal> {
        let request = &self.request;
        check_name(&self.source)?;
        request.check_object()?;
        let names = [&request.whose.project, &request.whose.user];
        let names = names.into_iter().flatten();
        let others = [&request.whose.machine, &request.facts.group, &self.pi];
        for name in names.chain(others) {
            if name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
                return Err(Refusal::bad_name(name, BOUNDED_RULE));
            }
        }
        if !request.facts.usage.is_bounded() {
            return Err(Refusal::bad_value(
                "attributes",
                "at most 64, without control characters",
            ));
        }
        if let Some(requested) = request.facts.wall {
            check_duration(requested)?;
        }
        if self.figures.has_negative() {
            return Err(Refusal::NegativeCharge);
        }
        Ok(())
    }
}

impl Request {
    /// Ids that leave the system are text up to 256 bytes without control characters (style 2.8).
    pub(crate) fn check_object(&self) -> Result<(), Refusal> {
        let id = &self.object_id;
        if id.is_empty() {
            return Err(Refusal::MissingField {
                field: "id of the job or reservation",
            });
        }
        if id.len() > NAME_BYTES_MAX || id.chars().any(char::is_control) {
            return Err(Refusal::bad_name(id, BOUNDED_RULE));
        }
        if self.facts.usage.has_negative() {
            return Err(Refusal::NegativeCharge);
        }
        Ok(())
    }
}

/// A duration within its bounds: 0 to ten years (nami.md 3.2).
pub(crate) fn check_duration(duration: Seconds) -> Result<Seconds, Refusal> {
    if (0..=TEN_YEARS_S).contains(&duration.0) {
        Ok(duration)
    } else {
        Err(Refusal::BadDuration)
    }
}

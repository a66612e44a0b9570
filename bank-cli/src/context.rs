//! What a command needs to run: the daemon, the form of the output, and the time.
//!
//! The commands of `bank` and those by Gold's names use it to read, to write with an idempotency key, and
//! to read times that are typed.

use std::cell::RefCell;

use bank_api::v1::{List, Paged, PastQuery};
use bank_picture::Zone;
use serde::{Serialize, de::DeserializeOwned};
use ureq::http::Method;

use crate::{
    cli::{AtArgs, RecentArgs, WriteArgs},
    client::{self, Call, Client},
    fail::Failure,
    file::Fresh,
    out::Form,
    period, when,
};

/// What a command needs: the daemon, the form of the output, and the time.
#[derive(Debug)]
pub(crate) struct Context {
    /// The way to the daemon.
    pub(crate) client: Client,
    /// How to print.
    pub(crate) form: Form,
    /// Print nothing on success.
    pub(crate) quiet: bool,
    /// The project of the settings.
    pub(crate) project: Option<String>,
    /// Now, µs since 1970 UTC.
    pub(crate) now_us: i64,
    /// Zone of times typed and shown.
    pub(crate) zone: Zone,
    /// Where the answer goes; none for standard output.
    pub(crate) file: Option<RefCell<Fresh>>,
}

impl Context {
    /// Puts out a piece of an answer, into the file where one is wanted. False where nobody reads any more.
    pub(crate) fn print(&self, text: &str) -> Result<bool, Failure> {
        match &self.file {
            Some(file) => file.borrow_mut().put(text).map(|()| true),
            None if self.quiet => Ok(true),
            None => crate::print(text),
        }
    }

    /// Reads an object or a list.
    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
    ) -> Result<T, Failure> {
        let target = client::path(segments) + &client::query(query);
        Ok(self.client.call(&Call::get(target))?)
    }

    /// Reads a list to its end, page by page.
    pub(crate) fn all<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
    ) -> Result<List<T>, Failure> {
        Ok(self.client.all(segments, query)?)
    }

    /// Reads rows with their sums to the end, page by page.
    pub(crate) fn whole<T: DeserializeOwned + Paged>(
        &self,
        segments: &[&str],
        query: &impl Serialize,
    ) -> Result<T, Failure> {
        Ok(self.client.whole(segments, query)?)
    }

    /// Sends a change.
    pub(crate) fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        body: &impl Serialize,
        write: &WriteArgs,
    ) -> Result<T, Failure> {
        self.form.of_change()?;
        let key = Some(key(write)?);
        let call = Call::send(method, target(segments, write), body, key)?;
        Ok(self.client.call(&call)?)
    }

    /// When something is looked at, as the API takes it.
    pub(crate) fn past(&self, then: &AtArgs) -> Result<PastQuery, Failure> {
        Ok(PastQuery {
            at: self.time(then.at.as_ref())?,
            recorded: then.recorded,
        })
    }

    /// A time argument as the daemon takes it.
    pub(crate) fn time(&self, argument: Option<&String>) -> Result<Option<String>, Failure> {
        argument
            .map(|text| when::argument(text, self.now_us, self.zone))
            .transpose()
    }

    /// Likewise; a date stays one, and a month is its first, for the daemon to begin it in the zone that it
    /// is asked for. Where that has a name, so does the time of day that its clocks show.
    pub(crate) fn time_or_date(
        &self,
        argument: Option<&String>,
        is_named: bool,
    ) -> Result<Option<String>, Failure> {
        match argument.map(String::as_str) {
            Some("today") => Ok(Some(self.zone.day(self.now_us))),
            Some(text) if period::is_date(text) => Ok(Some(text.to_owned())),
            Some(text) if period::month(text, self.zone).is_ok() => Ok(Some(format!("{text}-01"))),
            Some(text) if is_named => {
                when::wall(text).map_or_else(|| self.bounded(argument), |wall| Ok(Some(wall)))
            }
            _ => self.bounded(argument),
        }
    }

    /// A time argument that must be a time.
    pub(crate) fn bounded(&self, argument: Option<&String>) -> Result<Option<String>, Failure> {
        argument
            .map(|text| when::bounded(text, self.now_us, self.zone))
            .transpose()
    }

    /// Start and end of a time of reports that look back from now; absent is the daemon's default.
    pub(crate) fn span(
        &self,
        args: &RecentArgs,
    ) -> Result<(Option<String>, Option<String>), Failure> {
        if let Some((_, named)) = period::named(&args.named, self.zone)? {
            return Ok((Some(named.from), Some(named.until)));
        }
        let bounds = (args.from.as_ref(), args.to.as_ref());
        Ok((self.bounded(bounds.0)?, self.bounded(bounds.1)?))
    }

    /// The same of reports that have a zone: its dates, where one is named.
    pub(crate) fn span_in(
        &self,
        args: &RecentArgs,
        tz: Option<&String>,
    ) -> Result<(Option<String>, Option<String>), Failure> {
        if tz.is_none() {
            return self.span(args);
        }
        if let Some((named, _)) = period::named(&args.named, self.zone)? {
            let (from, until) = period::dates(named)?;
            return Ok((Some(from), Some(until)));
        }
        let bounds = (args.from.as_ref(), args.to.as_ref());
        Ok((
            self.time_or_date(bounds.0, true)?,
            self.time_or_date(bounds.1, true)?,
        ))
    }
}

/// The idempotency key: the one of the command line, else a new one.
pub(crate) fn key(write: &WriteArgs) -> Result<String, Failure> {
    match &write.key {
        Some(key) => Ok(key.clone()),
        None => Ok(client::new_key()?),
    }
}

/// Path and query of a change.
fn target(segments: &[&str], write: &WriteArgs) -> String {
    client::path(segments)
        + &client::query(&bank_api::v1::WriteQuery {
            dry_run: write.dry_run,
        })
}

/// A context of tests: a daemon that is never asked, one hour east of Greenwich.
#[cfg(test)]
pub(crate) fn test_context() -> Context {
    let form = crate::out::test_form();
    Context {
        client: client::new(&crate::config::Settings::default()).unwrap(),
        zone: form.zone,
        form,
        quiet: false,
        project: None,
        now_us: 0,
        file: None,
    }
}

//! One call of a tool: the way to the daemon, the options, and the texts to print.

use super::{
    clock::Clock,
    options::Given,
    request::Request,
    response::{Response, Row},
    table::Style,
};

/// The exit code of an internal error: Gold's code 720.
const INTERNAL: u8 = 72;
/// The most rows of one answer.
pub(super) const PAGE_ROWS: usize = 10_000;

/// The way to the daemon.
pub trait Link {
    /// Sends the XML of a request and returns the XML of the response.
    ///
    /// # Errors
    /// The daemon did not answer, or did not accept the caller.
    fn send(&self, request: &str) -> Result<String, Broken>;

    /// The present, in µs since 1970 UTC.
    fn now_us(&self) -> i64;
}

/// Why there is no response.
#[derive(Debug)]
pub struct Broken {
    /// For standard error.
    pub line: String,
    /// The exit code.
    pub exit: u8,
}

/// Why a tool ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The daemon did not answer, or its answer is no response.
    Failed(Box<Broken>),
    /// The command line is wrong; the text is the first line of the message.
    Usage(Option<String>),
    /// The reason is printed already.
    Exit(u8),
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Self::Failed(Box::new(broken))
    }
}

/// A text for one of the two streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Standard output.
    Out(String),
    /// Standard error.
    Error(String),
}

/// One call of a tool.
pub struct Session<'a> {
    link: &'a dyn Link,
    /// The login name of the caller.
    pub(super) login: String,
    pub(super) clock: Clock,
    /// The project of the settings.
    pub project: Option<String>,
    /// The options.
    pub given: Given,
    /// The account that was looked up last: its name and number.
    account: Option<(String, String)>,
    /// Texts to print, in order.
    pub pieces: Vec<Piece>,
}

impl<'a> Session<'a> {
    pub fn new(link: &'a dyn Link, login: String, clock: Clock, given: Given) -> Self {
        Self {
            link,
            login,
            clock,
            project: None,
            given,
            account: None,
            pieces: Vec::new(),
        }
    }

    /// The present, in µs since 1970 UTC.
    pub(super) fn now_us(&self) -> i64 {
        self.link.now_us()
    }

    /// Prints to standard output.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.pieces.push(Piece::Out(text.into()));
    }

    /// Prints a line to standard error.
    pub(super) fn complain(&mut self, line: &str) {
        self.pieces.push(Piece::Error(format!("{line}\n")));
    }

    /// Sends a request and reads the response.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Response, Stop> {
        let request = request.xml(&self.login, &self.clock);
        if self.given.flag("debug") {
            self.complain(&request);
        }
        let answer = self.link.send(&request)?;
        if self.given.flag("debug") {
            self.complain(&answer);
        }
        Response::read(&answer).map_err(|why| {
            Stop::from(Broken {
                line: format!("cannot read the response of the daemon: {why}"),
                exit: INTERNAL,
            })
        })
    }

    /// Sends a query and reads all rows, page by page.
    pub(super) fn query(&mut self, request: &Request) -> Result<Response, Stop> {
        let mut whole = self.ask(request)?;
        if request.has_option("Limit") || request.has_option("Offset") {
            return Ok(whole);
        }
        let mut last = whole.rows.len();
        while last == PAGE_ROWS && !whole.is_failure {
            let offset = whole.rows.len().to_string();
            let next = request.clone();
            let next = next.option("Limit", &PAGE_ROWS.to_string());
            let page = self.ask(&next.option("Offset", &offset))?;
            if page.is_failure {
                return Ok(page);
            }
            last = page.rows.len();
            whole.rows.extend(page.rows);
        }
        Ok(whole)
    }

    /// A query whose failure ends the tool.
    pub(super) fn rows(&mut self, request: &Request) -> Result<Vec<Row>, Stop> {
        let response = self.query(request)?;
        if response.is_failure {
            let line = format!("Aborting {}: {}", self.given.name(), response.message);
            self.complain(&line);
            return Err(Stop::Exit(response.exit()));
        }
        Ok(response.rows)
    }

    /// How tables are printed.
    pub(super) fn style(&self) -> Style {
        Style {
            is_raw: self.given.flag("raw"),
            is_quiet: self.given.flag("quiet"),
            is_hours: self.given.flag("hours"),
            clock: self.clock,
        }
    }

    /// Prints rows.
    pub(super) fn print(&mut self, rows: &[Row]) {
        let table = self.style().table(rows);
        self.say(table);
    }

    /// Prints a response: its rows if wanted, then its message.
    pub(super) fn show(&mut self, response: &Response, with_rows: bool) {
        if with_rows {
            self.print(&response.rows);
        }
        let message = &response.message;
        if message.is_empty() {
            return;
        }
        let message = bank_picture::printable::printable_lines(message);
        if response.is_failure {
            self.complain(&message);
        } else if !self.given.flag("quiet") {
            self.say(message + "\n");
        }
    }

    /// Sends a change and prints the response. Returns the exit code.
    pub(super) fn change(&mut self, request: &Request) -> Result<Response, Stop> {
        let response = self.ask(request)?;
        self.show(&response, self.given.flag("verbose"));
        Ok(response)
    }

    /// The number of an account that is given by number or name.
    pub(super) fn account(&mut self, text: &str) -> Result<String, Stop> {
        if text.parse::<i64>().is_ok() {
            return Ok(text.to_owned());
        }
        if let Some((_, id)) = self.account.as_ref().filter(|(name, _)| name == text) {
            return Ok(id.clone());
        }
        let request = Request::new("Query", "Account")
            .get("Id")
            .filter("Name", text);
        let response = self.query(&request)?;
        if response.is_failure {
            self.show(&response, false);
            return Err(Stop::Exit(response.exit()));
        }
        match response.first("Id").map(str::to_owned) {
            Some(id) => {
                self.account = Some((text.to_owned(), id.clone()));
                Ok(id)
            }
            None => Err(self.refuse(&format!("The specified account ({text}) does not exist."))),
        }
    }

    /// The number of the account of the option `account`, if it is given.
    pub(super) fn given_account(&mut self) -> Result<Option<String>, Stop> {
        let Some(text) = self.given.value("account").map(str::to_owned) else {
            return Ok(None);
        };
        self.account(&text).map(Some)
    }

    /// A refusal of this program: exit 74.
    pub(super) fn refuse(&mut self, line: &str) -> Stop {
        self.complain(line);
        Stop::Exit(74)
    }

    /// The project, the user and the machine that were given.
    pub(super) fn scope(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("Project", "project"),
            ("User", "user"),
            ("Machine", "machine"),
        ];
        let given = |(name, option): (&'static str, &str)| {
            let value = self.given.text(option)?;
            Some((name, value.to_owned()))
        };
        all.into_iter().filter_map(given).collect()
    }
}

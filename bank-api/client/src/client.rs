//! A client: its servers in order, its limits, and calls.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bank_api::v1::{List, Paged};
use serde::{Serialize, de::DeserializeOwned};
use ureq::{http::Method, tls::RootCerts};

use crate::{
    address::{self, Address},
    call::Call,
    clock::Stopwatch,
    error::Error,
    node::{Failed, Limits, Node, Reply, Shared},
    path::{after, path, query, viewed_as},
    retry::Retry,
    secret::Signer,
    tls,
};

/// Default address of the daemon.
pub const DEFAULT_SERVER: &str = "unix:/var/lib/bankd/bankd.sock";
/// Default time limit of one attempt; the daemon answers within milliseconds or with 503.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Default time limit of a connection, after which the next server is tried.
const CONNECT: Duration = Duration::from_secs(5);

/// Settings of a [`Client`].
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    servers: Vec<String>,
    key_id: Option<String>,
    key_file: Option<PathBuf>,
    token: Option<String>,
    authorities: Option<PathBuf>,
    timeout: Duration,
    connect: Duration,
    retry: Retry,
    user_agent: &'static str,
    warn: Option<fn(&str)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            servers: vec![DEFAULT_SERVER.to_owned()],
            key_id: None,
            key_file: None,
            token: None,
            authorities: None,
            timeout: TIMEOUT,
            connect: CONNECT,
            retry: Retry::default(),
            user_agent: concat!("bank-client/", env!("CARGO_PKG_VERSION")),
            warn: None,
        }
    }
}

impl Builder {
    /// Addresses of the nodes of one bank, in the order of trying: `unix:/path`, `http://host:port` or
    /// `https://host:port`. At most 16. Default: [`DEFAULT_SERVER`].
    pub fn servers<S: Into<String>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.servers = servers.into_iter().map(Into::into).collect();
        self
    }

    /// The id of the signing key and the file with its secret. Requests over TCP are signed with it.
    pub fn key(self, id: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        self.key_settings(Some(id.into()), Some(file.into()))
    }

    /// The same from settings that may be absent. One without the other is an error if a request is signed.
    pub fn key_settings(mut self, id: Option<String>, file: Option<PathBuf>) -> Self {
        (self.key_id, self.key_file) = (id, file);
        self
    }

    /// An API token, sent in place of a signature. It is sent over sockets, TLS and to this host only.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// A file in PEM form with the certificate authorities of https servers. Default: the public ones.
    pub fn authorities(mut self, file: impl Into<PathBuf>) -> Self {
        self.authorities = Some(file.into());
        self
    }

    /// Time limit of one attempt at one server. Default: 30 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Time limit of a connection, after which the next server is tried. Default: 5 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect = timeout;
        self
    }

    /// Limits of repeated calls.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Name and version of the calling program, for the daemon's log.
    pub fn user_agent(mut self, name: &'static str) -> Self {
        self.user_agent = name;
        self
    }

    /// A function that receives warnings, such as about clocks that differ. Default: warnings are dropped.
    pub fn warn(mut self, warn: fn(&str)) -> Self {
        self.warn = Some(warn);
        self
    }

    /// The key. On sockets, and with a token, nothing is signed: no file is read.
    fn signer(&self) -> Result<Option<Signer>, Error> {
        let is_tcp = |server: &String| !matches!(Address::parse(server), Ok(Address::Socket(_)));
        if self.token.is_some() || !self.servers.iter().any(is_tcp) {
            return Ok(None);
        }
        match (&self.key_id, &self.key_file) {
            (None, None) => Ok(None),
            (Some(id), Some(file)) => Signer::new(id, file).map(Some),
            (Some(_), None) => Err(Error::settings("key_id is set, but key_file is not")),
            (None, Some(_)) => Err(Error::settings("key_file is set, but key_id is not")),
        }
    }

    /// The client. It reads the files of keys and certificates and connects to no server.
    ///
    /// # Errors
    /// [`Error::Settings`] for an address or file, [`Error::Key`] for the file of the key.
    pub fn build(self) -> Result<Client, Error> {
        address::counted(&self.servers)?;
        let signer = self.signer()?;
        let roots = match &self.authorities {
            None => RootCerts::WebPki,
            Some(file) => RootCerts::Specific(Arc::new(tls::certificates(file)?)),
        };
        let limits = Limits {
            timeout: self.timeout,
            connect: self.connect.min(self.timeout),
            roots,
            user_agent: self.user_agent,
        };
        let shared = Arc::new(Shared {
            signer,
            token: self.token,
            warn: self.warn,
        });
        let node = |server: &String| Node::new(server, &limits, &shared);
        let nodes: Result<Vec<Node>, Error> = self.servers.iter().map(node).collect();
        Ok(Client {
            nodes: nodes?,
            current: AtomicUsize::new(0),
            retry: self.retry,
            view_as: None,
        })
    }
}

/// A way to the bank. No connection is made before the first call.
#[derive(Debug)]
pub struct Client {
    /// At least one.
    nodes: Vec<Node>,
    /// The server that answered last.
    current: AtomicUsize,
    retry: Retry,
    view_as: Option<String>,
}

impl Client {
    /// Settings of a new client.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A client of one server with the default limits, without a key.
    ///
    /// # Errors
    /// [`Error::Settings`] if the address cannot be used.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), bank_client::Error> {
    /// let client = bank_client::Client::connect("unix:/var/lib/bankd/bankd.sock")?;
    /// println!("{}", client.server());
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(server: &str) -> Result<Self, Error> {
        Self::builder().servers([server]).build()
    }

    /// The server that answered last; before the first answer the first one.
    pub fn server(&self) -> &str {
        let current = self.current.load(Ordering::Relaxed);
        self.nodes
            .get(current)
            .map_or("", |node| node.name.as_str())
    }

    /// The person in whose view everything is read; empty for the caller without roles over the whole bank.
    pub fn set_view_as(&mut self, person: Option<String>) {
        self.view_as = person;
    }

    /// Reads a list to its end, page by page.
    ///
    /// # Errors
    /// The first error of a page; [`Error::Internal`] if a cursor repeats.
    pub fn all<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        parameters: &impl Serialize,
    ) -> Result<List<T>, Error> {
        self.to_end(&Call::get(path(segments) + &query(parameters)))
    }

    /// Sends a call that reads a list, and reads the list to its end.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), bank_client::Error> {
    /// use bank_client::{Call, Client, v1};
    ///
    /// let client = Client::connect("unix:/var/lib/bankd/bankd.sock")?;
    /// let call = Call::balances(&v1::BalanceQuery::default());
    /// let balances: v1::List<v1::Balance> = client.to_end(&call)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Client::all`].
    pub fn to_end<T: DeserializeOwned>(&self, call: &Call) -> Result<List<T>, Error> {
        let mut items = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let page: List<T> = match &next {
                None => self.call(call)?,
                Some(cursor) => self.call(&Call {
                    target: after(&call.target, cursor),
                    ..call.clone()
                })?,
            };
            items.extend(page.items);
            if page.next.is_none() {
                return Ok(List::whole(items));
            }
            if page.next == next {
                return Err(endless());
            }
            next = page.next;
        }
    }

    /// Reads an answer whose rows come page by page to its end; sums are those of the first page.
    ///
    /// # Errors
    /// As [`Client::all`].
    pub fn whole<T: DeserializeOwned + Paged>(
        &self,
        segments: &[&str],
        parameters: &impl Serialize,
    ) -> Result<T, Error> {
        let first = path(segments) + &query(parameters);
        let mut whole: T = self.call(&Call::get(first.clone()))?;
        while let Some(next) = whole.next().map(str::to_owned) {
            whole.go_on(self.call(&Call::get(after(&first, &next)))?);
            if whole.next() == Some(&next) {
                return Err(endless());
            }
        }
        Ok(whole)
    }

    /// Sends a call and reads its answer.
    ///
    /// # Errors
    /// Every variant of [`Error`].
    pub fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Error> {
        let (reply, node) = self.exchange(call)?;
        let body = if reply.body.is_empty() {
            b"null".as_slice()
        } else {
            &reply.body
        };
        serde_json::from_slice(body).map_err(|error| {
            let is_write = call.method != Method::GET;
            Error::Unreadable {
                server: node.name.clone(),
                why: error.to_string(),
                answer: is_write.then(|| String::from_utf8_lossy(body).into_owned()),
            }
        })
    }

    /// Sends a call and returns its answer as text.
    ///
    /// # Errors
    /// Every variant of [`Error`].
    pub fn text(&self, call: &Call) -> Result<String, Error> {
        let (reply, node) = self.exchange(call)?;
        String::from_utf8(reply.body).map_err(|_| Error::Unreadable {
            server: node.name.clone(),
            why: "it is not UTF-8".to_owned(),
            answer: None,
        })
    }

    /// A successful answer and the server that gave it.
    fn exchange(&self, call: &Call) -> Result<(Reply, &Node), Error> {
        let viewed = self.view_as.as_ref();
        let viewed = viewed.filter(|_| call.method == Method::GET);
        let viewed = viewed.map(|person| Call {
            target: viewed_as(&call.target, person),
            ..call.clone()
        });
        let call = viewed.as_ref().unwrap_or(call);
        let watch = Stopwatch::start();
        let mut tried = 0;
        loop {
            let error = match self.round(call) {
                Ok(answer) => return Ok(answer),
                Err(failed) if failed.is_sent && !call.is_repeatable() => return Err(failed.error),
                Err(failed) => failed.error,
            };
            let Some(pause) = self.retry.next(&error, tried, watch.elapsed()) else {
                return Err(error);
            };
            crate::clock::wait(pause);
            tried = tried.saturating_add(1);
        }
    }

    /// Tries each server once, beginning with the one that answered last.
    fn round(&self, call: &Call) -> Result<(Reply, &Node), Failed> {
        let count = self.nodes.len();
        let first = self.current.load(Ordering::Relaxed);
        let places = (0..count).map(|step| first.wrapping_add(step).checked_rem(count));
        let mut last: Option<Failed> = None;
        for place in places.flatten() {
            let Some(node) = self.nodes.get(place) else {
                continue;
            };
            let failed = match node.exchange(call) {
                Ok(reply) => {
                    self.current.store(place, Ordering::Relaxed);
                    if reply.is_success() {
                        return Ok((reply, node));
                    }
                    let error = node.refusal(&reply, call);
                    let is_sent = true;
                    Failed { error, is_sent }
                }
                Err(failed) => failed,
            };
            let goes_on = is_of_server(&failed.error) && (call.is_repeatable() || !failed.is_sent);
            // A server that may have received the command, or that answered, explains more than one that is away.
            let explains = last
                .as_ref()
                .is_none_or(|last| failed.is_sent || !last.is_sent);
            if explains || !goes_on {
                last = Some(failed);
            }
            if !goes_on {
                break;
            }
        }
        Err(last.unwrap_or_else(|| Failed::from(Error::settings("no server is configured"))))
    }
}

/// True if another server can answer: this one is away, not trusted, or cannot serve now.
fn is_of_server(error: &Error) -> bool {
    match error {
        Error::Refused(refused) => matches!(refused.status, 502..=504),
        Error::Unreachable { .. } | Error::Unverified { .. } => true,
        _ => false,
    }
}

fn endless() -> Error {
    Error::Internal("the list does not end: a page has the cursor of the page before".to_owned())
}

#[cfg(test)]
pub(crate) mod tests;

//! The load: many keep-alive connections, each with one request under way. Requests are made and
//! signed before the clock starts; an answer is read no further than status and length.

use crate::document::{Spread, Step, document, project, step, without_durations};
use crate::figure::percentile;
use crate::place::Options;
use crate::seed::{ADMIN, SCHEDULER};
use anyhow::{Context, Result, bail};
use bank_api::sign::{OutgoingRequest, SigningKey, sign_request};
use bankd_ledger::clock::{self, Stopwatch};
use bankd_ledger::keys;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use uuid::Uuid;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An empty `POST`.
    Plain,
    /// Signed documents that are read to their end and found to lack their duration.
    Unusable,
    /// Signed documents: reserve and charge in turn.
    Real,
    /// The same documents, [`IN_BATCH`] in each request.
    Batch,
    /// Signed questions for the balance of a project.
    Read,
}

/// Commands of one batch.
const IN_BATCH: u64 = 500;

impl Kind {
    fn parse(word: &str) -> Result<Self> {
        Ok(match word {
            "plain" => Kind::Plain,
            "unusable" => Kind::Unusable,
            "real" => Kind::Real,
            "batch" => Kind::Batch,
            "read" => Kind::Read,
            _ => bail!("no such load: {word}"),
        })
    }

    fn status(self) -> &'static [u8] {
        match self {
            Kind::Unusable => b"400",
            Kind::Plain | Kind::Real | Kind::Batch | Kind::Read => b"200",
        }
    }

    /// What a good answer ends with.
    fn ending(self) -> &'static [u8] {
        match self {
            Kind::Batch => b"\"refused\":0}",
            Kind::Plain | Kind::Unusable | Kind::Real | Kind::Read => b"",
        }
    }

    /// Commands in a request.
    fn commands(self) -> u64 {
        if self == Kind::Batch { IN_BATCH } else { 1 }
    }
}

/// Part `load`. Options: `kind port data spread from count warm connections per_s`; of the `count`
/// commands the first `warm` are not measured. With `per_s` the requests begin evenly, that many a second, else
/// each connection asks as soon as it has its answer. Reports commands, nanoseconds, median and 99th
/// percentile of the time of a request in nanoseconds.
pub(crate) fn run(options: &Options) -> Result<()> {
    let kind = Kind::parse(options.text("kind")?)?;
    let port = u16::try_from(options.number("port", 0)?)?;
    let count = options.number("count", 10_000)?;
    let warm = usize::try_from(options.number("warm", 0)? / kind.commands())?;
    let connections = usize::try_from(options.number("connections", 64)?)?;
    let limit = Duration::from_secs(options.number("limit_s", 30)?);
    let requests = Arc::new(requests(kind, options, count)?);
    let pace = match options.number("per_s", 0)? {
        0 => Duration::ZERO,
        rate => Duration::from_nanos(1_000_000_000 / rate),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut streams = Vec::with_capacity(connections);
        for _ in 0..connections {
            let stream = TcpStream::connect(("127.0.0.1", port)).await?;
            stream.set_nodelay(true)?;
            streams.push(Connection::new(stream, kind));
        }
        let (streams, _, _) = drive(streams, &requests, 0..warm, limit, pace).await?;
        let all = warm..requests.spans.len();
        let (_, taken, mut times) = drive(streams, &requests, all, limit, pace).await?;
        times.sort_unstable();
        println!(
            "commands={} nanos={} p50_ns={} p99_ns={}",
            u64::try_from(times.len())? * kind.commands(),
            taken.as_nanos(),
            percentile(&times, 50),
            percentile(&times, 99)
        );
        Ok(())
    })
}

/// Requests as they go over the wire, one after the other.
struct Requests {
    bytes: Vec<u8>,
    spans: Vec<std::ops::Range<usize>>,
}

fn requests(kind: Kind, options: &Options, count: u64) -> Result<Requests> {
    let mut made = Requests {
        bytes: Vec::new(),
        spans: Vec::with_capacity(usize::try_from(count)?),
    };
    let from = options.number("from", 0)?;
    let signer = if kind == Kind::Plain {
        None
    } else {
        let folder = Path::new(options.text("data")?).join("keys");
        let own = if kind == Kind::Read { ADMIN } else { SCHEDULER };
        let secret = keys::read_secret(&folder, own)?;
        Some(SigningKey::new(&secret))
    };
    let spread = Spread::parse(options.text("spread").unwrap_or("many"));
    let each = kind.commands();
    for n in (from..from.saturating_add(count)).step_by(usize::try_from(each)?) {
        let start = made.bytes.len();
        let request = match &signer {
            None => "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Some(key) if kind == Kind::Batch => {
                let body = batch((n..n.saturating_add(each)).map(step), spread);
                signed(key, "/api/v1/batch", "application/json", &body)?
            }
            Some(key) if kind == Kind::Read => {
                let project = project(spread.project_of(n));
                question(key, &format!("/api/v1/balances?project={project}"))
            }
            Some(key) => {
                let next = step(n);
                let (target, body) = if kind == Kind::Real {
                    (target(next), document(next, spread))
                } else {
                    // The writer keeps the nonce of a refused request, unless it only tries.
                    let target = format!("{}?dry_run=true", target(next));
                    (target, without_durations(next, spread))
                };
                signed(key, &target, "application/xml", &body)?
            }
        };
        made.bytes.extend_from_slice(request.as_bytes());
        made.spans.push(start..made.bytes.len());
    }
    Ok(made)
}

fn target(step: Step) -> String {
    format!("/nami/v1/{}", step.event.as_str())
}

/// The body of a batch.
fn batch(steps: impl Iterator<Item = Step>, spread: Spread) -> String {
    let commands = steps.map(|step| json!({"path": target(step), "body": document(step, spread)}));
    json!({"commands": commands.collect::<Vec<_>>()}).to_string()
}

/// A body as a signed request.
pub(crate) fn signed(key: &SigningKey, target: &str, media: &str, body: &str) -> Result<String> {
    let idempotency_key = Uuid::now_v7().to_string();
    let request = OutgoingRequest {
        method: "POST",
        target,
        body: body.as_bytes(),
        idempotency_key: Some(&idempotency_key),
        event_time: None,
    };
    let nonce = Uuid::new_v4().simple().to_string();
    let signed = sign_request(key, SCHEDULER, &request, clock::auth_now_s(), &nonce);
    let mut text = String::with_capacity(2048);
    write!(
        text,
        "POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {media}\r\n\
         Content-Length: {}\r\nIdempotency-Key: {idempotency_key}\r\nContent-Digest: {}\r\n\
         Signature-Input: {}\r\nSignature: {}\r\n\r\n{body}",
        body.len(),
        signed.content_digest.unwrap_or_default(),
        signed.signature_input,
        signed.signature,
    )?;
    Ok(text)
}

/// A question as a signed request.
fn question(key: &SigningKey, target: &str) -> String {
    let request = OutgoingRequest {
        method: "GET",
        target,
        body: b"",
        idempotency_key: None,
        event_time: None,
    };
    let nonce = Uuid::new_v4().simple().to_string();
    let signed = sign_request(key, ADMIN, &request, clock::auth_now_s(), &nonce);
    format!(
        "GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nSignature-Input: {}\r\nSignature: {}\r\n\r\n",
        signed.signature_input, signed.signature
    )
}

/// Sends a range of the requests over all connections; whoever is free takes the next. Returns the
/// connections, the time of the whole and of each request.
async fn drive(
    connections: Vec<Connection>,
    requests: &Arc<Requests>,
    range: std::ops::Range<usize>,
    limit: Duration,
    pace: Duration,
) -> Result<(Vec<Connection>, Duration, Vec<u64>)> {
    let next = Arc::new(AtomicUsize::new(range.start));
    let whole = Stopwatch::start();
    let workers: Vec<_> = connections
        .into_iter()
        .map(|mut connection| {
            let (next, requests) = (Arc::clone(&next), Arc::clone(requests));
            let (first, end) = (range.start, range.end);
            tokio::spawn(async move {
                let mut times = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= end || whole.elapsed() > limit {
                        return Ok::<_, anyhow::Error>((connection, times));
                    }
                    let span = requests.spans.get(n).cloned().context("no such request")?;
                    let bytes = requests.bytes.get(span).context("no such request")?;
                    if !pace.is_zero() {
                        let due = pace.saturating_mul(u32::try_from(n.saturating_sub(first))?);
                        tokio::time::sleep(due.saturating_sub(whole.elapsed())).await;
                    }
                    let own = Stopwatch::start();
                    connection.ask(bytes).await?;
                    times.push(u64::try_from(own.elapsed().as_nanos())?);
                }
            })
        })
        .collect();
    let (mut back, mut times) = (Vec::with_capacity(workers.len()), Vec::new());
    for worker in workers {
        let (connection, own) = worker.await??;
        back.push(connection);
        times.extend(own);
    }
    Ok((back, whole.elapsed(), times))
}

/// One keep-alive connection.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    kind: Kind,
}

impl Connection {
    fn new(stream: TcpStream, kind: Kind) -> Self {
        Self {
            stream,
            buffer: vec![0; 16 << 10],
            filled: 0,
            kind,
        }
    }

    /// Sends a request and takes its answer in; any other status than the expected one is an error.
    async fn ask(&mut self, request: &[u8]) -> Result<()> {
        let mut left = request;
        while !left.is_empty() {
            match self.stream.try_write(left) {
                Ok(written) => left = left.get(written..).unwrap_or_default(),
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                    self.stream.writable().await?;
                }
                Err(e) => return Err(e.into()),
            }
        }
        self.filled = 0;
        loop {
            self.stream.readable().await?;
            if self.filled == self.buffer.len() {
                self.buffer.resize(self.filled * 2, 0);
            }
            let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
            match self.stream.try_read(room) {
                Ok(0) => bail!("the server closed the connection"),
                Ok(read) => self.filled += read,
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(e) => return Err(e.into()),
            }
            let got = self.buffer.get(..self.filled).unwrap_or_default();
            if is_whole(got)? {
                let is_good = got.get(9..12) == Some(self.kind.status());
                if !is_good || !got.ends_with(self.kind.ending()) {
                    bail!("answered: {}", String::from_utf8_lossy(got));
                }
                return Ok(());
            }
        }
    }
}

/// Whether an answer is there to its last byte.
pub(crate) fn is_whole(got: &[u8]) -> Result<bool> {
    let Some(end) = got.windows(4).position(|w| w == b"\r\n\r\n") else {
        return Ok(false);
    };
    let head = got.get(..end).unwrap_or_default();
    let name = b"\r\ncontent-length: ";
    let at = head
        .windows(name.len())
        .position(|w| w.eq_ignore_ascii_case(name))
        .context("an answer without its length")?;
    let digits = head.get(at + name.len()..).unwrap_or_default();
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0_usize, |sum, byte| sum * 10 + usize::from(byte - b'0'));
    Ok(got.len() >= end + 4 + length)
}

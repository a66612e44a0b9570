//! One connection: a message, its answer, the end. Every path ends with an answer, unless the client is
//! gone (`gold-wire.md` 0.6, 1.2).

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::ready;
use std::time::Duration;

use bankd_config::Gold;
use bankd_ledger::clock;
use bankd_ledger::keys::KeyRing;
use bankd_ledger::keys::hmac64::Hmac64;
use bankd_listen::gone;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::frame::{Frame, Step};
use super::gate::{self, Admitted};
use super::lines::Lines;
use super::reason::Reason;
use super::seats::{SEATS, STANDING};
use super::{Content, Verified, answer};

/// Maximum time for the head.
const HEAD: Duration = Duration::from_secs(5);
/// Maximum time for the message after its head.
const PAYLOAD: Duration = Duration::from_secs(10);
/// Maximum time for both, so that time remains for the answer.
const MESSAGE: Duration = Duration::from_secs(14);
/// Maximum time for the answer: it is sent within a second of the message's last byte.
const ANSWER: Duration = Duration::from_millis(900);
/// Maximum time to read remaining bytes of the client, so that the answer is not lost.
const FAREWELL: Duration = Duration::from_secs(1);
/// Maximum lifetime of a connection.
const WHOLE: Duration = Duration::from_secs(15);
/// Maximum time for the message of a connection without a seat.
const MOMENT: Duration = Duration::from_millis(250);
/// Maximum time to read the remaining bytes of such a connection.
const NOD: Duration = Duration::from_millis(100);
/// Bytes of all buffers together, in units of [`UNIT`], without [`OWN`] of each connection.
const MEMORY: usize = (8 << 20) / UNIT - (SEATS + STANDING) * OWN;
/// Reserved buffers of each connection, in units. A job's message and its answer fit even if other
/// connections use all shared memory, because no client repeats a charge.
const OWN: usize = 2;
/// Bytes that memory is counted in.
const UNIT: usize = 1 << 10;

/// The handler of verified requests.
pub(super) trait Talk: Send + Sync + 'static {
    /// Answers a request.
    fn answer(&self, request: Verified) -> impl Future<Output = Content> + Send;
}

/// Shared state of all connections.
pub(super) struct House<T> {
    config: Gold,
    keys: KeyRing,
    talk: Arc<T>,
    memory: Arc<Semaphore>,
    lines: Lines,
}

impl<T: Talk> House<T> {
    /// A house with these settings and keys.
    pub(super) fn new(config: Gold, keys: KeyRing, talk: T) -> Self {
        Self {
            config,
            keys,
            talk: Arc::new(talk),
            memory: Arc::new(Semaphore::new(MEMORY)),
            lines: Lines::default(),
        }
    }

    /// Connections that one address may have.
    pub(super) fn most_of_one(&self) -> usize {
        self.config.max_connections_each
    }

    /// Bytes in the shared buffers of all connections, beyond the reserved ones.
    #[cfg(test)]
    pub(super) fn memory_held(&self) -> usize {
        (MEMORY - self.memory.available_permits()) * UNIT
    }

    /// Takes the rest of the buffers, until it is dropped.
    #[cfg(test)]
    pub(super) fn fill_memory(&self) -> OwnedSemaphorePermit {
        let left = u32::try_from(self.memory.available_permits()).unwrap();
        let memory = Arc::clone(&self.memory);
        memory.try_acquire_many_owned(left).unwrap()
    }
}

/// The place of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It has the time of the protocol.
    Seated,
    /// It has a moment.
    Standing,
    /// No place: the connection gets an answer and is closed.
    SentAway,
}

/// Serves one connection from its first byte to its end.
pub(super) async fn attend<T: Talk, S: AsyncRead + AsyncWrite + Unpin>(
    house: &House<T>,
    mut stream: S,
    from: SocketAddr,
    place: Place,
    mut stopped: watch::Receiver<()>,
) {
    let call = Call {
        house,
        from,
        place,
        born: Instant::now(),
        id: clock::request_id(),
    };
    let end = call.born + WHOLE;
    let served = call.serve(&mut stream, &mut stopped).await;
    let Some(served) = served else { return };
    let mut wire = answer::wire(&served.content, served.signer.as_ref());
    let mut held = Held::none(&house.memory);
    if !held.cover(wire.len()) {
        wire = answer::wire(&Reason::Memory.content(), served.signer.as_ref());
    }
    let sent = timeout_at(end, async {
        stream.write_all(&wire).await?;
        stream.shutdown().await
    });
    if !matches!(sent.await, Ok(Ok(()))) {
        tracing::debug!(request_id = %call.id, remote = %from, "the answer was not taken");
        return;
    }
    drop((wire, held));
    let farewell = match place {
        Place::Seated => FAREWELL,
        Place::Standing | Place::SentAway => NOD,
    };
    let until = end.min(Instant::now() + farewell);
    // Bytes after the answer are ignored, and other connections have priority.
    let rest = async {
        while matches!(some(&mut stream, |_| ()).await, Ok(Some(()))) {
            yield_now().await;
        }
    };
    let _ = timeout_at(until, rest).await;
}

/// A connection under way.
struct Call<'a, T> {
    house: &'a House<T>,
    from: SocketAddr,
    place: Place,
    born: Instant,
    id: String,
}

/// The answer, and the key that signs it.
struct Served {
    content: Content,
    signer: Option<Hmac64>,
}

impl<T: Talk> Call<'_, T> {
    /// The answer; `None` if the client is gone.
    async fn serve<S: AsyncRead + Unpin>(
        &self,
        stream: &mut S,
        stopped: &mut watch::Receiver<()>,
    ) -> Option<Served> {
        let from = self.from.ip();
        if self.place == Place::SentAway {
            return Some(self.turned_away(Reason::Crowded));
        }
        if !gate::has_peer_at(&self.house.config, from) {
            return Some(self.turned_away(Reason::UnknownPeer));
        }
        let received = match self.receive(stream, stopped).await {
            Ok(received) => received,
            Err(Lost::Turned(reason)) => return Some(self.turned_away(reason)),
            Err(Lost::Gone(error)) => {
                tracing::debug!(request_id = %self.id, remote = %self.from, %error, "a connection broke off");
                return None;
            }
        };
        let (payload, held) = received;
        let judged = gate::judge(&self.house.config, &self.house.keys, from, &payload);
        drop((payload, held));
        let Admitted { request, signer } = match judged {
            Ok(admitted) => admitted,
            Err(reason) => return Some(self.turned_away(reason)),
        };
        let peer = Arc::clone(&request.peer);
        let talk = Arc::clone(&self.house.talk);
        // In a separate task: a request runs to its end, even if the client disconnects. A charge that
        // stops half-way is lost, because no client repeats it.
        let talking = tokio::spawn(async move { talk.answer(request).await });
        let content = match timeout(ANSWER, talking).await {
            Ok(Ok(content)) => {
                self.log(&peer.name, &content);
                content
            }
            Ok(Err(_)) => self.turned_away(Reason::Internal).content,
            Err(_) => self.turned_away(Reason::SlowAnswer).content,
        };
        Some(Served { content, signer })
    }

    /// The whole message, and the memory that it takes.
    async fn receive<S: AsyncRead + Unpin>(
        &self,
        stream: &mut S,
        stopped: &mut watch::Receiver<()>,
    ) -> Result<(Vec<u8>, Held), Lost> {
        let mut frame = Frame::default();
        let mut held = Held::none(&self.house.memory);
        let (mut deadline, late) = match self.place {
            Place::Seated => (self.born + HEAD, Reason::SlowMessage),
            Place::Standing | Place::SentAway => (self.born + MOMENT, Reason::Crowded),
        };
        let mut in_head = true;
        loop {
            let taken = tokio::select! {
                // Available bytes count, even if this check is late.
                biased;
                taken = some(stream, |bytes| frame.take(bytes)) => taken,
                () = sleep_until(deadline) => return Err(Lost::Turned(late)),
                () = gone(stopped) => return Err(Lost::Turned(Reason::Stopping)),
            };
            let step = match taken {
                Ok(Some(Ok(step))) => step,
                Ok(Some(Err(fault))) => return Err(Lost::Turned(Reason::Framing(fault))),
                Ok(None) => return Err(Lost::Turned(Reason::BrokenOff)),
                Err(error) => return Err(Lost::Gone(error)),
            };
            if !held.cover(frame.memory()) {
                return Err(Lost::Turned(Reason::Memory));
            }
            if step == Step::Whole {
                return Ok((frame.into_payload(), held));
            }
            if in_head && step == Step::Payload {
                in_head = false;
                if self.place == Place::Seated {
                    deadline = (Instant::now() + PAYLOAD).min(self.born + MESSAGE);
                }
            }
        }
    }

    /// Logs one line for a rejected connection, unless there are too many, and returns its answer.
    fn turned_away(&self, reason: Reason) -> Served {
        let content = reason.content();
        let Some(left_out) = self.house.lines.next() else {
            return Served {
                content,
                signer: None,
            };
        };
        let left_out = (left_out > 0).then_some(left_out);
        let (code, word) = (content.code, reason.word());
        let why = content.message.as_deref().unwrap_or_default();
        let duration_us = self.duration_us();
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    request_id = %self.id, remote = %self.from, route = "gold", reason = word,
                    code, why, duration_us, left_out, $message
                )
            };
        }
        if reason.is_about_who() {
            line!(warn, "not authenticated");
        } else if code == "720" {
            line!(warn, "request");
        } else {
            line!(info, "request");
        }
        Served {
            content,
            signer: None,
        }
    }

    /// Logs one line for an answer.
    fn log(&self, peer: &str, content: &Content) {
        tracing::debug!(
            request_id = %self.id, caller = peer, remote = %self.from, route = "gold",
            code = content.code, duration_us = self.duration_us(), "request"
        );
    }

    fn duration_us(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// Reasons for a missing message.
enum Lost {
    /// It gets the reason as an answer.
    Turned(Reason),
    /// The client is gone.
    Gone(io::Error),
}

/// Reads the available bytes, at least one, and passes them on; `None` at the end. Memory for them is used
/// only during the read, not during the wait.
async fn some<S: AsyncRead + Unpin, R>(
    stream: &mut S,
    mut take: impl FnMut(&[u8]) -> R,
) -> io::Result<Option<R>> {
    poll_fn(|context| {
        let mut space = [0; 8 << 10];
        let mut buffer = ReadBuf::new(&mut space);
        ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
        let read = buffer.filled();
        std::task::Poll::Ready(Ok((!read.is_empty()).then(|| take(read))))
    })
    .await
}

/// Shared memory of a connection, released when it is dropped.
struct Held {
    all: Arc<Semaphore>,
    own: Option<OwnedSemaphorePermit>,
}

impl Held {
    fn none(all: &Arc<Semaphore>) -> Self {
        Self {
            all: Arc::clone(all),
            own: None,
        }
    }

    /// Holds so many bytes in all; false if they are not to be had.
    fn cover(&mut self, bytes: usize) -> bool {
        let held = self
            .own
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.div_ceil(UNIT).saturating_sub(OWN + held);
        if more == 0 {
            return true;
        }
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let Ok(more) = Arc::clone(&self.all).try_acquire_many_owned(more) else {
            return false;
        };
        match &mut self.own {
            Some(own) => own.merge(more),
            None => self.own = Some(more),
        }
        true
    }
}

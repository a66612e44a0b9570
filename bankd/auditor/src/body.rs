//! The body of a request: limits of size, of time, and of memory for all bodies.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bankd_ledger::writer::Memory;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::answer::Dropped;

/// Maximum time for the arrival of a body, and for the wait for memory.
const TIME: Duration = Duration::from_mins(1);
/// Bytes of all bodies together, in units of [`UNIT`], in addition to the buffer of each.
const MEMORY: usize = (512 << 20) / UNIT;
/// Bytes that memory is counted in, and that each body has for itself.
const UNIT: usize = 64 << 10;
/// Maximum bytes read beyond the limit, in limits, so that the sender gets the answer.
const REST: u64 = 4;

/// Memory of the records of all requests, in units of [`UNIT`].
const RECORDS: usize = (1 << 30) / UNIT;
/// How much more memory records take than their text.
const GROWTH: usize = 16;

/// Memory for the records of all requests, from the reading of a body until its task has left the writer's
/// queue, whether or not its caller still waits.
#[derive(Clone, Debug)]
pub(super) struct Records(Arc<Semaphore>);

impl Default for Records {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(RECORDS)))
    }
}

impl Records {
    /// Memory for the records of a body of so many bytes; waited for until `until`. The small ones are
    /// bounded by the length of the queue.
    ///
    /// # Errors
    /// If there is none. The sender gets no answer.
    pub(super) async fn hold(&self, bytes: usize, until: Instant) -> Result<Memory, Dropped> {
        let units = bytes.saturating_mul(GROWTH) / UNIT;
        if units == 0 {
            return Ok(None);
        }
        let units = u32::try_from(units.min(RECORDS)).unwrap_or(u32::MAX);
        let permit = timeout_at(until, Arc::clone(&self.0).acquire_many_owned(units)).await;
        match permit {
            Ok(Ok(permit)) => Ok(Some(Arc::new(permit))),
            _ => Err(Dropped("no memory for records")),
        }
    }
}

/// Memory for the bodies of all requests.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

/// The received body.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    /// Its length, if it exceeds the limit.
    pub(super) beyond: Option<u64>,
    pub(super) memory: Option<OwnedSemaphorePermit>,
}

impl Taken {
    /// One that another node received. The memory of its request counts elsewhere.
    pub(super) fn passed(bytes: Vec<u8>, beyond: Option<u64>) -> Self {
        Self {
            bytes,
            beyond,
            memory: None,
        }
    }
}

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MEMORY)))
    }
}

impl Room {
    /// Reads a body up to its limit. The bytes beyond are read and dropped.
    ///
    /// # Errors
    /// If the body breaks off, or time or memory runs out. The sender gets no answer.
    pub(super) async fn take(&self, body: Incoming, limit: usize) -> Result<Taken, Dropped> {
        let until = Instant::now() + TIME;
        let taken = timeout_at(until, self.whole(body, limit)).await;
        taken.unwrap_or(Err(Dropped("the body took too long")))
    }

    async fn whole(&self, mut body: Incoming, limit: usize) -> Result<Taken, Dropped> {
        let announced = body.size_hint().exact().unwrap_or(0);
        let mut taken = Taken {
            bytes: Vec::with_capacity(usize::try_from(announced).unwrap_or(0).min(limit).min(UNIT)),
            beyond: None,
            memory: None,
        };
        let mut length = 0_u64;
        let most = u64::try_from(limit).unwrap_or(u64::MAX);
        loop {
            let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|_| Dropped("the body broke off"))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            length = length.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
            let room = limit.saturating_sub(taken.bytes.len());
            let kept = data.get(..room).unwrap_or(&data);
            self.cover(&mut taken, kept.len()).await?;
            taken.bytes.extend_from_slice(kept);
            if length > most.saturating_mul(REST) {
                break;
            }
        }
        if length.max(announced) > most {
            taken.beyond = Some(length.max(announced));
        }
        Ok(taken)
    }

    /// Holds memory for so many more bytes.
    async fn cover(&self, taken: &mut Taken, more: usize) -> Result<(), Dropped> {
        let held = taken
            .memory
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let needed = (taken.bytes.len() + more)
            .div_ceil(UNIT)
            .saturating_sub(1 + held);
        if needed == 0 {
            return Ok(());
        }
        let needed = u32::try_from(needed).map_err(|_| Dropped("no memory"))?;
        let permit = Arc::clone(&self.0).acquire_many_owned(needed).await;
        let permit = permit.map_err(|_| Dropped("no memory"))?;
        match &mut taken.memory {
            Some(memory) => memory.merge(permit),
            none => *none = Some(permit),
        }
        Ok(())
    }
}

//! A TCP proxy between two programs, whose link a test cuts, stops or slows down.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::ports::free_listener;
use super::wait::{pause, until};

/// Between two looks of a thread at the state of the link.
const LOOK: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Forward(Duration),
    Hang,
    Cut,
    Ended,
}

/// What the threads of a link share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    listens: AtomicBool,
    /// Bytes from the target after which the link hangs.
    left: AtomicU64,
    /// Both ends of every connection, to close them.
    open: Mutex<Vec<TcpStream>>,
    pumps: Mutex<Vec<JoinHandle<()>>>,
}

impl Shared {
    fn state(&self) -> State {
        *self.state.lock().unwrap()
    }

    /// How many of these bytes may go on before the link hangs. The caller forwards them in any case.
    fn before_hang(&self, bytes: usize) -> usize {
        let left = self.left.load(Ordering::Acquire);
        let bytes = u64::try_from(bytes).unwrap();
        if left >= bytes {
            if left != u64::MAX {
                self.left.store(left - bytes, Ordering::Release);
            }
            return usize::try_from(bytes).unwrap();
        }
        self.left.store(u64::MAX, Ordering::Release);
        let mut state = self.state.lock().unwrap();
        if matches!(*state, State::Forward(_)) {
            *state = State::Hang;
        }
        usize::try_from(left).unwrap()
    }

    fn close(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// A proxy; its threads end when it is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Link {
    /// Listens on a free port of loopback and forwards to `address`.
    pub(crate) fn to(address: &str) -> Self {
        let listener = free_listener();
        let own = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            state: Mutex::new(State::Forward(Duration::ZERO)),
            listens: AtomicBool::new(true),
            left: AtomicU64::new(u64::MAX),
            open: Mutex::default(),
            pumps: Mutex::default(),
        });
        let (target, threads) = (address.to_owned(), Arc::clone(&shared));
        let accepting = std::thread::spawn(move || accept(listener, own, &target, &threads));
        Self {
            address: own,
            shared,
            accepting: Some(accepting),
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes all connections and refuses new ones.
    pub(crate) fn cut(&self) {
        self.set(State::Cut);
        self.until_listens(false);
    }

    /// Keeps connections open, accepts new ones, and forwards nothing.
    pub(crate) fn hang(&self) {
        self.set(State::Hang);
    }

    /// Hangs by itself once it has forwarded this many more bytes of answers.
    pub(crate) fn hang_after(&self, bytes: u64) {
        self.shared.left.store(bytes, Ordering::Release);
    }

    /// Whether it hangs.
    pub(crate) fn is_hanging(&self) -> bool {
        self.shared.state() == State::Hang
    }

    /// Forwards every piece of data after this time, in each direction.
    pub(crate) fn delay(&self, time: Duration) {
        self.set(State::Forward(time));
    }

    /// Forwards again; data that was held back comes first.
    pub(crate) fn heal(&self) {
        self.set(State::Forward(Duration::ZERO));
        self.until_listens(true);
    }

    fn until_listens(&self, listens: bool) {
        until("the link listens, or does not", || {
            (self.shared.listens.load(Ordering::Acquire) == listens).then_some(())
        });
    }

    fn set(&self, state: State) {
        *self.shared.state.lock().unwrap() = state;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.set(State::Ended);
        self.shared.close();
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
        // A connection that was accepted meanwhile is in the list now.
        self.shared.close();
        let pumps: Vec<_> = self.shared.pumps.lock().unwrap().drain(..).collect();
        for thread in pumps {
            let _ = thread.join();
        }
    }
}

/// Accepts connections; without a listener while the link is cut, so that the system refuses them.
fn accept(listener: TcpListener, own: SocketAddr, target: &str, shared: &Arc<Shared>) {
    let mut listener = Some(listener);
    loop {
        match shared.state() {
            State::Ended => return,
            State::Cut => {
                listener = None;
                shared.close();
                shared.listens.store(false, Ordering::Release);
            }
            State::Forward(_) | State::Hang => {
                if listener.is_none() {
                    listener = TcpListener::bind(own).ok();
                    shared.listens.store(listener.is_some(), Ordering::Release);
                }
                if let Some(listening) = &listener {
                    listening.set_nonblocking(true).unwrap();
                    if let Ok((stream, _)) = listening.accept() {
                        forward(stream, target, shared);
                        continue;
                    }
                }
            }
        }
        pause(LOOK);
    }
}

/// Connects to the target and starts a thread for each direction.
fn forward(near: TcpStream, target: &str, shared: &Arc<Shared>) {
    let Ok(far) = TcpStream::connect(target) else {
        return;
    };
    for stream in [&near, &far] {
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LOOK)).unwrap();
        let kept = stream.try_clone().unwrap();
        shared.open.lock().unwrap().push(kept);
    }
    let (from, to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    let mut pumps = shared.pumps.lock().unwrap();
    for (from, to, is_answer) in [(from, to, false), (far, near, true)] {
        let shared = Arc::clone(shared);
        pumps.push(std::thread::spawn(move || {
            pump(from, to, is_answer, &shared);
        }));
    }
}

/// Moves data in one direction until an end closes.
fn pump(mut from: TcpStream, mut to: TcpStream, is_answer: bool, shared: &Shared) {
    let mut piece = vec![0; 65536];
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if matches!(shared.state(), State::Cut | State::Ended) {
                    break;
                }
                continue;
            }
            Err(_) => break,
        };
        if !may_pass(shared) {
            break;
        }
        let now = if is_answer {
            shared.before_hang(read)
        } else {
            read
        };
        let (now, later) = piece[..read].split_at(now);
        if to.write_all(now).is_err() {
            break;
        }
        if !later.is_empty() && (!may_pass(shared) || to.write_all(later).is_err()) {
            break;
        }
    }
    // The other side has to see the end, but not while nothing may pass.
    may_pass(shared);
    let _ = to.shutdown(Shutdown::Write);
}

/// Waits until data may go on; `false` when the link is cut or ended.
fn may_pass(shared: &Shared) -> bool {
    let since = Instant::now();
    loop {
        match shared.state() {
            State::Cut | State::Ended => return false,
            State::Forward(delay) if since.elapsed() >= delay => return true,
            State::Forward(_) | State::Hang => pause(LOOK),
        }
    }
}

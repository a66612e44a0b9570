//! Seats at a listener. One peer has at most its share of the seats. A connection without a seat waits a
//! moment, and then an idle one has to close: one of the same peer if that has its share, else one of the
//! peer with most seats. So peers that send slow heads keep nobody out, not even others of their own uid. A
//! burst turns away no client that sends its request in time.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bankd_ledger::clock::Stopwatch;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// The shortest time for which a seat is safe, and for which a newcomer waits.
const MOMENT: Duration = Duration::from_secs(1);

/// The peer of a connection, as far as the system reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// A local user.
    Uid(u32),
    /// A host; for IPv6 its network of 64 bits, for a host has as many addresses as it likes.
    Host(IpAddr),
    /// The system does not report it.
    Nobody,
}

impl Who {
    /// The host behind an address.
    pub fn host(address: IpAddr) -> Self {
        Self::Host(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from(network))
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The connections of one listener.
#[derive(Debug)]
pub(super) struct Crowd {
    /// Seats.
    most: usize,
    /// Seats of one peer, and how many of its connections may wait.
    of_one: usize,
    inner: Mutex<Inner>,
    since: Stopwatch,
}

#[derive(Debug, Default)]
struct Inner {
    seated: BTreeMap<u64, Sitting>,
    /// In the order in which they came.
    waiting: VecDeque<Waiting>,
    /// Seats and waiting connections of each peer.
    peers: HashMap<Who, (usize, usize)>,
    next: u64,
}

#[derive(Debug)]
struct Sitting {
    who: Who,
    /// Since when no request is under way; none while one is.
    idle_since: Option<Duration>,
    /// None once the connection was asked to close.
    leave: Option<oneshot::Sender<()>>,
}

#[derive(Debug)]
struct Waiting {
    who: Who,
    give: oneshot::Sender<Seat>,
}

/// A connection that was let in, seated or not.
#[derive(Debug)]
pub struct Arrival {
    crowd: Arc<Crowd>,
    who: Who,
    given: oneshot::Receiver<Seat>,
    permit: OwnedSemaphorePermit,
}

/// Room for one connection, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    place: Place,
    leave: oneshot::Receiver<()>,
    permit: Option<OwnedSemaphorePermit>,
}

/// The seat itself. It is given to the next when this is dropped.
#[derive(Debug)]
struct Place {
    crowd: Arc<Crowd>,
    number: u64,
}

/// A request under way, until it is dropped.
#[derive(Debug)]
pub struct Busy {
    crowd: Arc<Crowd>,
    number: u64,
}

impl Arrival {
    /// The seat, as soon as there is one; none if too many of the same peer came later.
    pub async fn seated(mut self) -> Option<Seat> {
        loop {
            match tokio::time::timeout(MOMENT, &mut self.given).await {
                Ok(Ok(mut seat)) => {
                    seat.permit = Some(self.permit);
                    return Some(seat);
                }
                Ok(Err(_)) => return None,
                Err(_) => {
                    let now = self.crowd.since.elapsed();
                    self.crowd.inner().press(&self.crowd, self.who, now);
                }
            }
        }
    }
}

impl Seat {
    /// The handle through which its requests report.
    pub fn clerk(&self) -> Clerk {
        Clerk {
            crowd: Arc::clone(&self.place.crowd),
            number: self.place.number,
        }
    }

    /// Is done when the connection has to go, having been idle while others wait. True if a request
    /// came in the meantime, which is to be answered first.
    pub async fn must_leave(&mut self) -> bool {
        if (&mut self.leave).await.is_err() {
            std::future::pending::<()>().await;
        }
        let inner = self.place.crowd.inner();
        let sitting = inner.seated.get(&self.place.number);
        sitting.is_some_and(|sitting| sitting.idle_since.is_none())
    }
}

/// The handle through which a connection's requests report.
#[derive(Clone, Debug)]
pub struct Clerk {
    crowd: Arc<Crowd>,
    number: u64,
}

impl Clerk {
    /// A request's head is there; it is under way until the answer is dropped.
    pub fn busy(&self) -> Busy {
        self.crowd.mark(self.number, None);
        Busy {
            crowd: Arc::clone(&self.crowd),
            number: self.number,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = self.crowd.since.elapsed();
        self.crowd.mark(self.number, Some(now));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let now = self.crowd.since.elapsed();
        // A newcomer that waits no longer gives the seat back, and that needs the lock again.
        let unwanted = self.crowd.inner().rise(&self.crowd, self.number, now);
        drop(unwanted);
    }
}

impl Crowd {
    pub(super) fn new(most: usize, of_one: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            of_one: of_one.min(most),
            inner: Mutex::default(),
            since: Stopwatch::start(),
        })
    }

    /// A connection that was accepted.
    pub(super) fn arrive(self: &Arc<Self>, who: Who, permit: OwnedSemaphorePermit) -> Arrival {
        let given = self.arrive_at(who, self.since.elapsed());
        Arrival {
            crowd: Arc::clone(self),
            who,
            given,
            permit,
        }
    }

    fn arrive_at(self: &Arc<Self>, who: Who, now: Duration) -> oneshot::Receiver<Seat> {
        let mut inner = self.inner();
        let (give, given) = oneshot::channel();
        if inner.has_room(self, who) {
            let _ = give.send(inner.sit(self, who, now));
            return given;
        }
        if inner.of(who).1 >= self.of_one {
            inner.send_away(who);
        }
        inner.waiting.push_back(Waiting { who, give });
        inner.peers.entry(who).or_default().1 += 1;
        inner.press(self, who, now);
        given
    }

    fn mark(&self, number: u64, idle_since: Option<Duration>) {
        if let Some(sitting) = self.inner().seated.get_mut(&number) {
            sitting.idle_since = idle_since;
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Seats and waiting connections of a peer.
    fn of(&self, who: Who) -> (usize, usize) {
        self.peers.get(&who).copied().unwrap_or_default()
    }

    fn has_room(&self, crowd: &Crowd, who: Who) -> bool {
        self.seated.len() < crowd.most && self.of(who).0 < crowd.of_one
    }

    fn sit(&mut self, crowd: &Arc<Crowd>, who: Who, now: Duration) -> Seat {
        let number = self.next;
        self.next += 1;
        let (leave, closed) = oneshot::channel();
        let sitting = Sitting {
            who,
            idle_since: Some(now),
            leave: Some(leave),
        };
        self.seated.insert(number, sitting);
        self.peers.entry(who).or_default().0 += 1;
        Seat {
            place: Place {
                crowd: Arc::clone(crowd),
                number,
            },
            leave: closed,
            permit: None,
        }
    }

    /// Somebody waits: closes the connection that is idle for longest, if there is one.
    fn press(&mut self, crowd: &Crowd, who: Who, now: Duration) {
        let full = self.seated.len() >= crowd.most && self.of(who).0 < crowd.of_one;
        let whose = if full {
            let most = self
                .peers
                .iter()
                .max_by_key(|(who, seats)| (seats.0, **who));
            most.map_or(who, |(who, _)| *who)
        } else {
            who
        };
        let idle = self.seated.values_mut().filter(|sitting| {
            let idle = sitting.idle_since.map(|since| now.saturating_sub(since));
            sitting.who == whose && sitting.leave.is_some() && idle >= Some(MOMENT)
        });
        if let Some(leave) = idle
            .min_by_key(|sitting| sitting.idle_since)
            .and_then(|sitting| sitting.leave.take())
        {
            let _ = leave.send(());
        }
    }

    /// Sends away the first waiting connection of a peer: a silent one is most often the first.
    fn send_away(&mut self, who: Who) {
        let first = self.waiting.iter().position(|waiting| waiting.who == who);
        if first.and_then(|first| self.waiting.remove(first)).is_some() {
            self.count(who, |seats| &mut seats.1);
        }
    }

    /// Gives a free seat to the first whose peer may have it. Returns the seats that nobody took.
    fn rise(&mut self, crowd: &Arc<Crowd>, number: u64, now: Duration) -> Vec<Seat> {
        let mut unwanted = Vec::new();
        if let Some(sitting) = self.seated.remove(&number) {
            self.count(sitting.who, |seats| &mut seats.0);
        }
        let next = |inner: &Self| {
            let mut waiting = inner.waiting.iter();
            waiting.position(|waiting| inner.has_room(crowd, waiting.who))
        };
        while let Some(next) = next(self).and_then(|next| self.waiting.remove(next)) {
            self.count(next.who, |seats| &mut seats.1);
            if next.give.is_closed() {
                continue;
            }
            let seat = self.sit(crowd, next.who, now);
            unwanted.extend(next.give.send(seat).err());
        }
        unwanted
    }

    /// One less of a peer's.
    fn count(&mut self, who: Who, which: impl Fn(&mut (usize, usize)) -> &mut usize) {
        if let Some(seats) = self.peers.get_mut(&who) {
            let count = which(seats);
            *count = count.saturating_sub(1);
            if *seats == (0, 0) {
                self.peers.remove(&who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMY: Who = Who::Uid(1);
    const BOB: Who = Who::Uid(2);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn seated(mut given: oneshot::Receiver<Seat>) -> Option<Seat> {
        given.try_recv().ok()
    }

    #[test]
    fn one_peer_has_its_share_and_others_have_theirs() {
        let crowd = Crowd::new(4, 2);
        let _first = seated(crowd.arrive_at(AMY, at(0))).unwrap();
        let second = seated(crowd.arrive_at(AMY, at(0))).unwrap();
        let mut third = crowd.arrive_at(AMY, at(0));
        assert!(third.try_recv().is_err(), "she has her share");
        let _bob = seated(crowd.arrive_at(BOB, at(0))).unwrap();
        drop(second);
        assert!(third.try_recv().is_ok(), "her next has the seat");
    }

    #[test]
    fn who_is_idle_for_longest_has_to_go_and_who_is_busy_stays() {
        let crowd = Crowd::new(4, 2);
        let mut busy = seated(crowd.arrive_at(AMY, at(0))).unwrap();
        let under_way = busy.clerk().busy();
        let mut idle = seated(crowd.arrive_at(AMY, at(1))).unwrap();
        let _waits = crowd.arrive_at(AMY, at(1));
        assert!(idle.leave.try_recv().is_err(), "it has a moment");
        crowd.inner().press(&crowd, AMY, at(3));
        assert!(idle.leave.try_recv().is_ok());
        assert!(busy.leave.try_recv().is_err());
        crowd.inner().press(&crowd, AMY, at(9));
        assert!(busy.leave.try_recv().is_err(), "its request is under way");
        drop(under_way);
        crowd.inner().press(&crowd, AMY, at(99));
        assert!(busy.leave.try_recv().is_ok());
    }

    #[test]
    fn where_all_is_full_the_peer_with_most_gives_way() {
        let crowd = Crowd::new(4, 3);
        let mut amys: Vec<Seat> = (0..3)
            .map(|_| seated(crowd.arrive_at(AMY, at(0))).unwrap())
            .collect();
        let mut carol = seated(crowd.arrive_at(Who::Nobody, at(0))).unwrap();
        let mut bob = crowd.arrive_at(BOB, at(2));
        assert!(carol.leave.try_recv().is_err());
        let gone = amys
            .iter_mut()
            .position(|seat| seat.leave.try_recv().is_ok());
        amys.remove(gone.unwrap());
        assert!(bob.try_recv().is_ok());
    }

    #[test]
    fn only_so_many_wait_and_who_left_is_passed_over() {
        let crowd = Crowd::new(8, 2);
        let first = seated(crowd.arrive_at(AMY, at(0))).unwrap();
        let second = seated(crowd.arrive_at(AMY, at(0))).unwrap();
        let mut sent_away = crowd.arrive_at(AMY, at(0));
        let left = crowd.arrive_at(AMY, at(0));
        let mut stays = crowd.arrive_at(AMY, at(0));
        assert_eq!(
            sent_away.try_recv().unwrap_err(),
            oneshot::error::TryRecvError::Closed
        );
        drop(left);
        drop(first);
        let stays = stays.try_recv().unwrap();
        drop((second, stays));
        assert!(crowd.inner().peers.is_empty() && crowd.inner().seated.is_empty());
    }

    #[test]
    fn addresses_of_one_network_are_one_host() {
        let who = |text: &str| Who::host(text.parse().unwrap());
        assert_eq!(who("2001:db8::1"), who("2001:db8::ffff:2"));
        assert_ne!(who("2001:db8::1"), who("2001:db8:0:1::1"));
        assert_eq!(who("::ffff:10.0.0.1"), who("10.0.0.1"));
        assert_ne!(who("10.0.0.1"), who("10.0.0.2"));
    }
}

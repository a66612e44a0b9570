//! The gateway's listener. Connections have a seat; while all are taken, a newcomer may stand: it is
//! served if its message is there at once, and told that the bank is busy if not. So those who
//! dawdle in every seat keep nobody out (decision 0025). One address has at most its share of
//! either (decision 0077).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bankd_config::Seats;
use bankd_listen::{self as listen, Who};
use bankd_services::Services;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::connection::{self, House, Place, Talk};
use super::{Said, Verified, gate, talk};

/// Connections that have all the time of the protocol (`gold-wire.md` 1.2).
pub(super) const SEATS: usize = 256;
/// Connections beside them that have only a moment; more wait in the system's queue.
pub(super) const STANDING: usize = 768;

/// Serves until the sender of `stopped` is gone and every open message is answered.
pub async fn serve(
    services: &Arc<Services>,
    listener: Option<&TcpListener>,
    stopped: watch::Receiver<()>,
) {
    let Some(listener) = listener else { return };
    gate::announce(&services.config.gold, &services.keys);
    let bank = Bank(Arc::clone(services));
    let house = House::new(services.config.gold.clone(), services.keys.clone(), bank);
    open(Arc::new(house), listener, stopped).await;
}

/// Lets connections into a house.
pub(super) async fn open<T: Talk>(
    house: Arc<House<T>>,
    listener: &TcpListener,
    stopped: watch::Receiver<()>,
) {
    let accept = || listen::tcp(listener);
    let (most, of_one) = (SEATS + STANDING, house.most_of_one());
    let seats = Arc::new(Rows::new(SEATS, (of_one * SEATS).div_ceil(most)));
    listen::admit(
        Seats { most, of_one },
        stopped.clone(),
        accept,
        |(_, from)| Who::host(from.ip()),
        |(stream, from), arrival| {
            let (house, stopped) = (Arc::clone(&house), stopped.clone());
            let seats = Arc::clone(&seats);
            tokio::spawn(async move {
                // Whoever waits in vain is told so: who hears nothing stalls its scheduler.
                let served = arrival.seated().await;
                let seat = served
                    .as_ref()
                    .and_then(|_| seats.take(Who::host(from.ip())));
                let place = match (&served, &seat) {
                    (None, _) => Place::SentAway,
                    (_, None) => Place::Standing,
                    _ => Place::Seated,
                };
                connection::attend(&house, stream, from, place, stopped).await;
                drop((seat, served));
            });
        },
    )
    .await;
}

/// The seats that have all the time of the protocol: so many, and no address has more than its share.
#[derive(Debug)]
struct Rows {
    most: usize,
    of_one: usize,
    taken: Mutex<BTreeMap<Who, usize>>,
}

/// A seat, until it is dropped.
#[derive(Debug)]
struct Taken {
    rows: Arc<Rows>,
    who: Who,
}

impl Rows {
    fn new(most: usize, of_one: usize) -> Rows {
        Rows {
            most,
            of_one,
            taken: Mutex::default(),
        }
    }

    fn take(self: &Arc<Self>, who: Who) -> Option<Taken> {
        let mut taken = self.taken();
        let all: usize = taken.values().sum();
        let own = taken.get(&who).copied().unwrap_or_default();
        if all >= self.most || own >= self.of_one {
            return None;
        }
        taken.insert(who, own + 1);
        Some(Taken {
            rows: Arc::clone(self),
            who,
        })
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<Who, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut taken = self.rows.taken();
        if let Some(own) = taken.get_mut(&self.who) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.remove(&self.who);
            }
        }
    }
}

/// The ledger behind the gateway.
struct Bank(Arc<Services>);

impl Talk for Bank {
    async fn answer(&self, request: Verified) -> Said {
        talk::answer(&self.0, &request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_its_share_of_the_seats() {
        let rows = Arc::new(Rows::new(4, 3));
        let who = |text: &str| Who::host(text.parse().unwrap());
        let (one, other) = (who("10.0.0.1"), who("10.0.0.2"));
        let mut own: Vec<Taken> = (0..3).map(|_| rows.take(one).unwrap()).collect();
        assert!(rows.take(one).is_none(), "it has its share");
        let last = rows.take(other).unwrap();
        own.pop();
        let again = rows.take(one).unwrap();
        assert!(rows.take(other).is_none(), "all are taken");
        drop((own, last, again));
        assert!(rows.taken().is_empty());
    }
}

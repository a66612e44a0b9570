//! The gateway's listener. Each connection has a seat. While all seats are taken, a new connection may
//! stand: it is served if its message arrives immediately, otherwise the answer is that the bank is busy.
//! Slow clients in all seats therefore block no other client (decision 0025). Each address has a limited
//! share of both (decision 0077).

use std::sync::Arc;

use bankd_listen::{self as listen, Seats, Who};
use bankd_services::Services;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::connection::{self, House, Place, Talk};
use super::seats::{Rows, SEATS, STANDING};
use super::{Content, Verified, gate, talk};

/// Serves until the sender of `stopped` is gone and every open message is answered.
pub async fn serve(
    services: &Arc<Services>,
    listener: Option<&TcpListener>,
    stopped: watch::Receiver<()>,
) {
    let Some(listener) = listener else { return };
    gate::announce(&services.gold, &services.keys);
    let bank = Bank(Arc::clone(services));
    let house = House::new(services.gold.clone(), services.keys.clone(), bank);
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
                // A client that waits in vain gets an answer: no answer stalls its scheduler.
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

/// The ledger behind the gateway.
struct Bank(Arc<Services>);

impl Talk for Bank {
    async fn answer(&self, request: Verified) -> Content {
        talk::answer(&self.0, &request).await
    }
}

//! The gateway's listener. Connections have a seat; while all are taken, a newcomer may stand: it is
//! served if its message is there at once, and told that the bank is busy if not. So those who
//! dawdle in every seat keep nobody out (`docs/decisions/0025`).

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::connection::{self, House, Place, Talk};
use super::{Said, Verified, gate, talk};
use crate::app::App;
use crate::config::Seats;
use crate::listen::{self, Who};

/// Connections that have all the time of the protocol (`gold-wire.md` 1.2).
pub(super) const SEATS: usize = 256;
/// Connections beside them that have only a moment; more wait in the system's queue.
pub(super) const STANDING: usize = 768;

/// Serves until the sender of `stopped` is gone and every open message is answered.
pub async fn serve(app: &Arc<App>, listener: Option<&TcpListener>, stopped: watch::Receiver<()>) {
    let Some(listener) = listener else { return };
    gate::announce(&app.config.gold, &app.keys);
    let bank = Bank(Arc::clone(app));
    let house = House::new(app.config.gold.clone(), app.keys.clone(), bank);
    open(Arc::new(house), listener, stopped).await;
}

/// Lets connections into a house.
pub(super) async fn open<T: Talk>(
    house: Arc<House<T>>,
    listener: &TcpListener,
    stopped: watch::Receiver<()>,
) {
    let seats = Arc::new(Semaphore::new(SEATS));
    let accept = || listen::tcp(listener);
    // Who dawdles keeps nobody out here, whoever it is.
    let most = SEATS + STANDING;
    listen::admit(
        Seats { most, of_one: most },
        stopped.clone(),
        accept,
        |(_, from)| Who::host(from.ip()),
        |(stream, from), arrival| {
            let seat = Arc::clone(&seats).try_acquire_owned().ok();
            let place = if seat.is_some() {
                Place::Seated
            } else {
                Place::Standing
            };
            let (house, stopped) = (Arc::clone(&house), stopped.clone());
            tokio::spawn(async move {
                let Some(served) = arrival.seated().await else {
                    return;
                };
                connection::attend(&house, stream, from, place, stopped).await;
                drop((seat, served));
            });
        },
    )
    .await;
}

/// The ledger behind the gateway.
struct Bank(Arc<App>);

impl Talk for Bank {
    async fn answer(&self, request: Verified) -> Said {
        talk::answer(&self.0, &request).await
    }
}

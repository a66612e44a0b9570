//! The load: some clients, each of which drives one object after the other through reserve, charge
//! and delete, and never gives up an unanswered command.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::harness::{Address, Bank, Connection, Request, until};

/// Clients at once.
const CLIENTS: usize = 8;
/// What each charge is for: one processor, so this many credits.
pub(super) const SECONDS: i64 = 60;
/// Commands for each object.
pub(super) const STEPS: usize = 3;
/// Objects of one client in one round at most, so that a round ends.
const OBJECTS: usize = 200;

const EVENTS: [&str; STEPS] = ["reserve", "charge", "delete"];

/// A client: how far it is.
#[derive(Debug)]
struct Client {
    number: usize,
    /// The object it is at, and which of [`EVENTS`] has no answer yet.
    object: usize,
    step: usize,
    /// Whether that one was sent before.
    in_doubt: bool,
    /// How many answers were lost.
    lost: usize,
}

impl Client {
    fn id(&self, object: usize) -> String {
        format!("Load.{}.{object:05}", self.number)
    }

    fn request(&self) -> Request {
        let id = self.id(self.object);
        let event = EVENTS[self.step];
        let body = format!(
            "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Machine>colony</Machine><Processors>1</Processors>\
             <WallDuration>{SECONDS}</WallDuration><ChargeDuration>{SECONDS}</ChargeDuration></Job>"
        );
        Request::nami(event, &format!("load-{id}-{event}"), body.as_bytes())
    }

    /// Goes on until there is no answer, there was enough, or `stop` is set between two objects.
    fn run(&mut self, address: &Address, stop: &AtomicBool) -> std::io::Result<()> {
        let mut connection = Connection::open(address)?;
        let last = self.object + OBJECTS;
        while self.object < last && !(self.step == 0 && stop.load(Ordering::Relaxed)) {
            let again = std::mem::replace(&mut self.in_doubt, true);
            let answer = connection.send(&self.request())?;
            // Busy is an answer, too: the command was not taken.
            if answer.status == 503 {
                continue;
            }
            assert_eq!(answer.status, 200, "{}", answer.text());
            let replayed = answer.header("idempotent-replay").is_some();
            assert!(
                again || !replayed,
                "a first request is no repeat: {:?}",
                self.request()
            );
            self.in_doubt = false;
            self.step = (self.step + 1) % STEPS;
            self.object += usize::from(self.step == 0);
        }
        Ok(())
    }
}

/// All clients, through all rounds.
#[derive(Debug)]
pub(super) struct Load(Vec<Client>);

impl Load {
    pub(super) fn new() -> Self {
        let client = |number| Client {
            number,
            object: 0,
            step: 0,
            in_doubt: false,
            lost: 0,
        };
        Self((0..CLIENTS).map(client).collect())
    }

    /// Runs until the daemon has killed itself.
    pub(super) fn run_until_gone(&mut self, bank: &mut Bank) {
        self.run_while(bank, |bank| {
            until("the daemon is gone", || bank.is_gone().then_some(()));
        });
    }

    /// Runs while something else happens, at whose end the daemon is gone.
    pub(super) fn run_while(&mut self, bank: &mut Bank, what: impl FnOnce(&mut Bank)) {
        let address = Address::Unix(bank.socket());
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for client in &mut self.0 {
                scope.spawn(|| {
                    let broken_off = client.run(&address, &stop).is_err();
                    client.lost += usize::from(broken_off && client.in_doubt);
                });
            }
            what(bank);
            stop.store(true, Ordering::Relaxed);
        });
    }

    /// Brings every object that was begun to its end.
    pub(super) fn finish(&mut self, bank: &Bank) {
        let address = Address::Unix(bank.socket());
        let stop = AtomicBool::new(true);
        for client in &mut self.0 {
            if client.in_doubt && client.step == 0 {
                // Begun or not: its reserve has no answer, so it is asked for again.
                client.run(&address, &AtomicBool::new(false)).unwrap();
            }
            client.run(&address, &stop).unwrap();
        }
    }

    /// How many answers were lost.
    pub(super) fn lost(&self) -> usize {
        self.0.iter().map(|client| client.lost).sum()
    }

    /// Every object, in the order of its name.
    pub(super) fn objects(&self) -> Vec<String> {
        let of = |client: &Client| (0..client.object).map(|object| client.id(object)).collect();
        let mut objects: Vec<String> = self
            .0
            .iter()
            .flat_map(|c| -> Vec<String> { of(c) })
            .collect();
        objects.sort();
        objects
    }
}

//! Limits of one client: request rate, concurrency, and size (decision 0065).
//!
//! A client is one client of the ledger: all of its keys share the limits. The scheduler's documents are
//! never counted: they report past events, and must not be refused for a high rate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bankd_config as config;
use bankd_ledger::clock::Stopwatch;

/// Clients remembered; those at rest are forgotten when there are more.
const REMEMBERED: usize = 10_000;
/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// Time between two log lines about a refused client.
const WARN_EVERY: u64 = 60 * SECOND;

/// Which limit a request is beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Too many in too short a time.
    Rate,
    /// Too many at once.
    Concurrent,
    /// Too large a body.
    Body,
}

/// A request that is beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// Which.
    pub limit: Limit,
    /// The limit: requests a second, requests, or bytes.
    pub allowed: u64,
    /// Seconds after which it may be tried again, at least 1.
    pub retry_after_s: u64,
    /// Whether to log it.
    pub is_news: bool,
}

/// The limits in force, and how far each client has used them up.
#[derive(Debug)]
pub struct Limits {
    settings: RwLock<Arc<config::Limits>>,
    clients: Mutex<HashMap<String, Client>>,
    since: Stopwatch,
}

#[derive(Debug, Default)]
struct Client {
    /// When, in nanoseconds of the stopwatch, everything that was taken is paid back.
    paid_at: u64,
    under_way: Arc<AtomicU32>,
    warned_at: Option<u64>,
}

/// A request under way; it counts until this is dropped.
#[derive(Debug)]
pub struct UnderWay(Arc<AtomicU32>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Limits {
    /// With these settings.
    pub fn new(settings: config::Limits) -> Self {
        Self {
            settings: RwLock::new(Arc::new(settings)),
            clients: Mutex::default(),
            since: Stopwatch::start(),
        }
    }

    /// Other settings from now on.
    pub fn set(&self, settings: config::Limits) {
        let mut now = self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *now = Arc::new(settings);
    }

    /// Admits a request, or returns the limit that it exceeds. `key` is the id of the key, `client` its
    /// owner, `body` the number of received bytes.
    pub fn admit(&self, key: &str, client: &str, body: usize) -> Result<UnderWay, Over> {
        self.admit_at(key, client, body, self.since.elapsed())
    }

    /// Counts a request with a complete head and an incomplete body, or reports that too many are in
    /// progress. Once complete, the request is admitted like any other.
    pub fn wait_for(&self, client: &str) -> Result<UnderWay, Over> {
        self.take(client, self.since.elapsed(), |one, settings, _| {
            one.has_room(&settings.of("", client))
        })
    }

    fn admit_at(
        &self,
        key: &str,
        client: &str,
        body: usize,
        now: Duration,
    ) -> Result<UnderWay, Over> {
        self.take(client, now, |one, settings, now| {
            one.take(&settings.of(key, client), body, now)
        })
    }

    fn take(
        &self,
        client: &str,
        now: Duration,
        take: impl FnOnce(&mut Client, &config::Limits, u64) -> Result<(), Over>,
    ) -> Result<UnderWay, Over> {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let settings = Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= REMEMBERED && !clients.contains_key(client) {
            clients.retain(|_, one| one.paid_at > now || one.under_way.load(Ordering::Relaxed) > 0);
        }
        if !clients.contains_key(client) {
            clients.insert(client.to_owned(), Client::default());
        }
        let Some(one) = clients.get_mut(client) else {
            return Ok(UnderWay(Arc::new(AtomicU32::new(1))));
        };
        match take(one, &settings, now) {
            Ok(()) => {
                one.under_way.fetch_add(1, Ordering::Relaxed);
                Ok(UnderWay(Arc::clone(&one.under_way)))
            }
            Err(mut over) => {
                let last = one.warned_at;
                over.is_news = last.is_none_or(|at| now.saturating_sub(at) >= WARN_EVERY);
                if over.is_news {
                    one.warned_at = Some(now);
                }
                Err(over)
            }
        }
    }
}

impl Client {
    /// Takes one request from what is left.
    fn take(&mut self, bounds: &config::Bounds, body: usize, now: u64) -> Result<(), Over> {
        if bounds.body > 0 && body > bounds.body {
            let allowed = u64::try_from(bounds.body).unwrap_or(u64::MAX);
            return over(Limit::Body, allowed, 0);
        }
        self.has_room(bounds)?;
        if bounds.rate == 0 {
            return Ok(());
        }
        // Each request costs its share of a second, and a burst is credit.
        let price = SECOND / u64::from(bounds.rate);
        let credit = price.saturating_mul(u64::from(bounds.burst).saturating_sub(1));
        let paid_at = self.paid_at.max(now);
        let owed = paid_at.saturating_sub(now);
        if owed > credit {
            return over(Limit::Rate, u64::from(bounds.rate), owed - credit);
        }
        self.paid_at = paid_at.saturating_add(price);
        Ok(())
    }

    /// Whether one more request may be under way.
    fn has_room(&self, bounds: &config::Bounds) -> Result<(), Over> {
        let under_way = self.under_way.load(Ordering::Relaxed);
        if bounds.concurrent > 0 && under_way >= bounds.concurrent {
            return over(Limit::Concurrent, u64::from(bounds.concurrent), 0);
        }
        Ok(())
    }
}

/// `wait` in nanoseconds.
fn over(limit: Limit, allowed: u64, wait: u64) -> Result<(), Over> {
    Err(Over {
        limit,
        allowed,
        retry_after_s: wait.div_ceil(SECOND).max(1),
        is_news: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankd_config::ClientLimits;

    fn limits(rate: u32, burst: u32, concurrent: u32) -> Limits {
        let mut settings = config::Limits {
            rate,
            burst,
            concurrent,
            ..config::Limits::default()
        };
        let free = ClientLimits {
            rate: Some(0),
            concurrent: Some(0),
            body: Some(10),
            ..ClientLimits::default()
        };
        settings.client.insert("free".to_owned(), free);
        Limits::new(settings)
    }

    /// Requests of a client that are let in at an instant, of so many, each over at once.
    fn admitted(limits: &Limits, client: &str, tries: usize, at_ms: u64) -> usize {
        let at = Duration::from_millis(at_ms);
        let taken = (0..tries).filter(|_| limits.admit_at("k", client, 0, at).is_ok());
        taken.count()
    }

    #[test]
    fn a_burst_is_taken_and_then_the_rate() {
        let limits = limits(10, 5, 0);
        assert_eq!(admitted(&limits, "amy", 20, 0), 5);
        assert_eq!(
            admitted(&limits, "bob", 20, 0),
            5,
            "each client has its own"
        );
        assert_eq!(admitted(&limits, "amy", 20, 100), 1);
        assert_eq!(admitted(&limits, "amy", 20, 150), 0);
        assert_eq!(
            admitted(&limits, "amy", 20, 1100),
            5,
            "no more than a burst"
        );
        // In the long run as many as the rate, for any pattern of tries.
        let sum: usize = (0..1000)
            .map(|step| admitted(&limits, "carol", 3, step * 37))
            .sum();
        assert!((370..=375).contains(&sum), "{sum} in 37 seconds");
    }

    #[test]
    fn who_is_refused_hears_when_to_come_back_and_then_is_let_in() {
        let limits = limits(1, 1, 0);
        let at = Duration::from_millis(100);
        drop(limits.admit_at("k", "amy", 0, at).unwrap());
        let over = limits.admit_at("k", "amy", 0, at).unwrap_err();
        assert_eq!(
            (over.limit, over.allowed, over.retry_after_s),
            (Limit::Rate, 1, 1)
        );
        assert!(over.is_news);
        assert!(!limits.admit_at("k", "amy", 0, at).unwrap_err().is_news);
        let later = at + Duration::from_secs(over.retry_after_s);
        assert!(limits.admit_at("k", "amy", 0, later).is_ok());
    }

    #[test]
    fn what_is_under_way_counts_until_it_is_over() {
        let limits = limits(0, 1, 2);
        let at = Duration::ZERO;
        let first = limits.admit_at("k", "amy", 0, at).unwrap();
        let _second = limits.admit_at("k", "amy", 0, at).unwrap();
        let over = limits.admit_at("k", "amy", 0, at).unwrap_err();
        assert_eq!((over.limit, over.retry_after_s), (Limit::Concurrent, 1));
        assert!(limits.admit_at("k", "bob", 0, at).is_ok());
        drop(first);
        assert!(limits.admit_at("k", "amy", 0, at).is_ok());
    }

    #[test]
    fn a_client_of_its_own_has_limits_of_its_own() {
        let limits = limits(1, 1, 1);
        assert_eq!(admitted(&limits, "free", 100, 0), 100);
        let at = Duration::ZERO;
        let over = limits.admit_at("k", "free", 11, at).unwrap_err();
        assert_eq!((over.limit, over.allowed), (Limit::Body, 10));
        // By the id of a key too; what is used up is the client's.
        assert!(limits.admit_at("free", "amy", 0, at).is_ok());
        limits.set(config::Limits {
            rate: 0,
            ..config::Limits::default()
        });
        assert_eq!(admitted(&limits, "amy", 100, 0), 100);
    }

    #[test]
    fn clients_at_rest_are_forgotten() {
        let limits = limits(1000, 1, 0);
        for number in 0..REMEMBERED {
            let _ = limits.admit_at("k", &number.to_string(), 0, Duration::ZERO);
        }
        let later = Duration::from_secs(1);
        assert!(limits.admit_at("k", "amy", 0, later).is_ok());
        assert_eq!(limits.clients.lock().unwrap().len(), 1);
    }
}

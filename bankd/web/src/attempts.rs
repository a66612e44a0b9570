//! How often one address may try to sign in.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use bankd_ledger::clock::Stopwatch;

/// Addresses remembered; more empties the memory of those that are at rest.
const REMEMBERED: usize = 10_000;
/// A minute in milliseconds.
const MINUTE: u64 = 60_000;

/// Attempts by address: each takes a share of a minute, and nobody may be a minute ahead.
#[derive(Debug)]
pub(crate) struct Attempts {
    share: u64,
    since: Stopwatch,
    paid: Mutex<HashMap<IpAddr, u64>>,
}

impl Attempts {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self {
            share: MINUTE / u64::from(per_minute.max(1)),
            since: Stopwatch::start(),
            paid: Mutex::default(),
        }
    }

    /// Counts an attempt. An error has the seconds until the next one.
    pub(crate) fn admit(&self, address: IpAddr) -> Result<(), u64> {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.admit_at(network(address), now)
    }

    fn admit_at(&self, address: IpAddr, now: u64) -> Result<(), u64> {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        if paid.len() >= REMEMBERED {
            paid.retain(|_, until| *until > now);
        }
        let until = paid.get(&address).copied().unwrap_or(0).max(now);
        let next = until.saturating_add(self.share);
        let ahead = next.saturating_sub(now);
        if ahead > MINUTE {
            return Err((ahead - MINUTE).div_ceil(1000).max(1));
        }
        if paid.len() < REMEMBERED || paid.contains_key(&address) {
            paid.insert(address, next);
        }
        Ok(())
    }
}

/// A host of IPv6 has a whole network of addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_when_its_minute_is_used_up() {
        let attempts = Attempts::new(3);
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        for _ in 0..3 {
            assert_eq!(attempts.admit_at(one, 0), Ok(()));
        }
        assert_eq!(attempts.admit_at(one, 0), Err(20));
        assert_eq!(attempts.admit_at(other, 0), Ok(()));
        assert_eq!(attempts.admit_at(one, 20_000), Ok(()));
        assert_eq!(attempts.admit_at(one, 20_001), Err(20));
    }

    #[test]
    fn addresses_of_one_network_count_together() {
        let [one, other] = ["2001:db8::1", "2001:db8::ffff"].map(|text| text.parse().unwrap());
        assert_eq!(network(one), network(other));
    }
}

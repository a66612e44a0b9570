//! A log behind a pointer, so that one type of node works with every engine.

use std::time::Duration;

use crate::log::{Appended, Entry, KeySecret, Lease, Log, LogError, NodeRow};

impl<T: Log + ?Sized> Log for Box<T> {
    fn append(&mut self, entry: &Entry) -> Result<Appended, LogError> {
        (**self).append(entry)
    }

    fn find(&mut self, position: i64) -> Result<Option<Entry>, LogError> {
        (**self).find(position)
    }

    fn read(&mut self, from: i64, bytes: usize) -> Result<Vec<Entry>, LogError> {
        (**self).read(from, bytes)
    }

    fn last(&mut self) -> Result<i64, LogError> {
        (**self).last()
    }

    fn first(&mut self) -> Result<i64, LogError> {
        (**self).first()
    }

    fn lease(&mut self) -> Result<Option<Lease>, LogError> {
        (**self).lease()
    }

    fn take(
        &mut self,
        node: &str,
        address: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, LogError> {
        (**self).take(node, address, ttl)
    }

    fn renew(&mut self, node: &str, epoch: i64, durable: i64) -> Result<bool, LogError> {
        (**self).renew(node, epoch, durable)
    }

    fn hand_over(&mut self, node: &str, epoch: i64, to: Option<&str>) -> Result<bool, LogError> {
        (**self).hand_over(node, epoch, to)
    }

    fn report(&mut self, row: &NodeRow) -> Result<(), LogError> {
        (**self).report(row)
    }

    fn nodes(&mut self) -> Result<Vec<NodeRow>, LogError> {
        (**self).nodes()
    }

    fn leave(&mut self, node: &str) -> Result<(), LogError> {
        (**self).leave(node)
    }

    fn trim(&mut self, below: i64) -> Result<u64, LogError> {
        (**self).trim(below)
    }

    fn secret(&mut self, fresh: &[u8]) -> Result<Vec<u8>, LogError> {
        (**self).secret(fresh)
    }

    fn keys(&mut self) -> Result<Vec<KeySecret>, LogError> {
        (**self).keys()
    }

    fn keep_key(&mut self, key: &KeySecret) -> Result<(), LogError> {
        (**self).keep_key(key)
    }

    fn remove_key(&mut self, id: &str) -> Result<(), LogError> {
        (**self).remove_key(id)
    }

    fn warnings(&mut self) -> Result<Vec<String>, LogError> {
        (**self).warnings()
    }
}

//! Raised and uncleared alerts, as the journal records them.

use super::Book;
use crate::attention::{Open, Turn};
use crate::need::Need;
use crate::view::View;

impl Book {
    /// Everything that is raised now, the oldest first.
    pub fn attention(&self) -> Vec<Open> {
        let mut open: Vec<Open> = Vec::new();
        for tx in &self.journal {
            let Some(event) = &tx.traces.attention else {
                continue;
            };
            match event.turn {
                Turn::Raised => open.push(Open {
                    topic: event.topic.clone(),
                    tx: tx.id,
                    acked: None,
                    concern: event.concern.clone(),
                    urgent: event.urgent,
                    is_notified: event.is_notified,
                }),
                Turn::Cleared => open.retain(|o| Some(o.tx) != event.of),
                Turn::Acked => {
                    let own = open.iter_mut().find(|o| Some(o.tx) == event.of);
                    if let Some(own) = own {
                        own.acked = Some(tx.id);
                    }
                }
            }
        }
        open
    }

    /// Adds the raised alerts of the requested topics.
    pub(super) fn add_attention(&self, need: &Need, view: &mut View) {
        if need.topics.is_empty() && need.raised_by.is_none() {
            return;
        }
        let mut open = self.attention();
        open.retain(|o| need.topics.contains(&o.topic) || need.raised_by == Some(o.tx));
        view.attention = open;
    }
}

//! Kill points: named places at which a test can end the process as a power cut would.
//!
//! They exist in builds with the feature `test-hooks` only (decisions.md 33); otherwise [`point`] is
//! nothing. `BANKD_KILL_AT=name` or `name:count` aborts the process when that point is reached for
//! the count-th time.

/// A kill point. The names in use: `decided appended committed replied record_written
/// record_synced`, `logged` between the entry of a command in the log of a cluster and the commit of its writer, `report_made report_kept` around the commit of a report, `notice_tried notice_kept` around
/// the commit of the outcome of a notice, `follow_preparing follow_prepared` around the commit of the first
/// list of files beside a followed one, `follow_taking follow_taken` around the commit of its records,
/// `portion` after a portion of an intake is written, before its commit, `opening` after each step of an
/// opening, `backup_copied`, `backup_written` and `backup_named` in a backup, `restore_staged` before names change and `restore_aside` between them, `swept` after boundaries were
/// journalled, before their commit, `partner_asked partner_answered` around a question to a partner, and
/// `message_sent message_kept` around the commit of a partner's confirmation.
#[inline]
pub fn point(name: &str) {
    #[cfg(feature = "test-hooks")]
    armed::point(name);
    #[cfg(not(feature = "test-hooks"))]
    let _ = name;
}

#[cfg(feature = "test-hooks")]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Trap {
        name: String,
        left: AtomicU64,
    }

    pub(super) fn point(name: &str) {
        static TRAP: OnceLock<Option<Trap>> = OnceLock::new();
        let trap = TRAP.get_or_init(|| bankd_config::kill_at().as_deref().and_then(parse));
        if let Some(trap) = trap.as_ref().filter(|trap| trap.name == name) {
            // The last of the count is the one that ends it; later ones cannot come.
            if trap.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                std::process::abort();
            }
        }
    }

    fn parse(text: &str) -> Option<Trap> {
        let (name, count) = text.split_once(':').unwrap_or((text, "1"));
        let left = AtomicU64::new(count.parse().ok().filter(|count| *count > 0)?);
        (!name.is_empty()).then(|| Trap {
            name: name.to_owned(),
            left,
        })
    }
}

//! The site's settings that decide the payer, as journalled (decision note 0082).

use crate::effects::{Effects, Outcome, Settings};
use crate::postings::Postings;
use crate::time::Timestamp;
use crate::view::View;

/// These settings hold from here on.
pub(crate) fn recorded(settings: Settings, view: &View, now: Timestamp) -> Effects {
    let mut postings = Postings::new(view);
    postings.begin("settings", now);
    postings.remark(&settings.text());
    postings.settle_on(settings);
    postings.finish(Outcome::Swept)
}

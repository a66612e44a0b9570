//! Jobs: quotes, reserves, charges, liens, and other usage.

use bank_api::v1::{
    Charged, Enforced, EnforcedQuery, GivenQuote, GivenQuoteQuery, Held, Job, JobQuery, Lien,
    LienQuery, List, NewCharge, NewQuote, NewReserve, NewUsages, OneJobQuery, PastQuery, PatchLien,
    Quote, RecordedUse, RecordedUseQuery, RefusedJob, RefusedQuery, Removed, UsageTaken, WhatIf,
    WhatIfQuery, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Quotes that were given, the newest first.
    read(quotes() GivenQuoteQuery) "/api/v1/quotes" -> List<GivenQuote>;
    /// Price a job. Nothing is written.
    ask(quote() NewQuote) "/api/v1/quotes" -> Quote;
    /// Price a job, and keep the price for it (`guarantee`).
    send(POST guarantee_quote() NewQuote) "/api/v1/quotes" -> Quote;
    /// One quote that was given.
    show(given_quote(id)) "/api/v1/quotes/{id}" -> GivenQuote;
    /// End a quote.
    act(DELETE remove_quote(id)) "/api/v1/quotes/{id}" -> Removed;
    /// Hold money for a job by hand.
    send(POST reserve() NewReserve) "/api/v1/reserves" -> Written<Held>;
    /// Bill a job by hand.
    send(POST charge() NewCharge) "/api/v1/charges" -> Written<Charged>;
    /// Liens in view.
    read(liens() LienQuery) "/api/v1/liens" -> List<Lien>;
    /// One lien.
    read(lien(id) PastQuery) "/api/v1/liens/{id}" -> Lien;
    /// Move the end of a lien.
    send(PATCH change_lien(id) PatchLien) "/api/v1/liens/{id}" -> Written<Lien>;
    /// Give back what a lien holds.
    act(DELETE release_lien(id)) "/api/v1/liens/{id}" -> Written<Lien>;
    /// Jobs in view, the newest first.
    read(jobs() JobQuery) "/api/v1/jobs" -> List<Job>;
    /// One job: its charges, who paid, and how the price came about.
    read(job(id) OneJobQuery) "/api/v1/jobs/{id}" -> Job;
    /// Finished uses in view without a charge, the newest first.
    read(uses() RecordedUseQuery) "/api/v1/uses" -> List<RecordedUse>;
    /// Hand in finished usage.
    send(POST report_usage() NewUsages) "/api/v1/usage" -> UsageTaken;
    /// Refused reserves in view with their reasons, the latest first.
    read(refused_reserves() RefusedQuery) "/api/v1/refused-reserves" -> List<RefusedJob>;
    /// Which jobs strict enforcement would have refused.
    read(what_if() WhatIfQuery) "/api/v1/what-if" -> WhatIf;
    /// The effect of strict enforcement from a time on.
    read(what_if_enforced() EnforcedQuery) "/api/v1/what-if/enforced" -> Enforced;
}

//! State and settings of the bank, rates, batches.

use bank_api::v1::{
    BatchDone, ClockStatus, ConfirmClock, List, MappingTest, MappingTested, MergeUsers,
    MergedUsers, Migration, NewBatch, NewMigration, NewRate, PageQuery, Rate, RateQuery, RateTest,
    RateTested, Removed, Setting, Status, Written,
};
use ureq::http::Method;

use super::{Record, rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// The state of the daemon.
    show(status()) "/api/v1/status" -> Status;
    /// The settings in force, with their sources.
    read(settings() PageQuery) "/api/v1/settings" -> List<Setting>;
    /// Rates, with `history` those that are over too.
    read(rates() RateQuery) "/api/v1/rates" -> List<Rate>;
    /// Set a rate; it ends an older one about the same subject.
    send(POST add_rate() NewRate) "/api/v1/rates" -> Written<Rate>;
    /// End a rate.
    act(DELETE remove_rate(id)) "/api/v1/rates/{id}" -> Removed;
    /// What usage would cost, or would have cost, by rates that are only proposed.
    ask(test_rate() RateTest) "/api/v1/rates/test" -> RateTested;
    /// Whom usage would be for, and why.
    ask(test_mapping() MappingTest) "/api/v1/mappings/test" -> MappingTested;
    /// Say that a jump of the clock was right.
    send(POST confirm_clock() ConfirmClock) "/api/v1/clock" -> Written<ClockStatus>;
    /// Open this bank with the contents of another.
    send(POST migrate() NewMigration) "/api/v1/migrations" -> Migration;
    /// Run many commands, each with an answer of its own.
    send(POST batch() NewBatch) "/api/v1/batch" -> BatchDone;
    /// Merge entries of a directory of people.
    send(POST merge_users() MergeUsers) "/api/v1/user-directory" -> MergedUsers;
    /// Metrics in the text format 0.0.4.
    words(metrics()) "/metrics";
    /// The description of the API in the form of `OpenAPI`.
    words(openapi()) "/api/v1/openapi.json";
    /// The description of the API as a page.
    words(docs()) "/api/v1/docs";
    /// Whether the process answers.
    show(healthz()) "/healthz" -> Record;
    /// Whether commands can be accepted. A node that accepts none answers with 503.
    show(readyz()) "/readyz" -> Record;
}

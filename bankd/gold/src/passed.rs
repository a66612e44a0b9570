//! Requests that a node of a cluster passes to the node that writes (decision 0202): the sender was verified at the
//! gateway of this one. What the other one does is in `taken`.

use std::time::Duration;

use bank_api::cluster::{GoldAnswer, Passed};
use bank_api::error::{self, TABLE};
use bankd_config::NoFundsWord;
use bankd_services::Services;
use bankd_services::passage::{self, Call};

use super::{Content, Value, Verified};

/// Longest wait for the writer. The answer is sent within 900 ms of the message's last byte.
const WRITER: Duration = Duration::from_millis(600);
/// Longest wait until this node contains the command.
const CATCH_UP: Duration = Duration::from_millis(200);

/// Has the writer of the cluster answer a request; a failure without its answer.
pub(super) async fn pass(services: &Services, request: &Verified) -> Content {
    let busy = |text: String| Content::failure(error::row_or_internal("busy").gold, text);
    ask(services, request).await.unwrap_or_else(busy)
}

/// The answer of the writer of the cluster, or why there is none.
pub(super) async fn ask(services: &Services, request: &Verified) -> Result<Content, String> {
    let peer = &request.peer;
    let caller = Passed::Gold {
        peer: peer.name.clone(),
        key: peer.key_id.clone(),
        no_funds: word(peer.no_funds).to_owned(),
        strict_project: peer.strict_project,
        is_maui: request.is_maui,
    };
    let call = Call {
        caller,
        method: "POST",
        target: "/",
        headers: Vec::new(),
        body: &request.body,
    };
    let response = passage::pass(&services.writer, call, WRITER, CATCH_UP).await?;
    if !response.status().is_success() {
        return Err("the writer of the cluster does not accept the key of this peer".to_owned());
    }
    let answer = GoldAnswer::read(response.body());
    answer
        .map(content)
        .ok_or_else(|| "the writer of the cluster has another version".to_owned())
}

fn content(answer: GoldAnswer) -> Content {
    let known = TABLE.iter().map(|row| row.gold).chain(["000", "100"]);
    let mut known = known.filter(|code| *code == answer.code);
    Content {
        value: match answer.value.as_str() {
            "Success" => Value::Success,
            "Warning" => Value::Warning,
            _ => Value::Failure,
        },
        code: known
            .next()
            .unwrap_or(error::row_or_internal("internal").gold),
        message: answer.message,
        count: answer.count,
        data: answer.data,
    }
}

const WORDS: [(NoFundsWord, &str); 3] = [
    (NoFundsWord::Auto, "auto"),
    (NoFundsWord::Maui, "maui"),
    (NoFundsWord::Gold, "gold"),
];

fn word(of: NoFundsWord) -> &'static str {
    let found = WORDS.iter().find(|(one, _)| *one == of);
    found.map_or("auto", |(_, word)| word)
}

pub(super) fn of_word(word: &str) -> NoFundsWord {
    let found = WORDS.iter().find(|(_, one)| *one == word);
    found.map_or(NoFundsWord::Auto, |(one, _)| *one)
}

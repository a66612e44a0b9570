use bank_core::command::Scope;
use bank_core::time::Timestamp;
use bankd_intake::auditor::again::{self, Again, Kept};
use bankd_ledger::writer::{Caller, Origin};

use super::fixture::{Bank, begun, moment};

/// Replays the oldest row of the quarantine, with another body if given.
async fn oldest(bank: &Bank, body: Option<String>) -> Again {
    let answer = bank.services.readers.run(|connection| {
        let sql = "SELECT place, reason, peer, body FROM quarantine ORDER BY id LIMIT 1";
        Ok(connection.query_row(sql, [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?)
    });
    let (place, reason, peer, kept) = answer.await.unwrap();
    Again {
        place,
        reason,
        peer,
        body: body.map_or(kept, String::into_bytes),
        machine: None,
        caller: Caller {
            actor: "admin".into(),
            client: "admin".into(),
            origin: Origin::Cli,
            scope: Scope::default(),
        },
        request_id: "r".into(),
        dry_run: false,
    }
}

/// The bank of a replay.
fn taking(bank: &Bank) -> again::Bank<'_> {
    again::Bank {
        writer: &bank.services.writer,
        readers: &bank.services.readers,
        settings: &bank.services.auditor,
    }
}

async fn became(bank: &Bank, again: Again) -> String {
    let became = again.run(taking(bank)).await.unwrap();
    let words = became.iter().map(|(word, many)| format!("{many} {word}"));
    words.collect::<Vec<_>>().join(", ")
}

fn closed(bank: &Bank, id: &str, seconds: i64) -> String {
    let stop = format!("\"{}\"}}", moment(bank, seconds));
    begun(bank, id, 0).replace("null}", &stop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mended_body_is_stored_and_charged_as_its_route_does() {
    let bank = Bank::open().await;
    bank.furnish().await;
    let good = closed(&bank, "a", 10);
    let bad = good.replace("\"amount\":2", "\"amount\":\"2\"");
    assert_eq!(bank.send("POST", "/record", &bad).await.status, 400);
    let still = oldest(&bank, None).await.run(taking(&bank)).await;
    assert!(matches!(still, Err(Kept::Refused(_))), "{still:?}");
    let tried = Again {
        dry_run: true,
        ..oldest(&bank, Some(good.clone())).await
    };
    assert_eq!(became(&bank, tried).await, "1 stored");
    assert_eq!(bank.get("/record/a").await.status, 404);
    let mended = oldest(&bank, Some(good.clone())).await;
    assert_eq!(became(&bank, mended.clone()).await, "1 stored");
    assert_eq!(bank.get("/record/a").await.status, 200);
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    // A repeat has no effect, and the sender's repeat is recognised.
    assert_eq!(became(&bank, mended).await, "1 known");
    let again = bank.send("POST", "/record", &good).await;
    assert_eq!(again.body, "RECORD_EXISTS");
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    let other = good.replace("\"amount\":2", "\"amount\":3");
    let other = oldest(&bank, Some(other)).await.run(taking(&bank)).await;
    assert!(matches!(other, Err(Kept::Refused(_))), "{other:?}");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mended_open_record_is_there_for_its_end() {
    let bank = Bank::open().await;
    bank.furnish().await;
    let open = begun(&bank, "a", 0);
    let bad = open.replace("\"components\"", "\"componnts\"");
    let list = format!("[{bad},{}]", closed(&bank, "b", 10));
    assert_eq!(bank.send("POST", "/records", &list).await.status, 400);
    let stop = moment(&bank, 10);
    let end = format!(r#"{{"record_id":"a","stop_time":"{stop}"}}"#);
    assert_eq!(bank.send("PUT", "/record", &end).await.status, 400);
    let list = format!("[{open},{}]", closed(&bank, "b", 10));
    let mended = oldest(&bank, Some(list)).await;
    assert_eq!(became(&bank, mended).await, "2 stored");
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    let end = end.replace("\"stop", "\"components\":[],\"stop");
    let mut mended = oldest(&bank, Some(end)).await;
    mended.place = "PUT /record".to_owned();
    assert_eq!(became(&bank, mended).await, "1 closed");
    assert_eq!(bank.money().await, [960, 0, 0, 0]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stored_and_not_charged_is_charged_as_it_is_stored() {
    let bank = Bank::open().await;
    bank.furnish().await;
    bank.send("POST", "/record", &begun(&bank, "a", 0)).await;
    for days in [2, 1] {
        let stop = moment(&bank, days * 86_400);
        let end = format!(r#"{{"record_id":"a","components":[],"stop_time":"{stop}"}}"#);
        assert_eq!(bank.send("PUT", "/record", &end).await.status, 200);
    }
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    // Its time is still in the future.
    let first = oldest(&bank, None).await;
    assert_eq!(became(&bank, first.clone()).await, "1 known, 1 refused");
    let after = bank.now + 3 * 86_400 * 1_000_000;
    bank.clock.set(Timestamp(after));
    assert_eq!(became(&bank, first).await, "1 known");
    // Not the end that was given first: a day of two cores.
    let sql = "SELECT sum(amount) / 1000 FROM usage_identity";
    assert_eq!(bank.number(sql).await, 2 * 86_400);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sent_it_counts_when_it_is_taken_in_later() {
    let bank = Bank::open().await;
    bank.furnish().await;
    assert_eq!(bank.send("POST", "/record", "{").await.status, 400);
    let named = Again {
        peer: "slurm.collector at 10.0.0.7:4711".to_owned(),
        ..oldest(&bank, Some(closed(&bank, "a", 10))).await
    };
    assert_eq!(became(&bank, named).await, "1 stored");
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    let sql = "SELECT count(*) FROM auditor_record WHERE creator = 'slurm.collector'";
    assert_eq!(bank.number(sql).await, 1);
    // Without a certificate from another machine no funds move, whoever replays it.
    let nobody = Again {
        peer: "10.0.0.7:4711".to_owned(),
        ..oldest(&bank, Some(closed(&bank, "b", 10))).await
    };
    assert_eq!(became(&bank, nobody).await, "1 stored");
    assert_eq!(bank.money().await, [980, 0, -20, 0]);
    bank.close().await;
}

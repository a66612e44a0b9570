use bank_core::command::Command;
use bank_core::time::Timestamp;

use super::fixture::{Bank, begun, moment};

/// Two cores from the bank's present on, until so many seconds later.
fn job(bank: &Bank, id: &str, stop: Option<i64>) -> String {
    let stop = stop.map_or("null".to_owned(), |stop| {
        format!("\"{}\"", moment(bank, stop))
    });
    begun(bank, id, 0).replace("null}", &format!("{stop}}}"))
}

fn end(bank: &Bank, id: &str, stop: i64) -> String {
    let stop = moment(bank, stop);
    format!(r#"{{"record_id":"{id}","components":[],"stop_time":"{stop}"}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_with_an_end_is_charged_once() {
    let bank = Bank::open().await;
    bank.furnish().await;
    assert_eq!(
        bank.send("POST", "/record", &job(&bank, "a", Some(10)))
            .await
            .status,
        200
    );
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    // A repeat after a lost answer has no effect, whatever its content.
    for stop in [10, 60] {
        let again = bank
            .send("POST", "/record", &job(&bank, "a", Some(stop)))
            .await;
        assert_eq!(again.body, "RECORD_EXISTS");
    }
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    assert_eq!(bank.house.tally.meter.all(), [0, 1, 0, 0]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_is_charged_and_its_changes_are_the_difference() {
    let bank = Bank::open().await;
    bank.furnish().await;
    bank.send("POST", "/record", &job(&bank, "a", None)).await;
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    for (stop, left) in [(10, 980), (30, 940), (5, 990), (5, 990)] {
        assert_eq!(
            bank.send("PUT", "/record", &end(&bank, "a", stop))
                .await
                .status,
            200,
            "{stop}"
        );
        assert_eq!(bank.money().await, [left, 0, 0, 0], "{stop}");
    }
    // The clocks of collectors are not always right: on record, at no price.
    assert_eq!(
        bank.send("PUT", "/record", &end(&bank, "a", -86_400))
            .await
            .status,
        200
    );
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ended_before_it_began_is_kept_at_no_price() {
    let bank = Bank::open().await;
    bank.furnish().await;
    bank.send("POST", "/record", &job(&bank, "a", Some(-86_400)))
        .await;
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    let sql = "SELECT count(*) FROM usage_identity WHERE end_at < start_at AND became = 'free'";
    assert_eq!(bank.number(sql).await, 1);
    assert!(
        bank.get("/record/a")
            .await
            .body
            .contains("\"runtime\":-86400}")
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_is_stored_and_charged_as_one() {
    let bank = Bank::open().await;
    bank.furnish().await;
    let list = format!(
        "[{},{}]",
        job(&bank, "a", Some(10)),
        job(&bank, "b", Some(20))
    );
    assert_eq!(bank.send("POST", "/records", &list).await.status, 200);
    assert_eq!(bank.money().await, [940, 0, 0, 0]);
    let list = format!(
        "[{},{}]",
        job(&bank, "c", Some(10)),
        job(&bank, "b", Some(20))
    );
    assert_eq!(
        bank.send("POST", "/records", &list).await.body,
        "RECORD_EXISTS"
    );
    assert_eq!(bank.money().await, [940, 0, 0, 0]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_sources_machine_is_kept_for_reconciliation() {
    let bank = Bank::open().await;
    bank.furnish().await;
    bank.run(Command::set_record(
        "machine",
        "hpc",
        &[("source", "nami".into())],
    ))
    .await;
    bank.send("POST", "/record", &job(&bank, "a", None)).await;
    bank.send("PUT", "/record", &end(&bank, "a", 10)).await;
    bank.send("POST", "/record", &job(&bank, "b", Some(10)))
        .await;
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    assert_eq!(
        bank.number("SELECT count(*) FROM usage_identity WHERE became = 'kept'")
            .await,
        2
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_is_known_no_money_moves() {
    let bank = Bank::with(|_| (), true).await;
    bank.furnish().await;
    assert_eq!(
        bank.send("POST", "/record", &job(&bank, "a", Some(10)))
            .await
            .status,
        200
    );
    assert_eq!(bank.money().await, [1000, 0, -20, 0]);
    bank.send("PUT", "/record", &end(&bank, "a", 5)).await;
    assert_eq!(bank.money().await, [1000, 0, -10, 0]);
    // Nor is anybody's machine claimed.
    bank.run(Command::add_record("machine", "other", &[])).await;
    let other = job(&bank, "b", Some(10)).replace("\"hpc\"", "\"other\"");
    bank.send("POST", "/record", &other).await;
    assert_eq!(
        bank.number("SELECT count(*) FROM machine WHERE name = 'other' AND source IS NULL")
            .await,
        1
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_record_holds_money_only_where_it_is_set() {
    let bank = Bank::with(
        |config| {
            config.auditor.open_horizon = 90;
            config.auditor.open_max = 2_600_000;
        },
        false,
    )
    .await;
    bank.furnish().await;
    let open = begun(&bank, "a", 0);
    assert_eq!(bank.send("POST", "/record", &open).await.status, 200);
    assert_eq!(bank.money().await, [1000, 180, 0, 0]);
    // After two thirds of its time it is placed again.
    assert_eq!(
        bank.number("SELECT renew_at FROM auditor_record").await,
        bank.now + 60_000_000
    );
    bank.clock.set(Timestamp(bank.now + 61_000_000));
    super::super::open::due(&bank.house).await;
    assert_eq!(bank.money().await, [1000, 180, 0, 0]);
    assert_eq!(
        bank.number("SELECT renew_at FROM auditor_record").await,
        bank.now + 121_000_000
    );
    assert_eq!(
        bank.send("PUT", "/record", &end(&bank, "a", 10))
            .await
            .status,
        200
    );
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    assert_eq!(
        bank.number("SELECT count(*) FROM auditor_record WHERE renew_at IS NOT NULL")
            .await,
        0
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lien_that_is_not_to_be_had_leaves_the_record() {
    let bank = Bank::with(|config| config.auditor.open_horizon = 86_400, false).await;
    bank.furnish().await;
    let open = begun(&bank, "a", -60);
    assert_eq!(bank.send("POST", "/record", &open).await.status, 200);
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    assert_eq!(bank.ids("").await, ["a"]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_refuse_is_stored_and_kept_aside() {
    let bank = Bank::open().await;
    bank.furnish().await;
    // It ends a day after the bank's present.
    let stop = format!("\"{}\"}}", moment(&bank, 86_400));
    let late = begun(&bank, "a", -60).replace("null}", &stop);
    let reply = bank.send("POST", "/record", &late).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    assert_eq!(bank.ids("").await, ["a"]);
    let sql = "SELECT count(*) FROM quarantine WHERE reason LIKE 'stored, not charged: %' AND place = 'POST /record'";
    assert_eq!(bank.number(sql).await, 1);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_project_and_user_are_settings() {
    let bank = Bank::with(
        |config| {
            config.auditor.project_keys = vec!["vo".into(), "group_id".into()];
            config.auditor.machine = "hpc".into();
        },
        false,
    )
    .await;
    bank.furnish().await;
    let (start, stop) = (moment(&bank, 0), moment(&bank, 10));
    let of = |id: &str, meta: &str| {
        format!(
            r#"{{"record_id":"{id}","meta":{meta},"components":[{{"name":"NumCPUs","amount":1,"scores":[]}}],"start_time":"{start}","stop_time":"{stop}"}}"#
        )
    };
    for (id, meta, left) in [
        (
            "a",
            r#"{"vo":["physics"],"group_id":["x"],"site_id":["elsewhere"],"user":["amy"]}"#,
            990,
        ),
        ("b", r#"{"group_id":["physics"],"user_id":["amy"]}"#, 980),
        ("c", r#"{"group":["physics"],"user_id":["amy"]}"#, 980),
        ("d", "null", 980),
    ] {
        assert_eq!(
            bank.send("POST", "/record", &of(id, meta)).await.status,
            200
        );
        assert_eq!(bank.money().await[0], left, "{id}");
    }
    bank.close().await;
}

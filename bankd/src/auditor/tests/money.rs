use bank_core::command::{Command, SetMachine};
use bank_core::time::Timestamp;

use super::fixture::{Bank, NOW, record};

/// Two cores for so many seconds from 2024-02-10 on.
fn job(id: &str, stop: Option<&str>) -> String {
    record(id, "10T00:00:00", stop, "")
}

fn end(id: &str, stop: &str) -> String {
    format!(r#"{{"record_id":"{id}","components":[],"stop_time":"2024-02-{stop}Z"}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_with_an_end_is_charged_once() {
    let bank = Bank::open().await;
    bank.furnish().await;
    assert_eq!(
        bank.send("POST", "/record", &job("a", Some("10T00:00:10")))
            .await
            .status,
        200
    );
    assert_eq!(bank.money().await, [980, 0, 0, 0]);
    // A repeat after a lost answer has no effect, whatever it says.
    for stop in ["10T00:00:10", "10T00:01:00"] {
        let again = bank.send("POST", "/record", &job("a", Some(stop))).await;
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
    bank.send("POST", "/record", &job("a", None)).await;
    assert_eq!(bank.money().await, [1000, 0, 0, 0]);
    for (stop, left) in [
        ("10T00:00:10", 980),
        ("10T00:00:30", 940),
        ("10T00:00:05", 990),
        ("10T00:00:05", 990),
    ] {
        assert_eq!(
            bank.send("PUT", "/record", &end("a", stop)).await.status,
            200,
            "{stop}"
        );
        assert_eq!(bank.money().await, [left, 0, 0, 0], "{stop}");
    }
    // The clocks of collectors are not always right: on record, at no price.
    assert_eq!(
        bank.send("PUT", "/record", &end("a", "09T00:00:00"))
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
    bank.send("POST", "/record", &job("a", Some("09T00:00:00")))
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
        job("a", Some("10T00:00:10")),
        job("b", Some("10T00:00:20"))
    );
    assert_eq!(bank.send("POST", "/records", &list).await.status, 200);
    assert_eq!(bank.money().await, [940, 0, 0, 0]);
    let list = format!(
        "[{},{}]",
        job("c", Some("10T00:00:10")),
        job("b", Some("10T00:00:20"))
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
    bank.run(Command::SetMachine(SetMachine {
        name: "hpc".into(),
        source: Some(Some("nami".into())),
        ..SetMachine::default()
    }))
    .await;
    bank.send("POST", "/record", &job("a", None)).await;
    bank.send("PUT", "/record", &end("a", "10T00:00:10")).await;
    bank.send("POST", "/record", &job("b", Some("10T00:00:10")))
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
        bank.send("POST", "/record", &job("a", Some("10T00:00:10")))
            .await
            .status,
        200
    );
    assert_eq!(bank.money().await, [1000, 0, 20, 0]);
    bank.send("PUT", "/record", &end("a", "10T00:00:05")).await;
    assert_eq!(bank.money().await, [1000, 0, 10, 0]);
    // Nor is anybody's machine claimed.
    bank.run(Command::AddMachine(SetMachine {
        name: "other".into(),
        ..SetMachine::default()
    }))
    .await;
    let other = job("b", Some("10T00:00:10")).replace("\"hpc\"", "\"other\"");
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
    let open = record("a", "29T23:59:00", None, "");
    assert_eq!(bank.send("POST", "/record", &open).await.status, 200);
    assert_eq!(bank.money().await, [1000, 180, 0, 0]);
    // After two thirds of its time it is placed again.
    assert_eq!(
        bank.number("SELECT renew_at FROM auditor_record").await,
        NOW + 60_000_000
    );
    bank.clock.set(Timestamp(NOW + 61_000_000));
    super::super::open::due(&bank.house).await;
    assert_eq!(bank.money().await, [1000, 180, 0, 0]);
    assert_eq!(
        bank.number("SELECT renew_at FROM auditor_record").await,
        NOW + 121_000_000
    );
    assert_eq!(
        bank.send("PUT", "/record", &end("a", "29T23:59:10"))
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
    let open = record("a", "29T23:59:00", None, "");
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
    let reply = bank
        .send(
            "POST",
            "/record",
            &record("a", "29T00:00:00", None, "").replace("null}", "\"2024-03-02T00:00:00Z\"}"),
        )
        .await;
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
    let of = |id: &str, meta: &str| {
        format!(
            r#"{{"record_id":"{id}","meta":{meta},"components":[{{"name":"NumCPUs","amount":1,"scores":[]}}],"start_time":"2024-02-10T00:00:00Z","stop_time":"2024-02-10T00:00:10Z"}}"#
        )
    };
    for (id, meta, left) in [
        (
            "a",
            r#"{"vo":["physics"],"group_id":["x"],"site_id":["elsewhere"]}"#,
            990,
        ),
        ("b", r#"{"group_id":["physics"]}"#, 980),
        ("c", r#"{"group":["physics"]}"#, 980),
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

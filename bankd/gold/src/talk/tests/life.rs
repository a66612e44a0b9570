//! Effects of messages on a job and its lien (`gold-wire.md` 5).

use bankd_config::{Config, ExcessWord, ShortfallWord};

use super::bench::{Bench, T0, T1};

/// Long after the rate is in force: reported time begins after that.
const LATER: i64 = T0 + 1_000_000;

/// `flush_interval_s` of a machine that sets none.
const FLUSH_S: i64 = 3600;

const AMY: &str = "UserId=amy ProjectId=chem MachineName=cluster1 Processors=2";

fn reserve(job: &str, seconds: i64) -> String {
    format!("JobId={job} {AMY} WallDuration={seconds}")
}

fn charge(job: &str, seconds: i64, end: i64) -> String {
    let start = end - seconds;
    format!("JobId={job} {AMY} WallDuration={seconds} StartTime={start} EndTime={end} Type=job")
}

#[tokio::test]
async fn a_second_reserve_takes_the_place_of_the_first() {
    let mut bench = Bench::new().await;
    bench.job("Reserve", &reserve("j", 400_000)).await;
    assert_eq!(bench.account("chem").await, "1000000/800000");
    bench.at(T0 + 10);
    bench.job("Reserve", &reserve("j", 450_000)).await;
    assert_eq!(
        bench.liens().await,
        format!("j 900000 until {}", T0 + 10 + 450_000 + 600)
    );
    // Refused: the older lien is unchanged.
    let answer = bench.job("Reserve", &reserve("j", 500_001)).await;
    assert_eq!(answer, "Failure 782 [] Not enough credits to reserve job j");
    assert_eq!(bench.account("chem").await, "1000000/900000");
    let journal = bench.journal().await;
    assert_eq!(
        journal,
        "reserve lien chem 0/800000; reserve lien_replace chem 0/-800000; \
         reserve lien chem 0/900000"
    );
}

/// The ceiling of NAMI: the time since the start and one flush interval.
#[tokio::test]
async fn a_scheduler_bills_no_more_than_the_time_that_has_passed() {
    let mut bench = Bench::new().await;
    bench.at(LATER);
    let start = LATER - 10;
    let long =
        format!("JobId=j {AMY} WallDuration=100000 StartTime={start} EndTime={LATER} Type=job");
    let billed = 2 * (10 + FLUSH_S);
    let answer = bench.job("Charge", &long).await;
    let charge = format!("Success 000 #1 [<Job><Charge>{billed}<");
    assert!(answer.starts_with(&charge), "{answer}");
    let journal = bench.journal().await;
    assert!(journal.contains("disputed_s=96390 "), "{journal}");
    // The use is billed to its end: another report of it adds nothing.
    let answer = bench
        .job("Charge", &format!("{long} QualityOfService="))
        .await;
    assert!(
        answer.starts_with("Success 000 #1 [<Job><Charge>0<"),
        "{answer}"
    );
    assert_eq!(
        bench.account("chem").await,
        format!("{}/0", 1_000_000 - billed)
    );
    let journal = bench.journal().await;
    assert!(
        journal.contains("repeated_s=100000 not_billed"),
        "{journal}"
    );
}

#[tokio::test]
async fn equal_interim_charges_end_at_the_ceiling() {
    let bench = Bench::new().await;
    bench.at(LATER);
    bench.job("Reserve", &reserve("j", 600)).await;
    let interim = format!("JobId=j {AMY} WallDuration=600 Type=job");
    for _ in 0..12 {
        bench.job("Charge", &interim).await;
    }
    // The first charge of a reservation states when it began.
    let maint = "JobId=maint ProjectId=physics MachineName=cluster1 Processors=2 WallDuration=3600 \
        Type=Reservation";
    for _ in 0..3 {
        bench.job("Charge", maint).await;
    }
    let (job, maint) = (1_000_000 - 2 * FLUSH_S, 1_000_000 - 2 * 2 * FLUSH_S);
    assert_eq!(bench.account("chem").await, format!("{job}/0"));
    assert_eq!(bench.account("physics").await, format!("{maint}/0"));
}

/// A refused charge would be lost, because no client repeats one.
#[tokio::test]
async fn where_excess_is_refused_the_rest_of_a_charge_is_billed() {
    for (excess, seconds) in [
        (ExcessWord::Refuse, 10 + FLUSH_S),
        (ExcessWord::Clip, 10 + FLUSH_S),
        (ExcessWord::Accept, 5000),
    ] {
        let mut config = Config::default();
        config.nami.excess = excess;
        let bench = Bench::of(0, config).await;
        bench.at(LATER);
        let times = format!("StartTime={} EndTime={LATER} Type=job", LATER - 10);
        let long = format!("JobId=j {AMY} WallDuration=5000 {times}");
        let answer = bench.job("Charge", &long).await;
        let charge = format!("Success 000 #1 [<Job><Charge>{}<", 2 * seconds);
        assert!(answer.starts_with(&charge), "{answer}");
    }
}

/// A person with one of Gold's own clients charges any time.
#[tokio::test]
async fn a_client_charges_more_than_the_time_that_has_passed() {
    let bench = Bench::new().await;
    bench.at(LATER);
    let start = LATER - 10;
    let body = format!(
        "<Body><Request action=\"Charge\"><Object>Job</Object>\
         <Option name=\"WallDuration\">50000</Option><Data><Job><JobId>j</JobId>\
         <UserId>amy</UserId><ProjectId>chem</ProjectId><MachineName>cluster1</MachineName>\
         <Processors>2</Processors><StartTime>{start}</StartTime><EndTime>{LATER}</EndTime>\
         </Job></Data></Request></Body>"
    );
    bench.send(body.as_bytes()).await;
    assert_eq!(bench.account("chem").await, "900000/0");
}

#[tokio::test]
async fn a_charge_without_an_end_is_interim_and_one_with_it_closes() {
    let mut bench = Bench::new().await;
    bench.job("Reserve", &reserve("j", 100)).await;
    let interim = format!("JobId=j {AMY} WallDuration=10 Type=job");
    bench.job("Charge", &interim).await;
    assert_eq!(bench.account("chem").await, "999980/180");
    // Such a charge has no key: the same bytes are owed again.
    bench.job("Charge", &interim).await;
    assert_eq!(bench.account("chem").await, "999960/160");
    bench.at(T1);
    bench.job("Charge", &charge("j", 5, T1 - 1)).await;
    assert_eq!(bench.account("chem").await, "999950/0");
    let journal = bench.journal().await;
    assert!(
        journal.ends_with("charge charge chem -10/-10; charge lien_release chem 0/-150"),
        "{journal}"
    );
}

#[tokio::test]
async fn a_later_charge_is_late_unless_a_reserve_came_between() {
    let mut bench = Bench::new().await;
    bench.job("Reserve", &reserve("j", 100)).await;
    bench.at(T1);
    bench.job("Charge", &charge("j", 5, T1 - 20)).await;
    let _ = bench.journal().await;
    let times = format!("StartTime={} EndTime={}", T1 - 25, T1 - 10);
    let later = format!("JobId=j {AMY} WallDuration=7 {times} Type=job");
    let answer = bench.job("Charge", &later).await;
    assert!(
        answer.starts_with("Success 000 #1 [<Job><Charge>14<"),
        "{answer}"
    );
    let journal = bench.journal().await;
    assert_eq!(journal, "charge late_charge chem -14/0 (lien_missing)");
    // A new use of the id. Its charge belongs to it, though its times are before the reserve.
    bench.job("Reserve", &reserve("j", 100)).await;
    bench.job("Charge", &charge("j", 9, T1 - 5)).await;
    assert_eq!(bench.liens().await, "");
    assert_eq!(bench.account("chem").await, "999958/0");
    let journal = bench.journal().await;
    assert_eq!(
        journal,
        "reserve lien chem 0/200; charge charge chem -18/-18; charge lien_release chem 0/-182"
    );
}

#[tokio::test]
async fn a_charge_that_starts_after_the_close_is_of_another_use() {
    let mut bench = Bench::new().await;
    bench.at(T1);
    bench.job("Charge", &charge("j", 5, T1 - 20)).await;
    let _ = bench.journal().await;
    bench.job("Charge", &charge("j", 7, T1 - 10)).await;
    let journal = bench.journal().await;
    assert_eq!(journal, "charge charge chem -14/0 (lien_missing)");
    let jobs = bench.query("Job", "<Get name=\"Charge\"/>").await;
    assert_eq!(
        jobs,
        "Success 000 #2 [<Job><Charge>10</Charge></Job><Job><Charge>14</Charge></Job>]"
    );
}

#[tokio::test]
async fn a_lien_expires_by_itself_and_the_charge_comes_late() {
    let mut bench = Bench::new().await;
    bench.job("Reserve", &reserve("j", 100)).await;
    bench.at(T0 + 699);
    assert_eq!(bench.account("chem").await, "1000000/200");
    bench.at(T0 + 700);
    assert_eq!(bench.account("chem").await, "1000000/0");
    bench.at(T0 + 10_000);
    let times = format!("StartTime={} EndTime={}", T0 + 10, T0 + 9000);
    let used = format!("JobId=j {AMY} WallDuration=50 {times} Type=job");
    bench.job("Charge", &used).await;
    assert_eq!(bench.account("chem").await, "999900/0");
    let journal = bench.journal().await;
    assert!(
        journal.contains("charge late_charge chem -100/0"),
        "{journal}"
    );
}

#[tokio::test]
async fn a_charge_that_came_before_has_no_effect_whoever_of_the_client_sends_it() {
    let mut bench = Bench::new().await;
    bench.at(T1);
    let first = bench.job("Charge", &charge("j", 5, T1)).await;
    let _ = bench.journal().await;
    bench.at(T1 + 86_400 * 30);
    bench.as_other();
    assert_eq!(bench.job("Charge", &charge("j", 5, T1)).await, first);
    let journal = bench.journal().await;
    assert!(journal.starts_with("repeat (repeat_of=gold:"), "{journal}");
    assert_eq!(bench.account("chem").await, "999990/0");
    // Another client's is a charge of its own, of a use that is billed.
    bench.peer.client = "other".to_owned();
    bench.job("Charge", &charge("j", 5, T1)).await;
    let journal = bench.journal().await;
    assert!(journal.contains("repeated_s=5 not_billed"), "{journal}");
    assert_eq!(bench.account("chem").await, "999990/0");
}

/// A client has no other key for a retry, so a refused charge is decided again.
#[tokio::test]
async fn a_charge_that_was_refused_is_decided_anew() {
    let mut config = Config::default();
    config.charge.shortfall = ShortfallWord::Reject;
    let mut bench = Bench::of(0, config).await;
    bench.deposit("broke", 4).await;
    bench.at(T1);
    let poor = charge("j", 5, T1).replace("ProjectId=chem", "ProjectId=broke");
    let refused = bench.job("Charge", &poor).await;
    assert!(refused.starts_with("Failure 782"), "{refused}");
    bench.deposit("broke", 100).await;
    let taken = bench.job("Charge", &poor).await;
    assert!(taken.starts_with("Success 000"), "{taken}");
    let left = bench.account("broke").await;
    assert_eq!(bench.job("Charge", &poor).await, taken);
    assert_eq!(bench.account("broke").await, left);
}

#[tokio::test]
async fn usage_is_never_lost() {
    let mut bench = Bench::new().await;
    bench.user("zed", None).await;
    bench.deposit("broke", 4).await;
    bench.at(T1);
    let times = format!("StartTime={} EndTime={T1}", T1 - 5);
    let used = format!("Processors=2 WallDuration=5 {times} Type=job");
    for (who, paid_by, figures) in [
        // Unknown project; no project and no default; no names at all.
        (
            "JobId=a UserId=amy ProjectId=nosuch MachineName=cluster1",
            "#unbilled",
            "-10/0",
        ),
        (
            "JobId=b UserId=zed MachineName=cluster1",
            "#unbilled",
            "-20/0",
        ),
        ("JobId=c MachineName=cluster1", "#unbilled", "-30/0"),
        // The user's default project; an unknown user; more than there is.
        (
            "JobId=d UserId=amy MachineName=cluster1",
            "chem",
            "999990/0",
        ),
        (
            "JobId=e UserId=nobody ProjectId=chem MachineName=cluster1",
            "chem",
            "999980/0",
        ),
        (
            "JobId=f UserId=eve ProjectId=broke MachineName=cluster1",
            "broke",
            "-6/0",
        ),
    ] {
        let answer = bench.job("Charge", &format!("{who} {used}")).await;
        assert!(
            answer.starts_with("Success 000 #1 [<Job><Charge>10<"),
            "{who}: {answer}"
        );
        assert_eq!(bench.account(paid_by).await, figures, "{who}");
    }
}

#[tokio::test]
async fn an_unknown_machine_is_kept_as_text_and_the_project_billed() {
    let mut bench = Bench::new().await;
    bench.peer.scope.machines.clear();
    bench.at(T1);
    let fields = format!(
        "JobId=a UserId=amy ProjectId=chem MachineName=nosuch Processors=2 \
        WallDuration=5 StartTime={T0} EndTime={T1}"
    );
    let answer = bench.job("Charge", &fields).await;
    assert!(answer.starts_with("Success 000"), "{answer}");
    assert_eq!(bench.account("chem").await, "999990/0");
    let jobs = bench.query("Job", "<Get name=\"Machine\"/>").await;
    assert_eq!(
        jobs,
        "Success 000 #1 [<Job><Machine>nosuch</Machine></Job>]"
    );
}

#[tokio::test]
async fn a_charge_after_the_allocation_expired_corrects_the_expiry() {
    use bank_core::command::{Command, Deposit};
    use bank_core::time::{Timestamp, Window};
    let mut bench = Bench::new().await;
    bench
        .admin(Command::Deposit(Deposit {
            name: "broke".to_owned(),
            amount: bank_core::amount::Amount(1000),
            window: Window {
                start: None,
                end: Some(Timestamp::from_seconds(T0 + 50)),
            },
            ..Deposit::default()
        }))
        .await;
    let eve = "JobId=j UserId=eve ProjectId=broke MachineName=cluster1 Processors=1";
    bench
        .job("Reserve", &format!("{eve} WallDuration=100"))
        .await;
    bench.at(T1);
    let _ = bench.account("broke").await;
    let _ = bench.journal().await;
    let charge = format!("{eve} WallDuration=30 StartTime={T0} EndTime={}", T0 + 30);
    bench.job("Charge", &charge).await;
    let journal = bench.journal().await;
    assert_eq!(
        journal,
        "charge charge broke -30/-30; charge lien_release broke 0/-70; boundary expire broke 0/0"
    );
}

#[tokio::test]
async fn a_reservation_stays_open_until_it_was_idle_for_long() {
    let mut config = Config::default();
    config.gold.reservation_idle = 3600;
    let mut bench = Bench::of(0, config).await;
    let maint = "JobId=maint.0.0 ProjectId=chem MachineName=cluster1 Processors=8 \
        WallDuration=10 Type=Reservation";
    // The rate applied at the start of the charged time.
    bench.at(T1);
    for _ in 0..2 {
        bench.job("Charge", maint).await;
    }
    assert_eq!(bench.account("chem").await, "999840/0");
    let stage = "<Where name=\"JobId\">maint.0.0</Where><Get name=\"Id\"/>";
    bench.at(T1 + 3599);
    bench.job("Charge", maint).await;
    bench.at(T1 + 3599 + 3599);
    bench.job("Charge", maint).await;
    let one = bench.query("Job", stage).await;
    assert_eq!(one, "Success 000 #1 [<Job><Id>1</Id></Job>]");
    let _ = bench.journal().await;
    bench.at(T1 + 3599 + 3599 + 3600);
    let _ = bench.account("chem").await;
    assert_eq!(bench.journal().await, "boundary");
    bench.at(T1 + 3599 + 3599 + 3600 + 1000);
    bench.job("Charge", maint).await;
    let two = bench.query("Job", stage).await;
    assert_eq!(
        two,
        "Success 000 #2 [<Job><Id>1</Id></Job><Job><Id>2</Id></Job>]"
    );
}

/// The message of Maui after a job's account became the fallback, while its resource manager still reports
/// the first one.
async fn charged_to_another_project(bench: &mut Bench) -> String {
    let eve = "JobId=j UserId=eve MachineName=cluster1 Processors=2";
    bench
        .job(
            "Reserve",
            &format!("{eve} ProjectId=freebie WallDuration=100"),
        )
        .await;
    bench.deposit("broke", 1000).await;
    bench.at(T1);
    let used = format!(
        "WallDuration=50 StartTime={} EndTime={T1} Type=job",
        T1 - 50
    );
    bench
        .job("Charge", &format!("{eve} ProjectId=broke {used}"))
        .await;
    bench.journal().await
}

#[tokio::test]
async fn a_lien_pays_though_the_charge_names_another_project() {
    let mut bench = Bench::new().await;
    let journal = charged_to_another_project(&mut bench).await;
    assert_eq!(bench.account("freebie").await, "999900/0");
    assert_eq!(bench.account("broke").await, "1000/0");
    assert_eq!(
        journal,
        "charge charge freebie -100/-100 (project_was=freebie); \
         charge lien_release freebie 0/-100 (project_was=freebie)"
    );
}

#[tokio::test]
async fn where_projects_are_strict_only_that_of_the_charge_pays() {
    let mut bench = Bench::new().await;
    bench.peer.strict_project = true;
    let journal = charged_to_another_project(&mut bench).await;
    assert_eq!(bench.account("freebie").await, "1000000/0");
    assert_eq!(bench.account("broke").await, "900/0");
    assert_eq!(
        journal,
        "charge lien_release freebie 0/-200 (project_was=freebie); \
         charge charge broke -100/0 (project_was=freebie)"
    );
}

#[tokio::test]
async fn amounts_have_the_decimals_of_the_bank() {
    let bench = Bench::of(2, Config::default()).await;
    let answer = bench.job("Reserve", &reserve("j", 10)).await;
    assert_eq!(
        answer,
        "Success 000 #1 [<Reservation><Amount>20.00</Amount></Reservation>] \
         Successfully reserved 20.00 credits for job j"
    );
}

#[tokio::test]
async fn a_machine_left_out_is_the_only_one_of_the_key() {
    let bench = Bench::new().await;
    let answer = bench
        .job(
            "Reserve",
            "JobId=j UserId=amy ProjectId=chem Processors=2 WallDuration=10",
        )
        .await;
    assert!(answer.starts_with("Success 000"), "{answer}");
    let jobs = bench.query("Job", "<Get name=\"Machine\"/>").await;
    assert_eq!(
        jobs,
        "Success 000 #1 [<Job><Machine>cluster1</Machine></Job>]"
    );
}

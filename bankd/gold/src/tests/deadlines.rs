use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, sleep, sleep_until};

use super::fixture::{Does, Site, answer, good, summary};
use crate::connection::Place;

const SLOW: &str = "242 the message took too long to arrive";

/// Arrival times in milliseconds, time of the answer, and its text.
#[tokio::test(start_paused = true)]
async fn every_deadline_is_answered() {
    let head = "POST /SSSRMAP3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n";
    let site = Site::new();
    for (sent, answered, expected) in [
        (vec![], 5000, SLOW),
        (vec![(0, head)], 5000, SLOW),
        (vec![(0, "POST"), (4000, " /SSS")], 5000, SLOW),
        (vec![(0, head), (0, "\r\n")], 10_000, SLOW),
        (vec![(0, head), (0, "\r\nFF\r\n<Envel")], 10_000, SLOW),
        (
            vec![(0, head), (2000, "\r\n"), (9000, "FF\r\n")],
            12_000,
            SLOW,
        ),
        (
            vec![(0, head), (4900, "\r\n"), (9000, "FF\r\n")],
            14_000,
            SLOW,
        ),
        (vec![(3000, "GET")], 3000, "242 not a POST of /SSSRMAP3"),
    ] {
        let (mut client, served) = site.call();
        let begun = Instant::now();
        for (at, text) in &sent {
            sleep_until(begun + Duration::from_millis(*at)).await;
            client.write_all(text.as_bytes()).await.unwrap();
        }
        let text = summary(&answer(&mut client).await);
        let at = begun.elapsed();
        assert_eq!(text, expected, "{sent:?}");
        let late = at.checked_sub(Duration::from_millis(answered)).unwrap();
        assert!(late < Duration::from_millis(10), "{sent:?} at {at:?}");
        drop(client);
        served.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_reported_and_the_command_is_finished() {
    let site = Site::new();
    site.does(Does::Dawdle);
    let (mut client, served) = site.call();
    let begun = Instant::now();
    client.write_all(&good("sss")).await.unwrap();
    let text = answer(&mut client).await;
    assert_eq!(summary(&text), "242 no answer in time signed");
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    drop(client);
    served.await.unwrap();
    assert_eq!(site.double.ended.load(Ordering::SeqCst), 0);
    sleep(Duration::from_secs(61)).await;
    assert_eq!(site.double.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_stays_after_the_answer_is_left_after_a_second() {
    let site = Site::new();
    let (mut client, served) = site.call();
    let begun = Instant::now();
    client.write_all(&good("sss")).await.unwrap();
    assert_eq!(
        summary(&answer(&mut client).await),
        "000 maui maui=false signed"
    );
    assert!(begun.elapsed() < Duration::from_millis(10));
    served.await.unwrap();
    let lasted = begun.elapsed();
    assert!(lasted >= Duration::from_secs(1) && lasted < Duration::from_millis(1010));
}

/// Nothing makes a connection last longer than 15 s: neither a message at the last moment, nor one
/// who does not take the answer.
#[tokio::test(start_paused = true)]
async fn no_connection_lasts_longer_than_fifteen_seconds() {
    let site = Site::new();
    site.does(Does::Long(2 << 20));
    let (mut client, served) = site.call();
    let begun = Instant::now();
    let message = good("sss");
    let (head, rest) = message.split_at(60);
    sleep(Duration::from_millis(4900)).await;
    client.write_all(head).await.unwrap();
    sleep(Duration::from_secs(9)).await;
    client.write_all(rest).await.unwrap();
    served.await.unwrap();
    let lasted = begun.elapsed();
    assert!(lasted >= Duration::from_millis(13_900), "{lasted:?}");
    assert!(lasted <= Duration::from_millis(15_010), "{lasted:?}");
}

#[tokio::test(start_paused = true)]
async fn one_without_a_seat_is_served_at_once_or_gets_an_error_that_the_bank_is_busy() {
    let site = Site::new();
    let (mut quick, served) = site.call_from("127.0.0.1", Place::Standing);
    quick.write_all(&good("sss")).await.unwrap();
    assert_eq!(
        summary(&answer(&mut quick).await),
        "000 maui maui=false signed"
    );
    drop(quick);
    served.await.unwrap();
    let begun = Instant::now();
    let (mut slow, served) = site.call_from("127.0.0.1", Place::Standing);
    slow.write_all(b"POST /SSSRMAP3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(
        summary(&answer(&mut slow).await),
        "720 too many connections"
    );
    assert!(begun.elapsed() < Duration::from_millis(260));
    served.await.unwrap();
    assert!(begun.elapsed() < Duration::from_millis(360));
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_for_messages_and_not_that_for_answers() {
    let mut site = Site::new();
    let (mut idle, idle_served) = site.call();
    let (mut busy, busy_served) = site.call();
    site.does(Does::Dawdle);
    busy.write_all(&good("sss")).await.unwrap();
    sleep(Duration::from_millis(10)).await;
    let begun = Instant::now();
    site.stop();
    assert_eq!(
        summary(&answer(&mut idle).await),
        "720 the bank is stopping"
    );
    assert!(begun.elapsed() < Duration::from_millis(10));
    assert_eq!(
        summary(&answer(&mut busy).await),
        "242 no answer in time signed"
    );
    drop((idle, busy));
    idle_served.await.unwrap();
    busy_served.await.unwrap();
}

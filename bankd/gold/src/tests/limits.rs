use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use super::fixture::{Does, Site, answer, framed, good, summary};
use crate::seats::{SEATS, STANDING};
use crate::socket::open;

#[tokio::test]
async fn oversized_messages_are_rejected_at_once() {
    let site = Site::new();
    let head = "POST /SSSRMAP3 HTTP/1.1\r\n";
    let cut = format!("{head}Content-Length: 10\r\n\r\n<Env");
    for (message, ends, expected) in [
        (
            format!("{head}{}", "X: y\r\n".repeat(2000)),
            false,
            "242 the head is longer than 8 KiB",
        ),
        (
            format!("{head}Content-Length: 65537\r\n\r\n"),
            false,
            "720 the message is longer than 64 KiB",
        ),
        (
            format!("{head}Transfer-Encoding: chunked\r\n\r\n10001\r\n"),
            false,
            "720 the message is longer than 64 KiB",
        ),
        (
            format!("{head}\r\n"),
            false,
            "242 neither chunked nor Content-Length",
        ),
        (
            format!("{head}Content-Length: x\r\n\r\n"),
            false,
            "242 a length that is not a number",
        ),
        (
            "POST /gold HTTP/1.0\r\n\r\n".to_owned(),
            false,
            "242 not a POST of /SSSRMAP3",
        ),
        (cut, true, "242 the message broke off"),
        (String::new(), true, "242 the message broke off"),
    ] {
        let (mut client, _served) = site.call();
        client.write_all(message.as_bytes()).await.unwrap();
        if ends {
            client.shutdown().await.unwrap();
        }
        let text = summary(&answer(&mut client).await);
        assert_eq!(text, expected, "{}", &message[..message.len().min(80)]);
    }
}

#[tokio::test]
async fn a_bug_behind_the_gateway_is_an_answer_too() {
    let site = Site::new();
    site.does(Does::Panic);
    let (mut client, _served) = site.call();
    client.write_all(&good("sss")).await.unwrap();
    let text = summary(&answer(&mut client).await);
    assert_eq!(text, "720 an internal error; the log has more signed");
}

/// 8 MiB of shared buffers, in addition to a small one of each connection. A late connection gets an
/// answer, and memory is available again after the others have ended.
#[tokio::test(start_paused = true)]
async fn buffers_of_all_connections_are_bounded_together() {
    let site = Site::new();
    let big = framed(&"x".repeat(60 << 10));
    let mut held = Vec::new();
    let mut most = 0;
    for _ in 0..SEATS {
        let (mut client, served) = site.call();
        client.write_all(&big[..big.len() - 1]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        most = most.max(site.house.memory_held());
        held.push((client, served));
    }
    assert!((5 << 20..=6 << 20).contains(&most), "{most}");
    let mut busy = 0;
    for (client, _) in &mut held {
        let text = summary(&answer(client).await);
        busy += usize::from(text == "720 too much at once");
    }
    assert!((100..SEATS).contains(&busy), "{busy}");
    for (client, served) in held {
        drop(client);
        served.await.unwrap();
    }
    assert_eq!(site.house.memory_held(), 0);
    // A long answer counts as well.
    site.does(Does::Long(9 << 20));
    let (mut client, _served) = site.call();
    client.write_all(&good("sss")).await.unwrap();
    assert_eq!(
        summary(&answer(&mut client).await),
        "720 too much at once signed"
    );
}

/// However much others send: a job's message has room, and so has its answer.
#[tokio::test]
async fn a_small_message_is_served_however_full_the_buffers_are() {
    let site = Site::new();
    let _others = site.house.fill_memory();
    let (mut client, _served) = site.call();
    client.write_all(&good("sss")).await.unwrap();
    assert_eq!(
        summary(&answer(&mut client).await),
        "000 maui maui=false signed"
    );
}

/// All seats are taken by silent clients. A good client is served nevertheless, and a further silent one
/// gets an answer immediately.
#[tokio::test]
async fn those_who_dawdle_keep_nobody_out() {
    let mut site = Site::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (house, stopped) = (Arc::clone(&site.house), site.stopped());
    let serving = tokio::spawn(async move { open(house, &listener, stopped).await });
    let mut silent = Vec::new();
    for _ in 0..SEATS {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let begun = std::time::Instant::now();
    let mut late = TcpStream::connect(address).await.unwrap();
    assert_eq!(received(&mut late).await, "720 too many connections");
    for _ in 0..20 {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(&good("sss")).await.unwrap();
        assert_eq!(received(&mut client).await, "000 maui maui=false signed");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "the seats were free again"
    );
    // More than the standing places: the rest waits in the system's queue, and gets an answer soon.
    let mut crowd = Vec::new();
    for _ in 0..STANDING + 100 {
        crowd.push(TcpStream::connect(address).await.unwrap());
    }
    for stream in &mut crowd {
        assert_eq!(received(stream).await, "720 too many connections");
    }
    site.stop();
    for stream in &mut silent {
        assert_eq!(received(stream).await, "720 the bank is stopping");
    }
    drop((silent, crowd, late));
    serving.await.unwrap();
}

async fn received(stream: &mut TcpStream) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    summary(&text)
}

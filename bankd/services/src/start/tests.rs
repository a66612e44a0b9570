//! Lines reach their files while the daemon runs.

use std::sync::Arc;

use bank_core::amount::Precision;
use bank_core::command::{Charge, Command, Request, Scope, Whose};
use bank_core::time::Seconds;
use bankd_config::data_dir::DataDir;
use bankd_ledger::writer::{Caller, Origin, Reply, Submission};
use bankd_safekeeping::init::{Choices, init};
use bankd_store::answer::{Answer, Media};
use bankd_store::{last_record, open_reader, sink_state};

use super::*;

fn bank(folder: &Path) -> DataDir {
    let data = DataDir::new(&folder.join("bank"));
    let choices = Choices {
        precision: Precision::DEFAULT,
        unit: "credits".to_owned(),
        test: false,
    };
    let made = data.clone();
    let making = std::thread::spawn(move || init(&made, &choices));
    making.join().unwrap().unwrap();
    data
}

/// Charges a job while the daemon runs, then stops it in its usual order.
async fn charge(data: &DataDir, path: &str, job: &str) -> Arc<Services> {
    let mut config = Config::default();
    path.clone_into(&mut config.file.path);
    let (services, drain) = start(data, &config).unwrap();
    let request = Request {
        object_id: job.to_owned(),
        whose: Whose {
            project: Some("nosuch".to_owned()),
            user: Some("amy".to_owned()),
            machine: "colony".to_owned(),
            ..Whose::default()
        },
        ..Request::default()
    };
    let reply = services.writer.submit(Submission {
        command: Command::Charge(Charge {
            request,
            duration: Some(Seconds(60)),
            closes: false,
            ..Charge::default()
        }),
        caller: Caller {
            actor: "test".to_owned(),
            client: "test".to_owned(),
            origin: Origin::System,
            scope: Scope::default(),
        },
        key: None,
        request_id: "r".to_owned(),
        dry_run: false,
        fingerprint: String::new(),
        render: |decided| Answer {
            status: if decided.decision.is_ok() { 200 } else { 500 },
            media: Media::Text,
            body: Vec::new(),
        },
    });
    let Ok(Reply::Fresh { answer, .. }) = reply.await else {
        panic!("not taken");
    };
    assert_eq!(answer.status, 200);
    let stopping = Arc::clone(&services);
    tokio::task::spawn_blocking(move || {
        drain.stop();
        stopping.writer.stop();
        assert!(stopping.writer_thread.wait());
    })
    .await
    .unwrap();
    services
}

fn waits(data: &DataDir) -> i64 {
    let connection = open_reader(&data.database()).unwrap();
    let state = sink_state(&connection, "file").unwrap().unwrap();
    last_record(&connection).unwrap() - state.upto
}

fn jobs(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let of = |line: &str| line.split("REQUESTID=").nth(1).unwrap().to_owned();
    text.lines().map(of).collect()
}

#[tokio::test]
async fn lines_reach_their_file_once_over_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let data = bank(folder.path());
    let path = data.path().join("alloc.txt");
    for job in ["a", "b"] {
        charge(&data, "alloc.txt", job).await;
    }
    assert_eq!(jobs(&path), ["a", "b"]);
    std::fs::rename(&path, data.path().join("alloc.1")).unwrap();
    charge(&data, "alloc.txt", "c").await;
    assert_eq!(jobs(&path), ["c"]);
    assert_eq!(waits(&data), 0);
}

#[tokio::test]
async fn a_file_that_cannot_be_written_delays_its_lines_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = bank(folder.path());
    let later = data.path().join("later");
    let services = charge(&data, "later/alloc.txt", "a").await;
    assert!(services.counters.record_failures() > 0);
    assert_eq!(waits(&data), 1);
    std::fs::create_dir(&later).unwrap();
    charge(&data, "later/alloc.txt", "b").await;
    assert_eq!(jobs(&later.join("alloc.txt")), ["a", "b"]);
    assert_eq!(waits(&data), 0);
}

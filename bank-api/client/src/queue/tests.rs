//! Queues with daemons of prepared answers, and folders as a process leaves them that ends at any point.

use std::sync::{Arc, mpsc::channel};
use std::time::Duration;

use super::*;
use crate::Retry;
use crate::client::tests::{AMY, Answer, BUSY, Daemon, deposit};

const FUNDS: Answer = (
    402,
    "",
    r#"{"type":"x","title":"x","status":402,"code":"insufficient_funds"}"#,
);

fn open(folder: &tempfile::TempDir) -> Queue {
    Queue::open(folder.path().join("queue")).unwrap()
}

fn numbered(number: u32) -> Call {
    Call {
        key: Some(format!("k-{number}")),
        ..deposit()
    }
}

fn client(daemon: &Daemon) -> Client {
    let client = Client::builder().servers([daemon.address()]);
    client.retry(Retry::NONE).build().unwrap()
}

fn keys(daemon: Daemon) -> Vec<String> {
    let seen = daemon.seen();
    let keys = seen.iter().map(|seen| seen.header("idempotency-key"));
    keys.map(|key| key.unwrap().to_owned()).collect()
}

#[test]
fn commands_are_sent_in_order_and_leave_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=3 {
        open(&folder).enqueue(&numbered(number)).unwrap();
    }
    let queue = open(&folder);
    assert_eq!(queue.waiting().unwrap().len(), 3);
    let daemon = Daemon::new(&[AMY, FUNDS, AMY]);
    let mut answers = Vec::new();
    let drained = queue
        .drain_with(&client(&daemon), |item, answer| {
            let code = answer.err().and_then(Error::code).map(str::to_owned);
            answers.push((item.call.key.clone().unwrap(), code));
        })
        .unwrap();
    assert_eq!((drained.done, drained.refused, drained.left), (2, 1, 0));
    assert_eq!(keys(daemon), ["k-1", "k-2", "k-3"]);
    let code = Some("insufficient_funds".to_owned());
    let expected = [("k-1", None), ("k-2", code), ("k-3", None)];
    assert_eq!(answers, expected.map(|(key, code)| (key.to_owned(), code)));
    let refused = queue.refused().unwrap();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].call.key.as_deref(), Some("k-2"));
    assert_eq!(queue.answer(&refused[0]).unwrap(), FUNDS.2);
}

/// Answers that keep a command: it and those behind it wait.
#[test]
fn a_command_that_is_not_accepted_holds_those_behind_it() {
    const PROXY: Answer = (404, "", "<html>");
    const STRANGER: Answer = (
        401,
        "",
        r#"{"type":"x","title":"x","status":401,"code":"unauthenticated"}"#,
    );
    const BUG: Answer = (
        500,
        "",
        r#"{"type":"x","title":"x","status":500,"code":"internal"}"#,
    );
    const LOST: Answer = (0, "", "");
    for answers in [&[BUSY], &[PROXY], &[STRANGER], &[BUG], &[LOST]] {
        let folder = tempfile::tempdir().unwrap();
        let queue = open(&folder);
        queue.enqueue(&numbered(1)).unwrap();
        queue.enqueue(&numbered(2)).unwrap();
        let daemon = Daemon::new(answers);
        let drained = queue.drain(&client(&daemon)).unwrap();
        assert_eq!((drained.done, drained.refused, drained.left), (0, 0, 2));
        assert!(drained.stopped.is_some());
        assert_eq!(keys(daemon), ["k-1"]);
        let daemon = Daemon::new(&[AMY, AMY]);
        assert_eq!(queue.drain(&client(&daemon)).unwrap().done, 2);
        assert_eq!(keys(daemon), ["k-1", "k-2"]);
    }
}

/// A process that ended before it removed a command: the command is sent again, with its key.
#[test]
fn what_a_process_leaves_behind_is_sent_once_more_or_swept() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(&folder);
    queue.enqueue(&numbered(1)).unwrap();
    let path = queue.folder().to_owned();
    // Ended while it wrote: the command was not accepted by the queue.
    fs::write(path.join(".new-00000000000000000009.call"), "{").unwrap();
    // Ended between the answer of a refused command and its move.
    let name = queue.names().unwrap().remove(0).0;
    fs::write(path.join(REFUSED).join(answer_name(&name)), "x").unwrap();
    fs::write(path.join(REFUSED).join(".new-a"), "x").unwrap();
    let queue = open(&folder);
    let daemon = Daemon::new(&[FUNDS]);
    let drained = queue.drain(&client(&daemon)).unwrap();
    assert_eq!((drained.refused, drained.left), (1, 0));
    let refused = queue.refused().unwrap();
    assert_eq!(queue.answer(&refused[0]).unwrap(), FUNDS.2);
    assert_eq!(keys(daemon), ["k-1"]);
    let left: Vec<_> = fs::read_dir(path.join(REFUSED)).unwrap().collect();
    assert_eq!(left.len(), 2, "a command and its answer");
}

#[test]
fn files_that_are_no_commands_block_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(&folder);
    fs::write(queue.folder().join(durable::numbered(1, ENDING)), "x").unwrap();
    queue.enqueue(&numbered(1)).unwrap();
    let daemon = Daemon::new(&[AMY]);
    let drained = queue.drain(&client(&daemon)).unwrap();
    assert_eq!((drained.done, drained.refused, drained.left), (1, 1, 0));
    daemon.seen();
}

#[test]
fn limits_refuse_before_anything_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let limits = |items, bytes| {
        Queue::open_with(folder.path().join("queue"), Limits { items, bytes }).unwrap()
    };
    let few = limits(2, 1 << 20);
    few.enqueue(&numbered(1)).unwrap();
    few.enqueue(&numbered(2)).unwrap();
    let error = few.enqueue(&numbered(3)).unwrap_err();
    assert!(
        matches!(error, QueueError::Full { items: 2, .. }),
        "{error}"
    );
    let small = limits(10, 100);
    assert!(matches!(
        small.enqueue(&numbered(3)),
        Err(QueueError::Full { .. })
    ));
    let read = Call::get("/api/v1/jobs".into());
    assert!(matches!(few.enqueue(&read), Err(QueueError::Call(_))));
    assert_eq!(few.waiting().unwrap().len(), 2);
}

#[test]
fn folders_of_others_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open).unwrap();
    let error = Queue::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("mode 0700"), "{error}");
}

#[test]
fn one_drains_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(&folder);
    queue.enqueue(&numbered(1)).unwrap();
    let lock = queue.lock(DRAIN).unwrap();
    lock.lock().unwrap();
    let nobody = Client::connect("unix:/nothing/here").unwrap();
    let drained = queue.drain(&nobody).unwrap();
    assert!(drained.is_busy);
    assert_eq!(drained.left, 1);
}

#[test]
fn many_threads_lose_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(&folder);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let queue = &queue;
            scope.spawn(move || {
                for number in 0..10 {
                    queue.enqueue(&numbered(thread * 10 + number)).unwrap();
                }
            });
        }
    });
    let waiting = queue.waiting().unwrap();
    let mut keys: Vec<_> = waiting.into_iter().map(|item| item.call.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 40);
}

#[test]
fn a_thread_drains_when_it_is_woken() {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(&folder);
    let daemon = Daemon::new(&[AMY]);
    let (tell, told) = channel();
    let hour = Duration::from_hours(1);
    let client = Arc::new(client(&daemon));
    let background = queue.background(client, hour, move |drained| {
        tell.send(drained.unwrap().done).unwrap();
    });
    assert_eq!(told.recv().unwrap(), 0);
    queue.enqueue(&numbered(1)).unwrap();
    background.wake();
    assert_eq!(told.recv().unwrap(), 1);
    drop(background);
    assert_eq!(keys(daemon), ["k-1"]);
}

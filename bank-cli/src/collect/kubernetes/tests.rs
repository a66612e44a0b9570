use std::io::Read as _;

use super::*;
use crate::client::fetch::{Token, tests::Site};
use crate::config::collect::Collect;

struct World {
    queue: Queue,
    kubernetes: Kubernetes,
    site: Site,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(more: &str, answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> Self {
        let site = Site::new(move |target, _| answer(target));
        let text = format!("folder = \"/x\"\n[kubernetes]\nsource = \"k8s:c\"\n{more}");
        let settings: Collect = toml::from_str(&text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path(), 1 << 30).unwrap().unwrap();
        let server = Server::new(&site.http(), Token::Bearer).unwrap();
        Self {
            queue,
            kubernetes: Kubernetes::new(settings.kubernetes.unwrap(), server),
            site,
            _folder: folder,
        }
    }

    fn documents(&self) -> Vec<serde_json::Value> {
        let waiting = self.queue.list().unwrap();
        let read = |batch| {
            let mut text = String::new();
            self.queue
                .body(batch)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            serde_json::from_str(&text).unwrap()
        };
        waiting.iter().map(read).collect()
    }
}

fn pages(target: &str) -> (u16, String) {
    let body = match target.split_once("&continue=") {
        None => r#"{"metadata":{"continue":"a/b"},"items":[{"n":1},{"n":2}]}"#,
        Some((_, "a%2Fb")) => r#"{"metadata":{"continue":"c"},"items":[]}"#,
        Some((_, "c")) => r#"{"metadata":{"continue":""},"items":[{"n":3}]}"#,
        Some(_) => return (410, "{\"message\":\"the token is too old\"}".to_owned()),
    };
    (200, body.to_owned())
}

#[test]
fn all_pages_are_one_list() {
    let mut world = World::new("", pages);
    assert!(matches!(
        world.kubernetes.fetch(&world.queue, ALL, None, 1),
        Ok(Next::Batch(_))
    ));
    let numbers: Vec<i64> = world.documents()[0]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| pod["n"].as_i64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    let first = &world.site.requests()[0];
    assert_eq!(
        first,
        "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DPending%2Cstatus.phase%21%3DRunning"
    );
    let again = world
        .kubernetes
        .fetch(&world.queue, ALL, Some(1), 1)
        .unwrap();
    assert_eq!(again, Next::UpToDate, "one list a round");
}

#[test]
fn a_list_whose_token_expired_is_read_again_once() {
    use std::sync::atomic::{AtomicU32, Ordering};
    for (expired, is_taken) in [(1, true), (2, false)] {
        let seen = AtomicU32::new(0);
        let mut world = World::new("", move |target| {
            let is_second = target.ends_with("&continue=c");
            if is_second && seen.fetch_add(1, Ordering::SeqCst) < expired {
                return (410, "{\"message\":\"too old\"}".to_owned());
            }
            pages(target)
        });
        let fetched = world.kubernetes.fetch(&world.queue, ALL, None, 1);
        match fetched {
            Ok(next) => assert!(is_taken && matches!(next, Next::Batch(_))),
            Err(failure) => {
                assert!(!is_taken, "{}", failure.what);
                assert_eq!(failure.exit, bank_api::exit::bank::UNAVAILABLE);
            }
        }
        assert_eq!(world.documents().len(), usize::from(is_taken));
        assert_eq!(world.site.requests().len(), 6);
    }
}

#[test]
fn namespaces_are_streams_of_their_own() {
    let more = "namespaces = [\"a\", \"b\"]\nlabel_selector = \"app=x\"\n";
    let mut world = World::new(more, pages);
    let streams = world.kubernetes.streams();
    assert_eq!(streams, ["a", "b"]);
    world.kubernetes.fetch(&world.queue, "b", None, 1).unwrap();
    let first = &world.site.requests()[0];
    assert!(first.starts_with("/api/v1/namespaces/b/pods?"), "{first}");
    assert!(first.ends_with("&labelSelector=app%3Dx"), "{first}");
}

#[test]
fn a_list_that_breaks_off_is_not_taken() {
    for body in [
        "",
        "{}",
        "[]",
        r#"{"items":3}"#,
        r#"{"metadata":{"continue":"x"},"items":[]}"#,
    ] {
        let mut world = World::new("", move |target| {
            if target.contains("&continue=") {
                return pages(target);
            }
            (200, body.to_owned())
        });
        assert!(
            world.kubernetes.fetch(&world.queue, ALL, None, 1).is_err(),
            "{body}"
        );
        assert!(world.documents().is_empty(), "{body}");
    }
}

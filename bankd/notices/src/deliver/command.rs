//! A program as a notification target: its standard input, and a time limit.

use std::io::Write as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Attempt, Fact};

/// How a program ended.
pub(super) enum Ended {
    /// By itself.
    With(ExitStatus),
    /// It was stopped, or never began.
    Not(String),
}

/// Runs a program; exit code 0 confirms delivery.
pub(super) fn run(
    runtime: &Handle,
    argv: &[String],
    input: Vec<u8>,
    facts: &[Fact],
    limit: Duration,
) -> Attempt {
    match feed(runtime, argv, input, facts, limit) {
        Ended::With(status) if status.success() => Attempt::Delivered,
        Ended::With(status) => Attempt::Again(format!("the program ended with {status}")),
        Ended::Not(why) => Attempt::Again(why),
    }
}

/// Runs a program with these bytes on its standard input. Its output is not read, and its
/// environment contains only `PATH`, `LC_ALL` and the facts.
pub(super) fn feed(
    runtime: &Handle,
    argv: &[String],
    input: Vec<u8>,
    facts: &[Fact],
    limit: Duration,
) -> Ended {
    let Some((program, arguments)) = argv.split_first() else {
        return Ended::Not("no program".to_owned());
    };
    // Listened for from before the program begins, so that no end is missed.
    let ends = {
        let _inside = runtime.enter();
        signal(SignalKind::child())
    };
    let mut ends = match ends {
        Ok(ends) => ends,
        Err(error) => return Ended::Not(error.to_string()),
    };
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .envs(facts.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ended::Not(format!("{program}: {error}")),
    };
    // In a thread of its own: a program that does not read must not hold us up.
    let written = child.stdin.take().map(|mut stdin| {
        std::thread::Builder::new()
            .name("deliver input".to_owned())
            .spawn(move || stdin.write_all(&input))
    });
    let ended = runtime.block_on(wait(&mut child, &mut ends, limit));
    if let Some(Ok(writing)) = written {
        // The pipe is closed by now, or whoever has it still reads: not a reason to wait.
        if writing.is_finished() {
            let _ = writing.join();
        }
    }
    ended
}

/// Waits for the end of a program, and stops it after its time limit. The signal reports that some
/// child process ended; each time the state of this one is checked.
async fn wait(child: &mut Child, ends: &mut Signal, limit: Duration) -> Ended {
    let ended = tokio::time::timeout(limit, async {
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ended::With(status),
                Ok(None) => {}
                Err(error) => return Ended::Not(error.to_string()),
            }
            if ends.recv().await.is_none() {
                return Ended::Not("its end cannot be observed".to_owned());
            }
        }
    });
    if let Ok(ended) = ended.await {
        return ended;
    }
    let _ = child.kill();
    let _ = child.wait();
    Ended::Not(format!(
        "the program took longer than {} s and was stopped",
        limit.as_secs()
    ))
}

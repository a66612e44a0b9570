//! Low-priority threads: reading imports and followed files, verification, sums of the past,
//! backups. They yield to requests, so that a scheduler's answer does not wait for a processor.

use std::io;
use std::thread::{Builder, JoinHandle};

/// How much less of a busy processor they get; ten steps are a tenth.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Starts a thread with a name, of which the system keeps 15 bytes.
///
/// # Errors
/// If there can be no thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(|| {
        give_way();
        work()
    })
}

/// Lowers the priority of the calling thread and of the threads that it starts. Only Linux has this
/// per thread; on other systems it would apply to the whole process, so nothing is done.
pub fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// The nice value of the thread that asks (proc(5): field 19, behind the name in brackets).
    fn nice() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(16).unwrap().parse().unwrap()
    }

    #[test]
    fn only_the_thread_gives_way() {
        let own = nice();
        let theirs = spawn("background", nice).unwrap().join().unwrap();
        assert_eq!(theirs, NICE.max(own));
        assert_eq!(nice(), own);
    }
}

//! Slurm's `scontrol`, with a limit of time and of output.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::clock::Deadline;
use crate::settings::Settings;

/// Longest output that is read, in bytes. A job has about 1 KiB.
const MAX_OUTPUT: u64 = 64 * 1024;
/// Between two looks at a running command.
const LOOK: Duration = Duration::from_millis(5);

/// Runs `scontrol` with these words and returns its standard output.
///
/// # Errors
/// The reason in one line, if it cannot be run, fails, prints too much, or exceeds the time.
pub(super) fn scontrol(
    settings: &Settings,
    words: &[&str],
    deadline: Deadline,
) -> Result<String, String> {
    let path = settings.slurm.scontrol.display();
    let failed = |why: &str| format!("{path} {}: {why}", words.first().unwrap_or(&""));
    let mut command = Command::new(&settings.slurm.scontrol);
    // Times as seconds since 1970, in no zone.
    command.args(words).env("SLURM_TIME_FORMAT", "%s");
    if let Some(conf) = &settings.slurm.conf {
        command.env("SLURM_CONF", conf);
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(failed("no pipe"));
    };
    let (sender, texts) = sync_channel(2);
    let reader = |is_output: bool, pipe: Box<dyn std::io::Read + Send>| {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error remains.
            let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut bytes);
            let _ = sender.send((is_output, bytes));
        });
    };
    reader(true, Box::new(output));
    reader(false, Box::new(errors));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if deadline.pause(LOOK) => {}
            Ok(None) => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed("no answer in time"));
            }
            Err(error) => return Err(failed(&error.to_string())),
        }
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let left = deadline.remaining().unwrap_or(LOOK);
        match texts.recv_timeout(left) {
            Ok((true, bytes)) => output = bytes,
            Ok((false, bytes)) => errors = bytes,
            Err(_) => return Err(failed("no answer in time")),
        }
    }
    if !status.success() {
        let text = String::from_utf8_lossy(&errors);
        let first = text.lines().next().unwrap_or("no message");
        return Err(failed(first));
    }
    Ok(String::from_utf8_lossy(&output).into_owned())
}

//! Which parts of the daemon's state are faults: `bank status --check` then ends with exit code 1.
//!
//! A fault lasts until somebody ends it, and it is one of the daemon or of its surroundings. Alerts,
//! unbilled uses and disputed jobs are work for the staff of a sound bank, and counts since the start end
//! only with the daemon: a check on them would fail for ever.

use bank_api::v1::{ClusterStatus, Status};

/// A few words for each fault, in the order of the screen.
pub(super) fn faults(status: &Status) -> Vec<String> {
    let mut out = Vec::new();
    if !status.healthy || !status.obstacles.is_empty() {
        out.push("commands are refused".to_owned());
    }
    out.extend(status.cluster.as_ref().and_then(of_cluster));
    match status.clock.state.as_str() {
        "held" => out.push("clock jumped".to_owned()),
        "behind" => out.push("clock behind".to_owned()),
        _ => {}
    }
    let stuck = status.stuck.iter();
    out.extend(stuck.map(|stuck| format!("stuck {}", stuck.subject())));
    let sinks = status.sinks.iter().filter(|sink| sink.error.is_some());
    out.extend(sinks.map(|sink| format!("record file {}", sink.name)));
    let silent = status.silent_sources.iter();
    out.extend(silent.map(|name| format!("collector {name} silent")));
    let partners = status.partners.iter().filter(|one| one.cause.is_some());
    out.extend(partners.map(|one| format!("partner {} waiting", one.name)));
    let targets = status.attention.iter().flat_map(|all| &all.targets);
    let failing = targets.filter(|one| one.active && (one.error.is_some() || one.dead > 0));
    out.extend(failing.map(|one| format!("notices {}", one.name)));
    let reports = status.reports.iter().flat_map(|all| &all.failing);
    out.extend(reports.map(|one| format!("report {}", one.name)));
    out.extend(status.backup_error.as_ref().map(|_| "backup".to_owned()));
    let checkpoint = status.checkpoint_error.as_ref();
    out.extend(checkpoint.map(|_| "checkpoint".to_owned()));
    out
}

fn of_cluster(own: &ClusterStatus) -> Option<String> {
    let words = if own.role == "stopped" {
        "node stopped"
    } else if own.role != "writer" && own.writer.is_none() {
        "cluster without a writer"
    } else if own.error.is_some() {
        "log of the cluster"
    } else {
        return None;
    };
    Some(words.to_owned())
}

#[cfg(test)]
mod tests {
    use bank_api::v1::{AttentionStatus, SinkStatus, TargetStatus, Unbilled};

    use super::*;

    #[test]
    fn faults_are_what_somebody_can_end() {
        let sound = Status {
            healthy: true,
            disputed: Some(3),
            unbilled: Some(Unbilled {
                count: 2,
                amount: "4.000".to_owned(),
            }),
            sinks: vec![SinkStatus {
                name: "file".to_owned(),
                behind: 7,
                rejected: 1,
                ..SinkStatus::default()
            }],
            attention: Some(AttentionStatus {
                on: true,
                open: 3,
                ..AttentionStatus::default()
            }),
            ..Status::default()
        };
        assert_eq!(faults(&sound), [""; 0]);
        let mut broken = Status {
            healthy: false,
            obstacles: vec!["disk_full".to_owned()],
            silent_sources: vec!["sge:colony".to_owned()],
            backup_error: Some("no space".to_owned()),
            checkpoint_error: Some("no key".to_owned()),
            ..sound
        };
        broken.clock.state = "held".to_owned();
        broken.sinks[0].error = Some("no space".to_owned());
        let target = |name: &str, active, dead| TargetStatus {
            name: name.to_owned(),
            active,
            dead,
            ..TargetStatus::default()
        };
        broken.attention = Some(AttentionStatus {
            targets: vec![target("ops", true, 1), target("gone", false, 1)],
            ..AttentionStatus::default()
        });
        broken.cluster = Some(ClusterStatus {
            role: "reader".to_owned(),
            ..ClusterStatus::default()
        });
        let want = [
            "commands are refused",
            "cluster without a writer",
            "clock jumped",
            "record file file",
            "collector sge:colony silent",
            "notices ops",
            "backup",
            "checkpoint",
        ];
        assert_eq!(faults(&broken), want);
    }
}

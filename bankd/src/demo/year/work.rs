//! The jobs of a day: records of collectors, and jobs of the scheduler of the teaching cluster.

use anyhow::Result;
use serde_json::{Value, json};

use super::client::{Client, put};
use super::site::{ENDED, MACHINES, PROJECTS, Project};
use super::{DAY, DAYS, HOUR, QUARTER};

/// Days at the end of the year of which the collector of `cirrus` has sent nothing.
const LAG: i64 = 9;
const MINUTE: i64 = HOUR / 60;
/// The start of the sequence from which all amounts follow.
const SEED: u64 = 20_261_128;

/// Where the year is.
pub(super) struct Work {
    state: u64,
    number: i64,
    last: Option<(&'static str, String)>,
}

impl Work {
    pub(super) fn new() -> Self {
        Self {
            state: SEED,
            number: 100_000,
            last: None,
        }
    }

    /// The last job that a collector sent: its machine and its id.
    pub(super) fn last(&self) -> Option<(&'static str, &str)> {
        self.last
            .as_ref()
            .map(|(machine, id)| (*machine, id.as_str()))
    }

    /// The next number of the sequence from `least` to `most`.
    fn draw(&mut self, least: i64, most: i64) -> i64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let range = u64::try_from(most - least + 1).unwrap_or(1);
        least + i64::try_from((self.state >> 33) % range).unwrap_or(0)
    }

    /// Sends what ended on a day, in its evening.
    pub(super) async fn day(&mut self, client: &mut Client, day: i64) -> Result<()> {
        client.set(client.instant(day, DAY - MINUTE));
        let weekend = day % 7 > 4;
        let count = if weekend { 4 } else { self.draw(8, 12) };
        let mut records: Vec<Value> = Vec::new();
        for _ in 0..count {
            let project = self.project();
            if project.name == ENDED && day >= 2 * QUARTER {
                continue;
            }
            if project.machine == "cirrus" && day >= DAYS - LAG {
                continue;
            }
            records.push(self.record(client, project, day));
        }
        client
            .post("/api/v1/usage", &json!({"records": records}))
            .await?;
        if day % 7 == 2 {
            self.lesson(client, day).await?;
        }
        Ok(())
    }

    /// A project, by weight.
    fn project(&mut self) -> &'static Project {
        let all: i64 = PROJECTS.iter().map(|project| project.weight).sum();
        let mut left = self.draw(0, all - 1);
        for project in &PROJECTS {
            left -= project.weight;
            if left < 0 {
                return project;
            }
        }
        &PROJECTS[1]
    }

    fn record(&mut self, client: &Client, project: &'static Project, day: i64) -> Value {
        self.number += 1;
        let id = self.number.to_string();
        let machine = MACHINES
            .iter()
            .find(|machine| machine.name == project.machine);
        let source = machine
            .and_then(|machine| machine.source)
            .unwrap_or_default();
        let size = machine.map_or(16, |machine| machine.processors);
        let nodes = self.draw(1, if project.machine == "aurora" { 4 } else { 2 });
        let minutes = self.draw(40, 700);
        let end = self.draw(1, 1430) * MINUTE;
        let start = end - minutes * MINUTE;
        let wait = self.draw(0, 300) * MINUTE / if project.machine == "aurora" { 1 } else { 4 };
        let busy = self.draw(60, 98);
        let failed = self.draw(0, 19) == 0;
        let who = self.draw(1, i64::try_from(project.members.len()).unwrap_or(2) - 1);
        let user = project.members.get(usize::try_from(who).unwrap_or(0));
        let queue = if minutes > 480 { "long" } else { "normal" };
        let mut record = json!({
            "source": source, "id": id, "machine": project.machine, "project": project.name,
            "user": user, "class": queue, "submit": client.time(day, start - wait),
            "start": client.time(day, start), "end": client.time(day, end),
            "requested_s": (minutes + 60) * 60, "nodes": nodes, "processors": nodes * size,
            "cpu_s": nodes * size * minutes * 60 * busy / 100,
            "state": if failed { "failed" } else { "completed" },
        });
        if project.machine == "borealis" {
            put(&mut record, "gres", json!({"gpu": (nodes * 4).to_string()}));
        }
        self.last = Some((project.machine, id));
        record
    }

    /// A course on the teaching cluster: money is held at the start, and charged at the end.
    async fn lesson(&mut self, client: &mut Client, day: i64) -> Result<()> {
        self.number += 1;
        let job = format!("Moab.{}", self.number);
        let hours = self.draw(2, 4);
        client.set(client.instant(day + 1, 8 * HOUR));
        let body = json!({"job": job, "project": "teaching", "user": "student", "machine": "dawn",
            "processors": 32, "nodes": 2, "wall_s": 4 * 3600});
        client.post("/api/v1/reserves", &body).await?;
        client.set(client.instant(day + 1, (8 + hours) * HOUR));
        let body = json!({"job": job, "machine": "dawn", "duration_s": hours * 3600});
        client.post("/api/v1/charges", &body).await?;
        Ok(())
    }
}

//! The open matters of today: a proposal, a request, jobs that run, a reservation, usage without a project, records that
//! could not be read.

use anyhow::Result;
use serde_json::{Value, json};

use super::client::{Client, text};
use super::{DAY, DAYS, HOUR, QUARTER};

pub(super) async fn all(client: &mut Client) -> Result<()> {
    unmapped(client).await?;
    quarantined(client).await?;
    running(client).await?;
    proposed(client).await?;
    requested(client).await?;
    closed(client).await
}

/// Usage of an account that no mapping gives to a project.
async fn unmapped(client: &mut Client) -> Result<()> {
    let record = |n: i64| {
        json!({"source": "slurm:aurora", "id": format!("vis-{n}"), "machine": "aurora",
            "project": "grp_vislab", "user": "guest42", "class": "normal", "processors": 64,
            "start": client.time(DAYS - n - 1, 8 * HOUR), "end": client.time(DAYS - n - 1, 11 * HOUR),
            "state": "completed"})
    };
    let records: Vec<Value> = (1..=3).map(record).collect();
    client
        .post("/api/v1/usage", &json!({"records": records}))
        .await?;
    Ok(())
}

/// A file of a collector with lines that are no records.
async fn quarantined(client: &mut Client) -> Result<()> {
    let body =
        json!({"source": "slurm:borealis", "format": "slurm-jobcomp", "machine": "borealis"});
    let opened = client.post("/api/v1/imports", &body).await?;
    let id = text(&opened, "id")?;
    let start = client.time(DAYS - 2, 0);
    let start = start.trim_end_matches('Z');
    let lines = format!(
        "JobId=91 UserId=elif(1005) JobState=COMPLETED StartTime={start} EndTime=sometime ProcCnt=64\n\
         JobId=92 UserId=elif(1005) JobState=COMPLETED StartTime={start} EndTime={start} ProcCnt=many\n"
    );
    let target = format!("/api/v1/imports/{id}/data?file=jobcomp.log&at=0");
    client.bytes("POST", &target, lines.into_bytes()).await?;
    let target = format!("/api/v1/imports/{id}/end");
    client.post(&target, &Value::Null).await?;
    Ok(())
}

/// Jobs that hold money now, and a maintenance of the day after tomorrow.
async fn running(client: &mut Client) -> Result<()> {
    for (job, project, user, processors) in [
        ("200001", "climate-ocean", "amy", 256),
        ("200002", "climate-ocean", "amy", 64),
        ("200003", "chemistry-catalysis", "dmitri", 128),
    ] {
        let body = json!({"job": job, "project": project, "user": user, "machine": "aurora",
            "processors": processors, "wall_s": 24 * 3600});
        client.post("/api/v1/reserves", &body).await?;
    }
    let body = json!({"job": "maintenance.7", "type": "reservation", "project": "operations",
        "user": "otto", "machine": "dawn", "processors": 64, "wall_s": 8 * 3600,
        "start": client.later(2 * DAY)});
    client.post("/api/v1/reserves", &body).await?;
    Ok(())
}

/// A deposit that the account manager proposes, for another person to approve.
async fn proposed(client: &mut Client) -> Result<()> {
    client.manages(true);
    let body = json!({"name": "climate-ocean", "amount": "200000", "end": client.time(DAYS + 200, 0),
        "note": "extension until the end of the grant"});
    client.post("/api/v1/deposits?propose=true", &body).await?;
    client.manages(false);
    client
        .send("DELETE", "/api/v1/tokens/mona", &Value::Null)
        .await?;
    Ok(())
}

/// A member whom a principal investigator asks for.
async fn requested(client: &mut Client) -> Result<()> {
    let body = json!({"project": "climate-ocean", "user": "chloe",
        "reason": "works on the coupling of ice and ocean from next month on"});
    client
        .post_as("hartmann", "/api/v1/requests/members", &body)
        .await
}

/// The books of the first quarter.
async fn closed(client: &mut Client) -> Result<()> {
    let body = json!({"until": client.time(QUARTER, 0), "note": "first quarter"});
    client.post("/api/v1/closes", &body).await?;
    Ok(())
}

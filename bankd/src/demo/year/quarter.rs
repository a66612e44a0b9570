//! What an account manager does: awards at the start of a quarter, and corrections.

use anyhow::Result;
use serde_json::json;

use super::client::{Client, put};
use super::site::{ENDED, PROJECTS};
use super::work::Work;
use super::{DAYS, HOUR, QUARTER};

/// The days of a refund of a job.
const REFUND: i64 = 23;

/// Awards of a quarter, from 0 to 3. The last one ends after the present.
pub(super) async fn begin(client: &mut Client, number: i64) -> Result<()> {
    let day = number * QUARTER;
    client.set(client.instant(day, 9 * HOUR));
    client.manages(true);
    let last = if number == 3 {
        DAYS + 40
    } else {
        day + QUARTER
    };
    let (start, end) = (client.time(day, 0), client.time(last, 0));
    let note = format!("award of quarter {}", number + 1);
    for project in PROJECTS.iter().filter(|project| project.award > 0) {
        if project.name == ENDED && number > 1 {
            continue;
        }
        let amount = (project.award * 1000).to_string();
        let body = json!({"name": project.name, "amount": amount, "start": start, "end": end,
            "allow_past": true, "note": note});
        client.post("/api/v1/deposits", &body).await?;
    }
    for (name, amount) in [
        ("teaching", "700"),
        ("freecycle", "5000"),
        ("operations", "20000"),
    ] {
        let body = json!({"name": name, "amount": amount, "note": note});
        client.post("/api/v1/deposits", &body).await?;
    }
    client.manages(false);
    Ok(())
}

/// Corrections in the evening of some days.
pub(super) async fn day(client: &mut Client, day: i64, work: &Work) -> Result<()> {
    if day % REFUND == REFUND - 1
        && let Some((machine, id)) = work.last()
    {
        let mut body = json!({"job": id, "machine": machine, "note": "a node failed"});
        if day % 2 == 0 {
            put(&mut body, "amount", "25.00".into());
        }
        client.post("/api/v1/refunds", &body).await?;
    }
    match day {
        140 => {
            let body = json!({"from": "climate-ice", "to": "climate-ocean", "amount": "5000",
                "note": "agreed by the group"});
            client.post("/api/v1/transfers", &body).await?;
        }
        200 => {
            let body = json!({"name": "chemistry-batteries", "amount": "7000", "note": "typed by mistake"});
            let answer = client.post("/api/v1/deposits", &body).await?;
            let body = json!({"transaction": answer.get("transaction"), "note": "wrong project"});
            client.post("/api/v1/reversals", &body).await?;
        }
        260 => {
            let body = json!({"account": "operations", "amount": "-250.00",
                "note": "counted twice during the move of the storage"});
            client.post("/api/v1/adjustments", &body).await?;
        }
        _ => {}
    }
    Ok(())
}

//! The first day: machines, hardware, people, projects, rates and roles.

use anyhow::Result;
use bank_api::text::format_rfc3339;
use bankd_ledger::clock;
use serde_json::{Value, json};

use super::HOUR;
use super::client::{Client, put, text};
use super::site::{MACHINES, PROJECTS, USERS};

pub(super) async fn all(client: &mut Client) -> Result<()> {
    machines(client).await?;
    for (name, full) in USERS {
        let mail = format!("{name}@example.org");
        let body = json!({"name": name, "common_name": full, "email": mail});
        client.post("/api/v1/users", &body).await?;
    }
    projects(client).await?;
    rates(client).await?;
    shares(client).await?;
    roles(client).await?;
    token(client).await
}

/// The account manager signs her requests with a token. Its end counts by the time of the machine.
async fn token(client: &mut Client) -> Result<()> {
    let projects = PROJECTS.iter().filter(|project| project.parent.is_none());
    let projects: Vec<&str> = projects.map(|project| project.name).collect();
    let end = clock::real_us().saturating_add(HOUR);
    let body = json!({"id": "mona", "client": "mona", "roles": ["operator"], "projects": projects,
        "valid_until": format_rfc3339(end)});
    let answer = client.post("/api/v1/tokens", &body).await?;
    client.give(text(&answer, "secret")?);
    Ok(())
}

async fn machines(client: &mut Client) -> Result<()> {
    let from = client.time(0, 0);
    for machine in MACHINES {
        let body = json!({"name": machine.name, "description": machine.description});
        client.post("/api/v1/machines", &body).await?;
        let body = json!({
            "name": format!("nodes of {}", machine.name), "machine": machine.name,
            "processors": machine.processors, "nodes": machine.nodes, "from": from,
        });
        client.post("/api/v1/hardware", &body).await?;
    }
    Ok(())
}

async fn projects(client: &mut Client) -> Result<()> {
    for project in PROJECTS {
        let mut body = json!({"name": project.name, "description": project.description});
        if let Some(parent) = project.parent {
            put(&mut body, "parent", parent.into());
        }
        client.post("/api/v1/projects", &body).await?;
        for (at, user) in project.members.iter().enumerate() {
            let mut body = json!({"user": user});
            if at == 0 {
                put(&mut body, "role", "manager".into());
            }
            let target = format!("/api/v1/projects/{}/members", project.name);
            client.post(&target, &body).await?;
        }
    }
    let body = json!({"users": [{"value": "ANY", "allow": true}]});
    client
        .send("PATCH", "/api/v1/accounts/freecycle", &body)
        .await?;
    let body = json!({"fallback": "freecycle"});
    client.send("PATCH", "/api/v1/machines/dawn", &body).await?;
    for user in ["amy", "femi", "elif", "student"] {
        let first = PROJECTS
            .iter()
            .find(|p| p.members.iter().skip(1).any(|m| *m == user));
        let body = json!({"default_project": first.map(|project| project.name)});
        client
            .send("PATCH", &format!("/api/v1/users/{user}"), &body)
            .await?;
    }
    Ok(())
}

async fn rates(client: &mut Client) -> Result<()> {
    let rates: [Value; 3] = [
        json!({"kind": "VBR", "name": "Processors", "instance": "", "rate": "1", "per": "hour",
               "description": "a core-hour is one SU"}),
        json!({"kind": "VBR", "name": "gpu", "instance": "", "rate": "20", "per": "hour",
               "description": "a GPU-hour is 20 SU"}),
        json!({"kind": "NBM", "name": "QualityOfService", "instance": "high", "rate": "1.5",
               "description": "urgent jobs"}),
    ];
    for rate in rates {
        client.post("/api/v1/rates", &rate).await?;
    }
    Ok(())
}

/// Groups that funded hardware.
async fn shares(client: &mut Client) -> Result<()> {
    for (name, user, projects, processors) in [
        (
            "Hartmann group",
            "hartmann",
            json!(["climate-ocean", "climate-ice"]),
            256,
        ),
        (
            "Ito group",
            "ito",
            json!(["chemistry-catalysis", "chemistry-batteries"]),
            128,
        ),
    ] {
        let body = json!({"name": name, "user": user, "projects": projects});
        client.post("/api/v1/contributors", &body).await?;
        let body =
            json!({"contributor": name, "processors": processors, "from": client.time(0, 0)});
        client.post("/api/v1/contributions", &body).await?;
    }
    Ok(())
}

async fn roles(client: &mut Client) -> Result<()> {
    for (name, role) in [
        ("otto", "scheduler"),
        ("ada", "auditor"),
        ("grace", "admin"),
    ] {
        let body = json!({"name": name, "role": role});
        client.post("/api/v1/roles", &body).await?;
    }
    for project in PROJECTS.iter().filter(|project| project.parent.is_none()) {
        let body = json!({"name": "mona", "role": "operator", "project": project.name});
        client.post("/api/v1/roles", &body).await?;
    }
    let body = json!({"role": "operator", "per_operation": "300000"});
    client.post("/api/v1/limits", &body).await?;
    Ok(())
}

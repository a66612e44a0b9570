//! `gquote`, `greserve` and `gcharge`: the same job three times.

use bank_api::text::parse_duration;

use super::{
    money,
    request::Request,
    session::{Session, Stop},
};

/// Options and properties of the job.
const PROPERTIES: [(&str, &str); 16] = [
    ("application", "Application"),
    ("disk", "Disk"),
    ("executable", "Executable"),
    ("machine", "MachineName"),
    ("memory", "Memory"),
    ("name", "Name"),
    ("nodes", "Nodes"),
    ("organization", "Organization"),
    ("processors", "Processors"),
    ("project", "ProjectId"),
    ("qualityOfService", "QualityOfService"),
    ("queue", "Queue"),
    ("quote", "QuoteId"),
    ("state", "State"),
    ("type", "Type"),
    ("user", "UserId"),
];

/// Quotes, reserves or charges a job.
pub(super) fn run(session: &mut Session<'_>, action: &str) -> Result<u8, Stop> {
    let (mut name, number) = session.given.job();
    if session.given.flag("costOnly") && session.given.flag("guarantee") {
        let line = "The --costOnly and --guarantee options are mutually exclusive";
        return Err(Stop::Usage(Some(line.to_owned())));
    }
    if name.is_none() {
        name = of_reservation(session)?;
    }
    if name.is_none() && action != "Quote" {
        return Err(Stop::Usage(None));
    }
    let mut request = Request::new(action, "Job");
    for (property, value) in [("Id", number), ("JobId", name)] {
        if let Some(value) = value {
            request = request.job(property, &value);
        }
    }
    let given = &session.given;
    for (option, property) in PROPERTIES {
        let default = session.project.as_deref().filter(|_| option == "project");
        if let Some(value) = given.text(option).or(default) {
            request = request.job(property, value);
        }
    }
    for (property, value) in given.pairs() {
        request = request.job(property, value);
    }
    let flags = [
        ("costOnly", "CostOnly"),
        ("guarantee", "Guarantee"),
        ("incremental", "Incremental"),
        ("replace", "Replace"),
    ];
    for (flag, name) in flags {
        if given.flag(flag) {
            request = request.option(name, "True");
        }
    }
    if let Some(amount) = given.text("amount") {
        request = request.option("Amount", &given.credits(amount));
    }
    if let Some(text) = given.text("description") {
        request = request.option("Description", text);
    }
    if let Some(text) = given.text("wallDuration") {
        request = request.option("WallDuration", &seconds(text)?);
    }
    let window = [("startTime", "StartTime"), ("endTime", "EndTime")];
    let request = money::options(session, request, &window);
    send(session, &request, action)
}

fn send(session: &mut Session<'_>, request: &Request, action: &str) -> Result<u8, Stop> {
    let response = session.change(request)?;
    // A quiet quote prints its price.
    let is_price = action == "Quote" && session.given.flag("quiet");
    if is_price && !response.is_failure {
        session.say(format!("{}\n", response.count));
    }
    Ok(response.exit())
}

/// A duration in seconds: `3600`, `1:00:00`.
fn seconds(text: &str) -> Result<String, Stop> {
    if text.parse::<i64>().is_ok() {
        return Ok(text.to_owned());
    }
    match parse_duration(text) {
        Some(seconds) => Ok(seconds.to_string()),
        None => Err(Stop::Usage(Some(format!("{text:?} is not a duration")))),
    }
}

/// The job of the reservation that `-r` names.
fn of_reservation(session: &mut Session<'_>) -> Result<Option<String>, Stop> {
    let Some(id) = session.given.text("reservation").map(str::to_owned) else {
        return Ok(None);
    };
    let request = Request::new("Query", "Reservation")
        .get("Name")
        .filter("Id", &id);
    let response = session.query(&request)?;
    if response.is_failure {
        session.show(&response, false);
        return Err(Stop::Exit(response.exit()));
    }
    match response.first("Name") {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(session.refuse(&format!("The specified reservation ({id}) does not exist."))),
    }
}

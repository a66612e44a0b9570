//! A reserve over the Gold gateway against one over the scheduler's route, in turn, a connection of
//! its own for each: from the connect to the answer's last byte.

use crate::document::{MACHINE, Spread, Step, document, job_id, project, user};
use crate::figure::percentile;
use crate::load::{is_whole, signed};
use crate::place::Options;
use crate::seed::SCHEDULER;
use anyhow::{Context, Result, bail};
use bank_api::sign::SigningKey;
use bankd_ledger::clock::Stopwatch;
use bankd_ledger::keys;
use bankd_ledger::keys::hmac64::{self, Hmac64};
use bankd_nami::Event;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

/// The first of the jobs that are reserved here.
const FIRST_JOB: u64 = 10_000_000;

/// Part `gold`. Options: `port gold data count warm`; of each kind `count` calls, of which the first
/// `warm` are not measured. Reports median and 99th percentile of both in nanoseconds.
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = Path::new(options.text("data")?).join("keys");
    let secret = keys::read_secret(&folder, SCHEDULER)?;
    let (signing, hmac) = (SigningKey::new(&secret), Hmac64::new(&secret)?);
    let (count, warm) = (options.number("count", 1500)?, options.number("warm", 100)?);
    let [port, gold] = ["port", "gold"].map(|key| options.number(key, 0));
    let (port, gold) = (u16::try_from(port?)?, u16::try_from(gold?)?);
    let mut calls = Vec::new();
    for n in 0..count {
        let job = FIRST_JOB + 2 * n;
        let step = Step {
            event: Event::Reserve,
            job,
        };
        let nami = signed(
            &signing,
            "/nami/v1/reserve",
            "application/xml",
            &document(step, Spread::Many),
        )?;
        calls.push((nami, message(&hmac, job + 1)));
    }
    let (mut by_nami, mut by_gold) = (Vec::new(), Vec::new());
    for (nami, message) in &calls {
        by_nami.push(call(port, nami, "200 OK", is_whole)?);
        let ended = |got: &[u8]| Ok(got.ends_with(b"\r\n0\r\n\r\n"));
        by_gold.push(call(gold, message, "<Code>000</Code>", ended)?);
    }
    let warm = usize::try_from(warm)?;
    let [nami, gold] = [by_nami, by_gold].map(|times| {
        let mut measured: Vec<u64> = times.into_iter().skip(warm).collect();
        measured.sort_unstable();
        measured
    });
    println!(
        "nami_p50_ns={} nami_p99_ns={} gold_p50_ns={} gold_p99_ns={}",
        percentile(&nami, 50),
        percentile(&nami, 99),
        percentile(&gold, 50),
        percentile(&gold, 99)
    );
    Ok(())
}

/// One call over a connection of its own; how long it took, in nanoseconds.
fn call(
    port: u16,
    request: &str,
    expected: &str,
    is_whole: impl Fn(&[u8]) -> Result<bool>,
) -> Result<u64> {
    let since = Stopwatch::start();
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.write_all(request.as_bytes())?;
    let (mut answer, mut space) = (Vec::new(), [0; 4096]);
    while !is_whole(&answer)? {
        match stream.read(&mut space)? {
            0 => break,
            read => answer.extend_from_slice(space.get(..read).context("too much")?),
        }
    }
    let took = u64::try_from(since.elapsed().as_nanos())?;
    let answer = String::from_utf8_lossy(&answer);
    if !answer.contains(expected) {
        bail!("answered: {answer}");
    }
    Ok(took)
}

/// What Maui sends before a job starts.
fn message(key: &Hmac64, job: u64) -> String {
    let owner = Spread::Many.project_of(job);
    let (job, user, project) = (job_id(job), user(owner), project(owner));
    let body = format!(
        "<Body actor=\"root\"><Request action=\"Reserve\" actor=\"root\"><Object>Job</Object><Data>\
         <Job><JobId>{job}</JobId><UserId>{user}</UserId><ProjectId>{project}</ProjectId>\
         <QualityOfService>premium</QualityOfService><MachineName>{MACHINE}</MachineName>\
         <Processors>64</Processors><WallDuration>3600</WallDuration><Queue>batch</Queue>\
         <NodeType>DEFAULT</NodeType></Job></Data></Request></Body>"
    );
    let digest = hmac64::digest(body.as_bytes());
    let payload = format!(
        "<Envelope component=\"ClusterScheduler\" count=\"1\" name=\"maui\" version=\"3.3.2\">\
         <Signature><DigestValue>{}</DigestValue><SignatureValue>{}</SignatureValue></Signature>\
         {body}</Envelope>",
        STANDARD.encode(digest),
        STANDARD.encode(key.sign(&digest)),
    );
    format!(
        "POST /SSSRMAP3 HTTP/1.1\r\nContent-Type: text/xml; charset=\"utf-8\"\r\n\
         Transfer-Encoding: chunked;\r\n\r\n{:X}\r\n{payload}\r\n\0",
        payload.len()
    )
}

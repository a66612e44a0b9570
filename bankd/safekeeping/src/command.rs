//! Commands to the writer of a bank that nobody serves.

use anyhow::{Result, bail};
use bank_core::command::{Command, Scope};
use bankd_ledger::clock;
use bankd_ledger::writer::{Caller, Decided, Origin, Reply, Submission, Writer};
use bankd_store::answer::{Answer, Media};

/// Submits a command in the name of a subcommand of `bankd`, and waits until it is durable.
pub(crate) async fn submit(writer: &Writer, actor: &str, command: Command) -> Result<()> {
    let reply = writer.submit(Submission {
        command,
        caller: Caller {
            actor: actor.to_owned(),
            client: "bankd".to_owned(),
            origin: Origin::System,
            scope: Scope::default(),
        },
        key: None,
        request_id: clock::request_id(),
        dry_run: false,
        render,
        fingerprint: String::new(),
        turn: None,
    });
    match reply.await? {
        Reply::Fresh { summary, .. } if summary.code.is_empty() => Ok(()),
        Reply::Fresh { summary, .. } => bail!("{} was refused: {}", summary.op, summary.code),
        _ => bail!("the writer gave an old answer to a new command"),
    }
}

fn render(_: &Decided<'_>) -> Answer {
    Answer {
        status: 200,
        media: Media::Text,
        body: Vec::new(),
    }
}

//! Charges jobs by a queue on disk, which loses none while the bank is away or this program is killed.
//!
//! ```sh
//! cargo run -p bank-client --example charge -- unix:/var/lib/bankd/bankd.sock /var/spool/site colony chem amy job.1
//! ```
//!
//! Each job used one processor for an hour. Without jobs, the program sends what earlier runs left in the queue.

use std::{error::Error, io::Write as _};

use bank_client::{Call, Client, Retry, list, new_key, queue::Queue, v1::NewCharge};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || {
        words
            .next()
            .ok_or("usage: charge SERVERS FOLDER MACHINE PROJECT USER [JOB]...")
    };
    let (servers, folder, machine, project, user) = (word()?, word()?, word()?, word()?, word()?);
    // What cannot be sent now waits for the next run.
    let client = Client::builder()
        .servers(list(&servers))
        .retry(Retry::NONE)
        .build()?;
    let queue = Queue::open(folder)?;
    for job in words {
        let charge = NewCharge {
            job: job.clone(),
            machine: Some(machine.clone()),
            project: Some(project.clone()),
            user: Some(user.clone()),
            processors: Some(1),
            duration_s: Some(3600),
            ..NewCharge::default()
        };
        queue.enqueue(&Call::charge(&charge, new_key()?)?)?;
        // From here on the charge is on disk, with its key.
        println!("queued {job}");
        std::io::stdout().flush()?;
    }
    let drained = queue.drain_with(&client, |item, answer| {
        let key = item.call.key.as_deref().unwrap_or_default();
        match answer {
            Ok(_) => println!("charged {key}"),
            Err(error) => println!("refused {key}: {error}"),
        }
    })?;
    println!(
        "{} done, {} refused, {} left",
        drained.done, drained.refused, drained.left
    );
    if let Some(error) = drained.stopped {
        println!("later: {error}");
    }
    Ok(())
}

//! `cargo bench --bench auditor`: AUDITOR's routes against their gates (`auditor-api.md` 9.2). The last
//! line of the output is one JSON object.
//!
//! | figure | what is measured |
//! |---|---|
//! | `post` | single `POST /record`, 64 connections, durable, records a second |
//! | `post_single` | the same daemon with one record in a commit |
//! | `commits_per_record` | commits counted by the daemon, over records, at 16 connections |
//! | `day_*` | `GET /records` of one day of 500 records, to its last byte |
//! | `group_*` | `meta[group_id][c][0]=…&sort_by[desc]=stop_time&limit=100` |
//! | `one_*` | `GET /record/{id}` |
//! | `stream` | `GET /records`: everything, records a second |
//!
//! `*` is `few` for 200,000 stored records and `many` for 2,000,000. The daemon runs on core 0 and
//! whatever asks on core 1, each in a process of its own. Every round measures everything once; the
//! figures are medians over the rounds. Options after `--`:
//! `rounds=3 records=20000 few=200000 many=2000000 questions=300 only=post,commits,ask,stream`.

mod ask;
mod daemon;
#[path = "../hot_path/figure.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
mod figure;
#[path = "../hot_path/place.rs"]
#[allow(dead_code, reason = "what the hot path's bench needs beside this")]
mod place;
mod post;
mod record;
mod report;
mod rounds;
mod wire;

use anyhow::{Context, Result, bail};
use place::Options;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == "part") {
        let name = arguments.nth(1).context("which part")?;
        let options = Options::parse(arguments);
        return match name.as_str() {
            "fill" => post::fill(&options),
            "post" => post::run(&options),
            "ask" => ask::run(&options),
            "stream" => ask::stream(&options),
            _ => bail!("no such part: {name}"),
        };
    }
    rounds::run(&Options::parse(arguments))
}

//! One call of a script, as the scheduler makes it for every event, beside `/bin/true` from the
//! same parent: started, fed a document, waited for.

use crate::document::quote;
use crate::figure::percentile;
use crate::place::Options;
use crate::seed::SCHEDULER;
use anyhow::{Context, Result, bail};
use bankd_ledger::clock::Stopwatch;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a site builds the scripts: nothing is to be looked up or moved when one starts.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// Builds the scripts as a site installs them, one file without shared libraries
/// (`limits.md` 6.7), and says where they are.
pub(crate) fn build() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let target = Path::new(crate::place::BANKD)
        .parent()
        .and_then(Path::parent)
        .context("no target directory")?;
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "nami-scripts"])
        .arg("--target")
        .arg(&triple)
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .env("RUSTFLAGS", STATIC)
        .status()
        .context("cargo build of nami-scripts")?;
    if !built.success() {
        bail!("nami-scripts do not build");
    }
    let scripts = target.join(triple).join("release/nami-scripts");
    if !scripts.is_file() {
        bail!("{} is not there", scripts.display());
    }
    Ok(scripts)
}

/// Part `script`. Options: `scripts port data folder calls`. Reports the median time of a plain
/// quote over TCP, signed both ways, and of `/bin/true`, in nanoseconds.
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = Path::new(options.text("folder")?);
    let name = folder.join("bank.quote");
    if !name.exists() {
        std::os::unix::fs::symlink(options.text("scripts")?, &name)?;
    }
    let secret = Path::new(options.text("data")?)
        .join("keys")
        .join(SCHEDULER);
    let conf = folder.join("nami.conf");
    fs::write(
        &conf,
        format!(
            "server=http://127.0.0.1:{}\nkey_id={SCHEDULER}\nkey_file={}\nspool_dir={}\n",
            options.text("port")?,
            secret.display(),
            folder.join("spool").display()
        ),
    )?;
    let document = folder.join("quote.xml");
    fs::write(&document, quote())?;
    let (mut script, mut floor) = (Vec::new(), Vec::new());
    let calls = options.number("calls", 200)?;
    for _ in 0..calls {
        script.push(call(&name, &document, &conf)?);
        floor.push(call(Path::new("/bin/true"), &document, &conf)?);
    }
    script.sort_unstable();
    floor.sort_unstable();
    println!(
        "script_ns={} true_ns={}",
        percentile(&script, 50),
        percentile(&floor, 50)
    );
    Ok(())
}

/// One call; its time in nanoseconds from before the start until its output is read and it is gone.
fn call(program: &Path, document: &Path, conf: &Path) -> Result<u64> {
    let input = File::open(document)?;
    let watch = Stopwatch::start();
    let output = Command::new(program)
        .env("NAMI_CONF", conf)
        .stdin(Stdio::from(input))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?
        .wait_with_output()?;
    let taken = u64::try_from(watch.elapsed().as_nanos())?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}: {complaint}", program.display(), output.status);
    }
    Ok(taken)
}

//! `docs/how-to/connect-slurm.md`, followed word by word with a real Slurm: every block between `<!-- steps -->` and
//! `<!-- /steps -->`.
//!
//! What the test does in place of the page: paths are in its folder, the user is root, it does not build, and it
//! starts the daemons. `slurmctld` gives its scripts no environment, so a script of the same name sets `NAMI_CONF`.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::cluster::{self, Cluster};
use super::{charged, seconds};
use crate::harness::{Bank, Ran, programs, until, workspace};

/// A block of the page: its language and text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let (_, rest) = page.split_once("<!-- steps -->").unwrap();
    let (mut rest, _) = rest.split_once("<!-- /steps -->").unwrap();
    let mut found = Vec::new();
    while let Some((_, block)) = rest.split_once("```") {
        let (language, block) = block.split_once('\n').unwrap();
        let (text, after) = block.split_once("```").unwrap();
        found.push((language.to_owned(), text.to_owned()));
        rest = after;
    }
    found
}

/// A text of the page with the paths of the test.
fn here(cluster: &Cluster, text: &str) -> String {
    let path = |name: &str| cluster.path(name).display().to_string();
    let data = cluster.bank.data().display().to_string();
    text.replace(
        "nami-scripts/slurm/",
        &format!("{}/nami-scripts/slurm/", workspace().display()),
    )
    .replace(
        "target/dist/nami-scripts",
        &programs().scripts().display().to_string(),
    )
    .replace("/var/lib/bankd", &data)
    .replace("/usr/libexec/bank/nami", &path("bin"))
    .replace("/etc/bank", &path("etc"))
    .replace("/var/spool/bank/nami", &path("nami-spool"))
    .replace("/etc/slurm/", &path(""))
    .replace("amy", "root")
}

/// Runs a block of a shell, and returns what it printed.
#[track_caller]
fn shell(cluster: &mut Cluster, text: &str) -> String {
    let mut script = String::from("set -euo pipefail\n");
    let mut starts = false;
    for line in text.lines().filter(|line| !line.starts_with("cargo ")) {
        if line.ends_with(" &") {
            assert!(line.starts_with("bankd serve "), "{line}");
            starts = true;
        } else {
            script.push_str(&here(cluster, line));
            script.push('\n');
        }
    }
    let folders = [programs().bank(), programs().bankd()];
    let folders = folders.map(|path| path.parent().unwrap().display().to_string());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command
        .args(["-c", &script])
        .current_dir(cluster.path(""))
        .env("PATH", format!("{}:{}", folders.join(":"), path.display()))
        .env(
            "BANK_SERVER",
            format!("unix:{}", cluster.bank.socket().display()),
        )
        .env("SLURM_CONF", cluster.path("slurm.conf"));
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{script}\n{}\n{}", ran.stdout, ran.stderr);
    if starts {
        cluster.bank.start();
    }
    ran.stdout
}

#[test]
fn connecting_slurm_by_the_page() {
    if !cluster::is_here() {
        return;
    }
    // Slurm's times are those of the machine.
    let bank = Bank::bare(vec![("BANKD_TEST_CLOCK".to_owned(), String::new())]);
    let mut cluster = Cluster::without_hooks("colony", bank);
    fs::create_dir(cluster.path("etc")).unwrap();
    let page = fs::read_to_string(workspace().join("docs/how-to/connect-slurm.md")).unwrap();
    let mut printed = String::new();
    for (language, text) in blocks(&page) {
        match language.as_str() {
            "sh" => {
                if text.contains("bank slurm check") {
                    cluster.start();
                }
                printed.push_str(&shell(&mut cluster, &text));
            }
            "ini" => {
                assert!(text.starts_with("# /etc/bank/nami.conf\n"), "{text}");
                // The machine of the tests is slow, and its slurm.conf is in no usual place.
                let conf = cluster.path("slurm.conf");
                let more = format!("slurm_conf={}\nslurm_submit_ms=5000\n", conf.display());
                let text = format!("{}{more}", here(&cluster, &text));
                fs::write(cluster.path("etc/nami.conf"), text).unwrap();
            }
            // Here slurmctld runs as root.
            "toml" => assert!(text.contains("scheduler_users"), "{text}"),
            "" => hooks(&cluster, &text),
            other => panic!("a block in {other}: {text}"),
        }
    }
    assert!(
        printed.contains("nothing here defeats the bank\n"),
        "{printed}"
    );
    let job = "1";
    cluster.wait(job, "RUNNING");
    until("the job has a lien", || {
        (cluster.bank.held() == [("chemistry".to_owned(), 1200)]).then_some(())
    });
    cluster.slurm(&["scancel", job]);
    cluster.wait_closed(job, 1);
    let ran = seconds(&cluster.value(job, "RunTime"));
    assert_eq!(charged(&cluster.uses(job)[0]), 2 * ran);
    let left = 1_000_000 - 2 * ran;
    assert_eq!(cluster.bank.figures("chemistry"), (left, 0, left));
    let ran = cluster.try_submit(&["-A", "chemistry", "-t", "10000", "-n", "2"], "1");
    let refusal = "bank: insufficient funds: need 1200000, have ";
    assert!(ran.stderr.contains(refusal), "{}", ran.stderr);
    cluster.bank.verify();
}

/// Adds the lines of the page to `slurm.conf`. What it names are scripts here, each with the name of its program.
fn hooks(cluster: &Cluster, text: &str) {
    let path = cluster.path("slurm.conf");
    let old = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{old}{}", here(cluster, text))).unwrap();
    for name in [
        "bank-slurm-prolog",
        "bank-slurm-epilog",
        "bank-slurm-submit",
    ] {
        let program = cluster.path("etc").join(name);
        symlink(cluster.path("bin/nami-scripts"), &program).unwrap();
        fs::remove_file(cluster.path("bin").join(name)).unwrap();
        let text = format!(
            "#!/bin/sh\nexport NAMI_CONF={}\nexec {} \"$@\"\n",
            cluster.path("etc/nami.conf").display(),
            program.display(),
        );
        cluster.write(&format!("bin/{name}"), &text);
    }
    let lua = fs::read_to_string(cluster.path("job_submit.lua")).unwrap();
    let lua = here(cluster, &lua).replace("TIMEOUT = \"0.5\"", "TIMEOUT = \"6\"");
    cluster.write("job_submit.lua", &lua);
}

//! The page that makes a cluster, followed step by step on three machines, with a pair of `PostgreSQL` under Patroni:
//! every block between `<!-- steps -->` and `<!-- /steps -->`. A block of a shell begins with `# on MACHINE`; a
//! section of settings is that of the first machine.
//!
//! What a test does in place of the page: all machines are this one, so each has its own port and folder.

use std::fmt::Write as _;
use std::process::Command;

use super::nodes::{all_agree, field, prove};
use crate::harness::{Bank, Patroni, Ran, Setup, free_port, programs, until, workspace};

/// Three machines; the log goes last.
struct Site {
    machines: Vec<Bank>,
    backups: tempfile::TempDir,
    /// All that the commands printed.
    printed: String,
    patroni: Patroni,
}

impl Site {
    fn start() -> Option<Self> {
        let patroni = Patroni::start()?;
        let own = || {
            let address = format!("127.0.0.1:{}", free_port());
            let url = format!("http://{address}");
            let all = [
                ("BANKD_CLUSTER_ADDRESS", url),
                ("BANKD_HTTP_LISTEN", address),
            ];
            all.map(|(name, value)| (name.to_owned(), value)).to_vec()
        };
        let mut first = Setup::new().start();
        first.set_env(own());
        Some(Self {
            machines: vec![first, Bank::bare(own()), Bank::bare(own())],
            backups: tempfile::tempdir().unwrap(),
            printed: String::new(),
            patroni,
        })
    }

    /// A text of the page with the paths and the log of this site.
    fn here(&self, machine: usize, text: &str) -> String {
        text.replace(
            "host=pg1,pg2 user=bank dbname=bank",
            &self.patroni.connection(),
        )
        .replace(
            "/var/lib/bankd",
            self.machines[machine].data().to_str().unwrap(),
        )
        .replace("/backup", self.backups.path().to_str().unwrap())
    }

    fn shell(&mut self, machine: usize, script: &str) {
        let bank = &self.machines[machine];
        let prelude = "set -euo pipefail\n\
            bankd() { \"$BANKD\" \"$@\" --data \"$DATA\"; }\nbank() { \"$BANK\" \"$@\"; }\n";
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("{prelude}{}", self.here(machine, script))])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("TZ", "UTC")
            .env("BANKD", programs().bankd())
            .env("BANK", programs().bank())
            .env("DATA", bank.data())
            .env("BANK_SERVER", format!("unix:{}", bank.socket().display()))
            .envs(bank.env().iter().cloned());
        let ran = Ran::of(&mut command, b"");
        assert_eq!(ran.exit, 0, "{script}{}{}", ran.stdout, ran.stderr);
        write!(self.printed, "{}", ran.stdout).unwrap();
    }

    fn block(&mut self, block: &str) {
        let (first, rest) = block.split_once('\n').unwrap();
        let machine = first
            .strip_prefix("# on bank")
            .and_then(|number| number.parse::<usize>().ok());
        let machine = machine.unwrap_or_else(|| panic!("{first:?} names no machine")) - 1;
        let mut script = String::new();
        for line in rest.lines() {
            if let Some(order) = line.strip_prefix("systemctl ") {
                self.shell(machine, &std::mem::take(&mut script));
                match order {
                    "start bankd" => self.machines[machine].start(),
                    "stop bankd" => self.machines[machine].stop(),
                    _ => panic!("systemctl {order}"),
                }
            } else {
                script.push_str(line);
                script.push('\n');
            }
        }
        self.shell(machine, &script);
    }

    /// A section in place of that of the first machine.
    fn set(&self, section: &str) {
        let path = self.machines[0].data().join("bankd.toml");
        let all = std::fs::read_to_string(&path).unwrap();
        let (head, _) = section.split_once('\n').unwrap();
        let head = format!("\n{head}\n");
        assert_eq!(all.matches(&head).count(), 1, "{head}");
        let section = format!("\n{}", self.here(0, section));
        std::fs::write(&path, all.replace(&head, &section)).unwrap();
    }

    fn follow(&mut self) {
        let page = workspace().join("docs/how-to/cluster.md");
        let page = std::fs::read_to_string(page).unwrap();
        let mut blocks = 0;
        for part in page.split("<!-- steps -->").skip(1) {
            let (part, _) = part.split_once("<!-- /steps -->").unwrap();
            for fenced in part.split("```").skip(1).step_by(2) {
                let (kind, text) = fenced.split_once('\n').unwrap();
                match kind {
                    "toml" => self.set(text),
                    "sh" => self.block(text),
                    _ => panic!("a block of {kind:?}"),
                }
                blocks += 1;
            }
        }
        assert!(blocks > 6, "{blocks} blocks");
    }
}

#[test]
fn the_page_makes_a_cluster_moves_its_writer_and_ends_it() {
    let Some(mut site) = Site::start() else {
        return;
    };
    site.follow();
    for line in [
        "bank1 is the first node of the cluster, at position 1\n",
        "bank2 is a node of the cluster, at position ",
        "bank3 is a node of the cluster, at position ",
        "writer   bank1 at http://127.0.0.1:",
        "bank3 left the cluster: the file is a bank on a single machine",
    ] {
        assert!(site.printed.contains(line), "{line:?} in {}", site.printed);
    }
    assert!(!site.printed.contains("warning:"), "{}", site.printed);
    let mut nodes = site.machines;
    until("bank2 writes", || {
        (field(&nodes[1], "role") == "writer").then_some(())
    });
    nodes[1].bank_ok(&["deposit", "chemistry", "5"]);
    all_agree(&nodes[..2], 1);
    assert_eq!(field(&nodes[2], "role"), "null", "a bank of its own");
    prove(&mut nodes[..2]);
    nodes[2].verify();
}

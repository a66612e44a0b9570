//! `docs/how-to/connect-moab.md`: a site from nothing, and one job's life through the scripts.

use super::Site;
use crate::harness::workspace;

#[test]
fn connecting_moab_by_the_page() {
    let mut site = Site::new();
    site.follow("connect-moab.md");
    for part in [
        "\n57600\n",
        "nothing here defeats the bank\n",
        "nothing waits\n",
    ] {
        assert!(
            site.printed.contains(part),
            "no {part:?} in\n{}",
            site.printed
        );
    }
    let balance = site.run("bank balance chemistry -P -n");
    assert!(
        balance.starts_with("chemistry|1000000|35744|0|964256|"),
        "{balance}"
    );
    let job = site.run("bank jobs test.1 --json");
    for part in ["\"charged\": \"35744\"", "\"state\": \"closed\""] {
        assert!(job.contains(part), "no {part} in {job}");
    }
    site.verify();
}

/// What the page warns of is found in the page's own file.
#[test]
fn the_page_s_file_without_its_failure_action_is_refused() {
    let mut site = Site::new();
    site.follow("connect-moab.md");
    let check = "bank moab check --conf /etc/bank/nami.conf /opt/moab/etc/moab.cfg";
    let output = site.run(&format!(
        "sed -i 's/JOBFAILUREACTION=HOLD//' /opt/moab/etc/moab.cfg\n{check} || echo exit $?"
    ));
    assert!(
        output.contains("failure_action_missing") && output.ends_with("exit 1\n"),
        "{output}"
    );
    site.verify();
}

/// The lines of Moab 9 stand in the sample beside the page's: what any of them calls was installed.
#[test]
fn every_program_of_the_sample_is_installed_by_the_page() {
    let mut site = Site::new();
    site.follow("connect-moab.md");
    let sample = std::fs::read_to_string(workspace().join("etc/moab.cfg.sample")).unwrap();
    let programs: Vec<&str> = sample
        .lines()
        .filter_map(|line| line.split_once("exec://").map(|(_, path)| path.trim()))
        .collect();
    assert!(programs.len() >= 11, "{programs:?}");
    for program in programs {
        assert!(site.path(program).exists(), "no {program}");
    }
    // The same file with the lines of a version 9 switched on, as the sample says.
    let nine: String = sample
        .lines()
        .filter(|line| !line.contains("ReserveURL") && !line.contains("ChargeURL"))
        .map(|line| match line.strip_prefix("#AMCFG[bank]  ") {
            Some(url) if url.contains("URL=exec") => format!("AMCFG[bank]  {url}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let actions = "AMCFG[bank]  CREATEFAILUREACTION=HOLD STARTFAILUREACTION=HOLD \
                   CONTINUEFAILUREACTION=HOLD RESUMEFAILUREACTION=HOLD\n";
    let file = site.path("/opt/moab/etc/nine.cfg");
    std::fs::write(file, site.here(&format!("{nine}{actions}"))).unwrap();
    let check = "bank moab check --conf /etc/bank/nami.conf /opt/moab/etc/nine.cfg || true";
    assert_eq!(site.run(check), "nothing here defeats the bank\n");
    site.verify();
}

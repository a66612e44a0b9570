//! `docs/how-to/connect-moab.md`: a site from nothing, and one job's life through the scripts.

use super::Site;

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
    let said = site.run(&format!(
        "sed -i 's/JOBFAILUREACTION=HOLD//' /opt/moab/etc/moab.cfg\n{check} || echo exit $?"
    ));
    assert!(
        said.contains("failure_action_missing") && said.ends_with("exit 1\n"),
        "{said}"
    );
    site.verify();
}

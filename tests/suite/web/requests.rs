//! Requests on the pages: asking, the queue with its answers, and what the asker sees of them.

use super::browser::{Browser, bank, steady};

#[test]
fn a_request_is_sent_answered_and_seen_again() {
    let mut bank = bank();
    bank.bank_ok(&["role", "grant", "boss", "operator", "-A", "chemistry"]);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let mut boss = Browser::of_proxy(&bank, "boss");
    let project = amy.get(&bank, "/projects/chemistry").text();
    for link in [
        "/ask/deposit?name=chemistry",
        "/ask/member?project=chemistry",
    ] {
        assert!(project.contains(link), "{link} in {project}");
    }
    assert!(amy.get(&bank, "/").text().contains("/ask/project"));
    for decision in ["reject", "approve"] {
        let before = bank.figures("chemistry").0;
        let fields = [
            ("name", "chemistry"),
            ("amount", "70"),
            ("end", "2090-01-01"),
            ("reason", "<script>alert(1)</script>"),
        ];
        let preview = amy.submit(
            &bank,
            "/ask/deposit?name=chemistry",
            "/ask/deposit",
            &fields,
        );
        assert_eq!(preview.status, 200, "{}", preview.text());
        let preview = preview.text();
        let confirm = [("step", "confirm")];
        let one = amy.submit_of(&bank, &preview, "/ask/deposit", &confirm);
        let two = amy.submit_of(&bank, &preview, "/ask/deposit", &confirm);
        assert_eq!((one.status, two.status), (303, 303), "{}", one.text());
        assert_eq!(one.header("location"), two.header("location"));
        let target = one.header("location").unwrap().to_owned();
        let own = target.split('?').next().unwrap().to_owned();
        let page = amy.get(&bank, &target).text();
        assert!(
            page.contains("It waits for an answer.")
                && page.contains("&lt;script&gt;alert(1)")
                && page.contains("Withdraw the request"),
            "{page}"
        );
        let number = own.rsplit('/').next().unwrap();
        let action = format!("/proposals/{number}");
        for queue in ["/today", "/proposals"] {
            let page = boss.get(&bank, queue).text();
            assert!(
                page.contains(&action)
                    && page.contains("&lt;script&gt;")
                    && page.contains("Reject")
                    && !page.contains("Decline"),
                "{queue}: {page}"
            );
        }
        // A rejection needs an answer.
        let empty = boss.submit(&bank, &action, &action, &[("decision", "reject")]);
        assert!(
            empty.status == 400 && empty.text().contains("reason"),
            "{} {}",
            empty.status,
            empty.text()
        );
        let answer = [("decision", decision), ("reason", "<i>seen</i>")];
        let done = boss.submit(&bank, "/proposals", &action, &answer);
        assert_eq!(done.status, 303, "{}", done.text());
        let (word, added) = match decision {
            "approve" => ("approved", 70),
            _ => ("rejected", 0),
        };
        assert_eq!(bank.figures("chemistry").0, before + added);
        for page in ["/", "/requests", &own] {
            let page = amy.get(&bank, page).text();
            assert!(
                page.contains(word) && page.contains("&lt;i&gt;seen"),
                "{word}: {page}"
            );
        }
    }
    assert_eq!(amy.get(&bank, "/proposals").status, 403);
    bank.verify();
}

#[test]
fn each_form_asks_for_its_own_and_can_be_withdrawn() {
    let mut bank = bank();
    bank.bank_ok(&["deposit", "chemistry", "5", "--end", "2080-01-01"]);
    let rows = bank.items(&["allocation", "ls", "-a", "chemistry"]);
    let row = rows.iter().find(|row| row["until"].is_string()).unwrap();
    let allocation = row["id"].to_string();
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/projects/chemistry").text();
    assert!(
        page.contains(&format!("/ask/extension?allocation={allocation}")),
        "{page}"
    );
    for (form, fields) in [
        (
            "/ask/extension",
            vec![("allocation", allocation.as_str()), ("until", "2085-01-01")],
        ),
        (
            "/ask/member",
            vec![("project", "chemistry"), ("user", "amy")],
        ),
        (
            "/ask/project",
            vec![
                ("name", "lasers"),
                ("description", "\"><img src=x>"),
                ("amount", "12"),
            ],
        ),
    ] {
        let fields = [&fields[..], &[("reason", "needed")]].concat();
        let preview = amy.submit(&bank, form, form, &fields);
        assert_eq!(preview.status, 200, "{form}: {}", preview.text());
        let preview = preview.text();
        assert!(!preview.contains("<img src=x"), "{preview}");
        let sent = amy.submit_of(&bank, &preview, form, &[("step", "confirm")]);
        assert_eq!(sent.status, 303, "{form}: {}", sent.text());
        let target = sent.header("location").unwrap().to_owned();
        let own = target.split('?').next().unwrap().to_owned();
        let page = amy.get(&bank, &own).text();
        assert!(!page.contains("<img src=x"), "{page}");
        let action = format!("{own}/withdraw");
        let done = amy.submit_of(&bank, &page, &action, &[]);
        assert_eq!(done.status, 303, "{}", done.text());
        assert!(amy.get(&bank, &own).text().contains("withdrawn"));
        let again = amy.submit_of(&bank, &page, &action, &[]);
        assert_eq!(again.status, 303, "{}", again.text());
    }
    // What is others' looks like what is not there, and the entries stay in the form.
    let [one, two] = ["physics", "physicz"].map(|name| {
        let fields = [("name", name), ("amount", "5"), ("reason", "why not")];
        let answer = amy.submit(&bank, "/ask/deposit", "/ask/deposit", &fields);
        assert_eq!(answer.status, 404, "{}", answer.text());
        assert!(answer.text().contains("why not"));
        steady(&answer.text()).replace(name, "NAME")
    });
    assert_eq!(one, two);
    let mut bob = Browser::of_proxy(&bank, "bob");
    let list = bob.get(&bank, "/requests").text();
    assert!(list.contains("You have asked for nothing yet."), "{list}");
    bank.verify();
}

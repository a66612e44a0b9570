use super::*;

#[test]
fn each_mistake_of_a_maui() {
    let private = format!("CLIENTCFG[AM:bank] CSKEY={KEY} CSALGO=HMAC64\n");
    let long = "k".repeat(64);
    for (from, to, expected) in [
        ("JFACTION=DEFER", "", "m:2 failure_action_missing"),
        ("JFACTION=DEFER", "JFACTION=NONE", "m:2 failure_ignored"),
        ("JFACTION=DEFER", "JFACTION=HOLD", "m:2 failure_ignored"),
        (
            "JFACTION=DEFER",
            "JOBFAILUREACTION=HOLD",
            "m:2 not_understood",
        ),
        ("SERVERMODE NORMAL", "SERVERMODE TEST", "m:1 server_mode"),
        ("CHARGEPOLICY=DEBITALLWC", "", "m:2 charge_policy_missing"),
        (
            "gold://bank.example.org:7112",
            "gold://",
            "m:2 server_without_host",
        ),
        (
            "gold://bank.example.org:7112",
            "file:///x",
            "m:2 bank_not_asked",
        ),
        (
            "SERVER=gold://bank.example.org:7112",
            "TYPE=GOLD",
            "m:2 server_without_host",
        ),
        (
            "SERVER=gold://bank.example.org:7112",
            "TYPE=NATIVE",
            "m:2 native_in_maui",
        ),
        (
            "SERVER=gold://bank.example.org:7112",
            "",
            "m:2 interface_missing",
        ),
        ("AMCFG", "#AMCFG", "m:1 no_manager"),
        (
            "FALLBACKACCOUNT=freecycle",
            "FALLBACKACCOUNT=x",
            "m:3 fallback_unknown",
        ),
        ("CLIENTCFG", "#", "m:2 key_missing"),
        ("AM:bank", "AM:other", "p:1 key_label"),
        ("CSALGO=HMAC64", "", "p:1 key_algorithm"),
        ("CSALGO=HMAC64", "CSALGO=HMAC", "p:1 key_algorithm"),
        (KEY, "", "p:1 key_missing"),
        (KEY, long.as_str(), "p:1 key_too_long"),
        (
            "FALLBACKACCOUNT=freecycle",
            "FALLBACKACOUNT=freecycle",
            "m:3 not_understood",
        ),
        (KEY, "a\\b", "p:1 key_characters"),
    ] {
        assert!(MAUI.contains(from) || private.contains(from), "{from}");
        let files = [
            file("m", &MAUI.replace(from, to)),
            file("p", &private.replace(from, to)),
        ];
        let found = check(&[], &files, &facts());
        let codes = codes(&found);
        assert!(
            codes.iter().any(|code| code == expected),
            "{from} -> {to}: {codes:?}"
        );
        let message = serde_json::to_string(&found).unwrap();
        assert!(
            !message.contains(KEY) && !message.contains(&long),
            "a key is told: {message}"
        );
    }
    let mut open = file("p", &private);
    open.is_open = true;
    let found = codes(&check(&[], &[file("m", MAUI), open], &facts()));
    assert_eq!(found, ["p:1 key_readable"]);
}

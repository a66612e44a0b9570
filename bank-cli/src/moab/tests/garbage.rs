use super::*;

/// Ten thousand files of pieces and noise: an answer for each, whatever it says.
#[test]
fn garbage_is_no_disaster() {
    let pieces = [
        "AMCFG",
        "[",
        "]",
        "bank",
        "=",
        "TYPE",
        "NATIVE",
        " ",
        "\n",
        "\\",
        "\\\n",
        "#",
        "\"",
        "'",
        "ReserveURL",
        "exec://",
        "$HOME",
        "/bin/sh",
        "SERVER",
        "gold://",
        "CLIENTCFG[AM:",
        "KEY",
        "FLUSHINTERVAL=",
        ":",
        "99999999999999999999",
        "é",
        "\0",
        "\t",
        "+",
        "FALLBACKACCOUNT",
        "#INCLUDE ",
        "SCHEDCFG[x] MODE=",
        "TIMEOUT=",
        "NAMITransVarName",
        "\u{feff}",
        "∞",
    ];
    let seed = 20_260_101_u64;
    eprintln!("garbage_is_no_disaster: seed {seed}");
    let mut state = seed;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    let facts = facts();
    let mut count = 0;
    for _ in 0..10_000 {
        let length = next(60);
        let text: String = (0..length).map(|_| pieces[next(pieces.len())]).collect();
        let files = [file("a", &text), file("b", &text)];
        let found = check(&files[..=next(2)], &files, &facts);
        count += found.findings.len();
        for finding in &found.findings {
            let lines = u64::try_from(text.lines().count()).unwrap();
            assert!(finding.line <= lines.max(1), "{finding:?} of {text:?}");
        }
    }
    assert!(count > 10_000, "{count}");
}

use std::path::Path;

use super::*;

#[test]
fn a_file_with_every_key() {
    let text = "# comment\n\nserver = http://bank.example:7113/\nkey_id=moab\n\
                key_file=/etc/bank/moab.key\nmachine= colony\nNAMI_SPOOL_DIR=/s\nfail_open=yes\n\
                capture_dir=/c\ntimeout_s=4\nprint_tid=true\nlatin1_fallback=1\nexit.funds=99\n\
                exit.connect=0\nexit.funds=2\n";
    let loaded = Settings::parse(text, "nami.conf");
    assert_eq!(loaded.mistake, None);
    let settings = loaded.settings;
    assert_eq!(
        settings.servers,
        [Server::Tcp {
            host: "bank.example".into(),
            port: 7113
        }]
    );
    assert_eq!(settings.key_id.as_deref(), Some("moab"));
    assert_eq!(
        settings.key_file.as_deref(),
        Some(Path::new("/etc/bank/moab.key"))
    );
    assert_eq!(settings.machine.as_deref(), Some("colony"));
    assert_eq!(settings.spool_dir, Path::new("/s"));
    assert!(settings.fail_open && settings.print_tid && settings.latin1_fallback);
    assert_eq!(settings.timeout_s, 4);
    assert_eq!(settings.exit(Condition::Funds), 2);
    assert_eq!(settings.exit(Condition::Connect), 0);
    assert_eq!(settings.exit(Condition::Timeout), 23);
    assert_eq!(settings.talk_time(), Duration::from_millis(3750));
}

#[test]
fn mistakes_name_file_and_line_and_lose_nothing() {
    for (text, mistake) in [
        ("colour=red\n", "f:1: unknown key"),
        ("machine=a\ntimeout_s=0\n", "f:2: timeout_s is 1 to 60"),
        ("timeout_s=61\n", "f:1: timeout_s is 1 to 60"),
        ("fail_open=maybe\n", "f:1: a switch is yes or no"),
        ("exit.funds=126\n", "f:1: an exit code is 0 to 125"),
        ("exit.fun=1\n", "f:1: unknown key"),
        (
            "server=https://bank\n",
            "f:1: server is unix:/path/of/socket or http://host:port, or up to 16 of them with commas between",
        ),
        (
            "server=http://a b:1\n",
            "f:1: server is unix:/path/of/socket or http://host:port, or up to 16 of them with commas between",
        ),
        (
            "server=unix:relative\n",
            "f:1: server is unix:/path/of/socket or http://host:port, or up to 16 of them with commas between",
        ),
        ("spool_dir=relative\n", "f:1: spool_dir is an absolute path"),
        ("just words\n", "f:1: not of the form key=value"),
    ] {
        let loaded = Settings::parse(&format!("{text}spool_dir=/kept\n"), "f");
        assert_eq!(loaded.mistake.as_deref(), Some(mistake));
        assert_eq!(loaded.settings.spool_dir, Path::new("/kept"));
    }
}

#[test]
fn the_environment_wins() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nami.conf");
    std::fs::write(&file, "machine=colony\ntimeout_s=3\nexit.funds=1\n").unwrap();
    let loaded = Settings::load_with(|name| match name {
        "NAMI_CONF" => Some(file.clone().into()),
        "NAMI_MACHINE" => Some("blue".into()),
        "NAMI_TIMEOUT_S" => Some("".into()),
        "NAMI_EXIT_FUNDS" => Some("5".into()),
        _ => None,
    });
    assert_eq!(loaded.mistake, None);
    assert_eq!(loaded.settings.machine.as_deref(), Some("blue"));
    assert_eq!(loaded.settings.timeout_s, 3);
    assert_eq!(loaded.settings.exit(Condition::Funds), 5);

    let loaded = Settings::load_with(|name| match name {
        "NAMI_CONF" => Some(folder.path().join("absent").into()),
        "NAMI_FAIL_OPEN" => Some("perhaps".into()),
        _ => None,
    });
    assert!(loaded.mistake.unwrap().contains("absent: "));
}

#[test]
fn servers() {
    for (text, authority) in [
        ("unix:/run/bankd.sock", Some("localhost")),
        ("http://127.0.0.1:7113", Some("127.0.0.1:7113")),
        ("http://[::1]:7113", Some("[::1]:7113")),
        ("http://[::1]", Some("[::1]:80")),
        ("http://bank", Some("bank:80")),
        ("http://", None),
        ("http://bank:99999", None),
        ("http://bank/path", None),
        ("http://bank\r\nX: y", None),
    ] {
        let server = Server::parse(text);
        assert_eq!(
            server.map(|server| server.authority()).as_deref(),
            authority,
            "{text}"
        );
    }
}

#[test]
fn lists_of_servers() {
    let many = vec!["unix:/s"; 17].join(",");
    for (text, shown) in [
        ("unix:/s", Some("unix:/s")),
        ("http://a:1 , http://b:2", Some("http://a:1 http://b:2")),
        ("unix:/s,http://b:2", Some("unix:/s http://b:2")),
        ("unix:/s,", None),
        ("unix:/s,b", None),
        (&many, None),
    ] {
        let servers = Server::parse_list(text);
        let all = servers.map(|all| {
            all.iter()
                .map(Server::display)
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert_eq!(all.as_deref(), shown, "{text}");
    }
}

use bank_core::directory::FallbackMode;
use bank_core::exact::Rounding;
use bank_core::model::Mode;

use super::*;

fn read(text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    Config::read(text, "bankd.toml", |name| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_sample_states_every_default() {
    assert_eq!(read(SAMPLE, &[]).unwrap(), Config::default());
    let stated: String = SAMPLE
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            Some(_) => "\n".to_owned(),
            None => format!("{line}\n"),
        })
        .collect();
    assert_eq!(read(&stated, &[]).unwrap(), Config::default());
    let keys = |text: &str| text.lines().filter(|l| l.contains(" = ")).count();
    assert_eq!(keys(&stated), keys(&Config::default().show()));
}

#[test]
fn what_is_shown_reads_back() {
    let text = "[http]\nlisten = \"127.0.0.1:0\"\n[access]\nauditor_users = [\"amy\", \"bob\"]\n\
                [ledger]\nmode = \"track\"\nrounding = \"ceil\"\n[file]\npath = \"alloc.txt\"\n\
                [gold.peer.maui]\naddresses = [\"10.1.0.0/16\", \"::1\"]\nsign_answers = false\n";
    let config = read(text, &[]).unwrap();
    assert_eq!(read(&config.show(), &[]).unwrap(), config);
    let policy = config.policy();
    assert_eq!(
        (policy.mode, policy.rounding),
        (Mode::Track, Rounding::Ceil)
    );
    assert!(policy.records);
}

#[test]
fn the_environment_wins() {
    let text = "[http]\nconcurrency = 5\n";
    let environment = [
        ("BANKD_HTTP_LISTEN", "127.0.0.1:0"),
        ("BANKD_HTTP_SOCKET", "false"),
        ("BANKD_AUTH_WINDOW_S", "60"),
        ("BANKD_ACCESS_SCHEDULER_USERS", "moab, maui"),
        ("BANKD_FALLBACK_MODE", "bank"),
        ("BANKD_ATTENTION_USED", "50, 80"),
        ("BANKD_ATTENTION_EXPIRING_DAYS", "30"),
    ];
    let config = read(text, &environment).unwrap();
    assert_eq!(config.attention.used, [50, 80]);
    assert_eq!(config.attention.expiring_days, [30]);
    let empty = read(
        "[attention]\nused = []\n",
        &[("BANKD_ATTENTION_USED", "50")],
    );
    assert_eq!(empty.unwrap().attention.used, [50]);
    let word = read("", &[("BANKD_ATTENTION_USED", "50,many")]);
    assert!(word.unwrap_err().contains("BANKD_ATTENTION_USED"));
    assert_eq!(config.http.listen, "127.0.0.1:0");
    assert!(!config.http.socket);
    assert_eq!((config.http.concurrency, config.auth.window_s), (5, 60));
    assert_eq!(config.access.scheduler_users, ["moab", "maui"]);
    assert_eq!(config.policy().fallback, FallbackMode::Bank);
}

#[test]
fn errors_say_where() {
    for (text, environment, expected) in [
        (
            "[http]\nconcurency = 5\n",
            None,
            "bankd.toml line 2: [http] concurency: unknown field",
        ),
        (
            "[htp]\nlisten = \"\"\n",
            None,
            "bankd.toml line 1: unknown field `htp`",
        ),
        (
            "[gold]\n#listen = \"\"\n\n[gold]\nlisten = \"\"\n",
            None,
            "bankd.toml line 4: [gold] is in line 1 already: put all keys there",
        ),
        (
            "[http]\nlisten = \"\"\nlisten = \"\"\n",
            None,
            "bankd.toml line 3: listen is in line 2 already: keep one of them",
        ),
        (
            "[http]\n\ntimeout_s = \"x\"\n",
            None,
            "bankd.toml line 3: [http] timeout_s: invalid type",
        ),
        (
            "[ledger]\nmode = \"loose\"\n",
            None,
            "bankd.toml line 2: [ledger] mode: unknown word `loose`; expected one of strict",
        ),
        (
            "[http]\ntimeout_s = 0\n",
            None,
            "bankd.toml line 2: http.timeout_s: 0 is not in 1 to 300",
        ),
        (
            "[http]\nlisten = \"here\"\n",
            None,
            "bankd.toml line 2: http.listen: \"here\" is not ADDRESS:PORT",
        ),
        (
            "[http]\nlisten = \"\"\nsocket = false\n",
            None,
            "bankd.toml line 2: http.listen: empty",
        ),
        (
            "http.timeout_s = 0\n",
            None,
            "bankd.toml line 1: http.timeout_s: 0 is not in 1 to 300",
        ),
        (
            "[file]\npath = \"a\"\n[ggf]\npath = \"a\"\n",
            None,
            "bankd.toml line 4: ggf.path: the same file",
        ),
        (
            "[file]\npath = \"./bank.db\"\n",
            None,
            "sink file: path: bank.db is the bank's own",
        ),
        (
            "[[sink]]\nname = \"a\"\npath = \"keys/a\"\n",
            None,
            "sink a: path: keys/a is the bank's own",
        ),
        (
            "[file]\nblank_user = \"\"\n",
            None,
            "bankd.toml line 2: file.blank_user: 1 to 64 bytes",
        ),
        (
            "[gold]\nlisten = \"gold\"\n",
            None,
            "bankd.toml line 2: gold.listen: \"gold\" is not ADDRESS:PORT",
        ),
        (
            "[gold]\nmax_connections_each = 0\n",
            None,
            "bankd.toml line 2: gold.max_connections_each: 0 is not in 1 to 1024",
        ),
        (
            "[gold]\nreservation_idle = 59\n",
            None,
            "bankd.toml line 2: gold.reservation_idle: 59 is not in 60 to 31536000",
        ),
        (
            "[gold.peer.a]\n",
            None,
            "bankd.toml line 1: addresses is missing",
        ),
        (
            "[gold.peer.a]\naddresses = []\n",
            None,
            "bankd.toml line 2: gold.peer.a.addresses: at least one",
        ),
        (
            "[gold.peer.a]\naddresses = [\"10.0.0.0/40\"]\n",
            None,
            "bankd.toml line 2: [gold.peer.a] addresses: \"10.0.0.0/40\" is not an address such as",
        ),
        (
            "[gold.peer.a]\naddresses = [\"::1\"]\nno_funds = \"slurm\"\n",
            None,
            "bankd.toml line 3: [gold.peer.a] no_funds: unknown word",
        ),
        (
            "[gold.peer.\"a b\"]\naddresses = [\"::1\"]\n",
            None,
            "gold.peer.a b: \"a b\" is not 1 to 64 of",
        ),
        (
            "[gold.peer.a]\naddresses = [\"::1\"]\n[gold.peer.b]\naddresses = [\"::1\"]\nkey = \"a\"\n",
            None,
            "bankd.toml line 5: gold.peer.b.key: the key of peer a too",
        ),
        (
            "",
            Some(("BANKD_GOLD_PEER", "maui")),
            "BANKD_GOLD_PEER: \"maui\" is not of type table",
        ),
        (
            "",
            Some(("BANKD_HTTP_SOCKET", "maybe")),
            "BANKD_HTTP_SOCKET: \"maybe\" is not of type boolean",
        ),
        (
            "[backup]\nfolder = \"./keys/old\"",
            None,
            "bankd.toml line 2: backup.folder: keys/old is the bank's own",
        ),
        (
            "[checkpoint]\nfolder = \"bank.db\"",
            None,
            "bankd.toml line 2: checkpoint.folder: bank.db is the bank's own",
        ),
        (
            "[http]\nlisten = \"127.0.0.1:81\"\n[web]\nlisten = \"0.0.0.0:81\"",
            None,
            "bankd.toml line 4: web.listen: 0.0.0.0:81 is the address of http.listen",
        ),
        (
            "",
            Some(("BANKD_GOLD_LISTEN", "127.0.0.1:7113")),
            "BANKD_GOLD_LISTEN: gold.listen: 127.0.0.1:7113 is the address of http.listen",
        ),
        (
            "",
            Some(("BANKD_LOG_LEVEL", "loud")),
            "BANKD_LOG_LEVEL: log.level: unknown word",
        ),
        (
            "",
            Some(("BANKD_AUTH_WINDOW_S", "9")),
            "BANKD_AUTH_WINDOW_S: auth.window_s: 9 is not in 10 to 3600",
        ),
    ] {
        let environment: Vec<_> = environment.into_iter().collect();
        let error = read(text, &environment).unwrap_err();
        assert!(error.starts_with(expected), "{error}\nexpected {expected}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn sections_and_tables_are_sinks_alike() {
    let text = "[file]\npath = \"a\"\n[[sink]]\nname = \"b\"\nformat = \"ggf\"\npath = \"b\"\n\
                [[sink]]\nname = \"c\"\npath = \"c\"\nfsync = \"each\"\n";
    let config = read(text, &[("BANKD_GGF_PATH", "g")]).unwrap();
    let sinks = config.sinks();
    let found: Vec<_> = sinks.iter().map(|s| (s.name.as_str(), s.format)).collect();
    let (file, ggf) = (FormatWord::File, FormatWord::Ggf);
    assert_eq!(
        found,
        [("file", file), ("ggf", ggf), ("b", ggf), ("c", file)]
    );
    assert_eq!(read(&config.show(), &[]).unwrap(), config);
    for sink in sinks {
        assert_eq!(Sink::read(&sink.text()), Some(sink));
    }
    assert_eq!([Sink::read(""), Sink::read("odd = 1")], [None, None]);
    let many = |count: usize| {
        let sink = |n| format!("[[sink]]\nname = \"s{n}\"\npath = \"f{n}\"\n");
        read(&(0..count).map(sink).collect::<String>(), &[])
    };
    assert_eq!(many(SINKS_MAX).unwrap().sinks().len(), SINKS_MAX);
    assert_eq!(
        many(SINKS_MAX + 1).unwrap_err(),
        "sink: 17 of them, 16 at most"
    );
}

#[test]
fn relative_paths_lie_in_the_data_directory() {
    let data = Path::new("/var/lib/bankd");
    assert_eq!(path_in(data, ""), None);
    assert_eq!(
        path_in(data, "a.txt").unwrap(),
        Path::new("/var/lib/bankd/a.txt")
    );
    assert_eq!(
        path_in(data, "/opt/a.txt").unwrap(),
        Path::new("/opt/a.txt")
    );
}

use super::*;

fn parse(text: &str) -> Result<Collect, String> {
    let settings: Collect = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    settings.check().map(|()| settings)
}

const SLURM: &str =
    "folder = \"/q\"\n[slurm]\nstart = \"2026-01-01\"\n[[slurm.clusters]]\nname = \"c\"\n";
const HTTP: &str = "folder = \"/q\"\n[http]\nurl = \"https://h:9090/prom\"\n";

#[test]
fn the_least_settings_are_enough() {
    let slurm = parse(SLURM).unwrap();
    assert_eq!(
        (slurm.name(), slurm.interval_s(), slurm.queue_bytes()),
        ("slurm", 300, 1 << 30)
    );
    assert_eq!(slurm.streams(), ["c"]);
    let own = slurm.slurm.unwrap();
    assert_eq!(
        (own.window, own.overlap, own.start),
        (86_400, 3600, 1_767_225_600_000_000)
    );
    let nomad = parse(&format!("{HTTP}[nomad]\nsource = \"nomad:c\"\n")).unwrap();
    assert_eq!((nomad.name(), nomad.interval_s()), ("nomad", 900));
    let text = format!("{HTTP}[prometheus]\nsource = \"p\"\nstart = \"2026-01-01T06:00:00Z\"\n");
    let prometheus = parse(&text).unwrap().prometheus.unwrap();
    assert_eq!(
        (prometheus.step, prometheus.window, prometheus.delay),
        (900, 21_600, 600)
    );
    parse(&format!("{HTTP}[kubernetes]\nsource = \"k\"\n")).unwrap();
}

#[test]
fn an_invalid_setting_is_named_by_its_key() {
    let prometheus = |more: &str| {
        format!("{HTTP}[prometheus]\nsource = \"p\"\nstart = \"2026-01-01\"\n{more}\n")
    };
    let nomad = |top: &str, more: &str| format!("{top}\n{HTTP}[nomad]\nsource = \"n\"\n{more}\n");
    for (text, requested) in [
        ("folder = \"/q\"\n".to_owned(), "one of [slurm]"),
        (
            format!("{HTTP}[nomad]\nsource = \"n\"\n[kubernetes]\nsource = \"k\"\n"),
            "one of [slurm]",
        ),
        (SLURM.replace("/q", "q"), "folder"),
        (SLURM.replace("start = \"2026-01-01\"", ""), "start"),
        (SLURM.replace("2026-01-01", "yesterday"), "yesterday"),
        (
            SLURM.replace("name = \"c\"", "name = \"a,b\""),
            "slurm.clusters.name",
        ),
        (
            SLURM.replace("name = \"c\"", "name = \"-c\""),
            "slurm.clusters.name",
        ),
        (
            SLURM.replace("name = \"c\"", "name = \"a b\""),
            "slurm.clusters.name",
        ),
        (
            format!("{SLURM}[[slurm.clusters]]\nname = \"c\"\n"),
            "twice",
        ),
        (
            SLURM.replace("[[slurm.clusters]]\nname = \"c\"", "clusters = []"),
            "there is none",
        ),
        (
            SLURM.replace("[[slurm", "delimiter = \"|x\"\n[[slurm"),
            "slurm.delimiter",
        ),
        (
            SLURM.replace("[[slurm", "window = \"1s\"\n[[slurm"),
            "slurm.window",
        ),
        (
            SLURM.replace("[[slurm", "windows = \"1d\"\n[[slurm"),
            "windows",
        ),
        (
            SLURM.replace("[[slurm", "overlap = \"soon\"\n[[slurm"),
            "soon",
        ),
        (
            format!("{SLURM}[http]\nurl = \"http://h\"\n"),
            "not for [slurm]",
        ),
        (
            "folder = \"/q\"\n[nomad]\nsource = \"n\"\n".to_owned(),
            "[http]",
        ),
        (
            nomad("", "").replace("https://h:9090/prom", "h:9090"),
            "http.url",
        ),
        (
            nomad("", "").replace("https://h:9090/prom", "https://u:p@h"),
            "http.url",
        ),
        (
            nomad("", "").replace("[nomad]", "key_file = \"/k\"\n[nomad]"),
            "http.cert_file",
        ),
        (
            nomad("", "").replace("[nomad]", "retries = 99\n[nomad]"),
            "http.retries",
        ),
        (nomad("interval = \"3h\"", ""), "half of nomad.gc_threshold"),
        (
            nomad("interval = \"15m\"", "gc_threshold = \"20m\""),
            "half of nomad.gc_threshold",
        ),
        (nomad("queue_mib = 0", ""), "queue_mib"),
        (prometheus("window = \"1000s\""), "no multiple"),
        (prometheus("step = \"1s\"\nwindow = \"6h\""), "11000 steps"),
        (prometheus("step = \"0\""), "prometheus.step"),
        (prometheus("cpu = \"\""), "prometheus.cpu"),
        (
            prometheus("queries = [{ name = \"a\", query = \" \" }]"),
            "has no query",
        ),
        (
            prometheus(
                "queries = [{ name = \"a\", query = \"x\" }, { name = \"a\", query = \"y\" }]",
            ),
            "twice",
        ),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.contains(requested), "{text}\n{error}");
    }
}

#[test]
fn the_samples_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../etc/collect");
    for name in ["slurm", "prometheus", "nomad", "kubernetes"] {
        let settings = read(&folder.join(format!("{name}.toml"))).unwrap();
        assert_eq!(settings.name(), name);
    }
}

#[test]
fn an_error_names_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    std::fs::write(&path, "folder = \"/q\"\n[slurm]\ncolour = 1\n").unwrap();
    let failure = read(&path).unwrap_err();
    assert_eq!(failure.exit, 2);
    assert!(
        failure
            .what
            .contains("x.toml: line 3: unknown field `colour`"),
        "{}",
        failure.what
    );
    let failure = read(&folder.path().join("none.toml")).unwrap_err();
    assert!(failure.what.contains("none.toml"), "{}", failure.what);
}

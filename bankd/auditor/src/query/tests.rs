use super::*;

fn parse(text: &str) -> Query {
    Query::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

fn range(least: Option<i64>, most: Option<i64>) -> Range {
    Range { least, most }
}

/// 2022-02-05T00:00:00Z in microseconds.
const DAY: i64 = 1_644_019_200_000_000;

#[test]
fn what_clients_send_is_understood() {
    assert_eq!(parse(""), Query::default());
    assert_eq!(parse("&&"), Query::default());
    let day = parse(
        "runtime[gt]=0&stop_time[gte]=2022-02-05T00%3A00%3A00%2B00%3A00\
         &stop_time[lt]=2022-02-06T00%3A00%3A00%2B00%3A00&meta[site_id][c][0]=hpc",
    );
    assert_eq!(day.select.runtime, range(Some(1), None));
    let next = DAY + 86_400_000_000;
    assert_eq!(day.select.stop, range(Some(DAY), Some(next - 1)));
    assert_eq!(day.select.pairs, [pair("site_id", "hpc")]);
    let all = parse(
        "record_id=abc%231+%252f&start_time[gte]=2024-01-02T03%3A04%3A05.678900%2B00%3A00&runtime[gt]=0\
         &meta[site+id][c][0]=a%2Fb&meta[site+id][c][1]=c%26d&meta[g][dnc][0]=x&component[cpu][equals]=4\
         &sort_by[desc]=stop_time&limit=5",
    );
    assert_eq!(all.select.record_id.as_deref(), Some("abc#1 %2f"));
    assert_eq!(all.meta["site id"].has, ["a/b", "c&d"]);
    assert_eq!(all.meta["g"].lacks, ["x"]);
    assert_eq!(all.components["cpu"], range(Some(4), Some(4)));
    assert_eq!(
        (all.select.order, all.select.descending),
        (Some(Order::Stop), true)
    );
    assert_eq!(all.limit, Some(5));
    let cores = parse("component[Cores][gt]=10&component[Cores][lte]=15");
    assert_eq!(cores.components["Cores"], range(Some(11), Some(15)));
}

#[test]
fn brackets_may_be_encoded() {
    let plain = parse("meta[a][c][]=x&sort_by[asc]=record_id&limit=2");
    assert_eq!(
        parse("meta%5Ba%5D%5Bc%5d%5b%5D=x&sort_by%5Basc%5D=record_id&limit=2"),
        plain
    );
    // With plain brackets, encoded ones belong to the name.
    assert!(parse("meta[a%5Bb%5D][c][0]=x").meta.contains_key("a[b]"));
}

#[test]
fn what_has_no_value_is_not_given() {
    for text in [
        "limit=",
        "limit",
        "record_id=",
        "runtime[gt]=",
        "start_time[gte]=&stop_time[equals]=",
        "sort_by[asc]=",
        "meta[a]=",
        "meta[a][c]=",
        "component[c]=",
        "component[c][gt]=",
        "runtime=",
        "limit=&record_id=",
    ] {
        assert_eq!(parse(text), Query::default(), "{text}");
    }
    assert_eq!(parse("limit=&limit=3").limit, Some(3));
}

#[test]
fn both_bounds_count() {
    for (text, wanted) in [
        ("runtime[gt]=5&runtime[gte]=3", range(Some(6), None)),
        ("runtime[gte]=9&runtime[gt]=5", range(Some(9), None)),
        ("runtime[lt]=5&runtime[lte]=7", range(None, Some(4))),
        ("runtime[equals]=5", range(Some(5), Some(5))),
        ("runtime[lt]=0", range(None, Some(-1))),
        (
            "runtime[lt]=18446744073709551615",
            range(None, Some(i64::MAX)),
        ),
        (
            "runtime[gte]=9223372036854775807",
            range(Some(i64::MAX), None),
        ),
    ] {
        assert_eq!(parse(text).select.runtime, wanted, "{text}");
    }
    for text in [
        "runtime[gt]=9223372036854775807",
        "runtime[equals]=9223372036854775808",
    ] {
        assert!(parse(text).select.runtime.is_empty(), "{text}");
    }
    let at = "2022-02-05T00:00:00.0000009Z";
    assert_eq!(
        parse(&format!("stop_time[equals]={at}")).select.stop,
        range(Some(DAY), Some(DAY))
    );
    assert_eq!(
        parse(&format!("start_time[gt]={at}")).select.start,
        range(Some(DAY + 1), None)
    );
}

#[test]
fn mistakes_are_reported() {
    for (text, expected) in [
        ("offset=1", "offset: unknown"),
        ("Limit=1", "Limit: unknown"),
        ("offset=", "offset: unknown"),
        ("limit=1&limit=2", "limit: given twice"),
        (
            "start_time[gte]=2022-02-05T00:00:00Z&start_time[gte]=2022-02-05T00:00:00Z",
            "start_time[gte]: given twice",
        ),
        (
            "meta[a][c][0]=x&meta[a][c][0]=y",
            "meta[a][c][0]: given twice",
        ),
        ("limit=-1", "limit: a number"),
        ("limit=%2B1", "limit: a number"),
        ("limit=+1", "limit: a number"),
        ("limit=1.0", "limit: a number"),
        ("limit=18446744073709551616", "limit: a number"),
        ("runtime=5", "runtime: unknown"),
        ("runtime[gt]=x", "runtime[gt]: a number"),
        ("runtime[ge]=5", "runtime[ge]: unknown"),
        ("runtime[ge]=", "runtime[ge]: a number"),
        ("start_time=2022-02-05T00:00:00Z", "start_time: unknown"),
        ("start_time[gte]=2022-02-05", "start_time[gte]: a time"),
        (
            "start_time[gte]=2022-02-05T00:00:00",
            "start_time[gte]: a time",
        ),
        (
            "start_time[gte]=2022-02-05T00:00:00+00:00",
            "start_time[gte]: a time",
        ),
        ("start_time[gte]=5", "start_time[gte]: a time"),
        (
            "start_time[foo]=2022-02-05T00:00:00Z",
            "start_time[foo]: unknown",
        ),
        ("meta=x", "meta: unknown"),
        ("meta[a]=b", "meta[a]: unknown"),
        ("meta[a][c]=b", "meta[a][c]: unknown"),
        ("meta[a][c][0]=", "meta[a][c][0]: empty"),
        ("meta[a][c][x]=b", "meta[a][c][x]: unknown"),
        ("meta[a][other][0]=b", "meta[a][other][0]: unknown"),
        ("meta[a][C][0]=b", "meta[a][C][0]: unknown"),
        ("meta[][c][0]=b", "name empty"),
        ("meta[a][c][0][1]=b", "brackets do not fit"),
        ("component[c]=4", "component[c]: unknown"),
        ("component[c][gt]=-4", "component[c][gt]: a number"),
        ("component[c][is]=4", "component[c][is]: unknown"),
        ("component[][gt]=4", "name empty"),
        ("sort_by=start_time", "sort_by: unknown"),
        ("sort_by[asc]=meta", "sort_by[asc]: one of"),
        ("sort_by[up]=start_time", "sort_by[up]: unknown"),
        (
            "sort_by[asc]=start_time&sort_by[desc]=stop_time",
            "asc and desc together",
        ),
        ("limit[a]=1", "limit[a]: unknown"),
        ("record_id[a]=1", "record_id[a]: unknown"),
        ("record_id=+", "record_id: empty"),
        ("record_id=%00", "record_id: holds U+0000"),
        ("record_id=%ff", "not UTF-8"),
        ("record_id=%4", "not UTF-8"),
        ("runtime[gt=5", "brackets do not fit"),
        ("runtimegt]=5", "brackets do not fit"),
        ("runtime[[gt]]=5", "brackets do not fit"),
    ] {
        let why = Query::parse(text).unwrap_err();
        assert!(why.contains(expected), "{text}: {why}");
    }
    let long = format!("record_id={}", "a".repeat(257));
    assert!(Query::parse(&long).unwrap_err().contains("longer than 256"));
    let many = "meta[a][c][]=x&".repeat(1001);
    assert!(
        Query::parse(&many)
            .unwrap_err()
            .contains("more than 1000 terms")
    );
}

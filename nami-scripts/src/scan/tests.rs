use super::*;

#[test]
fn ids() {
    for (body, expected) in [
        (
            "<Job><ObjectID>Moab.1024</ObjectID><User>amy</User></Job>",
            vec!["Moab.1024"],
        ),
        ("<job><object_id> a b </object_id></job>", vec!["a b"]),
        (
            "<Job><JobID>1</JobID></Job><Rsv><RsvID>2</RsvID></Rsv>",
            vec!["1", "2"],
        ),
        ("<Data><Job><Id>1</Id></Job></Data>", vec!["1"]),
        ("<Job><Name>x</Name><ObjectID>1</ObjectID></Job>", vec!["1"]),
        ("<Job ObjectID=\"a&gt;b\" User='amy'/>", vec!["a&gt;b"]),
        ("<Job note='>' Job-Id='7'></Job>", vec!["7"]),
        ("<Job><Var name=\"BILLTID\">q1</Var></Job>", vec![]),
        (
            "<!-- <ObjectID>no</ObjectID> --><Job><ObjectID>yes</ObjectID></Job>",
            vec!["yes"],
        ),
        ("<Job><ObjectID/></Job>", vec![]),
        (
            "<Job><ObjectID>1</ObjectID><ObjectID>1</ObjectID></Job>",
            vec!["1"],
        ),
        // A job names the reservation that it runs in; in a reservation it is the own id.
        (
            "<Job><JobID>1</JobID><ReservationID>r</ReservationID></Job>",
            vec!["1"],
        ),
        ("<Job RsvID='r' ObjectID='1'/>", vec!["1"]),
        ("<Job><RsvID>r</RsvID></Job>", vec![]),
        (
            "<Reservation><RsvID>r</RsvID><Name>x</Name></Reservation>",
            vec!["r"],
        ),
        ("<Object RsvID='r' ObjectType='Rsv'/>", vec!["r"]),
        (
            "<Object><Type>job</Type><RsvID>r</RsvID><Id>1</Id></Object>",
            vec!["1"],
        ),
        // A name of many meanings yields, in each object by itself.
        ("<Job><Name>sim</Name><Id>1</Id></Job>", vec!["1"]),
        (
            "<Job><Id>1</Id></Job><Job><ObjectID>2</ObjectID></Job>",
            vec!["1", "2"],
        ),
        (
            "<Job><ObjectID>[NONE]</ObjectID><Id>1</Id></Job>",
            vec!["1"],
        ),
        // Only children of an object are its values.
        (
            "<Job><Id>1</Id><Reservation><Id>r</Id></Reservation></Job>",
            vec!["1"],
        ),
        (
            "<Job><Vars><Id>v</Id></Vars><Gres name='a'/><Id>1</Id></Job><Id>2</Id>",
            vec!["1"],
        ),
        (
            "<?xml version='1.0'?><Queue><Job/><Rsv><Id>2</Id></Rsv></Queue>",
            vec!["2"],
        ),
        (
            "<Job><ObjectID><![CDATA[<1>]]></ObjectID></Job>",
            vec!["<1>"],
        ),
        ("<Job", vec![]),
        ("<Job ObjectID=", vec![]),
        ("<", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(object_ids(body.as_bytes()), expected, "{body}");
    }
    assert_eq!(
        object_ids(b"<Job><ObjectID>\xff</ObjectID></Job>"),
        ["\u{fffd}"]
    );
}

#[test]
fn repeats_are_bounded_by_the_times_of_the_document() {
    let charge = "<ChargeDuration>600</ChargeDuration>";
    let start = "<StartTime>900</StartTime>";
    for (more, ends, expected) in [
        (charge.to_owned(), false, None),
        (charge.to_owned(), true, None),
        (format!("{charge}{start}"), false, Some(450)),
        (format!("{charge}{start}"), true, Some(3600)),
        (start.to_owned(), false, None),
        // A future end is a plan: the next charge may have the same bytes.
        (format!("{charge}<EndTime>2000</EndTime>"), false, Some(450)),
        (
            format!("{charge}<EndTime>1000</EndTime>"),
            false,
            Some(3600),
        ),
        (
            format!("{charge}<Completion>999</Completion>"),
            false,
            Some(3600),
        ),
        (
            format!("{charge}<SubmitTime>1</SubmitTime>"),
            false,
            Some(450),
        ),
        // The next run of a requeued job can have the same submission and length.
        (
            format!("{charge}<SubmitTime>1</SubmitTime>"),
            true,
            Some(450),
        ),
        (
            format!("{start}<ChargeTime>02:00:00</ChargeTime>"),
            false,
            Some(2700),
        ),
        (format!("{charge}{charge}{start}"), false, Some(450)),
        (
            format!("{charge}<ChargeTime>7</ChargeTime>{start}"),
            false,
            None,
        ),
        (
            format!("{start}<ChargeDuration>x</ChargeDuration>"),
            true,
            None,
        ),
        (
            format!("{start}<ChargeDuration>0</ChargeDuration>"),
            false,
            None,
        ),
        (format!("{start}<JobID>2</JobID>"), true, None),
        // The reservation of a job is no second object.
        (
            format!("{charge}{start}<ReservationID>r</ReservationID>"),
            false,
            Some(450),
        ),
        (format!("{charge}{start}<RsvID>r</RsvID>"), true, Some(3600)),
        (format!("{charge}{start}<Name>sim</Name>"), false, Some(450)),
        // A scheduler writes 0 for a time that is not set.
        (format!("{charge}<StartTime>0</StartTime>"), true, None),
        (format!("{charge}<EndTime>0</EndTime>"), false, None),
        (
            format!("{charge}{start}<EndTime>0</EndTime>"),
            false,
            Some(450),
        ),
        (
            format!("{charge}{start}<EndTime>[NONE]</EndTime>"),
            false,
            Some(450),
        ),
        // The first name of a field counts.
        (
            format!("{charge}<EndTime>1000</EndTime><Completion>ok</Completion>"),
            false,
            Some(3600),
        ),
        (
            format!("{charge}<EndTime>900</EndTime><EndTime>901</EndTime>"),
            false,
            None,
        ),
        // Values of other elements are none of the object.
        (
            format!("{charge}<Vars><EndTime>900</EndTime></Vars>"),
            false,
            None,
        ),
        ("<EndTime/>".to_owned(), true, None),
    ] {
        let body = format!("<Job><ObjectID>1</ObjectID>{more}</Job>");
        let seconds = repeat_seconds(body.as_bytes(), ends, 1_000_000_000, 3600);
        assert_eq!(seconds, expected, "{more} {ends}");
    }
    let attributes = b"<Job ObjectID='1' StartTime='900' ChargeDuration='600'/>";
    assert_eq!(
        repeat_seconds(attributes, false, 1_000_000_000, 3600),
        Some(450)
    );
}

#[test]
fn hostile_bodies_are_bounded() {
    let deep = "<a>".repeat(300_000);
    assert_eq!(object_ids(deep.as_bytes()), [] as [&str; 0]);
    let many: Vec<String> = (0..5000)
        .map(|n| format!("<Job><Id>{n}</Id></Job>"))
        .collect();
    assert_eq!(object_ids(many.concat().as_bytes()).len(), MAX_OBJECTS);
    let inside = format!("<Job>{}</Job>", many.concat().replace("Job", "Id"));
    assert_eq!(object_ids(inside.as_bytes()), [] as [&str; 0]);
    let ids: Vec<String> = (0..80_000).map(|n| format!("<Id>{n}</Id>")).collect();
    let ids = format!("<Job>{}</Job>", ids.concat());
    assert_eq!(object_ids(ids.as_bytes()), ["0", "1"]);
}

#[test]
fn tags_are_those_of_fnv_1a() {
    assert_eq!(tag_of(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(tag_of("a"), 0xaf63_dc4c_8601_ec8c);
}

#[test]
fn objects_are_counted_not_their_ids() {
    for (body, expected) in [
        ("<Job><Id>1</Id></Job><Job><Id>1</Id></Job>", true),
        ("<Job><Id>1</Id><RsvID>r</RsvID></Job>", false),
        ("", false),
    ] {
        assert_eq!(has_several(body.as_bytes()), expected, "{body}");
    }
}

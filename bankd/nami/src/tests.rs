//! Rules of the reader on small documents and arbitrary bytes; `samples.rs` reads the shared samples.

use proptest::prelude::*;

use super::*;

mod aliases;
mod reservation;
mod samples;

fn one(xml: &str) -> Document {
    let mut documents =
        read(xml.as_bytes(), &ReadOptions::default()).unwrap_or_else(|e| panic!("{xml}: {e}"));
    assert_eq!(documents.len(), 1, "{xml}");
    documents.remove(0)
}

fn error(bytes: &[u8]) -> String {
    let e = read(bytes, &ReadOptions::default()).unwrap_err();
    assert!(
        e.message.len() <= MAX_MESSAGE_BYTES && !e.message.contains('\n'),
        "{e}"
    );
    e.to_string()
}

/// One line that shows the fields of a document.
fn shown(d: &Document) -> String {
    let mut out = vec![d.kind.as_str().to_owned()];
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push(format!("{name}={value}"));
        }
    };
    add("id", d.object_id.clone());
    add("rsv", d.reservation.clone());
    add("user", d.user.clone());
    add("requestor", d.requestor.clone());
    add("group", d.group.clone());
    add("account", d.account.clone());
    add("qos", d.qos.clone());
    add("class", d.class.clone());
    add("machine", d.machine.clone());
    add("procs", d.processors.map(|n| n.to_string()));
    add("nodes", d.nodes.map(|n| n.to_string()));
    add("mem", d.memory_mb.map(|n| n.to_string()));
    add("disk", d.disk_mb.map(|n| n.to_string()));
    for (name, value) in &d.gres {
        add("gres", Some(format!("{name}:{value}")));
    }
    add("wall", d.wall_duration_s.map(|n| n.to_string()));
    add("charge", d.charge_duration_s.map(|n| n.to_string()));
    add("start", d.start_time_s.map(|n| n.to_string()));
    add("end", d.end_time_s.map(|n| n.to_string()));
    add("submit", d.submit_time_s.map(|n| n.to_string()));
    add("state", d.state.clone());
    add("code", d.completion_code.map(|n| n.to_string()));
    add("tid", d.tid.clone());
    for (name, value) in &d.variables {
        add("var", Some(format!("{name}:{value}")));
    }
    add("amount", d.asserted_amount.clone());
    for (name, value) in &d.unknown {
        add("unknown", Some(format!("{name}:{value}")));
    }
    out.join(" ")
}

/// Documents and their fields.
const EVENTS: &[(&str, &str)] = &[
    // Every alias.
    (
        "<Job><JobID>1</JobID><UserName>a</UserName><Project>p</Project><QOS>q</QOS>\
             <Queue>c</Queue><Cluster>m</Cluster><ProcCount>8</ProcCount><NodeCount>2</NodeCount>\
             <WallTime>9</WallTime><ChargeTime>7</ChargeTime></Job>",
        "job id=1 user=a account=p qos=q class=c machine=m procs=8 nodes=2 wall=9 charge=7",
    ),
    (
        "<rsv><rsv_id>1</rsv_id><chargeuser>a</chargeuser><CHARGE-ACCOUNT>p</CHARGE-ACCOUNT>\
             <Partition>c</Partition><Host>m</Host><PC>8</PC><WCLimit>9</WCLimit></rsv>",
        "reservation id=1 user=a account=p class=c machine=m procs=8 wall=9",
    ),
    (
        "<Job><Id>1</Id><Requester>r</Requester><GroupName>g</GroupName><Memory>5</Memory>\
             <Disk>6</Disk><Completion>12</Completion><SubmitTime>3</SubmitTime>\
             <StartTime>4</StartTime><Status>Done</Status><ExitCode>-9</ExitCode>\
             <Amount>12.5</Amount></Job>",
        "job id=1 requestor=r group=g mem=5 disk=6 start=4 end=12 submit=3 state=Done code=-9 \
             amount=12.5",
    ),
    // Attributes of the root; namespaces; an object type decides for an unknown root.
    (
        "<Job ObjectID='1' User='a' project=\"p&amp;q\" Colour='red'><Procs>1</Procs></Job>",
        "job id=1 user=a account=p&q procs=1 unknown=@Colour:red",
    ),
    (
        "<m:Job xmlns:m='urn:x' xmlns='urn:y'><m:ObjectID>1</m:ObjectID></m:Job>",
        "job id=1",
    ),
    (
        "<Object ObjectType='reservation'><Name>1</Name></Object>",
        "reservation id=1",
    ),
    ("<Thing><ObjectType>RSV</ObjectType></Thing>", "reservation"),
    ("<Job><ObjectType>Job</ObjectType></Job>", "job"),
    // A bare Type may mean anything.
    ("<Job><Type>batch</Type></Job>", "job unknown=Type:batch"),
    // A name that cannot mean anything else wins, in either order.
    (
        "<Job><Name>sim</Name><ObjectID>1</ObjectID><Partition>main</Partition>\
             <Class>batch</Class></Job>",
        "job id=1 class=batch unknown=Name:sim unknown=Partition:main",
    ),
    (
        "<Job><JobID>1</JobID><Name>sim</Name></Job>",
        "job id=1 unknown=Name:sim",
    ),
    ("<Job><User>a</User><UserId>a</UserId></Job>", "job user=a"),
    // The owner of a reservation need not be the charged account.
    (
        "<Rsv><Owner>root</Owner><ChargeUser>a</ChargeUser></Rsv>",
        "reservation user=a unknown=Owner:root",
    ),
    // Null spellings, and a null beside a value.
    (
        "<Job><Account/><User>[NONE]</User><Class>NONE</Class><QOS>[DEFAULT]</QOS>\
             <Procs></Procs><StartTime>0</StartTime></Job>",
        "job",
    ),
    ("<Job><Account/><Account>p</Account></Job>", "job account=p"),
    // The requestor never becomes the user.
    (
        "<Job><Requestor>root</Requestor></Job>",
        "job requestor=root",
    ),
    // Text in pieces, character data, comments, white space.
    (
        "<Job><User> a&lt;&#x62;<!-- no -->&#99;<![CDATA[&d]]>\n</User><Account>\n p\t</Account></Job>",
        "job user=a<bc&d account=p",
    ),
    // Resources add up; requirements are summed if the object has no value.
    (
        "<Job><GRes name='gpu'>1.5</GRes><gres NAME='gpu' count='2'/>\
             <GenericResource name='x'/></Job>",
        "job gres=gpu:3.5",
    ),
    (
        "<Job><GRes><gpu>2</gpu><lic.matlab>1</lic.matlab></GRes></Job>",
        "job gres=gpu:2 gres=lic.matlab:1",
    ),
    (
        "<Job><Req><Processors>32</Processors><Nodes>2</Nodes><GRes name='gpu'>8</GRes></Req>\
             <Requirement Procs='4' Memory='100'><GRes name='gpu'>1</GRes><Arch>x</Arch></Requirement></Job>",
        "job procs=36 nodes=2 mem=100 gres=gpu:9 unknown=Arch:x",
    ),
    (
        "<Job><Req><Procs>32</Procs><GRes name='gpu'>8</GRes><GRes name='m'>1</GRes></Req>\
             <Procs>4</Procs><GRes name='gpu'>2</GRes></Job>",
        "job procs=4 gres=gpu:2 gres=m:1",
    ),
    // Variables and the TID.
    (
        "<Job><Var name='billtid'>q1</Var><Var name='note'>a\tb</Var><Variables>\
             <Variable name='site' value='x'/></Variables></Job>",
        "job tid=q1 var=note:a\tb var=site:x",
    ),
    (
        "<Job><TID>q1</TID><Var name='BILLTID'>q1</Var></Job>",
        "job tid=q1",
    ),
    (
        "<Job><Var name='BILLTID'>NONE</Var><Var>x</Var></Job>",
        "job unknown=Var:x",
    ),
    // The text of unknown elements is kept, and the source if they contain elements.
    (
        "<Job><A>&lt;&#x41;&gt;</A><B><![CDATA[c&d]]><!-- e --></B><C>f &amp; <D>g</D></C></Job>",
        "job unknown=A:<A> unknown=B:c&d unknown=C:f &amp; <D>g</D>",
    ),
    (
        "<Job>loose<JobName>a &amp; b</JobName><X y='1'><Z/>t</X><User u='1'>a</User></Job>",
        "job user=a unknown=#text:loose unknown=JobName:a & b unknown=X y='1':<Z/>t \
             unknown=User u='1':",
    ),
    // Before the root.
    (
        "\u{feff}<?xml version='1.0' encoding='UTF-8'?><!-- x --><Job/>",
        "job",
    ),
];

#[test]
fn documents_say() {
    for (xml, expected) in EVENTS {
        assert_eq!(shown(&one(xml)), *expected, "{xml}");
    }
}

#[test]
fn several_objects() {
    for xml in [
        "<Job><Id>1</Id></Job><Rsv><Id>2</Id></Rsv>",
        "<?xml version='1.0'?><Job Id='1'/>\n\u{feff}<?xml version='1.0'?><Rsv Id='2'/>\n",
        "<Data><Job Id='1'/><Rsv Id='2'/></Data>",
        "<Queue a='b'><Request><Job Id='1'/></Request></Queue><Data/><Rsv Id='2'/>",
    ] {
        let documents = read(xml.as_bytes(), &ReadOptions::default()).unwrap();
        let lines: Vec<_> = documents
            .iter()
            .map(|d| format!("{} {}", d.number, shown(d)))
            .collect();
        assert_eq!(lines, ["1 job id=1", "2 reservation id=2"], "{xml}");
    }
}

/// Inputs and the beginning of the error.
const REFUSED: &[(&str, &str)] = &[
    ("", "bad_document: no job and no reservation in it"),
    ("<Data/>", "bad_document: no job and no reservation in it"),
    ("hello", "bad_document: text outside of an object"),
    ("<Job/>x", "bad_document: text outside of an object"),
    (
        "<html><body>502</body></html>",
        "bad_document: object 1: <html> is neither a job nor a reservation",
    ),
    (
        "<Job><User>a",
        "bad_document: object 1: cut off inside of an element",
    ),
    ("<Job", "bad_document: not well-formed at byte 0"),
    (
        "<Job></job>",
        "bad_document: object 1: not well-formed at byte 5",
    ),
    ("</Job>", "bad_document: not well-formed at byte 0"),
    ("< Job/>", "bad_document: a tag without a name at byte 7"),
    (
        "<!DOCTYPE Job><Job/>",
        "bad_document: a DOCTYPE is not taken",
    ),
    (
        "<!doctype Job [<!ENTITY a 'b'>]><Job/>",
        "bad_document: a DOCTYPE is not taken",
    ),
    (
        "<Job><User>&a;</User></Job>",
        "bad_document: object 1: entity &a; is unknown",
    ),
    (
        "<Job><User>&#0;</User></Job>",
        "bad_document: object 1: entity &#0; is unknown",
    ),
    (
        "<Job><User>&#27;</User></Job>",
        "bad_document: object 1: entity &#27; is unknown",
    ),
    (
        "<Job><User>a & b</User></Job>",
        "bad_document: object 1: not well-formed at byte 13",
    ),
    (
        "<Job User='&x;'/>",
        "bad_document: object 1: bad value of attribute User",
    ),
    (
        "<Job User='&#1;'/>",
        "bad_document: object 1: control character in attribute User",
    ),
    (
        "<Job User='a' User='b'/>",
        "bad_document: object 1: bad attribute",
    ),
    ("<Job User=a/>", "bad_document: object 1: bad attribute"),
    (
        "<Job/><Job>\u{1}</Job>",
        "bad_document: control character at byte 11",
    ),
    (
        "<Job><ObjectType>Rsv</ObjectType></Job>",
        "bad_document: object 1: ObjectType Rsv in a <Job>",
    ),
    (
        "<Job Type='Rsv'/>",
        "bad_document: object 1: Type Rsv in a <Job>",
    ),
    (
        "<Job><ObjectType>x</ObjectType></Job>",
        "bad_document: object 1: ObjectType x is neither Job nor Reservation",
    ),
    (
        "<Job/><Job><Account>a</Account><Account>a</Account></Job>",
        "bad_document: object 2: Account given twice",
    ),
    (
        "<Job User='a'><User>a</User></Job>",
        "bad_document: object 1: User given twice",
    ),
    (
        "<Job><Account>a</Account><Project>b</Project></Job>",
        "bad_document: object 1: Account and Project disagree",
    ),
    (
        "<Job><TID>a</TID><Var name='BILLTID'>b</Var></Job>",
        "bad_document: object 1: TID and Var disagree",
    ),
    (
        "<Job><User>a<b/></User></Job>",
        "bad_document: object 1: b inside of User",
    ),
    (
        "<Job><Req><Req/></Req></Job>",
        "bad_document: object 1: Req inside of Req",
    ),
    (
        "<Job><Req><Procs>1</Procs><Procs>1</Procs></Req></Job>",
        "bad_document: object 1: Procs given twice",
    ),
    (
        "<Job><GRes>4</GRes></Job>",
        "missing_field: object 1: GRes has no attribute name",
    ),
    (
        "<Job><GRes name='a' NAME='b'/></Job>",
        "bad_document: object 1: attribute NAME of GRes given twice",
    ),
    (
        "<Job><GRes name='gpu'>x</GRes></Job>",
        "bad_number: object 1: gpu x is not a number of at most 15 digits and 6 places",
    ),
    (
        "<Job><ObjectID>a&#10;b</ObjectID></Job>",
        "bad_document: object 1: ObjectID holds a control character",
    ),
    (
        "<Job><Account>a\tb</Account></Job>",
        "bad_document: object 1: Account holds a control character",
    ),
    (
        "<Job><Procs>1e308</Procs></Job>",
        "bad_number: object 1: Procs 1e308 is not a whole number of at most 15 digits",
    ),
    (
        "<Job><Procs>1.5</Procs></Job>",
        "bad_number: object 1: Procs 1.5 is not a whole number of at most 15 digits",
    ),
    (
        "<Job><WallTime>-5</WallTime></Job>",
        "bad_number: object 1: WallTime -5 is not a duration of at most 10 years",
    ),
    (
        "<Job><StartTime>999999999999999</StartTime></Job>",
        "bad_number: object 1: StartTime 999999999999999 is not a time in seconds since 1970",
    ),
    (
        "<Job><Req><Procs>999999999999999</Procs></Req><Req><Procs>1</Procs></Req></Job>",
        "bad_number: object 1: the sum of Processors is more than 15 digits",
    ),
];

#[test]
fn refused() {
    for (xml, expected) in REFUSED {
        let message = error(xml.as_bytes());
        assert!(message.starts_with(expected), "{xml}: {message}");
    }
}

#[test]
fn limits() {
    let nested = |n: usize| format!("<Job>{}{}</Job>", "<x>".repeat(n), "</x>".repeat(n));
    assert_eq!(one(&nested(15)).unknown.len(), 1);
    assert!(error(nested(16).as_bytes()).contains("nested deeper than 16"));
    assert!(error("<x>".repeat(300_000).as_bytes()).contains("nested deeper than 16"));

    let children = |n: usize| format!("<Job>{}</Job>", "<x/>".repeat(n));
    assert_eq!(one(&children(1999)).unknown.len(), 1999);
    assert!(error(children(2000).as_bytes()).contains("more than 2000 elements"));
    assert!(error("<Job/>".repeat(2001).as_bytes()).contains("more than 2000 elements"));

    let attributes: Vec<_> = (0..2001).map(|n| format!(" a{n}='1'")).collect();
    let attributes = attributes.concat();
    assert!(error(format!("<Job{attributes}/>").as_bytes()).contains("more than 2000 attributes"));
    let ignored = format!("<Job><Procs{attributes}>1</Procs></Job>");
    assert!(error(ignored.as_bytes()).contains("more than 2000 attributes"));

    let mut large = b"<Job/>".to_vec();
    large.resize(MAX_BYTES, b' ');
    assert_eq!(read(&large, &ReadOptions::default()).unwrap().len(), 1);
    large.push(b' ');
    assert_eq!(
        error(&large),
        "too_large: 1048577 bytes, at most 1048576 are taken"
    );

    let id = |n: usize| format!("<Job><ObjectID>{}</ObjectID></Job>", "i".repeat(n));
    assert_eq!(one(&id(256)).object_id.unwrap().len(), 256);
    assert!(error(id(257).as_bytes()).contains("ObjectID is longer than 256 bytes"));

    let part = "y".repeat(30_000);
    let kept = one(&format!(
        "<Job><a>{part}</a><b>{part}</b><c>{part}</c><d>z</d></Job>"
    ));
    let names: Vec<_> = kept.unknown.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, kept.unknown_cut), (vec!["a", "b", "d"], true));
}

#[test]
fn not_utf8() {
    let xml = b"<Job><User>jos\xe9</User></Job>";
    assert_eq!(error(xml), "bad_document: not UTF-8 at byte 14");
    let options = ReadOptions {
        latin1_fallback: true,
        ..ReadOptions::default()
    };
    assert_eq!(
        read(xml, &options).unwrap()[0].user.as_deref(),
        Some("jos\u{e9}")
    );
    // UTF-8 stays UTF-8 under the fallback, and UTF-16 is nothing we read.
    let utf8 = "<Job><User>jos\u{e9}</User></Job>";
    assert_eq!(
        read(utf8.as_bytes(), &options).unwrap()[0].user.as_deref(),
        Some("jos\u{e9}")
    );
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(utf8.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(read(&utf16, &options).unwrap_err().code, "bad_document");
}

#[test]
fn the_variable_of_the_tid_has_the_name_of_the_options() {
    let xml = "<Job><Var name='SITE_TID'>q</Var><Var name='BILLTID'>r</Var></Job>";
    let options = ReadOptions {
        tid_variable: "SITE_TID",
        ..ReadOptions::default()
    };
    let document = &read(xml.as_bytes(), &options).unwrap()[0];
    assert_eq!(shown(document), "job tid=q var=BILLTID:r");
}

#[test]
fn needs_of_events() {
    use Event as E;
    for (xml, refused) in [
        (
            "<Job/>",
            vec![E::Quote, E::Create, E::Reserve, E::Charge, E::Delete],
        ),
        ("<Job Id='1'/>", vec![E::Quote, E::Reserve, E::Charge]),
        (
            "<Job><WallTime>1</WallTime></Job>",
            vec![E::Create, E::Reserve, E::Charge, E::Delete],
        ),
        ("<Job Id='1'><WallTime>1</WallTime></Job>", vec![E::Charge]),
        ("<Job Id='1'><ChargeTime>0</ChargeTime></Job>", vec![]),
    ] {
        for event in [E::Quote, E::Create, E::Reserve, E::Charge, E::Delete] {
            let result = require(&one(xml), event);
            assert_eq!(result.is_err(), refused.contains(&event), "{xml} {event:?}");
        }
    }
    let e = require(&one("<Job/>"), Event::Charge).unwrap_err();
    assert_eq!(
        e.to_string(),
        "missing_field: object 1: ObjectID is missing, charge needs it"
    );
    let e = require(&one("<Job Id='1'/>"), Event::Charge).unwrap_err();
    assert_eq!(
        e.to_string(),
        "missing_field: object 1: ChargeDuration is missing, charge needs it"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), latin1: bool) {
        let options = ReadOptions { latin1_fallback: latin1, ..ReadOptions::default() };
        let _ = read(&bytes, &options);
    }

    #[test]
    fn pieces_of_markup_never_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "<Job>", "</Job>", "<Job/>", "<", ">", "/>", "<User>", "</User>", "a", "&amp;", "&#10;",
        "&", ";", "<Req>", "</Req>", "<GRes name='x'>", "</GRes>", "'", "\"", "<!--", "-->",
        "<![CDATA[", "]]>", "<?xml ?>", "<!DOCTYPE", "[", "]", " ", "=", "Id='1'", "é", "<Data>",
        "</Data>", "<Procs>1</Procs>", "<Var name='BILLTID'>", "</Var>", "\u{feff}", "<x",
    ]), 0..24)) {
        if let Err(e) = read(pieces.concat().as_bytes(), &ReadOptions::default()) {
            prop_assert!(e.message.len() <= MAX_MESSAGE_BYTES);
            prop_assert!(!e.message.chars().any(char::is_control));
        }
    }
}

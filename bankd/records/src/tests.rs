use bank_core::amount::{Amount, Precision};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::effects::{Billing, UsageRow};
use bank_core::ids::{AccountId, InstanceId, TxId, UsageId};
use bank_core::model::{Closing, Facts, Instance, InstanceKey, ObjectType};
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage;
use bankd_config::Config;
use bankd_emit::Outcome;
use bankd_store::{Counted, KeptRecord};

use super::form::Made;
use super::*;

const T0: i64 = 1_767_225_600;

fn directory() -> Directory {
    let bank = Bank {
        uuid: "8f1c2d3a-1111-4000-8000-000000000000".to_owned(),
        precision: Precision::new(1).unwrap(),
        unit: "credits".to_owned(),
    };
    Directory::new(bank, Policy::default())
}

fn instance() -> Instance {
    let key = InstanceKey {
        machine: "ia".to_owned(),
        object_type: ObjectType::Job,
        object_id: "1632".to_owned(),
    };
    Instance {
        closed: Some((Timestamp::from_seconds(T0 + 60), Closing::Delete)),
        account: Some(AccountId(7)),
        facts: Facts {
            project: "s".to_owned(),
            user: "jb".to_owned(),
            usage: usage::Usage {
                processors: Some(Decimal::whole(16)),
                ..usage::Usage::default()
            },
            ..Facts::default()
        },
        billed: Amount(30_400),
        charged: Seconds(100),
        // 64 processors for 45 s, then 16 for 55 s.
        processor_seconds: (64 * 45 + 16 * 55) * 1_000_000_000,
        record: Some(UsageId(412)),
        last_usage: Some(UsageId(413)),
        ..Instance::new(InstanceId(1), key, 1, Timestamp::from_seconds(T0))
    }
}

fn charged(late: bool) -> RecordEvent {
    RecordEvent::Charged {
        instance: Box::new(instance()),
        usage: UsageRow {
            id: UsageId(413),
            prev: Some(UsageId(412)),
            instance: InstanceId(1),
            tx: TxId(1),
            at: Timestamp::from_seconds(T0 + 100),
            charged: Seconds(55),
            processors: Decimal::whole(16),
            amount: Amount(8800),
            billing: Billing::Billed,
            late,
            facts: String::new(),
            rates_at: None,
        },
        amount: Amount(8800),
        created: Timestamp::from_seconds(T0 + 101),
    }
}

fn closed() -> RecordEvent {
    RecordEvent::Closed {
        instance: Box::new(instance()),
        amount: Amount(30_400),
        created: Timestamp::from_seconds(T0 + 101),
    }
}

/// The usage of an event: the time of its charge, or of all charges.
fn counted(event: &RecordEvent) -> Counted {
    let seconds = match event {
        RecordEvent::Charged { usage, .. } => usage.charged,
        RecordEvent::Adjusted { .. } => Seconds(0),
        RecordEvent::Closed { instance, .. } => instance.charged,
    };
    Counted {
        core: 16 * seconds.0 * 1_000_000,
        wall: seconds.0 * 1_000_000,
        ..Counted::default()
    }
}

/// The lines of what is kept of an event, by sink.
fn lines(settings: &str, event: &RecordEvent) -> Vec<(String, String)> {
    let config: Config = toml::from_str(settings).unwrap();
    let directory = directory();
    let files = Files::new(config.sinks(), Path::new("/data"), &directory.bank);
    let kept = KeptRecord {
        id: 1,
        text: keep(&directory, event, counted(event)).text,
    };
    let record = form::read(&kept).unwrap();
    let line = |sink: &Sink| match sink.form.make(&record, &files.facts) {
        Made::Line { text, .. } => Some((sink.name.clone(), text.trim_end().to_owned())),
        Made::Nothing | Made::LeftOut | Made::Rejected(_) => None,
    };
    files.sinks().iter().filter_map(line).collect()
}

#[test]
fn the_line_of_the_whole_keeps_the_product() {
    let settings = "[file]\npath = \"alloc.txt\"\ninterim = false\nextended = true\n";
    assert_eq!(lines(settings, &charged(false)), []);
    // 3760 processor-seconds over 16 × 100.
    let line = "WITHDRAWAL TYPE=job MACHINE=ia ACCOUNT=s USER=jb PROCS=16 PROCCRATE=2.35 \
                RESOURCETYPE=DEFAULT DURATION=100 REQUESTID=1632 AMOUNT=3040";
    let written = lines(settings, &closed());
    assert_eq!(written.len(), 1);
    let (sink, text) = &written[0];
    assert_eq!(sink, "file");
    assert!(
        text.starts_with(line.split(" AMOUNT").next().unwrap()),
        "{text}"
    );
    assert!(text.contains(" AMOUNT=3040"), "{text}");
}

#[test]
fn the_usage_record_and_its_adjustment() {
    let settings = "[ggf]\npath = \"ur.xml\"\n";
    assert_eq!(lines(settings, &charged(false)), []);
    let whole = lines(settings, &closed());
    assert!(
        whole[0].1.contains("recordId=\"bank:8f1c2d3a:412\""),
        "{whole:?}"
    );
    assert!(!whole[0].1.ends_with('\n'));
    let late = lines(settings, &charged(true));
    assert!(
        late[0].1.contains("recordId=\"bank:8f1c2d3a:413\""),
        "{late:?}"
    );
    assert!(late[0].1.contains("bank:8f1c2d3a:412"), "{late:?}");
}

/// A charge on `#unbilled` is marked as unbilled (usage-records 6.1): nobody has paid for the instance then.
#[test]
fn what_nobody_paid_for_is_unbilled() {
    let outcome = |event: &RecordEvent| make::record(&directory(), event, counted(event)).outcome;
    let RecordEvent::Charged {
        instance,
        mut usage,
        amount,
        created,
    } = charged(false)
    else {
        panic!("no charge")
    };
    let mut nobody = instance.clone();
    nobody.account = None;
    let closed = |instance: &Instance| RecordEvent::Closed {
        instance: Box::new(instance.clone()),
        amount,
        created,
    };
    assert_eq!(outcome(&closed(&instance)), Outcome::Billed);
    assert_eq!(outcome(&closed(&nobody)), Outcome::Unbilled);
    // One that was never charged is owed by nobody.
    let mut idle = nobody.clone();
    (idle.record, idle.billed) = (None, Amount::ZERO);
    assert_eq!(outcome(&closed(&idle)), Outcome::Billed);
    assert_eq!(outcome(&charged(false)), Outcome::Billed);
    usage.billing = Billing::Unbilled;
    for instance in [instance, nobody] {
        let event = RecordEvent::Charged {
            instance,
            usage: usage.clone(),
            amount,
            created,
        };
        assert_eq!(outcome(&event), Outcome::Unbilled);
    }
}

#[test]
fn off_by_default() {
    assert_eq!(lines("", &charged(false)), []);
    let config = Config::default();
    let files = Files::new(config.sinks(), Path::new("/data"), &directory().bank);
    assert!(files.sinks().is_empty());
}

#[test]
fn what_documents_say_beyond_their_vocabulary() {
    let RecordEvent::Closed {
        mut instance,
        amount,
        created,
    } = closed()
    else {
        panic!("not a close");
    };
    let other = [
        ("JobName", "sim & fit"),
        ("Submit_Host", "login1.example.org"),
        ("HostList", "n1:4,n1 n2;n3+n4"),
        ("NodeType", "ia64"),
        ("CpuTime", "3571.2"),
    ];
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    instance.facts.other = other.into_iter().map(pair).collect();
    instance.facts.usage.memory_mb = Decimal::parse("0.5");
    let event = RecordEvent::Closed {
        instance,
        amount,
        created,
    };
    let settings = "[ggf]\npath = \"ur.xml\"\n";
    let line = &lines(settings, &event)[0].1;
    for part in [
        "<JobName>sim &amp; fit</JobName>",
        ">512</Memory>",
        "<CpuDuration>PT3571.2S</CpuDuration>",
        "<SubmitHost>login1.example.org</SubmitHost>",
        "<Host urf:primary=\"true\">n1</Host><Host>n2</Host><Host>n3</Host><Host>n4</Host>",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn the_rate_is_what_the_charge_counted_of_a_processor() {
    let RecordEvent::Charged {
        instance,
        mut usage,
        amount,
        created,
    } = charged(false)
    else {
        panic!("not a charge");
    };
    let used = usage::Usage {
        attributes: vec![("ConsumptionRate".to_owned(), "0.92".to_owned())],
        ..usage::Usage::default()
    };
    usage.facts = usage::text::write(&used);
    let event = RecordEvent::Charged {
        instance,
        usage,
        amount,
        created,
    };
    let line = &lines("[file]\npath = \"a\"\n", &event)[0].1;
    assert!(line.contains(" PROCS=16 PROCCRATE=0.92 "), "{line}");
}

/// Money that goes back used nothing: no rate, no time, no FILE line.
#[test]
fn a_refund_is_an_adjustment_without_a_rate() {
    let RecordEvent::Charged {
        instance,
        mut usage,
        created,
        ..
    } = charged(true)
    else {
        panic!("not a charge");
    };
    (usage.billing, usage.amount) = (Billing::Refund, Amount(-1000));
    let event = RecordEvent::Adjusted {
        instance,
        usage,
        created,
    };
    let written = lines("[file]\npath = \"a\"\n[ggf]\npath = \"b\"\n", &event);
    assert_eq!(written.len(), 1, "{written:?}");
    for part in [
        "<Charge urf:description=\"refund\" urf:unit=\"credits\">-100</Charge>",
        "<WallDuration>PT0S</WallDuration><Processors>16</Processors>",
        "<Resource urf:description=\"bank.adjusts\">bank:8f1c2d3a:412</Resource>",
    ] {
        assert!(written[0].1.contains(part), "{part}: {}", written[0].1);
    }
}

/// A total that fell takes its time back, at no price too; FILE has no line for that.
#[test]
fn a_late_total_that_fell_takes_its_time_back() {
    let mut event = charged(true);
    if let RecordEvent::Charged { usage, amount, .. } = &mut event {
        (usage.charged, usage.amount, *amount) = (Seconds(-55), Amount::ZERO, Amount::ZERO);
    }
    let written = lines("[file]\npath = \"a\"\n[ggf]\npath = \"b\"\n", &event);
    assert_eq!(written.len(), 1, "{written:?}");
    let line = &written[0].1;
    assert!(
        line.contains("<WallDuration>-PT55S</WallDuration>"),
        "{line}"
    );
    assert!(line.contains("description=\"adjust\""), "{line}");
    assert!(line.contains("<EndTime>2026-01-01T00:01:40"), "{line}");
}

/// The record of a job contains the facts of the charging collector: memory of the whole job, and earlier
/// facts of a scheduler's documents.
#[test]
fn a_record_has_what_a_collector_states() {
    let mut whole = instance();
    let stated = [
        ("Collector", "slurm:ia"),
        ("MemoryTotal", "8388608000"),
        ("CpuDuration", "36000.5"),
        ("RunTime", "90"),
        ("JobName", "relax"),
        ("HostList", "n[08-09]"),
        ("UID", "1001"),
        ("RequestedProcessors", "1.5"),
        ("SubmitHost", "login"),
    ];
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    whole.facts.other = stated.map(pair).into();
    whole.facts.usage.memory_mb = Some(Decimal::whole(8000));
    whole.facts.usage.nodes = Some(Decimal::whole(2));
    whole.facts.usage.attributes = vec![pair(("uid", "0")), pair(("gid", "0"))];
    whole.facts.exit_code = Some(1);
    let event = RecordEvent::Closed {
        instance: Box::new(whole.clone()),
        amount: Amount(30_400),
        created: Timestamp::from_seconds(T0),
    };
    let wall = Counted {
        wall: 90_000_000,
        ..Counted::default()
    };
    let text = keep(&directory(), &event, wall).text;
    let record = form::read(&KeptRecord { id: 1, text }).unwrap();
    assert_eq!(record.source.as_deref(), Some("slurm:ia"));
    assert_eq!(
        (record.memory_total, record.memory_per_node),
        (Some(8_388_608_000), None)
    );
    assert_eq!(record.memory(), Some(8_388_608_000));
    assert_eq!(
        (record.cpu_total, record.wall),
        (Some(36_000_500_000), Some(90_000_000))
    );
    assert_eq!(record.hosts, ["n08", "n09"]);
    assert_eq!((record.uid, record.gid), (Some(1001), None));
    assert_eq!(record.requested_processors, Some(1_500_000));
    assert_eq!(record.submit_host.as_deref(), Some("login"));
    assert_eq!(record.state, bankd_emit::State::Failed);

    // A scheduler's documents report one node.
    whole.facts.other.clear();
    let event = RecordEvent::Closed {
        instance: Box::new(whole),
        amount: Amount(30_400),
        created: Timestamp::from_seconds(T0),
    };
    let text = keep(&directory(), &event, counted(&event)).text;
    let record = form::read(&KeptRecord { id: 1, text }).unwrap();
    assert_eq!(
        (record.memory_total, record.memory_per_node),
        (None, Some(8_388_608_000))
    );
    assert_eq!(record.memory(), Some(16_777_216_000));
    assert_eq!((record.uid, record.gid), (Some(0), Some(0)));
    assert_eq!(record.state, bankd_emit::State::Completed);
}

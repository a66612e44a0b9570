use bank_core::amount::{Amount, Precision};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::effects::{Billing, UsageRow};
use bank_core::ids::{InstanceId, TxId, UsageId};
use bank_core::model::{Closing, Facts, InstanceKey};
use bank_core::usage;

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
    Instance {
        id: InstanceId(1),
        key: InstanceKey {
            machine: "ia".to_owned(),
            object_type: ObjectType::Job,
            object_id: "1632".to_owned(),
        },
        number: 1,
        opened: Timestamp::from_seconds(T0),
        closed: Some((Timestamp::from_seconds(T0 + 60), Closing::Delete)),
        account: None,
        fallback_from: None,
        facts: Facts {
            project: "s".to_owned(),
            user: "jb".to_owned(),
            usage: usage::Usage {
                processors: Some(Decimal::whole(16)),
                ..usage::Usage::default()
            },
            ..Facts::default()
        },
        exact_sum: 0,
        once_sum: 0,
        billed: Amount(30_400),
        shadow_billed: Amount::ZERO,
        charged: Seconds(100),
        // 64 processors for 45 s, then 16 for 55 s.
        processor_seconds: (64 * 45 + 16 * 55) * 1_000_000_000,
        record: Some(UsageId(412)),
        last_usage: Some(UsageId(413)),
        rates_at: None,
        quote: None,
        absorbed: false,
        lien_expired: false,
        due: None,
        lien: None,
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

fn lines(settings: &str, event: &RecordEvent) -> Vec<(String, String)> {
    let config: Config = toml::from_str(settings).unwrap();
    let directory = directory();
    let files = Files::new(&config, Path::new("/data"), &directory.bank);
    files.renderer()(&directory, event)
}

#[test]
fn one_line_for_each_charge() {
    let settings = "[file]\npath = \"alloc.txt\"\n";
    let line = "WITHDRAWAL TYPE=job MACHINE=ia ACCOUNT=s USER=jb PROCS=16 PROCCRATE=1.00 \
                RESOURCETYPE=DEFAULT DURATION=55 REQUESTID=1632";
    let expected = vec![("file".to_owned(), line.to_owned())];
    assert_eq!(lines(settings, &charged(false)), expected);
    assert_eq!(lines(settings, &charged(true)), expected);
    assert_eq!(lines(settings, &closed()), []);
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

#[test]
fn off_by_default() {
    assert_eq!(lines("", &charged(false)), []);
    let config = Config::default();
    let files = Files::new(&config, Path::new("/data"), &directory().bank);
    assert!(files.sinks().is_empty());
}

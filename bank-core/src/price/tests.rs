use super::*;
use crate::amount::Precision;
use crate::exact::{Rounding, to_amount};
use crate::ids::RateId;
use crate::rate::RateValue;
use crate::time::Window;

fn rate(line: &str) -> Rate {
    let mut words = line.split(' ');
    let kind = RateKind::parse(words.next().unwrap()).unwrap();
    let subject = words.next().unwrap();
    let (name, instance) = subject.split_once('=').unwrap_or((subject, ""));
    let value = RateValue::parse(words.next().unwrap()).unwrap();
    let per = words.next().map_or(Per::Second, |w| Per::parse(w).unwrap());
    Rate {
        id: RateId(0),
        kind,
        name: name.to_owned(),
        instance: instance.to_owned(),
        value,
        per,
        machine: None,
        window: Window::ALWAYS,
        when: None,
        description: String::new(),
    }
}

fn usage(words: &str) -> (Usage, Seconds) {
    let mut usage = Usage::default();
    let mut duration = 0;
    for word in words.split(' ') {
        let (name, value) = word.split_once('=').unwrap();
        match name {
            "s" => duration = value.parse().unwrap(),
            "Processors" => usage.processors = Decimal::parse(value),
            "Memory" => usage.memory_mb = Decimal::parse(value),
            "Nodes" => usage.nodes = Decimal::parse(value),
            "QOS" => usage.qos = Some(value.to_owned()),
            "GPUs" => usage
                .gres
                .push(("GPUs".into(), Decimal::parse(value).unwrap())),
            _ => usage.attributes.push((name.to_owned(), value.to_owned())),
        }
    }
    (usage, Seconds(duration))
}

fn cost(rates: &[Rate], words: &str, precision: u8) -> i64 {
    let (usage, duration) = usage(words);
    let asked = Priced {
        usage: &usage,
        duration,
        machine: None,
        machine_name: "blue",
        at: Timestamp(0),
        from: Timestamp(0),
        named: Named::default(),
    };
    let total = price(&asked, rates).unwrap().total().unwrap();
    to_amount(
        total,
        Precision::new(precision).unwrap(),
        Rounding::HalfEven,
    )
    .unwrap()
    .0
}

#[test]
fn the_worked_examples_of_ledger_3_3() {
    let rates: Vec<Rate> = [
        "VBR Processors 1",
        "VBR Memory 0.001",
        "VBR GPUs 8",
        "NBR License=Matlab 5",
        "VBU Power 0.001",
        "NBU Feature=GPU 200",
        "VBM Discount 1",
        "NBM QualityOfService=Premium 2",
        "NBM QualityOfService=BottomFeeder 0.5",
        "VBF Shipping 25",
        "NBF Zone=Asia 200",
    ]
    .map(rate)
    .to_vec();
    for (words, expected) in [
        ("Processors=16 s=1234", 19744),
        ("Processors=16 Memory=2048 s=3600 QOS=Premium", 129_946),
        ("Processors=16 s=3600 QOS=Unknown", 57600),
        ("Processors=4 s=100 License=Matlab", 900),
        ("Processors=4 s=100 Power=40000", 440),
        ("Processors=4 s=100 Feature=GPU QOS=BottomFeeder", 300),
        ("Processors=4 s=100 Discount=0.8 QOS=Premium", 640),
        ("Processors=4 s=100 Shipping=4 Zone=Asia QOS=Premium", 1100),
        ("Processors=4 GPUs=2 s=3600", 72000),
        (
            "Processors=4 Memory=512 GPUs=1 s=600 QOS=Premium License=Matlab Power=40000 \
             Feature=GPU Discount=0.9 Shipping=1 Zone=Asia",
            19570,
        ),
        ("s=100", 0),
    ] {
        assert_eq!(cost(&rates, words, 0), expected, "{words}");
    }
    assert_eq!(cost(&[rate("VBR Nodes 24")], "Nodes=3 s=600", 0), 43200);
    let blue = [rate("MVBR Processors=Machine=blue 1.5")];
    assert_eq!(cost(&blue, "Processors=8 s=100", 0), 1200);
    assert_eq!(
        cost(
            &[rate("VBR Processors 0.04 hour")],
            "Processors=12 s=5400",
            2
        ),
        72
    );
}

#[test]
fn the_empty_instance_is_the_default_of_a_name() {
    let mut rates = vec![
        rate("VBR Processors 1"),
        rate("NBM QualityOfService=Premium 2"),
    ];
    assert_eq!(cost(&rates, "Processors=1 s=10 QOS=Unknown", 0), 10);
    rates.push(rate("NBM QualityOfService 3"));
    assert_eq!(cost(&rates, "Processors=1 s=10 QOS=Unknown", 0), 30);
    assert_eq!(cost(&rates, "Processors=1 s=10 QOS=Premium", 0), 20);
}

#[test]
fn a_machines_own_rate_replaces_the_general_one() {
    let mut own = rate("VBR Processors 5");
    own.machine = Some(MachineId(7));
    let rates = [rate("VBR Processors 1"), own];
    let (usage, duration) = usage("Processors=2 s=10");
    let on = |machine| {
        let asked = Priced {
            usage: &usage,
            duration,
            machine,
            machine_name: "",
            at: Timestamp(0),
            from: Timestamp(0),
            named: Named::default(),
        };
        price(&asked, &rates).unwrap().metered / crate::exact::TRILLIONTHS
    };
    assert_eq!(
        (on(None), on(Some(MachineId(1))), on(Some(MachineId(7)))),
        (20, 20, 100)
    );
}

#[test]
fn what_exact_arithmetic_cannot_hold_has_no_price() {
    let rates = [rate("VBR Processors 999999999")];
    let usage = Usage {
        processors: Some(Decimal::from_billionths(i128::MAX / 2)),
        ..Usage::default()
    };
    let asked = Priced {
        usage: &usage,
        duration: Seconds(315_360_000),
        machine: None,
        machine_name: "",
        at: Timestamp(0),
        from: Timestamp(0),
        named: Named::default(),
    };
    assert_eq!(price(&asked, &rates), None);
}

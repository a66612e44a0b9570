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
            "QOS" => usage.qos = Some(value.to_owned()),
            _ => usage.attributes.push((name.to_owned(), value.to_owned())),
        }
    }
    (usage, Seconds(duration))
}

fn cost(rates: &[Rate], words: &str) -> i64 {
    let (usage, duration) = usage(words);
    let priced = Priced {
        usage: &usage,
        duration,
        machine: None,
        machine_name: "blue",
        at: Timestamp(0),
        from: Timestamp(0),
        named: Named::default(),
    };
    let total = price(&priced, rates).unwrap().total().unwrap();
    to_amount(total, Precision::new(0).unwrap(), Rounding::HalfEven)
        .unwrap()
        .0
}

#[test]
fn the_empty_instance_is_the_default_of_a_name() {
    let mut rates = vec![
        rate("VBR Processors 1"),
        rate("NBM QualityOfService=Premium 2"),
    ];
    assert_eq!(cost(&rates, "Processors=1 s=10 QOS=Unknown"), 10);
    assert_eq!(cost(&rates, "s=10"), 0);
    rates.push(rate("NBM QualityOfService 3"));
    assert_eq!(cost(&rates, "Processors=1 s=10 QOS=Unknown"), 30);
    assert_eq!(cost(&rates, "Processors=1 s=10 QOS=Premium"), 20);
}

#[test]
fn a_machines_own_rate_replaces_the_general_one() {
    let mut own = rate("VBR Processors 5");
    own.machine = Some(MachineId(7));
    let rates = [rate("VBR Processors 1"), own];
    let (usage, duration) = usage("Processors=2 s=10");
    let on = |machine| {
        let priced = Priced {
            usage: &usage,
            duration,
            machine,
            machine_name: "",
            at: Timestamp(0),
            from: Timestamp(0),
            named: Named::default(),
        };
        price(&priced, &rates).unwrap().metered / crate::exact::TRILLIONTHS
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
    let priced = Priced {
        usage: &usage,
        duration: Seconds(315_360_000),
        machine: None,
        machine_name: "",
        at: Timestamp(0),
        from: Timestamp(0),
        named: Named::default(),
    };
    assert_eq!(price(&priced, &rates), None);
}

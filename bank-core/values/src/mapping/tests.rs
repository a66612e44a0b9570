use super::*;

fn mapping(id: i64, priority: i64, conditions: &[&str], gives: [Option<&str>; 2]) -> Mapping {
    let [project, user] = gives;
    Mapping {
        id: MappingId(id),
        priority,
        conditions: conditions
            .iter()
            .map(|text| Condition::parse(text).unwrap())
            .collect(),
        project: project.map(|text| Template::parse(text).unwrap()),
        user: user.map(|text| Template::parse(text).unwrap()),
        pi: None,
        description: String::new(),
        deleted: false,
    }
}

fn all(list: Vec<Mapping>) -> Mappings {
    let mut mappings = Mappings::default();
    for own in list {
        mappings.put(own);
    }
    mappings
}

fn naming<'a>(account: &'a str, user: &'a str) -> Naming<'a> {
    Naming {
        source: "slurm:colony",
        machine: "colony",
        user,
        account,
        ..Naming::default()
    }
}

fn mapped(mappings: &Mappings, naming: &Naming<'_>) -> String {
    let show = |given: Option<Given>| {
        given.map_or("-".to_owned(), |(name, id)| format!("{name} by {}", id.0))
    };
    let [project, user, _] = mappings.ask(naming);
    format!("{}, {}", show(project), show(user))
}

#[test]
fn the_lowest_priority_and_then_the_lowest_number_gives_each_of_both() {
    let mappings = all(vec![
        mapping(1, 100, &["account=*"], [Some("other"), None]),
        mapping(2, 10, &["account=grp_*"], [Some("p-{1}"), None]),
        mapping(3, 10, &["account=grp_chem"], [Some("late"), None]),
        mapping(
            4,
            200,
            &["user=*@egi.eu"],
            [Some("never"), Some("{user.1}")],
        ),
    ]);
    assert_eq!(
        mapped(&mappings, &naming("grp_chem", "amy")),
        "p-chem by 2, -"
    );
    assert_eq!(
        mapped(&mappings, &naming("x", "amy@egi.eu")),
        "other by 1, amy by 4"
    );
    assert_eq!(mapped(&mappings, &naming("", "amy")), "-, -");
}

#[test]
fn conditions_hold_together_and_may_say_what_must_not_be() {
    let mappings = all(vec![
        mapping(1, 1, &["account=", "user!=root"], [Some("{user}"), None]),
        mapping(
            2,
            2,
            &["source=slurm:*", "attr.cf_pi=*"],
            [Some("pi-{attr.cf_pi}"), None],
        ),
    ]);
    assert_eq!(mapped(&mappings, &naming("", "amy")), "amy by 1, -");
    assert_eq!(mapped(&mappings, &naming("", "root")), "-, -");
    assert_eq!(mapped(&mappings, &naming("x", "amy")), "-, -");
    let attributes = BTreeMap::from([("cf_pi".to_owned(), "ann".to_owned())]);
    let with = Naming {
        attributes: Some(&attributes),
        ..naming("x", "amy")
    };
    assert_eq!(mapped(&mappings, &with), "pi-ann by 2, -");
}

#[test]
fn a_template_that_cannot_be_filled_leaves_it_to_the_next() {
    let mappings = all(vec![
        mapping(1, 1, &["account=*"], [Some("{group}"), None]),
        mapping(2, 2, &["account=x*"], [Some(" {account.1}"), None]),
        mapping(3, 3, &["account=*"], [Some("last"), None]),
    ]);
    assert_eq!(mapped(&mappings, &naming("xy", "amy")), "last by 3, -");
}

#[test]
fn what_was_changed_or_removed_is_found_by_its_new_values_only() {
    let mut mappings = all(vec![mapping(1, 1, &["account=a"], [Some("one"), None])]);
    mappings.put(mapping(1, 5, &["account=b"], [Some("two"), None]));
    assert_eq!(mapped(&mappings, &naming("a", "u")), "-, -");
    assert_eq!(mapped(&mappings, &naming("b", "u")), "two by 1, -");
    assert!(!mappings.is_empty());
    let gone = Mapping {
        deleted: true,
        ..mapping(1, 5, &["account=b"], [Some("two"), None])
    };
    mappings.put(gone);
    assert_eq!(mapped(&mappings, &naming("b", "u")), "-, -");
    assert!(mappings.is_empty());
}

#[test]
fn ten_thousand_exact_mappings_are_found_without_asking_each() {
    let many = (1..=10_000).map(|n| {
        let condition = format!("account=grp{n}");
        mapping(n, 100, &[&condition], [Some("p"), None])
    });
    let mappings = all(many.collect());
    assert_eq!(mappings.near(&naming("grp7777", "u")).count(), 1);
    assert_eq!(mapped(&mappings, &naming("grp7777", "u")), "p by 7777, -");
}

#[test]
fn conditions_read_as_they_are_written() {
    for (text, shown) in [
        ("account=grp_*", Some("account=grp_*")),
        ("user!=root", Some("user!=root")),
        (
            "attr.app.kubernetes.io/name=x",
            Some("attr.app.kubernetes.io/name=x"),
        ),
        ("account=", Some("account=")),
        ("account=a=b", Some("account=a=b")),
        ("colour=red", None),
        ("account", None),
        ("attr.=x", None),
    ] {
        let read = Condition::parse(text).map(|own| own.to_string());
        assert_eq!(read.as_deref(), shown, "{text}");
    }
}

#[test]
fn templates_name_stars_that_are_there() {
    let conditions: Vec<Condition> = ["account=*-*", "user=*", "group!=x*"]
        .iter()
        .map(|text| Condition::parse(text).unwrap())
        .collect();
    for (text, suits) in [
        ("p", Some(true)),
        ("{1}-{2}-{3}", Some(true)),
        ("{4}", Some(false)),
        ("{account.2}", Some(true)),
        ("{account.3}", Some(false)),
        ("{group.1}", Some(false)),
        ("{queue}", Some(true)),
        ("{attr.a.b}", Some(true)),
        ("{{x}}", Some(true)),
        ("{x}", None),
        ("{0}", None),
        ("{", None),
        ("}", None),
        ("", None),
    ] {
        let template = Template::parse(text);
        let found = template.map(|template| template.suits(&conditions));
        assert_eq!(found, suits, "{text:?}");
    }
    assert_eq!(Template::parse("{{x}}").unwrap().always(), Some("{x}"));
    assert_eq!(Template::literal("{x}").unwrap().always(), Some("{x}"));
}

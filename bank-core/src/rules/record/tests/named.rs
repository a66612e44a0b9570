//! Records with names: machines and usage attributes.

use super::*;

#[test]
fn a_machine_is_not_removed_by_an_undo_while_a_project_lists_it() {
    let mut book = book();
    check(
        &mut book,
        &[
            (
                "add machine grey mode=fast",
                "machine_add: machine=grey mode=fast",
            ),
            (
                "set machine grey mode=- test=yes",
                "machine_set: machine=grey mode=fast>default test=false>true",
            ),
            ("set machine grey fallback=nosuch", "not_found"),
            ("add machine ANY", "bad_name"),
            ("add machine black", "machine_add: machine=black"),
        ],
    );
    let list = Command::set_record(
        "project",
        "bio",
        &[("machines", vec!["black".into()].into())],
    );
    run(&mut book, &list).unwrap();
    assert_eq!(undo(&mut book, 2), "in_use");
    check(
        &mut book,
        &[("rm machine black", "machine_rm: machine=black")],
    );
    let listed = |book: &Book| {
        let bio = book.reference().records.named("project", "bio");
        bio.map(|bio| bio.list("machines").to_vec())
    };
    assert_eq!(listed(&book), Some(Vec::new()));
    assert_eq!(
        undo(&mut book, 1),
        "machine=black project=bio machines=->black"
    );
    assert!(book.reference().machine_named("black").is_some());
    assert_eq!(listed(&book), Some(vec!["black".to_owned()]));
    // And done again, and undone again.
    assert_eq!(
        undo(&mut book, 1),
        "machine=black project=bio machines=black>-"
    );
    assert!(book.reference().machine_named("black").is_none());
    assert_eq!(listed(&book), Some(Vec::new()));
    undo(&mut book, 1);
    assert_eq!(listed(&book), Some(vec!["black".to_owned()]));
}

#[test]
fn attributes_are_the_same_in_any_case_and_bounded() {
    let mut book = book();
    check(
        &mut book,
        &[
            (
                "add attribute Heat type=number",
                "attr_add: attribute=Heat type=number",
            ),
            ("add attribute HEAT", "already_exists"),
            ("set attribute heat type=text", "bad_value"),
            (
                "set attribute heat description=x",
                "attr_set: attribute=Heat description=->x",
            ),
            ("rm attribute heat", "attr_rm: attribute=Heat"),
            ("add attribute HEAT", "attr_add: attribute=Heat"),
            ("add attribute Processors", "already_exists"),
        ],
    );
    for number in 1..64 {
        check(
            &mut book,
            &[(&format!("add attribute a{number}"), "attr_add")],
        );
    }
    check(
        &mut book,
        &[
            ("add attribute b", "bad_value"),
            ("rm attribute a1", "attr_rm"),
            ("add attribute b", "attr_add"),
        ],
    );
    assert_eq!(undo(&mut book, 2), "bad_value");
}

//! Limits of amounts, and a second pair of eyes.

use super::*;

fn limit(of: LimitOf, per_operation: Option<i64>, per_day: Option<i64>) -> Command {
    Command::Access(Access::SetLimit(SetLimit {
        of,
        per_operation: per_operation.map(|a| Some(Amount(a))),
        per_day: per_day.map(|a| Some(Amount(a))),
    }))
}

#[test]
fn limits_hold_per_operation_and_per_day() {
    let mut bench = Bench::new(Approval::default());
    let one = key("op-1", "op", &[Role::Operator], &["top"]);
    let two = key("op-2", "op", &[Role::Operator], &["top"]);
    let other = key("else", "else", &[Role::Operator], &["top"]);
    bench.bank(limit(LimitOf::Role(Role::Operator), Some(100), Some(250)));
    assert_eq!(bench.outcome(&one, deposit("top", 101)), "over_limit");
    assert_eq!(bench.outcome(&one, deposit("top", 100)), "done");
    // Another key of the same client, and what goes out counts too.
    assert_eq!(bench.outcome(&two, withdraw("top", 100)), "done");
    let refused = bench.by(&one, deposit("top", 51)).unwrap_err();
    let expected = Refusal::OverLimit {
        needed: Amount(51),
        left: Amount(50),
        per: "day",
    };
    assert_eq!(refused, expected);
    assert_eq!(bench.outcome(&one, transfer("top", "low", 50)), "done");
    assert_eq!(bench.outcome(&two, deposit("top", 1)), "over_limit");
    // Each client has its own day, and tomorrow is another.
    assert_eq!(bench.outcome(&other, deposit("top", 100)), "done");
    bench.now = Timestamp(bench.now.0 + DAY - 1);
    assert_eq!(bench.outcome(&one, deposit("top", 1)), "over_limit");
    bench.now = Timestamp(bench.now.0 + 1);
    assert_eq!(bench.outcome(&one, deposit("top", 100)), "done");
    // A refusal counts nothing; what the bank and an admin do is not an operator's.
    let admin = key("root", "root", &[Role::Admin, Role::Operator], &[]);
    assert_eq!(bench.outcome(&admin, deposit("top", 5000)), "done");
    bench.bank(deposit("top", 5000));
}

#[test]
fn a_limit_by_name_is_for_a_key_or_for_all_of_a_client() {
    let mut bench = Bench::new(Approval::default());
    let one = key("op-1", "op", &[Role::Operator], &["top"]);
    let two = key("op-2", "op", &[Role::Operator], &["top"]);
    let name = |name: &str| LimitOf::Name(name.to_owned());
    bench.bank(limit(name("op-1"), None, Some(10)));
    assert_eq!(bench.outcome(&two, deposit("top", 50)), "done");
    assert_eq!(bench.outcome(&one, deposit("top", 10)), "done");
    assert_eq!(bench.outcome(&one, deposit("top", 1)), "over_limit");
    bench.bank(limit(name("op"), None, Some(70)));
    assert_eq!(bench.outcome(&two, deposit("top", 11)), "over_limit");
    assert_eq!(bench.outcome(&two, deposit("top", 10)), "done");
    // A person by their name, independent of the socket's name for them.
    bench.bank(grant("amy", Role::Operator, Some("top"), None));
    bench.bank(limit(name("amy"), Some(5), None));
    assert_eq!(
        bench.outcome(&person("amy"), deposit("top", 6)),
        "over_limit"
    );
    bench.bank(Command::Access(Access::RemoveLimit(name("amy"))));
    assert_eq!(bench.outcome(&person("amy"), deposit("top", 6)), "done");
    let everything = Scope::default();
    for (command, code) in [
        (limit(name("x"), None, None), "missing_field"),
        (limit(name("x"), Some(-1), None), "bad_amount"),
        (Command::Access(Access::RemoveLimit(name("x"))), "not_found"),
    ] {
        assert_eq!(bench.outcome(&everything, command), code);
    }
}

/// Deposits above 100 credits need approval by a second person, at any precision.
fn eyes() -> Approval {
    Approval {
        deposit: Some(Amount(100_000_000)),
        ..Approval::default()
    }
}

fn propose(command: &Command) -> Command {
    Command::Access(Access::Propose(Propose {
        request: format!("{command:?}"),
        command: Box::new(command.clone()),
        keep: Seconds(3600),
        asked: None,
        start: Start::default(),
    }))
}

/// With a proposer who is an administrator of everything.
fn approve(id: ProposalId, command: &Command) -> Command {
    approve_of(id, command, vec![key("root", "root", &[Role::Admin], &[])])
}

fn approve_of(id: ProposalId, command: &Command, proposers: Vec<Scope>) -> Command {
    Command::Access(Access::Approve(Approve {
        id,
        request: format!("{command:?}"),
        command: Box::new(command.clone()),
        start: Start::default(),
        propose: None,
        proposers,
        reason: "fine".to_owned(),
    }))
}

fn proposed(bench: &mut Bench, who: &Scope, command: &Command) -> ProposalId {
    match bench.by(who, propose(command)).unwrap() {
        Outcome::Proposed(proposal) => proposal.id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn above_a_threshold_somebody_else_approves() {
    let mut bench = Bench::new(eyes());
    let one = key("op-1", "op", &[Role::Operator], &["top"]);
    let two = key("op-2", "op", &[Role::Operator], &["top"]);
    let other = key("boss", "boss", &[Role::Operator], &["top"]);
    let elsewhere = key("far", "far", &[Role::Operator], &["other"]);
    let small = deposit("top", 100);
    let large = deposit("top", 101);
    assert_eq!(bench.outcome(&one, small.clone()), "done");
    assert_eq!(bench.outcome(&one, large.clone()), "approval_needed");
    let id = proposed(&mut bench, &one, &large);
    assert_eq!(bench.amount("top"), 1100);
    // Not by the proposer, also not with another key of theirs; not by somebody without the right.
    assert_eq!(bench.outcome(&one, approve(id, &large)), "own_proposal");
    assert_eq!(bench.outcome(&two, approve(id, &large)), "own_proposal");
    assert_eq!(
        bench.outcome(&elsewhere, approve(id, &large)),
        "not_allowed"
    );
    // Not something else in its place.
    assert_eq!(
        bench.outcome(&other, approve(id, &deposit("top", 999))),
        "not_found"
    );
    assert_eq!(
        bench.outcome(&other, approve(ProposalId(9999), &large)),
        "not_found"
    );
    let done = bench.by(&other, approve(id, &large)).unwrap();
    let Outcome::Decided(decided) = done else {
        panic!("{done:?}");
    };
    assert_eq!(decided.state, ProposalState::Approved);
    assert_eq!(
        (decided.proposer.as_str(), decided.decider.as_str()),
        ("op-1", "boss")
    );
    assert_eq!(bench.amount("top"), 1201);
    let tx = bench
        .book
        .journal
        .iter()
        .find(|tx| Some(tx.id) == decided.done)
        .unwrap();
    assert_eq!(tx.op, "deposit");
    assert!(
        tx.reason.contains("proposed_by=op-1") && tx.reason.contains("fine"),
        "{tx:?}"
    );
    // Once.
    assert_eq!(bench.outcome(&other, approve(id, &large)), "proposal_over");
    assert_eq!(bench.amount("top"), 1201);
}

#[test]
fn a_person_does_not_approve_what_their_own_key_proposed() {
    let mut bench = Bench::new(eyes());
    bench.bank(grant("amy", Role::Operator, Some("top"), None));
    bench.bank(grant("bob", Role::Operator, Some("top"), None));
    let large = deposit("top", 500);
    let laptop = key("amys-laptop", "amy", &[Role::Operator], &["top"]);
    let id = proposed(&mut bench, &laptop, &large);
    assert_eq!(
        bench.outcome(&person("amy"), approve(id, &large)),
        "own_proposal"
    );
    assert_eq!(bench.outcome(&person("bob"), approve(id, &large)), "done");
}

#[test]
fn a_proposal_is_decided_with_the_state_of_then() {
    let mut bench = Bench::new(Approval {
        withdraw: Some(Amount(0)),
        ..Approval::default()
    });
    let one = key("op", "op", &[Role::Operator], &["top"]);
    let other = key("boss", "boss", &[Role::Operator], &["top"]);
    let everything = withdraw("top", 1000);
    // A command that cannot be done now cannot be proposed.
    assert_eq!(
        bench.outcome(&one, propose(&withdraw("top", 1001))),
        "insufficient_funds"
    );
    assert_eq!(
        bench.outcome(&one, propose(&member("top", "amy", None))),
        "bad_value"
    );
    let id = proposed(&mut bench, &one, &everything);
    bench.bank(withdraw("top", 1));
    assert_eq!(
        bench.outcome(&other, approve(id, &everything)),
        "insufficient_funds"
    );
    bench.bank(deposit("top", 1));
    // Limits of the approver hold.
    bench.bank(limit(LimitOf::Name("boss".to_owned()), Some(999), None));
    assert_eq!(
        bench.outcome(&other, approve(id, &everything)),
        "over_limit"
    );
    bench.bank(limit(LimitOf::Name("boss".to_owned()), Some(1000), None));
    assert_eq!(bench.outcome(&other, approve(id, &everything)), "done");
    assert_eq!(bench.amount("top"), 0);
}

#[test]
fn money_that_goes_with_its_account_went_out() {
    let mut bench = Bench::new(Approval {
        withdraw: Some(Amount(999_000_000)),
        ..Approval::default()
    });
    let admin = key("root", "root", &[Role::Admin], &[]);
    let remove = Command::After(After::RemoveAccount("other".to_owned()));
    assert_eq!(bench.outcome(&admin, remove.clone()), "approval_needed");
    assert_eq!(bench.outcome(&admin, withdraw("other", 1)), "done");
    bench.bank(limit(LimitOf::Name("root".to_owned()), None, Some(999)));
    assert_eq!(bench.outcome(&admin, remove.clone()), "over_limit");
    bench.bank(limit(LimitOf::Name("root".to_owned()), None, Some(1000)));
    assert_eq!(bench.outcome(&admin, remove), "done");
}

#[test]
fn money_that_comes_back_with_its_account_came_in() {
    let mut bench = Bench::new(Approval {
        refund: Some(Amount(999_000_000)),
        ..Approval::default()
    });
    let admin = key("root", "root", &[Role::Admin], &[]);
    bench.bank(Command::After(After::RemoveAccount("other".to_owned())));
    let restore = Command::After(After::RestoreAccount("other".to_owned()));
    assert_eq!(bench.outcome(&admin, restore.clone()), "approval_needed");
    let mut bench = Bench::new(Approval::default());
    bench.bank(Command::After(After::RemoveAccount("other".to_owned())));
    bench.bank(limit(LimitOf::Name("root".to_owned()), None, Some(999)));
    assert_eq!(bench.outcome(&admin, restore.clone()), "over_limit");
    bench.bank(limit(LimitOf::Name("root".to_owned()), None, Some(1000)));
    assert_eq!(bench.outcome(&admin, restore), "done");
    assert_eq!(bench.amount("other"), 1000);
}

#[test]
fn a_proposal_ends_by_itself_and_when_it_is_rejected() {
    let mut bench = Bench::new(eyes());
    let one = key("op", "op", &[Role::Operator], &["top"]);
    let other = key("boss", "boss", &[Role::Operator], &["top"]);
    let elsewhere = key("far", "far", &[Role::Operator], &["other"]);
    let large = deposit("top", 500);
    let id = proposed(&mut bench, &one, &large);
    bench.now = Timestamp(bench.now.0 + 3600 * 1_000_000);
    assert_eq!(bench.outcome(&other, approve(id, &large)), "proposal_over");
    let reject = |id| {
        Command::Access(Access::Reject(Reject {
            id,
            command: Some(Box::new(large.clone())),
            is_withdrawal: false,
            reason: String::new(),
        }))
    };
    assert_eq!(bench.outcome(&other, reject(id)), "proposal_over");
    let id = proposed(&mut bench, &one, &large);
    assert_eq!(bench.outcome(&elsewhere, reject(id)), "not_allowed");
    // The proposer may withdraw it.
    assert_eq!(bench.outcome(&one, reject(id)), "done");
    assert_eq!(bench.outcome(&other, approve(id, &large)), "proposal_over");
    assert_eq!(bench.amount("top"), 1000);
}

#[test]
fn who_proposed_it_must_still_be_allowed_to() {
    let mut bench = Bench::new(eyes());
    let op = key("op-1", "op", &[Role::Operator], &["top"]);
    let other = key("boss", "boss", &[Role::Operator], &["top"]);
    let large = deposit("top", 101);
    let id = proposed(&mut bench, &op, &large);
    let before = bench.amount("top");
    let gone = Vec::new();
    let reader = vec![key("op-1", "op", &[Role::Auditor], &[])];
    let elsewhere = vec![key("op-1", "op", &[Role::Operator], &["other"])];
    for now in [gone, reader, elsewhere] {
        let refusal = bench.by(&other, approve_of(id, &large, now)).unwrap_err();
        assert_eq!(refusal.code(), "not_allowed");
        let Refusal::NotAllowed { what } = refusal else {
            panic!("{refusal:?}");
        };
        assert!(what.contains("its proposer op-1 may not"), "{what}");
    }
    // Their limits count as of now: once, and with what they have moved today.
    let name = |name: &str| LimitOf::Name(name.to_owned());
    bench.bank(limit(name("op"), Some(100), None));
    let now = || vec![op.clone()];
    let outcome = bench.outcome(&other, approve_of(id, &large, now()));
    assert_eq!(outcome, "not_allowed");
    bench.bank(Command::Access(Access::RemoveLimit(name("op"))));
    bench.bank(limit(name("op"), None, Some(150)));
    assert_eq!(bench.outcome(&op, deposit("top", 50)), "done");
    let outcome = bench.outcome(&other, approve_of(id, &large, now()));
    assert_eq!(outcome, "not_allowed");
    assert_eq!(bench.amount("top"), before + 50);
    // One right of several is enough.
    bench.bank(limit(name("op"), None, Some(151)));
    let several = vec![op.clone(), key("op-2", "op", &[Role::Operator], &["top"])];
    assert_eq!(
        bench.outcome(&other, approve_of(id, &large, several)),
        "done"
    );
    assert_eq!(bench.amount("top"), before + 151);
}

//! The life of a job and of a reservation: create, reserve, charge, delete.

use bank_api::text::parse_rfc3339;

use crate::harness::{Bank, Documents, Setup, T0, amount, text};

fn chemistry(held: i64) -> [(String, i64); 1] {
    [("chemistry".to_owned(), held)]
}

fn seconds(time: &str) -> i64 {
    parse_rfc3339(time).unwrap_or_else(|| panic!("no time: {time}")) / 1_000_000
}

pub(super) fn nami_case_04_create_holds_nothing(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("create", &documents.get(2)).expect(0, "");
    let job = bank.job("Moab.1024");
    assert_eq!(
        (job["number"].as_i64(), text(&job, "state")),
        (Some(1), "open")
    );
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    assert_eq!(bank.liens().len(), 0);
    bank.verify();
}

pub(super) fn nami_case_05_create_twice_is_one_instance(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("create", &documents.get(2)).expect(0, "");
    bank.script("create", &documents.get(2)).expect(0, "");
    assert_eq!(bank.jobs().len(), 1);
    bank.verify();
}

pub(super) fn nami_case_06_reserve_holds_the_cost(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    let liens = bank.liens();
    assert_eq!(bank.held(), chemistry(57_600));
    assert_eq!(seconds(text(&liens[0], "end")), T0 + 11_400);
    assert_eq!(bank.figures("chemistry"), (100_000, 57_600, 42_400));
    bank.verify();
}

pub(super) fn nami_case_07_reserve_twice_is_one_lien(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("reserve", &documents.get(3)).expect(0, "");
    assert_eq!(bank.held(), chemistry(57_600));
    assert_eq!(bank.figures("chemistry"), (100_000, 57_600, 42_400));
    bank.verify();
}

pub(super) fn nami_case_08_reserve_without_money_is_78(documents: &Documents) {
    let mut bank = Setup::new().chemistry(57_599).start();
    let ran = bank.script("reserve", &documents.get(3));
    ran.expect(78, "")
        .expect_stderr(&["need 57600", "have 57599"]);
    assert_eq!(bank.liens().len(), 0);
    assert_eq!(bank.figures("chemistry"), (57_599, 0, 57_599));
    bank.verify();
}

pub(super) fn nami_case_09_an_interim_charge_shrinks_the_lien(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(bank.debits(), chemistry(28_800));
    assert_eq!(bank.held(), chemistry(28_800));
    assert_eq!(bank.figures("chemistry"), (71_200, 28_800, 42_400));
    bank.verify();
}

fn whole_life(bank: &Bank, documents: &Documents) {
    for (event, number) in [("reserve", 3), ("charge", 4), ("charge", 5), ("delete", 6)] {
        bank.script(event, &documents.get(number)).expect(0, "");
    }
}

pub(super) fn nami_case_10_a_whole_life(documents: &Documents) {
    let mut bank = Bank::new();
    whole_life(&bank, documents);
    assert_eq!(bank.debits(), [chemistry(28_800), chemistry(6944)].concat());
    assert_eq!(bank.liens().len(), 0);
    let job = bank.job("Moab.1024");
    assert_eq!(
        (text(&job, "state"), amount(&job, "charged")),
        ("closed", 35_744)
    );
    assert_eq!(bank.figures("chemistry"), (64_256, 0, 64_256));
    bank.verify();
}

pub(super) fn nami_case_11_a_second_delete_does_nothing(documents: &Documents) {
    let mut bank = Bank::new();
    whole_life(&bank, documents);
    let before = bank.transactions();
    bank.script("delete", &documents.get(6)).expect(0, "");
    assert_eq!(bank.transactions(), before);
    assert_eq!(bank.figures("chemistry"), (64_256, 0, 64_256));
    bank.verify();
}

pub(super) fn nami_case_12_a_charge_without_a_reserve(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(bank.debits(), chemistry(28_800));
    let charges = bank.journal("charge");
    assert!(
        text(&charges[0], "reason").contains("lien_missing"),
        "{charges:?}"
    );
    bank.verify();
}

pub(super) fn nami_case_14_two_keys_are_two_charges(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.set_clock(T0 + 3600);
    bank.script("charge", &documents.get(4)).expect(0, "");
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(
        bank.debits(),
        [chemistry(28_800), chemistry(28_800)].concat()
    );
    assert_eq!(bank.figures("chemistry"), (42_400, 0, 42_400));
    bank.verify();
}

pub(super) fn nami_case_17_a_charge_longer_than_the_lien(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.set_clock(T0 + 7200);
    bank.script("charge", &documents.get(52)).expect(0, "");
    let charges = bank.journal("charge");
    let sum = |field: &str| charges.iter().map(|row| amount(row, field)).sum::<i64>();
    assert_eq!((sum("amount"), sum("held")), (-86_400, -57_600));
    assert_eq!(bank.figures("chemistry"), (13_600, 0, 13_600));
    bank.verify();
}

pub(super) fn nami_case_18_a_charge_without_money_is_debt(documents: &Documents) {
    let mut bank = Setup::new().chemistry(0).start();
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(
        bank.entries("charge_debt"),
        [("chemistry".to_owned(), -28_800)]
    );
    assert_eq!(bank.figures("chemistry"), (-28_800, 0, -28_800));
    bank.verify();
}

pub(super) fn nami_case_19_a_charge_of_nothing(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("charge", &documents.get(33)).expect(0, "");
    let job = bank.job("Moab.1024");
    let charges = job["charges"].as_array().unwrap();
    assert_eq!(charges.len(), 1, "{job}");
    assert_eq!(amount(&charges[0], "amount"), 0);
    assert_eq!(bank.held(), chemistry(57_600));
    assert_eq!(bank.figures("chemistry"), (100_000, 57_600, 42_400));
    bank.verify();
}

pub(super) fn nami_case_20_a_reservation_with_a_generic_resource(documents: &Documents) {
    let mut bank = Bank::new();
    bank.bank_ok(&["rate", "set", "VBR", "storage", "0.01"]);
    bank.script("reserve", &documents.get(9)).expect(0, "");
    assert_eq!(bank.held(), [("physics".to_owned(), 691_192)]);
    bank.script("charge", &documents.get(10)).expect(0, "");
    assert_eq!(bank.debits(), [("physics".to_owned(), 32_400)]);
    bank.script("delete", &documents.get(11)).expect(0, "");
    let released = bank.journal("lien_release");
    assert_eq!(amount(&released[0], "held"), -658_792);
    assert_eq!(bank.figures("physics"), (967_600, 0, 967_600));
    bank.verify();
}

pub(super) fn nami_case_23_deleted_before_its_start(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("create", &documents.get(12)).expect(0, "");
    bank.script("delete", &documents.get(18)).expect(0, "");
    let job = bank.job("Moab.2048");
    assert_eq!(
        (text(&job, "state"), amount(&job, "charged")),
        ("closed", 0)
    );
    assert_eq!(bank.debits(), []);
    bank.verify();
}

pub(super) fn nami_case_24_requirements_add_up(documents: &Documents) {
    let mut bank = Bank::new();
    bank.bank_ok(&["rate", "set", "VBR", "gpu", "1"]);
    bank.bank_ok(&["rate", "set", "VBR", "matlab", "2"]);
    bank.script("reserve", &documents.get(21)).expect(0, "");
    assert_eq!(bank.held(), [("astro".to_owned(), 27_600)]);
    bank.verify();
}

pub(super) fn nami_case_25_names_keep_their_bytes(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(22)).expect(0, "");
    assert_eq!(bank.held(), [("Zürich-Ångström".to_owned(), 120)]);
    let liens = bank.journal("lien");
    let names = (text(&liens[0], "project"), text(&liens[0], "user"));
    assert_eq!(names, ("Zürich-Ångström", "zoë"));
    bank.verify();
}

pub(super) fn nami_case_29_the_wall_duration_is_the_default(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(25)).expect(0, "");
    assert_eq!(bank.held(), [("astro".to_owned(), 4800)]);
    bank.verify();
    let mut fresh = Bank::new();
    fresh.script("charge", &documents.get(25)).expect(31, "");
    assert_eq!(
        (fresh.jobs().len(), fresh.quarantined(), fresh.spooled()),
        (0, 1, 0)
    );
    fresh.verify();
}

pub(super) fn nami_case_30_durations_as_a_clock_shows_them(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(28)).expect(0, "");
    assert_eq!(bank.held(), [("astro".to_owned(), 4800)]);
    assert_eq!(seconds(text(&bank.liens()[0], "end")), T0 + 11_400);
    bank.verify();
}

pub(super) fn nami_case_31_other_names_of_the_elements(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(30)).expect(0, "");
    assert_eq!(bank.held(), [("astro".to_owned(), 4800)]);
    let job = bank.job("Moab.3009");
    assert_eq!(
        (text(&job, "class"), text(&job, "machine")),
        ("short", "colony")
    );
    bank.verify();
}

pub(super) fn nami_case_32_an_array_job_is_an_object_of_its_own(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(29)).expect(0, "");
    let whole = documents.with(29, &[("Moab.3008[17]", "Moab.3008")]);
    bank.script("reserve", &whole).expect(0, "");
    let astro = ("astro".to_owned(), 600);
    assert_eq!(bank.held(), [astro.clone(), astro]);
    assert_eq!(bank.jobs().len(), 2);
    bank.verify();
}

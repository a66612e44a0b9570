//! The cases of `nami.md` 9, each a test of its own, through the real scripts and a real daemon:
//! standard output byte by byte, exit codes, the ledger's figures and the journal. Every bank is
//! verified at the end of its case.
//!
//! The documents are our own small ones; where the shared samples are, all cases run a second time
//! over those.

mod administrative;
mod bad;
mod beyond;
mod channels;
mod clocks;
mod fallback;
mod later;
mod life;
mod named;
mod order;
mod outage;
mod quote;
mod removed;
mod renamed;
mod repeats;
mod reserved;
mod reserved_collected;
mod reused;
mod samples;
mod several;
mod wire;

use crate::harness::{Documents, skip};

macro_rules! cases {
    ($($room:ident::$name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $room::$name(&Documents::own());
            }
        )*
        const CASES: &[(&str, fn(&Documents))] = &[$((stringify!($name), $room::$name)),*];
    };
}

cases! {
    quote::nami_case_01_a_quote_prints_the_cost,
    quote::nami_case_02_a_quote_with_a_tid_is_a_row,
    quote::nami_case_03_a_quote_without_money_is_78,
    life::nami_case_04_create_holds_nothing,
    life::nami_case_05_create_twice_is_one_instance,
    life::nami_case_06_reserve_holds_the_cost,
    life::nami_case_07_reserve_twice_is_one_lien,
    life::nami_case_08_reserve_without_money_is_78,
    life::nami_case_09_an_interim_charge_shrinks_the_lien,
    life::nami_case_10_a_whole_life,
    life::nami_case_11_a_second_delete_does_nothing,
    life::nami_case_12_a_charge_without_a_reserve,
    wire::nami_case_13_one_key_is_one_charge,
    life::nami_case_14_two_keys_are_two_charges,
    later::nami_case_15_more_than_can_have_been_used_is_disputed,
    later::nami_case_16_an_outage_is_charged_in_one,
    life::nami_case_17_a_charge_longer_than_the_lien,
    life::nami_case_18_a_charge_without_money_is_debt,
    life::nami_case_19_a_charge_of_nothing,
    life::nami_case_20_a_reservation_with_a_generic_resource,
    later::nami_case_21_a_reservation_shrinks_before_its_end,
    later::nami_case_22_paused_resumed_continued_and_ended,
    life::nami_case_23_deleted_before_its_start,
    life::nami_case_24_requirements_add_up,
    life::nami_case_25_names_keep_their_bytes,
    quote::nami_case_26_no_account_means_the_default_project,
    quote::nami_case_27_no_account_and_no_default_is_74,
    quote::nami_case_28_only_a_quote_needs_no_id,
    life::nami_case_29_the_wall_duration_is_the_default,
    life::nami_case_30_durations_as_a_clock_shows_them,
    life::nami_case_31_other_names_of_the_elements,
    life::nami_case_32_an_array_job_is_an_object_of_its_own,
    fallback::nami_case_33_the_scheduler_falls_back,
    fallback::nami_case_34_another_account_replaces_the_lien,
    fallback::nami_case_35_the_bank_falls_back,
    wire::nami_case_36_two_objects_in_one_call,
    fallback::nami_case_37_an_unknown_account_is_unbilled,
    bad::nami_case_38_broken_documents,
    bad::nami_case_39_document_types,
    bad::nami_case_40_numbers_that_are_none,
    bad::nami_case_41_a_deep_document,
    bad::nami_case_42_a_line_feed_in_an_id,
    bad::nami_case_43_latin_1_where_it_is_allowed,
    bad::nami_case_44_a_byte_order_mark_and_attributes,
    outage::nami_case_45_a_charge_survives_an_outage,
    outage::nami_case_46_a_daemon_that_hangs,
    wire::nami_case_47_only_what_is_signed_counts,
    outage::nami_case_48_killed_between_commit_and_answer,
    outage::nami_case_49_fifty_at_once_for_the_money_of_25,
    later::nami_case_50_a_start_after_the_end,
    fallback::nami_case_51_track_refuses_nothing,
}

#[test]
fn the_shared_samples_behave_like_our_documents() {
    let Some(documents) = Documents::shared() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    for (name, case) in CASES {
        eprintln!("{name} over the shared samples");
        case(&documents);
    }
}

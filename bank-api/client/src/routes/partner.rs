//! Messages of partner banks, and their settlements.

use bank_api::v1::{
    List, PartnerCharge, PartnerCharged, PartnerEntry, PartnerEntryQuery, PartnerExplained,
    PartnerHeld, PartnerMessageQuery, PartnerPosition, PartnerRelease, PartnerReleased,
    PartnerReserve, Settlement, SettlementQuery,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Hold money for a job at a partner bank.
    send(POST partner_reserve() PartnerReserve) "/api/v1/partner/reserves" -> PartnerHeld;
    /// Give back what was held for a job that did not start.
    send(POST partner_release() PartnerRelease) "/api/v1/partner/releases" -> PartnerReleased;
    /// Charge a project for a job at a partner bank, or return.
    send(POST partner_charge() PartnerCharge) "/api/v1/partner/charges" -> PartnerCharged;
    /// The last messages between a partner bank and this one.
    show(partner_position()) "/api/v1/partner/position" -> PartnerPosition;
    /// The entries of a month between a partner bank and this one.
    read(partner_entries() PartnerEntryQuery) "/api/v1/partner/entries" -> List<PartnerEntry>;
    /// What a message between a partner bank and this one is here.
    read(partner_message(number) PartnerMessageQuery) "/api/v1/partner/messages/{number}" -> PartnerExplained;
    /// The settlement of a month with a partner bank.
    read(settlement(name) SettlementQuery) "/api/v1/partners/{name}/settlement" -> Settlement;
    /// What a message between this bank and a partner bank is there.
    read(partner_message_of(name, number) PartnerMessageQuery) "/api/v1/partners/{name}/messages/{number}" -> PartnerExplained;
}

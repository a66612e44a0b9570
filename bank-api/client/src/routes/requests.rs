//! Requests of people without the right to do it themselves.

use bank_api::v1::{
    DepositRequest, ExtensionRequest, List, MemberRequest, NewDecision, ProjectRequest, Proposal,
    RequestQuery, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Requests of the caller, and those that the caller may answer.
    read(requests() RequestQuery) "/api/v1/requests" -> List<Proposal>;
    /// One request.
    show(request(id)) "/api/v1/requests/{id}" -> Proposal;
    /// Ask for a deposit.
    send(POST request_deposit() DepositRequest) "/api/v1/requests/deposits" -> Written<Proposal>;
    /// Ask for a later end of an allocation.
    send(POST request_extension() ExtensionRequest) "/api/v1/requests/extensions" -> Written<Proposal>;
    /// Ask to add or remove a member.
    send(POST request_members() MemberRequest) "/api/v1/requests/members" -> Written<Proposal>;
    /// Ask for a new project.
    send(POST request_project() ProjectRequest) "/api/v1/requests/projects" -> Written<Proposal>;
    /// Take a request of the caller back.
    send(POST withdraw_request(id) NewDecision) "/api/v1/requests/{id}/withdraw" -> Written<Proposal>;
}

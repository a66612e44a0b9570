//! Records of the kinds of the program, as the API has them: a record, a new one, and a change of one.
//!
//! Members that are absent are not sent; a change leaves them as they are, and an empty text clears one. `more` has the
//! members that a site adds.

mod attribute;
mod contribution;
mod contributor;
mod downtime;
mod hardware;
mod kind;
mod machine;
mod mapping;
mod partner;
mod project;
mod user;

pub use self::{
    attribute::{Attribute, NewAttribute, PatchAttribute},
    contribution::{Contribution, NewContribution, PatchContribution},
    contributor::{Contributor, NewContributor, PatchContributor},
    downtime::{Downtime, NewDowntime, PatchDowntime},
    hardware::{Hardware, NewHardware, PatchHardware},
    kind::{Kind, NewKind, PatchKind},
    machine::{Machine, NewMachine, PatchMachine},
    mapping::{Mapping, NewMapping, PatchMapping},
    partner::{NewPartner, Partner, PatchPartner},
    project::{NewProject, PatchProject, Project},
    user::{NewUser, PatchUser, User},
};

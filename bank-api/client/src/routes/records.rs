//! Records of kinds: projects, users, machines and the kinds of the site.

use bank_api::v1::{List, Member, NewMember, PastPageQuery, PastQuery, Removed, Written};
use ureq::http::Method;

use super::{Record, rows, target};
use crate::records::{
    Attribute, Contribution, Contributor, Downtime, Hardware, Kind, Machine, Mapping, NewAttribute,
    NewContribution, NewContributor, NewDowntime, NewHardware, NewKind, NewMachine, NewMapping,
    NewPartner, NewProject, NewUser, Partner, PatchAttribute, PatchContribution, PatchContributor,
    PatchDowntime, PatchHardware, PatchKind, PatchMachine, PatchMapping, PatchPartner,
    PatchProject, PatchUser, Project, User,
};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// The members of a project.
    read(members(name) PastPageQuery) "/api/v1/projects/{name}/members" -> List<Member>;
    /// Make a user a member, or switch one.
    send(POST add_member(name) NewMember) "/api/v1/projects/{name}/members" -> Written<Member>;
    /// Take a member off a project.
    act(DELETE remove_member(name, user)) "/api/v1/projects/{name}/members/{user}" -> Removed;
    /// Usage attributes of this site.
    read(attributes() PastPageQuery) "/api/v1/attributes" -> List<Attribute>;
    /// Declare a usage attribute.
    send(POST add_attribute() NewAttribute) "/api/v1/attributes" -> Written<Attribute>;
    /// Show one attribute.
    read(attribute(name) PastQuery) "/api/v1/attributes/{name}" -> Attribute;
    /// Change the description of an attribute.
    send(PATCH change_attribute(name) PatchAttribute) "/api/v1/attributes/{name}" -> Written<Attribute>;
    /// Remove a declaration; usage keeps its values.
    act(DELETE remove_attribute(name)) "/api/v1/attributes/{name}" -> Removed;
    /// Hardware contributions.
    read(contributions() PastPageQuery) "/api/v1/contributions" -> List<Contribution>;
    /// Credit a contributor with processors.
    send(POST add_contribution() NewContribution) "/api/v1/contributions" -> Written<Contribution>;
    /// Show one contribution.
    read(contribution(id) PastQuery) "/api/v1/contributions/{id}" -> Contribution;
    /// Change a contribution; reports of the past change too.
    send(PATCH change_contribution(id) PatchContribution) "/api/v1/contributions/{id}" -> Written<Contribution>;
    /// Remove a contribution, from past reports too; a change of `until` ends it.
    act(DELETE remove_contribution(id)) "/api/v1/contributions/{id}" -> Removed;
    /// People and groups who fund hardware.
    read(contributors() PastPageQuery) "/api/v1/contributors" -> List<Contributor>;
    /// Add a person or group that contributions are credited to.
    send(POST add_contributor() NewContributor) "/api/v1/contributors" -> Written<Contributor>;
    /// Show one contributor.
    read(contributor(name) PastQuery) "/api/v1/contributors/{name}" -> Contributor;
    /// Change a contributor.
    send(PATCH change_contributor(name) PatchContributor) "/api/v1/contributors/{name}" -> Written<Contributor>;
    /// Remove a contributor without contributions.
    act(DELETE remove_contributor(name)) "/api/v1/contributors/{name}" -> Removed;
    /// Downtimes, in which nodes do not count as capacity.
    read(downtimes() PastPageQuery) "/api/v1/downtimes" -> List<Downtime>;
    /// Add a downtime.
    send(POST add_downtime() NewDowntime) "/api/v1/downtimes" -> Written<Downtime>;
    /// Show one downtime.
    read(downtime(id) PastQuery) "/api/v1/downtimes/{id}" -> Downtime;
    /// Change a downtime, such as its end; reports of the past change too.
    send(PATCH change_downtime(id) PatchDowntime) "/api/v1/downtimes/{id}" -> Written<Downtime>;
    /// Remove a downtime, from past reports too.
    act(DELETE remove_downtime(id)) "/api/v1/downtimes/{id}" -> Removed;
    /// Hardware inventory: hosts, capacity, conversion factors.
    read(hardware_list() PastPageQuery) "/api/v1/hardware" -> List<Hardware>;
    /// Add hardware: nodes of one kind.
    send(POST add_hardware() NewHardware) "/api/v1/hardware" -> Written<Hardware>;
    /// Show one hardware.
    read(hardware(id) PastQuery) "/api/v1/hardware/{id}" -> Hardware;
    /// Change hardware; reports of the past change too.
    send(PATCH change_hardware(id) PatchHardware) "/api/v1/hardware/{id}" -> Written<Hardware>;
    /// Remove hardware, from past reports too; a change of `until` retires it.
    act(DELETE remove_hardware(id)) "/api/v1/hardware/{id}" -> Removed;
    /// Kinds of records and fields that this site adds.
    read(kinds() PastPageQuery) "/api/v1/kinds" -> List<Kind>;
    /// Add a kind of records, or fields to a built-in kind.
    send(POST add_kind() NewKind) "/api/v1/kinds" -> Written<Kind>;
    /// Show one kind.
    read(kind(name) PastQuery) "/api/v1/kinds/{name}" -> Kind;
    /// Change a kind; fields with values keep their type.
    send(PATCH change_kind(name) PatchKind) "/api/v1/kinds/{name}" -> Written<Kind>;
    /// Remove a kind without records.
    act(DELETE remove_kind(name)) "/api/v1/kinds/{name}" -> Removed;
    /// Machines and their schedulers.
    read(machines() PastPageQuery) "/api/v1/machines" -> List<Machine>;
    /// Add a machine.
    send(POST add_machine() NewMachine) "/api/v1/machines" -> Written<Machine>;
    /// Show one machine.
    read(machine(name) PastQuery) "/api/v1/machines/{name}" -> Machine;
    /// Change a machine.
    send(PATCH change_machine(name) PatchMachine) "/api/v1/machines/{name}" -> Written<Machine>;
    /// Remove a machine without open jobs.
    act(DELETE remove_machine(name)) "/api/v1/machines/{name}" -> Removed;
    /// Map names from usage sources to projects, users and PIs.
    read(mappings() PastPageQuery) "/api/v1/mappings" -> List<Mapping>;
    /// Create a mapping from names in usage to a project, user or PI.
    send(POST add_mapping() NewMapping) "/api/v1/mappings" -> Written<Mapping>;
    /// Show one mapping.
    read(mapping(id) PastQuery) "/api/v1/mappings/{id}" -> Mapping;
    /// Change a mapping; usage accepted before stays unchanged.
    send(PATCH change_mapping(id) PatchMapping) "/api/v1/mappings/{id}" -> Written<Mapping>;
    /// Remove a mapping; usage that it assigned stays assigned.
    act(DELETE remove_mapping(id)) "/api/v1/mappings/{id}" -> Removed;
    /// Partner banks: their projects run here, or ours run there.
    read(partners() PastPageQuery) "/api/v1/partners" -> List<Partner>;
    /// Add a partner bank.
    send(POST add_partner() NewPartner) "/api/v1/partners" -> Written<Partner>;
    /// Show one partner.
    read(partner(name) PastQuery) "/api/v1/partners/{name}" -> Partner;
    /// Change a partner bank.
    send(PATCH change_partner(name) PatchPartner) "/api/v1/partners/{name}" -> Written<Partner>;
    /// Remove a partner bank without messages.
    act(DELETE remove_partner(name)) "/api/v1/partners/{name}" -> Removed;
    /// Projects, their members and their place in the hierarchy.
    read(projects() PastPageQuery) "/api/v1/projects" -> List<Project>;
    /// Create a project, and an account of its name for its members.
    send(POST add_project() NewProject) "/api/v1/projects" -> Written<Project>;
    /// Show one project.
    read(project(name) PastQuery) "/api/v1/projects/{name}" -> Project;
    /// Change a project.
    send(PATCH change_project(name) PatchProject) "/api/v1/projects/{name}" -> Written<Project>;
    /// Remove a project that nothing refers to.
    act(DELETE remove_project(name)) "/api/v1/projects/{name}" -> Removed;
    /// Users and their names in sources of usage.
    read(users() PastPageQuery) "/api/v1/users" -> List<User>;
    /// Add a user.
    send(POST add_user() NewUser) "/api/v1/users" -> Written<User>;
    /// Show one user.
    read(user(name) PastQuery) "/api/v1/users/{name}" -> User;
    /// Change a user.
    send(PATCH change_user(name) PatchUser) "/api/v1/users/{name}" -> Written<User>;
    /// Remove a user, with their memberships.
    act(DELETE remove_user(name)) "/api/v1/users/{name}" -> Removed;
    /// Records of a kind that the site added.
    read(records(kind) PastPageQuery) "/api/v1/records/{kind}" -> List<Record>;
    /// Add a record of a kind that the site added.
    send(POST add_record(kind) Record) "/api/v1/records/{kind}" -> Written<Record>;
    /// Show one record of a kind that the site added.
    read(record(kind, key) PastQuery) "/api/v1/records/{kind}/{key}" -> Record;
    /// Change a record of a kind that the site added.
    send(PATCH change_record(kind, key) Record) "/api/v1/records/{kind}/{key}" -> Written<Record>;
    /// Remove a record of a kind that the site added.
    act(DELETE remove_record(kind, key)) "/api/v1/records/{kind}/{key}" -> Removed;
}

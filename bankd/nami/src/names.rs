//! The vocabulary of documents: one table from every accepted spelling to its meaning (`nami.md` 3.1).
//! Nothing here looks at a value.
//!
//! Matching allocates nothing: names are brought to lower case without `_`
//! and `-` in a small buffer on the stack.

use super::ObjectKind;

/// The places of a document that hold one value each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    ObjectId,
    /// The id of a reservation: of the object itself, or of the reservation that a job names.
    ReservationId,
    ObjectType,
    User,
    Requestor,
    Group,
    Account,
    Qos,
    Class,
    Machine,
    Processors,
    Nodes,
    Memory,
    Disk,
    WallDuration,
    ChargeDuration,
    StartTime,
    EndTime,
    SubmitTime,
    State,
    CompletionCode,
    Tid,
    AssertedAmount,
}

/// Number of [`Field`]s.
pub(super) const FIELDS: usize = Field::AssertedAmount as usize + 1;

impl Field {
    /// The first name to expect.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ObjectId => "ObjectID",
            Self::ReservationId => "ReservationID",
            Self::ObjectType => "ObjectType",
            Self::User => "User",
            Self::Requestor => "Requestor",
            Self::Group => "Group",
            Self::Account => "Account",
            Self::Qos => "QualityOfService",
            Self::Class => "Class",
            Self::Machine => "Machine",
            Self::Processors => "Processors",
            Self::Nodes => "Nodes",
            Self::Memory => "Memory",
            Self::Disk => "Disk",
            Self::WallDuration => "WallDuration",
            Self::ChargeDuration => "ChargeDuration",
            Self::StartTime => "StartTime",
            Self::EndTime => "EndTime",
            Self::SubmitTime => "SubmitTime",
            Self::State => "State",
            Self::CompletionCode => "CompletionCode",
            Self::Tid => "TID",
            Self::AssertedAmount => "Charge",
        }
    }
}

/// The meaning of a name inside an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// One value. Rank 0 is a name that can mean nothing else; a greater rank
    /// is a name that a scheduler may use for something else too and that
    /// therefore yields to any name of a lower rank.
    Field(Field, u8),
    /// A generic resource.
    Gres,
    /// A variable.
    Variable,
    /// A group of variables.
    Variables,
    /// The reservation that a job runs in; the lowest rank counts.
    Reservation(u8),
    /// A requirement: a group of processors, nodes, memory, disk, resources.
    Requirement,
    /// Not in the table.
    Unknown,
}

/// Looks a name up; a namespace prefix is ignored.
pub(super) fn member(name: &str) -> Name {
    use Field as F;
    let normal = Normal::of(name);
    let (field, rank) = match normal.as_bytes() {
        b"objectid" | b"jobid" => (F::ObjectId, 0),
        b"reservationid" | b"rsvid" => (F::ReservationId, 0),
        b"id" => (F::ObjectId, 1),
        b"name" => (F::ObjectId, 2),
        b"objecttype" => (F::ObjectType, 0),
        b"type" => (F::ObjectType, 1),
        b"user" | b"userid" | b"username" | b"chargeuser" => (F::User, 0),
        b"owner" => (F::User, 1),
        b"requestor" | b"requester" => (F::Requestor, 0),
        b"group" | b"groupname" => (F::Group, 0),
        b"account" | b"project" | b"projectid" | b"accountname" | b"chargeaccount" => {
            (F::Account, 0)
        }
        b"qualityofservice" | b"qos" => (F::Qos, 0),
        b"qosreq" => (F::Qos, 1),
        b"class" => (F::Class, 0),
        b"queue" => (F::Class, 1),
        b"partition" => (F::Class, 2),
        b"machine" | b"machinename" => (F::Machine, 0),
        b"cluster" => (F::Machine, 1),
        b"system" => (F::Machine, 2),
        b"host" => (F::Machine, 3),
        b"processors" | b"proccount" | b"procs" | b"pc" => (F::Processors, 0),
        b"taskcount" => (F::Processors, 1),
        b"nodes" | b"nodecount" => (F::Nodes, 0),
        b"memory" => (F::Memory, 0),
        b"disk" => (F::Disk, 0),
        b"wallduration" | b"walltime" | b"wallclocktime" => (F::WallDuration, 0),
        b"duration" => (F::WallDuration, 1),
        b"wclimit" => (F::WallDuration, 2),
        b"chargeduration" | b"chargetime" => (F::ChargeDuration, 0),
        b"starttime" => (F::StartTime, 0),
        b"endtime" => (F::EndTime, 0),
        b"completiontime" => (F::EndTime, 1),
        b"completion" => (F::EndTime, 2),
        b"submittime" => (F::SubmitTime, 0),
        b"state" => (F::State, 0),
        b"status" => (F::State, 1),
        b"completionstate" => (F::State, 2),
        b"completioncode" | b"exitcode" => (F::CompletionCode, 0),
        b"tid" | b"quoteid" | b"transactionid" => (F::Tid, 0),
        b"charge" | b"amount" => (F::AssertedAmount, 0),
        b"reservation" | b"rsv" => return Name::Reservation(1),
        b"reservationname" | b"rsvname" => return Name::Reservation(2),
        b"advres" | b"advrsv" | b"advreservation" => return Name::Reservation(3),
        b"reqreservation" | b"reqrsv" | b"reqrsvid" => return Name::Reservation(4),
        b"gres" | b"genericresource" => return Name::Gres,
        b"var" | b"variable" => return Name::Variable,
        b"vars" | b"variables" => return Name::Variables,
        b"req" | b"requirement" => return Name::Requirement,
        _ => return Name::Unknown,
    };
    Name::Field(field, rank)
}

/// The meaning of a name outside of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// An object whose kind follows from the name.
    Object(ObjectKind),
    /// Something that holds objects.
    Wrapper,
    /// An object if it has an object type.
    Unknown,
}

/// Looks the name of a root or of a wrapper's child up.
pub(super) fn root(name: &str) -> Root {
    match Normal::of(name).as_bytes() {
        b"job" => Root::Object(ObjectKind::Job),
        b"reservation" | b"rsv" => Root::Object(ObjectKind::Reservation),
        b"data" | b"request" | b"queue" => Root::Wrapper,
        _ => Root::Unknown,
    }
}

/// The kind that an object type names.
pub(super) fn kind(value: &str) -> Option<ObjectKind> {
    match root(value) {
        Root::Object(kind) => Some(kind),
        Root::Wrapper | Root::Unknown => None,
    }
}

/// True when two spellings are one name.
pub(super) fn same(a: &str, b: &str) -> bool {
    let (a, b) = (Normal::of(a), Normal::of(b));
    a.as_bytes() == b.as_bytes()
}

/// True when an attribute declares a namespace.
pub(super) fn is_namespace(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}

/// True for the attribute that names a resource or a variable.
pub(super) fn is_name(name: &str) -> bool {
    same(name, "name")
}

/// True for the attributes that may carry a value in place of text.
pub(super) fn is_value(name: &str) -> bool {
    same(name, "value") || same(name, "count")
}

/// Longer than any known name.
const NORMAL_BYTES: usize = 20;

/// A name in lower case without `_`, `-` and prefix; empty when it is too
/// long to be known.
struct Normal {
    bytes: [u8; NORMAL_BYTES],
    length: usize,
}

impl Normal {
    fn of(name: &str) -> Self {
        let mut normal = Self {
            bytes: [0; NORMAL_BYTES],
            length: 0,
        };
        for byte in name.bytes() {
            match byte {
                b'_' | b'-' => continue,
                b':' => {
                    normal.length = 0;
                    continue;
                }
                _ => {}
            }
            let Some(place) = normal.bytes.get_mut(normal.length) else {
                return Self {
                    bytes: normal.bytes,
                    length: 0,
                };
            };
            *place = byte.to_ascii_lowercase();
            normal.length += 1;
        }
        normal
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        for name in [
            "ObjectID",
            "objectid",
            "OBJECT_ID",
            "Object-Id",
            "moab:ObjectId",
        ] {
            assert_eq!(member(name), Name::Field(Field::ObjectId, 0), "{name}");
        }
        for name in [
            "",
            "_",
            "Object ID",
            "Objekt",
            "qualityofservicequalityofservice",
            "Üser",
        ] {
            assert_eq!(member(name), Name::Unknown, "{name}");
        }
        assert!(same("Wall_Duration", "wallduration"));
    }

    #[test]
    fn first_names_mean_themselves() {
        use Field as F;
        for field in [
            F::ObjectId,
            F::ReservationId,
            F::ObjectType,
            F::User,
            F::Requestor,
            F::Group,
            F::Account,
            F::Qos,
            F::Class,
            F::Machine,
            F::Processors,
            F::Nodes,
            F::Memory,
            F::Disk,
            F::WallDuration,
            F::ChargeDuration,
            F::StartTime,
            F::EndTime,
            F::SubmitTime,
            F::State,
            F::CompletionCode,
            F::Tid,
            F::AssertedAmount,
        ] {
            assert_eq!(member(field.name()), Name::Field(field, 0));
        }
    }

    #[test]
    fn roots() {
        assert_eq!(root("RSV"), Root::Object(ObjectKind::Reservation));
        assert_eq!(root("job"), Root::Object(ObjectKind::Job));
        assert_eq!(root("Queue"), Root::Wrapper);
        assert_eq!(root("html"), Root::Unknown);
    }
}

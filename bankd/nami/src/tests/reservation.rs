//! A job names its reservation; the same names in a reservation are its own id.

use super::{one, shown};

const DOCUMENTS: &[(&str, &str)] = &[
    (
        "<Job><JobID>1</JobID><RsvID>r.7</RsvID></Job>",
        "job id=1 rsv=r.7",
    ),
    (
        "<Job><Reservation>r.7</Reservation><ReservationName>r.7</ReservationName><Id>1</Id></Job>",
        "job id=1 rsv=r.7",
    ),
    (
        "<Job><JobID>1</JobID><RsvID>1</RsvID><ReqReservation>r.7</ReqReservation></Job>",
        "job id=1 rsv=r.7 unknown=RsvID:1",
    ),
    (
        "<Job Reservation='r.8' JobID='1'><AdvRes>ADVRES:r.7</AdvRes></Job>",
        "job id=1 rsv=r.8 unknown=AdvRes:ADVRES:r.7",
    ),
    (
        "<Job><JobID>1</JobID><Reservation/><RsvName>[NONE]</RsvName></Job>",
        "job id=1",
    ),
    (
        "<Job><JobID>1</JobID><Reservation><Name>x</Name></Reservation></Job>",
        "job id=1 unknown=Reservation:<Name>x</Name>",
    ),
    (
        "<Reservation><RsvID>r.7</RsvID><ReservationName>x</ReservationName></Reservation>",
        "reservation id=r.7 unknown=ReservationName:x",
    ),
    (
        "<Object ObjectType='rsv' ReservationID='r.7'/>",
        "reservation id=r.7",
    ),
];

#[test]
fn a_job_names_its_reservation() {
    for (xml, expected) in DOCUMENTS {
        assert_eq!(shown(&one(xml)), *expected, "{xml}");
    }
}

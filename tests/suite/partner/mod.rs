//! Partner banks: two and three daemons that hold and charge for each other's jobs, with cut links, lost
//! answers and kills. In the end all settlements agree to the last unit, and every bank verifies.

mod batch;
mod cut;
mod kill;
mod life;
mod link;
mod mend;
mod moved;
mod page;
mod secure;
mod three;
mod world;

//! A writer that ends at each step of a command, which came through a follower over each of the doors.

use super::doors::{DOORS, Door, Doors, nodes_with_doors};
use super::nodes::{Cluster, all_agree, bankd_ok, field, prove};
use crate::harness::until;

/// The kill points of a command, in their order: in the database transaction, in the log, committed, answered. Records
/// are stored many at a time, and have no point before the log.
const STEPS: [(Door, &str); 8] = [
    (Door::Forms, "appended"),
    (Door::Charges, "appended"),
    (Door::Forms, "logged"),
    (Door::Charges, "logged"),
    (Door::Records, "logged"),
    (Door::Forms, "committed"),
    (Door::Records, "committed"),
    (Door::Charges, "replied"),
];

#[test]
fn each_step_of_a_command_can_be_the_last_of_its_writer() {
    let Some(mut cluster) = Cluster::of(|log| nodes_with_doors(&vec![log.to_owned(); 3])) else {
        return;
    };
    let doors = Doors::of(&cluster.nodes);
    let mut clients = DOORS.map(|door| doors.client(door));
    for (door, step) in STEPS {
        let writer = cluster.writer(None);
        let (dies, follower) = ((writer + 1) % 3, (writer + 2) % 3);
        cluster.nodes[dies].stop();
        let trap = [("BANKD_KILL_AT", step)];
        assert!(cluster.nodes[dies].start_with(&trap), "{step}");
        let name = format!("n{dies}");
        bankd_ok(&cluster.nodes[writer], &["cluster", "promote", &name]);
        for node in [dies, follower] {
            until("the node with the trap writes", || {
                (field(&cluster.nodes[node], "writer") == name).then_some(())
            });
        }
        clients[door as usize].done(follower);
        let node = &mut cluster.nodes[dies];
        until("the writer is gone", || node.is_gone().then_some(()));
        node.stop_or_kill();
        node.start();
    }
    // The writer before the last one learns within a second that it follows.
    let writer = until("all nodes know the writer", || {
        let named = [0, 1, 2].map(|node| field(&cluster.nodes[node], "writer"));
        let writer = named[0].strip_prefix('n')?.parse::<usize>().ok()?;
        let is_known = named.iter().all(|name| *name == named[0]);
        (is_known && field(&cluster.nodes[writer], "role") == "writer").then_some(writer)
    });
    all_agree(&cluster.nodes, writer);
    doors.check(&cluster.nodes[writer]);
    prove(&mut cluster.nodes);
}

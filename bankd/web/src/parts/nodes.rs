//! The nodes of a cluster, for operators.

use bank_api::text::format_clock;
use bank_api::v1::{ClusterNode, ClusterStatus};
use maud::{Markup, html};

use crate::parts::amount::count;
use crate::parts::table::{Table, name};
use crate::target::Target;

/// What is wrong with the cluster now, in sentences.
pub(crate) fn findings(cluster: &ClusterStatus) -> Vec<String> {
    let mut all = Vec::new();
    if cluster.role == "stopped" {
        all.push(format!(
            "Node {} applies nothing: {}.",
            cluster.node, cluster.why
        ));
    }
    if cluster.writer.is_none() {
        all.push("No node of the cluster writes: commands are refused until one does.".to_owned());
    }
    if let Some(error) = &cluster.error {
        all.push(format!("The log of the cluster: {error}."));
    }
    all
}

/// The nodes with their positions in the log, and why the writer changed.
pub(crate) fn table(cluster: &ClusterStatus) -> Markup {
    let is_writer = |node: &ClusterNode| cluster.writer.as_ref() == Some(&node.node);
    let last = cluster.nodes.iter().map(|node| node.position).max();
    let last = last.unwrap_or(0).max(cluster.position);
    let behind = |node: &ClusterNode| last.saturating_sub(node.position).max(0);
    let table = Table::of("Nodes", &cluster.nodes)
        .words(
            "Node",
            |node| html! { (name(&node.node)) @if node.node == cluster.node { " (this node)" } },
        )
        .words(
            "Role",
            |node| html! { @if is_writer(node) { "writes" } @else { "follows" } },
        )
        .words("Address", |node| name(&node.address))
        .figures("Position", |node| html! { (count(node.position)) })
        .figures("Behind", |node| html! { (count(behind(node))) })
        .figures(
            "Last report (h:min:s ago)",
            |node| html! { (format_clock(node.age_ms / 1000)) },
        )
        .words("bankd", |node| name(&node.version))
        .empty(html! { p { "No node has reported to the log yet." } })
        .data(Target::data(&["status"]));
    html! {
        (table.show())
        @if !cluster.why.is_empty() {
            p .small { "Last change of this node's role: " (cluster.why) "." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, position: i64) -> ClusterNode {
        ClusterNode {
            node: name.to_owned(),
            address: format!("http://{name}:8080"),
            position,
            version: "1.0".to_owned(),
            age_ms: 61_000,
        }
    }

    #[test]
    fn the_table_has_each_node_with_its_distance() {
        let cluster = ClusterStatus {
            node: "b".to_owned(),
            role: "follower".to_owned(),
            position: 1_190,
            writer: Some("a".to_owned()),
            why: "a <renewed> the lease".to_owned(),
            nodes: vec![node("a", 1_200), node("b", 1_190)],
            ..ClusterStatus::default()
        };
        let shown = table(&cluster).into_string();
        for part in [
            "(this node)",
            "writes",
            "follows",
            ">10<",
            "0:01:01",
            "a &lt;renewed&gt; the lease",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert_eq!(findings(&cluster), Vec::<String>::new());
    }

    #[test]
    fn a_cluster_without_a_writer_is_a_finding() {
        let cluster = ClusterStatus {
            node: "b".to_owned(),
            role: "stopped".to_owned(),
            why: "entry 7 is of another bank".to_owned(),
            ..ClusterStatus::default()
        };
        let expected = [
            "Node b applies nothing: entry 7 is of another bank.",
            "No node of the cluster writes: commands are refused until one does.",
        ];
        assert_eq!(findings(&cluster), expected);
    }
}

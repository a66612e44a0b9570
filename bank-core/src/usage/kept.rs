//! Attributes that are kept with a finished use, for reports and exports that ask for them: the speed of
//! processors of a deployment (collectors.md g), and what a pod asked for (collectors.md h.3).

use super::{ATTRIBUTE_VALUE_MAX, ATTRIBUTES_MAX};

/// The name of a pod; who has it is a run of samples of a pod.
pub const POD: &str = "pod";
/// Processors that a pod asked for, an exact decimal.
pub const CPU_REQUEST: &str = "cpu_request";
/// Memory that it asked for, an exact decimal of bytes.
pub const MEMORY_REQUEST: &str = "memory_request";
/// GPUs that it asked for, an exact decimal.
pub const GPU_REQUEST: &str = "gpu_request";
/// The product of the GPU.
pub const GPU_TYPE: &str = "gpu_type";
/// The resource that it is, such as `nvidia.com/gpu`.
pub const GPU_RESOURCE: &str = "gpu_resource";
/// The node that it ran on.
pub const NODE: &str = "node";
/// The model of that node.
pub const NODE_MODEL: &str = "node_model";
/// The class of a notebook, by which some sites bill: a label of the pod.
pub const POD_CLASS: &str = "label_nerc_mghpcc_org_class";
/// The speed of its processors together, in MHz.
pub const CPU_MHZ: &str = "cpu_mhz";

/// All of them.
const NAMES: [&str; 10] = [
    POD,
    CPU_REQUEST,
    MEMORY_REQUEST,
    GPU_REQUEST,
    GPU_TYPE,
    GPU_RESOURCE,
    NODE,
    NODE_MODEL,
    POD_CLASS,
    CPU_MHZ,
];

/// Those of a use's attributes that are kept, as text: a line `name=value` for each, in their order, with
/// values of at most 1024 bytes. None where there are none.
pub fn kept<'a>(attributes: impl IntoIterator<Item = (&'a String, &'a String)>) -> Option<String> {
    let mut text = String::new();
    for (name, value) in attributes.into_iter().take(ATTRIBUTES_MAX) {
        let fits = value.len() <= ATTRIBUTE_VALUE_MAX && NAMES.contains(&name.as_str());
        if fits {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(name);
            text.push('=');
            text.extend(value.chars().filter(|c| !c.is_control()));
        }
    }
    (!text.is_empty()).then_some(text)
}

/// The value of a name in what [`kept`] wrote.
pub fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut lines = text.lines().filter_map(|line| line.split_once('='));
    lines.find(|(own, _)| *own == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_kept_is_read_again() {
        let all: BTreeMap<String, String> = [
            ("cpu_mhz", "8400"),
            ("department", "x"),
            ("node", "wrk=1\nnode_model=forged"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let text = kept(&all).unwrap();
        assert_eq!(text, "cpu_mhz=8400\nnode=wrk=1node_model=forged");
        assert_eq!(value(&text, CPU_MHZ), Some("8400"));
        assert_eq!(value(&text, NODE), Some("wrk=1node_model=forged"));
        assert_eq!(value(&text, NODE_MODEL), None);
        assert_eq!(value(&text, "department"), None);
        let none: BTreeMap<String, String> = [("department".to_owned(), "x".to_owned())].into();
        assert_eq!(kept(&none), None);
    }

    #[test]
    fn what_is_too_long_is_left_out() {
        let all = [(NODE.to_owned(), "n".repeat(ATTRIBUTE_VALUE_MAX + 1))];
        assert_eq!(kept(all.iter().map(|(name, value)| (name, value))), None);
    }
}

//! Names as other programs can take them: domain names of usage records, names sent to Maui.

/// Whether usage records can carry a name (usage-records.md 1.4): labels of two or more letters, digits,
/// `-` and `'`, the first and the last a letter or digit; at most 255 bytes.
pub fn is_domain_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'\'');
        label.len() >= 2
            && label.bytes().all(plain)
            && label.starts_with(|c: char| c.is_ascii_alphanumeric())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    name.len() <= 255 && name.split('.').all(is_label)
}

/// Longest name that Maui keeps, in bytes.
const MAUI_NAME_MAX: usize = 63;

/// Whether a name can be sent to Maui, which keeps 63 bytes of it and reads no entities in text.
pub fn is_sendable(name: &str) -> bool {
    name.len() <= MAUI_NAME_MAX && !name.contains(['&', '<', '>'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_specification() {
        for (name, valid) in [
            ("ia", true),
            ("node-1.example.org", true),
            ("a", false),
            ("n1.x.example.org", false),
            ("node_1", false),
            ("ia;", false),
            ("slot1@host", false),
            ("n1,n2", false),
            ("n[1-4]", false),
        ] {
            assert_eq!(is_domain_name(name), valid, "{name}");
        }
        assert!(!is_domain_name(&"a".repeat(256)));
    }
}

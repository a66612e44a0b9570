//! Names as other programs can take them: domain names of usage records, names sent to Maui, addresses of mail.

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

/// Whether a text is safe as an address in a mail header: it cannot start another address, another
/// header or an option.
pub fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    let in_domain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    text.len() <= 254
        && (1..=64).contains(&local.len())
        && !domain.is_empty()
        && !text.starts_with('-')
        && local.chars().all(plain)
        && domain.chars().all(in_domain)
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

    #[test]
    fn addresses_of_mail_hold_nothing_else() {
        for good in ["amy@example.org", "a.b+c@x", "o'neil@uni.example"] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "",
            "amy",
            "@x",
            "a@",
            "a b@x",
            "a@x,b@y",
            "a@x\r\nBcc: c@z",
            "<a@x>",
            "-oQ/tmp@x",
            "a@b@c",
            "\"a\"@x",
            "ä@x",
        ] {
            assert!(!is_address(bad), "{bad:?}");
        }
        assert!(!is_address(&format!("{}@x", "a".repeat(65))));
    }
}

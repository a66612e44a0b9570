//! The words of the journal's `op` column, for whoever asks for one of them.

/// Every word of the journal's `op` column: commands, and what time alone does.
pub const OPS: [&str; 54] = [
    "account_add",
    "account_rm",
    "account_set",
    "adjust",
    "allocation_rm",
    "allocation_set",
    "attr_add",
    "attr_rm",
    "boundary",
    "charge",
    "clock",
    "clock_confirm",
    "create",
    "cycle",
    "cycle_add",
    "cycle_rm",
    "cycle_run",
    "cycle_set",
    "delete",
    "deposit",
    "import",
    "key_add",
    "key_rm",
    "key_set",
    "lien_extend",
    "lien_rm",
    "machine_add",
    "machine_rm",
    "machine_set",
    "mapping_add",
    "mapping_rm",
    "mapping_set",
    "member_rm",
    "member_set",
    "modify",
    "project_add",
    "project_rm",
    "project_set",
    "quote",
    "quote_rm",
    "rate_rm",
    "rate_set",
    "refund",
    "repeat",
    "reserve",
    "settle",
    "transfer",
    "undo",
    "usage",
    "user_add",
    "user_merge",
    "user_rm",
    "user_set",
    "withdraw",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The words between `=> "` and `"` of a source.
    fn words(source: &str) -> impl Iterator<Item = &str> {
        let arms = source.split("=> \"").skip(1);
        arms.filter_map(|arm| arm.split('"').next())
    }

    #[test]
    fn every_command_has_its_word_here() {
        assert!(OPS.is_sorted());
        let sources = [include_str!("../command.rs"), include_str!("after.rs")];
        let all: Vec<&str> = sources.iter().flat_map(|source| words(source)).collect();
        assert!(all.len() > 40, "{all:?}");
        for word in all {
            assert!(OPS.contains(&word), "{word} is missing");
        }
    }
}

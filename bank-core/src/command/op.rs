//! The words of the journal's `op` column, for filters by operation.

/// Every word of the journal's `op` column: commands, and what time alone does.
pub const OPS: [&str; 91] = [
    "account_add",
    "account_rm",
    "account_set",
    "adjust",
    "allocation_rm",
    "allocation_set",
    "attention",
    "attention_ack",
    "attention_set",
    "attr_add",
    "attr_rm",
    "attr_set",
    "boundary",
    "charge",
    "clock",
    "clock_confirm",
    "contribution_add",
    "contribution_rm",
    "contribution_set",
    "contributor_add",
    "contributor_rm",
    "contributor_set",
    "create",
    "cycle",
    "cycle_add",
    "cycle_rm",
    "cycle_run",
    "cycle_set",
    "delete",
    "deposit",
    "downtime_add",
    "downtime_rm",
    "downtime_set",
    "hardware_add",
    "hardware_rm",
    "hardware_set",
    "import",
    "key_add",
    "key_rm",
    "key_rotate",
    "key_set",
    "kind_add",
    "kind_rm",
    "kind_set",
    "lien_extend",
    "lien_rm",
    "limit_rm",
    "limit_set",
    "machine_add",
    "machine_rm",
    "machine_set",
    "mapping_add",
    "mapping_rm",
    "mapping_set",
    "member_rm",
    "member_set",
    "modify",
    "opening",
    "partner_add",
    "partner_rm",
    "partner_set",
    "period_close",
    "period_reopen",
    "project_add",
    "project_rm",
    "project_set",
    "propose",
    "quote",
    "quote_rm",
    "rate_rm",
    "rate_set",
    "record_add",
    "record_rm",
    "record_set",
    "refund",
    "reject",
    "repeat",
    "request_pass",
    "reserve",
    "role_grant",
    "role_revoke",
    "settings",
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
        let sources = [
            include_str!("../command.rs"),
            include_str!("access.rs"),
            include_str!("correction.rs"),
            include_str!("period.rs"),
            include_str!("attention.rs"),
        ];
        let kinds = crate::kind::declared().iter().flat_map(|kind| kind.ops);
        let all = sources.iter().flat_map(|source| words(source)).chain(kinds);
        let all: Vec<&str> = all.collect();
        assert!(all.len() > 40, "{all:?}");
        for word in all {
            assert!(OPS.contains(&word), "{word} is missing");
        }
    }
}

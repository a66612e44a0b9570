//! Reports and exports.

use bank_api::v1::{
    ContributionQuery, ContributionReport, EfficiencyQuery, EfficiencyReport, ExpiringRow,
    ExportPage, ExportQuery, FallbackQuery, FallbackReport, ForecastQuery, ForecastRow, List,
    NegativeRow, PriorityQuery, PriorityReport, RecordLine, RecordQuery, SampledQuery,
    SampledTable, UsageQuery, UsageTable,
};

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error};

rows! {
    /// Shares of usage and contributions, and utilisation, of one or two periods.
    read(contribution_report() ContributionQuery) "/api/v1/report/contribution" -> ContributionReport;
    /// Requested and used resources, with energy and CO2.
    read(efficiency_report() EfficiencyQuery) "/api/v1/report/efficiency" -> EfficiencyReport;
    /// Priorities of groups from what they used.
    read(priority_report() PriorityQuery) "/api/v1/report/priority" -> PriorityReport;
    /// Usage in a period, by whose it is and by buckets of time.
    read(usage_report() UsageQuery) "/api/v1/report/usage" -> UsageTable;
    /// How many jobs ran and waited when collectors took snapshots.
    read(sampled_report() SampledQuery) "/api/v1/report/sampled" -> SampledTable;
    /// Who ran on a fallback account.
    read(fallback_report() FallbackQuery) "/api/v1/report/fallback" -> FallbackReport;
    /// How long the money of accounts lasts.
    read(forecast() ForecastQuery) "/api/v1/report/forecast" -> List<ForecastRow>;
    /// Money that ends, and what of it will be left over.
    read(expiring() ForecastQuery) "/api/v1/report/expiring" -> List<ExpiringRow>;
    /// Accounts below zero.
    read(negative() ForecastQuery) "/api/v1/report/negative" -> List<NegativeRow>;
    /// What was used, in the format of another program.
    read(export(format) ExportQuery) "/api/v1/export/{format}" -> ExportPage;
    /// Usage records as lines.
    read(usage_records() RecordQuery) "/api/v1/records" -> List<RecordLine>;
}

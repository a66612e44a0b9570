//! Alerts, notices and scheduled reports.

use bank_api::v1::{
    AckAttention, Attention, AttentionDone, AttentionQuery, List, Notice, OutboxQuery, ReportRun,
    RunReport, ScheduledReport, SwitchAttention, Written,
};
use ureq::http::Method;

use super::{rows, target};
use crate::{call::Call, client::Client, error::Error, write::Write};

rows! {
    /// Raised alerts.
    read(attention() AttentionQuery) "/api/v1/attention" -> List<Attention>;
    /// One event.
    show(alert(id)) "/api/v1/attention/{id}" -> Attention;
    /// Say that what an event raised was seen.
    send(POST acknowledge(id) AckAttention) "/api/v1/attention/{id}/ack" -> Written<AttentionDone>;
    /// Switch the alerts of a project off or on.
    send(PATCH switch_attention(name) SwitchAttention) "/api/v1/attention/projects/{name}" -> Written<AttentionDone>;
    /// Waiting and abandoned notices.
    read(outbox() OutboxQuery) "/api/v1/attention/outbox" -> List<Notice>;
    /// Retry an abandoned notice.
    act(POST retry_notice(id)) "/api/v1/attention/outbox/{id}/retry" -> Written<Notice>;
    /// Scheduled reports and their state.
    show(scheduled_reports()) "/api/v1/report/scheduled" -> List<ScheduledReport>;
    /// Have a scheduled report made now.
    send(POST run_report(name) RunReport) "/api/v1/report/scheduled/{name}/run" -> Written<ReportRun>;
}

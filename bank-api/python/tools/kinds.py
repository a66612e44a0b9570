"""Which texts of the API are amounts (or other exact decimals) and which are times.

A member that is in none of these tables is a text.
"""

from __future__ import annotations

from typing import Any

# Members that are exact decimals wherever they occur.
DECIMALS = set(
    """
    active allocated amount amount_after available available_after balance billed burn_per_day by_fallback capacity
    charged charged_before charged_processor_s charged_processors charged_wall_s closing co2_kg contribution
    contribution_share core_hours core_seconds cost cpu_efficiency cpu_hours cpu_mhz_hours cpu_mhz_seconds cpu_seconds
    credit_limit debt debt_against_liens deposited difference disk_mib_hours disk_mib_seconds energy_kwh expansion factor
    factored_hours factored_seconds free from_available future gpu_hours gpu_seconds held held_after held_expired
    held_future hours idle idle_co2_kg idle_energy_kwh idle_hours in_flight_amount left memory_mib_hours
    memory_mib_seconds needed net node_hours node_seconds opening per_day per_operation percent placed_amount
    processor_s proposed queued_sampled_mean rate refunded refused_cost released remaining remaining_percent
    requested_hours requested_seconds reserved returned rollover running running_sampled_mean seconds shadow
    shadow_charged shadow_held shadow_used share split taken time_efficiency to_available total_credits
    total_debits unbilled unused unused_total usage usage_share used used_percent wait_mean_s wall_hours wall_s
    wall_seconds was
    """.split()
)

# Members that are times wherever they occur.
TIMES = set(
    """
    again_at at at_effective at_recorded bucket_from bucket_until clock decided_at effective empty_at end event_time
    first_contact first_refused from gap_from gap_until last_contact last_event last_used ledger made made_at
    next_boundary next_due opened recorded_at reissue_until start started submit tried_at unused_at until valid_from
    valid_until
    """.split()
)

# Members of single shapes that differ from the tables above.
EXCEPT = {
    # An empty text without any contribution or usage.
    ("ContributionRow", "contribution_share"): "amount or empty",
    ("ContributionRow", "usage_share"): "amount or empty",
    ("FallbackJob", "from"): "text",
    ("Cycle", "next"): "time",
    ("Transfer", "from"): "text",
    ("NewTransfer", "from"): "text",
    ("ContributionPeriod", "to"): "time",
    ("EfficiencyReport", "to"): "time",
    ("RateTest", "to"): "time",
    ("Replay", "to"): "time",
    ("UtilisationBucket", "to"): "time",
    ("UnmappedRow", "first"): "time",
    ("UnmappedRow", "last"): "time",
    ("Job", "closed"): "time",
    ("JobLien", "placed"): "time",
    ("Lien", "placed"): "time",
    ("Verification", "ended"): "time",
    ("NewImport", "since"): "time",
    ("PartnerWaiting", "since"): "time",
    ("PriorityReport", "since"): "time",
    ("PartnerCharge", "processors"): "amount",
    ("PartnerReserve", "processors"): "amount",
    ("ReconcileRow", "processors"): "amount",
    ("RecordedUse", "processors"): "amount",
    ("PriorityRow", "resource"): "amount",
    ("SettlementSide", "total"): "amount",
    # Numbers of jobs, as texts because a report may add up any number of them.
    ("UsageFigures", "started"): "amount",
    ("UsageFigures", "ended"): "amount",
    ("UsageFigures", "jobs"): "amount",
    ("UsageFigures", "submitted"): "amount",
    ("NewCharge", "gres"): "amount",
    ("NewQuote", "gres"): "amount",
    ("NewReserve", "gres"): "amount",
}


# Kinds of records to which a site can add members.
RECORDS = {
    "Attribute",
    "Contribution",
    "Contributor",
    "Downtime",
    "Hardware",
    "Kind",
    "Machine",
    "Mapping",
    "Partner",
    "Project",
    "User",
}


def kind_of(owner: str, member: str, schema: dict[str, Any]) -> str:
    """`amount`, `amount or empty`, `time` or `text`."""
    if (owner, member) in EXCEPT:
        return EXCEPT[owner, member]
    if schema.get("format") == "date-time":
        return "time"
    if "enum" in schema:
        return "text"
    if "[0-9]" in schema.get("pattern", ""):
        return "amount"
    if member in DECIMALS:
        return "amount"
    return "time" if member in TIMES else "text"

//! Costs as in FOCUS 1.2 (`usage-records.md` 5.4): CSV, exact decimals, times in whole seconds. The billed
//! amount is the charged one; a deposit is a purchase that by itself costs nothing.

use std::collections::BTreeMap;

use bank_core::decimal::Decimal;

use super::lines::cell;
use super::text;

/// The columns in their order; those behind the dictionary's begin with `x_`.
const COLUMNS: [&str; 37] = [
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodStart",
    "BillingPeriodEnd",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargePeriodStart",
    "ChargePeriodEnd",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCurrency",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "SubAccountId",
    "SubAccountName",
    "SubAccountType",
    "Tags",
    "x_Account",
    "x_Credits",
    "x_RecordId",
    "x_Transaction",
    "x_Unit",
];

/// Columns of numbers, which may be below 0 and are no formulas.
const NUMBERS: [&str; 9] = [
    "BilledCost",
    "ConsumedQuantity",
    "ContractedCost",
    "EffectiveCost",
    "ListCost",
    "ListUnitPrice",
    "PricingQuantity",
    "x_Credits",
    "x_Transaction",
];

/// Places of costs at most: those of a credit's price.
const PLACES: u32 = 9;

/// A site's settings for prices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Money {
    /// National currency, ISO 4217.
    pub currency: String,
    /// The price of a credit in it.
    pub price: Decimal,
    /// The bank's name for its credits.
    pub unit: String,
    /// Decimal places of the bank's amounts, 0 to 6.
    pub precision: u32,
    /// The issuer of invoices and provider.
    pub issuer: String,
    /// The first 8 hex digits of the bank's UUID.
    pub bank: String,
    /// Whether users and names of jobs are written.
    pub names: bool,
}

/// The category of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Category {
    /// Something was used, or money of it went back.
    #[default]
    Usage,
    /// Money was put into an account.
    Purchase,
}

/// A row. Times are microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// The category.
    pub category: Category,
    /// It changes a month that was invoiced.
    pub is_correction: bool,
    /// The event, in a few words.
    pub description: &'static str,
    /// Minor units charged, below 0 where they went back; of a purchase those that were put in.
    pub credits: i128,
    /// The amount without factors, as a fraction of the charged one.
    pub list: Option<(i128, i128)>,
    /// Start of what was charged for.
    pub start: i64,
    /// Its end, exclusive.
    pub end: i64,
    /// Start of the month that it is billed in.
    pub month: i64,
    /// Its end, exclusive.
    pub month_end: i64,
    /// The project at the top.
    pub top: String,
    /// The project that was charged; empty for none.
    pub project: String,
    /// The account; empty for none.
    pub account: String,
    /// Processors × time in billionths of a second; none where no time was used.
    pub processor_seconds: Option<i128>,
    /// The machine; of a purchase nothing.
    pub machine: String,
    /// The scheduler's id.
    pub object_id: Option<String>,
    /// `Job` or `Reservation`.
    pub object_type: &'static str,
    /// The name of the job.
    pub job_name: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Class or queue.
    pub class: Option<String>,
    /// The usage record; none for a purchase.
    pub record: Option<i64>,
    /// The transaction of the journal.
    pub tx: i64,
}

/// The header line.
pub fn head() -> String {
    COLUMNS.join(",") + "\n"
}

/// Cells by their columns.
type Cells = BTreeMap<&'static str, String>;

/// A row as a line; none where its costs are beyond what can be counted, or its times beyond the calendar.
pub fn line(row: &Row, money: &Money, is_safe: bool) -> Option<String> {
    let mut cells = Cells::new();
    figures(row, money, &mut cells)?;
    times(row, &mut cells)?;
    whose(row, money, &mut cells);
    let shown = |column: &&'static str| {
        let value = cells.get(column).map(String::as_str).unwrap_or_default();
        cell(value, is_safe && !NUMBERS.contains(column))
    };
    let cells: Vec<String> = COLUMNS.iter().map(shown).collect();
    Some(cells.join(",") + "\n")
}

/// The cost, and the quantity that it is for.
fn figures(row: &Row, money: &Money, cells: &mut Cells) -> Option<()> {
    let price = money.price.billionths();
    let places = money.precision.checked_add(PLACES)?;
    let billed = match row.category {
        Category::Usage => row.credits.checked_mul(price)?,
        Category::Purchase => 0,
    };
    let cost = text::decimal(billed, places);
    let list = match row.list.filter(|(_, under)| *under > 0) {
        Some((over, under)) => text::decimal(scaled(billed, over, under)?, places),
        None => cost.clone(),
    };
    for column in ["BilledCost", "ContractedCost", "EffectiveCost"] {
        cells.insert(column, cost.clone());
    }
    let credits = text::decimal(row.credits, money.precision);
    cells.insert("ListCost", list);
    cells.insert("ListUnitPrice", text::decimal(price, PLACES));
    cells.insert("PricingQuantity", credits.clone());
    cells.insert("x_Credits", credits);
    if let Some(used) = row.processor_seconds {
        // Billionths of seconds as millionths of hours.
        let hours = text::nearest(used.max(0), 3_600_000);
        cells.insert("ConsumedQuantity", text::decimal(hours, 6));
        cells.insert("ConsumedUnit", "Hours".to_owned());
        cells.insert("x_Unit", "Core-Hours".to_owned());
    }
    Some(())
}

fn times(row: &Row, cells: &mut Cells) -> Option<()> {
    for (column, at) in [
        ("BillingPeriodStart", row.month),
        ("BillingPeriodEnd", row.month_end),
        ("ChargePeriodStart", row.start),
        ("ChargePeriodEnd", row.end),
    ] {
        let whole = at.div_euclid(1_000_000).checked_mul(1_000_000)?;
        cells.insert(column, text::time(whole)?);
    }
    Some(())
}

fn whose(row: &Row, money: &Money, cells: &mut Cells) {
    let is_usage = row.category == Category::Usage;
    let own = or(&row.project, &row.account);
    let named = |name: &Option<String>| name.clone().filter(|_| money.names).unwrap_or_default();
    let record = |number| format!("bank:{}:{number}", money.bank);
    let mut say = |column, value: &str| {
        cells.insert(column, value.to_owned());
    };
    for column in ["BillingAccountId", "BillingAccountName"] {
        say(column, &or(&row.top, &own));
    }
    for column in ["SubAccountId", "SubAccountName"] {
        say(column, &own);
    }
    for column in ["InvoiceIssuerName", "ProviderName", "PublisherName"] {
        say(column, &money.issuer);
    }
    say(
        "SubAccountType",
        if own.is_empty() { "" } else { "Project" },
    );
    say("BillingCurrency", &money.currency);
    say("PricingCurrency", &money.unit);
    say("PricingUnit", "Credits");
    say(
        "ChargeCategory",
        if is_usage { "Usage" } else { "Purchase" },
    );
    say(
        "ChargeClass",
        if row.is_correction { "Correction" } else { "" },
    );
    say("ChargeDescription", row.description);
    say(
        "ServiceCategory",
        if is_usage { "Compute" } else { "Other" },
    );
    let service = if is_usage { &row.machine } else { &money.unit };
    say("ServiceName", &or(service, "unknown"));
    if let Some(id) = &row.object_id {
        say("ResourceId", id);
        say("ResourceType", row.object_type);
    }
    say("ResourceName", &named(&row.job_name));
    say("Tags", &tags(row, money.names));
    say("x_Account", &row.account);
    say("x_RecordId", &row.record.map_or_else(String::new, record));
    say("x_Transaction", &row.tx.to_string());
}

fn or(name: &str, other: &str) -> String {
    if name.is_empty() { other } else { name }.to_owned()
}

/// A figure times a fraction not below 0, to the nearest whole number, halves away from zero.
fn scaled(figure: i128, over: i128, under: i128) -> Option<i128> {
    let shared = divisor(over.checked_abs()?, under);
    let (over, under) = (over.checked_div(shared)?, under.checked_div(shared)?);
    let size = figure.checked_abs()?.checked_mul(over)?;
    text::nearest(size, under).checked_mul(figure.signum())
}

fn divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a.max(1)
}

/// Tags of user and job, as JSON; users only if the site writes them.
fn tags(row: &Row, names: bool) -> String {
    let all = [
        ("class", row.class.as_ref()),
        ("qos", row.qos.as_ref()),
        ("user", row.user.as_ref().filter(|_| names)),
    ];
    let present = all.into_iter().filter_map(|(key, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some((key, value.as_str()))
    });
    let present: BTreeMap<&str, &str> = present.collect();
    if present.is_empty() {
        return String::new();
    }
    serde_json::to_string(&present).unwrap_or_default()
}

#[cfg(test)]
mod tests;

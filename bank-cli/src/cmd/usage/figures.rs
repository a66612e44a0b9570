//! The columns of figures of `bank usage`: what was used of what, out of exact seconds, and what it cost.

use bank_api::v1::{UsageFigures, UsageTable};
use bank_picture::figure;

use crate::{cli::Resource, out::Form};

/// The exact seconds of a figure; none where nobody knows them.
pub(super) type Seconds = fn(&UsageFigures) -> Option<&str>;

/// What is used of a resource: its name before `hours` or `seconds`, and its seconds.
pub(super) fn used(resource: Resource) -> (&'static str, Seconds) {
    match resource {
        Resource::Cpu => ("core-", |f| Some(&f.core_seconds)),
        Resource::Mhz => ("MHz-", |f| f.cpu_mhz_seconds.as_deref()),
        Resource::Gpu => ("GPU-", |f| Some(&f.gpu_seconds)),
        Resource::Memory => ("memory MiB-", |f| Some(&f.memory_mib_seconds)),
        Resource::Disk => ("disk MiB-", |f| Some(&f.disk_mib_seconds)),
        Resource::Node => ("node-", |f| Some(&f.node_seconds)),
        Resource::Wall => ("wall ", |f| Some(&f.wall_seconds)),
    }
}

/// What used time is told in.
pub(super) fn unit(form: &Form) -> &'static str {
    if form.in_seconds() {
        "seconds"
    } else {
        "hours"
    }
}

/// What a column of figures has.
enum What {
    /// A number as it is.
    Number(fn(&UsageFigures) -> String),
    /// Money that moved.
    Charged,
    /// Money that would have been charged.
    Shadow,
    /// Used time: seconds, over so many of the unit that is shown.
    Time(Seconds, i128),
}

/// One column of figures on the screen.
pub(super) struct Figures {
    pub(super) title: String,
    pub(super) width: usize,
    what: What,
}

impl Figures {
    /// Whether decimals are shown unless all are whole.
    pub(super) fn is_amount(&self) -> bool {
        !matches!(self.what, What::Number(_))
    }

    /// The figure with so many decimals, rounded once; as it is where it is no amount.
    pub(super) fn of(&self, figures: &UsageFigures, decimals: usize) -> String {
        let rounded = |text: &str, over| figure::scaled(text, 1, over, decimals);
        match self.what {
            What::Number(of) => of(figures),
            What::Charged => rounded(&figures.charged, 1).unwrap_or_default(),
            What::Shadow => rounded(&figures.shadow_charged, 1).unwrap_or_default(),
            What::Time(of, over) => {
                let text = of(figures).and_then(|seconds| rounded(seconds, over));
                text.unwrap_or_default()
            }
        }
    }
}

/// Whether anything was charged in the shadow totals.
pub(super) fn has_shadow(table: &UsageTable) -> bool {
    let all = table.rows.iter().map(|row| &row.figures);
    let mut all = all.chain([&table.total]);
    all.any(|figures| {
        !figures.shadow_charged.is_empty() && !figure::is_zero(&figures.shadow_charged)
    })
}

pub(super) fn figures(
    form: &Form,
    table: &UsageTable,
    resources: &[Resource],
    waits: bool,
) -> Vec<Figures> {
    let column = |title: &str, width, what| Figures {
        title: title.to_owned(),
        width,
        what,
    };
    let number = |title: &str, width, of| column(title, width, What::Number(of));
    let time = |resource: Resource, width| {
        let (stem, of) = used(resource);
        let over = if form.in_seconds() { 1 } else { 3600 };
        column(
            &format!("{stem}{}", unit(form)),
            width,
            What::Time(of, over),
        )
    };
    let mut all = vec![number("jobs", 6, |f| f.jobs.clone())];
    if resources.is_empty() {
        all.push(time(Resource::Cpu, 13));
        all.push(column(&table.unit, 9, What::Charged));
        if has_shadow(table) {
            all.push(column(&format!("shadow {}", table.unit), 9, What::Shadow));
        }
    }
    for resource in resources {
        let width = match resource {
            Resource::Cpu | Resource::Node | Resource::Wall => 13,
            Resource::Mhz | Resource::Gpu => 12,
            Resource::Memory => 19,
            Resource::Disk => 17,
        };
        all.push(time(*resource, width));
    }
    if !resources.is_empty() {
        all.push(number("users", 8, |f| {
            f.users.map_or_else(String::new, |users| users.to_string())
        }));
    }
    if waits {
        all.push(number("mean wait s", 14, |f| {
            f.wait_mean_s.clone().unwrap_or_default()
        }));
        all.push(number("expansion", 12, |f| {
            f.expansion.clone().unwrap_or_default()
        }));
    }
    all
}

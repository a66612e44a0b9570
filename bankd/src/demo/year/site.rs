//! The centre of the demo: its machines, people and projects.

/// A machine, with the source of its usage if a collector reports it.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) name: &'static str,
    pub(super) source: Option<&'static str>,
    pub(super) nodes: i64,
    pub(super) processors: i64,
    pub(super) description: &'static str,
}

pub(super) const MACHINES: [Machine; 4] = [
    Machine {
        name: "aurora",
        source: Some("slurm:aurora"),
        nodes: 12,
        processors: 64,
        description: "Parallel cluster",
    },
    Machine {
        name: "borealis",
        source: Some("slurm:borealis"),
        nodes: 8,
        processors: 32,
        description: "GPU cluster, four GPUs in each node",
    },
    Machine {
        name: "cirrus",
        source: Some("openstack:cirrus"),
        nodes: 10,
        processors: 48,
        description: "Cloud; its collector is late",
    },
    Machine {
        name: "dawn",
        source: None,
        nodes: 4,
        processors: 16,
        description: "Teaching cluster, charged by its scheduler",
    },
];

/// People: login name, and full name.
pub(super) const USERS: [(&str, &str); 14] = [
    ("amy", "Amy Okafor"),
    ("ben", "Ben Lindqvist"),
    ("chloe", "Chloé Dubois"),
    ("dmitri", "Dmitri Volkov"),
    ("elif", "Elif Yılmaz"),
    ("femi", "Femi Adeyemi"),
    ("hartmann", "Prof. Johanna Hartmann"),
    ("ito", "Prof. 伊藤 健"),
    (
        "maximiliane-theodora.von-wittgenstein-berleburg",
        "Maximiliane Theodora von Wittgenstein-Berleburg",
    ),
    ("mona", "Mona Feldt"),
    ("otto", "Otto Brandt"),
    ("ada", "Ada Castellanos"),
    ("grace", "Grace Njoroge"),
    ("student", "Students of the course"),
];

/// A project: its award for a quarter, and how often its members run jobs.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) name: &'static str,
    pub(super) parent: Option<&'static str>,
    pub(super) description: &'static str,
    /// The principal investigator first.
    pub(super) members: &'static [&'static str],
    /// Thousands of SU for each quarter; 0 for none.
    pub(super) award: i64,
    pub(super) weight: i64,
    pub(super) machine: &'static str,
}

const fn group(
    name: &'static str,
    description: &'static str,
    pi: &'static [&'static str],
) -> Project {
    Project {
        name,
        parent: None,
        description,
        members: pi,
        award: 0,
        weight: 0,
        machine: "aurora",
    }
}

/// The trees, each group before its projects, and four others.
pub(super) const PROJECTS: [Project; 13] = [
    group("climate", "Climate research", &["hartmann"]),
    Project {
        name: "climate-ocean",
        parent: Some("climate"),
        description: "Ocean circulation",
        members: &["hartmann", "amy", "ben"],
        award: 260,
        weight: 6,
        machine: "aurora",
    },
    Project {
        name: "climate-ice",
        parent: Some("climate"),
        description: "Ice sheets and sea level",
        members: &["hartmann", "amy", "chloe"],
        award: 105,
        weight: 3,
        machine: "aurora",
    },
    group("chemistry", "Computational chemistry", &["ito"]),
    Project {
        name: "chemistry-catalysis",
        parent: Some("chemistry"),
        description: "Catalysis on surfaces",
        members: &["ito", "dmitri", "elif"],
        award: 190,
        weight: 5,
        machine: "aurora",
    },
    Project {
        name: "chemistry-batteries",
        parent: Some("chemistry"),
        description: "Electrolytes of solid-state batteries, with machine-learned potentials",
        members: &["ito", "elif"],
        award: 110,
        weight: 3,
        machine: "borealis",
    },
    group("life", "Life sciences", &["hartmann"]),
    Project {
        name: "life-genomes",
        parent: Some("life"),
        description: "Genomes of marine microbes",
        members: &[
            "hartmann",
            "femi",
            "maximiliane-theodora.von-wittgenstein-berleburg",
        ],
        award: 60,
        weight: 4,
        machine: "cirrus",
    },
    Project {
        name: "life-imaging",
        parent: Some("life"),
        description: "Segmentation of microscope images; overdrawn",
        members: &["hartmann", "femi", "chloe"],
        award: 75,
        weight: 3,
        machine: "borealis",
    },
    Project {
        name: "legacy-plasma",
        parent: None,
        description: "Plasma simulation; its award has ended",
        members: &["ito", "dmitri"],
        award: 40,
        weight: 1,
        machine: "aurora",
    },
    Project {
        name: "teaching",
        parent: None,
        description: "Courses; short of money at the end of a quarter",
        members: &["hartmann", "student"],
        award: 0,
        weight: 0,
        machine: "dawn",
    },
    Project {
        name: "freecycle",
        parent: None,
        description: "Pays for jobs of accounts that are short of money",
        members: &["otto"],
        award: 0,
        weight: 0,
        machine: "dawn",
    },
    Project {
        name: "operations",
        parent: None,
        description: "Maintenance and tests",
        members: &["otto"],
        award: 0,
        weight: 0,
        machine: "dawn",
    },
];

/// The project without an award from the third quarter on.
pub(super) const ENDED: &str = "legacy-plasma";

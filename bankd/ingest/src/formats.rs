//! The formats that can be read, by the names of `data/LAYOUT.md`.

use super::Reader;
use super::auditor::Auditor;
use super::condor::{Apel, History};
use super::csv::Csv;
use super::kubernetes::Kubernetes;
use super::lsf::Lsf;
use super::moab::{Log, Moab};
use super::nomad::Nomad;
use super::openshift::OpenShift;
use super::options::Options;
use super::pbs::Pbs;
use super::prometheus::Prometheus;
use super::sge::{Dialect, Sge};
use super::slurm::blocks::{Blocks, Form};
use super::slurm::document::Document;
use super::slurm::keyed::KeyValue;
use super::slurm::sacct::Sacct;
use super::swf::Swf;

/// A format: one line here, one file beside this one.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// Description, in one line.
    pub about: &'static str,
    /// Makes a reader of it.
    pub reader: fn(&Options) -> Result<Box<dyn Reader>, String>,
}

/// All of them, in the order of the help text.
pub const FORMATS: &[Format] = &[
    Format {
        name: "sacct",
        about: "Slurm: sacct --parsable2, by its header line or by --layout",
        reader: |options| Ok(Box::new(Sacct::new(options)?)),
    },
    Format {
        name: "sacct-keyvalue",
        about: "Slurm: Name=\"value\" pairs, a job in a line",
        reader: |options| Ok(Box::new(KeyValue(options.zone))),
    },
    Format {
        name: "slurm-scontrol",
        about: "Slurm: scontrol show job",
        reader: |options| Ok(Box::new(Blocks(Form::Scontrol, options.zone))),
    },
    Format {
        name: "slurm-jobcomp",
        about: "Slurm: the file of jobcomp/filetxt",
        reader: |options| Ok(Box::new(Blocks(Form::Jobcomp, options.zone))),
    },
    Format {
        name: "slurm-json",
        about: "Slurm: sacct --json",
        reader: |_| Ok(Box::new(Document)),
    },
    Format {
        name: "sge",
        about: "Grid Engine: SGE, Son of Grid Engine, Univa, accounting and reporting files",
        reader: |options| Ok(Box::new(Sge::new(Dialect::Colons, options))),
    },
    Format {
        name: "gridware-json",
        about: "Open Cluster Scheduler, Gridware: JSON lines",
        reader: |options| Ok(Box::new(Sge::new(Dialect::Json, options))),
    },
    Format {
        name: "pbs",
        about: "PBS, OpenPBS and TORQUE accounting logs",
        reader: |_| Ok(Box::new(Pbs)),
    },
    Format {
        name: "lsf",
        about: "LSF's lsb.acct",
        reader: |_| Ok(Box::new(Lsf)),
    },
    Format {
        name: "htcondor",
        about: "HTCondor history: condor_history -l, or the spool's file",
        reader: |_| Ok(Box::new(History)),
    },
    Format {
        name: "htcondor-apel",
        about: "HTCondor jobs in the pipe form of APEL",
        reader: |_| Ok(Box::new(Apel)),
    },
    Format {
        name: "maui",
        about: "Maui's workload trace",
        reader: |options| Ok(Box::new(Moab::new(Log::Trace, options)?)),
    },
    Format {
        name: "moab-events",
        about: "Moab's event log",
        reader: |options| Ok(Box::new(Moab::new(Log::Events, options)?)),
    },
    Format {
        name: "nomad",
        about: "snapshots of Nomad's deployments: a folder",
        reader: |_| Ok(Box::<Nomad>::default()),
    },
    Format {
        name: "openshift",
        about: "OpenShift metrics every 15 minutes: a folder",
        reader: |_| Ok(Box::<OpenShift>::default()),
    },
    Format {
        name: "prometheus",
        about: "answers of Prometheus to query_range",
        reader: |_| Ok(Box::<Prometheus>::default()),
    },
    Format {
        name: "kubernetes",
        about: "a list of Kubernetes pods",
        reader: |_| Ok(Box::new(Kubernetes)),
    },
    Format {
        name: "auditor",
        about: "AUDITOR records",
        reader: |options| Ok(Box::new(Auditor::new(options)?)),
    },
    Format {
        name: "csv",
        about: "separated values of any kind, by a mapping file",
        reader: |options| Ok(Box::new(Csv::new(options)?)),
    },
    Format {
        name: "swf",
        about: "Standard Workload Format",
        reader: |_| Ok(Box::<Swf>::default()),
    },
];

/// The format of that name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Found, Record};

    /// Formats of one JSON value in a file, which is never empty.
    const DOCUMENTS: [&str; 5] = [
        "slurm-json",
        "nomad",
        "openshift",
        "prometheus",
        "kubernetes",
    ];

    /// How a reader takes a text: an error, or the numbers of its rejected and of its other records.
    fn taken(format: &Format, text: &str) -> Result<[u64; 2], String> {
        let options = Options {
            mapping: Some(
                "header = true\n[fields]\nid = \"id\"\nstart = \"a\"\nend = \"b\"".to_owned(),
            ),
            ..Options::default()
        };
        let mut reader = (format.reader)(&options).unwrap();
        let mut counts = [0, 0];
        let mut sink = |record: Record| {
            let place = usize::from(!matches!(record.found, Found::Malformed(_)));
            counts[place] += record.counts;
            Ok(())
        };
        let read = reader.file("2026-01-01T00:00:00", &mut text.as_bytes(), &mut sink);
        let read = read.and_then(|()| reader.finish(&mut sink).map(|_| ()));
        read.map(|()| counts).map_err(|error| error.to_string())
    }

    /// Texts of another format end the import, or are rejected: an import of nothing would look like success.
    #[test]
    fn files_of_other_formats_are_refused() {
        let history =
            r#"[{"GlobalJobId":"s#30.0#1","Owner":"u","JobStatus":4,"JobStartDate":1714525200}]"#;
        let xml = "<c>\n<a n=\"GlobalJobId\"><s>s#30.0#1</s></a>\n</c>\n";
        let error = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n";
        let log = format!("{error}Traceback\n  x = 1\n");
        let slurm =
            r#"{"meta":{},"errors":[{"description":"no database","error_number":1005}],"jobs":[]}"#;
        let mut wrong = Vec::new();
        for format in FORMATS {
            for text in [history, xml, error, &log, slurm] {
                let seen = taken(format, text);
                // Other documents in a folder of it are left alone.
                let is_left = format.name == "openshift" && seen == Ok([0, 0]);
                if matches!(seen, Ok([0, _])) && !is_left {
                    wrong.push(format!("{}: {text:?}: {seen:?}", format.name));
                }
            }
            // Nothing is no other format, where the file is no document.
            let empty = taken(format, "");
            if empty != Ok([0, 0]) && !DOCUMENTS.contains(&format.name) {
                wrong.push(format!("{}: empty: {empty:?}", format.name));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let scontrol = named("slurm-scontrol").unwrap();
        assert_eq!(taken(scontrol, "No jobs in the system\n"), Ok([0, 0]));
        assert_eq!(
            taken(named("slurm-json").unwrap(), slurm),
            Err("an error of Slurm: no database".to_owned())
        );
    }
}

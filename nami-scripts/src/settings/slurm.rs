//! The keys `slurm_…` of `nami.conf`.

use std::path::PathBuf;

/// Settings of the programs that `slurm.conf` calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slurm {
    /// Whether a job starts while the bank cannot be reached; else it is held.
    pub(crate) runs_without_bank: bool,
    /// The account of jobs whose own account has too little money at submission.
    pub(crate) fallback: Option<String>,
    /// The whole call of `bank-slurm-submit`, in milliseconds, 10 to 5000.
    pub(crate) submit_ms: u64,
    /// What a job without a time limit reserves, in seconds.
    pub(crate) unlimited_s: i64,
    pub(crate) scontrol: PathBuf,
    /// `SLURM_CONF` of `scontrol`.
    pub(crate) conf: Option<PathBuf>,
}

impl Default for Slurm {
    fn default() -> Self {
        Self {
            runs_without_bank: true,
            fallback: None,
            submit_ms: 100,
            unlimited_s: 86_400,
            scontrol: PathBuf::from("/usr/bin/scontrol"),
            conf: None,
        }
    }
}

impl Slurm {
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let path = || value.starts_with('/').then(|| PathBuf::from(value));
        match key {
            "slurm_bank_down" => {
                self.runs_without_bank = match value {
                    "run" => true,
                    "hold" => false,
                    _ => return Err("slurm_bank_down is run or hold"),
                };
            }
            "slurm_fallback" => self.fallback = (!value.is_empty()).then(|| value.to_owned()),
            "slurm_submit_ms" => {
                let read = value.parse().ok().filter(|ms| (10..=5000).contains(ms));
                self.submit_ms = read.ok_or("slurm_submit_ms is 10 to 5000")?;
            }
            "slurm_unlimited_s" => {
                let read = value.parse().ok().filter(|s| (60..=31_536_000).contains(s));
                self.unlimited_s = read.ok_or("slurm_unlimited_s is 60 to 31536000")?;
            }
            "slurm_scontrol" => {
                self.scontrol = path().ok_or("slurm_scontrol is an absolute path")?;
            }
            "slurm_conf" if value.is_empty() => self.conf = None,
            "slurm_conf" => self.conf = Some(path().ok_or("slurm_conf is an absolute path")?),
            _ => return Err("unknown key"),
        }
        Ok(())
    }
}

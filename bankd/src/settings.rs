//! The settings of a data directory, as the daemon needs them at its start.

use bankd_config::Config;
use bankd_config::data_dir::DataDir;
use bankd_gold as gold;
use bankd_notices::deliver;

/// The settings, if the daemon can start with them: secrets, certificates and mappings that they name are usable.
///
/// # Errors
/// The first setting that cannot be used, and why.
pub(crate) fn load(data: &DataDir) -> Result<Config, String> {
    let config = Config::load(&data.config())?;
    gold::check_keys(&config.gold, &data.keys())?;
    deliver::check(&config.notices(), data.path())?;
    for followed in &config.follow {
        followed.read_options(data.path())?;
    }
    Ok(config)
}

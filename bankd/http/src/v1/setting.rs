//! The settings in force.

use bank_api::v1::{self};
use bankd_config::Setting;

use super::call::{Call, Handled};
use super::pages::Turn;

/// `GET /api/v1/settings`: by name.
pub(super) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let all = call.services.settings.all();
    let all: Vec<v1::Setting> = all.iter().map(shaped).collect();
    turn.list(&call, all, |setting| setting.name.clone(), |row| row)
}

fn shaped(setting: &Setting) -> v1::Setting {
    v1::Setting {
        name: setting.name.clone(),
        value: setting.value.clone(),
        default: setting.default.clone(),
        origin: setting.origin.word().to_owned(),
        reload: setting.is_live,
        pending: setting.pending.clone(),
    }
}

//! The settings in force.

use bank_api::v1::{self};
use bankd_config::Setting;

use super::call::{Call, Handled};
use super::pages::Turn;
use super::share::whole_bank;

/// `GET /api/v1/settings`: by name. They are about the whole bank and its machine.
pub(super) async fn list(call: Call) -> Handled {
    whole_bank(&call)?;
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

//! A reserve for a project of a partner bank, and one that a partner asks for.

use super::Placing;
use crate::command::Reserve;
use crate::partner::Step;
use crate::refusal::Refusal;
use crate::view::Context;

/// Refuses if the partner does, and names the transaction of the partner in the journal.
pub(super) fn agreed(
    reserve: &Reserve,
    placing: &mut Placing,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let Some(step) = &reserve.partner else {
        return Ok(());
    };
    let project = &placing.instance.facts.project;
    let there = ctx.directory.at_partner(project).map(|there| there.partner);
    let name = there.map_or("", |partner| partner.name()).to_owned();
    let away = || Refusal::PartnerAway {
        partner: name.clone(),
    };
    match step {
        Step::Refused(refusal) => return Err(refusal.clone()),
        Step::Away if there.is_some_and(|own| own.text("away") == "accept") => {
            placing.postings.remark(&format!("partner_away={name}"));
        }
        Step::Away => return Err(away()),
        // Another reserve of the object came in between: the lien at the partner is for another use.
        Step::Held(held) if held.number != placing.instance.number => return Err(away()),
        Step::Held(held) => {
            placing.question = Some(held.question.clone());
            let counterpart = format!("counterpart={name}/{}", held.transaction);
            placing.postings.remark(&counterpart);
        }
        Step::AskedBy(partner, question) => {
            let counterpart = format!("counterpart={partner}/{question}");
            placing.postings.remark(&counterpart);
        }
    }
    Ok(())
}

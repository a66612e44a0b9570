//! The documents that the demo's scheduler sends.

/// A job as the scheduler sees it: 16 processors.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) id: &'static str,
    pub(super) user: &'static str,
    pub(super) account: &'static str,
    /// The wall-clock limit.
    pub(super) seconds: u32,
}

/// The event of a job.
#[derive(Clone, Copy)]
pub(super) enum Event {
    Quote,
    Create,
    Reserve,
    /// Seconds since the last charge.
    Charge(u32),
    Delete,
}

impl Job {
    /// The document of an event.
    pub(super) fn document(&self, event: Event) -> String {
        let Job {
            id,
            user,
            account,
            seconds,
        } = self;
        let charged = match event {
            Event::Quote | Event::Create | Event::Reserve | Event::Delete => *seconds,
            Event::Charge(charged) => charged,
        };
        format!(
            "<Job>\n  <ObjectID>{id}</ObjectID>\n  <User>{user}</User>\n  \
             <Account>{account}</Account>\n  <Processors>16</Processors>\n  \
             <WallDuration>{seconds}</WallDuration>\n  \
             <ChargeDuration>{charged}</ChargeDuration>\n</Job>\n"
        )
    }
}

/// A maintenance reservation of one hour.
pub(super) const RESERVATION: &str = "<Reservation>
  <ObjectID>maint.7</ObjectID>
  <Account>operations</Account>
  <User>ops</User>
  <Processors>8</Processors>
  <WallDuration>3600</WallDuration>
  <ChargeDuration>3600</ChargeDuration>
</Reservation>
";

/// Its charge: a generic resource, and no word of processors.
pub(super) const RESERVATION_CHARGE: &str = "<Reservation>
  <ObjectID>maint.7</ObjectID>
  <Account>operations</Account>
  <User>ops</User>
  <WallDuration>3600</WallDuration>
  <ChargeDuration>3600</ChargeDuration>
  <GRes name=\"storage\">100</GRes>
</Reservation>
";

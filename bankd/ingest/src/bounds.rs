//! Bounds of what one record keeps: a few compressed bytes can state a value of a megabyte, and one record
//! can be many jobs, or a value be part of many samples.

use super::job::Job;

/// The longest name that a record states, in bytes: an id, a user, a project, a label. The bank itself takes
/// 256; longer ones reach it for its own reason.
pub(super) const NAME_MAX: usize = 1_024;

/// The longest description, in bytes: a name of a job, an exit code, an attribute. The rest is cut.
const TEXT_MAX: usize = 4 << 10;

/// The longest list of hosts, in bytes. The rest is cut.
const HOSTS_MAX: usize = 64 << 10;

/// Attributes, resources and quantities of a job.
const VALUES_MAX: usize = 1_000;

/// The texts of all jobs of one record, in bytes.
const RECORD_MAX: usize = 64 << 20;

/// Why a name is too long to keep.
pub(super) fn too_long(what: &str, name: &str) -> Option<String> {
    let length = name.len();
    (length > NAME_MAX).then(|| format!("{what}: {length} bytes, more than {NAME_MAX}"))
}

/// Why jobs with texts of so many bytes each are no record.
pub(super) fn too_many(jobs: usize, bytes: usize) -> Option<String> {
    let is_much = jobs.saturating_mul(bytes) > RECORD_MAX;
    is_much.then(|| {
        format!("{jobs} jobs with {bytes} bytes each: more than {RECORD_MAX} bytes in one record")
    })
}

impl Job {
    /// Cuts what is only a description.
    ///
    /// # Errors
    /// If a name is too long, with its length.
    pub(super) fn bound(&mut self) -> Result<(), String> {
        let names = [
            ("job id", Some(&self.id)),
            ("user", self.user.as_ref()),
            ("account", self.account.as_ref()),
            ("group", self.group.as_ref()),
            ("queue", self.queue.as_ref()),
            ("quality of service", self.qos.as_ref()),
            ("cluster", self.cluster.as_ref()),
            ("type of GPU", self.gpu_type.as_ref()),
        ];
        let mut wrong = names
            .into_iter()
            .filter_map(|(what, name)| too_long(what, name?));
        if let Some(why) = wrong.next() {
            return Err(why);
        }
        let quantities = self.quantities.iter().map(|(name, _)| &**name);
        let resources = self.resources.iter().map(|(name, _)| name.as_str());
        if let Some(why) = quantities
            .chain(resources)
            .find_map(|name| too_long("a quantity", name))
        {
            return Err(why);
        }
        if self.quantities.len().max(self.resources.len()) > VALUES_MAX {
            return Err(format!("more than {VALUES_MAX} quantities"));
        }
        let texts = [&mut self.name, &mut self.exit, &mut self.state_word];
        texts
            .into_iter()
            .flatten()
            .for_each(|text| cut(text, TEXT_MAX));
        self.hosts.iter_mut().for_each(|text| cut(text, HOSTS_MAX));
        self.stated
            .iter_mut()
            .for_each(|(_, text)| cut(text, HOSTS_MAX));
        if self.attributes.keys().any(|name| name.len() > NAME_MAX)
            || self.attributes.len() > VALUES_MAX
        {
            let all = std::mem::take(&mut self.attributes).into_iter();
            let fit = all.filter(|(name, _)| name.len() <= NAME_MAX);
            self.attributes = fit.take(VALUES_MAX).collect();
        }
        let values = self.attributes.values_mut();
        values.for_each(|value| cut(value, TEXT_MAX));
        Ok(())
    }

    /// Bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        let texts = [
            &self.user,
            &self.account,
            &self.group,
            &self.queue,
            &self.qos,
            &self.cluster,
            &self.state_word,
            &self.exit,
            &self.name,
            &self.hosts,
            &self.gpu_type,
        ];
        let texts = texts.into_iter().flatten().map(String::len);
        let resources = self.resources.iter().map(|(name, _)| name.len());
        let stated = self.stated.iter().map(|(_, text)| text.len());
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|(name, value)| name.len().saturating_add(value.len()));
        let all = texts.chain(resources).chain(stated).chain(attributes);
        all.fold(self.id.len(), usize::saturating_add)
    }
}

/// Cuts a text at the last character that fits.
fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::{Found, Record};
    use super::*;

    #[test]
    fn names_are_refused_and_descriptions_cut() {
        let long = "\u{e9}".repeat(TEXT_MAX);
        let job = Job {
            id: "1".to_owned(),
            user: Some("u".repeat(NAME_MAX)),
            name: Some(long.clone()),
            hosts: Some(long.clone()),
            attributes: [
                ("a".to_owned(), format!("x{long}")),
                (long.clone(), "y".to_owned()),
            ]
            .into(),
            ..Job::default()
        };
        let Found::Jobs(jobs) = Record::new(1, b"", Found::Jobs(vec![job.clone()])).found else {
            unreachable!()
        };
        let lengths = |job: &Job| {
            let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
            let attributes = job.attributes.values().map(String::len).collect::<Vec<_>>();
            (length(&job.name), length(&job.hosts), attributes)
        };
        let expected = (TEXT_MAX, 2 * TEXT_MAX, vec![TEXT_MAX - 1]);
        assert_eq!(lengths(&jobs[0]), expected);
        let refused = Job {
            user: Some("u".repeat(NAME_MAX + 1)),
            ..job
        };
        let found = Record::new(1, b"", Found::Jobs(vec![refused])).found;
        let why = "user: 1025 bytes, more than 1024".to_owned();
        assert_eq!(found, Found::Malformed(why));
    }
}

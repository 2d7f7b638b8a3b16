//! Persons with several records: a person enters a batch by one coin, with one of its records, drawn uniformly.

use std::collections::BTreeMap;

use privacy::noise::NoiseSource;

use super::sampling::{PoissonSampler, Sample};
use crate::data::Dataset;

/// Whose records are whose, in one data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persons {
    /// The records of each person, rising.
    records: Vec<Vec<u32>>,
    /// All records.
    count: usize,
}

impl Persons {
    /// The persons of a data set; `None` where no column says whom a record is about.
    pub fn of(data: &Dataset) -> Option<Self> {
        let mut records: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (record, &person) in data.group_of_records()?.iter().enumerate() {
            records.entry(person).or_default().push(record as u32);
        }
        Some(Self { records: records.into_values().collect(), count: data.len() })
    }

    /// How many persons there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The most records of one person.
    pub fn most_records(&self) -> usize {
        self.records.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Draws persons with a sampler for as many as there are, and of each one record.
    ///
    /// # Guarantee
    /// Each person enters independently with probability exactly the sampler's rate, and with one record, uniform among its own. So all records of a person
    /// move a clipped sum by at most one clip norm. Given which record would be drawn, the sum is that of Poisson-sampled records; what is mixed over the
    /// draws costs no more than the dearest of them, as divergences are jointly convex: persons are priced as records are.
    ///
    /// # Assumes
    /// As [`PoissonSampler::draw`]: uniform words, secret.
    ///
    /// # Panics
    /// With a sampler for another number.
    pub fn draw(&self, sampler: &PoissonSampler, source: &mut dyn NoiseSource) -> Sample {
        assert_eq!(sampler.population(), self.len(), "a sampler for these persons");
        let drawn = sampler.draw(source);
        let mut words = vec![0; drawn.records().len()];
        source.words(&mut words);
        let mut records: Vec<u32> = drawn
            .records()
            .iter()
            .zip(words)
            .map(|(&person, word)| one_of(&self.records[person as usize], word, source))
            .collect();
        records.sort_unstable();
        Sample::of_persons(records, *sampler, self.count)
    }
}

/// One of them, each with the same probability: a word beyond the last whole multiple is thrown away for another.
fn one_of(records: &[u32], word: u64, source: &mut dyn NoiseSource) -> u32 {
    let count = records.len() as u64;
    let whole = u64::MAX - u64::MAX % count;
    let mut word = [word];
    while word[0] >= whole {
        source.words(&mut word);
    }
    records[(word[0] % count) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Groups, Targets};
    use privacy::noise::danger_from_seed;

    /// Person 0 has one record, person 1 two, person 2 three, and so on; records of one person are not neighbours.
    fn visits(persons: u32) -> Dataset {
        let mut of_record: Vec<u32> =
            (0..persons).flat_map(|person| vec![person; person as usize + 1]).collect();
        of_record.reverse();
        let names = (0..persons).map(|person| person.to_string()).collect();
        let values = vec![0.0; of_record.len()];
        Dataset::new(values, 1, Targets::None).unwrap().with_groups(Groups { of_record, names }).unwrap()
    }

    #[test]
    fn every_person_has_the_same_chance_and_of_its_records_each_the_same() {
        let data = visits(4);
        let persons = Persons::of(&data).unwrap();
        assert_eq!((persons.len(), persons.most_records(), data.len()), (4, 4, 10));
        let of = data.group_of_records().unwrap();
        let sampler = PoissonSampler::for_batch(2.0, 4).unwrap();
        let mut source = danger_from_seed(8, "persons");
        let mut counts = vec![0u32; data.len()];
        const DRAWS: u32 = 24_000;
        for _ in 0..DRAWS {
            let sample = persons.draw(&sampler, &mut source);
            let drawn: Vec<u32> = sample.records().iter().map(|&record| of[record as usize]).collect();
            let distinct: std::collections::BTreeSet<u32> = drawn.iter().copied().collect();
            assert_eq!(distinct.len(), drawn.len(), "one record of a person at most");
            assert!(sample.records().windows(2).all(|pair| pair[0] < pair[1]));
            sample.records().iter().for_each(|&record| counts[record as usize] += 1);
        }
        for (record, &count) in counts.iter().enumerate() {
            // Binomial(24000, 1/2k): five deviations, ten records, false alarm below 1e-5.
            let chance = 0.5 / f64::from(of[record] + 1);
            let (mean, deviation) =
                (f64::from(DRAWS) * chance, (f64::from(DRAWS) * chance * (1.0 - chance)).sqrt());
            assert!(
                (f64::from(count) - mean).abs() < 5.0 * deviation,
                "record {record}: {count}, expected {mean}"
            );
        }
    }

    #[test]
    fn records_without_a_column_of_persons_have_none() {
        let data = Dataset::new(vec![0.0; 3], 1, Targets::None).unwrap();
        assert!(Persons::of(&data).is_none());
    }
}

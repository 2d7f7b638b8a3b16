//! Records in memory: a row-major table of `f32` features with one target per record.
//!
//! Invariant: every feature and every real target is finite, every class label is below the number of classes,
//! and all arrays have one entry per record. The only ways to make a [`Dataset`] check this.
//! A subset shares the table and holds a list of row numbers; [`Dataset::compact`] gathers it once.

use std::borrow::Cow;
use std::sync::Arc;

use ndarray::{ArrayView2, CowArray, Ix2};

use super::checks::{check_counts, check_finite, check_sizes, check_targets};
use super::error::DataError;

/// Most records of one set: row numbers are `u32`.
pub const MAX_RECORDS: usize = u32::MAX as usize;

/// What is to be predicted, for all records.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// One of `classes` classes per record, numbered from 0.
    Class {
        /// A label below `classes` for each record.
        labels: Vec<u32>,
        /// Number of classes, those without a record included.
        classes: usize,
    },
    /// A real number per record.
    Real(Vec<f32>),
    /// Nothing: the records themselves are of interest (their mean, say).
    None,
}

/// The target of one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// A class.
    Class(u32),
    /// A real number.
    Real(f32),
    /// Nothing.
    None,
}

/// What kind of prediction the targets ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// One of `classes` classes.
    Classification {
        /// How many.
        classes: usize,
    },
    /// A real number.
    Regression,
    /// No prediction.
    Unlabelled,
}

/// Rows and columns of an image whose pixels, line by line, are the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageShape {
    /// Lines.
    pub height: usize,
    /// Pixels per line.
    pub width: usize,
}

/// Who a record came from (a hospital, a patient, a writer): the `natural` partition keeps groups together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// The position in `names` for each record.
    pub of_record: Vec<u32>,
    /// The id of each group as it stood in the data.
    pub names: Vec<String>,
}

/// Names of things, where the source had names.
#[derive(Debug, Clone, Default, PartialEq)]
struct Labels {
    features: Option<Vec<String>>,
    classes: Option<Vec<String>>,
    image: Option<ImageShape>,
}

#[derive(Debug, Clone, PartialEq)]
struct Table {
    features: Vec<f32>,
    columns: usize,
    records: usize,
    targets: Targets,
    labels: Labels,
    groups: Option<Groups>,
}

/// A set of records; cloning and taking subsets is cheap.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    table: Arc<Table>,
    rows: Option<Arc<[u32]>>,
}

impl Dataset {
    /// Checks and takes over row-major `features` with `columns` numbers per record.
    ///
    /// # Errors
    /// No records or columns, arrays of different length, a value that is not finite, or a label that is not
    /// below the number of classes.
    pub fn new(features: Vec<f32>, columns: usize, targets: Targets) -> Result<Self, DataError> {
        let records = check_sizes(features.len(), columns, &targets)?;
        check_finite(&features, columns)?;
        check_targets(&targets)?;
        let table = Table { features, columns, records, targets, labels: Labels::default(), groups: None };
        Ok(Self { table: Arc::new(table), rows: None })
    }

    /// The same records with a name for each feature.
    ///
    /// # Errors
    /// A number of names that differs from the number of columns.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self, DataError> {
        check_counts("feature names", names.len(), "columns", self.columns())?;
        Arc::make_mut(&mut self.table).labels.features = Some(names);
        Ok(self)
    }

    /// The same records with a name for each class.
    ///
    /// # Errors
    /// A number of names that differs from the number of classes (none for other targets).
    pub fn with_class_names(mut self, names: Vec<String>) -> Result<Self, DataError> {
        check_counts("class names", names.len(), "classes", self.classes().unwrap_or(0))?;
        Arc::make_mut(&mut self.table).labels.classes = Some(names);
        Ok(self)
    }

    /// The same records as images.
    ///
    /// # Errors
    /// A number of pixels that differs from the number of columns.
    pub fn with_image_shape(mut self, shape: ImageShape) -> Result<Self, DataError> {
        let pixels = shape.height.saturating_mul(shape.width);
        check_counts("pixels", pixels, "columns", self.columns())?;
        Arc::make_mut(&mut self.table).labels.image = Some(shape);
        Ok(self)
    }

    /// The same records, each with the group it came from.
    ///
    /// # Errors
    /// A number of entries that differs from the number of records, or an entry without a name.
    ///
    /// # Panics
    /// On a subset: groups are given to the whole table.
    pub fn with_groups(mut self, groups: Groups) -> Result<Self, DataError> {
        assert!(self.rows.is_none(), "groups are given to the whole table");
        check_counts("group entries", groups.of_record.len(), "records", self.len())?;
        if let Some(&outside) = groups.of_record.iter().find(|&&group| group as usize >= groups.names.len()) {
            return Err(DataError::BadParameter {
                name: "group",
                value: outside.to_string(),
                why: format!("is outside the {} groups", groups.names.len()),
            });
        }
        Arc::make_mut(&mut self.table).groups = Some(groups);
        Ok(self)
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.table.records, |rows| rows.len())
    }

    /// Whether there are no records (a subset may be empty).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of features per record.
    pub fn columns(&self) -> usize {
        self.table.columns
    }

    /// The kind of prediction.
    pub fn task(&self) -> Task {
        match &self.table.targets {
            Targets::Class { classes, .. } => Task::Classification { classes: *classes },
            Targets::Real(_) => Task::Regression,
            Targets::None => Task::Unlabelled,
        }
    }

    /// Number of classes, for class targets.
    pub fn classes(&self) -> Option<usize> {
        match self.task() {
            Task::Classification { classes } => Some(classes),
            _ => None,
        }
    }

    /// The features of record `index`.
    ///
    /// # Panics
    /// Where `index` is not below [`len`](Self::len).
    pub fn row(&self, index: usize) -> &[f32] {
        let start = self.table_row(index) * self.table.columns;
        &self.table.features[start..start + self.table.columns]
    }

    /// The target of record `index`.
    ///
    /// # Panics
    /// Where `index` is not below [`len`](Self::len).
    pub fn target(&self, index: usize) -> Target {
        let row = self.table_row(index);
        match &self.table.targets {
            Targets::Class { labels, .. } => Target::Class(labels[row]),
            Targets::Real(values) => Target::Real(values[row]),
            Targets::None => Target::None,
        }
    }

    /// Labels of all records, for class targets; borrowed unless this is a subset.
    pub fn labels(&self) -> Option<Cow<'_, [u32]>> {
        match &self.table.targets {
            Targets::Class { labels, .. } => Some(self.gathered(labels)),
            _ => None,
        }
    }

    /// Values of all records, for real targets; borrowed unless this is a subset.
    pub fn reals(&self) -> Option<Cow<'_, [f32]>> {
        match &self.table.targets {
            Targets::Real(values) => Some(self.gathered(values)),
            _ => None,
        }
    }

    /// All targets, as an owned copy.
    pub fn targets(&self) -> Targets {
        match &self.table.targets {
            Targets::Class { labels, classes } => {
                Targets::Class { labels: self.gathered(labels).into_owned(), classes: *classes }
            }
            Targets::Real(values) => Targets::Real(self.gathered(values).into_owned()),
            Targets::None => Targets::None,
        }
    }

    /// The features as a matrix with one row per record; borrowed unless this is a subset.
    pub fn matrix(&self) -> CowArray<'_, f32, Ix2> {
        let shape = (self.len(), self.columns());
        match &self.rows {
            None => CowArray::from(
                ArrayView2::from_shape(shape, &self.table.features).expect("the sizes were checked in `new`"),
            ),
            Some(_) => CowArray::from(
                ndarray::Array2::from_shape_vec(shape, self.gathered_features())
                    .expect("one row was gathered per record"),
            ),
        }
    }

    /// Names of the features, where the source has them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.table.labels.features.as_deref()
    }

    /// Names of the classes, where the source has them.
    pub fn class_names(&self) -> Option<&[String]> {
        self.table.labels.classes.as_deref()
    }

    /// The shape of the images, where the records are images.
    pub fn image_shape(&self) -> Option<ImageShape> {
        self.table.labels.image
    }

    /// Names of the groups, those without a record in this subset included.
    pub fn group_names(&self) -> Option<&[String]> {
        self.table.groups.as_ref().map(|groups| groups.names.as_slice())
    }

    /// The group of each record as a position in [`group_names`](Self::group_names).
    pub fn group_of_records(&self) -> Option<Cow<'_, [u32]>> {
        self.table.groups.as_ref().map(|groups| self.gathered(&groups.of_record))
    }

    /// The records at `indices` of this set, in that order, without copying a feature.
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len).
    pub fn subset(&self, indices: &[u32]) -> Self {
        let rows = indices.iter().map(|&index| self.table_row(index as usize) as u32).collect();
        Self { table: Arc::clone(&self.table), rows: Some(rows) }
    }

    /// The records of all `parts`, one after another, without copying a feature; `None` where there are none or they are not parts of one table.
    pub fn joined(parts: &[Self]) -> Option<Self> {
        let first = parts.first()?;
        if !parts.iter().all(|part| Arc::ptr_eq(&part.table, &first.table)) {
            return None;
        }
        let rows = parts.iter().flat_map(|part| (0..part.len()).map(|index| part.table_row(index) as u32));
        Some(Self { table: Arc::clone(&first.table), rows: Some(rows.collect()) })
    }

    /// The same records in a table of their own: one gather, after which rows are contiguous and the
    /// table that this was a subset of can be freed.
    pub fn compact(&self) -> Self {
        if self.rows.is_none() {
            return self.clone();
        }
        let groups = self.table.groups.as_ref().map(|groups| Groups {
            of_record: self.gathered(&groups.of_record).into_owned(),
            names: groups.names.clone(),
        });
        let table = Table {
            features: self.gathered_features(),
            columns: self.columns(),
            records: self.len(),
            targets: self.targets(),
            labels: self.table.labels.clone(),
            groups,
        };
        Self { table: Arc::new(table), rows: None }
    }

    /// [`compact`](Self::compact) that gives up its own hold on the table, so that one nobody else uses can be
    /// changed in place.
    fn into_own_table(self) -> Self {
        if self.rows.is_none() { self } else { self.compact() }
    }

    /// Rewrites every row in place; copies the table first only where it is shared.
    /// `change` must keep values finite, which is checked.
    ///
    /// # Errors
    /// A value that is not finite afterwards.
    pub(crate) fn map_rows(self, mut change: impl FnMut(&mut [f32])) -> Result<Self, DataError> {
        let mut owned = self.into_own_table();
        let table = Arc::make_mut(&mut owned.table);
        table.features.chunks_exact_mut(table.columns).for_each(&mut change);
        check_finite(&table.features, table.columns)?;
        Ok(owned)
    }

    /// Rewrites every real target; copies the table first only where it is shared.
    ///
    /// # Errors
    /// No real targets, or a value that is not finite afterwards.
    pub(crate) fn map_reals(self, change: impl Fn(f32) -> f32) -> Result<Self, DataError> {
        let mut owned = self.into_own_table();
        let table = Arc::make_mut(&mut owned.table);
        let Targets::Real(values) = &mut table.targets else {
            return Err(DataError::BadParameter {
                name: "target",
                value: "not a real number".into(),
                why: "cannot be scaled".into(),
            });
        };
        values.iter_mut().for_each(|value| *value = change(*value));
        check_targets(&table.targets)?;
        Ok(owned)
    }

    fn table_row(&self, index: usize) -> usize {
        match &self.rows {
            Some(rows) => rows[index] as usize,
            None => {
                assert!(index < self.table.records, "record {index} of {}", self.table.records);
                index
            }
        }
    }

    fn gathered<'a, T: Copy>(&'a self, all: &'a [T]) -> Cow<'a, [T]> {
        match &self.rows {
            None => Cow::Borrowed(all),
            Some(rows) => Cow::Owned(rows.iter().map(|&row| all[row as usize]).collect()),
        }
    }

    fn gathered_features(&self) -> Vec<f32> {
        let mut features = Vec::with_capacity(self.len() * self.columns());
        (0..self.len()).for_each(|index| features.extend_from_slice(self.row(index)));
        features
    }
}

/// A data set as it was loaded: records to divide among the nodes and, where the source has one, a test set
/// that is common to all.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Records to learn from.
    pub train: Dataset,
    /// Records that nobody learns from.
    pub test: Option<Dataset>,
}

#[cfg(test)]
mod tests;

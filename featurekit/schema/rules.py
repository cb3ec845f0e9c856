"""What validation looks for: a stable code for each kind of fault, and its cure.

A code never changes its meaning, and one that is given up is not used again.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable

from featurekit.errors import InvalidArgumentError, did_you_mean

__all__ = ["RULES", "Rule", "Severity", "selected"]


class Severity(enum.Enum):
    """How bad a finding is."""

    ERROR = "error"
    """Readers fail, or get values that are wrong."""
    WARNING = "warning"
    """Readers get along, and something is not as it should be."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """One kind of fault.

    Attributes:
        code: Such as `FK101`. The hundreds tell the group: 1 metadata, 2 shard files, 3
            records, 4 values, 5 splits, 6 statistics, 7 record files without metadata.
        name: A short name, in kebab case.
        severity: How bad it is.
        meaning: What is wrong.
        cure: What to do about it.
    """

    code: str
    name: str
    severity: Severity
    meaning: str
    cure: str


_E, _W = Severity.ERROR, Severity.WARNING
_COPY = "copy the file again from where the dataset was built"
_REBUILD = "build the dataset again with the features that it shall have"

_RULES = (
    # Metadata.
    Rule(
        *("FK101", "no-metadata", _E),
        "the folder has no dataset_info.json, so that nothing opens it as a dataset",
        "build the dataset again, or write metadata beside the files with fk.write_metadata",
    ),
    Rule(
        *("FK102", "bad-dataset-info", _E),
        "dataset_info.json is no JSON, or a field has a value that it cannot have",
        _COPY,
    ),
    Rule(
        *("FK103", "no-features", _E),
        "there is no features.json, so that records cannot be decoded without the builder's code",
        f"{_COPY}, or write one with features.save_config(folder)",
    ),
    Rule(
        *("FK104", "bad-features", _E),
        "features.json is no JSON, or does not describe features",
        _COPY,
    ),
    Rule(
        *("FK105", "unknown-field", _W),
        "the metadata has a field that the format does not know; TFDS refuses to open the dataset",
        "correct the field's name, or remove it",
    ),
    Rule(
        *("FK106", "unknown-connector", _W),
        "a feature's connector class is neither known nor trusted, so its values are not checked",
        "import its package first, or trust it: --trust PACKAGE",
    ),
    Rule(
        *("FK107", "version-mismatch", _E),
        "the folder is named after another version than dataset_info.json states",
        "rename the folder, or build that version",
    ),
    Rule(
        *("FK108", "bad-supervised-keys", _E),
        "supervisedKeys name a feature that there is not",
        "name features of the top level",
    ),
    Rule(
        *("FK109", "bad-labels", _E),
        "a file of class names disagrees with the number of classes, or cannot be read",
        "restore the file; each line is the name of one class, all different",
    ),
    Rule(
        *("FK110", "orphan-labels", _W),
        "a file of class names belongs to no feature",
        "rename it after the feature that it belongs to, or remove it",
    ),
    Rule(
        *("FK111", "bad-custom-metadata", _E),
        "metadata.json holds no JSON object",
        _COPY,
    ),
    Rule(
        *("FK112", "bad-file-template", _E),
        "a split's file name template does not give every shard a name within the folder",
        "correct filepathTemplate; the usual one is {DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    ),
    Rule(
        *("FK113", "empty-split", _W),
        "a split has no examples",
        "remove the split from dataset_info.json, or build it again",
    ),
    Rule(
        *("FK114", "no-splits", _W),
        "the dataset has no splits",
        "build it again; a build with max_examples_per_split=0 writes none",
    ),
    # Shard files.
    Rule(
        *("FK201", "missing-shard", _E),
        "a shard that dataset_info.json counts does not exist",
        _COPY,
    ),
    Rule(
        *("FK202", "bad-checksum", _E),
        "a record is damaged: its length or payload does not match its checksum",
        _COPY,
    ),
    Rule(
        *("FK203", "cut-shard", _E),
        "the file ends inside a record",
        _COPY,
    ),
    Rule(
        *("FK204", "trailing-bytes", _E),
        "bytes that are no record follow the last one",
        "cut them off, or copy the file again",
    ),
    Rule(
        *("FK205", "wrong-record-count", _E),
        "a shard has another number of records than dataset_info.json says",
        "copy the file again; if it is the right one, correct shardLengths",
    ),
    Rule(
        *("FK206", "wrong-byte-count", _W),
        "the records of a split have another size than its numBytes says",
        "see whether the shards are those of this version; if so, correct numBytes",
    ),
    Rule(
        *("FK207", "stray-shard", _W),
        "a file is named like a shard, and is none of those that dataset_info.json counts",
        "remove the file: it is left from another build, or misnamed",
    ),
    Rule(
        *("FK208", "compressed-shard", _E),
        "a shard is compressed, which datasets do not say of their files and nobody expects",
        "unpack the file",
    ),
    Rule(
        *("FK209", "unfinished-files", _W),
        "files are left from a build that was killed",
        "remove them",
    ),
    Rule(
        *("FK210", "unreadable-shard", _E),
        "a shard cannot be read",
        "see that it is a file which this user may read",
    ),
    Rule(
        *("FK211", "unsupported-format", _E),
        "shards of this file format cannot be read here, so that they were not checked",
        "convert the dataset to tfrecord, or install what reads the format",
    ),
    # Records.
    Rule(
        *("FK301", "not-an-example", _E),
        "a record is no tf.train.Example",
        "write it again: payloads are serialized Examples",
    ),
    Rule(
        *("FK302", "missing-entry", _E),
        "a record lacks a feature that features.json declares, and that is not optional",
        _REBUILD,
    ),
    Rule(
        *("FK303", "wrong-kind", _E),
        "a feature is stored as another kind of list than its dtype needs",
        _REBUILD,
    ),
    Rule(
        *("FK304", "wrong-size", _E),
        "the number of stored values does not fill the declared shape",
        _REBUILD,
    ),
    Rule(
        *("FK305", "undeclared-entry", _W),
        "a record holds an entry that features.json does not declare",
        "declare the feature, or leave it out of the records",
    ),
    Rule(
        *("FK306", "dtype-overflow", _E),
        "a stored number does not fit the declared dtype",
        "declare a wider dtype, or correct the value",
    ),
    # Values.
    Rule(
        *("FK401", "bad-label", _E),
        "a label is no number of a class, and not -1",
        "correct the value, or declare more classes",
    ),
    Rule(
        *("FK402", "out-of-bounds", _E),
        "a value is below the declared minimum or above the maximum",
        "correct the value or the bounds",
    ),
    Rule(
        *("FK403", "box-outside", _E),
        "a box has a border outside of [0, 1], in a format of fractions, or one that is not finite",
        "divide by the image's size and clip, or declare bbox_format= for pixels",
    ),
    Rule(
        *("FK404", "box-inverted", _E),
        "a box has its lower border above its upper one, or its right one left of the other",
        "swap the borders; the order is ymin, xmin, ymax, xmax",
    ),
    Rule(
        *("FK405", "not-utf8", _W),
        "a Text is not UTF-8",
        "decode the text with its own encoding, or declare Tensor(shape=(), dtype=np.object_)",
    ),
    Rule(
        *("FK406", "bad-image", _E),
        "a picture does not decode",
        "write the picture again",
    ),
    Rule(
        *("FK407", "wrong-image-size", _E),
        "a picture has another size or kind than the feature declares",
        "resize the picture, or declare None for sizes that vary",
    ),
    Rule(
        *("FK408", "bad-audio", _E),
        "a sound file does not decode, or its samples do not fit the feature",
        "write the sound file again",
    ),
    Rule(
        *("FK409", "wrong-sample-rate", _E),
        "a sound file has another sample rate than the feature declares",
        "resample the file, or declare its rate",
    ),
    Rule(
        *("FK410", "bad-encoding", _E),
        "an array stored as bytes or zlib does not decode to the declared shape",
        "write the record again",
    ),
    Rule(
        *("FK411", "undecodable", _E),
        "a connector fails to decode a stored value, or gives another dtype or shape than it says",
        "correct the connector, or the data",
    ),
    Rule(
        *("FK412", "unknown-language", _E),
        "a translation is in a language that the feature does not list",
        "add the language to languages=, or leave the text out",
    ),
    # Splits.
    Rule(
        *("FK501", "leakage", _E),
        "examples of one split are in another one too",
        "split by content before the build, for example by a hash of it",
    ),
    # Statistics.
    Rule(
        *("FK601", "label-drift", _W),
        "the share of a class or value has changed",
        "see whether the data were sampled alike; raise the threshold if the change is meant",
    ),
    Rule(
        *("FK602", "range-drift", _W),
        "values lie outside of the range that they had",
        "see whether units or scaling changed; raise the threshold if the change is meant",
    ),
    Rule(
        *("FK603", "missing-drift", _W),
        "the share of missing values has changed",
        "see whether a source lost a field; raise the threshold if the change is meant",
    ),
    Rule(
        *("FK604", "size-drift", _W),
        "the mean size of pictures, lists or texts has changed",
        "see whether the data were cut or resized; raise the threshold if the change is meant",
    ),
    # Record files without metadata.
    Rule(
        *("FK701", "mixed-kinds", _E),
        "a feature is of one kind in some Examples and of another in others",
        "write it as one kind; a missing value is an absent key",
    ),
    Rule(
        *("FK702", "mixed-step-kinds", _E),
        "steps of a feature list are of different kinds",
        "write all steps of a list as one kind, in all SequenceExamples",
    ),
    Rule(
        *("FK703", "absent-key", _E),
        "a feature or feature list is absent in some records, and was declared not to be",
        "write it in every record",
    ),
    Rule(
        *("FK704", "empty-list", _E),
        "a feature list has no steps, and was declared to have some",
        "leave the record out, or allow empty lists",
    ),
    Rule(
        *("FK705", "unequal-frames", _E),
        "the feature lists of a SequenceExample have different numbers of steps",
        "write one step a frame in every list",
    ),
    Rule(
        *("FK706", "unequal-sizes", _E),
        "steps of a feature list have different numbers of values, and were declared not to",
        "pad the steps, or allow sizes that vary",
    ),
)

RULES: dict[str, Rule] = {rule.code: rule for rule in _RULES}
"""All rules by their code."""


def selected(select: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The codes that are looked for.

    Args:
        select: Codes, beginnings of codes such as `FK2`, or rule names; all where empty.
        ignore: The same, to leave out of these.

    Raises:
        InvalidArgumentError: Something stands for no code.

    Example:
        >>> sorted(selected(["FK5", "label-drift"], [])), len(selected([], ["FK"]))
        (['FK501', 'FK601'], 0)
    """
    chosen = {code for item in select for code in _codes(item)} if select else set(RULES)
    return frozenset(chosen - {code for item in ignore for code in _codes(item)})


def _codes(item: str) -> list[str]:
    found = [
        rule.code
        for rule in _RULES
        if rule.name == item or (item.startswith("FK") and rule.code.startswith(item))
    ]
    if not found:
        names = [text for rule in _RULES for text in (rule.code, rule.name)]
        raise InvalidArgumentError(
            f"{item!r} is no code of a finding{did_you_mean(item, names)}",
            hint="docs/validation.md lists all codes",
        )
    return found

"""Builders whose examples come from Apache Beam, on its runner for one machine."""

import textwrap

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders.beam_based import BeamBasedBuilder
from featurekit.builders.loading import find_builder_class
from featurekit.errors import BuildError, EncodeError, InvalidArgumentError

beam = pytest.importorskip("apache_beam")

# Beam itself warns of what it will drop some day.
pytestmark = pytest.mark.filterwarnings("ignore")

FEATURES = {"n": np.int64, "text": fk.Text(), "label": fk.ClassLabel(names=["even", "odd"])}


def example(n):
    return f"key{n}", {"n": n, "text": f"number {n}", "label": ("even", "odd")[n % 2]}


def divide(n):
    return 1 / n


class Numbers(BeamBasedBuilder, skip_registration=True):
    VERSION = "1.0.0"
    ordered = False

    def _info(self):
        return fk.DatasetInfo(
            builder=self, features=fk.FeaturesDict(FEATURES), disable_shuffling=self.ordered
        )

    def _split_generators(self, dl_manager):
        return [fk.SplitGenerator("train", {"count": 20}), fk.SplitGenerator("test", {"count": 3})]

    def _build_pcollection(self, pipeline, count):
        return pipeline | beam.Create(range(count)) | beam.Map(example)


class Plain(Numbers, skip_registration=True):
    def _generate_examples(self, count):
        return map(example, range(count))


def files_of(cls, folder, **options):
    cls.name = "numbers"
    builder = cls(data_dir=folder)
    builder.download_and_prepare(quiet=True, **options)
    return {
        file.name: file.read_bytes()
        for file in sorted(builder.data_path.iterdir())
        if "tfrecord" in file.name
    }


def test_files_are_those_of_any_other_builder(tmp_path):
    made = files_of(Numbers, tmp_path / "beam", num_shards=2)
    assert made == files_of(Plain, tmp_path / "plain", num_shards=2)
    assert len(made) == 4
    left = [path.name for path in (tmp_path / "beam").rglob("*beam*")]
    assert left == []


def test_splits_may_be_transforms(tmp_path):
    class Transforms(Numbers, skip_registration=True):
        def _split_generators(self, dl_manager, pipeline):
            assert isinstance(pipeline, beam.Pipeline)
            return {
                "train": beam.Create(range(20)) | beam.Map(example),
                "test": map(example, range(3)),
            }

    made = files_of(Transforms, tmp_path / "transforms", num_shards=2)
    assert made == files_of(Plain, tmp_path / "plain", num_shards=2)


def test_an_order_needs_int_keys(tmp_path):
    class Ordered(Numbers, skip_registration=True):
        ordered = True

        def _build_pcollection(self, pipeline, count):
            made = beam.Create(range(count)) | beam.Map(lambda n: (count - n, example(n)[1]))
            return pipeline | f"c{count}" >> made

    Ordered.name = "ordered"
    builder = Ordered(data_dir=tmp_path)
    builder.download_and_prepare(quiet=True)
    assert [e["n"] for e in builder.as_data_source("test")] == [2, 1, 0]

    class ByText(Numbers, skip_registration=True):
        name = "by_text"
        ordered = True

    with pytest.raises(TypeError, match="are ordered by int keys, got 'key"):
        ByText(data_dir=tmp_path).download_and_prepare(quiet=True)


def test_a_failing_pipeline_leaves_nothing(tmp_path):
    class Fails(Numbers, skip_registration=True):
        name = "fails"
        examples = [("a", {"n": "x"})]

        def _build_pcollection(self, pipeline, count):
            return pipeline | f"c{count}" >> beam.Create(self.examples)

    with pytest.raises(EncodeError, match="the example lacks 'text', 'label'"):
        Fails(data_dir=tmp_path).download_and_prepare(quiet=True)
    assert not (tmp_path / "fails" / "1.0.0").exists()

    class Divides(Numbers, skip_registration=True):
        name = "divides"

        def _build_pcollection(self, pipeline, count):
            return pipeline | f"c{count}" >> beam.Create([0]) | f"d{count}" >> beam.Map(divide)

    with pytest.raises(BuildError, match=r"the pipeline of divides/1\.0\.0 failed: .*zero"):
        Divides(data_dir=tmp_path).download_and_prepare(quiet=True)


def test_a_builder_must_say_how_examples_are_made(tmp_path):
    class Nothing(BeamBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"
        _info = Numbers._info
        ordered = False
        _split_generators = Numbers._split_generators

    with pytest.raises(BuildError, match="does not say how its examples are made"):
        Nothing(data_dir=tmp_path).download_and_prepare(quiet=True)


SCRIPT = """
    import tensorflow_datasets.public_api as tfds

    beam = tfds.core.lazy_imports.apache_beam

    class Doubler(beam.DoFn):
        def process(self, n):
            import tensorflow_datasets as tfds  # also where Beam has pickled it
            yield n, {"n": 2 * n, "split": str(tfds.Split.TRAIN)}

    class BeamScript(tfds.core.BeamBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self):
            return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(
                {"n": tfds.features.Scalar("int64"), "split": tfds.features.Text()}))

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            return beam.Create([1, 2, 3]) | beam.ParDo(Doubler())
"""


def test_a_script_of_tfds_runs_unchanged(tmp_path):
    path = tmp_path / "beam_script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    builder = find_builder_class(str(path), tfds_names=True)(data_dir=tmp_path)
    builder.download_and_prepare(quiet=True)
    assert sorted(int(e["n"]) for e in builder.as_dataset("train")) == [2, 4, 6]


def test_datasets_are_read_in_pipelines(tmp_path):
    Numbers.name = "numbers"
    builder = Numbers(data_dir=tmp_path)
    builder.download_and_prepare(quiet=True)
    found = []
    with beam.Pipeline() as pipeline:
        _ = (
            pipeline
            | fk.tfds.beam.ReadFromTFDS(builder, "train[:10]")
            | beam.Map(lambda example: (tmp_path / f"seen-{example['n']}").touch())
        )
    found = list(tmp_path.glob("seen-*"))
    assert len(found) == 10
    with pytest.raises(InvalidArgumentError, match="one by one"):
        fk.tfds.beam.ReadFromTFDS(builder, "train", batch_size=2)

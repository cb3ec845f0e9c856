"""Builder classes in packages, single files, notebooks and scripts."""

import subprocess
import sys
import types

import pytest

import featurekit as fk
from featurekit.builders import loading, registry
from featurekit.errors import BuildError, MissingFileError, UnknownNameError

BUILDER = """
import numpy as np
import featurekit as fk
{imports}

class {name}(fk.GeneratorBasedBuilder):
    VERSION = fk.Version("1.0.0")

    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({{"i": np.int64}}))

    def _split_generators(self, dl_manager):
        return {{"train": self._generate_examples()}}

    def _generate_examples(self):
        for index in range({count}):
            yield index, {{"i": index}}
"""


def source(name="Pets", imports="", count=3):
    return BUILDER.format(name=name, imports=imports, count=count)


@pytest.fixture(autouse=True)
def clean_imports(monkeypatch):
    """Forget what a test imports and registers."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(loading, "_imported", set())
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    modules = set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def built(path, folder):
    """Build, in two processes; the dataset's full name, module and number of examples."""
    builder = loading.find_builder_class(str(path))(data_dir=folder / "data")
    builder.download_and_prepare(num_processes=2, quiet=True)
    info = fk.builder_from_directory(builder.data_dir).info
    return info.full_name, info.module_name, info.splits["train"].num_examples


@pytest.mark.parametrize(
    ("files", "path", "name", "module"),
    [
        ({"pets.py": source()}, "pets.py", "pets/1.0.0", "pets"),
        ({"pets_dataset_builder.py": source("Builder")}, "pets_dataset_builder.py", "pets/1.0.0",
         "pets_dataset_builder"),
        ({"d/pets.py": source(imports="import helper")
          .replace("range(3)", "range(helper.COUNT)"), "d/helper.py": "COUNT = 3"},
         "d/pets.py", "pets/1.0.0", "pets"),
        ({"animals/animals_dataset_builder.py": source("Builder")}, "animals", "animals/1.0.0",
         "animals_dataset_builder"),
        ({"animals/__init__.py": "", "animals/helper.py": "COUNT = 3",
          "animals/animals_dataset_builder.py": source("Builder", "from animals import helper")
          .replace("range(3)", "range(helper.COUNT)")},
         "animals", "animals/1.0.0", "animals.animals_dataset_builder"),
        ({"top/__init__.py": "", "top/animals/__init__.py": "", "top/animals/helper.py": "N = 3",
          "top/animals/animals.py": source("Builder", "from . import helper")
          .replace("range(3)", "range(helper.N)")},
         "top/animals/animals.py", "animals/1.0.0", "top.animals.animals"),
        ({"set/other_dataset_builder.py": source("Builder")}, "set", "other/1.0.0",
         "other_dataset_builder"),
        ({"two words.py": source()}, "two words.py", "pets/1.0.0", "two words"),
    ],
)  # fmt: skip
def test_files_and_packages(tmp_path, files, path, name, module):
    write(tmp_path, files)
    assert built(tmp_path / path, tmp_path) == (name, module, 3)


def test_files_of_one_name_in_two_folders(tmp_path):
    write(tmp_path, {"a/pets.py": source(count=1), "b/pets.py": source(count=2)})
    assert built(tmp_path / "a/pets.py", tmp_path / "a")[2] == 1
    assert built(tmp_path / "b/pets.py", tmp_path / "b")[2] == 2
    assert built(tmp_path / "a/pets.py", tmp_path / "c")[2] == 1


def test_a_file_is_imported_once(tmp_path):
    write(tmp_path, {"pets.py": source()})
    found = [loading.find_builder_class(str(tmp_path / "pets.py")) for _ in range(2)]
    assert found[0] is found[1]


def test_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").mkdir()  # a folder of data, say
    assert loading.find_builder_class("digits").name == "digits"
    write(tmp_path, {"pets/pets.py": source()})
    assert loading.find_builder_class("pets").name == "pets"  # a folder is found by its name


@pytest.mark.parametrize(
    ("files", "path", "error", "message"),
    [
        ({}, "pets.py", MissingFileError, "there is no such builder file\n  at: DIR/pets.py"),
        ({}, "no/folder", MissingFileError, "there is no such builder file\n  at: DIR/no/folder"),
        ({"pets/readme.md": ""}, "pets", MissingFileError,
         "the folder has no builder: neither pets_dataset_builder.py nor pets.py\n  at: DIR/pets\n"
         "  hint: give the path of the Python file"),
        ({"pets.py": "x = 1"}, "pets.py", BuildError,
         "the file defines no builder\n  at: DIR/pets.py\n"
         "  hint: define one subclass of featurekit.GeneratorBasedBuilder in it"),
        ({"pets.py": source("A") + source("B")}, "pets.py", BuildError,
         "the file defines several builders: A, B\n  at: DIR/pets.py\n"
         "  hint: define one subclass of featurekit.GeneratorBasedBuilder in it"),
    ],
)  # fmt: skip
def test_what_is_no_builder_is_refused(tmp_path, files, path, error, message):
    write(tmp_path, files)
    with pytest.raises(error) as caught:
        loading.find_builder_class(str(tmp_path / path))
    assert str(caught.value).replace(str(tmp_path.resolve()), "DIR") == message


def test_a_file_must_not_be_called_as_another_module(tmp_path):
    write(tmp_path, {"random.py": source()})
    with pytest.raises(BuildError) as caught:
        loading.find_builder_class(str(tmp_path / "random.py"))
    assert str(caught.value).splitlines()[0].startswith("'random' is the name of another module, ")
    assert caught.value.hint == "rename the file"


def test_an_error_in_a_file_arrives_as_it_is(tmp_path):
    write(tmp_path, {"pets.py": "1 / 0"})
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            loading.find_builder_class(str(tmp_path / "pets.py"))


def test_an_unknown_name_is_refused():
    with pytest.raises(UnknownNameError, match="there is no builder 'digts'; did you mean"):
        loading.find_builder_class("digts")


# Classes that no module file holds.


@pytest.mark.parametrize("module_name", ["notebook_module", "__main__"])
@pytest.mark.parametrize("class_name", ["Pets", "Builder"])
def test_a_notebook_cell(tmp_path, monkeypatch, module_name, class_name):
    module = types.ModuleType(module_name)  # as IPython has it: no file, code in cells
    monkeypatch.setitem(sys.modules, module_name, module)
    for number in range(2):  # a cell may run again
        code = compile(source(class_name, count=3 + number), f"<cell {number}>", "exec")
        exec(code, module.__dict__)
    cls = getattr(module, class_name)
    name = {"Pets": "pets", "Builder": cls.name}[class_name]
    builder = registry.builder_class(name)(data_dir=tmp_path)
    assert type(builder) is cls
    builder.download_and_prepare(num_processes=2, quiet=True)
    reader = fk.builder_from_directory(builder.data_dir)
    assert (reader.info.module_name, len(reader.as_data_source("train"))) == (module_name, 4)


SCRIPT_END = """
if __name__ == "__main__":
    import sys
    {name}(data_dir=sys.argv[1]).download_and_prepare(num_processes=2)
"""


@pytest.mark.parametrize(
    ("file", "class_name", "name"),
    [("pets.py", "Pets", "pets"), ("cats_dataset_builder.py", "Builder", "cats")],
)
def test_a_script(tmp_path, file, class_name, name):
    text = source(class_name, "import helper").replace("range(3)", "range(helper.COUNT)")
    write(tmp_path, {file: text + SCRIPT_END.format(name=class_name), "helper.py": "COUNT = 3"})
    data = tmp_path / "data"
    done = subprocess.run([sys.executable, file, data], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    reader = fk.builder(name, data_dir=data)
    assert (reader.info.module_name, len(reader.as_data_source("train"))) == ("__main__", 3)

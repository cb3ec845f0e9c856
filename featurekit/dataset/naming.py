"""Rules for the names of datasets, configs and splits, and the string that asks for one.

The rules are those of TFDS 4.9. A name that is *written* must obey them; a name that is
*read* from a file only may not lead out of the dataset's folder (`check_inside`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from featurekit.dataset.version import Version, check_version_pattern
from featurekit.errors import InvalidNameError, InvalidTypeError, short_repr

__all__ = [
    "DatasetReference",
    "camel_to_snake",
    "check_config_name",
    "check_dataset_name",
    "check_inside",
    "check_split_name",
    "is_dataset_name",
]

_DATASET_NAME = re.compile(r"[A-Za-z]\w*")
_CONFIG_NAME = re.compile(r"[\w+-][\w+.-]*")
_SPLIT_NAME = re.compile(r"[\w-]+")
_REFERENCE = re.compile(
    r"(?:(?P<namespace>[\w-]+):)?"
    r"(?P<name>[A-Za-z]\w*)"
    r"(?:/(?P<config>[\w+.-]+))?"
    r"(?::(?P<version>(?:[0-9]+|\*)(?:\.(?:[0-9]+|\*)){2}))?"
    r"(?:/(?P<arguments>\w+=.*))?"
)
_ARGUMENT = re.compile(r"(\w+)=([^=]+)")
_REFERENCE_HINT = (
    "write name[/config][:version][/key=value,...], "
    "such as 'mnist', 'glue/cola:2.*.*' or 'my_data/small/seed=1'"
)

Argument = bool | int | float | str


def camel_to_snake(name: str) -> str:
    """The dataset name that TFDS makes of a class name.

    Runs of capitals are cut before the last one that starts a word, where a digit
    counts as part of a word: hence `CIFAR10` is `cifa_r10`.

    >>> camel_to_snake("MyDataset"), camel_to_snake("ABCDef"), camel_to_snake("CIFAR10")
    ('my_dataset', 'abc_def', 'cifa_r10')
    """
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()


def check_dataset_name(name: str) -> str:
    """Return `name` if a dataset may be called so.

    Raises:
        InvalidNameError: It is not a letter followed by letters, digits and `_`.

    Example:
        >>> check_dataset_name("my_data2")
        'my_data2'
    """
    if is_dataset_name(_text(name, "a dataset name")):
        return name
    raise InvalidNameError(
        f"{short_repr(name)} is no dataset name",
        hint="use a letter, then letters, digits and '_'",
    )


def is_dataset_name(name: str) -> bool:
    """Whether a dataset may be called `name`: see `check_dataset_name`."""
    return _DATASET_NAME.fullmatch(name) is not None


def check_config_name(name: str) -> str:
    """Return `name` if a config may be called so.

    A config names a folder between those of the dataset and of the version, so it must
    not look like a version, nor begin with a dot.

    Raises:
        InvalidNameError: It has other characters than letters, digits and `_ + - .`, begins
            with a dot, or is a version number.
    """
    if not _CONFIG_NAME.fullmatch(_text(name, "a config name")):
        raise InvalidNameError(
            f"{short_repr(name)} is no config name",
            hint="use letters, digits and '_', '+', '-', '.', with no dot at the beginning",
        )
    if Version.is_valid(name):
        raise InvalidNameError(
            f"a config cannot be called {name!r}: its folder would pass for that of a version",
            hint=f"put a word before it, such as 'v{name}'; "
            f"a version is asked for by 'name:{name}'",
        )
    return name


def check_split_name(name: str) -> str:
    """Return `name` if a split may be called so when a dataset is written.

    Raises:
        InvalidNameError: It has other characters than letters, digits, `_` and `-`, has
            none of the first two, or is `all` in any case, which means every split.

    Example:
        >>> check_split_name("train_clean-100")
        'train_clean-100'
    """
    text = str(_text(name, "a split name"))
    if not _SPLIT_NAME.fullmatch(text) or not any(map(str.isalnum, text)):
        raise InvalidNameError(
            f"{short_repr(text)} is no split name",
            hint="use letters, digits, '_' and '-', at least one letter or digit",
        )
    if text.lower() == "all":
        raise InvalidNameError(
            f"a split cannot be called {text!r}: 'all' means every split of a dataset",
            hint="choose another name, such as 'full'",
        )
    return text


def check_inside(path: str, what: str) -> str:
    """Return the relative `path` if it stays in the folder that it is relative to.

    Names come from files that anybody may have written, and become paths.

    Args:
        path: A relative path, its parts joined by `/`.
        what: What it is, for the message: `"a shard file name"`.

    Raises:
        InvalidNameError: It is absolute, has a part that is empty, `.` or `..`, or
            holds a NUL character, or is not UTF-8.

    Example:
        >>> check_inside("train/part-00000", "a shard file name")
        'train/part-00000'
    """
    parts = _text(path, what).split("/")
    if "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        raise InvalidNameError(
            f"{what} leaves the folder of the dataset: {short_repr(path)}",
            hint="it must be relative, without '..', '.', empty parts and NUL characters",
        )
    try:
        path.encode()
    except UnicodeError:
        raise InvalidNameError(f"{what} is not UTF-8: {short_repr(path)}") from None
    return path


def _text(value: object, what: str) -> str:
    if isinstance(value, str):
        return value
    raise InvalidTypeError(f"{what} must be text, got {short_repr(value)}")


@dataclasses.dataclass(frozen=True)
class DatasetReference:
    """A dataset asked for by name: `[namespace:]name[/config][:version][/key=value,...]`.

    Args:
        name: Dataset name, in snake case.
        config: Name of the config, or None for the default one.
        version: `x.y.z`, where `*` stands for any number, or None for the newest.
        namespace: What stands before the colon, or None.
        arguments: Further arguments for the builder.

    Raises:
        InvalidNameError: A part breaks the naming rules.

    Example:
        >>> DatasetReference.parse("glue/cola:2.*.*/seed=1").version
        '2.*.*'
    """

    name: str
    config: str | None = None
    version: str | None = None
    namespace: str | None = None
    arguments: Mapping[str, Argument] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_dataset_name(self.name)
        if self.config is not None:
            check_config_name(self.config)
        if self.version is not None:
            check_version_pattern(self.version)

    @classmethod
    def parse(cls, text: str) -> DatasetReference:
        """Read the string that `load` and `builder` take.

        A name in camel case is turned into snake case. Values of arguments become bool,
        int or float where they read as one, else stay text. `config=` and `version=` may
        stand among the arguments.

        Raises:
            InvalidNameError: The string is not of that form, or gives a thing twice.

        Example:
            >>> DatasetReference.parse("Mnist/k=2,f=0.5").arguments
            {'k': 2, 'f': 0.5}
        """
        match = _REFERENCE.fullmatch(_text(text, "a dataset"))
        if match is None:
            raise InvalidNameError(f"cannot read {short_repr(text)}", hint=_REFERENCE_HINT)
        named = {key: match[key] for key in ("config", "version") if match[key] is not None}
        arguments: dict[str, Argument] = {}
        for key, value in _split_arguments(match["arguments"], text):
            if key in named or key in arguments:
                raise InvalidNameError(f"{short_repr(text)} gives {key} twice")
            if key in ("config", "version"):
                named[key] = value
            else:
                arguments[key] = _cast(value)
        name = camel_to_snake(match["name"])
        return cls(name, namespace=match["namespace"], arguments=arguments, **named)

    def __str__(self) -> str:
        """The string that `parse` reads."""
        text = f"{self.namespace}:{self.name}" if self.namespace else self.name
        text += f"/{self.config}" if self.config else ""
        text += f":{self.version}" if self.version else ""
        arguments = ",".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"{text}/{arguments}" if arguments else text


def _split_arguments(arguments: str | None, text: str) -> list[tuple[str, str]]:
    if arguments is None:
        return []
    pairs = []
    for argument in arguments.split(","):
        match = _ARGUMENT.fullmatch(argument)
        if match is None:
            raise InvalidNameError(
                f"cannot read the argument {short_repr(argument)} of {short_repr(text)}",
                hint=_REFERENCE_HINT,
            )
        pairs.append((match[1], match[2]))
    return pairs


def _cast(value: str) -> Argument:
    if value in ("True", "False"):
        return value == "True"
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            continue
    return value

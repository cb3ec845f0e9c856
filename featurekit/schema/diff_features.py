"""Changes of features: every one named, and how much it matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from featurekit.errors import format_path
from featurekit.schema.changes import Bump, Change, Level
from featurekit.schema.snapshot import ELEMENT, FeatureNode

__all__ = ["feature_changes"]

Path = tuple[str, ...]
Verdict = tuple[Level, Bump, str]

_DOCS = (Level.DOCUMENTATION, Bump.PATCH)
_SAME = (Level.COMPATIBLE, Bump.PATCH)
_MORE = (Level.COMPATIBLE, Bump.MINOR)
_BREAKS = (Level.BREAKING, Bump.MAJOR)


def feature_changes(old: FeatureNode, new: FeatureNode, path: Path = ()) -> Iterator[Change]:
    """The changes of a feature and of those that it is made of.

    Args:
        old: The feature as it was.
        new: The feature as it is.
        path: Where it is.
    """
    if old.class_path != new.class_path:
        change = _class_change(old, new, path)
        yield change
        if change.level is Level.BREAKING:
            return
    else:
        yield from _argument_changes(old, new, path)
    yield from _label_changes(old, new, path)
    for name in ("description", "value_range"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            text = f"the {name.replace('_', ' ')} was {before!r}, and is {after!r}"
            yield Change("documentation", *_DOCS, text, _name(path), before, after)
    if old.class_path == new.class_path or old.children.keys() == new.children.keys():
        yield from _child_changes(old, new, path)


def _name(path: Path) -> str:
    return format_path(path).replace(f".{ELEMENT}", ELEMENT) or "features"


# The class.


def _class_change(old: FeatureNode, new: FeatureNode, path: Path) -> Change:
    """Another class: readers get the same if arrays are alike, or the parts have one name."""
    texts = old.text, new.text
    if old.class_name == new.class_name:  # of two modules
        texts = old.class_path, new.class_path
    text = f"was {texts[0]}, and is {texts[1]}"
    args = (text, _name(path), old.class_path, new.class_path)
    if old.dtype is not None and (old.shape, old.dtype) == (new.shape, new.dtype):
        loses_names = old.names is not None and new.names is None
        return Change("type", *(_BREAKS if loses_names else _SAME), *args)
    both_dicts = bool(old.children) and ELEMENT not in {*old.children, *new.children}
    if both_dicts and old.children.keys() == new.children.keys():
        return Change("type", *_SAME, *args)
    return Change("type", *_BREAKS, *args)


# Its arguments.


def _argument_changes(old: FeatureNode, new: FeatureNode, path: Path) -> Iterator[Change]:
    for name in sorted(old.arguments.keys() | new.arguments.keys()):
        before, after = old.arguments.get(name), new.arguments.get(name)
        if name in ("num_classes", "label"):
            continue  # see _label_changes
        if before == after:
            continue
        if name == "languages" and old.children.keys() != new.children.keys():
            continue  # the languages are the parts
        rule = _RULES.get(name, _any_change)
        level, bump, kind = rule(before, after, old)
        if level is Level.IDENTICAL:
            continue
        text = f"{name} was {_shown(before)}, and is {_shown(after)}"
        yield Change(kind, level, bump, text, _name(path), _json(before), _json(after))


def _any_change(before: Any, after: Any, node: FeatureNode) -> Verdict:
    return (*_BREAKS, "argument")


def _fixed(kind: str, level: Level, bump: Bump) -> Callable[[Any, Any, FeatureNode], Verdict]:
    return lambda before, after, node: (level, bump, kind)


def _encoding(before: Any, after: Any, node: FeatureNode) -> Verdict:
    """Arrays come out the same, except that float64 is kept exactly only where encoded."""
    plain = [str(encoding or "none").lower() == "none" for encoding in (before, after)]
    if plain[0] and plain[1]:
        return Level.IDENTICAL, Bump.NONE, "encoding"
    if node.dtype == "float64" and plain[0] != plain[1]:
        return (*_BREAKS, "encoding")
    return (*_SAME, "encoding")


def _image_format(before: Any, after: Any, node: FeatureNode) -> Verdict:
    """JPEG changes pixels; None stands for PNG."""
    if (before or "png") == (after or "png"):
        return Level.IDENTICAL, Bump.NONE, "encoding"
    return (*_BREAKS, "encoding")


def _optional(before: Any, after: Any, node: FeatureNode) -> Verdict:
    """A value that may be missing now surprises; one that may no longer does not."""
    return (*(_BREAKS if after else _SAME), "optional")


def _minimum(before: Any, after: Any, node: FeatureNode) -> Verdict:
    wider = after is None or (before is not None and after < before)
    return (*(_MORE if wider else _SAME), "bounds")


def _maximum(before: Any, after: Any, node: FeatureNode) -> Verdict:
    wider = after is None or (before is not None and after > before)
    return (*(_MORE if wider else _SAME), "bounds")


def _languages(before: Any, after: Any, node: FeatureNode) -> Verdict:
    grows = not after or (before and set(before) <= set(after))
    return (*(_MORE if grows else _BREAKS), "languages")


_RULES: Mapping[str, Callable[[Any, Any, FeatureNode], Verdict]] = {
    "dtype": _fixed("dtype", *_BREAKS),
    "shape": _fixed("shape", *_BREAKS),
    "length": _fixed("shape", *_BREAKS),
    "encoding": _encoding,
    "encoding_format": _image_format,
    "optional": _optional,
    "minimum": _minimum,
    "maximum": _maximum,
    "languages": _languages,
    "use_colormap": _fixed("documentation", *_DOCS),
    "file_format": _fixed("encoding", *_SAME),
    "lazy_decode": _fixed("encoding", *_SAME),
    "sample_rate": _fixed("sample-rate", *_BREAKS),
    "bbox_format": _fixed("bbox-format", *_BREAKS),
    "ffmpeg_extra_args": _fixed("frames", *_BREAKS),
}


def _shown(value: Any) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# Names and number of classes.


def _label_changes(old: FeatureNode, new: FeatureNode, path: Path) -> Iterator[Change]:
    before, after = _count(old), _count(new)
    where = _name(path)
    if old.names is not None and new.names is not None:
        yield from _name_changes(list(old.names), list(new.names), where)
        return
    if before is None or after is None:
        return
    if before != after:
        verdict = _MORE if after > before or not after else _BREAKS
        kind = "labels-appended" if after > before else "labels-removed"
        text = f"there were {before} classes, and are {after}"
        yield Change(kind, *verdict, text, where, before, after)
    if old.names is not None:
        yield Change("labels-renamed", *_BREAKS, "the classes have lost their names", where)
    elif new.names is not None:
        yield Change("labels-named", *_SAME, "the classes have names now", where)


def _count(node: FeatureNode) -> int | None:
    count = node.arguments.get("num_classes", node.arguments.get("label"))
    return int(count) if isinstance(count, int) else None


def _name_changes(old: list[str], new: list[str], where: str) -> Iterator[Change]:
    if old == new:
        return
    lost = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    if new[: len(old)] == old:
        text = f"classes were added at the end: {_listed(added)}"
        yield Change("labels-appended", *_MORE, text, where, None, added)
    elif len(old) == len(new) and lost and _only_renamed(old, new):
        pairs = [f"{a!r} is {b!r}" for a, b in zip(old, new, strict=True) if a != b]
        text = f"classes were renamed: {', '.join(pairs)}"
        yield Change("labels-renamed", *_BREAKS, text, where, lost, added)
    else:
        if added:
            text = f"classes were inserted, so that numbers mean others now: {_listed(added)}"
            yield Change("labels-inserted", *_BREAKS, text, where, None, added)
        if lost:
            text = f"classes were removed: {_listed(lost)}"
            yield Change("labels-removed", *_BREAKS, text, where, lost)
        if [name for name in old if name in new] != [name for name in new if name in old]:
            text = "classes were reordered, so that numbers mean others now"
            yield Change("labels-reordered", *_BREAKS, text, where, old, new)


def _only_renamed(old: list[str], new: list[str]) -> bool:
    """Whether each class is where it was, under its old name or under one that is new."""
    pairs = zip(old, new, strict=True)
    return all(a == b or (a not in new and b not in old) for a, b in pairs)


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


# The features that it is made of.


def _child_changes(old: FeatureNode, new: FeatureNode, path: Path) -> Iterator[Change]:
    removed = [name for name in sorted(old.children) if name not in new.children]
    added = [name for name in sorted(new.children) if name not in old.children]
    for before in list(removed):
        after = _renamed(old, before, removed, new, added)
        if after is None:
            continue
        removed.remove(before)
        added.remove(after)
        text = f"the feature is called {after!r} now"
        yield Change("feature-renamed", *_BREAKS, text, _name((*path, before)), before, after)
    for name in removed:
        text = f"the feature was removed: {old.children[name].text}"
        yield Change("feature-removed", *_BREAKS, text, _name((*path, name)), name)
    for name in added:
        text = f"a feature was added: {new.children[name].text}"
        yield Change("feature-added", *_MORE, text, _name((*path, name)), None, name)
    for name, child in old.children.items():
        if name in new.children:
            yield from feature_changes(child, new.children[name], (*path, name))


def _renamed(
    old: FeatureNode, name: str, removed: list[str], new: FeatureNode, added: list[str]
) -> str | None:
    """The only feature among the added ones that is like the one removed, if none else is."""
    plain = old.children[name].without_texts()
    losers = [other for other in removed if old.children[other].without_texts() == plain]
    alike = [other for other in added if new.children[other].without_texts() == plain]
    return alike[0] if len(alike) == len(losers) == 1 else None

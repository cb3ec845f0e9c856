"""Builds datasets by TFDS's own scripts from made-up raw data, with TFDS or with featurekit.

    python tests/interop/tfds_builds.py tfds FOLDER
    python tests/interop/tfds_builds.py featurekit FOLDER

Both find the same raw data in FOLDER/raw, and write to FOLDER/tfds and FOLDER/featurekit.
FOLDER/<library>.json has the error of each dataset that could not be built, or null.
"""

import importlib.util
import inspect
import io
import json
import pathlib
import sys
import tarfile
import traceback
import wave
import zipfile

import numpy as np
import PIL.Image


def tree():
    """The folder of TFDS's sources; TFDS is not imported."""
    return pathlib.Path(importlib.util.find_spec("tensorflow_datasets").origin).parent


# Raw data, made the same each time.


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def picture(path, seed, size=(20, 30), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = size if mode == "L" else (*size, 3)
    pixels = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    PIL.Image.fromarray(pixels).save(path)


def sound(path, seed, rate=8000):
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.random.default_rng(seed).integers(-(2**15), 2**15, 50 + 10 * seed, np.int16)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())


def lines(*rows, separator="\t"):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def json_lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def beans(raw):
    for split in range(3):
        for seed, label in enumerate(("angular_leaf_spot", "bean_rust", "healthy")):
            picture(raw / str(split) / "x" / label / f"{seed}.jpg", seed + 3 * split, (500, 500))


def rock_paper_scissors(raw):
    for split, folder in enumerate(("rps", "rps-test-set")):
        for seed, label in enumerate(("rock", "paper", "scissors")):
            picture(raw / str(split) / folder / label / f"{label}{seed}.png", seed, (300, 300))


def tf_flowers(raw):
    for seed, label in enumerate(("daisy", "tulips", "roses")):
        picture(raw / "data" / "flower_photos" / label / f"{seed}.jpg", seed)


def malaria(raw):
    for seed in range(4):
        folder = ("Parasitized", "Uninfected")[seed % 2]
        picture(raw / "data" / "cell_images" / folder / f"c{seed}.png", seed)


def dtd(raw):
    for seed, split in enumerate(("train1", "val1", "test1")):
        write(raw / "data/dtd/labels" / f"{split}.txt", f"banded/b{seed}.jpg\nwoven/w{seed}.jpg\n")
        for name in (f"banded/b{seed}.jpg", f"woven/w{seed}.jpg"):
            picture(raw / "data/dtd/images" / name, seed)


def uc_merced(raw):
    for seed, label in enumerate(("river", "forest")):
        picture(raw / "data/UCMerced_LandUse/Images" / label / f"{label}00.tif", seed)


def food101(raw):
    for split in ("train", "test"):
        names = {label: [f"{label}/{split}{i}" for i in range(2)] for label in ("sushi", "ramen")}
        write(raw / "data/food-101/meta" / f"{split}.json", json.dumps(names))
        for seed, name in enumerate(names["sushi"] + names["ramen"]):
            picture(raw / "data/food-101/images" / f"{name}.jpg", seed)


def cifar10(raw):
    folder = raw / "data/cifar-10-batches-bin"
    rng = np.random.default_rng(0)
    for name in (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"):
        rows = [bytes([i]) + rng.bytes(3072) for i in range(3)]
        write(folder / name, b"".join(rows))
    names = "airplane automobile bird cat deer dog frog horse ship truck"
    write(folder / "batches.meta.txt", names.replace(" ", "\n") + "\n\n")


def cmaterdb(raw):
    rng = np.random.default_rng(1)
    raw.mkdir(parents=True)
    for split in range(2):
        images = rng.integers(0, 256, (4, 32, 32, 3), np.uint8)
        np.savez(raw / f"{split}.npz", images=images, labels=np.arange(4, dtype=np.uint8))


def moving_mnist(raw):
    images = np.random.default_rng(2).integers(0, 256, (20, 2, 64, 64), np.uint8)
    raw.mkdir(parents=True)
    np.save(raw / "data.npy", images)


def yes_no(raw):
    for seed, name in enumerate(("0_0_1_1_0_1_0_1.wav", "1_1_1_1_0_1_0_0.wav")):
        sound(raw / "waves_yesno/waves_yesno" / name, seed)


def spoken_digit(raw):
    for seed, name in enumerate(("3_jackson_1.wav", "7_theo_0.wav", "0_lucas_2.wav")):
        sound(raw / "data/free-spoken-digit-dataset-1.0.9/recordings" / name, seed)


def gtzan(raw):
    for seed, name in enumerate(("blues.00001.wav", "rock.00002.wav")):
        sound(raw / "genres/genres" / name.split(".")[0] / name, seed, 22050)


def iris(raw):
    rows = [(5.1, 3.5, 1.4, 0.2, "Iris-setosa"), (7.0, 3.2, 4.7, 1.4, "Iris-versicolor")]
    write(raw / "data/iris.data", lines(*rows, separator=",") + "\n")


def german_credit_numeric(raw):
    write(raw / "data", lines((*range(24), 1), (*range(1, 25), 2), separator=" "))


def tiny_shakespeare(raw):
    write(raw / "data", "First Citizen:\nBefore we proceed, hear me speak.\n" * 10)


def trec(raw):
    write(raw / "train", b"DESC:manner How did it \xf0 go ?\nHUM:ind Who was it ?\n")
    write(raw / "test", "NUM:dist How far is it ?\n")


def snli(raw):
    header = ("gold_label", "sentence1", "sentence2")
    for split in ("train", "dev", "test"):
        rows = [header, ("neutral", f"A {split} man.", 'He "runs".'), ("-", "x", "y")]
        write(raw / "data/snli_1.0" / f"snli_1.0_{split}.txt", lines(*rows))


def multi_nli(raw):
    rows = [list("0123456"), ["neutral", *"abcd", "One.", "Two."], ["-", *"abcdef"]]
    for split in ("train", "dev_matched", "dev_mismatched"):
        write(raw / "data/multinli_1.0" / f"multinli_1.0_{split}.txt", lines(*rows))


def bool_q(raw):
    for split in ("train", "validation"):
        row = {"question": f"is {split}", "passage": "é", "answer": split == "train", "title": "T"}
        write(raw / f"{split}.jsonl", json_lines(row, row | {"answer": True}))


def ted_hrlr_translate(raw):
    folder = raw / "data/datasets/az_to_en"
    for split in ("train", "dev", "test"):
        write(folder / f"az.{split}", "salam\n\nsağ ol\n")
        write(folder / f"en.{split}", "hello\n\nthanks\n")


def flores(raw):
    for split in ("dev", "devtest"):
        for language, text in (("ne", "नमस्ते"), ("en", "hello")):
            name = f"wikipedia.{split}.ne-en.{language}"
            write(raw / "data/wikipedia_en_ne_si_test_sets" / name, f"{text}\n{text} {text}\n")


def paws_wiki(raw):
    header = ("id", "sentence1", "sentence2", "label")
    for split in ("train", "dev", "test"):
        rows = [header, (1, f"a {split}", "b", 0), (2, "c", "d", 1)]
        write(raw / "labeled_final/final" / f"{split}.tsv", lines(*rows))


def scan(raw):
    folder = raw / "data/SCAN-master/simple_split"
    for split in ("train", "test"):
        write(folder / f"tasks_{split}_simple.txt", f"IN: jump {split} OUT: I_JUMP\nother\n")


def mctaco(raw):
    for split in ("validation", "test"):
        rows = [("He ran.", "How long?", "1 hour", "yes", "Event Duration")]
        write(raw / split, lines(*rows, ("He sat.", "When?", "now", "no", "Stationarity")))


def conll2003(raw):
    for split in ("train", "valid", "test"):
        text = "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n. . O O\n"
        write(raw / "data" / f"{split}.txt", text)


def cos_e(raw):
    for split in ("train", "dev"):
        question = {
            "stem": f"{split}?",
            "choices": [{"label": c, "text": f"{split} {c}"} for c in "ABCDE"],
        }
        row = {"id": split, "answerKey": "B", "question": question}
        write(raw / f"cqa_{split}", json_lines(row))
        words = {"open-ended": "since", "selected": "so"}
        write(raw / split / "0", json_lines({"id": split, "explanation": words}))
    write(raw / "cqa_test", "")


def savee(raw):
    raw.mkdir(parents=True)
    with zipfile.ZipFile(raw / "AudioData.zip", "w") as archive:
        for seed, speaker in enumerate(("DC", "JE", "JK", "KL")):
            sound(raw / "AudioData.zip.extracted/AudioData" / speaker / "a01.wav", seed, 44100)
            archive.writestr(f"AudioData/{speaker}/a01.wav", "see the folder beside")


def svhn_cropped(raw):
    import scipy.io

    raw.mkdir(parents=True)
    rng = np.random.default_rng(4)
    for split in ("train", "test", "extra"):
        images = rng.integers(0, 256, (32, 32, 3, 3), np.uint8)
        data = {"X": images, "y": np.array([[1], [10], [5]], np.uint8)}
        scipy.io.savemat(raw / f"{split}.mat", data)


def abstract_reasoning(raw):
    raw.mkdir(parents=True)
    rng = np.random.default_rng(5)
    with tarfile.open(raw / "neutral.tar.gz", "w:gz") as archive:
        for split in ("train", "val", "test"):
            for number in range(3):
                file = io.BytesIO()
                np.savez(
                    file,
                    image=rng.integers(0, 256, 16 * 160 * 160, np.uint8),
                    relation_structure_encoded=rng.integers(0, 2, (4, 12)),
                    target=np.int64(number),
                    meta_target=rng.integers(0, 2, 12),
                )
                entry = tarfile.TarInfo(f"neutral/PGM_neutral_{split}_{number}.npz")
                entry.size = len(file.getvalue())
                file.seek(0)
                archive.addfile(entry, file)


# Each dataset with the config to build.
CASES = {
    beans: None,
    rock_paper_scissors: None,
    tf_flowers: None,
    malaria: None,
    dtd: None,
    uc_merced: None,
    food101: None,
    cifar10: None,
    cmaterdb: "bangla",
    svhn_cropped: None,
    moving_mnist: None,
    yes_no: None,
    spoken_digit: None,
    gtzan: None,
    savee: None,
    iris: None,
    german_credit_numeric: None,
    tiny_shakespeare: None,
    trec: None,
    snli: None,
    multi_nli: None,
    bool_q: None,
    ted_hrlr_translate: "az_to_en",
    flores: "neen",
    paws_wiki: "labeled_final_tokenized",
    scan: "simple",
    mctaco: None,
    conll2003: "conll2003",
    cos_e: None,
}
if importlib.util.find_spec("apache_beam"):
    CASES[abstract_reasoning] = "neutral"


class Raw:
    """Stands for a download manager: finds everything in one folder, by the keys asked for."""

    def __init__(self, folder):
        self._folder = folder
        self.manual_dir = folder
        self.downloaded_size = 0

    def download(self, urls, folder=None):
        folder = self._folder if folder is None else folder
        if isinstance(urls, dict):
            return {key: self.download(url, folder / str(key)) for key, url in urls.items()}
        if isinstance(urls, (list, tuple)):
            return [self.download(url, folder / str(i)) for i, url in enumerate(urls)]
        path = folder / "data" if folder == self._folder else folder
        return path if path.exists() else next(path.parent.glob(f"{path.name}.*"), path)

    download_and_extract = download

    def extract(self, path):
        return pathlib.Path(f"{path}.extracted")

    def iter_archive(self, folder):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            yield str(path.relative_to(folder)), path.open("rb")


def builder_of(library, name, folder):
    """The builder class of a dataset, by TFDS or by featurekit, which finds where TFDS has it."""
    place = folder / "raw" / name / "script.json"
    if library == "tfds":
        import tensorflow_datasets as tfds

        cls = tfds.builder_cls(name)
        cls._make_download_manager = lambda self, **options: self.raw
        place.write_text(json.dumps([inspect.getfile(cls), cls.__name__]))
        return cls
    from featurekit.builders.loading import import_file

    file, cls_name = json.loads(place.read_text())
    cls = getattr(import_file(pathlib.Path(file), tfds_names=True), cls_name)
    cls._download_manager = lambda self, *args, **options: self.raw
    return cls


def main(library, folder):
    """Build all datasets."""
    results = {}
    for make, config in CASES.items():
        name = make.__name__
        raw = pathlib.Path(folder) / "raw" / name
        try:
            if not raw.exists():
                make(raw)
            options = {"config": config} if config else {}
            cls = builder_of(library, name, pathlib.Path(folder))
            builder = cls(data_dir=pathlib.Path(folder) / library, **options)
            builder.raw = Raw(raw)
            builder.download_and_prepare()
            results[name] = None
        except Exception as error:
            traceback.print_exc()
            results[name] = f"{type(error).__name__}: {error}"
    (pathlib.Path(folder) / f"{library}.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])

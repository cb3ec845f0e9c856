"""TFDS's own tests of its connectors, run against featurekit's."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "tfds_connector_tests.py"

# Inputs that TFDS takes, and that are refused here: a value would change silently.
STRICTER = {
    r"AudioFeatureTest.test_number_of_channels_is_changed\d": "channels are not mixed unasked",
    r"FeatureTensorTest.test_bool_flat\d": "2 is no bool",
    r"ScalarFeatureTest.test_dict": "a missing key is a KeyError at any depth, no RuntimeError",
    r"FeatureTensorTest.test_shape_static\d": "values beyond minimum and maximum are refused",
}

# What is no behaviour of connectors.
ELSEWHERE = {
    r"test_(convert_to_bbox|convert_coordinates_to_bbox|normalize_bbox).*": "a private helper",
    r"test_feature_test.test_(to|from)_shape_proto.*": "a private helper",
    r"test_feature_test.test_.*dtype_(to|from)_str": "a private helper",
    r"test_feature_test.test_dtype_for_string_types": "a private helper",
    r"test_feature_test.test_convert_feature_name_to_filename.*": "a private helper",
    r"test_tensor_feature_test.test_default_value.*": "a private attribute",
    r"test_features_test.test_custom_feature_connector": "counts in a private registry",
    r"test_features_test.test_tensor_feature_backward_compatibility": "a private registry",
    r"FeaturesManagerTest.test_(flatten_nested|sequence_rank)": "a private method",
    r"test_feature_test.test_tensor_info_tensor_shape.*": "makes TensorFlow's TensorSpec",
    r"FeatureDictTest.test_tensor_spec\d": "makes TensorFlow's TensorSpec",
    r"FeatureTensorTest.test_uint64_roundtrip": "the bits are put back where records are read",
    r"ImageFeatureTest.test_cannot_decode_16_bit_images_with_pil\d": "16 bits are decoded here",
    r"ImageFeatureTest.test_fail_if_neither_opencv_nor_pil.*": "Pillow is a dependency",
    r"TextFeatureTest.test_(save_load_metadata|text_conversion|text_encoded)": "text encoders, "
    "which TFDS has deprecated",
    r"TranslationFeatureTest.test_translation_(encoded|multiple_encoders)": "the same",
    r"VideoFeatureTest.test_video_ffmpeg": "the wheel lacks the video",
    r"AudioFeatureTest.test_flac_file\d": "TFDS makes the file with the program ffmpeg",
}


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_datasets") is None, reason="TFDS is not installed"
)
def test_connectors_pass_the_tests_of_tfds():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    failed = json.loads(done.stdout)
    known = re.compile("|".join([*STRICTER, *ELSEWHERE, ".*test_audio_feature_test"]))
    assert {k: v for k, v in failed.items() if not known.search(k.partition("/")[2])} == {}
    passed = int(re.search(r"(\d+) of \d+ pass", done.stderr)[1])
    assert passed >= 200

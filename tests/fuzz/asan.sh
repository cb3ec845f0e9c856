#!/bin/sh
# Builds the kernels with AddressSanitizer and UndefinedBehaviorSanitizer in a scratch
# folder and fuzzes them there: sh tests/fuzz/asan.sh --seconds 600
# PYTHON names the interpreter (with featurekit's dependencies and its build requirements).
set -e
python=${PYTHON:-python}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cp -RL "$here/../.." "$scratch/source"
cd "$scratch/source"
rm -rf build featurekit/native/*.c featurekit/native/*.so
CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" \
    "$python" setup.py -q build --build-lib "$scratch/lib"

# PYTHONMALLOC=malloc: each bytes object is an allocation of its own, with guards around it.
cd "$scratch"
PYTHONPATH="$scratch/lib" PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
    "$python" "$here/fuzz.py" --own "$@"

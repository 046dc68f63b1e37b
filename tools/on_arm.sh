#!/bin/sh
# Compare portable bits with AArch64's, under qemu: `sh tools/on_arm.sh [FOLDER]`, about an hour.
# It wants Debian or Ubuntu on x86, root for `apt-get update`, qemu-user-static, and the packages of `pip install -e ".[all,test]"`.
set -e
place=$(realpath -m "${1:-build/arm}")
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
command -v qemu-aarch64-static > /dev/null || { echo "on_arm.sh: qemu-aarch64-static is missing; apt-get install qemu-user-static"; exit 2; }
"$python" -c "import badak, numba, torch" || { echo "on_arm.sh: $python lacks packages; pip install -e '.[all,test]'"; exit 2; }
mkdir -p "$place/debs" "$place/root" "$place/site"
if [ ! -e "$place/root/usr/bin/python3.11" ]; then
    dpkg --add-architecture arm64
    apt-get update
    (cd "$place/debs" && apt-get download libpython3.11-minimal:arm64 libpython3.11-stdlib:arm64 python3.11-minimal:arm64 libc6:arm64 \
        zlib1g:arm64 libexpat1:arm64 libssl3:arm64 libffi8:arm64 libbz2-1.0:arm64 liblzma5:arm64 libsqlite3-0:arm64 libuuid1:arm64 \
        libgcc-s1:arm64 libstdc++6:arm64 libcrypt1:arm64)
    for package in "$place"/debs/*.deb; do dpkg -x "$package" "$place/root"; done
    "$python" -m pip freeze | grep -iE '^(numpy|numba|llvmlite|ml[_-]dtypes|safetensors|pooch|platformdirs|packaging|requests|tqdm|click|charset|idna|urllib3|certifi)' \
        > "$place/packages.txt"
    "$python" -m pip download --no-deps --only-binary=:all: --python-version 311 --platform any --platform manylinux2014_aarch64 \
        --platform manylinux_2_17_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 \
        -d "$place/wheels" -r "$place/packages.txt"
    for wheel in "$place"/wheels/*.whl; do "$python" -m zipfile -e "$wheel" "$place/site"; done
fi
arm() {
    PYTHONPATH="$PWD/src:$place/site" qemu-aarch64-static -L "$place/root" "$place/root/usr/bin/python3.11" "$@"
}
export BADAK_PORTABLE=1
sed -n '/^```python/,/^```/p' docs/how-to/same-bits.md | grep -v '^```' > "$place/same_bits.py"
"$python" "$place/same_bits.py"
arm "$place/same_bits.py"
BADAK_PORTABLE=0 "$python" -m tests.kernels.test_portable "$place/calls"
"$python" tests/kernels/portable_worker.py "$place/calls" "$place/here.txt"
arm tests/kernels/portable_worker.py "$place/calls" "$place/arm.txt"
echo "operations whose bits differ, and how many of their calls:"
diff "$place/here.txt" "$place/arm.txt" | grep '^>' | cut -d' ' -f2 | sort | uniq -c || true

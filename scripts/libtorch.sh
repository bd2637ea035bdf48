# To be sourced: where LibTorch is, and whether it is the version that BatchScope is built with.

wheels=$(dirname "${BASH_SOURCE[0]}")/wheels
torch_version=$(sed -n 's/^torch==\([^ ]*\).*/\1/p' "$wheels/libtorch.txt")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/batchscope
torch_home=$cache/torch-$torch_version # holds torch/ and, beside it, nvidia/

# check_torch FOLDER: fails with one line on stderr if FOLDER is not a torch folder of that version.
check_torch() {
  local header=$1/include/torch/headeronly/version.h found
  if [ ! -e "$1/lib/libtorch_cpu.so" ]; then
    echo "BATCHSCOPE_TORCH: $1 has no lib/libtorch_cpu.so; use the torch folder of an installed torch $torch_version" >&2
    return 1
  fi
  [ -e "$header" ] || header=$1/include/torch/csrc/api/include/torch/version.h # where older versions have it
  found=$(awk '/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) /{printf "%s%s", dot, $3; dot="."}' "$header" 2>/dev/null || true)
  if [ "$found" != "$torch_version" ]; then
    echo "BATCHSCOPE_TORCH: $1 is torch ${found:-of an unknown version}; BatchScope needs $torch_version" >&2
    return 1
  fi
  if [ ! -e "$1/../nvidia/cu13/include/cuda_runtime_api.h" ]; then
    echo "BATCHSCOPE_TORCH: $1 is torch $found without nvidia/cu13/include beside it; BatchScope needs the CUDA 13 build" >&2
    return 1
  fi
}

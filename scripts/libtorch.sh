# To be sourced: the pinned dependencies, where what is downloaded is kept, and whether a torch folder can be used.

dependencies=$(dirname "${BASH_SOURCE[0]}")/dependencies.txt
# section NAME...: the lines of these sections of dependencies.txt.
section() {
  awk -v names=" $* " '/^\[/{on = index(names, " " substr($0, 2, length($0) - 2) " "); next} on && NF && !/^#/' "$dependencies"
}

torch_version=$(section libtorch | sed -n 's/^torch==\([^ ]*\).*/\1/p')
least_torch=2.11.0 # the oldest whose headers the sources compile with
crt_version=$(section cuda-headers | sed -n 's/^nvidia-cuda-crt==\([^ ]*\).*/\1/p')
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/batchscope
torch_home=$cache/torch-$torch_version          # holds torch/ and, beside it, nvidia/
headers_home=$cache/cuda-headers-$crt_version # holds nvidia/cu13/include/crt

# check_torch FOLDER: fails with one line on stderr if FOLDER is not a torch folder that can be used.
check_torch() {
  local header=$1/include/torch/headeronly/version.h found
  if [ ! -e "$1/lib/libtorch_cpu.so" ]; then
    echo "BATCHSCOPE_TORCH: $1 has no lib/libtorch_cpu.so; use the torch folder of an installed torch $least_torch or later" >&2
    return 1
  fi
  [ -e "$header" ] || header=$1/include/torch/csrc/api/include/torch/version.h # where older versions have it
  found=$(awk '/^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) /{printf "%s%s", dot, $3; dot="."}' "$header" 2>/dev/null || true)
  if [ "$(printf '%s\n' "$least_torch" "${found:-0}" | sort -V | head -n 1)" != "$least_torch" ]; then
    echo "BATCHSCOPE_TORCH: $1 is torch ${found:-of an unknown version}; BatchScope needs $least_torch or later" >&2
    return 1
  fi
  if [ ! -e "$1/../nvidia/cu13/include/cuda_runtime_api.h" ]; then
    echo "BATCHSCOPE_TORCH: $1 is torch $found without nvidia/cu13/include beside it; BatchScope needs the CUDA 13 build" >&2
    return 1
  fi
}

# own_cuda_headers FOLDER: whether a torch folder has all headers of CUDA beside it.
own_cuda_headers() {
  [ -n "$1" ] && [ -e "$1/../nvidia/cu13/include/crt/host_defines.h" ]
}

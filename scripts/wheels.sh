# To be sourced: puts pinned wheels into folders of the user's cache, completely or not at all, once for all checkouts.
# A script that uses it sets `command` (what to run again after an error) and `space` (the disk space that it needs).

. "$(dirname "${BASH_SOURCE[0]}")/libtorch.sh"

fail() { echo "setup: $1" >&2; exit 1; }

# lock_cache HOME: waits until no other setup changes the cache; then $part is an empty place for what becomes HOME.
# Only the holder of the lock touches it, so files left by a killed setup are removed first.
lock_cache() {
  mkdir -p "$cache" 2>/dev/null || fail "cannot write to $cache; set XDG_CACHE_HOME to a writable folder"
  exec 9>"$cache/lock"
  flock --nonblock 9 || { echo "Waiting for another setup to finish"; flock 9; }
  part=$1.part
  rm -rf "$part"
  trap 'rm -rf "$part"' EXIT
  mkdir "$part" || fail "cannot write to $cache: disk full?"
}

unlock_cache() {
  rm -rf "$part"
  exec 9>&-
}

# Translates pip's errors to one line that says what to do.
explain() {
  case "$1" in
  *"No space left on device"* | *"Disk quota exceeded"*)
    echo "the disk of $cache is full: $command needs $space; \
free some space or set XDG_CACHE_HOME to a folder on another disk, then run $command again" ;;
  *"DO NOT MATCH THE HASHES"*)
    echo "a wheel does not match its pinned hash (incomplete download or a different file) and was discarded; \
run $command again; if the error persists, check the package index that pip uses" ;;
  *"onnection"* | *"imed out"* | *"name resolution"* | *"IncompleteRead"* | *"No matching distribution"*)
    echo "the wheels could not be downloaded (connection lost, or not in the package index that pip uses): \
check the network, then run $command again" ;;
  *) echo "pip failed: $(grep -v '^WARNING' <<<"$1" | tail -n 1)" ;;
  esac
}

# load_wheels FOLDER LINE...: unpacks wheels, given by their pinned lines, into a folder in $part. The Python version is
# pinned with them, whichever Python runs pip.
load_wheels() {
  local folder=$1 errors
  shift
  printf '%s\n' "$@" >"$part/requirements.txt" || fail "cannot write to $cache: disk full?"
  exec 3>&1
  errors=$(TMPDIR=$part PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pip \
    --disable-pip-version-check --no-input install --no-deps --no-cache-dir --no-compile --require-hashes \
    --only-binary=:all: --implementation cp --python-version 3.11 --target "$folder" \
    --requirement "$part/requirements.txt" 2>&1 >&3) || fail "$(explain "$errors")"
}

#!/bin/sh
# The checks that need an NVIDIA GPU, on a machine that has nothing else and no network.
#   tests/device/gpu.sh pack FILE.tar.xz   here: builds, and packs programs, contracts, NVRTC and every library that they map
#   tests/device/gpu.sh run FILE.tar.xz    there: unpacks to /tmp/kc-gpu, which the programs are linked for, and runs; under 5 minutes
# Results go to the folder $OUT (default: /tmp/kc-gpu/out). The exit status is that of the worst check.
set -u
home=/tmp/kc-gpu
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

# ---- pack ---------------------------------------------------------------------------------------------------------------------

libraries_of() { ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u; }

# glibc comes along with all of its parts: those of another version do not mix.
glibc="ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libutil.so.1 libresolv.so.2"

pack() {
  set -e
  cd "$(dirname "$0")/../.."
  system=/lib/x86_64-linux-gnu
  stage=$(mktemp -d)
  mkdir -p "$stage/bin" "$stage/lib/kc" "$stage/lib/lua"
  cmake -G Ninja -S . -B build-gpu -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,--dynamic-linker=$home/lib/ld-linux-x86-64.so.2 -Wl,-rpath,$home/lib -Wl,--disable-new-dtags" >/dev/null
  ninja -C build-gpu kc kc-runner kc-rtc kc_exact kc_zip test_device test_arithmetic >/dev/null
  cp build-gpu/kc build-gpu/kc-runner build-gpu/kc-rtc build-gpu/tests/test_device build-gpu/tests/test_arithmetic "$stage/bin"
  cp build-gpu/lib/kc/*.so "$stage/lib/kc"
  cp "$(lua5.4 -e 'print((package.searchpath("cjson", package.cpath)))')" "$stage/lib/lua/cjson.so"
  for name in $glibc; do cp -L "$system/$name" "$stage/lib"; done
  nvrtc=$(build-gpu/kc-rtc nvrtc info 2>/dev/null || build/kc-rtc nvrtc info)
  nvrtc=$(echo "$nvrtc" | awk '$1 == "library" { print $2 }')
  cp -L "$nvrtc" "$stage/lib/libnvrtc.so"
  cp -L "$(dirname "$nvrtc")"/libnvrtc-builtins.so.* "$stage/lib"
  blas=$(ldconfig -p | awk '/libopenblas.so.0 / { print $NF; exit }')
  [ -z "$blas" ] || cp -L "$blas" "$stage/lib"
  for library in $(libraries_of "$stage"/bin/* "$stage"/lib/kc/*.so "$stage"/lib/libnvrtc* $blas); do
    [ -e "$stage/lib/$(basename "$library")" ] || cp -L "$library" "$stage/lib"
  done
  cp -r contracts "$stage"
  tar -C "$stage" -c . | xz -T0 -6 >"$1"
  rm -rf "$stage"
  ls -l "$1"
}

# ---- run ----------------------------------------------------------------------------------------------------------------------

worst=0
check() { # seconds, name, command...
  limit=$1 name=$2 started=$(date +%s)
  shift 2
  timeout "$limit" "$@" >"$out/$name.txt" 2>&1
  status=$?
  echo "$name: exit status $status after $(($(date +%s) - started)) s; $(tail -n 1 "$out/$name.txt")"
  [ "$status" -le "$worst" ] || worst=$status
}

# A suite that skips the device shows nothing.
suite() {
  "$home/bin/$1" -j1 2>&1 | tee "$home/suite.txt" | grep -v '^skipped on \(opencl\|hip\)'
  ! grep -q 'skipped on cuda' "$home/suite.txt" && grep -q 'Failing: 0 | Crashing: 0' "$home/suite.txt"
}

run() {
  rm -rf "$home"
  mkdir -p "$home"
  tar -C "$home" -xJf "$1" || exit 1
  out=${OUT:-$home/out}
  mkdir -p "$out"
  export KC_NVRTC="${KC_NVRTC:-$home/lib/libnvrtc.so}" KC_CACHE="$home/cache" KC_RTC="$home/bin/kc-rtc" LUA_CPATH="$home/lib/lua/?.so;;"
  cd "$home" || exit 1
  command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader
  check 20 devices bin/kc devices
  cat "$out/devices.txt"
  for name in test_device test_arithmetic; do check 60 "$name" "$self" suite "$name"; done
  check 150 contracts_cuda bin/kc run contracts --device cuda --trace "$out/cuda.trace"
  if command -v cc >/dev/null; then
    check 60 pair bin/kc run contracts --device cpu --device cuda --filter 'C-PRC-02/*' --trace "$out/pair.trace"
  else
    echo "skipped: pair of cpu and cuda: no C compiler here"
  fi
  grep -h -A2 -E '^  (violated|unknown|mistrusted)' "$out/contracts_cuda.txt" | head -n 60
  exit "$worst"
}

case "${1:-}" in
  pack | run) "$1" "$2" ;;
  suite) suite "$2" ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 64 ;;
esac

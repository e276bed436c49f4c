#!/usr/bin/env bash
# Builds the program: optimized, with Swift's libraries in it, and stripped.

# A directory with only the static C++ library: a linker that looks here first does not take the shared one,
# whose start takes a third of a millisecond.
library=$(gcc -print-file-name=libstdc++.a)
if [[ ! -f $library ]]; then
  echo 'install the static C++ library of gcc, such as libstdc++-12-dev' >&2
  exit 1
fi
scratch=.build/for-release
mkdir -p "$scratch/libraries"
ln -sf "$library" "$scratch/libraries/"

options=(
  --scratch-path "$scratch"
  -Xswiftc -use-ld=lld
  -Xlinker "-L$scratch/libraries"
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
  # At a fixed address nothing is relocated at the start: 46,000 words otherwise.
  -Xswiftc -Xclang-linker -Xswiftc -no-pie
  -Xlinker -Tworkflows/scripts/release/sections.ld
  -Xlinker --no-eh-frame-hdr
  # Each function in a section of its own, and no other modules than these: the linker drops what is not called.
  -Xswiftc -Xfrontend -Xswiftc -function-sections
  -Xswiftc -Xfrontend -Xswiftc -internalize-at-link
  # Equal functions once, nothing that only other programs could call, no symbols.
  -Xlinker --icf=all
  -Xlinker --no-export-dynamic
  -Xlinker -s
)
# Equal builds also need sources that the compiler does not order by chance: Array(a.reversed()), not a.reversed() where
# an array is wanted, and no loop over an array of literal tuples (Swift 6.3).
# The path of the sources decides the order of a few instructions. So all are built at one path, where that is allowed.
place='mount --bind . /mnt && cd /mnt && exec "$@"'
at=(unshare --map-root-user --mount sh -c "$place" sh)
if ! "${at[@]}" true; then
  echo 'building in place: the program will differ from those built at other paths'
  at=()
fi
"${at[@]}" swift build -c release --product weft --static-swift-stdlib "${options[@]}"

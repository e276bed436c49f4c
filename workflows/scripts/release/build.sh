#!/usr/bin/env bash
# Builds the program: optimized, with Swift's libraries in it, and stripped.

# A directory with only the static C++ library: a linker that looks here first does not take the shared one,
# whose start takes a third of a millisecond.
library=$(gcc -print-file-name=libstdc++.a)
if [[ ! -f $library ]]; then
  echo 'install the static C++ library of gcc, such as libstdc++-12-dev' >&2
  exit 1
fi
mkdir -p .build/static
ln -sf "$library" .build/static/

options=(
  # The same bytes wherever the sources are.
  -Xswiftc -file-prefix-map -Xswiftc "$PWD=."
  -Xcc "-ffile-prefix-map=$PWD=."
  -Xswiftc -use-ld=lld
  -Xlinker -L.build/static
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
  # At a fixed address nothing is relocated at the start: 46,000 words otherwise.
  -Xswiftc -Xclang-linker -Xswiftc -no-pie
  # No tables for unwinding, an eighth of the program.
  -Xlinker -Tworkflows/scripts/release/sections.ld
  -Xlinker --no-eh-frame-hdr
  # Equal functions once, nothing that only other programs could call, no symbols.
  -Xlinker --icf=all
  -Xlinker --no-export-dynamic
  -Xlinker -s
)
swift build -c release --product weft --static-swift-stdlib "${options[@]}"

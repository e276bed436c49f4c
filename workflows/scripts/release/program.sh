#!/usr/bin/env bash
# Copies the program to the directory of the release, and reads its version and the time of the commit.
umask 022
rm -rf "$OUT/weft" "$OUT"/weft-*.tar.gz "$OUT"/weft_*.deb "$OUT/SHA256SUMS"
install -D -m 755 .build/for-release/release/weft "$OUT/weft/bin/weft"
install -D -m 644 -t "$OUT/weft/share/doc/weft" README.md LICENSE

needed=$(objdump -p "$OUT/weft/bin/weft" | sed -n 's/^ *NEEDED *//p')
if grep -v -E '^(libc|libm|ld-linux-[a-z0-9-]+)\.so\.[0-9]+$' <<<"$needed"; then
  echo 'the program needs the libraries above, which a system may not have' >&2
  exit 1
fi

read -r _ version < <("$OUT/weft/bin/weft" version)
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
printf 'version=%s\ntime=%s\n' "$version" "$time" >>"$WEFT_OUTPUT"

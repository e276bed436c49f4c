#!/usr/bin/env bash
# Makes the archive. It has no entries for directories: unpacking it as root leaves their modes alone.
name=weft-$VERSION-linux-$(uname -m)
cd "$OUT"
find weft -type f -print0 | LC_ALL=C sort -z |
  tar -c --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --transform "s,^weft,$name," --no-recursion --null --files-from=- |
  gzip -n9 >"$name.tar.gz"

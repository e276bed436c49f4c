#!/usr/bin/env bash
# Makes the archive. It has no entries for directories: unpacking it as root leaves their modes alone.
name=weft-$VERSION-linux-$(uname -m)
cd "$OUT"
find weft -type f -print0 | LC_ALL=C sort -z |
  tar --null --files-from=- --no-recursion --transform "s,^weft,$name," --mtime="@$SOURCE_DATE_EPOCH" \
    --owner=0 --group=0 --numeric-owner --format=ustar -cf - | gzip -n9 >"$name.tar.gz"

#!/usr/bin/env bash
# Makes a package for Debian and its relatives, with the content of the archive at their places.
if ! command -v dpkg-deb >/dev/null; then
  echo 'no dpkg-deb: no package for Debian'
  exit
fi
umask 022
cd "$OUT"
root=$PWD/package
architecture=$(dpkg --print-architecture)
rm -rf "$root"
mkdir -p "$root/DEBIAN"
cp -r weft "$root/usr"
cd "$root/usr/share"
mv zsh/site-functions zsh/vendor-completions
rm doc/weft/LICENSE

cat >doc/weft/copyright <<COPYRIGHT
Copyright 2026 The Weft authors

Licensed under the Apache License, Version 2.0; on Debian systems it is in
/usr/share/common-licenses/Apache-2.0.
COPYRIGHT
cat >doc/weft/changelog <<CHANGELOG
weft ($VERSION) stable; urgency=medium

  * See the article "Changelog" of the documentation.

 -- The Weft authors <weft@users.noreply.github.com>  $(date -Ru -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
gzip -n9 doc/weft/changelog man/man1/weft.1
mkdir -p lintian/overrides
cat >lintian/overrides/weft <<OVERRIDES
# At a fixed address nothing is relocated at the start.
weft: hardening-no-pie [usr/bin/weft]
OVERRIDES

cd "$root"
libc=$(objdump -T usr/bin/weft | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
# As dpkg-gencontrol counts: whole KiB of each file, and one for anything else.
size=$(find usr -type f -printf '%s\n' -o -printf '1\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
cat >DEBIAN/control <<CONTROL
Package: weft
Version: $VERSION
Architecture: $architecture
Maintainer: The Weft authors <weft@users.noreply.github.com>
Section: utils
Priority: optional
Installed-Size: $size
Depends: libc6 (>= ${libc#GLIBC_})
Recommends: libcurl4t64 | libcurl4
Description: workflow engine for JSON files
 Weft checks a workflow before it starts, runs steps and HTTP calls as soon as
 their dependencies are done, ends everything that it has started, and resumes
 exactly what is not done.
CONTROL
find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums
find . -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

cd ..
name=weft_${VERSION}_$architecture.deb
# With several threads, xz writes other bytes.
DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group -Zxz --build "$root" "$name"
rm -rf "$root"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$name"
fi

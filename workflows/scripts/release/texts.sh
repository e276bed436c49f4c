#!/usr/bin/env bash
# Writes completions and the manual page where programs look for them, under /usr/local for example.
umask 022
cd "$OUT/weft"
mkdir -p share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,man/man1}
bin/weft completions bash >share/bash-completion/completions/weft
bin/weft completions zsh >share/zsh/site-functions/_weft
bin/weft completions fish >share/fish/vendor_completions.d/weft.fish
bin/weft help --man >share/man/man1/weft.1

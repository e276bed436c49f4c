import Testing

@testable import WeftShell

/// The places where an expression is allowed, and the quoting of its variable there.
@Suite struct QuotingTests {
  @Test(
    arguments: [
      ("echo ${{V}}", #"echo "${V}""#),
      ("echo a${{V}}b", #"echo a"${V}"b"#),
      (#"echo "${{V}}""#, #"echo "${V}""#),
      (#"echo "v${{V}}.tgz""#, #"echo "v${V}.tgz""#),
      (#"echo "it's ${{V}}""#, #"echo "it's ${V}""#),
      (#"echo '${{V}}'"#, #"echo ''"${V}"''"#),
      (#"echo 'say "${{V}}"'"#, #"echo 'say "'"${V}"'"'"#),
      (#"echo '\${{V}}'"#, #"echo '\'"${V}"''"#),
      (#"echo '$${{V}}'"#, #"echo '$'"${V}"''"#),
      (#"echo \"${{V}}\""#, #"echo \""${V}"\""#),
      (#"echo \\${{V}}"#, #"echo \\"${V}""#),
      (#"echo "\\${{V}}""#, #"echo "\\${V}""#),
      ("echo $$${{V}}", #"echo $$"${V}""#),
      (#"echo "$x${{V}}""#, #"echo "$x${V}""#),
      (#"echo "${x}${{V}}$y""#, #"echo "${x}${V}$y""#),
      (#"echo "^a$" ${{V}}"#, #"echo "^a$" "${V}""#),
      ("echo ${{A}}${{B}} ${{A}}", #"echo "${A}""${B}" "${A}""#),
      ("x=${{V}}", #"x="${V}""#),
      ("x=a:${{V}} y='${{V}}' env", #"x=a:"${V}" y=''"${V}"'' env"#),
      ("export X=${{V}} Y", #"export X="${V}" Y"#),
      ("echo a > ${{V}} 2>>'${{W}}'", #"echo a > "${V}" 2>>''"${W}"''"#),
      ("cat < ${{V}}", #"cat < "${V}""#),
      ("# ${{V}} isn't\necho ${{V}}", "# ${V} isn't\necho \"${V}\""),
      ("echo a#b ${{V}}", #"echo a#b "${V}""#),
      ("echo a \\\n  ${{V}}", "echo a \\\n  \"${V}\""),
      (#"echo "$(basename ${{V}})""#, #"echo "$(basename "${V}")""#),
      (#"echo "$(echo "${{V}}" '${{V}}')""#, #"echo "$(echo "${V}" ''"${V}"'')""#),
      ("echo $(echo $(echo ${{V}} # ) '\n))", "echo $(echo $(echo \"${V}\" # ) '\n))"),
      (
        "cat <<E\na ${{V}} \"${{V}}\" 'x'\nE\necho ${{V}}",
        "cat <<E\na ${V} \"${V}\" 'x'\nE\necho \"${V}\""
      ),
      ("cat <<-E\n\t${{V}}\n\tE\necho '${{V}}'", "cat <<-E\n\t${V}\n\tE\necho ''\"${V}\"''"),
      (
        "cat <<A <<'B' ${{V}}\n${{V}}\nA\n$( ` '\nB\necho ${{V}}",
        "cat <<A <<'B' \"${V}\"\n${V}\nA\n$( ` '\nB\necho \"${V}\""
      ),
      ("x=$(cat <<E\n${{V}} $(echo ${{V}})\nE\n)", "x=$(cat <<E\n${V} $(echo \"${V}\")\nE\n)"),
      (
        "if test -n ${{V}}; then echo ${{V}}; elif false; then :; else echo '${{V}}'; fi",
        #"if test -n "${V}"; then echo "${V}"; elif false; then :; else echo ''"${V}"''; fi"#
      ),
      (
        "for i in a ${{V}} \"${{V}}\"; do echo ${{V}}; done",
        #"for i in a "${V}" "${V}"; do echo "${V}"; done"#
      ),
      ("for i\ndo echo ${{V}}\ndone", "for i\ndo echo \"${V}\"\ndone"),
      (
        "while read -r l; do echo ${{V}}; done < ${{V}}",
        #"while read -r l; do echo "${V}"; done < "${V}""#
      ),
      ("until [ ${{V}} = b ]; do break; done", #"until [ "${V}" = b ]; do break; done"#),
      (
        "case ${{V}} in (a|b) echo ${{V}};; ${{W}}) ;; *) echo '${{V}}' ; esac; echo ${{V}}",
        #"case "${V}" in (a|b) echo "${V}";; "${W}") ;; *) echo ''"${V}"'' ; esac; echo "${V}""#
      ),
      ("x=$(case a in a) echo ${{V}};; esac)", #"x=$(case a in a) echo "${V}";; esac)"#),
      ("f() { echo \"$1\" ${{V}}; }\nf ${{V}}", "f() { echo \"$1\" \"${V}\"; }\nf \"${V}\""),
      ("f ()\n(\n  echo ${{V}}\n) >x", "f ()\n(\n  echo \"${V}\"\n) >x"),
      (
        "{ echo ${{V}}; } | (cat; echo ${{V}}) && ! echo ${{V}} || echo ${{V}} &",
        #"{ echo "${V}"; } | (cat; echo "${V}") && ! echo "${V}" || echo "${V}" &"#
      ),
      ("sudo -u www systemctl restart ${{V}}", #"sudo -u www systemctl restart "${V}""#),
      ("env A=${{V}} -u B printf '%s' ${{V}}", #"env A="${V}" -u B printf '%s' "${V}""#),
      ("sh -c 'echo \"$1\"' sh ${{V}}", #"sh -c 'echo "$1"' sh "${V}""#),
      (
        "bash -euo pipefail -c 'echo \"$@\"' _ ${{V}}",
        #"bash -euo pipefail -c 'echo "$@"' _ "${V}""#
      ),
      ("python3 -c 'import sys' ${{V}}", #"python3 -c 'import sys' "${V}""#),
      ("python3 tool.py --name ${{V}}", #"python3 tool.py --name "${V}""#),
      ("python3 -m tool ${{V}}", #"python3 -m tool "${V}""#),
      ("python3 tool.py <<E\n${{V}}\nE", "python3 tool.py <<E\n${V}\nE"),
      ("bash -s -- ${{V}} < install.sh", #"bash -s -- "${V}" < install.sh"#),
      ("perl -e 'print @ARGV' -- ${{V}}", #"perl -e 'print @ARGV' -- "${V}""#),
      ("awk -v v=${{V}} '{ print v }' ${{V}}", #"awk -v v="${V}" '{ print v }' "${V}""#),
      ("sed -n 1p -- ${{V}}", #"sed -n 1p -- "${V}""#),
      ("jq --arg v ${{V}} '.v = $v' f.json", #"jq --arg v "${V}" '.v = $v' f.json"#),
      ("ssh -- ${{V}}", #"ssh -- "${V}""#),
      ("ssh -p 22 -- ${{V}} uptime", #"ssh -p 22 -- "${V}" uptime"#),
      (
        "find ${{V}} -name '${{V}}' -exec rm -- {} ${{V}} \\;",
        #"find "${V}" -name ''"${V}"'' -exec rm -- {} "${V}" \;"#
      ),
      ("\"$HOME/bin/tool\" ${{V}}", #""$HOME/bin/tool" "${V}""#),
      ("echo ${x:-a b} ${x#*'}'} \"${#x}\" ${{V}}", #"echo ${x:-a b} ${x#*'}'} "${#x}" "${V}""#),
      ("echo $((1 + (2))) ${{V}}", #"echo $((1 + (2))) "${V}""#),
      (
        "set -eux -o pipefail; set -- ${{V}}; echo \"$@\"",
        #"set -eux -o pipefail; set -- "${V}"; echo "$@""#
      ),
      ("test 1 -lt ${{V}}", #"test 1 -lt "${V}""#),
      ("printf '%s\\n' ${{V}}", #"printf '%s\n' "${V}""#),
      ("echo $'a${{V}}b'", #"echo $'a'"${V}"$'b'"#),
    ] as [(String, String?)])
  func isQuotedForItsPlace(script: String, expected: String?) {
    #expect(QuotedScript(script, .posix).rewritten == expected)
    #expect(QuotedScript(script, .bash).rewritten == expected)
  }

  @Test(
    arguments: [
      (
        #"[[ ${{V}} == a* && ( -n "${{V}}" || ! x =~ ^(a|${{V}})$ ) ]]"#,
        #"[[ "${V}" == a* && ( -n "${V}" || ! x =~ ^(a|"${V}")$ ) ]]"#
      ),
      ("a=(x ${{V}}\n '${{V}}' # c)\n)", "a=(x \"${V}\"\n ''\"${V}\"'' # c)\n)"),
      ("a+=(${{V}}); echo \"${a[@]}\"", #"a+=("${V}"); echo "${a[@]}""#),
      (
        "diff <(sort ${{V}}) --to-file=<(echo '${{V}}')",
        #"diff <(sort "${V}") --to-file=<(echo ''"${V}"'')"#
      ),
      ("grep x <<< ${{V}}", #"grep x <<< "${V}""#),
      ("make &> ${{V}} |& tee ${{V}}", #"make &> "${V}" |& tee "${V}""#),
      (#"echo $'it\'s ${{V}}' ${{V}}"#, #"echo $'it\'s '"${V}"$'' "${V}""#),
      ("function f { echo ${{V}}; }", #"function f { echo "${V}"; }"#),
      (
        "for ((i = 0; i < 3; i++)); do echo ${{V}}; done",
        #"for ((i = 0; i < 3; i++)); do echo "${V}"; done"#
      ),
      ("((x > 1)) && echo ${{V}}", #"((x > 1)) && echo "${V}""#),
      ("time -p echo ${{V}}", #"time -p echo "${V}""#),
    ] as [(String, String?)])
  func isQuotedInBash(script: String, expected: String?) {
    #expect(QuotedScript(script, .bash).rewritten == expected)
    #expect(QuotedScript(script, .posix).rewritten == nil || script.hasPrefix("time"))
  }
}

/// The arguments of a program that the program runs, or passes to one that runs them.
///
/// They are taken from the manual pages. GTFOBins lists the programs that have such arguments: each of its programs is
/// here, among the interpreters or wrappers, or has a reason in `ProgramTableTests`.
struct RunArguments {
  /// One-letter options whose argument is run.
  var letters = ""
  /// One-letter options with other arguments.
  var others = ""
  /// Long options whose argument is run: `--to-command`, `-ex`.
  var words: Words = ""
  /// Options whose argument is run if it has one of these beginnings: `ProxyCommand=` for `ssh -o`. An argument that
  /// begins with a value may have any beginning.
  var settings: [String: Words] = [:]
  /// Beginnings, in any case, of operands that are run: `EXEC:` for `socat`.
  var beginnings: Words = ""
  /// Options whose argument the linker of go reads: a word is data in `-X name=value` there.
  var linkerFlags: Words = ""
  /// Operands that are followed by a command: `npm exec`, `uv run`.
  var commands: Words = ""
  /// Whether its operands are a command: `npx`.
  var isCommand = false
  /// One-letter options whose argument is run only after an operand: `-u` for `git clone`.
  var nestedLetters: [String: String] = [:]
  /// Operands after which operands with one of these beginnings make the next operand run: `git config core.pager less`.
  var nestedKeys: [String: Words] = [:]
  /// Operands after which a program may be started that reads a program from the standard input: `docker run`.
  var starts: Words = ""
  /// The number of operands between such an operand and the command.
  var skipped = 0
  /// Operands that are followed by text for a shell or an interpreter: `adb shell`, `deno eval`.
  var texts: Words = ""
  /// The first operand that is run, with all after it.
  var firstRun: Int?
  /// Whether its standard input is run.
  var readsInput = false
  /// The operand with which it reads its standard input as a program: `crontab -`.
  var inputOperand: String?

  static func named(_ name: String) -> RunArguments? { table[name] }

  /// The arguments of programs, by their names.
  private static let byNames: KeyValuePairs<String, RunArguments> = [
    // Archives and copies
    "tar gtar bsdtar": RunArguments(
      letters: "IF", others: "fCbgHKLNTVX",
      words: """
        --to-command --use-compress-program --use-compress-prog --checkpoint-action
        --rsh-command --rmt-command --info-script --new-volume-script
        """),
    "cpio": RunArguments(others: "CEFHIMORW", words: "--rsh-command"),
    "zip": RunArguments(
      others: "bniotPsxz", words: "-TT --unzip-command"),
    "rsync": RunArguments(letters: "e", others: "BMTf", words: "--rsh --rsync-path"),
    "borg restic": RunArguments(words: "--rsh --password-command --remote-path"),
    "split": RunArguments(others: "abCln", words: "--filter"),
    "sort": RunArguments(others: "kotST", words: "--compress-program"),
    "logrotate": RunArguments(letters: "m", others: "sl", words: "--mail"),
    // Remote shells
    "scp sftp": RunArguments(
      letters: "S", others: "BbcDFiJlPRsX", settings: remote),
    "sshfs": RunArguments(settings: ["-o": "ssh_command"]),
    "sshuttle": RunArguments(letters: "e", words: "--ssh-cmd --ssh"),
    "check_by_ssh": RunArguments(letters: "C", settings: remote),
    "pdsh dsh clush pssh parallel-ssh": RunArguments(others: "wxglfutRSMhpOocei", firstRun: 0),
    "mosh": RunArguments(words: "--ssh --server --client", firstRun: 1),
    "plink dbclient autossh rlogin": RunArguments(letters: "J", firstRun: 1),
    "adb": RunArguments(others: "sHPLt", texts: "shell exec-out exec-in"),
    "ansible": RunArguments(
      letters: "a", others: "bBcefiIlMmPTtu", words: "--args --ssh-common-args"),
    "ansible-playbook": RunArguments(
      words: """
        --ssh-common-args --ssh-extra-args --sftp-extra-args --scp-extra-args
        """),
    "vagrant gcloud": RunArguments(letters: "c", words: "--command"),
    "heroku flyctl fly": RunArguments(letters: "C", words: "--command", commands: "run"),
    // Connections
    "ncat nc netcat": RunArguments(
      letters: "ce", words: "--sh-exec --exec --lua-exec"),
    "socat": RunArguments(beginnings: "exec: system: shell:"),
    "lftp": RunArguments(letters: "ce", others: "fpus", readsInput: true),
    "ftp sftp-server ncftp psftp smbclient telnet": RunArguments(letters: "c", readsInput: true),
    "wget wget2": RunArguments(words: "--use-askpass"),
    "aria2c": RunArguments(
      words: """
        --on-download-complete --on-download-error --on-download-start --on-download-stop
        --on-download-pause --on-bt-download-complete
        """),
    "yt-dlp youtube-dl": RunArguments(words: "--exec --exec-before-download --netrc-cmd"),
    "openvpn": RunArguments(
      words: """
        --up --down --ipchange --route-up --route-pre-down --tls-verify
        --auth-user-pass-verify --client-connect --client-disconnect --learn-address
        """),
    "dnsmasq": RunArguments(words: "--conf-script --dhcp-script"),
    "dhclient": RunArguments(words: "-sf"),
    "tcpdump": RunArguments(letters: "z", others: "BcCFGijmMrsTVwWyE"),
    "certbot": RunArguments(
      words: """
        --pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook
        --manual-cleanup-hook
        """),
    "busctl": RunArguments(settings: ["--address": "unixexec:"]),
    // Version control
    "git": RunArguments(
      others: "C",
      words: """
        --upload-pack --receive-pack --exec --exec-path --upload-archive --extcmd
        --index-filter --tree-filter --msg-filter --env-filter --commit-filter
        --parent-filter --tag-name-filter --subdirectory-filter-command --textconv-cmd
        --open-files-in-pager --smtp-server --sendmail-cmd --to-cmd --cc-cmd
        """,
      settings: ["-c": configuration, "--config": configuration, "--config-env": configuration],
      nestedLetters: ["clone": "u", "rebase": "x", "difftool": "x", "grep": "O"],
      nestedKeys: ["config": configuration]),
    "hg": RunArguments(
      letters: "e", words: "--ssh --remotecmd",
      settings: [
        "--config": "alias. hooks. extensions. ui. pager. merge-tools. auth."
      ]),
    // Programs that start others
    "tmux tmate": RunArguments(
      letters: "c", others: "Lf",
      texts: """
        new-session new new-window neww split-window splitw respawn-pane respawn-window
        run-shell run if-shell if pipe-pane send-keys send set-hook bind-key bind
        source-file display-popup popup
        """),
    "screen": RunArguments(letters: "X", others: "cehpsStT", firstRun: 0),
    "watchexec": RunArguments(others: "fewidsrjo", firstRun: 0),
    "nodemon": RunArguments(letters: "x", words: "--exec"),
    "hyperfine": RunArguments(
      letters: "pc", others: "wrmMPLnu",
      words: "--prepare --cleanup --setup --conclude --reference --shell",
      firstRun: 0),
    "concurrently mispipe": RunArguments(firstRun: 0),
    "crontab": RunArguments(others: "u", inputOperand: "-"),
    "start-stop-daemon": RunArguments(
      letters: "xas", others: "nucgpdrNIPkR", words: "--exec --startas"),
    "fzf": RunArguments(words: "--bind --preview --execute --history-command --with-shell"),
    "xdotool": RunArguments(commands: "exec"),
    "scrot": RunArguments(letters: "e", words: "--exec"),
    "plymouth": RunArguments(words: "--command"),
    "cdist": RunArguments(letters: "s", words: "--shell"),
    "ip": RunArguments(commands: "exec", skipped: 1),
    "systemctl": RunArguments(settings: ["-p": "exec", "--property": "exec"]),
    "sysctl": RunArguments(beginnings: "kernel.core_pattern kernel.modprobe"),
    "dmsetup": RunArguments(words: "--exec"),
    "service": RunArguments(firstRun: 0),
    "mail mailx": RunArguments(words: "--exec"),
    "procmail": RunArguments(firstRun: 0),
    "xdg-user-dir acr csvtool": RunArguments(firstRun: 0),
    "man": RunArguments(letters: "HP", words: "--html --pager --preprocessor"),
    "enscript": RunArguments(letters: "I", words: "--filter"),
    "zic": RunArguments(letters: "y"),
    "perlbug bashbug": RunArguments(letters: "e"),
    "ksu": RunArguments(letters: "e"),
    "sqlmap": RunArguments(words: "--eval"),
    "check_ssl_cert": RunArguments(words: "--grep-bin --openssl --curl-bin"),
    "wg-quick neofetch fastfetch": RunArguments(words: "--config"),
    "agetty": RunArguments(letters: "l", words: "--login-program"),
    // Package managers and the programs they start
    "npm": RunArguments(letters: "c", words: "--call --script-shell", commands: "exec x"),
    "npx bunx pnpx": RunArguments(letters: "c", others: "pw", words: "--call", isCommand: true),
    "pnpm": RunArguments(letters: "c", commands: "exec dlx"),
    "yarn": RunArguments(commands: "exec dlx"),
    "bundle bundler": RunArguments(commands: "exec"),
    "gem": RunArguments(letters: "e", words: "--editor"),
    "poetry uv pipenv pdm hatch rye conda mamba micromamba pipx": RunArguments(commands: "run"),
    "cabal stack rustup": RunArguments(commands: "exec"),
    "direnv mise asdf rbenv pyenv nodenv aws-vault op dotenv task codex": RunArguments(
      commands: "exec execute run"),
    "nix": RunArguments(letters: "c", words: "--command --expr", texts: "eval"),
    "nix-shell": RunArguments(words: "--run --command --expr -E"),
    "nix-build nix-instantiate": RunArguments(words: "--expr -E"),
    "apt-get apt aptitude": RunArguments(settings: [
      "-o": "apt:: dpkg:: acquire:: dir:: binary::",
      "--option": "apt:: dpkg:: acquire:: dir:: binary::",
    ]),
    "rpm rpmdb rpmquery rpmverify rpmbuild": RunArguments(
      letters: "E", words: "--eval --pipe --define"),
    "dnf yum zypper": RunArguments(settings: ["--setopt": "pluginpath plugins"]),
    "pip pip3": RunArguments(words: "--editor"),
    "composer": RunArguments(commands: "exec"),
    "genie": RunArguments(letters: "c", words: "--command"),
    "capsh": RunArguments(texts: "-- =="),
    "at batch": RunArguments(others: "fqt", readsInput: true),
    // Compilers and builders
    "gcc g++ cc c89 c99 c++ cpp": RunArguments(
      others: "oIDULlxTu", words: "-wrapper -fplugin -fuse-ld -B"),
    "clang clang++": RunArguments(others: "oIDULlxTu", words: "-fplugin -load"),
    "swift": RunArguments(letters: "e"),
    "ghc": RunArguments(letters: "e", words: "-pgmF -pgmP -pgmL -F"),
    "rustc rustdoc": RunArguments(settings: [
      "-C": "linker link-arg", "--codegen": "linker link-arg",
    ]),
    "go": RunArguments(
      words: """
        -exec -toolexec -ldflags -gcflags -vettool --exec --toolexec --ldflags --gcflags
        --vettool
        """,
      linkerFlags: "-ldflags --ldflags"),
    "cmake": RunArguments(settings: [
      "-D": """
      cmake_c_compiler cmake_cxx_compiler cmake_make_program cmake_project_
      """
    ]),
    "latex pdflatex xelatex lualatex tex pdftex luatex xetex latexmk": RunArguments(
      letters: "e", words: "-pdflatex -latex -lualatex -xelatex", firstRun: 0),
    "dvips pandoc": RunArguments(
      letters: "FL", words: "--filter --lua-filter --pdf-engine"),
    "msgfilter": RunArguments(firstRun: 0),
    // Tools with a language of their own
    "gdb": RunArguments(
      others: "cdps",
      words: """
        -x -ex -iex -ix --eval-command --init-eval-command -eval-command --command
        """),
    "lldb": RunArguments(letters: "oOkKsS", words: "--one-line --one-line-before-file"),
    "vi vim nvim view vimdiff ex rview rvim gvim vimx nvi": RunArguments(
      letters: "cSsu", others: "tTqiWwrLd", words: "--cmd --remote-expr --remote-send",
      beginnings: "+", readsInput: true),
    "emacs emacsclient": RunArguments(
      letters: "fl", others: "du",
      words: "--eval -eval --execute -execute --funcall -funcall --load -e"),
    "nano pico": RunArguments(letters: "s", others: "CJOQTXYcr", words: "--speller"),
    "less more most pg": RunArguments(beginnings: "+"),
    "ed red": RunArguments(others: "p", beginnings: "!", readsInput: true),
    "expect": RunArguments(letters: "cb", readsInput: true),
    "deno": RunArguments(texts: "eval"),
    "R": RunArguments(letters: "e", others: "fgd", readsInput: true),
    "octave octave-cli octave-gui": RunArguments(words: "--eval", readsInput: true),
    "matlab": RunArguments(words: "-r -batch", readsInput: true),
    "erl": RunArguments(words: "-eval -run -s"),
    "elixir iex": RunArguments(letters: "er", words: "--eval --rpc-eval --erl"),
    "escript groovy scala kotlin jrunscript jjs slsh": RunArguments(
      letters: "e", others: "lfcp", words: "-e", readsInput: true),
    "clojure clj": RunArguments(letters: "eX", words: "--eval"),
    "sbcl ccl clisp ecl": RunArguments(letters: "xe", words: "--eval -eval", readsInput: true),
    "guile gosh racket": RunArguments(letters: "ce", words: "--eval", readsInput: true),
    "gnuplot maxima ginsh": RunArguments(letters: "e", words: "--batch-string", readsInput: true),
    "bpftrace": RunArguments(letters: "ec", others: "lop"),
    "perf": RunArguments(commands: "stat record trace"),
    "puppet": RunArguments(letters: "e", words: "--execute"),
    "knife": RunArguments(letters: "E", words: "--exec"),
    "rake": RunArguments(letters: "eEp", words: "--execute --execute-print --execute-continue"),
    "rg": RunArguments(words: "--pre --hostname-bin"),
    "exiftool": RunArguments(words: "-if -p -api -userParam"),
    "gimp": RunArguments(letters: "b", words: "--batch"),
    "cowsay cowthink facter pdb byebug ansible-test easyrsa": RunArguments(
      letters: "f", words: "--custom-dir --vars"),
    "nmap": RunArguments(words: "--script --script-args"),
    "tshark wireshark": RunArguments(letters: "X"),
    "duckdb": RunArguments(letters: "cs", words: "-c -s -cmd", firstRun: 1),
    "mongosh mongo redis-cli": RunArguments(words: "--eval"),
    "yq dasel": RunArguments(others: "op", firstRun: 0),
    "jshell ghci irb pry dotnet tclsh wish m4 debugfs tdbtool minicom runscript": RunArguments(
      readsInput: true),
    "hping3 jtag scanmem bconsole asterisk tasksh pic": RunArguments(readsInput: true),
    "bee": RunArguments(texts: "eval php-eval"),
    "drush": RunArguments(texts: "eval php:eval php-eval ev"),
    "wp": RunArguments(words: "--exec", texts: "eval"),
    "rails": RunArguments(texts: "runner r"),
    "snap flatpak": RunArguments(words: "--command", commands: "run"),
    "docker podman nerdctl crictl": RunArguments(
      others: "uewH", commands: "exec", starts: "run", skipped: 1),
    "kubectl oc": RunArguments(others: "cnf", commands: "exec", starts: "run", skipped: 1),
    "lxc ctr": RunArguments(commands: "exec", skipped: 1),
    "pwsh powershell": RunArguments(
      texts: """
        -c -C -Command -command -cwa -CommandWithArgs -e -ec -enc -EncodedCommand
        -encodedcommand
        """),
    "cmd cmd.exe": RunArguments(texts: "/c /C /k /K /r /R"),
  ]

  private static let table: [String: RunArguments] = {
    var table: [String: RunArguments] = [:]
    for (names, places) in byNames { for name in Words(names).all { table[name] = places } }
    return table
  }()

  /// Options of `ssh`, whose settings name programs.
  private static let remote: [String: Words] = [
    "-o": """
    proxycommand localcommand knownhostscommand match include pkcs11provider
    """
  ]

  /// Settings of git that name programs, or files with such settings.
  private static let configuration: Words = """
    alias. core.pager core.editor core.sshcommand core.askpass core.hookspath
    core.fsmonitor core.gitproxy core.alternaterefscommand credential. diff. difftool.
    mergetool. merge. filter. pager. gpg. sequence.editor sendemail. protocol.
    uploadpack. receive. remote. ssh. browser. man. interactive.difffilter include.path
    includeif. trailer. url. init.templatedir submodule. web.browser instaweb. guitool.
    imap.tunnel notes.
    """
}

/// A set of words, written as one text.
struct Words: ExpressibleByStringLiteral, Sendable {
  let all: Set<String>

  init(_ text: String) { all = Set(text.split(whereSeparator: \.isWhitespace).map(String.init)) }

  init(stringLiteral text: String) { self.init(text) }

  func contains(_ word: String) -> Bool { all.contains(word) }
}

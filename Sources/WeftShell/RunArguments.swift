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
  var words: Set<String> = []
  /// Options whose argument is run if it has one of these beginnings: `ProxyCommand=` for `ssh -o`. An argument that
  /// begins with a value may have any beginning.
  var settings: [String: Set<String>] = [:]
  /// Beginnings, in any case, of operands that are run: `EXEC:` for `socat`.
  var beginnings: [String] = []
  /// Operands that are followed by a command: `npm exec`, `uv run`.
  var commands: Set<String> = []
  /// One-letter options whose argument is run only after an operand: `-u` for `git clone`.
  var nestedLetters: [String: String] = [:]
  /// The number of operands between such an operand and the command.
  var skipped = 0
  /// Operands that are followed by text for a shell or an interpreter: `adb shell`, `deno eval`.
  var texts: Set<String> = []
  /// The first operand that is run, with all after it.
  var firstRun: Int?
  /// Whether its standard input is run.
  var readsInput = false
  /// The operand with which it reads its standard input as a program: `crontab -`.
  var inputOperand: String?

  static func named(_ name: String) -> RunArguments? { table[name] }

  private static let table: [String: RunArguments] = {
    var table: [String: RunArguments] = [:]
    func add(_ names: String, _ places: RunArguments) {
      for name in names.split(separator: " ") { table[String(name)] = places }
    }
    // Archives and copies
    add(
      "tar gtar bsdtar",
      RunArguments(
        letters: "IF", others: "fCbgHKLNTVX",
        words: [
          "--to-command", "--use-compress-program", "--use-compress-prog", "--checkpoint-action",
          "--rsh-command", "--rmt-command", "--info-script", "--new-volume-script",
        ]))
    add("cpio", RunArguments(others: "CEFHIMORW", words: ["--rsh-command"]))
    add(
      "zip",
      RunArguments(
        others: "bniotPsxz", words: ["-TT", "--unzip-command"]))
    add("rsync", RunArguments(letters: "e", others: "BMTf", words: ["--rsh", "--rsync-path"]))
    add("borg restic", RunArguments(words: ["--rsh", "--password-command", "--remote-path"]))
    add("split", RunArguments(others: "abCln", words: ["--filter"]))
    add("sort", RunArguments(others: "kotST", words: ["--compress-program"]))
    add("logrotate", RunArguments(letters: "m", others: "sl", words: ["--mail"]))
    // Remote shells
    let remote: [String: Set<String>] = [
      "-o": [
        "proxycommand", "localcommand", "knownhostscommand", "match", "include", "pkcs11provider",
      ]
    ]
    add(
      "scp sftp",
      RunArguments(
        letters: "S", others: "BbcDFiJlPRsX", settings: remote))
    add("sshfs", RunArguments(settings: ["-o": ["ssh_command"]]))
    add("sshuttle", RunArguments(letters: "e", words: ["--ssh-cmd", "--ssh"]))
    add("check_by_ssh", RunArguments(letters: "C", settings: remote))
    add("pdsh dsh clush pssh parallel-ssh", RunArguments(others: "wxglfutRSMhpOocei", firstRun: 0))
    add("mosh", RunArguments(words: ["--ssh", "--server", "--client"], firstRun: 1))
    add("plink dbclient autossh rlogin", RunArguments(letters: "J", firstRun: 1))
    add("adb", RunArguments(others: "sHPLt", texts: ["shell", "exec-out", "exec-in"]))
    add(
      "ansible",
      RunArguments(letters: "a", others: "bBcefiIlMmPTtu", words: ["--args", "--ssh-common-args"]))
    add(
      "ansible-playbook",
      RunArguments(words: [
        "--ssh-common-args", "--ssh-extra-args", "--sftp-extra-args", "--scp-extra-args",
      ]))
    add(
      "vagrant gcloud", RunArguments(letters: "c", words: ["--command"]))
    add("heroku flyctl fly", RunArguments(letters: "C", words: ["--command"], commands: ["run"]))
    // Connections
    add(
      "ncat nc netcat",
      RunArguments(
        letters: "ce", words: ["--sh-exec", "--exec", "--lua-exec"]))
    add(
      "socat", RunArguments(beginnings: ["exec:", "system:", "shell:"]))
    add("lftp", RunArguments(letters: "ce", others: "fpus", readsInput: true))
    add(
      "ftp sftp-server ncftp psftp smbclient telnet", RunArguments(letters: "c", readsInput: true))
    add("wget wget2", RunArguments(words: ["--use-askpass"]))
    add(
      "aria2c",
      RunArguments(words: [
        "--on-download-complete", "--on-download-error", "--on-download-start",
        "--on-download-stop", "--on-download-pause", "--on-bt-download-complete",
      ]))
    add(
      "yt-dlp youtube-dl", RunArguments(words: ["--exec", "--exec-before-download", "--netrc-cmd"]))
    add(
      "openvpn",
      RunArguments(words: [
        "--up", "--down", "--ipchange", "--route-up", "--route-pre-down", "--tls-verify",
        "--auth-user-pass-verify", "--client-connect", "--client-disconnect", "--learn-address",
      ]))
    add("dnsmasq", RunArguments(words: ["--conf-script", "--dhcp-script"]))
    add("dhclient", RunArguments(words: ["-sf"]))
    add("tcpdump", RunArguments(letters: "z", others: "BcCFGijmMrsTVwWyE"))
    add(
      "certbot",
      RunArguments(words: [
        "--pre-hook", "--post-hook", "--deploy-hook", "--renew-hook", "--manual-auth-hook",
        "--manual-cleanup-hook",
      ]))
    add("busctl", RunArguments(settings: ["--address": ["unixexec:"]]))
    // Version control
    let configuration: Set<String> = [
      "alias.", "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.hookspath",
      "core.fsmonitor", "core.gitproxy", "core.alternaterefscommand", "credential.", "diff.",
      "difftool.", "mergetool.", "merge.", "filter.", "pager.", "gpg.", "sequence.editor",
      "sendemail.", "protocol.", "uploadpack.", "receive.", "remote.", "ssh.", "browser.", "man.",
      "interactive.difffilter", "include.path", "includeif.", "trailer.", "url.",
      "init.templatedir",
      "submodule.", "web.browser", "instaweb.", "guitool.", "imap.tunnel", "notes.",
    ]
    add(
      "git",
      RunArguments(
        others: "C",
        words: [
          "--upload-pack", "--receive-pack", "--exec", "--exec-path", "--upload-archive",
          "--extcmd",
          "--index-filter", "--tree-filter", "--msg-filter", "--env-filter", "--commit-filter",
          "--parent-filter", "--tag-name-filter", "--subdirectory-filter-command", "--textconv-cmd",
          "--open-files-in-pager", "--smtp-server", "--sendmail-cmd", "--to-cmd", "--cc-cmd",
        ],
        settings: ["-c": configuration, "--config": configuration, "--config-env": configuration],
        nestedLetters: ["clone": "u", "rebase": "x", "difftool": "x", "grep": "O"]))
    add(
      "hg",
      RunArguments(
        letters: "e", words: ["--ssh", "--remotecmd"],
        settings: [
          "--config": ["alias.", "hooks.", "extensions.", "ui.", "pager.", "merge-tools.", "auth."]
        ]))
    // Programs that start others
    add(
      "tmux tmate",
      RunArguments(
        letters: "c", others: "Lf",
        texts: [
          "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane",
          "respawn-window", "run-shell", "run", "if-shell", "if", "pipe-pane", "send-keys", "send",
          "set-hook", "bind-key", "bind", "source-file", "display-popup", "popup",
        ]))
    add("screen", RunArguments(letters: "X", others: "cehpsStT", firstRun: 0))
    add("watchexec", RunArguments(others: "fewidsrjo", firstRun: 0))
    add("nodemon", RunArguments(letters: "x", words: ["--exec"]))
    add(
      "hyperfine",
      RunArguments(
        letters: "pc", others: "wrmMPLnu",
        words: ["--prepare", "--cleanup", "--setup", "--conclude", "--reference", "--shell"],
        firstRun: 0))
    add("concurrently mispipe", RunArguments(firstRun: 0))
    add("crontab", RunArguments(others: "u", inputOperand: "-"))
    add(
      "start-stop-daemon",
      RunArguments(
        letters: "xas", others: "nucgpdrNIPkR", words: ["--exec", "--startas"]))
    add(
      "fzf",
      RunArguments(words: [
        "--bind", "--preview", "--execute", "--history-command", "--with-shell",
      ]))
    add("xdotool", RunArguments(commands: ["exec"]))
    add("scrot", RunArguments(letters: "e", words: ["--exec"]))
    add("plymouth", RunArguments(words: ["--command"]))
    add("cdist", RunArguments(letters: "s", words: ["--shell"]))
    add("ip", RunArguments(commands: ["exec"], skipped: 1))
    add("systemctl", RunArguments(settings: ["-p": ["exec"], "--property": ["exec"]]))
    add("sysctl", RunArguments(beginnings: ["kernel.core_pattern", "kernel.modprobe"]))
    add("dmsetup", RunArguments(words: ["--exec"]))
    add("service", RunArguments(firstRun: 0))
    add("mail mailx", RunArguments(words: ["--exec"]))
    add("procmail", RunArguments(firstRun: 0))
    add("xdg-user-dir acr csvtool", RunArguments(firstRun: 0))
    add("man", RunArguments(letters: "HP", words: ["--html", "--pager", "--preprocessor"]))
    add("enscript", RunArguments(letters: "I", words: ["--filter"]))
    add("zic", RunArguments(letters: "y"))
    add("perlbug bashbug", RunArguments(letters: "e"))
    add("ksu", RunArguments(letters: "e"))
    add("sqlmap", RunArguments(words: ["--eval"]))
    add("check_ssl_cert", RunArguments(words: ["--grep-bin", "--openssl", "--curl-bin"]))
    add("wg-quick neofetch fastfetch", RunArguments(words: ["--config"]))
    add("agetty", RunArguments(letters: "l", words: ["--login-program"]))
    // Package managers and the programs they start
    add(
      "npm",
      RunArguments(letters: "c", words: ["--call", "--script-shell"], commands: ["exec", "x"]))
    add("npx bunx pnpx", RunArguments(letters: "c", others: "p", words: ["--call"], firstRun: 0))
    add("pnpm", RunArguments(letters: "c", commands: ["exec", "dlx"]))
    add("yarn", RunArguments(commands: ["exec", "dlx"]))
    add("bundle bundler", RunArguments(commands: ["exec"]))
    add("gem", RunArguments(letters: "e", words: ["--editor"]))
    add(
      "poetry uv pipenv pdm hatch rye conda mamba micromamba pipx", RunArguments(commands: ["run"]))
    add("cabal stack rustup", RunArguments(commands: ["exec"]))
    add(
      "direnv mise asdf rbenv pyenv nodenv aws-vault op dotenv task codex",
      RunArguments(
        commands: ["exec", "execute", "run"]))
    add("nix", RunArguments(letters: "c", words: ["--command", "--expr"], texts: ["eval"]))
    add("nix-shell", RunArguments(words: ["--run", "--command", "--expr", "-E"]))
    add("nix-build nix-instantiate", RunArguments(words: ["--expr", "-E"]))
    add(
      "apt-get apt aptitude",
      RunArguments(settings: [
        "-o": ["apt::", "dpkg::", "acquire::", "dir::", "binary::"],
        "--option": ["apt::", "dpkg::", "acquire::", "dir::", "binary::"],
      ]))
    add(
      "rpm rpmdb rpmquery rpmverify rpmbuild",
      RunArguments(
        letters: "E", words: ["--eval", "--pipe", "--define"]))
    add("dnf yum zypper", RunArguments(settings: ["--setopt": ["pluginpath", "plugins"]]))
    add("pip pip3", RunArguments(words: ["--editor"]))
    add("composer", RunArguments(commands: ["exec"]))
    add("genie", RunArguments(letters: "c", words: ["--command"]))
    add("capsh", RunArguments(texts: ["--", "=="]))
    add("at batch", RunArguments(others: "fqt", readsInput: true))
    // Compilers and builders
    add(
      "gcc g++ cc c89 c99 c++ cpp",
      RunArguments(
        others: "oIDULlxTu", words: ["-wrapper", "-fplugin", "-fuse-ld", "-B"]))
    add("clang clang++", RunArguments(others: "oIDULlxTu", words: ["-fplugin", "-load"]))
    add("swift", RunArguments(letters: "e"))
    add("ghc", RunArguments(letters: "e", words: ["-pgmF", "-pgmP", "-pgmL", "-F"]))
    add(
      "rustc rustdoc",
      RunArguments(settings: ["-C": ["linker", "link-arg"], "--codegen": ["linker", "link-arg"]]))
    add("go", RunArguments(words: ["-exec", "-toolexec", "-ldflags", "-gcflags", "-vettool"]))
    add(
      "cmake",
      RunArguments(settings: [
        "-D": ["cmake_c_compiler", "cmake_cxx_compiler", "cmake_make_program", "cmake_project_"]
      ]))
    add(
      "latex pdflatex xelatex lualatex tex pdftex luatex xetex latexmk",
      RunArguments(
        letters: "e", words: ["-pdflatex", "-latex", "-lualatex", "-xelatex"], firstRun: 0))
    add(
      "dvips pandoc",
      RunArguments(
        letters: "FL", words: ["--filter", "--lua-filter", "--pdf-engine"]))
    add("msgfilter", RunArguments(firstRun: 0))
    // Tools with a language of their own
    add(
      "gdb",
      RunArguments(
        others: "cdps",
        words: [
          "-x", "-ex", "-iex", "-ix", "--eval-command", "--init-eval-command", "-eval-command",
          "--command",
        ]))
    add("lldb", RunArguments(letters: "oOkKsS", words: ["--one-line", "--one-line-before-file"]))
    add(
      "vi vim nvim view vimdiff ex rview rvim gvim vimx nvi",
      RunArguments(
        letters: "cSsu", others: "tTqiWwrLd", words: ["--cmd", "--remote-expr", "--remote-send"],
        beginnings: ["+"]))
    add(
      "emacs emacsclient",
      RunArguments(
        letters: "fl", others: "du",
        words: [
          "--eval", "-eval", "--execute", "-execute", "--funcall", "-funcall", "--load", "-e",
        ]))
    add("nano pico", RunArguments(letters: "s", others: "CJOQTXYcr", words: ["--speller"]))
    add("less more most pg", RunArguments(beginnings: ["+"]))
    add("ed red", RunArguments(others: "p", readsInput: true))
    add("expect", RunArguments(letters: "cb", readsInput: true))
    add("deno", RunArguments(texts: ["eval"]))
    add("R", RunArguments(letters: "e", others: "fgd", readsInput: true))
    add("octave octave-cli octave-gui", RunArguments(words: ["--eval"], readsInput: true))
    add("matlab", RunArguments(words: ["-r", "-batch"], readsInput: true))
    add("erl", RunArguments(words: ["-eval", "-run", "-s"]))
    add("elixir iex", RunArguments(letters: "er", words: ["--eval", "--rpc-eval", "--erl"]))
    add(
      "escript groovy scala kotlin jrunscript jjs slsh",
      RunArguments(letters: "e", others: "lfcp", words: ["-e"], readsInput: true))
    add("clojure clj", RunArguments(letters: "eX", words: ["--eval"]))
    add(
      "sbcl ccl clisp ecl",
      RunArguments(letters: "xe", words: ["--eval", "-eval"], readsInput: true))
    add("guile gosh racket", RunArguments(letters: "ce", words: ["--eval"], readsInput: true))
    add(
      "gnuplot maxima ginsh",
      RunArguments(letters: "e", words: ["--batch-string"], readsInput: true))
    add("bpftrace", RunArguments(letters: "ec", others: "lop"))
    add("perf", RunArguments(commands: ["stat", "record", "trace"]))
    add("puppet", RunArguments(letters: "e", words: ["--execute"]))
    add("knife", RunArguments(letters: "E", words: ["--exec"]))
    add(
      "rake",
      RunArguments(letters: "eEp", words: ["--execute", "--execute-print", "--execute-continue"]))
    add("exiftool", RunArguments(words: ["-if", "-p", "-api", "-userParam"]))
    add("gimp", RunArguments(letters: "b", words: ["--batch"]))
    add(
      "cowsay cowthink facter pdb byebug ansible-test easyrsa",
      RunArguments(letters: "f", words: ["--custom-dir", "--vars"]))
    add("nmap", RunArguments(words: ["--script", "--script-args"]))
    add("tshark wireshark", RunArguments(letters: "X"))
    add("duckdb", RunArguments(letters: "cs", words: ["-c", "-s", "-cmd"], firstRun: 1))
    add("mongosh mongo redis-cli", RunArguments(words: ["--eval"]))
    add("yq dasel", RunArguments(others: "op", firstRun: 0))
    add(
      "jshell ghci irb pry dotnet tclsh wish m4 debugfs tdbtool minicom runscript hping3 jtag scanmem bconsole asterisk tasksh pic",
      RunArguments(readsInput: true))
    add("bee", RunArguments(texts: ["eval", "php-eval"]))
    add("drush", RunArguments(texts: ["eval", "php:eval", "php-eval", "ev"]))
    add("wp", RunArguments(words: ["--exec"], texts: ["eval"]))
    add("rails", RunArguments(texts: ["runner", "r"]))
    add("snap flatpak", RunArguments(words: ["--command"], commands: ["run"]))
    add(
      "docker podman nerdctl crictl", RunArguments(others: "uewH", commands: ["exec"], skipped: 1))
    add("kubectl oc", RunArguments(others: "cnf", commands: ["exec"], skipped: 1))
    add("lxc ctr", RunArguments(commands: ["exec"], skipped: 1))
    add(
      "pwsh powershell",
      RunArguments(texts: [
        "-c", "-C", "-Command", "-command", "-cwa", "-CommandWithArgs", "-e", "-ec", "-enc",
        "-EncodedCommand", "-encodedcommand",
      ]))
    add("cmd cmd.exe", RunArguments(texts: ["/c", "/C", "/k", "/K", "/r", "/R"]))
    return table
  }()
}

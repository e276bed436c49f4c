import Testing

@testable import WeftShell

/// The tables of programs that run their arguments, compared with an independent list.
@Suite struct ProgramTableTests {
  /// The programs that GTFOBins lists with the functions "shell", "command", "inherit" or "file-write", or as an alias
  /// of such a program (gtfobins.github.io, April 2026).
  static let listed = """
    R aa-exec acr agetty ansible-playbook ansible-test aoss apport-cli apt apt-get aptitude
    arch-nspawn aria2c arj ash asterisk at autoconf autoheader autoreconf awk aws bash
    bashbug batcat bconsole bee borg bpftrace bundle bundler busctl busybox byebug c89 c99
    cabal capsh cargo cc cdist certbot check_by_ssh check_log check_ssl_cert choom chroot
    chrt clisp cmake cobc codex composer cowsay cowthink cp cpan cpio cpulimit crash crontab
    csh csplit csvtool ctr curl dash dc dd debugfs dhclient distcc dmesg dmidecode dmsetup
    dnf dnsmasq doas docker dos2unix dosbox dotnet dpkg dstat dvips easy_install easyrsa eb
    ed elvish emacs enscript env ex exiftool expect facter fail2ban-client fastfetch find
    firejail fish flock forge ftp fzf g++ gawk gcc gcloud gdb gem genie ghc ghci gimp ginsh
    git gnuplot go grc gtester guile hashcat hd hg hping3 iconv iftop ionice ip
    iptables-save irb ispell java jjs joe journalctl jrunscript jshell jtag julia knife ksh
    ksu kubectl lastb latex latexmk ld.so less lftp loginctl logrotate logsave ltrace lua
    lualatex luatex lwp-download lxd m4 mail make man mawk minicom more mosh-server
    msfconsole msgfilter multitime mv mypy mysql nano nawk ncdu ncftp needrestart neofetch
    nice nmap node nohup npm nroff nsenter nvim octave opencode openssl openvpn openvt opkg
    pandoc pdb pdflatex pdftex perf perl perlbug pexec pg php pic pico pidstat pip pipx
    pkexec pkg plymouth podman poetry posh procmail pry psftp psql puppet pwsh python rake
    ranger rc red redis restic rlwrap rpm rpmdb rpmquery rpmverify rsync rsyslogd rtorrent
    ruby run-mailcap run-parts runscript rustc rustdoc rustup rview rvim sash scanmem scp
    screen script scrot sed service setarch setlock sftp sg shred shuf slsh smbclient snap
    socat softlimit sort split sqlite3 sqlmap ssh ssh-agent ssh-copy-id sshfs sshpass
    sshuttle start-stop-daemon stdbuf strace su sudo sysctl systemctl systemd-resolve
    systemd-run tar task taskset tasksh tclsh tcpdump tcsh tdbtool tee telnet tex time
    timedatectl timeout tmate tmux top torify torsocks tsc tshark unshare
    update-alternatives uv vagrant valgrind varnishncsa vi view vigr vim vimdiff vipw virsh
    volatility watch wg-quick wget wireshark wish xargs xdg-user-dir xdotool xelatex xetex
    xxd yarn yash yt-dlp yum zathura zic zip zless zsh zypper
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  /// A command for each of them, with a value where the program would run it.
  static let rejected: [(program: String, line: String)] = [
    ("R", "R --no-save -e ${{V}}"),
    ("aa-exec", "aa-exec -p x ${{V}}"),
    ("agetty", "agetty -l ${{V}} -o x tty"),
    ("aoss", "aoss ${{V}}"),
    ("apt", "apt update -o APT::Update::Pre-Invoke::=${{V}}"),
    ("apt-get", "apt-get update -o ${{V}}"),
    ("aria2c", "aria2c --on-download-complete=${{V}} http://h/f"),
    ("ash", "ash -c ${{V}}"),
    ("asterisk", "echo ${{V}} | asterisk -r"),
    ("at", "echo ${{V}} | at now"),
    ("awk", "awk \"BEGIN { system(\\\"${{V}}\\\") }\""),
    ("bash", "bash -c ${{V}}"),
    ("bconsole", "echo ${{V}} | bconsole"),
    ("bee", "bee eval ${{V}}"),
    ("borg", "borg extract @:/:: --rsh ${{V}}"),
    ("bpftrace", "bpftrace --unsafe -e ${{V}}"),
    ("bundle", "bundle exec ${{V}}"),
    ("bundler", "bundler exec ${{V}}"),
    ("busctl", "busctl --address=${{V}} list"),
    ("busybox", "busybox ash -c ${{V}}"),
    ("c89", "c89 -wrapper ${{V}} x.c"),
    ("c99", "c99 -wrapper ${{V}},-s x.c"),
    ("cabal", "cabal exec --project-file=/dev/null -- ${{V}}"),
    ("capsh", "capsh -- -c ${{V}}"),
    ("cc", "cc -wrapper ${{V}},-s x.c"),
    ("cdist", "cdist shell -s ${{V}}"),
    ("certbot", "certbot certonly --pre-hook ${{V}}"),
    ("check_by_ssh", "check_by_ssh -o ${{V}} -H h -C x"),
    ("check_ssl_cert", "check_ssl_cert --grep-bin ${{V}} -H x"),
    ("choom", "choom -n 0 ${{V}}"),
    ("chroot", "chroot / ${{V}}"),
    ("chrt", "chrt 1 ${{V}}"),
    ("clisp", "clisp -x ${{V}}"),
    ("codex", "codex exec ${{V}}"),
    ("cpio", "cpio -o --rsh-command ${{V}} -F h:"),
    ("cpulimit", "cpulimit -l 100 -f -- ${{V}}"),
    ("crontab", "echo \"* * * * * ${{V}}\" | crontab -"),
    ("csh", "csh -c ${{V}}"),
    ("csvtool", "csvtool call ${{V}} f.csv"),
    ("ctr", "ctr exec c ${{V}}"),
    ("dash", "dash -c ${{V}}"),
    ("dc", "dc -e ${{V}}"),
    ("debugfs", "echo ${{V}} | debugfs"),
    ("dhclient", "dhclient -sf ${{V}}"),
    ("distcc", "distcc ${{V}}"),
    ("dmsetup", "dmsetup ls --exec ${{V}}"),
    ("dnsmasq", "dnsmasq --conf-script=${{V}}"),
    ("doas", "doas -u root ${{V}}"),
    ("docker", "docker exec c ${{V}}"),
    ("dotnet", "echo ${{V}} | dotnet fsi"),
    ("ed", "ed f <<E\n${{V}}\nE"),
    ("elvish", "elvish -c ${{V}}"),
    ("emacs", "emacs -Q -nw --eval ${{V}}"),
    ("enscript", "enscript /dev/null -I ${{V}}"),
    ("env", "env ${{V}}"),
    ("ex", "ex -c ${{V}} f"),
    ("exiftool", "exiftool -if ${{V}} f"),
    ("expect", "expect -c ${{V}}"),
    ("find", "find . -exec ${{V}} \\;"),
    ("firejail", "firejail ${{V}}"),
    ("fish", "fish -c ${{V}}"),
    ("flock", "flock / -c ${{V}}"),
    ("ftp", "echo ${{V}} | ftp"),
    ("fzf", "fzf --bind ${{V}}"),
    ("g++", "g++ -wrapper ${{V}} x.cc"),
    ("gawk", "gawk ${{V}}"),
    ("gcc", "gcc -wrapper ${{V}},-s x"),
    ("gcloud", "gcloud compute ssh h --command ${{V}}"),
    ("gdb", "gdb -nx -ex ${{V}} -ex quit"),
    ("gem", "gem open -e ${{V}} x"),
    ("genie", "genie -c ${{V}}"),
    ("ghc", "ghc -e ${{V}}"),
    ("ghci", "echo ${{V}} | ghci"),
    ("gimp", "gimp -idf -b ${{V}}"),
    ("ginsh", "echo ${{V}} | ginsh"),
    ("git", "git -c alias.x=${{V}} x"),
    ("gnuplot", "gnuplot -e ${{V}}"),
    ("go", "go test -exec ${{V}}"),
    ("grc", "grc --pty ${{V}}"),
    ("guile", "guile -c ${{V}}"),
    ("hg", "hg --config alias.x=${{V}} x"),
    ("hping3", "echo ${{V}} | hping3"),
    ("ionice", "ionice ${{V}}"),
    ("ip", "ip netns exec foo ${{V}}"),
    ("irb", "echo ${{V}} | irb"),
    ("jjs", "echo ${{V}} | jjs"),
    ("jrunscript", "jrunscript -e ${{V}}"),
    ("jshell", "echo ${{V}} | jshell"),
    ("jtag", "echo ${{V}} | jtag"),
    ("julia", "julia -e ${{V}}"),
    ("knife", "knife exec -E ${{V}}"),
    ("ksh", "ksh -c ${{V}}"),
    ("ksu", "ksu -q -e ${{V}}"),
    ("kubectl", "kubectl exec pod -- ${{V}}"),
    ("latex", "latex --shell-escape ${{V}}"),
    ("latexmk", "latexmk -pdf -pdflatex=${{V}} x"),
    ("ld.so", "/lib/ld.so ${{V}}"),
    ("less", "less +${{V}} f"),
    ("lftp", "lftp -c ${{V}}"),
    ("logrotate", "logrotate -m ${{V}} f"),
    ("logsave", "logsave /dev/null ${{V}}"),
    ("ltrace", "ltrace -b -L ${{V}}"),
    ("lua", "lua -e ${{V}}"),
    ("lualatex", "lualatex ${{V}}"),
    ("luatex", "luatex ${{V}}"),
    ("lxd", "lxc exec c ${{V}}"),
    ("m4", "echo ${{V}} | m4"),
    ("mail", "mail --exec=${{V}}"),
    ("make", "make --eval=${{V}} ."),
    ("man", "man -H${{V}} man"),
    ("mawk", "mawk ${{V}}"),
    ("minicom", "echo ${{V}} | minicom"),
    ("more", "more +${{V}} f"),
    ("mosh-server", "mosh --server=${{V}} h"),
    ("msgfilter", "echo x | msgfilter sh -c ${{V}}"),
    ("multitime", "multitime ${{V}}"),
    ("mysql", "mysql -e ${{V}}"),
    ("nano", "nano -s ${{V}} f"),
    ("nawk", "nawk ${{V}}"),
    ("ncftp", "echo ${{V}} | ncftp"),
    ("nice", "nice ${{V}}"),
    ("nmap", "nmap --script=${{V}} h"),
    ("node", "node -e ${{V}}"),
    ("nohup", "nohup ${{V}}"),
    ("npm", "npm exec ${{V}}"),
    ("nsenter", "nsenter -t 1 ${{V}}"),
    ("nvim", "nvim -c ${{V}}"),
    ("octave", "octave-cli --eval ${{V}}"),
    ("openvpn", "openvpn --dev null --up ${{V}}"),
    ("openvt", "openvt -- ${{V}}"),
    ("pandoc", "pandoc -L ${{V}} f"),
    ("pdflatex", "pdflatex --shell-escape ${{V}}"),
    ("pdftex", "pdftex --shell-escape ${{V}}"),
    ("perf", "perf stat ${{V}}"),
    ("perl", "perl -e ${{V}}"),
    ("perlbug", "perlbug -s x -r x -c x -e ${{V}}"),
    ("pexec", "pexec ${{V}}"),
    ("pg", "pg +${{V}} f"),
    ("php", "php -r ${{V}}"),
    ("pic", "echo ${{V}} | pic -U"),
    ("pico", "pico -s ${{V}} f"),
    ("pidstat", "pidstat -e ${{V}}"),
    ("pip", "pip config --editor ${{V}} edit"),
    ("pipx", "pipx run ${{V}}"),
    ("pkexec", "pkexec ${{V}}"),
    ("plymouth", "plymouth ask-for-password --command=${{V}}"),
    ("podman", "podman exec c ${{V}}"),
    ("poetry", "poetry run ${{V}}"),
    ("posh", "posh -c ${{V}}"),
    ("pry", "echo ${{V}} | pry"),
    ("psftp", "echo ${{V}} | psftp"),
    ("psql", "psql -c ${{V}}"),
    ("puppet", "puppet apply -e ${{V}}"),
    ("pwsh", "pwsh -Command ${{V}}"),
    ("python", "python -c ${{V}}"),
    ("rake", "rake -p ${{V}}"),
    ("rc", "rc -c ${{V}}"),
    ("red", "red f <<E\n${{V}}\nE"),
    ("restic", "restic --password-command=${{V}} backup"),
    ("rlwrap", "rlwrap ${{V}}"),
    ("rpm", "rpm --eval ${{V}}"),
    ("rpmdb", "rpmdb --eval ${{V}}"),
    ("rpmquery", "rpmquery --eval ${{V}}"),
    ("rpmverify", "rpmverify --eval ${{V}}"),
    ("rsync", "rsync -e ${{V}} x:x ."),
    ("ruby", "ruby -e ${{V}}"),
    ("runscript", "echo ${{V}} | runscript"),
    ("rview", "rview -c ${{V}}"),
    ("rvim", "rvim --cmd ${{V}}"),
    ("sash", "sash -c ${{V}}"),
    ("scanmem", "echo ${{V}} | scanmem"),
    ("scp", "scp -S ${{V}} x x:"),
    ("screen", "screen ${{V}}"),
    ("script", "script -qc ${{V}} /dev/null"),
    ("scrot", "scrot -e ${{V}}"),
    ("sed", "sed -n ${{V}} f"),
    ("service", "service ${{V}}"),
    ("setarch", "setarch -3 ${{V}}"),
    ("setlock", "setlock - ${{V}}"),
    ("sftp", "sftp -o ${{V}} h"),
    ("sg", "sg users -c ${{V}}"),
    ("slsh", "slsh -e ${{V}}"),
    ("smbclient", "echo ${{V}} | smbclient x"),
    ("socat", "socat - exec:${{V}},pty"),
    ("softlimit", "softlimit ${{V}}"),
    ("sort", "sort --compress-program=${{V}} f"),
    ("split", "split --filter=${{V}} f"),
    ("sqlite3", "sqlite3 f ${{V}}"),
    ("sqlmap", "sqlmap -u h --eval=${{V}}"),
    ("ssh", "ssh h ${{V}}"),
    ("ssh-agent", "ssh-agent ${{V}}"),
    ("sshfs", "sshfs -o ssh_command=${{V}} h: d"),
    ("sshpass", "sshpass ${{V}}"),
    ("sshuttle", "sshuttle -r x --ssh-cmd ${{V}} h"),
    ("start-stop-daemon", "start-stop-daemon -S -x ${{V}}"),
    ("stdbuf", "stdbuf -i0 ${{V}}"),
    ("strace", "strace -o /dev/null ${{V}}"),
    ("su", "su -c ${{V}}"),
    ("sudo", "sudo ${{V}}"),
    ("sysctl", "sysctl kernel.core_pattern=${{V}}"),
    ("systemd-run", "systemd-run ${{V}}"),
    ("tar", "tar xf a.tar --to-command=${{V}}"),
    ("task", "task execute ${{V}}"),
    ("taskset", "taskset 1 ${{V}}"),
    ("tasksh", "echo ${{V}} | tasksh"),
    ("tclsh", "echo ${{V}} | tclsh"),
    ("tcpdump", "tcpdump -ln -G 1 -z ${{V}}"),
    ("tcsh", "tcsh -c ${{V}}"),
    ("tdbtool", "echo ${{V}} | tdbtool"),
    ("telnet", "echo ${{V}} | telnet"),
    ("tex", "tex --shell-escape ${{V}}"),
    ("time", "time ${{V}}"),
    ("timeout", "timeout 0 ${{V}}"),
    ("tmate", "tmate -c ${{V}}"),
    ("tmux", "tmux -c ${{V}}"),
    ("torify", "torify ${{V}}"),
    ("torsocks", "torsocks ${{V}}"),
    ("tshark", "tshark -Xlua_script:${{V}}"),
    ("unshare", "unshare ${{V}}"),
    ("uv", "uv run ${{V}}"),
    ("vagrant", "vagrant ssh -c ${{V}}"),
    ("valgrind", "valgrind ${{V}}"),
    ("vi", "vi -c ${{V}}"),
    ("view", "view -c ${{V}}"),
    ("vim", "vim -c ${{V}}"),
    ("vimdiff", "vimdiff -c ${{V}}"),
    ("watch", "watch ${{V}}"),
    ("wget", "wget --use-askpass=${{V}} h"),
    ("wireshark", "wireshark -Xlua_script:${{V}}"),
    ("wish", "echo ${{V}} | wish"),
    ("xargs", "xargs -a /dev/null ${{V}}"),
    ("xdg-user-dir", "xdg-user-dir ${{V}}"),
    ("xdotool", "xdotool exec --sync ${{V}}"),
    ("xelatex", "xelatex ${{V}}"),
    ("xetex", "xetex ${{V}}"),
    ("yarn", "yarn exec ${{V}}"),
    ("yash", "yash -c ${{V}}"),
    ("yt-dlp", "yt-dlp u --exec ${{V}}"),
    ("zic", "zic -d . -y ${{V}} f"),
    ("zip", "zip f.zip f -T -TT ${{V}}"),
    ("zsh", "zsh -c ${{V}}"),
  ]

  /// The programs that run nothing for any argument, with the reason.
  static let omitted: [(reason: String, programs: String)] = [
    (
      "it runs what is typed at its prompt, or in the pager or editor that it starts",
      """
      ansible-test apport-cli aptitude aws bashbug batcat cargo cpan crash dmesg dstat eb
      iftop ispell joe journalctl lastb loginctl msfconsole ncdu opencode ranger run-mailcap
      rustc systemctl systemd-resolve timedatectl top vigr vipw volatility zathura zless
      """
    ),
    (
      "it runs what a file says: an argument only names that file, and what stands in files is not followed",
      """
      acr ansible-playbook arch-nspawn byebug cmake cobc composer cowsay cowthink dnf dpkg
      dvips easy_install easyrsa facter fail2ban-client fastfetch forge gtester java
      needrestart neofetch opkg pdb pkg procmail rsyslogd rtorrent run-parts rustup snap
      virsh wg-quick yum zypper
      """
    ),
    (
      "it runs what a variable says that no value may be put into, or that it alone reads",
      "autoconf autoheader autoreconf nroff"
    ),
    (
      "an argument names the file that it writes, which is what the argument is for",
      """
      arj check_log cp csplit curl dd dmidecode dos2unix dosbox hashcat hd iconv
      iptables-save lwp-download mv mypy openssl redis rustdoc shred shuf ssh-copy-id tee
      tsc update-alternatives varnishncsa xxd
      """
    ),
  ]

  @Test("X23: every program that GTFOBins lists is known, or is left out for a reason")
  func theListIsComplete() {
    let covered = Self.rejected.map(\.program)
    let omitted = Self.omitted.flatMap {
      $0.programs.split(whereSeparator: \.isWhitespace).map(String.init)
    }
    #expect((covered + omitted).sorted() == Self.listed.sorted())
  }

  @Test("X23: a value is not accepted where a program runs it", arguments: rejected.map(\.line))
  func isRejected(line: String) {
    for dialect in ShellDialect.known {
      #expect(!QuotedScript(line, dialect).isSound, "\(dialect): \(line)")
    }
  }

  @Test(
    "X23: nor where others do that the list does not have",
    arguments: [
      "tar -I ${{V}} -xf a.tar",
      "tar --checkpoint=1 --checkpoint-action=exec=${{V}} -cf a.tar .",
      "tar --to-c ${{V}} -xf a.tar",
      "rsync --rsh=${{V}} a h:",
      "git -c core.pager=${{V}} log",
      "git -c ${{V}} log",
      "git clone -u ${{V}} h d",
      "git rebase --exec ${{V}} main",
      "git submodule foreach --quiet sh -c ${{V}}",
      "nu -c ${{V}}",
      "xonsh -c ${{V}}",
      "powershell -Command ${{V}}",
      "cmd /c ${{V}}",
      "npx -c ${{V}}",
      "npx ${{V}}",
      "npx -p typescript -- ${{V}}",
      "npx sh -c ${{V}}",
      "psql -v ${{V}} -f q.sql",
      "psql -v${{V}} -f q.sql",
      "psql --set ${{V}} -f q.sql",
      "psql --set=${{V}} -f q.sql",
      "go build --ldflags ${{V}} .",
      "tmux new-session -d ${{V}}",
      "watchexec -- ${{V}}",
      "ls | entr -s ${{V}}",
      "vim -c ${{V}} f",
      "emacs --eval ${{V}}",
      "deno eval ${{V}}",
      "swift -e ${{V}}",
      "erl -noshell -eval ${{V}}",
      "octave --eval ${{V}}",
      "ncat -c ${{V}} h 1",
      "ncat -e ${{V}} h 1",
      "socat - EXEC:${{V}}",
      "socat - ${{V}}",
      "lftp -c ${{V}}",
      "gcc -wrapper ${{V}} x.c",
      "ansible all -a ${{V}}",
      "pdsh -w h ${{V}}",
      "adb shell ${{V}}",
      "at now <<E\n${{V}}\nE",
      "crontab - <<E\n${{V}}\nE",
      "ed f <<E\n${{V}}\nE",
      "timeout 3 tar --to-command=${{V}} -xf a.tar",
      "docker exec c sh -c ${{V}}",
      "docker exec c tar --to-command=${{V}} -xf a",
      "perl -pe s/a/b/ -- ${{V}}",
      "perl -i -lne print -- ${{V}}",
      "perl -e 'while (<>) { print }' -- ${{V}}",
      "echo ${{V}} | sed -f - x",
      "echo ${{V}} | sed -nf /dev/stdin x",
      "echo ${{V}} | awk -f - x",
      "echo ${{V}} | awk --file=- x",
      "echo ${{V}} | make -f -",
      "echo ${{V}} | make -f- all",
      "echo ${{V}} | vim -es -",
      "echo ${{V}} | ex x",
      "VERSION=${{V}} make",
      "export VERSION=${{V}}; make",
      "env VERSION=${{V}} make",
      "VERSION=${{V}} sh -c make",
      "git config alias.n ${{V}}",
      "git config --global core.sshCommand ${{V}}",
      "git config core.fsmonitor ${{V}}",
      "git config core.editor ${{V}}",
      "git config core.pager ${{V}}",
      "git config ${{V}} ${{W}}",
      "ed ${{V}}",
      "rg --pre=${{V}} x",
      "runuser -u root -- ${{V}}",
      "runuser -u root ${{V}} x",
      "ssh host bash -s <<E\n${{V}}\nE",
      "echo ${{V}} | ssh host sudo bash",
      "echo ${{V}} | ssh host 'cd x; sh'",
      "echo ${{V}} | docker run -i img sh",
      "echo ${{V}} | docker run -i python",
      "echo ${{V}} | kubectl run -i p --image=x -- bash -s",
    ])
  func isRejectedToo(line: String) {
    for dialect in ShellDialect.known {
      #expect(!QuotedScript(line, dialect).isSound, "\(dialect): \(line)")
    }
  }

  @Test(
    "X23: data of the same programs is accepted, without suspicion",
    arguments: [
      "tar -xzf ${{V}} -C out",
      "tar -czf out.tgz -C ${{V}} .",
      "git clone -- ${{V}} d",
      "git checkout ${{V}}",
      "git commit -m ${{V}}",
      "git push -u origin ${{V}}",
      "git -C ${{V}} status",
      "git -c user.name=${{V}} commit",
      "git log --format=%H ${{V}}",
      "rsync -a ${{V}}/ host:/x",
      "rsync --exclude ${{V}} a b",
      "scp -P 22 ${{V}} host:",
      "sort -k 2 ${{V}}",
      "docker build -t app:${{V}} .",
      "docker run --rm -e A=${{V}} img",
      "docker exec web ls ${{V}}",
      "kubectl exec pod -- ls ${{V}}",
      "kubectl -n ${{V}} get pods",
      "npm install ${{V}}",
      "npm exec -- prettier ${{V}}",
      "npx tsc --target ${{V}}",
      "npx -p typescript tsc --target=${{V}}",
      "npx eslint -- ${{V}}",
      "psql -d db -v v=${{V}} -f q.sql",
      "psql -d db -vv=${{V}} -f q.sql",
      "psql --set=v=${{V}} --variable w=${{V}} -f q.sql",
      "uv run pytest -k ${{V}}",
      "gcc -o ${{V}} x.c",
      "gcc -c ${{V}}",
      "go build -o ${{V}} .",
      "cmake -DCMAKE_BUILD_TYPE=${{V}} .",
      "curl -fsS https://h/${{V}}",
      "wget -O out ${{V}}",
      "less ./${{V}}",
      "emacs --batch -l x.el",
      "gdb --args ./prog ${{V}}",
      "taskset -c 1 ./prog ${{V}}",
      "pip install ${{V}}",
      "ansible-playbook -i ${{V}} site.yml",
      "find . -name ${{V}}",
      "split -l 100 ${{V}}",
      "cut -c ${{V}}",
      "grep -e ${{V}} f",
      "rustc -O ${{V}}",
      "cargo test ${{V}}",
      "swift build -c ${{V}}",
      "swift test --filter ${{V}}",
      "terraform apply -var x=${{V}}",
      "helm upgrade --set image.tag=${{V}} r c",
      "aws s3 cp ${{V}} s3://b/",
      "gcloud compute instances list --filter ${{V}}",
      "systemctl restart ${{V}}",
      "ip addr show ${{V}}",
      "nice ./prog ${{V}}",
      "ccache gcc -c ${{V}}",
      "nc -z ${{V}} 80",
      "openssl req -subj ${{V}}",
      "zip -r out.zip ${{V}}",
      "mail -s ${{V}} a@b",
      "tmux -V",
      "screen -ls",
      "R --version",
      "latexmk -outdir=${{V}}",
      "deno run ./main.ts ${{V}}",
      "perl -e 'while (<<>>) { print }' -- ${{V}}",
      "perl -pe s/a/b/ <${{V}}",
      "sed -f x.sed -- ${{V}}",
      "echo ${{V}} | sed -f x.sed",
      "echo ${{V}} | awk -f x.awk -",
      "X=${{V}} ./build; make",
      "git config user.name ${{V}}",
      "git add diff.c ${{V}}",
      "rg -e ${{V}} src",
      "runuser -u www -- systemctl restart ${{V}}",
      "echo ${{V}} | ssh host 'cat >f'",
      "echo ${{V}} | ssh host tee f",
      "echo ${{V}} | docker run -i img cat",
      "echo ${{V}} | docker run -i img sh x.sh",
      "pnpm install ${{V}}",
      "yarn add ${{V}}",
    ])
  func isAccepted(line: String) {
    let script = QuotedScript(line, .posix)
    #expect(script.reasons == [] && script.suspicions == [])
  }

  // MARK: Known values

  private static func reasons(_ line: String, _ value: ValueText) -> [ShellQuotingError.Reason] {
    let script = QuotedScript(line, .bash)
    return QuotedScript(
      line, placeholders: script.placeholders, dialect: .bash,
      values: script.placeholders.map { _ in value }
    ).reasons
  }

  @Test(
    "X23: what a type or an enumeration proves harmless passes",
    arguments: [
      "make V=${{V}}", "ssh host deploy ${{V}}", "[[ ${{V}} -gt 3 ]]", "${CC:-cc} -c ${{V}}",
      "eval echo ${{V}}", "python3 -c \"print(${{V}})\"", "n=${{V}}; echo $((n))",
      "tar --to-command=${{V}}",
      "printf ${{V}}", "[ a = b -a c = ${{V}} ]", "xargs ${{V}}", "echo `ls ${{V}}`",
    ])
  func listedValuesPass(line: String) {
    #expect(Self.reasons(line, .listed) == [])
    #expect(Self.reasons(line, .any) != [])
  }

  @Test(
    "X23: an integer passes where the shell evaluates, and so does nothing else",
    arguments: [
      "echo $((${{V}} + 1))", "echo $((3-${{V}}))", "((${{V}} > 2))", "x=$(( (${{V}}) * 2 ))",
      "for ((i = 0; i < ${{V}}; i++)); do :; done", "[[ ${{V}} -gt 3 ]]", "a[${{V}}]=x",
      "a[i${{V}}]+=x", "a=([${{V}}]=x)", "echo ${a[${{V}}]}", "echo \"${x:${{V}}}\"",
      "echo ${x:0:${{V}}}", "n=${{V}}; echo $((n))", "declare -i n; n=${{V}}", "let n=${{V}}",
      "bash -c 'echo $((1+${{V}}))'", "ssh h 'echo $((1+${{V}}))'", "declare -i n=${{V}}",
      "cat <<E\n$((${{V}} + 1))\nE", "echo `echo $((${{V}} * 2))`", "echo \"`expr ${{V}} + 1`\"",
    ])
  func integersPass(line: String) {
    #expect(Self.reasons(line, .integer) == [])
    #expect(Self.reasons(line, .word) != [] || line.contains("expr"))
    #expect(Self.reasons(line, .any) != [])
  }

  @Test(
    "X23: no knowledge helps where the value would not be expanded, or joined to another number",
    arguments: [
      "echo $((1${{V}}))", "echo $((${{V}}0))", "echo $((x${{V}}))", "echo $((10#${{V}}))",
      "echo $((${{V}}${{V}}))", "echo $((${{V}}[1]))", "echo $((a[${{V}}].${{V}}))",
      "cat <<'E'\n${{V}}\nE", "echo \\${{V}}", "echo $${{V}}", "echo ${x${{V}}}", "echo ${${{V}}}",
      "echo `echo \\\"${{V}}\\\"`", "echo `echo 'a ${{V}}`", "${{V}}=1", "${{V}}() { :; }",
      "for ${{V}} in a; do :; done", "echo >&${{V}}",
    ])
  func nothingHelps(line: String) {
    #expect(Self.reasons(line, [.integer, .word]) != [])
  }

  @Test(
    "X23: a word passes in a default or a pattern of ${…}, and between backquotes",
    arguments: [
      "echo ${x:-${{V}}}", "echo \"${x%${{V}}}\"", "echo ${x:+a-${{V}}}", "echo ${x#${{V}}}",
      "echo ${x/${{V}}/b}", "echo ${x/a/${{V}}}", "echo `ls ${{V}}`", "echo \"`ls '${{V}}'`\"",
      "cat <<E\n`ls ${{V}}`\nE",
    ])
  func wordsPass(line: String) {
    #expect(Self.reasons(line, .word) == [])
    #expect(Self.reasons(line, .any) != [])
  }

  @Test(
    "X23: a word passes where it begins nothing",
    arguments: [
      ("make V=${{V}}", true), ("ssh host deploy ${{V}}", true), ("ssh host ${{V}}", false),
      ("sh -c 'deploy-${{V}}'", false), ("sh -c '${{V}}'", false), ("sh -c 'a; ${{V}}'", false),
      ("eval ${{V}}", false), ("[[ ${{V}} -gt 3 ]]", false), ("n=${{V}}; echo $((n))", false),
      ("perl -${{V}} x", false), ("python3 -c ${{V}}", false),
      ("ssh host sudo ${{V}}", false), ("ssh host 'cd /x;' ${{V}}", false),
      ("ssh host sudo ls ${{V}}", true), ("ssh host \"deploy '${{V}}' && echo ok\"", true),
      ("ssh host \"$x\" ${{V}}", false), ("ssh host x=${{V}} make", true),
      ("ssh host LD_PRELOAD=${{V}} make", false), ("ssh host \"x=${{V}}; echo \\$((x))\"", false),
      ("bash -c 'echo $((1+${{V}}))'", false), ("bash -c 'deploy ${{V}}'", true),
      ("fish -c 'deploy ${{V}}'", false), ("sh -c \"$x ${{V}}\"", false),
      ("sh -c \"x${{V}}\"", false),
      ("watch ls ${{V}}", true), ("watch -n 5 ${{V}}", false), ("watch ${{V}}", false),
      ("let n=${{V}}", false), ("declare -i n=${{V}}", false), ("eval x=${{V}}", false),
      ("make ${{V}}", false), ("make SHELL=${{V}}", false), ("make x${{V}}=1", false),
      ("make -j 4 'V=a ${{V}}' all", true), ("make -C d V=${{V}}", true),
      ("make V=$x${{V}}", false),
      ("sed 's|a|${{V}}|'", false), ("sed s/a/${{V}}/", false), ("python3 -c \"x=${{V}}\"", false),
      ("ruby -e \"p 1+${{V}}\"", false), ("sh <<E\necho a-${{V}}\nE", false),
      ("psql -c \"select '${{V}}'\"", false), ("$CC -DV=${{V}} x.c", true), ("$CC ${{V}}", false),
      ("${CC:-cc} -o${{V}} x.c", true), ("echo ${x:${{V}}}", false), ("a[${{V}}]=1", false),
      ("${x:-${{V}}} a", false), ("sh -c ${x:-${{V}}}", false), ("make ${x:+${{V}}}", false),
      ("go build -ldflags \"-X main.v=${{V}}\" .", true),
      ("go build -ldflags=\"-s -w -X 'example.com/a-b/c.v=v${{V}}'\" .", true),
      ("go build -ldflags \"-X=main.v=${{V}} -X main.w=${{V}}\" .", true),
      ("go build -ldflags \"-extld=${{V}}\" .", false), ("go build -ldflags ${{V}} .", false),
      ("go build -ldflags \"-X ${{V}}\" .", false), ("go build -ldflags=\"-X ${{V}}=1\" .", false),
      ("go build -ldflags \"-X main.v=$x${{V}}\" .", false),
      ("go build -ldflags \"-X main.v=1 -extld=${{V}}\" .", false),
      ("go build -gcflags \"-X main.v=${{V}}\" .", false),
      ("tar --to-command=${{V}} -xf a", false), ("tar --to-command ${{V}} -xf a", false),
      ("$tool ${{V}}", false), ("env ${{V}}", false), ("printf ${{V}}", true),
    ])
  func wordsPassWhereTheyBeginNothing(line: String, passes: Bool) {
    #expect(Self.reasons(line, .word).isEmpty == passes)
  }

  @Test(
    "X23: a name passes in a substitution of sed",
    arguments: [
      ("sed 's/a/${{V}}/'", true), ("sed -e \"s|@VERSION@|v${{V}}|g\" f", true),
      ("sed s/${{V}}/b/2p", true), ("sed 's/a/b/${{V}}'", false), ("sed ${{V}}", false),
      ("sed 's/a/b/;${{V}}'", false), ("sed 's.a.${{V}}.'", false), ("sed 's-a-${{V}}-'", false),
      ("sed 'sxax${{V}}x'", false), ("sed 's/a/\\\\${{V}}/'", false),
      ("sed 's/[/${{V}}/]/x/e'", false),
      ("sed 's/a/${{V}}/e'", false), ("sed 's/a/${{V}}/w f'", false), ("sed /${{V}}/d", false),
      ("sed 's/a/${{V}}/\n1d'", false), ("sed \"s/$x/${{V}}/\"", false),
    ])
  func namesPassInSubstitutions(line: String, passes: Bool) {
    #expect(Self.reasons(line, .name).isEmpty == passes)
  }

  @Test("X23: the parameters of a script with a value are followed too")
  func parametersOfScriptsWithValues() {
    let script = QuotedScript("sh -c 'echo ${{A}}; eval \"$1\"' _ ${{V}}", .posix)
    let known = QuotedScript(
      script.text, placeholders: script.placeholders, dialect: .posix, values: [.listed, .any])
    #expect(known.reasons == [.evaluatedArgument("sh")])
  }

  @Test(
    "X23: nothing passes where the value could not be handed over",
    arguments: [
      "cat <<'E'\n${{V}}\nE", "echo `echo \\`echo ${{V}}\\``", "${{V}}=1",
      "for ${{V}} in a; do :; done",
      "echo \\${{V}}", "echo ${x:-${{V}}}", "${{V}}() { :; }", "echo $((${{V}}))",
    ])
  func programsWithoutExpansionRejectPlaceholders(line: String) {
    #expect(Self.reasons(line, .listed) != [])
  }

  // MARK: Unknown values

  @Test(
    "X23: an unknown program's options for text are suspicious",
    arguments: [
      ("frob -c ${{V}}", 1), ("frob --eval ${{V}}", 1), ("frob --eval=${{V}}", 1),
      ("frob --pre-exec-cmd ${{V}}", 1), ("frob --execute=\"x ${{V}}\"", 1),
      ("./frob -e ${{V}}", 1),
      ("frob -x ${{V}}", 0), ("frob ${{V}} -c", 0), ("frob -- -c ${{V}}", 0),
      ("grep -e ${{V}} f", 0),
      ("frob -c x ${{V}}", 0), ("timeout 3 frob -c ${{V}}", 1),
    ])
  func unknownProgramsAreSuspicious(line: String, count: Int) {
    let script = QuotedScript(line, .posix)
    #expect(script.isSound && script.suspicions.count == count)
  }

  @Test(
    "X23: a variable that is evaluated is found",
    arguments: [
      ("eval \"$S\"", true), ("$S", true), ("sh -c \"$S\"", true), ("echo $((S))", true),
      ("make X=\"$S\"", true), ("tar --to-command=\"$S\" -xf a", true), ("t=$S; eval \"$t\"", true),
      ("echo \"$S\"", false), ("sh -c 'echo \"$S\"'", false), ("[ -v S ]", false),
      ("[[ -v S ]]", false),
      ("make X=1; echo \"$S\"", false), ("grep \"$S\" f", false),
    ])
  func evaluatedVariablesAreFound(script: String, isEvaluated: Bool) {
    let evaluation = QuotedScript.evaluation(of: script, placeholders: [], dialect: .bash)
    #expect(evaluation?.variables.contains("S") == isEvaluated)
  }
}

/// Tells which arguments of a program it may take for options: not those after `--`, and none that an option before
/// it takes whatever it is, as `-m` of `git commit` does.
package struct OptionReading {
  /// The program, and the command of it: `git commit`.
  private var path: [String]
  private var options: OptionValues?
  private var acceptsOptions = true
  /// The number of words that the last option takes.
  private var awaited = 0

  package init(program: String) {
    path = [ShellDialect.basename(program)]
    options = OptionValues.named(path)
  }

  /// Takes the next word; whether the program may take it for an option if it begins with a dash.
  ///
  /// Behind a word that is not known, options are not either: the word may be an option that takes them.
  ///
  /// - Parameters:
  ///   - start: The word up to the first expression or expansion in it.
  ///   - isWhole: Whether that is the whole word.
  package mutating func mayTakeForOption(_ start: String, isWhole: Bool) -> Bool {
    if awaited > 0 {
      awaited -= 1
      return false
    }
    guard acceptsOptions else { return false }
    if isWhole {
      take(start)
    } else if !(start.hasPrefix("--") && start.utf8.contains(.equals)) {
      options = nil
    }
    return true
  }

  private mutating func take(_ word: String) {
    if word == "--" {
      acceptsOptions = false
    } else if word.hasPrefix("-"), word != "-" {
      awaited = options?.wordsTaken(by: word) ?? 0
    } else if let options, path.count < Self.longestPath {
      path.append(word)
      if let nested = OptionValues.named(path) {
        self.options = nested
      } else if options.endsAtOperand {
        self.options = nil
      }
    }
  }

  /// The length of `docker compose run`.
  private static let longestPath = 3
}

/// The options of a program that take the next word as a value, whether or not it begins with a dash.
///
/// They are taken from the manual pages. Options whose value is optional, or that run it, are not here; and neither are
/// programs that refuse such a value.
struct OptionValues {
  /// One-letter options.
  var letters = ""
  /// One-letter options without a value, behind which one of ``letters`` may be joined: `-am`.
  var flags = ""
  /// Options of more than one letter, or of programs that join none.
  var words: Words = ""
  /// Options that take two words.
  var pairs: Words = ""
  /// Whether the options end at the first operand, unless that is a command with options of its own.
  var endsAtOperand = false

  /// - Parameter path: A program, perhaps with a command of it.
  static func named(_ path: [String]) -> OptionValues? { table[path.joined(separator: " ")] }

  /// The number of words after it that an option takes.
  func wordsTaken(by option: String) -> Int {
    if words.contains(option) { return 1 }
    if pairs.contains(option) { return 2 }
    guard let last = option.last, letters.contains(last) else { return 0 }
    // Any other letter may take the rest of the word.
    return option.dropFirst().dropLast().allSatisfy(flags.contains) ? 1 : 0
  }

  private static let table: [String: OptionValues] = {
    var table: [String: OptionValues] = [:]
    for (paths, options) in byPaths {
      for path in paths.split(separator: ",") {
        table[String(path.drop(while: \.isWhitespace))] = options
      }
    }
    return table
  }()

  private static let byPaths: KeyValuePairs<String, OptionValues> = [
    // Files and text
    "tar, gtar, bsdtar": OptionValues(
      letters: "fCbTX", flags: "cxtruzjJvpkhmwaPOSU",
      words: "--file --directory --exclude --exclude-from --files-from"),
    "find": OptionValues(
      words: """
        -name -iname -path -ipath -wholename -regex -iregex -lname -newer -samefile -user -group
        -type -size -perm -mtime -mmin -atime -ctime -maxdepth -mindepth
        """),
    "grep, egrep, fgrep": OptionValues(
      letters: "efmABC", flags: "inrvwEFGPolcqsHhxLRaz",
      words: """
        --regexp --file --max-count --include --exclude --exclude-dir --after-context
        --before-context
        """),
    "rg": OptionValues(
      letters: "efgtTmABCr", words: "--regexp --glob --type --max-count --replace"),
    "jq": OptionValues(words: "--indent", pairs: "--arg --argjson --slurpfile --rawfile"),
    "head, tail": OptionValues(letters: "nc", words: "--lines --bytes"),
    "cut": OptionValues(letters: "bcdf", words: "--bytes --characters --delimiter --fields"),
    "sort": OptionValues(
      letters: "kotST", flags: "rnufhbVgz", words: "--key --output --field-separator"),
    "split": OptionValues(letters: "abCln"), "paste": OptionValues(letters: "d"),
    "fold": OptionValues(letters: "w"), "uniq": OptionValues(letters: "fsw"),
    "seq": OptionValues(letters: "sf", words: "--separator --format"),
    "date": OptionValues(letters: "dr", words: "--date --reference --set --file"),
    "touch": OptionValues(letters: "drt", words: "--date --reference --time"),
    "mkdir": OptionValues(letters: "m", words: "--mode"),
    "cp, mv": OptionValues(letters: "t", words: "--target-directory --suffix"),
    "install": OptionValues(letters: "gmot", words: "--group --mode --owner --target-directory"),
    "mktemp": OptionValues(letters: "p"),
    "rsync": OptionValues(
      letters: "fBMT",
      words: """
        --exclude --include --filter --exclude-from --include-from --files-from --port --timeout
        --bwlimit --chmod --chown --link-dest --temp-dir --log-file --password-file
        """),
    // Requests and other hosts
    "curl": OptionValues(
      letters: "AbcCdDeEFHmoPQrtTuUwxXyYz", flags: "sSLfkivgGjlnNORJaIB#",
      words: """
        --output --output-dir --header --data --data-raw --data-ascii --data-binary
        --data-urlencode --json --form --form-string --request --user --user-agent --url
        --url-query --cookie --cookie-jar --max-time --connect-timeout --retry --retry-delay
        --retry-max-time --referer --proxy --cacert --cert --key --range --upload-file --write-out
        --resolve --interface --oauth2-bearer
        """),
    "wget": OptionValues(
      letters: "oaiBtOTwQPUlARDIX",
      words: """
        --output-document --output-file --directory-prefix --header --post-data --post-file
        --method --body-data --body-file --user --password --user-agent --referer --tries --timeout
        --input-file
        """),
    "scp": OptionValues(letters: "iPlc"),
    "ping": OptionValues(letters: "ciWwstI"),
    // Version control
    "git": OptionValues(words: "-C --git-dir --work-tree --namespace", endsAtOperand: true),
    "git commit": OptionValues(
      letters: "mFCct", flags: "aqvsnpe",
      words: """
        --message --file --author --date --reuse-message --reedit-message --template --fixup
        --squash --trailer --cleanup --pathspec-from-file
        """),
    "git tag": OptionValues(
      letters: "mFu", flags: "asf", words: "--message --file --local-user --cleanup --sort --format"
    ),
    "git checkout": OptionValues(letters: "bB", words: "--orphan --conflict"),
    "git switch": OptionValues(letters: "cC", words: "--create --force-create --orphan"),
    "git worktree add": OptionValues(letters: "bB"),
    "git worktree, git stash, git notes, git remote": OptionValues(endsAtOperand: true),
    "git branch": OptionValues(letters: "u", words: "--set-upstream-to --sort --format"),
    "git merge": OptionValues(
      letters: "msXF", words: "--message --file --strategy --strategy-option"),
    "git clone": OptionValues(
      letters: "boj", words: "--branch --origin --depth --jobs --reference --filter"),
    "git fetch, git pull": OptionValues(words: "--depth --deepen --shallow-since"),
    "git log, git shortlog": OptionValues(words: "-n --author --grep --since --until"),
    "git stash push": OptionValues(letters: "m", words: "--message"),
    "git notes add, git notes append": OptionValues(letters: "mFCc", words: "--message --file"),
    "git archive": OptionValues(letters: "o", words: "--output --prefix --format"),
    "gh": OptionValues(endsAtOperand: true),
    "gh pr, gh issue, gh release": OptionValues(
      endsAtOperand: true),
    "gh pr create": OptionValues(
      letters: "aBbFHlmprtTR",
      words: "--title --body --body-file --base --head --label --assignee --reviewer --repo"),
    "gh issue create": OptionValues(
      letters: "abFlmptTR", words: "--title --body --body-file --label --assignee --repo"),
    "gh pr comment, gh issue comment": OptionValues(
      letters: "bFR", words: "--body --body-file --repo"),
    "gh release create": OptionValues(
      letters: "FntR", words: "--title --notes --notes-file --target --repo"),
    "gh api": OptionValues(
      letters: "XfFHqtp", words: "--method --field --raw-field --header --input --jq --template"),
    // Containers and clusters
    "docker, podman": OptionValues(
      letters: "Hcl", words: "--host --context --config --log-level", endsAtOperand: true),
    "docker run, docker create, podman run, podman create": OptionValues(
      letters: "acehlmpuvw", flags: "itd",
      words: """
        --name --env --env-file --volume --mount --publish --user --workdir --network --hostname
        --label --label-file --memory --cpus --gpus --platform --restart --add-host --dns --device
        --ip --log-driver --log-opt --pull --shm-size --tmpfs --ulimit --userns --pid --ipc
        --cap-add --cap-drop --security-opt --stop-timeout --stop-signal --expose --cidfile
        --runtime --group-add --network-alias --volumes-from
        """, endsAtOperand: true),
    "docker exec, podman exec": OptionValues(
      letters: "euw", flags: "itd", words: "--env --env-file --user --workdir --detach-keys",
      endsAtOperand: true),
    "docker build, podman build": OptionValues(letters: "tfo", words: building),
    "docker buildx, docker compose": OptionValues(
      letters: "fp", words: "--file --project-name --profile --env-file --project-directory",
      endsAtOperand: true),
    "docker buildx build": OptionValues(letters: "tfo", words: building),
    "docker compose run": OptionValues(
      letters: "euvwp", words: "--env --user --volume --workdir --publish --name",
      endsAtOperand: true),
    "docker compose exec": OptionValues(
      letters: "euw", words: "--env --user --workdir --index", endsAtOperand: true),
    "docker logs, podman logs": OptionValues(letters: "n", words: "--tail --since --until"),
    "docker ps, podman ps": OptionValues(letters: "f", words: "--filter --format"),
    "docker login, podman login": OptionValues(letters: "up", words: "--username --password"),
    "kubectl, oc": OptionValues(letters: "nlo", words: cluster),
    "kubectl apply, kubectl create, kubectl delete, kubectl replace, kubectl diff": OptionValues(
      letters: "nlofk", words: cluster),
    "kubectl exec, kubectl run": OptionValues(
      letters: "nc", words: cluster, endsAtOperand: true),
    "helm": OptionValues(
      letters: "n",
      words: """
        --namespace --values --set --set-string --set-file --version --kube-context --timeout --repo
        --description
        """),
    "terraform": OptionValues(endsAtOperand: true),
    "terraform plan, terraform apply, terraform destroy": OptionValues(
      words: "-var -var-file -target -out -state", endsAtOperand: true),
    // Compilers, builders and packages
    "gcc, g++, cc, c89, c99, c++, cpp, clang, clang++": OptionValues(
      words: "-o -I -D -U -L -l -x -include -isystem -MF -MT -MQ"),
    "make": OptionValues(letters: "C", words: "--directory"),
    "go": OptionValues(endsAtOperand: true),
    "go build": OptionValues(words: "-o -C -p -tags", endsAtOperand: true),
    "go test": OptionValues(
      words: "-run -bench -count -timeout -tags -o -coverprofile", endsAtOperand: true),
    "pip, pip3": OptionValues(endsAtOperand: true),
    "pip install, pip3 install": OptionValues(
      letters: "rcit",
      words: "--requirement --constraint --index-url --extra-index-url --target --prefix"),
    // Databases and media
    "pg_dump": OptionValues(letters: "hpUdtnNT", words: "--host --port --username --dbname"),
    "createdb, dropdb": OptionValues(letters: "hpU", words: "--host --port --username"),
    "mysql, mysqldump": OptionValues(letters: "huPD", words: "--host --user --port --database"),
    "ffmpeg": OptionValues(
      words: "-i -f -c:v -c:a -ss -t -to -r -s -b:v -b:a -map -metadata -pix_fmt -preset -crf"),
  ]

  /// Options of `docker build`.
  private static let building: Words = """
    --tag --file --build-arg --target --label --platform --cache-from --cache-to --secret --ssh
    --output --network --progress --iidfile --metadata-file --build-context --builder
    """

  /// Options of `kubectl`.
  private static let cluster: Words = """
    --namespace --selector --output --context --kubeconfig --cluster --user --server --container
    --filename --kustomize --field-selector --image --replicas --timeout --from-literal --from-file
    --env --port --labels --tail --since
    """
}

extension Option {
  static let help = Option("-h", "--help", help: "print this text")
  static let version = Option("--version", help: "print the version")

  static let jobs = Option(
    "-j", value: ValueDescription(name: "N", kind: .text),
    help: "run at most N steps at once; default: the workflow's maxParallel, else one for each "
      + "processor",
    elsewhere: ["--jobs", "--parallel", "--max-parallel"])
  static let keepGoing = Option(
    "-k", help: "after a failure, go on with all that does not depend on it",
    elsewhere: ["--keep-going", "--continue"])
  static let failFast = Option(
    "--fail-fast", help: "after a failure, end the running steps too", elsewhere: ["--failfast"])
  static let strictRun = Option(
    "--strict", help: "exit 1 for tolerated failures; start nothing if the file has warnings")
  static let strictCheck = Option("--strict", help: "exit 1 if there are warnings")
  static let directory = Option(
    "-C", value: ValueDescription(name: "DIR", kind: .directory),
    help: "change to DIR before anything else: FILE and other paths are relative to it",
    elsewhere: ["--directory", "--chdir", "--cwd"])
  static let timeout = Option(
    "--timeout", value: ValueDescription(name: "D", kind: .text),
    help: "end the run after D, such as 90s or 1h30m, and exit 124")
  static let events = Option(
    "--events", value: ValueDescription(name: "FILE|-|fd:N", kind: .file),
    help: "write every event as a line of JSON to a file, to standard output (what people read "
      + "then goes to standard error), or to an open descriptor")
  static let only = Option(
    "--only", value: ValueDescription(name: "STEP", kind: .step),
    help: "run this step or group, and what it needs; may be given several times",
    elsewhere: ["--target", "--targets", "--step", "--steps", "--job"])
  static let skip = Option(
    "--skip", value: ValueDescription(name: "STEP", kind: .step),
    help:
      "leave out this step or group, as if its own condition were false; what waits for it runs",
    elsewhere: ["--exclude", "--without", "--skip-step"])
  static let from = Option(
    "--from", value: ValueDescription(name: "STEP", kind: .step),
    help: "run this step or group, and what depends on it; all else is left out",
    elsewhere: ["--start-at", "--start-from", "--since"])
  static let retryBudget = Option(
    "--retry-budget", value: ValueDescription(name: "PERCENT", kind: .text),
    help:
      "try again, in the whole run, at most PERCENT % of its steps and 100 times more after failures "
      + "of networks; default: 20")
  static let contexts = Option(
    "--contexts", value: ValueDescription(name: "FILE", kind: .existingFile(suffix: ".json")),
    help: "the values of the contexts, a JSON object by their names; - reads standard input",
    elsewhere: ["--context", "--values", "--vars"])
  static let dryRun = Option(
    "--dry-run", help: "print the graph that the file will become, and start nothing",
    elsewhere: ["-n", "--just-print", "--recon"])

  static let input = Option(
    "-i", "--input", value: ValueDescription(name: "NAME=VALUE", kind: .input),
    help:
      "give an input of the workflow; NAME=@FILE takes a file's content, NAME=@@TEXT a text that "
      + "begins with @, and NAME:=JSON any JSON value",
    elsewhere: ["--param", "--parameter", "--set", "--var", "--arg", "-p", "-D", "-e", "--field"])
  static let inputs = Option(
    "--inputs", value: ValueDescription(name: "FILE", kind: .existingFile(suffix: ".json")),
    help: "give inputs as the members of a JSON object; - reads standard input; -i wins",
    elsewhere: ["--input-file", "--params", "--params-file", "--vars", "--var-file", "--values"])

  static let containment = Option(
    "--containment",
    value: .oneOf(
      .init("auto", "the surest that can be had here"),
      .init("cgroup", "a control group (cgroup v2) for each step"),
      .init("subreaper", "adopt what loses its parents"),
      .init("group+cookie", "sessions, parentage and the environment only")),
    help: "how to find again what steps start, so that it can be ended; default: auto")

  static let record = Option(
    "--record",
    value: .oneOf(
      .init("none", "nothing is written down; there is no resuming"),
      .init("process", "survives the end of weft, whatever ends it"),
      .init("power", "survives the loss of power, and takes more time")),
    help: "what the record of the run survives; default: process",
    elsewhere: ["--journal", "--durability"])
  static let stateDirectory = Option(
    "--state-dir", value: ValueDescription(name: "DIR", kind: .directory),
    help:
      "keep the records of runs in DIR; default: WEFT_DIR, else .weft in the directory where the run "
      + "starts", elsewhere: ["--work-dir", "--workdir"])

  static let noCache = Option(
    "--no-cache", help: "ignore cached results (new results are still stored)",
    elsewhere: ["--force", "--rebuild", "--always-make", "-B"])
  static let cacheLimit = Option(
    "--cache-limit", value: ValueDescription(name: "SIZE", kind: .text),
    help:
      "maximum cache size, such as 2GiB; what was used least recently goes first; "
      + "default: WEFT_CACHE_LIMIT, else 10GiB", elsewhere: ["--cache-size", "--max-cache"])

  static let acceptChanges = Option(
    "--accept-changes",
    help:
      "go on with the file as it is now; what has changed is done again, and what depends on it. Also with "
      + "files that steps have made as they are now",
    elsewhere: ["--force", "--allow-changes"])
  static let rerun = Option(
    "--rerun", value: ValueDescription(name: "STEP", kind: .step),
    help: "do this step or group again, whatever is recorded; may be given several times",
    elsewhere: ["--redo", "--retry", "--again"])
  static let rerunInterrupted = Option(
    "--rerun-interrupted",
    help: "run again every step that was running when weft was killed; lists them first",
    elsewhere: ["--rerun-all", "--rerun-failed"])
  static let skipInterrupted = Option(
    "--skip-interrupted",
    help:
      "count every step that was running when weft was killed as done, without outputs; lists them first",
    elsewhere: ["--ignore-interrupted", "--accept-interrupted"])
  static let resumeFrom = Option(
    "--from", value: ValueDescription(name: "STEP", kind: .step),
    help: "do this step or group again, and what depends on it",
    elsewhere: ["--start-at", "--start-from", "--since"])
  static let trustRecord = Option(
    "--trust-record",
    help:
      "use the directory and the workflow file that the record names, even where they are not below the present "
      + "directory, or the file came from standard input",
    elsewhere: ["--accept-location", "--trust"])
  static let salvage = Option(
    "--salvage", help: "go on with what stands before a damaged place of the record",
    elsewhere: ["--repair", "--ignore-damage"])

  static let diagnosticFormat = Option(
    "--format",
    value: .oneOf(
      .init("text", "for people, with the lines in question"),
      .init("json", "one JSON document"),
      .init("sarif", "SARIF 2.1.0, for code scanning"),
      .init("github", "annotations of GitHub Actions")),
    help: "how to tell the problems; default: text", elsewhere: ["--output", "-o", "-f"])
  static let graphFormat = Option(
    "--format",
    value: .oneOf(
      .init("tree", "groups and steps as they nest"),
      .init("table", "one line for each step"),
      .init("dot", "for graphviz"),
      .init("mermaid", "for Markdown"),
      .init("json", "one JSON document")),
    help: "how to print the graph; default: tree", elsewhere: ["--output", "-o", "-f"])
}

extension CommandDescription {
  /// The commands in the order of the help text.
  static let all: [CommandDescription] = [
    run, resume, approve, cancel, runs, show, logs, check, graph, why, eval, reap, clean, schema,
    initialise, completions, help,
    version,
  ]

  private static let run = CommandDescription(
    .run, "run a workflow",
    details: [
      "Checks the whole file, then starts every step as soon as what it needs is done.",
      "\"weft run FILE --help\" tells which inputs FILE has.",
      "The first ^C ends the run gracefully, the second kills what still runs, the third leaves "
        + "at once.",
      "What happens is written down in .weft/runs/ID: the journal, what steps wrote, and at the end a "
        + "report.",
      "Steps that can start at the same time do so in the order of how long the way from them to the end took "
        + "in earlier runs; with -j 1, of the file.",
      "Exit codes: 0 success, 1 a step failed, 2 bad usage, 3 the file is rejected, 4 output or the "
        + "record could not be written, 75 nothing can go on before \"weft approve\", 124 the run's time limit passed, 128+n ended by signal n.",
    ],
    operand: Operand(
      value: .workflowFile, count: .one, help: "the workflow; - reads standard input"),
    options: [
      .input, .inputs, .jobs, .keepGoing, .failFast, .strictRun, .directory, .timeout, .events,
      .only, .skip, .from, .retryBudget, .containment, .record, .stateDirectory, .keepAfterRun,
      .noCache, .cacheLimit, .dryRun,
    ],
    contradictions: [[.keepGoing, .failFast]])

  private static let check = CommandDescription(
    .check, "report all problems in workflow files",
    details: [
      "Starts nothing. Every problem is told with its place, its code and what to do about it.",
      "Exit codes: 0 no errors, 1 warnings and --strict, 2 bad usage, 3 a file is rejected.",
    ],
    operand: Operand(
      value: .workflowFile, count: .oneOrMore, help: "the workflows; - reads standard input"),
    options: [.diagnosticFormat, .strictCheck, .directory])

  private static let graph = CommandDescription(
    .graph, "print the graph that a workflow will become",
    details: [
      "Starts nothing and writes nothing but the graph. Inputs are checked, and none has to be given.",
      "Of steps with \"cache\" it tells whether they will have to be run, as far as that is known.",
      "Where FILE has been run before, it tells how long steps took and which are the critical path.",
      "To draw it:\n  weft graph --format dot FILE | dot -Tsvg > graph.svg",
    ],
    operand: Operand(
      value: .workflowFile, count: .one, help: "the workflow; - reads standard input"),
    options: [.graphFormat, .input, .inputs, .only, .skip, .from, .directory, .stateDirectory])

  private static let why = CommandDescription(
    .why, "tell why a cached step would be run",
    details: [
      "Says whether STEP would be run, and if so in what it differs from the nearest of what is kept of it: "
        + "which part, and both values. Starts and writes nothing.",
      "Parts are platform, command, cwd, element, stdin, env, inputs, outputs, key and version.",
      "Exit codes: 0 it is told, 2 bad usage, an unknown step, or one without \"cache\".",
    ],
    operands: [
      Operand(value: .workflowFile, count: .one, help: "the workflow"),
      Operand(
        value: ValueDescription(name: "STEP", kind: .step), count: .one,
        help: "the step, as weft graph calls it"),
    ],
    options: [.input, .inputs, .directory, .stateDirectory])

  private static let eval = CommandDescription(
    .eval, "evaluate one expression",
    details: [
      "Prints the value as JSON in one line. EXPR is bare, as in \"if\", or a text with ${{ }}. NaN and "
        + "infinities, which JSON does not have, are printed as null. What begins with a dash stands "
        + "behind --.",
      "What the contexts do not have is null. success() is true and failure() and cancelled() are false, "
        + "unless the contexts say otherwise: job.status is then \"failure\" or \"cancelled\". "
        + "hashFiles() looks below the current directory.",
      "  weft eval \"format('v{0}', inputs.version)\" --contexts contexts.json",
      "Exit codes: 0 there is a value, 1 there is none, with the place of the fault, 2 bad usage.",
    ],
    operand: Operand(
      value: ValueDescription(name: "EXPR", kind: .text), count: .one, help: "the expression"),
    options: [.contexts])

  private static let resume = CommandDescription(
    .resume, "go on with a run that has not succeeded",
    details: [
      "What is recorded as done is not done again. What still runs of it is ended first; failed, cancelled "
        + "and held-back steps start again, with all their retries.",
      "A step that was running when weft was killed starts again if it is \"idempotent\". If not, how far it "
        + "got is unknown, and it fails until --rerun-interrupted, or --rerun with its name, says to run it again, "
        + "or --skip-interrupted that it counts as done.",
      "RUN is the id of a run or the beginning of one; without it the latest. Inputs are those of the run; "
        + "secret ones are not recorded, and given again.",
      "Exit codes: as of weft run; 3 the file has changed, 4 the run is alive, or its record is damaged.",
    ],
    operand: .recordedRun,
    options: [
      .rerun, .rerunInterrupted, .skipInterrupted, .resumeFrom, .acceptChanges, .trustRecord,
      .salvage, .input,
      .inputs, .jobs, .keepGoing, .failFast, .strictRun, .directory, .timeout, .events,
      .retryBudget, .containment, .record, .stateDirectory, .noCache, .cacheLimit,
    ],
    contradictions: [[.keepGoing, .failFast], [.rerunInterrupted, .skipInterrupted]])

  private static let reap = CommandDescription(
    .reap, "end what a killed weft has left running",
    details: [
      "A weft that was killed (kill -9, out of memory) leaves the programs that it was running. They are "
        + "asked to end, and killed ten seconds later.",
      "RUN is the id of a recorded run or the beginning of one; without it all that are recorded, and runs "
        + "that are not recorded are listed. A run whose weft is alive is left alone, and so is what "
        + "\"leftovers\": \"keep\" spares.",
      "Exit codes: 0 nothing is left, 2 there is no such run, 4 its weft is alive, or something could "
        + "not be ended.",
    ],
    operand: Operand(
      value: ValueDescription(name: "RUN", kind: .recordedRun), count: .atMostOne,
      help: "the id of a run, or the beginning of one; default: all that are recorded"),
    options: [.directory, .records])

  private static let schema = CommandDescription(
    .schema, "print a JSON Schema",
    details: [
      "An editor completes and checks a workflow that names its schema:\n"
        + "  weft schema > workflow.schema.json\n"
        + "  { \"$schema\": \"workflow.schema.json\", \"steps\": [\"echo hello\"] }"
    ],
    operand: Operand(
      value: .oneOf(
        .init("workflow", "of workflow files"), .init("event", "of the lines of --events")),
      count: .atMostOne,
      help: "of workflow files, or of the lines that --events writes; default: workflow"))

  private static let initialise = CommandDescription(
    .`init`, "write a first workflow to begin with",
    details: ["Never overwrites a file."],
    operand: Operand(
      value: ValueDescription(name: "FILE", kind: .file), count: .atMostOne,
      help: "where to write it; default: workflow.json; - prints it"))

  private static let completions = CommandDescription(
    .completions, "print completions for a shell",
    details: [
      "To have them in every new shell:\n"
        + "  bash  echo 'source <(weft completions bash)' >> ~/.bashrc\n"
        + "  zsh   echo 'source <(weft completions zsh)' >> ~/.zshrc     (after compinit)\n"
        + "  fish  weft completions fish > ~/.config/fish/completions/weft.fish"
    ],
    operand: Operand(
      value: .oneOf(.init("bash"), .init("zsh"), .init("fish")), count: .one,
      help: "the shell"))

  private static let help = CommandDescription(
    .help, "explain a command",
    details: [],
    operand: Operand(
      value: ValueDescription(
        name: "COMMAND",
        kind: .choice([
          .init("run", run.summary), .init("resume", resume.summary),
          .init("approve", approve.summary), .init("cancel", cancel.summary),
          .init("runs", runs.summary), .init("show", show.summary),
          .init("logs", logs.summary),
          .init("check", check.summary), .init("graph", graph.summary),
          .init("why", why.summary), .init("eval", eval.summary), .init("reap", reap.summary),
          .init("clean", clean.summary), .init("schema", schema.summary),
          .init("init", initialise.summary),
          .init("completions", completions.summary), .init("help", "explain a command"),
          .init("version", version.summary),
        ])),
      count: .atMostOne, help: "the command to explain; default: list all"))

  private static let version = CommandDescription(
    .version, "print the version", details: [])
}

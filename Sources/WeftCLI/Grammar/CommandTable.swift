import WeftDefinition
import WeftJSON

extension Option {
  static let help = Option("-h", "--help", help: "print help")
  static let version = Option("--version", help: "print the version", elsewhere: ["-v", "-V"])

  static let jobs = Option(
    "-j", value: ValueDescription(name: "N", kind: .text),
    help:
      "run at most N steps at once; default: the workflow's maxParallel, else the number of processors",
    elsewhere: ["--jobs", "--parallel", "--max-parallel"])
  static let estimatedJobs = Option(
    "-j", value: ValueDescription(name: "N", kind: .text),
    help: "predict for at most N steps at once; default: as for weft run; repeatable",
    elsewhere: ["--jobs", "--parallel", "--max-parallel"])
  static let faster = Option(
    "--faster", value: ValueDescription(name: "STEP=2x", kind: .names(.speedUp)),
    help: "predict as if this step or group were that many times as fast; repeatable",
    elsewhere: ["--speedup", "--speed-up", "--what-if"])
  static let keepGoing = Option(
    "-k", help: "after a failure, continue with steps that do not depend on it",
    elsewhere: ["--keep-going", "--continue"])
  static let failFast = Option(
    "--fail-fast", help: "after a failure, cancel the running steps too", elsewhere: ["--failfast"])
  static let strictRun = Option(
    "--strict", help: "exit 1 for tolerated failures; start nothing if the file has warnings")
  static let noPrompt = Option(
    "--no-prompt",
    help: "ask neither for missing inputs nor for approvals, also at a terminal",
    elsewhere: ["--no-input", "--non-interactive", "--noninteractive", "--batch", "--yes", "-y"])
  static let strictCheck = Option("--strict", help: "exit 1 if there are warnings")
  static let probe = Option(
    "--probe",
    help: "ask the runners if they would run the commands: by ssh, or by sbatch --test-only",
    elsewhere: ["--test-only"])
  static let formatCheck = Option(
    "--check",
    help: "write nothing; print the names of files that would change, and exit 1 if there are any",
    elsewhere: ["-c", "-l", "--list-different", "--dry-run", "-n", "--diff"])
  static let standardStreams = Option(
    "--stdio", help: "use standard input and output, as it always does",
    elsewhere: ["--stdin", "--pipe", "--socket"])
  static let manual = Option("--man", help: "print the manual page weft(1), for man(1)")
  static let directory = Option(
    "-C", value: ValueDescription(name: "DIR", kind: .directory),
    help: "change to DIR first; FILE and other paths are relative to it",
    elsewhere: ["--directory", "--chdir", "--cwd"])
  static let timeout = Option(
    "--timeout", value: ValueDescription(name: "D", kind: .text),
    help:
      "cancel the run after D, such as 90s or 1h30m, and exit 124; default: the workflow's timeout")
  static let events = Option(
    "--events", value: ValueDescription(name: "FILE|-|fd:N", kind: .file),
    help:
      "write each event as a line of JSON to FILE, to standard output (-) or to an open descriptor (fd:N); "
      + "with -, output for people goes to standard error")
  static let report = Option(
    "--report", value: ValueDescription(name: "[FORMAT=]FILE", kind: .file),
    help:
      "write a report to FILE when the run has ended, also if it failed or was cancelled; "
      + "FORMAT is html, markdown, junit, trace or csv, default: by the ending .html, .md, .xml, trace.json or .csv; repeatable",
    elsewhere: [
      "--html", "--junit", "--junit-xml", "--with-report", "--with-trace", "--profile", "--trace",
    ])
  static let otlp = Option(
    "--otlp", value: ValueDescription(name: "URL", kind: .text),
    help:
      "send the run as an OpenTelemetry trace to the collector at URL, such as http://localhost:4318; "
      + "default: OTEL_EXPORTER_OTLP_ENDPOINT, else no trace",
    elsewhere: ["--otel", "--otel-endpoint", "--otlp-endpoint", "--traces", "--telemetry"])
  static let only = Option(
    "--only", value: ValueDescription(name: "STEP", kind: .names(.step)),
    help: "run only this step or group, and its dependencies; repeatable",
    elsewhere: ["--target", "--targets", "--step", "--steps", "--job"])
  static let skip = Option(
    "--skip", value: ValueDescription(name: "STEP", kind: .names(.step)),
    help:
      "skip this step or group as if its \"if\" were false; steps that need it still run; repeatable",
    elsewhere: ["--exclude", "--without", "--skip-step"])
  static let from = Option(
    "--from", value: ValueDescription(name: "STEP", kind: .names(.step)),
    help: "run only this step or group, and its dependents; repeatable",
    elsewhere: ["--start-at", "--start-from", "--since"])
  static let runner = Option(
    "--runner", value: ValueDescription(name: "NAME", kind: .names(.runner)),
    help:
      "run commands on this runner of the workflow, with slurm as jobs, or with local on this machine, unless a step or group "
      + "names another; default: the workflow's runner",
    elsewhere: ["--executor", "--profile-name"])
  static let retryBudget = Option(
    "--retry-budget", value: ValueDescription(name: "PERCENT", kind: .text),
    help:
      "cap retries of network, HTTP and runner failures in a run at PERCENT% of its steps, plus 100; "
      + "default: 20")
  static let contexts = Option(
    "--contexts",
    value: ValueDescription(name: "FILE", kind: .existingFile(suffixes: [".json", ".jsonc"])),
    help: "read contexts from FILE, a JSON object with one member for each; - reads standard input",
    elsewhere: ["--context", "--values", "--vars"])
  static let dryRun = Option(
    "--dry-run", help: "print the graph and start nothing",
    elsewhere: ["-n", "--just-print", "--recon"])

  static let watch = Option(
    "--watch",
    help:
      "when the run has ended, wait until a file that it reads changes, and run again, until ^C",
    elsewhere: ["-w", "--continuous", "-t"])
  static let watchPath = Option(
    "--watch-path", value: ValueDescription(name: "PATH", kind: .file),
    help:
      "with --watch: also run again when this file, or one below this directory, changes; repeatable",
    elsewhere: ["--watch-dir", "--watch-file", "--watch-glob"])
  static let onChange = Option(
    "--on-change",
    value: .oneOf(
      .init("restart", "cancel it, and run again"),
      .init("finish", "wait for its end, and run again")),
    help: "with --watch: what to do with a run under way when a file changes; default: restart",
    elsewhere: ["--on-busy-update", "--restart"])

  static let input = Option(
    "-i", "--input", value: ValueDescription(name: "NAME=VALUE", kind: .names(.input)),
    help:
      "set an input; NAME=@FILE reads a file, NAME=@@TEXT sets text that begins with @, "
      + "NAME:=JSON sets any JSON value; repeatable",
    elsewhere: ["--param", "--parameter", "--set", "--var", "--arg", "-p", "-D", "-e", "--field"])
  static let inputs = Option(
    "--inputs",
    value: ValueDescription(name: "FILE", kind: .existingFile(suffixes: [".json", ".jsonc"])),
    help: "read inputs from FILE, a JSON object; - reads standard input; -i overrides",
    elsewhere: ["--input-file", "--params", "--params-file", "--vars", "--var-file", "--values"])

  static let containment = Option(
    "--containment",
    value: .oneOf(
      .init("auto", "the strongest available"),
      .init("cgroup", "a control group (cgroup v2) for each step"),
      .init("subreaper", "adopt orphaned processes"),
      .init("group+cookie", "only sessions, parents and the environment")),
    help: "how to track processes that steps start, so they can be killed; default: auto")

  static let output = Option(
    "--output",
    value: .oneOf(
      .init("auto", "what suits the device"),
      .init("stream", "every line as it arrives"),
      .init("group", "at most 20 lines of each step, when it ends"),
      .init("failed", "the same, of failed steps only"),
      .init("none", "only the last lines of failed steps, in the summary")),
    help: "how to show the output of steps; default: auto",
    elsewhere: [
      "--output-logs", "--log-order", "--output-sync", "--output-style", "--log-level", "-O",
      "-v", "--verbose",
    ])
  static let quiet = Option(
    "-q", help: "show only the output of failed steps, as --output failed does",
    elsewhere: ["--quiet", "--silent", "-s"])

  static let record = Option(
    "--record",
    value: .oneOf(
      .init("none", "no journal; the run cannot be resumed"),
      .init("process", "survives a crash or kill of weft"),
      .init("power", "survives a power loss; slower")),
    help: "what the journal survives; default: process",
    elsewhere: ["--journal", "--durability"])
  static let stateDirectory = Option(
    "--state-dir", value: ValueDescription(name: "DIR", kind: .directory),
    help:
      "keep runs in DIR; default: WEFT_DIR, else the nearest .weft here or above, else .weft in the directory where the run starts",
    elsewhere: ["--work-dir", "--workdir"])

  static let noCache = Option(
    "--no-cache", help: "ignore cached results (new results are still stored)",
    elsewhere: ["--force", "--rebuild", "--always-make", "-B"])
  static let cacheLimit = Option(
    "--cache-limit", value: ValueDescription(name: "SIZE", kind: .text),
    help:
      "limit the cache to SIZE, such as 2GiB, and remove the least recently used results; "
      + "default: WEFT_CACHE_LIMIT, else 10GiB", elsewhere: ["--cache-size", "--max-cache"])

  static let acceptChanges = Option(
    "--accept-changes",
    help:
      "continue with the current workflow, and rerun changed steps and their dependents; accept changed or "
      + "missing files that steps have made",
    elsewhere: ["--force", "--allow-changes"])
  static let rerun = Option(
    "--rerun", value: ValueDescription(name: "STEP", kind: .names(.step)),
    help:
      "rerun this step, group or element, whatever the journal says; with --no-cache, also if its "
      + "result is cached; repeatable",
    elsewhere: ["--redo", "--retry", "--again"])
  static let rerunInterrupted = Option(
    "--rerun-interrupted",
    help: "list the steps of which it is unknown how far they got, and rerun them",
    elsewhere: ["--rerun-all", "--rerun-failed"])
  static let skipInterrupted = Option(
    "--skip-interrupted",
    help:
      "list the steps of which it is unknown how far they got, and count them as done, without outputs",
    elsewhere: ["--ignore-interrupted", "--accept-interrupted"])
  static let resumeFrom = Option(
    "--from", value: ValueDescription(name: "STEP", kind: .names(.step)),
    help: "rerun this step or group, and its dependents; repeatable",
    elsewhere: ["--start-at", "--start-from", "--since"])
  static let trustRecord = Option(
    "--trust-record",
    help:
      "use the directory and the workflow file that the journal names, even if they are outside the current "
      + "directory, or the workflow came from standard input",
    elsewhere: ["--accept-location", "--trust"])
  static let salvage = Option(
    "--salvage", help: "continue from the intact part of a damaged journal",
    elsewhere: ["--repair", "--ignore-damage"])

  static let diagnosticFormat = Option(
    "--format",
    value: .oneOf(
      .init("text", "for people, with source lines"),
      .init("json", "one JSON document"),
      .init("sarif", "SARIF 2.1.0, for code scanning"),
      .init("github", "GitHub Actions annotations")),
    help: "set the output format; default: text", elsewhere: ["--output", "-o", "-f", "--json"])
  static let graphFormat = Option(
    "--format",
    value: .oneOf(
      .init("tree", "nested groups and steps"),
      .init("table", "one line for each step"),
      .init("dot", "for Graphviz"),
      .init("mermaid", "for Markdown"),
      .init("json", "one JSON document"),
      .init("svg", "a drawing"),
      .init("html", "the drawing as a web page")),
    help: "set the output format; default: tree", elsewhere: ["--output", "-o", "-f", "--json"])
}

extension Option {
  static let testFormat = Option(
    "--format",
    value: .oneOf(
      .init("text", "for people, with lines of the test file"),
      .init("json", "one JSON document"),
      .init("junit", "JUnit XML, for CI services")),
    help: "set the output format; default: text",
    elsewhere: ["--output", "-o", "-f", "--reporter", "--json"])
  static let fromRun = Option(
    "--from-run", value: ValueDescription(name: "RUN", kind: .names(.run)),
    help:
      "write a test file with the results of a recorded run to PATH, or to standard output; run nothing",
    elsewhere: ["--record", "--from"])
  static let initTest = Option(
    "--test", help: "write a first test, NAME.test.json, of the workflow NAME.json or NAME.jsonc",
    elsewhere: ["--tests"])
  static let seed = Option(
    "--seed", value: ValueDescription(name: "N", kind: .text),
    help: "try only the completion order N, which a failure has named", elsewhere: ["--order"])
}

extension CommandDescription {
  /// The commands in the order of the help text.
  static let all = beforeHelp + [help, version]

  private static let beforeHelp = [
    run, resume, approve, cancel, runs, show, logs, report, diff, list, check, fmt, graph, why,
    estimate, eval, lsp,
    test,
    reap, clean, schema, initialise, completions,
  ]

  private static let run = CommandDescription(
    .run, "run a workflow",
    details: [
      "Check the whole file, then start each step as soon as its dependencies are done.",
      "\"weft run FILE --help\" lists the inputs of FILE.",
      "The first ^C cancels the run gracefully, the second kills everything that still runs, the third exits "
        + "at once.",
      "Output of steps: on a terminal, that of a step that runs alone as it arrives, otherwise at most 20 lines "
        + "of each step when it ends; elsewhere every line, after the name of its step; in GitHub Actions in groups. "
        + "--output changes that, and \"weft logs\" prints all lines afterwards.",
      "Each run is kept in .weft/runs/ID: its journal, the logs of its steps and, at the end, a report.",
      "Ready steps start longest-path-first, by durations of earlier runs; with -j 1, in file order.",
      "A program that appends lines \"3/10 linking\" to the file $WEFT_PROGRESS gets a progress bar.",
      "With --watch, these files count: the workflow and the workflow and script files that it names, the patterns "
        + "in cache.inputs without cache.outputs, and --watch-path; not what .gitignore excludes. A file whose content "
        + "is as before starts nothing, and neither does one that five runs in a row have changed while they ran, "
        + "until it is changed between runs. Each run has its own record. ^C exits 130.",
      "With --otlp or OTEL_EXPORTER_OTLP_ENDPOINT, the run is sent as a trace to an OpenTelemetry collector, "
        + "as OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES and similar variables say, and each step has "
        + "TRACEPARENT. Lost spans are reported, and change no exit code.",
      "Exit codes: 0 success, 1 a step failed, 2 bad usage, 3 the file is rejected, 4 output or the journal "
        + "could not be written, 75 waiting for approval, 124 the run's time limit passed, "
        + "128+n ended by signal n.",
    ],
    operand: Operand(
      value: .workflowFile, count: .atMostOne, help: Operand.workflowHelp),
    options: [
      .input, .inputs, .noPrompt, .jobs, .keepGoing, .failFast, .strictRun, .directory, .timeout,
      .output,
      .quiet,
      .events, .report, .otlp, .only, .skip, .from, .runner, .retryBudget, .containment, .record,
      .stateDirectory,
      .keepAfterRun,
      .noCache, .cacheLimit, .dryRun, .watch, .watchPath, .onChange,
    ],
    contradictions: [
      [.keepGoing, .failFast], [.dryRun, .report], [.dryRun, .otlp], [.dryRun, .events],
      [.quiet, .output],
      [.dryRun, .watch],
    ], elsewhere: ["start", "exec", "execute", "up"])

  private static let list = CommandDescription(
    .list, "list the workflows of the project",
    details: [
      "List the workflow of the nearest directory, here or above, that has one (\(WorkflowFileName.ofProjects.joined(separator: ", "))), "
        + "and those in its folder \(WorkflowFileName.folder), with their inputs and steps, and the command that runs each."
    ],
    options: [.runDetailFormat, .directory],
    elsewhere: ["ls", "-l", "--list", "tasks", "workflows"])

  private static let check = CommandDescription(
    .check, "report all problems in workflow files",
    details: [
      "Report each problem with its location, code and remedy. Without --probe, start nothing.",
      "Exit codes: 0 no errors, 1 warnings with --strict, or a runner refuses (--probe), 2 bad usage, 3 a file is rejected.",
    ],
    operand: Operand(
      value: .workflowFile, count: .any, help: Operand.workflowHelp),
    options: [.diagnosticFormat, .strictCheck, .runner, .probe, .directory],
    elsewhere: ["lint", "validate", "verify"])

  private static let fmt = CommandDescription(
    .fmt, "format workflow files",
    details: [
      "Change white space only: indent by two spaces, and keep an array or object on one line if it begins there "
        + "and fits within \(JSONFormatter.width) columns, otherwise give each item a line of its own. Comments stay where they are.",
      "Print the name of each file that was changed. A file may hold any JSON; that of - is written to standard "
        + "output.",
      "Exit codes: 0 success, 1 a file would change (with --check), 2 bad usage, 3 a file is not valid JSON, "
        + "and is left alone, 4 a file cannot be written.",
    ],
    operand: Operand(
      value: .workflowFile, count: .any, help: Operand.workflowHelp),
    options: [.formatCheck, .directory], elsewhere: ["format"])

  private static let lsp = CommandDescription(
    .lsp, "serve editors",
    details: [
      "Speak the Language Server Protocol 3.17 on standard input and output: problems of a workflow as it is typed, "
        + "help for keys, names and what a step waits for, completion, definitions, references, renaming, an outline "
        + "and formatting. Configure an editor to start this command for workflow files.",
      "Exit codes: 0 the editor shut it down, 1 the editor went away, 4 the input is no such protocol.",
    ],
    options: [.standardStreams], elsewhere: ["language-server"])

  private static let graph = CommandDescription(
    .graph, "print the graph of a workflow",
    details: [
      "Check the inputs that are given; none is required. Start nothing, and write nothing but the graph.",
      "For steps with \"cache\", predict whether they will run, as far as possible.",
      "If FILE has been run before, show the duration of each step and the critical path.",
      "To draw the graph:\n  weft graph --format svg FILE > graph.svg",
    ],
    operand: Operand(
      value: .workflowFile, count: .atMostOne, help: Operand.workflowHelp),
    options: [.graphFormat, .input, .inputs, .only, .skip, .from, .directory, .stateDirectory],
    elsewhere: ["plan", "dry-run", "dag", "tree"])

  private static let why = CommandDescription(
    .why, "show why a cached step would run",
    details: [
      "Show whether STEP would run and, if so, what differs from the nearest cached result: which parts, "
        + "with both values. Start and write nothing.",
      "Parts are platform, command, cwd, element, stdin, env, inputs, outputs, key and version.",
      "Exit codes: 0 shown, 2 bad usage, an unknown step, or a step without \"cache\".",
    ],
    operands: [
      Operand(value: .workflowFile, count: .atMostOne, help: Operand.workflowHelp),
      Operand(
        value: ValueDescription(name: "STEP", kind: .names(.step)), count: .one,
        help: "step, as \"weft graph\" names it"),
    ],
    options: [.input, .inputs, .directory, .stateDirectory])

  private static let estimate = CommandDescription(
    .estimate, "predict how long a run takes",
    details: [
      "Predict the duration of a run from those of the steps in earlier runs, by scheduling them in virtual time, "
        + "for each -j. Start and write nothing.",
      "Show the critical path, the limits that make the run longer, and the steps whose speed-up shortens it "
        + "most. Beside a prediction is the duration of the latest run with the same -j, if there is one.",
      "  weft estimate -j 4 -j 8 --faster build=2x release.json",
      "Exit codes: 0 predicted, 1 no durations are recorded, 2 bad usage, 3 the file is rejected.",
    ],
    operand: Operand(
      value: .workflowFile, count: .atMostOne, help: Operand.workflowHelp),
    options: [
      .estimatedJobs, .faster, .input, .inputs, .only, .skip, .from, .noCache, .runDetailFormat,
      .directory, .stateDirectory,
    ])

  private static let eval = CommandDescription(
    .eval, "evaluate an expression",
    details: [
      "Print the value as one line of JSON. NaN and infinities, which JSON does not have, are printed as null.",
      "EXPR is bare, as in \"if\", or text with ${{ }}. Put -- before one that begins with a dash.",
      "Missing members of contexts are null. success() is true, and failure() and cancelled() are false, "
        + "unless job.status in the contexts is \"failure\" or \"cancelled\". hashFiles() and glob() "
        + "read below the current directory.",
      "  weft eval \"format('v{0}', inputs.version)\" --contexts contexts.json",
      "Exit codes: 0 success, 1 the expression has an error, 2 bad usage.",
    ],
    operand: Operand(
      value: ValueDescription(name: "EXPR", kind: .text), count: .one,
      help: "expression to evaluate"),
    options: [.contexts])

  private static let test = CommandDescription(
    .test, "run the tests of workflows",
    details: [
      "A test file (*.test.json) names a workflow, the results of its steps, and what a run must do. Nothing "
        + "real runs, unless the file says so, and time is virtual.",
      "Report each difference at its line of the test file, and the parts of the workflow that no case "
        + "reached.",
      "Exit codes: 0 all cases passed, 1 a case failed, 2 bad usage, 3 a file is rejected.",
    ],
    operand: Operand(
      value: ValueDescription(
        name: "PATH", kind: .existingFile(suffixes: [".test.json", ".test.jsonc"])), count: .any,
      help: "test file, or a directory to search; default: the current directory"),
    options: [.testFormat, .seed, .fromRun, .directory, .stateDirectory])

  private static let resume = CommandDescription(
    .resume, "continue a run that has not succeeded",
    details: [
      "Steps recorded as done do not run again. Processes left from the run are terminated first; then "
        + "failed, cancelled and blocked steps start again, with all their retries.",
      "A step that was running when weft was killed, or whose POST was sent and not answered, starts again if it "
        + "is \"idempotent\". Otherwise, how far it got is unknown, and it fails until --rerun-interrupted or "
        + "--rerun STEP runs it again, or --skip-interrupted counts it as done.",
      "Inputs are those of the run; give secret ones again, because they are not recorded.",
      "Exit codes: those of weft run; 3 the file has changed, 4 another weft has the run, or its journal is "
        + "damaged.",
    ],
    operand: .recordedRun,
    options: [
      .rerun, .rerunInterrupted, .skipInterrupted, .resumeFrom, .acceptChanges, .trustRecord,
      .salvage, .input,
      .inputs, .noPrompt, .jobs, .keepGoing, .failFast, .strictRun, .directory, .timeout, .output,
      .quiet, .events, .report, .otlp, .runner, .retryBudget, .containment, .record,
      .stateDirectory,
      .noCache,
      .cacheLimit,
    ],
    contradictions: [
      [.keepGoing, .failFast], [.rerunInterrupted, .skipInterrupted], [.quiet, .output],
    ], elsewhere: ["continue", "retry", "rerun", "restart"])

  private static let reap = CommandDescription(
    .reap, "kill processes left behind by a killed weft",
    details: [
      "A weft that was killed (kill -9, out of memory) leaves its processes running. Send them TERM, and "
        + "KILL after 10 seconds.",
      "Without RUN, reap all recorded runs, and list runs that are not recorded. Runs of a live weft, and "
        + "processes kept by \"leftovers\": \"keep\", are left alone.",
      "Exit codes: 0 nothing is left, 2 there is no such run, 4 its weft is alive, or a process could not be "
        + "terminated.",
    ],
    operand: Operand(
      value: ValueDescription(name: "RUN", kind: .names(.run)), count: .atMostOne,
      help: "id of a run, or the beginning of one; default: all recorded runs"),
    options: [.directory, .records])

  private static let schema = CommandDescription(
    .schema, "print a JSON Schema",
    details: [
      "Editors complete and check a workflow that names its schema:\n"
        + "  weft schema > workflow.schema.json\n"
        + "  { \"$schema\": \"workflow.schema.json\", \"steps\": [\"echo hello\"] }"
    ],
    operand: Operand(
      value: .oneOf(
        .init("workflow", "for workflow files"),
        .init("test", "for test files"),
        .init("event", "for the lines that --events writes")),
      count: .atMostOne,
      help: "schema to print; default: workflow"))

  private static let initialise = CommandDescription(
    .`init`, "write a first workflow, or a first test",
    details: [
      "Beside a workflow, workflow.schema.json is written, by which editors complete and check it. Existing files are never "
        + "overwritten."
    ],
    operand: Operand(
      value: ValueDescription(name: "FILE", kind: .file), count: .atMostOne,
      help:
        "file to write; default: workflow.json, or the test of the workflow here; - writes a "
        + "workflow to standard output"),
    options: [.initTest])

  private static let completions = CommandDescription(
    .completions, "print completions for a shell",
    details: [
      "To load them in every new shell:\n"
        + "  bash  echo 'source <(weft completions bash)' >> ~/.bashrc\n"
        + "  zsh   echo 'source <(weft completions zsh)' >> ~/.zshrc     (after compinit)\n"
        + "  fish  weft completions fish > ~/.config/fish/completions/weft.fish"
    ],
    operand: Operand(
      value: .oneOf(.init("bash"), .init("zsh"), .init("fish")), count: .one,
      help: "shell to print completions for"))

  private static let help = CommandDescription(
    .help, "print help for a command",
    details: ["With --man, print the manual page of all commands: weft help --man | man -l -"],
    operand: Operand(
      value: ValueDescription(
        name: "COMMAND",
        kind: .choice(
          beforeHelp.map { .init($0.name.rawValue, $0.summary) } + [
            .init("help", "print help for a command"), .init("version", version.summary),
          ])),
      count: .atMostOne, help: "command to explain; default: list all commands"),
    options: [.manual])

  private static let version = CommandDescription(
    .version, "print the version", details: [])
}

extension KeyOwner {
  /// The keys that another tool's name may mean, the likeliest first.
  static let elsewhere: [String: [String]] = Dictionary(
    synonyms.flatMap { keys, names in names.map { ($0, keys) } }, uniquingKeysWith: +)

  /// Names that make-like tools, CI services and workflow engines use for these keys.
  private static let synonyms: [(keys: [String], names: [String])] = [
    (["run"], ["command", "cmd", "script", "exec"]),
    (
      ["needs"],
      [
        "dependsOn", "depends_on", "depends", "dependencies", "deps", "requires", "after",
        "upstream",
      ]
    ),
    (["env"], ["environment", "variables", "variable"]),
    (
      ["cwd"],
      ["working-directory", "workingDirectory", "working_dir", "workdir", "dir", "directory"]
    ),
    (
      ["allowFailure"],
      ["continue-on-error", "continueOnError", "ignoreErrors", "allow_failure", "ignore_errors"]
    ),
    (["steps"], ["jobs", "tasks", "sequence"]),
    (["maxParallel"], ["concurrency", "max-parallel", "max_parallel", "parallelism"]),
    (["onFailure"], ["fail-fast", "failFast"]),
    (["concurrency"], ["singleton", "mutex", "exclusive", "maxActiveRuns", "max_active_runs"]),
    (["key"], ["group"]),
    (["policy"], ["cancel-in-progress", "cancelInProgress", "onConflict"]),
    (["stdin"], ["input"]),
    (["inputs"], ["parameters", "params", "args", "arguments"]),
    (["with"], ["parameters", "params"]),
    (
      ["stop"],
      [
        "stopSignal", "killSignal", "KillSignal", "stop_signal", "gracePeriod", "stop_grace_period",
        "terminationGracePeriod", "terminationGracePeriodSeconds",
      ]
    ),
    (
      ["stallTimeout"],
      ["noOutputTimeout", "no_output_timeout", "idleTimeout", "inactivityTimeout"]
    ),
    (["mergeOutput"], ["mergeStderr", "redirect_stderr"]),
    (["logLimit"], ["maxLogSize", "maxOutput", "outputLimit"]),
    (["tty"], ["interactive", "pty", "terminal"]),
    (["leftovers"], ["background", "daemon", "killGroup", "KillMode", "killMode"]),
    (["signal"], ["name"]),
    (["grace", "within"], ["timeout"]),
    (["grace"], ["period", "gracePeriodSeconds"]),
    (["descriptor"], ["fd"]),
    (["file"], ["path"]),
    (["command"], ["argv"]),
    (["secrets"], ["secret"]),
    (["envPolicy"], ["inheritEnv", "cleanEnv"]),
    (["if"], ["when", "condition", "only_if", "rules"]),
    (["retry"], ["retries", "retryStrategy", "retry_policy", "retryPolicy"]),
    (
      ["max"],
      ["attempts", "maxAttempts", "max_attempts", "max_retries", "maxRetries", "limit", "times"]
    ),
    (
      ["delay"],
      [
        "interval", "intervalSec", "interval_sec", "IntervalSeconds", "initialDelay", "wait",
        "sleep", "pause",
      ]
    ),
    (["wait"], ["sleep", "delay", "pause", "suspend"]),
    (["factor"], ["backoff", "backoffRate", "BackoffRate", "multiplier", "exponent"]),
    (["maxDelay"], ["maxInterval", "max_delay", "MaxDelaySeconds", "cap", "maxBackoff"]),
    (["within"], ["deadline", "maxDuration", "elapsed"]),
    (["on"], ["errors", "ErrorEquals", "retryOn", "classes"]),
    (["when"], ["if", "condition"]),
    (["until"], ["at", "time", "date"]),
    (["message"], ["prompt", "text", "title", "question", "description"]),
    (["approve"], ["approval", "manual", "input_form"]),
    (["workflow"], ["uses", "call", "subworkflow", "template", "flow"]),
    (["use"], ["action", "function", "handler", "activity", "plugin"]),
    (["http"], ["request", "fetch", "curl", "url", "web", "rest"]),
    (["url"], ["uri", "endpoint", "href", "address"]),
    (["query"], ["params", "parameters", "qs", "searchParams", "queryParams"]),
    (["headers"], ["header"]),
    (["json", "body"], ["data", "payload", "content"]),
    (["bodyFile"], ["file", "upload", "uploadFile", "dataBinary"]),
    (["form"], ["formData", "urlencoded", "fields"]),
    (["auth"], ["authorization", "authentication", "credentials"]),
    (["user"], ["username", "login", "name"]),
    (["password"], ["pass", "secret"]),
    (["bearer"], ["token", "oauth2"]),
    (["saveTo"], ["output", "outputFile", "download", "dest", "destination", "target"]),
    (["maxBytes"], ["maxSize", "limit", "maxBodySize"]),
    (["redirects"], ["followRedirects", "maxRedirects", "follow"]),
    (["expect"], ["status", "statusCode", "success_codes", "assert", "validStatus"]),
    (["tls"], ["ssl", "verify", "cert"]),
    (["caFile"], ["ca", "cacert", "caCert", "caBundle"]),
    (["certFile"], ["cert", "certificate", "clientCert"]),
    (["keyFile"], ["key", "privateKey", "clientKey"]),
    (["every"], ["interval", "delay", "period"]),
    (["pages"], ["pagination", "paginate"]),
    (["response"], ["responseType", "responseFormat", "parse"]),
    (["idempotencyKey"], ["idempotent", "requestId"]),
    (["fileName"], ["filename", "name"]),
    (["contentType"], ["type", "mimeType"]),
    (["value"], ["text", "content"]),
    (["total"], ["max", "timeout", "all"]),
    (["atLeast"], ["min", "minimum", "quorum", "count", "successes"]),
    (["race"], ["any", "first", "anyOf"]),
    (["forEach"], ["foreach", "for_each", "for", "loop", "each", "map", "with_items", "items"]),
    (["in"], ["items", "list", "of", "values", "over", "elements"]),
    (["as"], ["var", "item", "name", "variable", "loop_var"]),
    (["matrix"], ["strategy"]),
    (
      ["tolerate"],
      ["ToleratedFailureCount", "ToleratedFailurePercentage", "allowedFailures", "maxFailures"]
    ),
    (["slots"], ["size", "capacity", "limit", "max", "count"]),
    (["rate"], ["rateLimit", "throttle"]),
    (["pool", "pools"], ["semaphore", "mutex", "lock", "resources", "resource_group"]),
    (["pools"], ["queues"]),
    (["cleanup"], ["teardown", "after_script", "defer", "onExit", "post", "handlerOn"]),
    (["finally"], ["always", "onExit", "after_all", "handlerOn"]),
    (["defaults"], ["default"]),
    (["cache"], ["memoize", "memo", "incremental", "upToDate"]),
    (["inputs"], ["sources", "files", "deps", "srcs", "in"]),
    (["outputs"], ["generates", "artifacts", "paths", "targets", "out", "outs"]),
    (["version"], ["tool", "toolVersion", "compiler"]),
    (["idempotent"], ["safe", "reentrant", "rerunnable", "restartable"]),
    (["onInterrupted"], ["onCrash", "onAbort", "interruptible"]),
  ]
}

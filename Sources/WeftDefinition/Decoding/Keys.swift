import WeftDiagnostics

/// The keys of the top level.
enum WorkflowKey: String, ObjectKey {
  case schema = "$schema"
  case name, description, env, cwd, shell, maxParallel, timeout, onFailure, steps, parallel
  case secrets, envPolicy
  case inputs
  case outputs

  static let table = KeyTable<WorkflowKey>()
}

/// The keys of a step, whatever its action.
enum StepKey: String, ObjectKey {
  case id, run, needs, name, description, env, cwd, shell, stdin, timeout, allowFailure
  case successCodes, steps, parallel, maxParallel
  case envPolicy
  case stop, leftovers, stallTimeout, mergeOutput, logLimit, tty, jobserver, outputs

  static let table = KeyTable<StepKey>()
}

/// The keys of `stdin` where it is an object.
enum StandardInputKey: String, ObjectKey {
  case file, log

  static let table = KeyTable<StandardInputKey>()
}

/// The keys of `stop`.
enum StopKey: String, ObjectKey {
  case signal, grace

  static let table = KeyTable<StopKey>()
}

/// The keys of a secret.
enum SecretKey: String, ObjectKey {
  case env, file, command, descriptor, timeout, description

  static let table = KeyTable<SecretKey>()
}

/// The object that a key stands in.
enum KeyOwner: Hashable, CaseIterable {
  case workflow, step, stdin, stop, secret

  var noun: String {
    switch self {
    case .workflow: "a workflow"
    case .step: "a step"
    case .stdin: "\"stdin\""
    case .stop: "\"stop\""
    case .secret: "a secret"
    }
  }

  /// What there is to choose from.
  var keys: [String] {
    switch self {
    case .workflow: WorkflowKey.allCases.map(\.rawValue)
    case .step: StepKey.allCases.map(\.rawValue)
    case .stdin: StandardInputKey.allCases.map(\.rawValue)
    case .stop: StopKey.allCases.map(\.rawValue)
    case .secret: SecretKey.allCases.map(\.rawValue)
    }
  }

  /// The keys in a sentence.
  var listing: String { KeyOwner.vocabularies[self]?.listing ?? "" }

  /// The known key that was probably meant.
  func nearest(to key: String) -> String? {
    if let known = KeyOwner.elsewhere[key], keys.contains(known) { return known }
    // Nearly every word of two letters is one letter away from "id".
    guard key.count > 2 || key.lowercased() == "id" else { return nil }
    return KeyOwner.vocabularies[self]?.names.nearest(to: key)
  }

  private struct Vocabulary {
    let names: NearestName
    let listing: String

    init(_ keys: [String]) {
      names = NearestName(keys)
      listing = keys.joined(separator: ", ")
    }
  }

  private static let vocabularies: [KeyOwner: Vocabulary] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, Vocabulary($0.keys)) })

  /// How make-like tools and CI services call what has another name here.
  private static let elsewhere: [String: String] = [
    "command": "run", "cmd": "run", "script": "run", "exec": "run",
    "dependsOn": "needs", "depends_on": "needs", "depends": "needs", "dependencies": "needs",
    "deps": "needs", "requires": "needs", "after": "needs",
    "environment": "env", "variables": "env",
    "working-directory": "cwd", "workingDirectory": "cwd", "working_dir": "cwd", "workdir": "cwd",
    "dir": "cwd", "directory": "cwd",
    "continue-on-error": "allowFailure", "continueOnError": "allowFailure",
    "ignoreErrors": "allowFailure", "allow_failure": "allowFailure",
    "jobs": "steps", "tasks": "steps", "sequence": "steps", "concurrency": "maxParallel",
    "fail-fast": "onFailure", "failFast": "onFailure", "input": "stdin",
    "parameters": "inputs", "params": "inputs", "args": "inputs", "arguments": "inputs",
    "stopSignal": "stop", "killSignal": "stop", "KillSignal": "stop", "stop_signal": "stop",
    "gracePeriod": "stop", "stop_grace_period": "stop", "terminationGracePeriod": "stop",
    "terminationGracePeriodSeconds": "stop",
    "noOutputTimeout": "stallTimeout", "no_output_timeout": "stallTimeout",
    "idleTimeout": "stallTimeout", "inactivityTimeout": "stallTimeout",
    "mergeStderr": "mergeOutput", "redirect_stderr": "mergeOutput", "maxLogSize": "logLimit",
    "maxOutput": "logLimit", "outputLimit": "logLimit",
    "interactive": "tty", "pty": "tty", "terminal": "tty", "background": "leftovers",
    "daemon": "leftovers", "killGroup": "leftovers", "KillMode": "leftovers",
    "killMode": "leftovers", "name": "signal", "timeout": "grace",
    "period": "grace", "gracePeriodSeconds": "grace",
    "fd": "descriptor", "path": "file", "variable": "env", "argv": "command", "secret": "secrets",
    "inheritEnv": "envPolicy", "cleanEnv": "envPolicy",
  ]
}

/// The kind of a step's action, by its key; a step without an action key computes.
enum ActionKind: Hashable {
  case run, steps, parallel, race, wait, approve, workflow, use, http, compute

  init(_ order: StepGroup.Order) {
    switch order {
    case .steps: self = .steps
    case .parallel: self = .parallel
    case .race: self = .race
    }
  }

  var isGroup: Bool {
    switch self {
    case .steps, .parallel, .race: true
    case .run, .wait, .approve, .workflow, .use, .http, .compute: false
    }
  }

  private var makesAttempts: Bool { self == .run || self == .use || self == .http }

  /// Whether such a step may have `key`, which not all steps may have.
  func allows(_ key: StepKey) -> Bool {
    switch key {
    case .retry: makesAttempts || self == .workflow || isGroup
    case .pool, .idempotent, .onInterrupted: makesAttempts
    case .maxParallel: isGroup
    case .join: self == .parallel
    case .with: self == .workflow || self == .use
    default: self == .run
    }
  }
}

package import WeftDefinition
package import WeftJSON
package import WeftPlanning
package import WeftPlatform

/// What is written down of a run before it is acted upon: everything that happens but output, and beside it
/// what another engine needs to go on where this one ended.
package struct RunRecord: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// An engine has taken up the run: first of all, and again whenever it is resumed.
    indirect case opened(RecordOpening)
    /// What subscribers are told, `stepFinished`, `stepCached` and `stepWaiting` excepted.
    case event(RunEvent.Kind)
    /// A step has ended; with what expressions read of it, so that both are there or neither.
    indirect case finished(StepAddress, StepEnd, KeptValues)
    /// The same of a step that was not run, since it had made the same before.
    indirect case cached(StepAddress, StepEnd, KeptValues)
    /// The program of the attempt runs.
    case spawned(StepAddress, attempt: Int, ProcessIdentity)
    /// The program of the attempt has ended, and what it left alive is to stay.
    case kept(StepAddress, attempt: Int)
    /// What a step or group is run for, as its expressions came to.
    indirect case listed(StepAddress, RecordedElements)
    /// A group that an earlier engine had begun does not start in this one; subscribers hear of that from its
    /// members.
    case groupSkipped(StepAddress, SkipReason)
    /// Records of these steps count no more: the run has ended, and what is around them was left out as a whole, or
    /// tried again without coming to them.
    indirect case outdated([StepAddress])
    /// The step waits until then, whoever runs the engine meanwhile.
    case waiting(StepAddress, until: WallTime)
  }

  /// Counts from 1, without gaps, over all engines that the run had.
  package var number: UInt64
  /// By the clock on the wall when the engine started, going on by one that does not jump; whole
  /// milliseconds once it has been read back.
  package var at: WallTime
  package var kind: Kind

  package init(number: UInt64, at: WallTime, _ kind: Kind) {
    self.number = number
    self.at = at
    self.kind = kind
  }
}

extension RunRecord.Kind {
  /// An event as it is recorded.
  package init(_ event: RunEvent.Kind, keeping values: KeptValues = KeptValues()) {
    switch event {
    case .stepFinished(let step, let end): self = .finished(step, end, values)
    case .stepCached(let step, let end): self = .cached(step, end, values)
    default: self = .event(event)
    }
  }

  /// Whether something begins after it that must not begin without it.
  package var announcesAct: Bool {
    switch self {
    case .opened, .listed, .waiting: true
    case .event(let event):
      switch event {
      case .runStarted, .stepStarted, .groupStarted: true
      case .stepQueued, .stepOutput, .stepRetrying, .stepFinished, .stepRestored, .stepCached,
        .stepSkipped,
        .groupRetrying,
        .groupFinished, .runWarning, .runCancelling, .runFinished, .stepAsking, .stepWaiting,
        .runWaiting,
        .outputDropped, .snapshot:
        false
      }
    case .finished, .cached, .spawned, .kept, .groupSkipped, .outdated: false
    }
  }

  /// Whether what follows from it must not be seen before it is safe.
  package var isDecisive: Bool {
    switch self {
    case .opened, .finished, .cached, .listed, .waiting: true
    case .event(let event):
      switch event {
      case .runStarted, .stepStarted, .stepRetrying, .groupStarted, .groupRetrying, .groupFinished,
        .stepAsking, .runWaiting, .runFinished:
        true
      case .stepQueued, .stepWaiting, .stepOutput, .stepFinished, .stepRestored, .stepCached,
        .stepSkipped,
        .runWarning,
        .runCancelling,
        .outputDropped, .snapshot:
        false
      }
    case .spawned, .kept, .groupSkipped, .outdated: false
    }
  }
}

extension RunRecord.Kind {
  /// The step that it is about.
  package var step: StepAddress? {
    switch self {
    case .finished(let step, _, _), .cached(let step, _, _), .spawned(let step, _, _),
      .kept(let step, _),
      .waiting(let step, _):
      step
    case .event(let event):
      switch event {
      case .stepQueued(let step, _), .stepStarted(let step, _), .stepRetrying(let step, _),
        .stepFinished(let step, _), .stepRestored(let step, _), .stepCached(let step, _),
        .stepSkipped(let step, _), .stepAsking(let step, _), .stepWaiting(let step, _),
        .stepOutput(let step, _):
        step
      case .runStarted, .groupStarted, .groupRetrying, .groupFinished, .runWarning, .runCancelling,
        .runFinished, .runWaiting, .outputDropped, .snapshot:
        nil
      }
    case .opened, .listed, .groupSkipped, .outdated: nil
    }
  }
}

/// An engine, and the run that it has taken up.
package struct RecordOpening: Sendable, Hashable {
  /// It grows when a reader of the old form would misunderstand the new.
  ///
  /// Since 2, `[`, `]` and `\` in the keys of elements, and white space at their ends, are escaped in addresses. There
  /// are records of groups that are skipped, and of what is to run again.
  package static let currentFormat = 2

  package var run: RunID
  /// How often the run has been resumed: 0 when it begins.
  package var resumption: Int
  /// How the records of the engine are written.
  package var format = RecordOpening.currentFormat
  /// The version of Weft that writes.
  package var version: String
  /// The workflow's name; `nil` if it has none.
  package var workflow: String?
  /// The path of the workflow file as it was given; `nil` for a workflow built in Swift.
  package var file: String?
  /// SHA-256 of the file's bytes, in hexadecimal digits; `nil` for a workflow built in Swift.
  package var hash: String?
  /// The files that it runs, and those run by them.
  package var nested: [RecordedFile]
  /// Where the engine stands, which relative paths are relative to.
  package var directory: String?
  /// What was given, and defaults; of what is secret, the names.
  package var inputs: [HandedOn]
  /// What was left out by whoever started the run.
  package var leftOut: [StepAddress]
  /// The steps to run again though they are recorded as done, for this engine and all that follow: those of the
  /// plan, for all elements of a loop, and those of single elements.
  package var rerun: [StepAddress]
  /// The process that runs the engine.
  package var engine: ProcessIdentity
  /// Tells the boot of the machine by which process ids and ticks are meant.
  package var bootID: String
  /// By which the programs that it starts are known; `nil` in a record of a Weft that had none.
  package var cookie: EngineCookie?

  package init(
    run: RunID, resumption: Int = 0, version: String = WeftVersion.current, workflow: String? = nil,
    file: String? = nil, hash: String? = nil, nested: [RecordedFile] = [], directory: String? = nil,
    inputs: [HandedOn] = [], leftOut: [StepAddress] = [], rerun: [StepAddress] = [],
    engine: ProcessIdentity = ThisProcess.identity,
    bootID: String = Machine.bootID, cookie: EngineCookie? = nil
  ) {
    self.run = run
    self.resumption = resumption
    self.version = version
    self.workflow = workflow
    self.file = file
    self.hash = hash
    self.nested = nested
    self.directory = directory
    self.inputs = inputs
    self.leftOut = leftOut
    self.rerun = rerun
    self.engine = engine
    self.bootID = bootID
    self.cookie = cookie
  }
}

extension [InputDeclaration] {
  /// The same for a run that is gone on with: what was given and is not recorded, since a secret stood in it, has to
  /// be given again, and no default takes its place.
  package func demanding(_ recorded: [HandedOn]) -> [InputDeclaration] {
    map { declaration in
      let isWithheld = recorded.contains { $0.name == declaration.name.text && $0.value == nil }
      guard isWithheld, !declaration.isSecret else { return declaration }
      var demanded = declaration
      demanded.defaultValue = nil
      return demanded
    }
  }
}

/// A file that a run has read.
package struct RecordedFile: Sendable, Hashable {
  package var path: String
  /// SHA-256 of its bytes, in hexadecimal digits.
  package var hash: String

  package init(path: String, hash: String) {
    self.path = path
    self.hash = hash
  }
}

/// What a step or group is run for.
package struct RecordedElements: Sendable, Hashable {
  package struct Element: Sendable, Hashable {
    package var key: String
    /// `nil` of what is secret.
    package var value: JSONValue?

    package init(key: String, value: JSONValue?) {
      self.key = key
      self.value = value
    }
  }

  package var elements: [Element]
  package var isSecret: Bool

  package init(elements: [Element], isSecret: Bool = false) {
    self.elements = elements
    self.isSecret = isSecret
  }
}

/// What expressions read of a step beside how it ended and what it hands on, where somebody does, and what others
/// find where it has left it.
package struct KeptValues: Sendable, Hashable {
  package var stdout: KeptText?
  package var stderr: KeptText?
  /// What an action has returned.
  package var returned: KeptValue?
  private var boxedAnswer: Boxed<KeptAnswer>?
  /// What the step has made, as far as it said what it makes.
  package var files: [KeptFile]

  package init(
    stdout: KeptText? = nil, stderr: KeptText? = nil, returned: KeptValue? = nil,
    answer: KeptAnswer? = nil, files: [KeptFile] = []
  ) {
    self.stdout = stdout
    self.stderr = stderr
    self.returned = returned
    boxedAnswer = answer.map(Boxed.holding)
    self.files = files
  }

  /// What a request was answered.
  package var answer: KeptAnswer? {
    get { boxedAnswer?.value }
    set { boxedAnswer = newValue.map(Boxed.holding) }
  }

  package var isEmpty: Bool {
    stdout == nil && stderr == nil && returned == nil && boxedAnswer == nil && files.isEmpty
  }

  /// Whether a part of it is secret, and so is not there.
  package var lacksSecrets: Bool {
    stdout == .secret || stderr == .secret || returned == .secret || answer?.lacksSecrets == true
  }
}

/// What expressions read of an answer beside its status and whether it was old, which the end of the step tells.
package struct KeptAnswer: Sendable, Hashable {
  package var headers: KeptValue
  /// `nil` where nobody reads it, or a file has it. It has no more than ``WorkflowLimits/valueBytes``.
  package var body: KeptText?
  /// Whether the body is read as JSON.
  package var isJSON: Bool
  /// The JSON text of what was collected of all pages; likewise.
  package var collected: KeptText?

  package init(
    headers: KeptValue, body: KeptText? = nil, isJSON: Bool = false, collected: KeptText? = nil
  ) {
    self.headers = headers
    self.body = body
    self.isJSON = isJSON
    self.collected = collected
  }

  fileprivate var lacksSecrets: Bool {
    headers == .secret || body == .secret || collected == .secret
  }
}

/// What a step wrote, as an expression sees it.
package enum KeptText: Sendable, Hashable {
  /// Without its last newline.
  case text(String)
  /// It holds a secret, and is written down nowhere.
  case secret
  /// It is no value: an expression that reads it fails.
  case tooLong
  case notUTF8
}

package enum KeptValue: Sendable, Hashable {
  case value(JSONValue)
  case secret
}

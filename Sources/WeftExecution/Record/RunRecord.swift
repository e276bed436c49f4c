package import WeftDefinition
package import WeftJSON
package import WeftPlanning
package import WeftPlatform

/// One record of a run's journal, written before the engine acts on it. The records are all events except output, and
/// what another engine needs in order to resume the run.
package struct RunRecord: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// An engine started the run, or resumed it. Always the first record of an engine.
    indirect case opened(RecordOpening)
    /// An event, as subscribers get it; `stepFinished`, `stepCached` and `stepWaiting` have records of their own.
    case event(RunEvent.Kind)
    /// A step ended. Contains the values that expressions read of it, so that the end and the values are recorded
    /// together or not at all.
    indirect case finished(StepAddress, StepEnd, RecordedValues)
    /// A step was restored from the cache, with the same contents as `finished`.
    indirect case cached(StepAddress, StepEnd, RecordedValues)
    /// The program of the attempt was spawned.
    case spawned(StepAddress, attempt: Int, ProcessIdentity)
    /// The program of the attempt ended, and its leftover processes are allowed to stay.
    case kept(StepAddress, attempt: Int)
    /// The elements of a loop, as its expressions evaluated to them.
    indirect case listed(StepAddress, RecordedElements)
    /// A group that an earlier engine started is skipped by this one; subscribers learn that from its members.
    case groupSkipped(StepAddress, SkipReason)
    /// The records of these steps no longer count: the run ended, and a group around them was skipped as a whole, or
    /// tried again without reaching them.
    indirect case outdated([StepAddress])
    /// The step waits until that moment, under any engine.
    case waiting(StepAddress, until: WallTime)
  }

  /// Counts from 1, without gaps, across all engines of the run.
  package var number: UInt64
  /// The wall clock at the engine's start, advanced by a monotonic clock; in whole milliseconds once it was read
  /// back.
  package var at: WallTime
  package var kind: Kind

  package init(number: UInt64, at: WallTime, _ kind: Kind) {
    self.number = number
    self.at = at
    self.kind = kind
  }
}

extension RunRecord.Kind {
  /// The record of an event.
  package init(_ event: RunEvent.Kind, keeping values: RecordedValues = RecordedValues()) {
    switch event {
    case .stepFinished(let step, let end): self = .finished(step, end, values)
    case .stepCached(let step, let end): self = .cached(step, end, values)
    default: self = .event(event)
    }
  }

  /// Whether the action that the record announces must not start before it is written.
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

  /// Whether its consequences must not be visible before the record is durable.
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
  /// The step that the record is about.
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

/// The first record of an engine: the engine, and the run that it starts or resumes.
package struct RecordOpening: Sendable, Hashable {
  /// The version of the journal format. It grows when a reader of the old format would misunderstand the new one.
  ///
  /// Since 2, `[`, `]` and `\` in the keys of elements, and white space at their ends, are escaped in addresses, and
  /// there are records of skipped groups and of steps to rerun.
  package static let currentFormat = 2

  package var run: RunID
  /// The number of times the run was resumed; 0 for its first engine.
  package var resumption: Int
  /// The format of the engine's records.
  package var format = RecordOpening.currentFormat
  /// The version of the Weft that writes them.
  package var version: String
  package var workflow: String?
  /// The path of the workflow file as given; `nil` for a workflow built in Swift.
  package var file: String?
  /// SHA-256 of the file's bytes, in hexadecimal digits; `nil` for a workflow built in Swift.
  package var hash: String?
  /// The nested workflow files, at any depth.
  package var nested: [RecordedFile]
  /// The directory that relative paths are relative to.
  package var directory: String?
  /// The given inputs and the defaults; for secret inputs, only the names.
  package var inputs: [HandedOn]
  /// The steps that the caller excluded from the run.
  package var leftOut: [StepAddress]
  /// The steps to rerun though they are recorded as done, by this engine and all later ones: steps of the plan, for
  /// all elements of a loop, and steps of single elements.
  package var rerun: [StepAddress]
  /// The process of the engine.
  package var engine: ProcessIdentity
  /// Identifies the boot of the machine to which process ids and start ticks refer.
  package var bootID: String
  /// Identifies the programs that the engine spawns; `nil` in records of a Weft without cookies.
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
  /// Returns the declarations for a resumed run. An input that was given and is not recorded, because its value
  /// contained a secret, must be given again: its declaration loses the default.
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

/// The elements of a loop.
package struct RecordedElements: Sendable, Hashable {
  package struct Element: Sendable, Hashable {
    package var key: String
    /// `nil` if it is secret.
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

/// The values of a step that expressions read, besides its end and its outputs, and the files that it left for other
/// steps. Values that no expression reads are not kept.
package struct RecordedValues: Sendable, Hashable {
  package var stdout: RecordedText?
  package var stderr: RecordedText?
  /// The value that an action returned.
  package var returned: RecordedValue?
  private var boxedAnswer: Boxed<RecordedResponse>?
  /// The files that the step wrote, as far as it declares them.
  package var files: [RecordedOutputFile]

  package init(
    stdout: RecordedText? = nil, stderr: RecordedText? = nil, returned: RecordedValue? = nil,
    answer: RecordedResponse? = nil, files: [RecordedOutputFile] = []
  ) {
    self.stdout = stdout
    self.stderr = stderr
    self.returned = returned
    boxedAnswer = answer.map(Boxed.holding)
    self.files = files
  }

  /// The response to a request.
  package var answer: RecordedResponse? {
    get { boxedAnswer?.value }
    set { boxedAnswer = newValue.map(Boxed.holding) }
  }

  package var isEmpty: Bool {
    stdout == nil && stderr == nil && returned == nil && boxedAnswer == nil && files.isEmpty
  }

  /// Whether a value is secret, and therefore missing.
  package var lacksSecrets: Bool {
    stdout == .secret || stderr == .secret || returned == .secret || answer?.lacksSecrets == true
  }
}

/// The parts of a response that expressions read, besides the status and whether it came from a cache, which are part
/// of the step's end.
package struct RecordedResponse: Sendable, Hashable {
  package var headers: RecordedValue
  /// `nil` if no expression reads it, or it was saved to a file. At most ``WorkflowLimits/valueBytes``.
  package var body: RecordedText?
  /// Whether the body is read as JSON.
  package var isJSON: Bool
  /// The JSON text of the items collected from all pages; `nil` and limited like `body`.
  package var collected: RecordedText?

  package init(
    headers: RecordedValue, body: RecordedText? = nil, isJSON: Bool = false,
    collected: RecordedText? = nil
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

/// The output of a step as an expression reads it.
package enum RecordedText: Sendable, Hashable {
  /// Without the last newline.
  case text(String)
  /// It contains a secret, and is not recorded.
  case secret
  /// It has no value: an expression that reads it fails.
  case tooLong
  case notUTF8
}

package enum RecordedValue: Sendable, Hashable {
  case value(JSONValue)
  case secret
}

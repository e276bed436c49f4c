import WeftDefinition
package import WeftPlatform

/// The recorded state of a step.
package struct RecordedStep: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    case queued
    /// The attempt started, and may have taken effect.
    case started(attempt: Int)
    /// The attempt failed, and another was to follow.
    case retrying(Retry)
    case finished(StepEnd, RecordedValues)
    case skipped(SkipReason)
  }

  package var state: State
  /// The number of the record of this state.
  package var number: UInt64 = 0
  /// The number of the record of the last started attempt, whatever the state is now; 0 if none started.
  package var lastStart: UInt64 = 0
  /// The engine that wrote the record, as the ``RecordOpening/resumption`` of the run.
  package var engine = 0
  /// The pools from which it takes slots.
  package var pools: [String] = []
  /// The start of its first attempt in that engine's part of the run; `nil` if none started.
  package var startedAt: WallTime?
  /// Whether its result was restored from the cache.
  package var isCached = false
  /// The process of a step in doubt. Start ticks and process id belong to the boot that the engine's
  /// ``RecordOpening`` names.
  package var process: ProcessIdentity?
  /// The moment at which a wait ends, under any engine; `nil` for other steps.
  package var waitsUntil: WallTime?
  /// The message of the approval that the step waits for; `nil` if it waits for none.
  package var question: String?
  /// Whether the last engine ended the run without reaching the step, so that no report contains it.
  package var isOutdated = false
  /// The reason why a later engine skipped a step in doubt.
  package var excluded: SkipReason?

  package init(_ state: State) {
    self.state = state
  }

  /// Whether it is unknown if the step took effect. Also true if a later engine left it in doubt, and reported that
  /// by a failure of the class ``ErrorClass/inDoubt``.
  package var isInDoubt: Bool {
    switch state {
    // A step that waits for an approval has no effects.
    case .started: question == nil
    case .finished(let end, _): end.failure?.classes.contains(.inDoubt) ?? false
    case .queued, .retrying, .skipped: false
    }
  }
}

/// The recorded state of a group or loop.
package struct RecordedGroup: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// Only the elements of the loop are recorded.
    case listed
    case started(GroupStart)
    case retrying(Retry)
    case finished(GroupEnd)
    /// An earlier engine started it, and a later one skipped it.
    case skipped(SkipReason)
  }

  package var state = State.listed
  /// The number of the last record about the group itself.
  package var number: UInt64 = 0
  /// The number of the record of its last start, whatever the state is now; 0 if it never started.
  package var lastStart: UInt64 = 0
  /// The number of the record that announced its latest retry; older records of its members are void.
  package var startedBy: UInt64 = 0
  /// Whether the current engine reports it again although it is reusable.
  var isRestored = false
  /// The elements, if it is a loop.
  package var elements: RecordedElements?
  /// Elements that the loop had under an earlier engine and no longer has.
  package var formerElements: [RecordedElements.Element] = []
  /// The number of the record that lists the elements.
  package var listedBy: UInt64 = 0

  package init() {}

  /// All elements that may have started, the current ones first; empty if the list is secret.
  package var allElements: [RecordedElements.Element] {
    elements?.isSecret == true ? [] : (elements?.elements ?? []) + formerElements
  }
}

package import WeftDiagnostics
package import WeftJSON

/// A test file: a workflow, and cases that say what a run of it must do when its steps end in given ways.
///
/// ``TestFileDecoder`` reads it. Nothing here knows the workflow: whether its steps exist, and whether a case holds, is
/// for others to say, with the locations that are kept.
package struct TestFile: Sendable {
  package let source: SourceFile
  /// The path of the workflow, relative to the folder of the test file.
  package internal(set) var workflow: Placed<String>?
  /// The settings that all cases share.
  package internal(set) var settings = TestSettings()
  package internal(set) var cases: [TestCase] = []

  /// The location of a part of the file.
  package func place(_ range: SourceRange) -> Diagnostic.Place {
    Diagnostic.Place(file: source, range: range)
  }
}

/// A value of a test file and its location.
package struct Placed<Value: Sendable>: Sendable {
  package let value: Value
  package let range: SourceRange

  package init(_ value: Value, _ range: SourceRange) {
    self.value = value
    self.range = range
  }
}

/// A member of an object whose names the file chooses: its name, the location of that, and its value.
package struct Named<Value: Sendable>: Sendable {
  package let name: String
  package let range: SourceRange
  package let value: Value
}

/// The surroundings of a run, and the results of its steps.
package struct TestSettings: Sendable {
  package internal(set) var inputs: [JSONMember] = []
  package internal(set) var secrets: [Named<String>] = []
  /// The environment of the engine; nothing is inherited.
  package internal(set) var environment: [Named<String>] = []
  package internal(set) var steps: [StepScript] = []
}

/// A part of a test file that has ``TestSettings``.
protocol HasTestSettings: FormatObject {
  var settings: TestSettings { get set }
}

/// One case: a run in given surroundings, and what it must do.
package struct TestCase: Sendable {
  package internal(set) var name = Placed("", SourceRange(start: 0, end: 0))
  package internal(set) var settings = TestSettings()
  /// The wall clock at the start of the run.
  package internal(set) var startsAt: WallMoment?
  package internal(set) var maxParallel: Int?
  package internal(set) var onFailure: FailureResponse?
  package internal(set) var only: [Placed<String>] = []
  package internal(set) var skip: [Placed<String>] = []
  package internal(set) var from: [Placed<String>] = []
  package internal(set) var interruptions: [TestInterruption] = []
  /// The way in which the run is resumed after its first engine has ended; `nil` if it is not.
  package internal(set) var resumption: TestResumption?
  /// The number of completion orders to try.
  package internal(set) var orders = 1
  package internal(set) var expected = TestExpectations()

  /// The most orders of one case.
  package static let mostOrders = 100_000
}

/// An interference with a run from outside.
package struct TestInterruption: Sendable {
  package enum Act: String, Sendable, Hashable, CaseIterable {
    /// As the first ^C, or `weft cancel`.
    case cancel
    /// As the second ^C: without a grace period.
    case kill
    /// The engine is gone from one moment to the next, as after a power failure.
    case crash
    /// From now on the journal cannot be written.
    case fullDisk
  }

  package enum Moment: Sendable {
    case time(Duration)
    case start(of: Placed<String>)
    case end(of: Placed<String>)
  }

  package internal(set) var act = Placed(Act.cancel, SourceRange(start: 0, end: 0))
  package internal(set) var moment = Moment.time(.zero)
  package internal(set) var range = SourceRange(start: 0, end: 0)
}

/// The rules by which a run is resumed.
package struct TestResumption: Sendable {
  package enum Interrupted: String, Sendable, Hashable, CaseIterable {
    case fail, rerun, skip
  }

  package internal(set) var interrupted = Interrupted.fail
  package internal(set) var rerun: [Placed<String>] = []
  /// The results under the second engine; those of the case apply to other steps.
  package internal(set) var steps: [StepScript] = []
  package internal(set) var range = SourceRange(start: 0, end: 0)
}

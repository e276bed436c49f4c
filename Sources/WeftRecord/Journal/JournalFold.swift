import WeftEvents
import WeftPlanning
import WeftPlatform

/// Folds the lines of a journal into its contents, one after another.
struct JournalFold {
  private enum Phase {
    case reading
    /// An incomplete line: torn if no complete one follows, otherwise damage.
    case suspected(JournalError)
    case refused(JournalError)
  }

  private let run: RunID?
  private let name: String
  private let limits: JournalLimits
  private var contents = JournalContents()
  private var phase = Phase.reading
  /// The offset of the next line.
  private var offset = 0
  private var line = 0
  /// The format and version of the engine that wrote the current records.
  private var writer: (format: Int, version: String) = (RecordOpening.currentFormat, "")

  /// - Parameter run: The expected run; `nil` accepts that of the first record.
  init(run: RunID?, name: String, limits: JournalLimits) {
    self.run = run
    self.name = name
    self.limits = limits
  }

  /// Whether further lines could change the result.
  var continues: Bool {
    if case .refused = phase { false } else { true }
  }

  /// - Parameters:
  ///   - bytes: `nil` if the line is too long to be a record.
  ///   - length: The length without its newline.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer?, length: Int, _ visit: (RunRecord) -> Void
  ) {
    line += 1
    defer { offset += length + 1 }
    let isWhole = bytes.map(RecordLine.isWhole) ?? false
    switch phase {
    case .refused: return
    case .suspected(let damage):
      if isWhole { phase = .refused(damage) }
    case .reading:
      guard let bytes, isWhole else {
        phase = .suspected(
          damage(bytes == nil ? .lineTooLong(limit: limits.lineBytes) : .checksum))
        return
      }
      do throws(RecordFormatError) {
        try accept(try RunRecord(line: bytes), visit)
        guard case .reading = phase else { return }
        contents.lines = line
        contents.wholeBytes = offset + length + 1
      } catch {
        phase = .refused(damage(.problem(error)))
      }
    }
  }

  private mutating func accept(
    _ record: RunRecord, _ visit: (RunRecord) -> Void
  ) throws(RecordFormatError) {
    let expected = contents.run.number + 1
    guard record.number == expected else {
      return refuse(.gap(expected: expected, found: record.number))
    }
    if case .opened(let opening) = record.kind {
      if let run = run ?? contents.run.opening?.run, run != opening.run {
        return refuse(.otherRun(opening.run))
      }
      writer = (opening.format, opening.version)
    } else if expected == 1 {
      return refuse(.noOpening)
    }
    if writer.format < 2, case .listed(_, let listed) = record.kind {
      try checkKeys(of: listed)
    }
    contents.run.apply(record)
    guard contents.run.steps.count + contents.run.groups.count <= limits.steps else {
      return refuse(.tooManySteps(limit: limits.steps))
    }
    visit(record)
  }

  /// Rejects ambiguous keys: up to format 1, keys were not escaped in addresses.
  private func checkKeys(of listed: RecordedElements) throws(RecordFormatError) {
    for element in listed.elements
    where StepAddress.needsEscaping(element.key) || ElementKeys.fault(of: element.key) != nil {
      throw .ambiguousKey(element.key, version: writer.version)
    }
  }

  mutating func refuse(_ kind: JournalError.Kind) {
    if continues { phase = .refused(damage(kind)) }
  }

  private func damage(_ kind: JournalError.Kind) -> JournalError {
    JournalError(kind: kind, file: name, line: max(line, 1), offset: offset)
  }

  /// - Parameter end: The number of bytes read.
  func result(readTo end: Int) -> JournalContents {
    var contents = contents
    contents.tornBytes = end - contents.wholeBytes
    if case .refused(let damage) = phase { contents.damage = damage }
    return contents
  }
}

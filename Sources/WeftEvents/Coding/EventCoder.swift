package import WeftJSON
package import WeftPlanning
import WeftPlatform

/// Writes or reads the members of payloads, in the order in which a payload names them.
///
/// A payload declares its JSON form once, in ``Payload/code(_:)``: given a writer, the members are written with the
/// values that the payload has; given a reader, the payload takes the values that are read. So the event stream, the
/// journal and the JSON output cannot disagree.
package protocol EventCoder {
  /// The reader's error; `Never` for the writer.
  associatedtype Failure: Error

  static var isReading: Bool { get }
  /// Whether the records of a journal are coded, which contain more than events.
  var isJournal: Bool { get }
  /// The version of the program that writes the events.
  var version: String { get }
  /// The time of the record that is being read.
  var moment: WallTime { get }

  /// Begins a member that is always present.
  mutating func member(_ key: StaticString) throws(Failure)
  /// Begins a member, if it is present.
  ///
  /// - Parameter isPresent: Whether the writer writes it.
  mutating func member(_ key: StaticString, isPresent: Bool) -> Bool
  mutating func beginObject() throws(Failure)
  /// Ends an object; the reader skips further members.
  mutating func endObject() throws(Failure)

  mutating func code(_ value: inout Int) throws(Failure)
  mutating func code(_ value: inout Bool) throws(Failure)
  mutating func code(_ value: inout String) throws(Failure)
  mutating func code(_ value: inout JSONValue) throws(Failure)
  /// Codes a time by RFC 3339 with milliseconds, in UTC.
  mutating func code(_ value: inout WallTime) throws(Failure)
  mutating func code<Value: CodedValue>(_ values: inout [Value]) throws(Failure)
  /// Codes an object whose keys are data.
  mutating func code<Value: CodedValue>(_ members: inout [(key: String, value: Value)])
    throws(Failure)

  /// The reader's error; the writer stops the program.
  func failure(_ error: @autoclosure () -> RecordFormatError) -> Failure
}

/// A value of a member.
package protocol CodedValue: Sendable {
  /// The value that a reader replaces.
  static var blank: Self { get }

  mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// Members of an event, or of an object in one.
package protocol Payload: CodedValue {
  mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

extension Payload {
  package mutating func codeValue<Coder: EventCoder>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.beginObject()
    try code(&coder)
    try coder.endObject()
  }
}

// MARK: Members

extension EventCoder {
  package mutating func code<Value: CodedValue>(
    _ key: StaticString, _ value: inout Value
  ) throws(Failure) {
    try member(key)
    try value.codeValue(&self)
  }

  package mutating func code<Value: CodedValue>(
    _ key: StaticString, _ value: inout Value?
  ) throws(Failure) {
    guard member(key, isPresent: value != nil) else { return }
    var content = value ?? .blank
    try content.codeValue(&self)
    if Self.isReading { value = content }
  }

  package mutating func code<Value: CodedValue>(
    _ key: StaticString, _ values: inout [Value]
  ) throws(Failure) {
    try member(key)
    try code(&values)
  }

  /// Codes a list that is absent if it is empty.
  package mutating func codeIfAny<Value: CodedValue>(
    _ key: StaticString, _ values: inout [Value]
  ) throws(Failure) {
    if member(key, isPresent: !values.isEmpty) { try code(&values) }
  }

  /// Codes a Boolean that is absent if it is false.
  mutating func flag(_ key: StaticString, _ value: inout Bool) throws(Failure) {
    if member(key, isPresent: value) { try code(&value) }
  }

  func unfit(_ what: String) -> Failure { failure(.unfit(what)) }
}

// MARK: Numbers

/// The ranges of numbers in records.
package enum RecordLimits {
  /// The maximum number of steps, elements, attempts or resumptions. Keeps sums and increments within the range of
  /// `Int`.
  static let counts = 0...Int(Int32.max)
  /// The maximum number of bytes, page faults and the like.
  static let amounts = 0...(1 << 60)
  /// The maximum length of an address.
  static let addressBytes = 64 << 10
}

extension EventCoder {
  mutating func number(
    _ value: inout Int, in range: ClosedRange<Int>, _ what: String
  ) throws(Failure) {
    assert(
      Self.isReading || range.contains(value), "\(value) is written as \(what), and cannot be read")
    try code(&value)
    if Self.isReading, !range.contains(value) { throw unfit(what) }
  }

  mutating func number(
    _ key: StaticString, _ value: inout Int?, in range: ClosedRange<Int>, _ what: String
  ) throws(Failure) {
    guard member(key, isPresent: value != nil) else { return }
    var content = value ?? 0
    try number(&content, in: range, what)
    value = content
  }

  /// Codes a number of at least `least`, such as an attempt.
  mutating func count(_ key: StaticString, _ value: inout Int, from least: Int = 1) throws(Failure)
  {
    try member(key)
    try number(&value, in: least...RecordLimits.counts.upperBound, "a count")
  }

  /// Codes a number that is absent if it is 0.
  mutating func countIfAny(_ key: StaticString, _ value: inout Int) throws(Failure) {
    if member(key, isPresent: value > 0) {
      try number(&value, in: RecordLimits.counts, "a count")
    }
  }

  /// Codes an amount, such as a number of bytes.
  mutating func amount(_ key: StaticString, _ value: inout Int) throws(Failure) {
    try member(key)
    try number(&value, in: RecordLimits.amounts, "an amount")
  }

  mutating func amount(_ key: StaticString, _ value: inout Int?) throws(Failure) {
    try number(key, &value, in: RecordLimits.amounts, "an amount")
  }

  mutating func amount(_ key: StaticString, _ value: inout UInt64) throws(Failure) {
    var number = Int(clamping: value)
    try amount(key, &number)
    if Self.isReading { value = UInt64(number) }
  }

  /// Codes the identity of a process, whose id is at least `least`.
  mutating func identity(_ process: inout ProcessIdentity, from least: Int32) throws(Failure) {
    var (id, ticks) = (Int(process.id), Int(clamping: process.startTicks))
    try code("pid", &id)
    try code("startTicks", &ticks)
    guard Self.isReading else { return }
    guard let known = Int32(exactly: id), known >= least else { throw unfit("a process id") }
    guard let start = UInt64(exactly: ticks) else { throw unfit("a start of a process") }
    process = ProcessIdentity(id: known, startTicks: start)
  }
}

// MARK: Values

extension Int: CodedValue {
  package static var blank: Int { 0 }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&self)
  }
}

extension Bool: CodedValue {
  package static var blank: Bool { false }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&self)
  }
}

extension String: CodedValue {
  package static var blank: String { "" }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&self)
  }
}

extension JSONValue: CodedValue {
  package static var blank: JSONValue { .null }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&self)
  }
}

/// Whole microseconds.
extension Duration: CodedValue {
  package static var blank: Duration { .zero }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var microseconds = Coder.isReading ? 0 : wholeMicroseconds
    try coder.number(&microseconds, in: 0 ... .max, "a duration")
    if Coder.isReading { self = .microseconds(microseconds) }
  }

  /// The whole microseconds, truncated; clamped to the representable range.
  package var wholeMicroseconds: Int {
    let (seconds, attoseconds) = components
    let limit = Int64.max / 1_000_000 - 1
    return Int(
      min(max(seconds, -limit), limit) * 1_000_000 + attoseconds / 1_000_000_000_000)
  }
}

extension WallTime: CodedValue {
  package static var blank: WallTime { WallTime(nanoseconds: 0) }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&self)
  }
}

extension StepAddress: CodedValue {
  package static let blank = StepAddress("")

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var text = text
    try coder.code(&text)
    guard Coder.isReading else { return }
    self = StepAddress(text)
    guard text.utf8.count <= RecordLimits.addressBytes, isCanonical else {
      throw coder.unfit("a step's name")
    }
  }
}

extension CodedValue where Self: RawRepresentable<String> {
  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var name = rawValue
    try coder.code(&name)
    guard Coder.isReading else { return }
    guard let value = Self(rawValue: name) else { throw coder.unfit("\"\(name)\"") }
    self = value
  }
}

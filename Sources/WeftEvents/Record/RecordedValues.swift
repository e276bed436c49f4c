import WeftDefinition
package import WeftJSON

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
  /// The number of steps that the plan has for an element; `nil` if an older version of the program wrote the record.
  package var stepCount: Int?

  package init(elements: [Element], isSecret: Bool = false, stepCount: Int? = nil) {
    self.elements = elements
    self.isSecret = isSecret
    self.stepCount = stepCount
  }
}

extension RecordedElements: Payload {
  package static var blank: RecordedElements { RecordedElements(elements: []) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.flag("secret", &isSecret)
    try coder.number("steps", &stepCount, in: RecordLimits.counts, "a count")
    try coder.code("elements", &elements)
  }
}

extension RecordedElements.Element: Payload {
  package static var blank: RecordedElements.Element {
    RecordedElements.Element(key: "", value: .none)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("key", &key)
    try coder.code("value", &value)
  }
}

/// The values of a step that expressions read, besides its end and its outputs, and the files that it left for other
/// steps. Values that no expression reads are not kept.
package struct RecordedValues: Sendable, Hashable {
  private struct Contents: Sendable, Hashable {
    var stdout: RecordedText?
    var stderr: RecordedText?
    var returned: RecordedValue?
    var answer: RecordedResponse?
    var files: [RecordedOutputFile] = []
  }

  // Most steps have none.
  private var boxed: Boxed<Contents>?

  private var contents: Contents {
    get { boxed?.value ?? Contents() }
    set { boxed = newValue == Contents() ? nil : .holding(newValue) }
  }

  package init(
    stdout: RecordedText? = nil, stderr: RecordedText? = nil, returned: RecordedValue? = nil,
    answer: RecordedResponse? = nil, files: [RecordedOutputFile] = []
  ) {
    let isEmpty =
      stdout == nil && stderr == nil && returned == nil && answer == nil && files.isEmpty
    boxed =
      isEmpty
      ? nil
      : .holding(
        Contents(
          stdout: stdout, stderr: stderr, returned: returned, answer: answer, files: files))
  }

  package var stdout: RecordedText? {
    get { boxed?.value.stdout }
    set { contents.stdout = newValue }
  }

  package var stderr: RecordedText? {
    get { boxed?.value.stderr }
    set { contents.stderr = newValue }
  }

  /// The value that an action returned.
  package var returned: RecordedValue? {
    get { boxed?.value.returned }
    set { contents.returned = newValue }
  }

  /// The response to a request.
  package var answer: RecordedResponse? {
    get { boxed?.value.answer }
    set { contents.answer = newValue }
  }

  /// The files that the step wrote, as far as it declares them.
  package var files: [RecordedOutputFile] {
    get { boxed?.value.files ?? [] }
    set { contents.files = newValue }
  }

  package var isEmpty: Bool { boxed == nil }

  /// Only the files, for a disk that has no room for values: an end without them is better than a step in doubt.
  package var withoutValues: RecordedValues { RecordedValues(files: files) }

  /// Whether a value is secret, and therefore missing.
  package var lacksSecrets: Bool {
    stdout == .secret || stderr == .secret || returned == .secret || answer?.lacksSecrets == true
  }
}

extension RecordedValues: Payload {
  package static var blank: RecordedValues { RecordedValues() }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var contents = contents
    try coder.code("stdout", &contents.stdout)
    try coder.code("stderr", &contents.stderr)
    try coder.code("returned", &contents.returned)
    try coder.code("answer", &contents.answer)
    try coder.codeIfAny("files", &contents.files)
    if Coder.isReading { self.contents = contents }
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

extension RecordedResponse: Payload {
  package static var blank: RecordedResponse { RecordedResponse(headers: .secret) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try headers.code("headers", &coder)
    try coder.code("body", &body)
    try coder.flag("isJSON", &isJSON)
    try coder.code("collected", &collected)
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

extension RecordedText: Payload {
  package static var blank: RecordedText { .tooLong }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var text: String? = if case .text(let text) = self { text } else { nil }
    try coder.code("text", &text)
    if let text {
      self = .text(text)
      return
    }
    if try coder.secret(self == .secret) {
      self = .secret
      return
    }
    var lack = self == .notUTF8 ? Lack.notUTF8 : .tooLong
    try coder.code("lacks", &lack)
    self = lack == .notUTF8 ? .notUTF8 : .tooLong
  }

  private enum Lack: String, CodedValue {
    case tooLong = "too-long"
    case notUTF8 = "not-utf-8"

    static var blank: Lack { .tooLong }
  }
}

package enum RecordedValue: Sendable, Hashable {
  case value(JSONValue)
  case secret
}

extension RecordedValue: Payload {
  package static var blank: RecordedValue { .secret }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try code("value", &coder)
  }

  /// Codes the value as a member, or that it is secret.
  fileprivate mutating func code<Coder: EventCoder>(
    _ key: StaticString, _ coder: inout Coder
  ) throws(Coder.Failure) {
    var value: JSONValue? = if case .value(let value) = self { .some(value) } else { .none }
    try coder.code(key, &value)
    if let value {
      self = .value(value)
    } else {
      self = .secret
      _ = try coder.secret(true)
    }
  }
}

extension EventCoder {
  /// Codes that a value is missing because it is secret.
  fileprivate mutating func secret(_ isSecret: Bool) throws(Failure) -> Bool {
    guard member("secret", isPresent: isSecret) else { return false }
    var isSecret = true
    try code(&isSecret)
    return true
  }
}

/// A file that a step wrote, or a directory with its contents, as it was when the step ended.
///
/// The journal records it with the end of the step. On resume, it is compared with the disk.
package struct RecordedOutputFile: Sendable, Hashable {
  /// The evidence by which a change of the file is detected.
  package enum Mark: Sendable, Hashable {
    /// SHA-256 in hexadecimal digits: of a file's bytes; for a directory, that of the files in it.
    case digest(String)
    /// The size, and the time of the last modification in nanoseconds since 1970.
    case stamp(bytes: Int, modified: Int)
  }

  /// With a digest, the path relative to the run's directory; with a stamp, the path as this process opened it.
  package var path: String
  package var mark: Mark

  package init(path: String, _ mark: Mark) {
    self.path = path
    self.mark = mark
  }
}

extension RecordedOutputFile: Payload {
  package static var blank: RecordedOutputFile {
    RecordedOutputFile(path: "", .stamp(bytes: 0, modified: 0))
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var digest: String? = if case .digest(let digest) = mark { digest } else { nil }
    try coder.code("path", &path)
    try coder.code("sha256", &digest)
    if let digest {
      mark = .digest(digest)
      return
    }
    var (bytes, modified) =
      if case .stamp(let bytes, let modified) = mark { (bytes, modified) } else { (0, 0) }
    try coder.code("bytes", &bytes)
    try coder.code("modifiedNs", &modified)
    mark = .stamp(bytes: bytes, modified: modified)
  }
}

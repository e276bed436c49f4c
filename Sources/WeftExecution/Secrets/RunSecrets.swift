import Synchronization
package import WeftDefinition
import WeftExpressions
import WeftJSON

/// The secrets of one run: their values, by name and declaring file, and the mask that hides them in everything
/// the run writes. Further secrets may be added during the run. Safe to use on any thread.
package final class RunSecrets: Sendable {
  /// The name of a secret, and the file of the plan that declares it.
  package struct Key: Sendable, Hashable {
    package let file: Int
    package let name: SecretName

    package init(_ name: SecretName, inFile file: Int) {
      self.file = file
      self.name = name
    }
  }

  private let values: [Key: Secret]
  private let layers: Mutex<MaskLayers>
  /// Whether there are any layers; never reset. Read for each event, without the lock.
  private let hasAny: Atomic<Bool>

  /// - Parameter values: Keyed by the names in the workflow's `secrets`.
  package convenience init(_ values: [SecretName: Secret] = [:]) {
    self.init(
      byFile: Dictionary(uniqueKeysWithValues: values.map { (Key($0, inFile: 0), $1) }))
  }

  /// - Parameter values: Keyed by file, too, for workflows that run other workflows.
  package init(byFile values: [Key: Secret]) {
    self.values = values
    hasAny = Atomic(!values.isEmpty)
    layers = Mutex(MaskLayers(Array(values.values)))
  }

  /// The secret of that name, if it was read.
  package subscript(name: SecretName, inFile file: Int = 0) -> Secret? {
    values[Key(name, inFile: file)]
  }

  /// Whether there is anything to mask now.
  var hidesAnything: Bool { hasAny.load(ordering: .acquiring) }

  /// Whether a text contains some form of a secret.
  func areIn(_ text: String) -> Bool { hidesAnything && mask.contains(text.utf8) }

  /// The secrets to mask now. Get it again for each text: that costs a lock, and it is only rebuilt after a
  /// secret was added.
  package var mask: SecretMask { layers.withLock { $0.mask() } }

  /// Masks from now on a value that was derived from secrets. If it contains known secrets, these are masked in
  /// all forms, but the value as a whole only unencoded.
  ///
  /// A value that is longer than a ``Secret`` may be, or contains a NUL, is masked in parts.
  ///
  /// - Returns: Whether it can be masked: not if it is shorter than four bytes.
  @discardableResult
  package func add(_ value: [UInt8]) -> Bool {
    var isMasked = false
    for part in value.split(separator: 0) {
      for piece in part.parts(of: Secret.mostBytes - 8, overlapping: 2, atCharacters: true) {
        if let secret = try? Secret(Array(piece)) {
          add(secret)
          isMasked = true
        }
      }
    }
    return isMasked
  }

  private func add(_ secret: Secret) {
    layers.withLock { layers in
      let mask = layers.mask()
      // There is nothing to gain if the known secrets hide all of it.
      guard secret.bytes.withUnsafeBytes(mask.masked) != Array(Secret.mark.utf8) else { return }
      layers.add(secret, isLiteralOnly: mask.contains(secret.bytes))
      hasAny.store(true, ordering: .releasing)
    }
  }
}

extension RunSecrets: CustomStringConvertible {
  package var description: String { "\(values.count) secrets" }
}

/// The layers of a run's mask as it grows. Each layer is at least twice as large as the next, so that there are
/// few, and that each secret is rarely moved to a new layer: a thousand secrets that are added one by one are
/// compiled ten times each (Bentley and Saxe 1980, the logarithmic method).
struct MaskLayers: Sendable {
  private struct Layer {
    var values: [MaskedValue]
    /// `nil` until the first masking.
    var automaton: PatternAutomaton?
  }

  /// The number of bytes of secrets whose encodings are searched for, which take some hundred times as much
  /// memory. Beyond it, secrets are only masked unencoded.
  static let encodedBytes = 256 << 10

  private var layers: [Layer] = []
  /// The rest of ``encodedBytes``.
  private var capacity: Int

  /// - Parameter encodedBytes: Fewer than the default in tests.
  init(_ secrets: [Secret], encodedBytes: Int = MaskLayers.encodedBytes) {
    capacity = encodedBytes
    if !secrets.isEmpty {
      layers = [Layer(values: secrets.map { value($0, isLiteralOnly: false) })]
    }
  }

  private mutating func value(_ secret: Secret, isLiteralOnly: Bool) -> MaskedValue {
    let isTooMuch = secret.bytes.count > capacity
    if !isLiteralOnly, !isTooMuch { capacity -= secret.bytes.count }
    return MaskedValue(secret, isLiteralOnly: isLiteralOnly || isTooMuch)
  }

  mutating func add(_ secret: Secret, isLiteralOnly: Bool) {
    var new = [value(secret, isLiteralOnly: isLiteralOnly)]
    while let last = layers.last, last.values.count < 2 * new.count {
      new += last.values
      layers.removeLast()
    }
    layers.append(Layer(values: new))
  }

  mutating func mask() -> SecretMask {
    for index in layers.indices where layers[index].automaton == nil {
      layers[index].automaton = PatternAutomaton(layers[index].values)
    }
    return SecretMask(automata: layers.compactMap(\.automaton))
  }
}

extension RunSecrets {
  /// Masks the secret inputs from now on, even if they are visible elsewhere: every program can see the
  /// arguments of `weft` itself.
  package func add(secretsIn inputs: InputValues) {
    for entry in inputs.entries where entry.isSecret { add(everythingIn: entry.value) }
  }

  /// Recurses at most as deep as JSON is read.
  private func add(everythingIn value: JSONValue) {
    switch value {
    case .null, .bool: break
    case .number(let number): _ = add(Array(number.text.utf8))
    case .string(let text): _ = add(Array(text.utf8))
    case .array(let elements): for element in elements { add(everythingIn: element) }
    case .object(let object): for member in object { add(everythingIn: member.value) }
    }
  }
}

/// The bytes of a secret. Printing one, by interpolation, `print` or `dump`, shows `***`.
package struct Secret: Sendable {
  /// The value, for passing it to programs and for masking.
  package let bytes: [UInt8]

  /// The minimum length, without surrounding white space. A shorter one would occur in half of all texts, and
  /// masking it would reveal more than it hides.
  package static let fewestBytes = WorkflowLimits.secretBytes.lowerBound
  /// The maximum length, because masking takes memory in proportion to it.
  package static let mostBytes = WorkflowLimits.secretBytes.upperBound

  /// The reason why bytes cannot be a secret.
  package enum ValidationError: Error, Sendable, Hashable {
    case empty
    case tooShort(count: Int)
    case tooLong
    /// It could not be passed in an environment.
    case hasNUL
    /// It could not be passed on unchanged by expressions.
    case notUTF8
  }

  package init(_ bytes: [UInt8]) throws(ValidationError) {
    if bytes.isEmpty { throw .empty }
    let count = bytes[...].withoutOuterSpace.count
    if count < Secret.fewestBytes { throw .tooShort(count: count) }
    if bytes.count > Secret.mostBytes { throw .tooLong }
    if bytes.contains(0) { throw .hasNUL }
    if String(validating: bytes, as: UTF8.self) == nil { throw .notUTF8 }
    self.bytes = bytes
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The replacement for every secret.
  package static let mark = "***"

  package var description: String { Secret.mark }
  package var debugDescription: String { Secret.mark }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension RunSecrets {
  /// Returns a text unchanged. If it is derived from secrets, it is masked from now on wherever it is shown.
  func registering(_ text: ScopedText) -> ScopedText {
    if text.isSecret { add(Array(text.text.utf8)) }
    return text
  }

  /// Masks from now on every text inside a secret value, and numbers that are long enough.
  func add(everyTextIn value: ExpressionValue) {
    switch value {
    case .null, .boolean: break
    case .number: add(Array(value.jsonText(.compact).utf8))
    case .string(let text): add(Array(text.utf8))
    case .array(let array):
      for element in array.elements { add(everyTextIn: element) }
    case .object(let object):
      for member in object.members { add(everyTextIn: member.value) }
    }
  }
}

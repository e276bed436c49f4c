import Synchronization
package import WeftDefinition

/// The secrets of one run: their values by name and the file that declares them, for what may use them, and the mask that hides them
/// wherever the run writes. More may come to be secret while it goes on. For any thread.
package final class RunSecrets: Sendable {
  /// Which secret of which of a plan's files.
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
  /// Whether there are any layers, which stays so. Asked for each event, without the lock.
  private let areThereAny: Atomic<Bool>

  /// - Parameter values: By the names in the workflow's `secrets`.
  package convenience init(_ values: [SecretName: Secret] = [:]) {
    self.init(
      byFile: Dictionary(uniqueKeysWithValues: values.map { (Key($0, inFile: 0), $1) }))
  }

  /// - Parameter values: Those of workflows that run others.
  package init(byFile values: [Key: Secret]) {
    self.values = values
    areThereAny = Atomic(!values.isEmpty)
    layers = Mutex(MaskLayers(Array(values.values)))
  }

  /// The secret of that name, if it was read.
  package subscript(name: SecretName, inFile file: Int = 0) -> Secret? {
    values[Key(name, inFile: file)]
  }

  package var isEmpty: Bool { values.isEmpty }

  /// Whether anything is to be masked now.
  var hideAnything: Bool { areThereAny.load(ordering: .acquiring) }

  /// What is to be masked now. Ask again for each text: it costs a lock, and making it anew only after
  /// something was added.
  package var mask: SecretMask { layers.withLock { $0.mask() } }

  /// Masks from now on a value that was made from secrets. Where known secrets stand in it, their forms are
  /// masked as ever, and of the whole only the value as it is.
  ///
  /// What is longer than a ``Secret`` may be, or has a NUL, is masked in parts.
  ///
  /// - Returns: Whether it can be: not if it is shorter than four bytes.
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
      // Nothing is gained where the known secrets hide all of it.
      guard secret.bytes.withUnsafeBytes(mask.masked) != Array(Secret.mark.utf8) else { return }
      layers.add(secret, onlyAsIs: mask.contains(secret.bytes))
      areThereAny.store(true, ordering: .releasing)
    }
  }
}

extension RunSecrets: CustomStringConvertible {
  package var description: String { "\(values.count) secrets" }
}

/// The parts that the mask of a run is made of, as it grows. Each part is at least twice as large as the
/// next, so that there are few, and that each secret is put into a new part only now and then: a thousand
/// secrets that come one by one are compiled ten times each (Bentley and Saxe 1980, the logarithmic method).
struct MaskLayers: Sendable {
  private struct Layer {
    var values: [MaskedValue]
    /// `nil` until somebody masks.
    var automaton: PatternAutomaton?
  }

  /// How many bytes of secrets are looked for in all their encodings, which take some hundred times as much memory.
  /// What is more is looked for as it is.
  static let encodedBytes = 256 << 10

  private var layers: [Layer] = []
  /// How much of that is left.
  private var room: Int

  /// - Parameter encodedBytes: Fewer in tests.
  init(_ secrets: [Secret], encodedBytes: Int = MaskLayers.encodedBytes) {
    room = encodedBytes
    if !secrets.isEmpty { layers = [Layer(values: secrets.map { value($0, onlyAsIs: false) })] }
  }

  var isEmpty: Bool { layers.isEmpty }

  private mutating func value(_ secret: Secret, onlyAsIs: Bool) -> MaskedValue {
    let isTooMuch = secret.bytes.count > room
    if !onlyAsIs, !isTooMuch { room -= secret.bytes.count }
    return MaskedValue(secret, onlyAsIs: onlyAsIs || isTooMuch)
  }

  mutating func add(_ secret: Secret, onlyAsIs: Bool) {
    var new = [value(secret, onlyAsIs: onlyAsIs)]
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

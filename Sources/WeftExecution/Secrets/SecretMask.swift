import WeftEncoding
import WeftPlatform

/// The secrets to mask at one moment of a run. Finds them in texts, in all their ``SecretForms``, and replaces
/// them by ``Secret/mark``.
package struct SecretMask: Sendable {
  /// The automata that search for the secrets; empty if there is nothing to mask.
  let automata: [PatternAutomaton]

  /// Masks nothing, at no cost.
  package static let none = SecretMask(automata: [])

  package init(_ secrets: some Collection<Secret>) {
    self.init(automata: secrets.isEmpty ? [] : [PatternAutomaton(secrets.map { MaskedValue($0) })])
  }

  init(automata: [PatternAutomaton]) {
    self.automata = automata
  }

  package var isEmpty: Bool { automata.isEmpty }

  /// Whether the bytes contain some form of a secret.
  package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var (reading, isFound) = (SecretReading(automata), false)
    reading.read(bytes) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  package func contains(_ bytes: some Collection<UInt8>) -> Bool {
    if isEmpty { return false }
    return bytes.withContiguousStorageIfAvailable { contains(UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes(contains)
  }

  /// Whether a file contains some form of a secret.
  func contains(contentOf file: Descriptor, stop: StopSwitch) throws(SystemError) -> Bool {
    var (reading, offset, isFound) = (SecretReading(automata), 0, false)
    while !isFound, stop.level == .none {
      let piece = try file.piece(at: offset, atMost: 256 << 10)
      if piece.isEmpty { break }
      offset += piece.count
      piece.withUnsafeBytes { bytes in
        reading.read(bytes) { _ in
          isFound = true
          return false
        }
      }
    }
    return isFound
  }

  /// The bytes with every stretch of secrets replaced.
  package func masked(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var filter = SecretFilter(self)
    var masked: [UInt8] = []
    filter.take(bytes) { masked += $0 }
    filter.finish { masked += $0 }
    return masked
  }

  /// The text with every stretch of secrets replaced, and every beginning of one that is cut off by an ellipsis, as in
  /// messages that quote long values.
  package func masked(_ text: String) -> String {
    if isEmpty { return text }
    let whole =
      contains(text.utf8)
      ? String(decoding: Array(text.utf8).withUnsafeBytes(masked), as: UTF8.self) : text
    let cuts = whole.ranges(of: "…")
    return cuts.isEmpty ? whole : masked(whole, cutAt: cuts)
  }

  private func masked(_ text: String, cutAt cuts: [Range<String.Index>]) -> String {
    var (filter, masked) = (SecretFilter(self), [UInt8]())
    func take(_ part: Substring) {
      Array(part.utf8).withUnsafeBytes { filter.take($0) { masked += $0 } }
    }
    var start = text.startIndex
    for cut in cuts {
      take(text[start..<cut.lowerBound])
      filter.finishCut { masked += $0 }
      masked += Array(text[cut].utf8)
      start = cut.upperBound
    }
    take(text[start...])
    filter.finish { masked += $0 }
    return String(decoding: masked, as: UTF8.self)
  }
}

/// A secret, and which of its forms are searched for.
struct MaskedValue: Sendable {
  let secret: Secret
  /// Whether its encodings are omitted: this saves much memory if there are many such values.
  let isLiteralOnly: Bool

  init(_ secret: Secret, isLiteralOnly: Bool = false) {
    self.secret = secret
    self.isLiteralOnly = isLiteralOnly
  }

  var forms: [[UInt8]] {
    isLiteralOnly ? SecretForms.literalForms(secret.bytes) : SecretForms.all(of: secret.bytes)
  }
}

extension PatternAutomaton {
  convenience init(_ values: [MaskedValue]) {
    var trie = PatternTrie()
    for value in values {
      for form in Set(value.forms) { trie.insert(form) }
    }
    self.init(trie)
  }
}

/// Masks the secrets in one stream of bytes, however the stream is cut into chunks.
///
/// Each stretch covered by secrets, overlapping or adjacent, becomes one ``Secret/mark``. The end of the stream
/// is held as long as it may be the beginning of a secret, and no longer: always less than the longest form of
/// one and the colours in it, and nothing where no secret begins.
package struct SecretFilter {
  private var reading: SecretReading
  /// The end of the stream that has not been passed on.
  private var held: [UInt8] = []
  /// The stretches of secrets that have not been passed on: ascending, disjoint, and counted from the end of
  /// `held`, so that they are negative between chunks.
  private var stretches: [Range<Int>] = []
  /// Whether the last output was a mark, which then covers an adjacent secret as well.
  private var endsWithMark = false

  package init(_ mask: SecretMask = .none) {
    reading = SecretReading(mask.automata)
  }

  /// The number of bytes held.
  package var heldBytes: Int { held.count }

  /// Uses this mask from now on, also for the bytes that are held.
  package mutating func use(_ mask: SecretMask) {
    if reading.isFor(mask) { return }
    reading = SecretReading(mask.automata)
    let (bytes, count) = (held, held.count)
    bytes.withUnsafeBytes { read($0, shift: -count) }
  }

  /// Takes a chunk; passes on, in pieces, all bytes that are decided.
  package mutating func take(
    _ chunk: UnsafeRawBufferPointer, _ pass: (UnsafeRawBufferPointer) -> Void
  ) {
    if reading.isEmpty, held.isEmpty { return pass(chunk) }
    read(chunk, shift: 0)
    let end = chunk.count - reading.pending
    passOn(upTo: end, of: chunk, pass)
    if end < 0 {
      held.removeFirst(held.count + end)
      held += chunk
    } else {
      held = Array(chunk[end...])
    }
    for index in stretches.indices {
      let lower = max(stretches[index].lowerBound, end)
      stretches[index] = lower - chunk.count..<stretches[index].upperBound - chunk.count
    }
  }

  /// Passes on the held bytes after the stream has ended.
  package mutating func finish(_ pass: (UnsafeRawBufferPointer) -> Void) {
    passOn(upTo: 0, of: UnsafeRawBufferPointer(start: nil, count: 0), pass)
    held = []
    reading.restart()
    endsWithMark = false
  }

  /// Ends the stream where it has been cut off: what is held may be most of a secret.
  mutating func finishCut(_ pass: (UnsafeRawBufferPointer) -> Void) {
    if heldBytes >= Secret.fewestBytes { stretches = [-heldBytes..<0] }
    finish(pass)
  }

  /// Finds secrets in the bytes, and adds them to the known stretches.
  private mutating func read(_ bytes: UnsafeRawBufferPointer, shift: Int) {
    var found = stretches
    reading.read(bytes) { range in
      found.append(range.lowerBound + shift..<range.upperBound + shift)
      return true
    }
    guard found.count > stretches.count else { return }
    found.sort { $0.upperBound < $1.upperBound }
    stretches = []
    for stretch in found { add(stretch) }
  }

  /// Adds a stretch that ends after all others.
  private mutating func add(_ stretch: Range<Int>) {
    var lower = max(stretch.lowerBound, -held.count)
    while let last = stretches.last, last.upperBound >= lower {
      lower = min(lower, last.lowerBound)
      stretches.removeLast()
    }
    stretches.append(lower..<stretch.upperBound)
  }

  /// Passes on everything before `end`, counted from the beginning of the chunk.
  private mutating func passOn(
    upTo end: Int, of chunk: UnsafeRawBufferPointer, _ pass: (UnsafeRawBufferPointer) -> Void
  ) {
    var position = -held.count
    var done = 0
    for stretch in stretches {
      guard stretch.lowerBound < end else { break }
      if position < stretch.lowerBound {
        passOn(position..<stretch.lowerBound, of: chunk, pass)
        endsWithMark = false
      }
      if !endsWithMark { SecretFilter.mark.withUnsafeBytes(pass) }
      endsWithMark = true
      position = min(stretch.upperBound, end)
      if stretch.upperBound <= end { done += 1 }
    }
    stretches.removeFirst(done)
    guard position < end else { return }
    passOn(position..<end, of: chunk, pass)
    endsWithMark = false
  }

  private static let mark = Array(Secret.mark.utf8)

  /// Passes on bytes unchanged: those at negative indices are held, the others are in the chunk.
  private func passOn(
    _ range: Range<Int>, of chunk: UnsafeRawBufferPointer, _ pass: (UnsafeRawBufferPointer) -> Void
  ) {
    let old = range.clamped(to: -held.count..<0)
    if !old.isEmpty {
      held.withUnsafeBytes { held in
        let bounds = old.lowerBound + held.count..<old.upperBound + held.count
        pass(UnsafeRawBufferPointer(rebasing: held[bounds]))
      }
    }
    let new = range.clamped(to: 0..<chunk.count)
    if !new.isEmpty { pass(UnsafeRawBufferPointer(rebasing: chunk[new])) }
  }
}

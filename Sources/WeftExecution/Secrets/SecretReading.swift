import WeftPlatform

/// A search of a stream for secrets, however the stream is cut into chunks: as it is, and without the colours in it.
///
/// `grep --color` puts colours around a part of a word, and displays and reports remove them again.
struct SecretReading {
  private let automata: [PatternAutomaton]
  private var positions: [PatternAutomaton.Position]
  /// `nil` unless there is a colour in a possible beginning of a secret.
  private var colourless: ColourlessReading?

  init(_ automata: [PatternAutomaton]) {
    self.automata = automata
    positions = automata.map { _ in PatternAutomaton.Position() }
  }

  /// Begins with another stream.
  mutating func restart() { self = SecretReading(automata) }

  /// Whether it searches for the secrets of a mask.
  func isFor(_ mask: SecretMask) -> Bool { automata.elementsEqual(mask.automata, by: ===) }

  var isEmpty: Bool { automata.isEmpty }

  /// The length of the longest suffix of the stream that may be the beginning of a secret.
  var pending: Int {
    max(SecretReading.pending(automata, positions), colourless?.pendingBytes ?? 0)
  }

  fileprivate static func pending(
    _ automata: [PatternAutomaton], _ positions: [PatternAutomaton.Position]
  ) -> Int {
    zip(automata, positions).reduce(0) { max($0, $1.0.pending($1.1)) }
  }

  /// Reads a chunk of the stream.
  ///
  /// - Parameter found: Called with the range of each occurrence in the chunk, in no order. If it began in an earlier
  ///   chunk, the lower bound is negative. Returns whether to continue.
  mutating func read(_ bytes: UnsafeRawBufferPointer, found: (Range<Int>) -> Bool) {
    if automata.isEmpty { return }
    var (index, goesOn) = (0, true)
    func tell(_ range: Range<Int>) -> Bool {
      goesOn = goesOn && found(range)
      return goesOn
    }
    while index < bytes.count, goesOn {
      let end: Int
      if colourless != nil {
        end = colourless!.read(bytes, from: index, automata, tell)
        if colourless!.isOver { colourless = nil }
      } else {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
        end = index + (rest.offset(of: ColourSequence.escape) ?? rest.count)
      }
      readPlain(bytes, index..<end, tell)
      index = end
      guard colourless == nil, index < bytes.count, bytes[index] == ColourSequence.escape else {
        continue
      }
      let pending = SecretReading.pending(automata, positions)
      if pending > 0 {
        colourless = ColourlessReading(from: positions, pending: pending, at: index)
      } else {
        readPlain(bytes, index..<index + 1, tell)
        index += 1
      }
    }
    colourless?.chunkEnded(after: bytes.count)
  }

  private mutating func readPlain(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ found: (Range<Int>) -> Bool
  ) {
    if range.isEmpty { return }
    let piece = UnsafeRawBufferPointer(rebasing: bytes[range])
    for place in automata.indices {
      automata[place].read(piece, from: &positions[place]) {
        found($0.lowerBound + range.lowerBound..<$0.upperBound + range.lowerBound)
      }
    }
  }
}

/// A search that skips colours. It starts at a colour inside a possible beginning of a secret, and is over when no possible
/// beginning has a colour in it any more.
private struct ColourlessReading {
  /// The most bytes of colours in one secret, which may all be withheld.
  private static let limit = 1024

  private var positions: [PatternAutomaton.Position]
  /// The bytes without colours that were read since it began.
  private var count = 0
  private var places: ColourPlaces
  /// A possible beginning of a colour.
  private var sequence = ColourSequence()
  /// The length of the possible beginning of a secret, without colours.
  private var pending: Int
  private(set) var isOver = false

  init(from positions: [PatternAutomaton.Position], pending: Int, at index: Int) {
    (self.positions, self.pending) = (positions, pending)
    places = ColourPlaces(origin: index)
  }

  /// The length of that beginning with the colours in it, at the end of a chunk.
  var pendingBytes: Int { -places.index(of: count - pending) }

  /// Reads from an index to the next colour, or a colour.
  ///
  /// - Returns: The index after what it has read.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, from start: Int, _ automata: [PatternAutomaton],
    _ found: (Range<Int>) -> Bool
  ) -> Int {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
    if sequence.isEmpty, rest[0] != ColourSequence.escape {
      let length = rest.offset(of: ColourSequence.escape) ?? rest.count
      take(UnsafeRawBufferPointer(rebasing: rest[..<length]), automata, found)
      return start + length
    }
    for index in start..<bytes.count {
      switch sequence.take(bytes[index]) {
      case .goesOn: continue
      case .ended:
        places.add(sequence.bytes.count, after: count)
        sequence = ColourSequence()
        isOver = places.bytes > Self.limit
        return index + 1
      case .isNone:
        let text = sequence.bytes
        sequence = ColourSequence()
        text.withUnsafeBytes { take($0, automata, found) }
        return index
      }
    }
    return bytes.count
  }

  private mutating func take(
    _ text: UnsafeRawBufferPointer, _ automata: [PatternAutomaton], _ found: (Range<Int>) -> Bool
  ) {
    let (places, count) = (places, count)
    for index in automata.indices {
      automata[index].read(text, from: &positions[index]) { range in
        let (first, last) = (count + range.lowerBound, count + range.upperBound - 1)
        return found(places.index(of: first)..<places.index(of: last) + 1)
      }
    }
    self.count += text.count
    pending = SecretReading.pending(automata, positions)
    self.places.forget(before: self.count - pending)
    isOver = self.places.bytes == 0
  }

  mutating func chunkEnded(after count: Int) { places.origin -= count }
}

/// The places of colours in a stream that is read without them.
private struct ColourPlaces {
  /// The index of the first byte that was read, as far as colours that are forgotten are concerned.
  var origin: Int
  /// The number of bytes that were read before each colour, and its length.
  private var colours: [(place: Int, length: Int)] = []

  init(origin: Int) { self.origin = origin }

  /// The length of all colours.
  var bytes: Int { colours.reduce(0) { $0 + $1.length } }

  mutating func add(_ length: Int, after place: Int) { colours.append((place, length)) }

  /// Forgets the colours before a byte: they are before all that is asked for from now on.
  mutating func forget(before place: Int) {
    while let colour = colours.first, colour.place <= place {
      origin += colour.length
      colours.removeFirst()
    }
  }

  /// The index of a byte, with the colours before it.
  func index(of place: Int) -> Int {
    colours.reduce(origin + place) { $1.place <= place ? $0 + $1.length : $0 }
  }
}

/// A possible beginning of a sequence that displays remove: SGR, or "erase to the end of the line", which compilers
/// write after each colour (ECMA-48 §8.3.117 and §8.3.41).
private struct ColourSequence {
  static let escape: UInt8 = 0x1B
  /// A longer one is shown.
  private static let limit = 64

  enum Step { case goesOn, ended, isNone }

  private(set) var bytes: [UInt8] = []

  var isEmpty: Bool { bytes.isEmpty }

  /// Takes the next byte, unless there is no sequence.
  mutating func take(_ byte: UInt8) -> Step {
    let isParameter = UInt8(ascii: "0")...UInt8(ascii: ";") ~= byte
    let step: Step =
      switch bytes.count {
      case 0: byte == Self.escape ? .goesOn : .isNone
      case 1: byte == UInt8(ascii: "[") ? .goesOn : .isNone
      case Self.limit...: .isNone
      case _ where isParameter: .goesOn
      default: byte == UInt8(ascii: "m") || byte == UInt8(ascii: "K") ? .ended : .isNone
      }
    if step != .isNone { bytes.append(byte) }
    return step
  }
}

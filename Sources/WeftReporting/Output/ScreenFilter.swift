import WeftDiagnostics
import WeftPlatform

/// Passes the bytes of a line of output that a terminal may get, and spells out all others.
///
/// Printable text passes and, if colours do, SGR (ECMA-48 §8.3.117) and "erase to the end of the line" (EL, §8.3.41),
/// which compilers write after each colour. Without colours these two are removed. Everything else becomes visible text:
/// C0 and C1 controls, all other escape sequences, and characters that are invisible or reorder the line. Tabs become
/// spaces, and bytes that are not UTF-8 U+FFFD. A line that changed colours ends with a reset.
struct ScreenFilter: Sendable, Hashable {
  let passesSGR: Bool
  let passesUnicode: Bool

  /// Appends the filtered line.
  func append(_ line: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    let isPlain = line.withUnsafeBufferPointer { line in
      line.allSatisfy { ScreenFilter.isPlain($0) }
    }
    if isPlain {
      bytes += line
    } else {
      line.withUnsafeBytes { line in
        var pass = Pass(filter: self, line: line, tracksColumns: line.offset(of: Pass.tab) != nil)
        pass.run(&bytes)
      }
    }
  }

  @inline(__always)
  fileprivate static func isPlain(_ byte: UInt8) -> Bool { byte &- 0x20 < 0x5F }

  /// One pass over one line.
  private struct Pass {
    let filter: ScreenFilter
    let line: UnsafeRawBufferPointer
    /// Whether the width of the text matters, because there are tabs.
    let tracksColumns: Bool
    private var index = 0
    private var column = 0
    private var hasSGR = false

    static let tab = UInt8(ascii: "\t")
    private static let escape: UInt8 = 0x1B

    init(filter: ScreenFilter, line: UnsafeRawBufferPointer, tracksColumns: Bool) {
      self.filter = filter
      self.line = line
      self.tracksColumns = tracksColumns
    }

    mutating func run(_ bytes: inout [UInt8]) {
      while index < line.count {
        switch line[index] {
        case 0x20..<0x7F: passText(&bytes)
        case Pass.escape: passSequence(&bytes)
        case Pass.tab:
          let width = 8 - column % 8
          bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: width))
          column += width
          index += 1
        default: passScalar(&bytes)
        }
      }
      if hasSGR { bytes += "\u{1B}[0m".utf8 }
    }

    private mutating func passText(_ bytes: inout [UInt8]) {
      let start = index
      while index < line.count, ScreenFilter.isPlain(line[index]) { index += 1 }
      bytes += line[start..<index]
      column += index - start
    }

    /// The maximum length of a sequence that passes.
    private static let sequenceLimit = 64

    private mutating func passSequence(_ bytes: inout [UInt8]) {
      guard let end = sequenceEnd else { return passScalar(&bytes) }
      if filter.passesSGR {
        bytes += line[index..<end]
        hasSGR = hasSGR || line[end - 1] == UInt8(ascii: "m")
      }
      index = end
    }

    /// The end of the SGR or EL sequence at the index; `nil` if it is another one, or not complete.
    private var sequenceEnd: Int? {
      var next = index + 1
      guard next < line.count, line[next] == UInt8(ascii: "[") else { return nil }
      let parameters = next + 1
      let limit = min(line.count, index + Pass.sequenceLimit)
      repeat {
        next += 1
        guard next < limit else { return nil }
      } while isParameter(line[next])
      switch line[next] {
      case UInt8(ascii: "m"): return next + 1
      case UInt8(ascii: "K"):
        // "1K" and "2K" erase text.
        return line[parameters..<next].allSatisfy { $0 == UInt8(ascii: "0") } ? next + 1 : nil
      default: return nil
      }
    }

    private func isParameter(_ byte: UInt8) -> Bool {
      UInt8(ascii: "0")...UInt8(ascii: ";") ~= byte
    }

    private mutating func passScalar(_ bytes: inout [UInt8]) {
      var parser = Unicode.UTF8.ForwardParser()
      var rest = line[index...].makeIterator()
      switch parser.parseScalar(from: &rest) {
      case .valid(let encoded):
        let scalar = Unicode.UTF8.decode(encoded)
        if let spelling = spelling(of: scalar) {
          append(spelling, to: &bytes)
        } else {
          bytes += line[index..<(index + encoded.count)]
          if tracksColumns { column += TerminalText.width(of: Character(scalar)) }
        }
        index += encoded.count
      case .error(let length):
        append(filter.passesUnicode ? "\u{FFFD}" : "\\u{fffd}", to: &bytes)
        index += length
      case .emptyInput: index = line.count
      }
    }

    private func spelling(of scalar: Unicode.Scalar) -> String? {
      if let escaped = TerminalText.escape(scalar) { return escaped }
      guard !filter.passesUnicode, !scalar.isASCII else { return nil }
      return "\\u{" + String(scalar.value, radix: 16) + "}"
    }

    private mutating func append(_ spelling: String, to bytes: inout [UInt8]) {
      bytes += spelling.utf8
      column += spelling.unicodeScalars.count
    }
  }
}

/// A character of a source line as it is displayed: its bytes, its text and its columns.
struct SourceCell: Sendable, Hashable {
  static let tabStop = 4

  var bytes: Range<Int>
  var text: String
  var columns: Range<Int>

  /// Returns one cell for each character, each escape and each byte that is not UTF-8.
  static func cells(of range: Range<Int>, in bytes: [UInt8]) -> [SourceCell] {
    var cells: [SourceCell] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let valid = validPrefix(of: offset..<range.upperBound, in: bytes)
      for character in String(decoding: bytes[valid], as: UTF8.self) {
        append(character, to: &cells, from: &offset)
      }
      guard offset < range.upperBound else { break }
      append(TerminalText.escape(byte: bytes[offset]), length: 1, to: &cells, from: &offset)
    }
    return cells
  }

  private static func append(
    _ character: Character, to cells: inout [SourceCell], from offset: inout Int
  ) {
    let scalars = character.unicodeScalars
    if character == "\t" {
      let column = cells.last?.columns.upperBound ?? 0
      let spaces = String(repeating: " ", count: tabStop - column % tabStop)
      append(spaces, length: 1, to: &cells, from: &offset)
    } else if scalars.contains(where: { TerminalText.escape($0) != nil }) {
      for scalar in scalars {
        let text = TerminalText.escape(scalar) ?? String(scalar)
        append(text, length: UTF8.width(scalar), to: &cells, from: &offset)
      }
    } else {
      let length = character.utf8.count
      append(String(character), length: length, to: &cells, from: &offset)
    }
  }

  private static func append(
    _ text: String, length: Int, to cells: inout [SourceCell], from offset: inout Int
  ) {
    let column = cells.last?.columns.upperBound ?? 0
    let width = text.reduce(0) { $0 + TerminalText.width(of: $1) }
    cells.append(
      SourceCell(
        bytes: offset..<offset + length, text: text, columns: column..<column + width))
    offset += length
  }

  /// The longest prefix that is well-formed UTF-8.
  private static func validPrefix(of range: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
    var decoder = UTF8()
    var iterator = bytes[range].makeIterator()
    var end = range.lowerBound
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      end += UTF8.width(scalar)
    }
    return range.lowerBound..<end
  }
}

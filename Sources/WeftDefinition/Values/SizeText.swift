import WeftDiagnostics

/// Amounts of data as written in a workflow: `"64KiB"`, `"10MB"`, `"1GiB"`, `"512B"`.
///
/// They are one whole number and one unit in this exact spelling: K, M, G and T are powers of 1000 with `B`,
/// and powers of 1024 with `iB` (IEC 80000-13).
package enum SizeText {
  /// The reason why a text is not an amount of data.
  package enum ParseError: Error, Sendable, Hashable {
    /// Not a number and a unit.
    case malformed
    /// Only digits; carries them.
    case withoutUnit(number: String)
    /// Carries the correct spelling of the unit, if it is close enough to one.
    case unknownUnit(String, nearest: String?)
    case negative
    case fraction
    case zero
    /// More than ``WorkflowLimits/largestSize``.
    case tooLarge
  }

  /// The unit's name and its bytes, the largest first.
  private static let units: [(name: String, bytes: Int)] = [
    ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
    ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10),
    ("KB", 1_000), ("B", 1),
  ]

  package static func size(from text: String) throws(ParseError) -> ByteCount {
    if text.utf8.first == UInt8(ascii: "-") { throw .negative }
    let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty else { throw .malformed }
    let name = String(text[digits.endIndex...])
    guard !name.isEmpty else { throw .withoutUnit(number: text) }
    if name.utf8.first == UInt8(ascii: ".") { throw .fraction }
    guard let unit = units.first(where: { $0.name == name }) else {
      throw .unknownUnit(name, nearest: nearestUnit(to: name))
    }
    let (bytes, isLarge) = (Int(Substring(digits)) ?? .max)
      .multipliedReportingOverflow(by: unit.bytes)
    if isLarge || bytes > WorkflowLimits.largestSize.bytes { throw .tooLarge }
    if bytes == 0 { throw .zero }
    return ByteCount(bytes)
  }

  /// The shortest text that reads back as `size`.
  package static func text(of size: ByteCount) -> String {
    let unit = units.first { size.bytes.isMultiple(of: $0.bytes) && size.bytes > 0 }
    return "\(size.bytes / (unit?.bytes ?? 1))\(unit?.name ?? "B")"
  }

  /// Other tools write `k`, `Mb`, `gib` or `G`; a single letter mostly means a power of 1024, as with `ulimit`.
  private static func nearestUnit(to name: String) -> String? {
    let name = name.drop { $0 == " " }.lowercased()
    if let known = units.first(where: { $0.name.lowercased() == name }) { return known.name }
    return ["k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB"][name]
  }
}

/// An amount of data.
public struct ByteCount: Sendable, Hashable, Comparable {
  /// Never negative.
  public let bytes: Int

  /// - Precondition: `bytes` is not negative.
  public init(_ bytes: Int) {
    precondition(bytes >= 0, "\(bytes) is not an amount of data")
    self.bytes = bytes
  }

  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: CustomStringConvertible {
  /// The spelling in a workflow.
  public var description: String { SizeText.text(of: self) }
}

extension SizeText.ParseError {
  static let units = "the units are TB, GB, MB, KB, TiB, GiB, MiB, KiB and B, as in \"64KiB\""

  var expectation: String {
    switch self {
    case .malformed, .withoutUnit, .unknownUnit, .fraction: "expected a size like \"10MB\""
    case .negative, .zero: "expected a size greater than zero"
    case .tooLarge: "expected at most \(WorkflowLimits.largestSize)"
    }
  }

  var help: String? {
    switch self {
    case .withoutUnit(let number): "write \"\(shortened(number))B\"; \(SizeText.ParseError.units)"
    case .unknownUnit(let unit, let nearest?):
      "\(quoted(unit)) is not a unit, did you mean \"\(nearest)\"?"
    case .unknownUnit(let unit, nil): "\(quoted(unit)) is not a unit; \(SizeText.ParseError.units)"
    case .fraction: "write a whole number, such as \"1536MiB\" for one and a half GiB"
    case .malformed: SizeText.ParseError.units
    case .negative, .zero, .tooLarge: nil
    }
  }
}

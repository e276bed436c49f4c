import WeftDiagnostics

/// Checks a text before its first token: size, encoding and byte order mark.
struct JSONEnvelope {
  /// The reason to reject the text without parsing it.
  private(set) var fault: JSONProblem?
  private(set) var notes: [JSONProblem] = []
  /// The offset of the JSON text.
  private(set) var start = 0

  init(_ bytes: [UInt8], limits: JSONLimits) {
    let limit = min(limits.bytes, Int(UInt32.max) - 1)
    if bytes.count > limit {
      fault = JSONProblem(.tooLarge(bytes.count, limit: limit), 0..<0)
    } else if let encoding = JSONEnvelope.foreignEncoding(of: bytes) {
      fault = JSONProblem(.foreignEncoding(encoding), 0..<min(bytes.count, 2))
    } else if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      notes = [JSONProblem(.byteOrderMark, 0..<3)]
      start = 3
    }
  }

  /// Detects the encoding by byte order mark, or by the position of the zeros of the first two ASCII characters (RFC
  /// 4627 §3).
  private static func foreignEncoding(of bytes: [UInt8]) -> String? {
    guard bytes.count >= 2 else { return nil }
    let head = (0..<4).map { $0 < bytes.count ? bytes[$0] : 0xAA }
    switch (head[0], head[1], head[2], head[3]) {
    case (0xFF, 0xFE, 0, 0), (0, 0, 0xFE, 0xFF): return "UTF-32"
    case (0xFF, 0xFE, _, _), (0xFE, 0xFF, _, _): return "UTF-16"
    case (0, 0, 0, 1...), (1..., 0, 0, 0): return "UTF-32"
    case (0, 1..., _, _), (1..., 0, _, _): return "UTF-16"
    default: return nil
    }
  }
}

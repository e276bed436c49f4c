import WeftDefinition
import WeftExpressions
import WeftHTTP

/// The body of an answer, kept for the expressions that read it. What is longer waits on disk, unless it is
/// secret.
struct CapturedBody: Sendable {
  private enum Content: Sendable {
    case memory([UInt8])
    case disk(Range<Int>)
  }

  private let content: Content
  private let charset: String?
  private let isCut: Bool
  /// Whether it is read as JSON.
  let isJSON: Bool
  /// What the answer says that it is.
  private let type: String?
  /// Whether the bytes of a secret are in it.
  let isSecret: Bool

  init(_ answer: Answer, mask: SecretMask?, isSecret: Bool = false, spool: CaptureSpool) {
    self.init(
      answer.response.body, isSecret: isSecret || mask?.contains(answer.response.body) == true,
      charset: answer.response.head.contentType?.parameters["charset"],
      isCut: answer.response.isBodyCut, isJSON: answer.isJSON,
      type: answer.response.headers["content-type"], spool: spool)
  }

  /// One that was read in an earlier part of the run.
  init(text: String, isJSON: Bool, type: String?, spool: CaptureSpool) {
    self.init(
      Array(text.utf8), isSecret: false, charset: nil, isCut: false, isJSON: isJSON, type: type,
      spool: spool)
  }

  private init(
    _ bytes: [UInt8], isSecret: Bool, charset: String?, isCut: Bool, isJSON: Bool, type: String?,
    spool: CaptureSpool
  ) {
    self.isSecret = isSecret
    self.charset = charset
    self.isCut = isCut
    self.isJSON = isJSON
    self.type = type
    if bytes.count > CapturedText.memoryBytes, !isSecret, let range = spool.put(bytes) {
      content = .disk(range)
    } else {
      content = .memory(bytes)
    }
  }

  /// Before it is read as text.
  var byteCount: Int {
    switch content {
    case .memory(let bytes): bytes.count
    case .disk(let range): range.count
    }
  }

  /// - Parameter owner: How messages call whose body it is.
  func text(_ owner: String, from spool: CaptureSpool) throws(ExpressionProblem) -> ScopedValue {
    ScopedValue(.string(try decoded(owner, spool)), isSecret: isSecret)
  }

  /// What the body says as JSON; `null` of an empty one.
  func json(_ owner: String, from spool: CaptureSpool) throws(ExpressionProblem) -> ScopedValue {
    guard isJSON else {
      throw .scope(
        code: "W0337",
        message: "the answer of \(owner) is \(type.map(quoted) ?? "of no known kind"), not JSON",
        help: "write \"response\": \"json\" if it is JSON all the same, or read its body")
    }
    let text = try decoded(owner, spool)
    guard text.utf8.contains(where: { $0 > 0x20 }) else {
      return ScopedValue(.null, isSecret: isSecret)
    }
    return ScopedValue(
      try ExpressionValue.json(text, from: "the answer of \(owner)"), isSecret: isSecret)
  }

  private func decoded(
    _ owner: String, _ spool: CaptureSpool
  ) throws(ExpressionProblem) -> String {
    let bytes: [UInt8]
    switch content {
    case .memory(let kept): bytes = kept
    case .disk(let range):
      do { bytes = try spool.bytes(in: range) } catch {
        throw error.problem("the answer of \(owner)")
      }
    }
    do throws(BodyNotText) {
      return try BodyText.decode(bytes, charset: charset)
    } catch {
      // The last character of what was cut may be, too.
      if isCut { return String(decoding: bytes, as: UTF8.self) }
      throw .scope(
        code: "W0338", message: "the answer of \(owner): \(error.message)", help: error.help)
    }
  }
}

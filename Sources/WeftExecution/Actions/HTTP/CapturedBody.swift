import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftHTTP

/// The body of a response, kept for the expressions that read it. A long one is kept on disk, unless it is
/// secret.
struct CapturedBody: Sendable {
  private let content: SpooledBytes
  private let charset: String?
  private let isCut: Bool
  /// Whether it is read as JSON.
  let isJSON: Bool
  /// The `Content-Type` of the response.
  private let type: String?
  /// Whether it contains the bytes of a secret.
  let isSecret: Bool

  init(_ answer: Response, mask: SecretMask?, isSecret: Bool = false, spool: CaptureSpool) {
    self.init(
      answer.response.body, isSecret: isSecret || mask?.contains(answer.response.body) == true,
      charset: answer.response.head.contentType?.parameters["charset"],
      isCut: answer.response.isBodyCut, isJSON: answer.isJSON,
      type: answer.response.headers["content-type"], spool: spool)
  }

  /// A body that a previous engine has recorded.
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
    content = SpooledBytes(bytes, isSecret: isSecret, in: spool)
  }

  /// The size before decoding.
  var byteCount: Int { content.count }

  /// - Parameter owner: The owner of the body, as named in messages.
  func text(_ owner: String, from spool: CaptureSpool) throws(EvaluationError) -> ScopedValue {
    ScopedValue(.string(try decoded(owner, spool)), isSecret: isSecret)
  }

  /// The body parsed as JSON; `null` if it is empty.
  func json(_ owner: String, from spool: CaptureSpool) throws(EvaluationError) -> ScopedValue {
    guard isJSON else {
      throw .scope(
        code: "W0337",
        message: "the response of \(owner) is \(type.map(quoted) ?? "of unknown type"), not JSON",
        help: "write \"response\": \"json\" if it is JSON nevertheless, or read its body")
    }
    let text = try decoded(owner, spool)
    guard text.utf8.contains(where: { $0 > 0x20 }) else {
      return ScopedValue(.null, isSecret: isSecret)
    }
    return ScopedValue(
      try ExpressionValue.json(
        text, from: "the response of \(owner)", help: "read its body, a text, instead of its json"),
      isSecret: isSecret)
  }

  private func decoded(
    _ owner: String, _ spool: CaptureSpool
  ) throws(EvaluationError) -> String {
    let bytes: [UInt8]
    do { bytes = try content.bytes(from: spool) } catch {
      throw error.problem("the response of \(owner)")
    }
    do throws(BodyTextError) {
      return try BodyText.decode(bytes, charset: charset)
    } catch {
      // The last character may be cut, too.
      if isCut { return String(decoding: bytes, as: UTF8.self) }
      throw .scope(
        code: "W0338", message: "the response of \(owner): \(error.message)", help: error.help)
    }
  }
}

import WeftDiagnostics
public import WeftHTTP
public import WeftJSON

extension HTTPResponse {
  /// The body as JSON, whatever its content type. If members have the same key, the last one counts.
  public func json() throws(BodyError) -> JSONValue {
    // RFC 8259 §8.1: JSON between programs is UTF-8; a body in another charset declares it.
    let text: String
    do { text = try self.text() } catch { throw .notText(error) }
    let file = SourceFile(path: url.description, bytes: Array(text.utf8))
    let (root, diagnostics) = JSONReader.read(file, beside: nil)
    if let root, !diagnostics.contains(where: \.isError) { return JSONValue(root) }
    let first = diagnostics.first(where: \.isError)
    let place = file.position(of: first?.place.map { Int($0.range.start) } ?? 0)
    throw .notJSON(line: place.line, column: place.column, why: first?.message ?? "it is not read")
  }

  /// The body, decoded as a type of the caller's.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(BodyError) -> Value {
    let value = try json()
    do { return try value.decoded(as: type) } catch { throw .notOfType(error) }
  }
}

import Weft

/// The parameters of a step `{ "use": "scan", "with": { "image": … } }`.
struct ScanRequest: Decodable {
  let image: String
}

/// The result, which other steps read as `steps.scan.json`.
struct ScanResult: Encodable {
  let image: String
  let findings: Int
}

/// Looks for known problems in an image.
func scan(_ request: ScanRequest, _ context: ActionContext) async throws -> ScanResult {
  guard request.image.hasPrefix("image-") else {
    throw ActionError("\"\(request.image)\" is not an image", help: "build it first")
  }
  context.log("scanning \(request.image)")
  // By the clock of the engine, which a test advances.
  try await context.sleep(for: .milliseconds(200))
  return ScanResult(image: request.image, findings: 0)
}

import WeftHTTP
import WeftPlatform

extension TLSFiles {
  /// Checks the files before libcurl opens them, because a FIFO without a writer would block its only thread. Blocks
  /// as long as the file system does. Missing files are left for libcurl to report.
  func checkContents() throws(HTTPFailure.Kind) {
    for path in [authorities, certificate, key].compactMap(\.self) {
      guard let file = try regularFile(path), path == key ?? certificate else { continue }
      let start = (try? file.piece(at: 0, atMost: Self.searchedBytes)) ?? []
      if Self.isEncrypted(start) { throw .tls(.encryptedKey, why: path) }
    }
  }

  /// Large enough for a key and the certificates before it, which take a few kilobytes.
  private static let searchedBytes = 1 << 20

  private func regularFile(_ path: String) throws(HTTPFailure.Kind) -> Descriptor? {
    do throws(SystemError) {
      return try Descriptor.opened(regularFile: path).0
    } catch {
      guard error == .invalid else { return nil }
      throw .tls(.ownFiles, why: "\"\(path)\" is not a regular file")
    }
  }

  /// Whether the first key is encrypted: PKCS #8 (RFC 7468 §11) or the older format (RFC 1421 §4.6.1.1).
  static func isEncrypted(_ pem: [UInt8]) -> Bool {
    let lines = pem.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard
      let first = lines.firstIndex(where: {
        $0.starts(with: "-----BEGIN ".utf8) && $0.contains("PRIVATE KEY-----")
      })
    else { return false }
    if lines[first].contains("BEGIN ENCRYPTED ") { return true }
    let next = lines.index(after: first)
    return next < lines.endIndex && lines[next].starts(with: "Proc-Type:".utf8)
      && lines[next].contains("ENCRYPTED")
  }
}

extension ArraySlice<UInt8> {
  fileprivate func contains(_ text: StaticString) -> Bool {
    String(decoding: self, as: UTF8.self).contains("\(text)")
  }
}

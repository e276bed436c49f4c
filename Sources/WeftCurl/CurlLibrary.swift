import CWeftCurl
import WeftHTTP

/// libcurl, which is loaded with the first request and stays loaded.
enum CurlLibrary {
  /// Takes some milliseconds the first time.
  static func open() throws(HTTPFailure.Kind) {
    var failed: Int32 = 0
    let why = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      buffer[0] = 0
      failed = weft_curl_open(buffer.baseAddress, buffer.count)
      return String(cString: buffer.baseAddress!)
    }
    if failed != 0 { throw .unavailable(why) }
  }

  /// The version, such as "7.88.1"; `nil` if the library is not loaded.
  static var version: String? {
    let text = String(cString: weft_curl_version_text())
    return text.isEmpty ? nil : text
  }
}

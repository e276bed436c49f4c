#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Machine {
  /// A UUID that distinguishes this boot of the machine from all others, as process ids and ticks do not. Empty if the
  /// system has none (Linux: `random(4)`, `boot_id`).
  package static let bootID: String = {
    #if os(Linux)
      let path = "/proc/sys/kernel/random/boot_id"
      let bytes = (try? FileReading.bytes(of: path, limit: 256)) ?? []
      return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    #else
      var text = [CChar](repeating: 0, count: 64)
      var size = text.count
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return "" }
      return String(cString: text)
    #endif
  }()
}

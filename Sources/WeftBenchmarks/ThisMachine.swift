#if canImport(Glibc)
  import Glibc
#endif

/// The resident memory of this process in bytes; 0 if the system does not report it.
func residentBytes() -> Double {
  #if canImport(Glibc)
    guard let stream = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(stream) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, stream) != nil else { return 0 }
    let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
  #else
    return 0
  #endif
}

/// The number of open descriptors of this process; 0 if the system does not report it.
func openDescriptors() -> Double {
  guard let folder = opendir("/proc/self/fd") else { return 0 }
  defer { closedir(folder) }
  // Without ".", ".." and the descriptor of this listing.
  var count = -3.0
  while readdir(folder) != nil { count += 1 }
  return count
}

/// Strings as C programs take them, terminated by a null pointer.
func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var bytes: [CChar] = []
  let starts = strings.map { string in
    defer { bytes += string.utf8CString }
    return bytes.count
  }
  return bytes.withUnsafeMutableBufferPointer { bytes in
    var pointers = starts.map { start in bytes.baseAddress.map { $0 + start } } + [nil]
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
  }
}

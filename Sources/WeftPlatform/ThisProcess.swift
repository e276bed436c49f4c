import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process that the engine is part of.
package enum ThisProcess {
  package static var id: Int32 { getpid() }

  /// How many processors it may run on, at least 1.
  package static var processorCount: Int { Int(weft_processor_count()) }
}

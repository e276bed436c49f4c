public import WeftDiagnostics

/// A text of a step, a group or the workflow that may contain expressions (`${{ … }}`).
public enum TextSite: Sendable, Hashable {
  case name
  /// The text of a script.
  case script
  /// An element of a program's command line, from 0.
  case argument(Int)
  /// The value of a variable.
  case variable(String)
  case workingDirectory
  /// The standard input of a command.
  case input
  /// The path of the file that a command reads.
  case inputFile
  /// The value of an output.
  case output(String)
  /// The next value of a state variable.
  case state(String)
  /// An `if`.
  case condition
  /// The `when` of a retry policy, from 0.
  case retryCondition(Int)
  /// The `in` of `forEach`.
  case elements
  /// The `key` of `forEach`.
  case elementKey
  /// The values of an axis of a matrix.
  case axis(String)
  /// The `include` of a matrix.
  case include
  /// The `exclude` of a matrix.
  case exclude
  /// The duration or moment of a wait.
  case waiting
  /// The message of an approval.
  case message
  /// The key of `concurrency`.
  case concurrencyKey
  /// A parameter in `with`.
  case parameter(String)
  /// A pattern of the files that a cached command reads, from 0.
  case cacheInput(Int)
  /// The path of an output of a cached command, from 0.
  case cacheOutput(Int)
  /// The `key` of a cached command.
  case cacheKey
  /// The address at which a service is ready.
  case probe
  /// A key with a number, a duration, a size or a Boolean that an expression gives.
  case computed(ComputedKey)
  /// A text of an HTTP request, or an expression about its response.
  indirect case http(HTTPSite)
}

/// The location of a text that may contain expressions, with its quotes.
public struct TextPlace: Sendable, Hashable {
  public var site: TextSite
  public var range: SourceRange
  /// The location of the text, if `range` is not that of one string.
  public var source: TextSource?

  public init(_ site: TextSite, at range: SourceRange, in source: TextSource? = nil) {
    self.site = site
    self.range = range
    self.source = source
  }
}

/// A location in a file, carried along for messages and never part of the meaning: two values that
/// differ only in `Written` parts are equal and have the same hash.
public struct Written<Value: Sendable>: Sendable, Hashable {
  public var value: Value

  public init(_ value: Value) {
    self.value = value
  }

  public static func == (left: Written, right: Written) -> Bool { true }

  public func hash(into hasher: inout Hasher) {}
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether there is a dollar sign, without which there is no expression. Looks at eight bytes at
  /// a time with the test for a zero byte in a word (H. S. Warren, "Hacker's Delight", §6-1).
  var hasDollar: Bool {
    let dollars = UInt64(UInt8(ascii: "$")) &* 0x0101_0101_0101_0101
    let bytes = UnsafeRawBufferPointer(self)
    var offset = 0
    while offset &+ 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ dollars
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      offset &+= 8
    }
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "$") { return true }
      offset &+= 1
    }
    return false
  }
}

extension String {
  /// Whether the text contains `${{`.
  package var hasExpression: Bool {
    var text = self
    return text.withUTF8 { bytes in
      guard bytes.count >= 3, bytes.hasDollar else { return false }
      for index in 0..<bytes.count - 2 where bytes[index] == UInt8(ascii: "$") {
        if bytes[index + 1] == UInt8(ascii: "{") && bytes[index + 2] == UInt8(ascii: "{") {
          return true
        }
      }
      return false
    }
  }
}

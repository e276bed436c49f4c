import Testing

@testable import WeftJSON

/// Decoding into custom types.
struct JSONDecodingTests {
  private struct Release: Decodable, Equatable {
    enum Channel: String, Decodable { case stable, nightly }

    struct File: Decodable, Equatable {
      var name: String
      var size: Int64
    }

    var version: String
    var channel: Channel
    var draft: Bool?
    var rating: Double
    var files: [File]
    var counts: [String: UInt8]
    var note: String?
  }

  private func value(_ text: String) throws -> JSONValue { JSONValue(try root(of: text)) }

  @Test func aTypeIsFilledFromTheMembersThatItAsksFor() throws {
    let release = try value(
      """
      {"version": "1.2", "channel": "stable", "draft": null, "rating": 4.5, "extra": [1],
       "files": [{"name": "a", "size": 9007199254740993}, {"size": 1e2, "name": "b"}],
       "counts": {"x": 1, "y": 255}}
      """
    ).decoded(as: Release.self)
    #expect(
      release
        == Release(
          version: "1.2", channel: .stable, draft: nil, rating: 4.5,
          files: [.init(name: "a", size: 9_007_199_254_740_993), .init(name: "b", size: 100)],
          counts: ["x": 1, "y": 255], note: nil))
  }

  @Test func valuesNeedNoObjectAroundThem() throws {
    #expect(try value("[1, 2]").decoded() == [1, 2])
    #expect(try value("true").decoded() == true)
    #expect(try value("\"a\"").decoded() == "a")
    #expect(try value("null").decoded() == Int?.none)
    #expect(try value("[[1], [null, 2]]").decoded(as: [[Int?]].self) == [[1], [nil, 2]])
    #expect(try value("0.1").decoded(as: Float.self) == 0.1)
    #expect(try value("{\"1\": 2}").decoded(as: [Int: Int].self) == [1: 2])
  }

  /// The path of a fault, and what was found there.
  private func fault<Value: Decodable>(_ text: String, as type: Value.Type) throws -> String {
    let value = try value(text)
    do throws(DecodingError) {
      _ = try value.decoded(as: type)
      return "decoded"
    } catch {
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context), .dataCorrupted(let context):
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return path.joined(separator: ".") + ": " + context.debugDescription
      @unknown default: return "\(error)"
      }
    }
  }

  @Test func decodingErrorNamesItsPath() throws {
    #expect(try fault("[1, \"2\"]", as: [Int].self) == "[1]: expected a number, found a string")
    #expect(try fault("[1.5]", as: [Int].self) == "[0]: 1.5 is not an integer")
    #expect(try fault("256", as: UInt8.self) == ": 256 is out of range for UInt8")
    #expect(try fault("-1", as: UInt.self) == ": -1 is out of range for UInt")
    #expect(try fault("1e400", as: Double.self) == ": 1e400 is out of range for Double")
    #expect(try fault("1e300", as: Float.self) == ": 1e300 is out of range for Float")
    #expect(try fault("null", as: String.self) == ": expected a string, found null")
    #expect(try fault("1", as: Bool.self) == ": expected a boolean, found a number")
    #expect(try fault("{}", as: [Int].self) == ": expected an array, found an object")
    #expect(try fault("[]", as: [String: Int].self) == ": expected an object, found an array")
    #expect(
      try fault("{\"name\": \"a\"}", as: Release.File.self) == ": there is no member \"size\"")
    #expect(
      try fault("{\"files\": [{\"name\": 1}]}", as: [String: [Release.File]].self)
        == "files.[0].name: expected a string, found a number")
    #expect(
      try fault("\"x\"", as: Release.Channel.self).hasPrefix(": Cannot initialize Channel"))
  }

  private struct ByHand: Decodable, Equatable {
    enum Key: String, CodingKey { case inner, list, rest }

    var keys: [String]
    var sum: Int
    var hasNull: Bool

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Key.self)
      let inner = try members.nestedContainer(keyedBy: Key.self, forKey: .inner)
      var list = try members.nestedUnkeyedContainer(forKey: .list)
      keys = inner.allKeys.map(\.rawValue)
      hasNull = try list.decodeNil()
      sum = 0
      while !list.isAtEnd {
        if let number = try? list.decode(Int.self) {
          sum += number
        } else {
          var deeper = try list.nestedUnkeyedContainer()
          sum += try deeper.decode(Int.self)
        }
      }
      _ = try Int(from: members.superDecoder(forKey: .rest))
    }

    init(keys: [String], sum: Int, hasNull: Bool) {
      (self.keys, self.sum, self.hasNull) = (keys, sum, hasNull)
    }
  }

  @Test func aTypeMayReadByHand() throws {
    let text = "{\"inner\": {\"list\": 1, \"other\": 2}, \"list\": [null, 1, [5], 2], \"rest\": 7}"
    #expect(try value(text).decoded() == ByHand(keys: ["list"], sum: 8, hasNull: true))
  }
}

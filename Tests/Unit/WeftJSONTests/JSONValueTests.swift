import Testing

@testable import WeftJSON

struct JSONValueTests {
  @Test func literalsMakeValues() {
    let value: JSONValue = ["a": 1, "b": [true, nil, "x", 1.5], "c": [:]]
    #expect(value.description == #"{"a":1,"b":[true,null,"x",1.5],"c":{}}"#)
    #expect(value["b"]?[2] == "x")
    #expect(value["b"]?[9] == nil && value["z"] == nil && value[0] == nil)
  }

  @Test func stringsAreComparedByScalars() {
    let composed: JSONValue = "\u{E9}"
    let decomposed: JSONValue = "e\u{301}"
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, "\u{E9}"]).count == 2)
  }

  @Test func objectsAreEqualWhateverTheirOrder() {
    let one: JSONValue = ["a": 1, "b": 2]
    let other: JSONValue = ["b": 2.0, "a": 1]
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one != ["a": 1, "b": 3])
    #expect(one != ["a": 1])
    #expect(one.description != other.description)
  }

  @Test(arguments: [3, 12, 13, 1000])
  func anObjectHoldsEachKeyOnceInOrderOfArrival(count: Int) {
    var object = JSONObject()
    for index in 0..<count { object["k\(index)"] = .int(index) }
    for index in 0..<count { object["k\(index)"] = .int(-index) }
    object["\u{E9}"] = 1
    object["e\u{301}"] = 2
    #expect(object.count == count + 2)
    #expect(object.prefix(3).map(\.key) == ["k0", "k1", "k2"])
    #expect(object["k\(count - 1)"] == .int(1 - count))
    object["k1"] = nil
    #expect(object["k1"] == nil && object.count == count + 1)
    #expect(object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
    #expect(object["k2"] == -2)
  }

  @Test func valuesOfDifferentKindsDiffer() {
    let values: [JSONValue] = [nil, false, 0, "", [], [:], true, 1, "1", [1], ["1": 1]]
    for (index, left) in values.enumerated() {
      for (other, right) in values.enumerated() { #expect((left == right) == (index == other)) }
    }
    #expect(Set(values).count == values.count)
  }
}

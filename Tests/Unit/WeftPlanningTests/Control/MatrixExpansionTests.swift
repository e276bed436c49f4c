import Testing
import WeftJSON

@testable import WeftPlanning

@Suite struct MatrixExpansionTests {
  /// The combinations, each as JSON on one line.
  private static func combinations(
    _ axes: KeyValuePairs<String, JSONValue>, include: JSONValue? = nil, exclude: JSONValue? = nil
  ) throws -> [String] {
    let matrix = try expansion(axes, include: include, exclude: exclude)
    return (0..<matrix.count).map { JSONValue.object(matrix[$0]).description }
  }

  private static func expansion(
    _ axes: KeyValuePairs<String, JSONValue>, include: JSONValue? = nil, exclude: JSONValue? = nil
  ) throws -> MatrixExpansion {
    try MatrixExpansion(
      axes: axes.map { (name: $0.key, values: $0.value) }, include: include, exclude: exclude)
  }

  private static func keys(_ matrix: MatrixExpansion) -> [String] {
    (0..<matrix.count).map(matrix.key)
  }

  private static func problem(
    _ axes: KeyValuePairs<String, JSONValue>, include: JSONValue? = nil, exclude: JSONValue? = nil
  ) -> LoopProblem? {
    do {
      _ = try MatrixExpansion(
        axes: axes.map { (name: $0.key, values: $0.value) }, include: include, exclude: exclude,
        limit: 100)
      return nil
    } catch {
      return error
    }
  }

  // MARK: The examples of GitHub's documentation, "Running variations of jobs in a workflow"

  @Test func theLastAxisVariesFastest() throws {
    let found = try Self.combinations([
      "version": [10, 12, 14], "os": ["ubuntu-latest", "windows-latest"],
    ])
    #expect(
      found == [
        #"{"version":10,"os":"ubuntu-latest"}"#, #"{"version":10,"os":"windows-latest"}"#,
        #"{"version":12,"os":"ubuntu-latest"}"#, #"{"version":12,"os":"windows-latest"}"#,
        #"{"version":14,"os":"ubuntu-latest"}"#, #"{"version":14,"os":"windows-latest"}"#,
      ])
  }

  @Test func anAxisMayHaveObjects() throws {
    let found = try Self.combinations([
      "os": ["ubuntu-latest", "macos-latest"],
      "node": [["version": 14], ["version": 20, "env": "NODE_OPTIONS=--openssl-legacy-provider"]],
    ])
    let new = #"{"version":20,"env":"NODE_OPTIONS=--openssl-legacy-provider"}"#
    #expect(
      found == [
        #"{"os":"ubuntu-latest","node":{"version":14}}"#,
        #"{"os":"ubuntu-latest","node":"# + new + "}",
        #"{"os":"macos-latest","node":{"version":14}}"#,
        #"{"os":"macos-latest","node":"# + new + "}",
      ])
  }

  @Test func includeExtendsOrAddsCombinations() throws {
    let found = try Self.combinations(
      ["fruit": ["apple", "pear"], "animal": ["cat", "dog"]],
      include: [
        ["color": "green"], ["color": "pink", "animal": "cat"],
        ["fruit": "apple", "shape": "circle"], ["fruit": "banana"],
        ["fruit": "banana", "animal": "cat"],
      ])
    #expect(
      found == [
        #"{"fruit":"apple","animal":"cat","color":"pink","shape":"circle"}"#,
        #"{"fruit":"apple","animal":"dog","color":"green","shape":"circle"}"#,
        #"{"fruit":"pear","animal":"cat","color":"pink"}"#,
        #"{"fruit":"pear","animal":"dog","color":"green"}"#,
        #"{"fruit":"banana"}"#,
        #"{"fruit":"banana","animal":"cat"}"#,
      ])
  }

  @Test func includeExtendsOneCombination() throws {
    let found = try Self.combinations(
      ["os": ["windows-latest", "ubuntu-latest"], "node": [14, 16]],
      include: [["os": "windows-latest", "node": 16, "npm": 6]])
    #expect(
      found == [
        #"{"os":"windows-latest","node":14}"#, #"{"os":"windows-latest","node":16,"npm":6}"#,
        #"{"os":"ubuntu-latest","node":14}"#, #"{"os":"ubuntu-latest","node":16}"#,
      ])
  }

  @Test func includeAddsOneCombination() throws {
    let found = try Self.combinations(
      ["os": ["macos-latest", "windows-latest", "ubuntu-latest"], "version": [12, 14, 16]],
      include: [["os": "windows-latest", "version": 17]])
    #expect(found.count == 10)
    #expect(found.last == #"{"os":"windows-latest","version":17}"#)
  }

  @Test func includeWithoutAxesAddsCombinations() throws {
    let found = try Self.combinations(
      [:],
      include: [
        ["site": "production", "datacenter": "site-a"],
        ["site": "staging", "datacenter": "site-b"],
      ])
    #expect(
      found == [
        #"{"site":"production","datacenter":"site-a"}"#,
        #"{"site":"staging","datacenter":"site-b"}"#,
      ])
  }

  @Test func excludeMatchesPartially() throws {
    let found = try Self.combinations(
      [
        "os": ["macos-latest", "windows-latest"], "version": [12, 14, 16],
        "environment": ["staging", "production"],
      ],
      exclude: [
        ["os": "macos-latest", "version": 12, "environment": "production"],
        ["os": "windows-latest", "version": 16],
      ])
    #expect(
      found == [
        #"{"os":"macos-latest","version":12,"environment":"staging"}"#,
        #"{"os":"macos-latest","version":14,"environment":"staging"}"#,
        #"{"os":"macos-latest","version":14,"environment":"production"}"#,
        #"{"os":"macos-latest","version":16,"environment":"staging"}"#,
        #"{"os":"macos-latest","version":16,"environment":"production"}"#,
        #"{"os":"windows-latest","version":12,"environment":"staging"}"#,
        #"{"os":"windows-latest","version":12,"environment":"production"}"#,
        #"{"os":"windows-latest","version":14,"environment":"staging"}"#,
        #"{"os":"windows-latest","version":14,"environment":"production"}"#,
      ])
  }

  // MARK: The rest of GitHub's rules

  @Test func excludedCombinationCanBeIncludedAgain() throws {
    let found = try Self.combinations(
      ["os": ["linux", "macos"]], include: [["os": "macos", "slow": true]],
      exclude: [["os": "macos"]])
    #expect(found == [#"{"os":"linux"}"#, #"{"os":"macos","slow":true}"#])
  }

  @Test func objectsAreComparedByWhatTheEntryHasOfThem() throws {
    let found = try Self.combinations(
      ["node": [["version": 14, "npm": 6], ["version": 14], ["version": 20, "npm": 6]]],
      exclude: [["node": ["version": 14, "npm": 6]]])
    #expect(found == [#"{"node":{"version":14}}"#, #"{"node":{"version":20,"npm":6}}"#])
    let fewer = try Self.combinations(
      ["node": [["version": 14, "npm": 6], ["version": 14], ["version": 20, "npm": 6]]],
      exclude: [["node": ["version": 14]]])
    #expect(fewer == [#"{"node":{"version":20,"npm":6}}"#])
  }

  @Test func valuesAndNamesAreComparedAsInExpressions() throws {
    let found = try Self.combinations(
      ["os": ["Linux", "macOS"], "version": [12, "14"]],
      include: [["OS": "linux", "version": 14, "new": true]],
      exclude: [["Version": "12", "os": "MACOS"]])
    #expect(
      found == [
        #"{"os":"Linux","version":12}"#, #"{"os":"Linux","version":"14","new":true}"#,
        #"{"os":"macOS","version":"14"}"#,
      ])
  }

  @Test func anEntryThatAddsNothingIsNoCombinationIfItIsOneAlready() throws {
    let found = try Self.combinations(["os": ["linux"]], include: [["os": "linux"]])
    #expect(found == [#"{"os":"linux"}"#])
  }

  @Test func emptyAxisLeavesIncludedCombinations() throws {
    #expect(try Self.combinations(["os": [], "version": [1, 2]]) == [])
    let found = try Self.combinations(["os": []], include: [["os": "linux"], ["debug": true]])
    #expect(found == [#"{"os":"linux"}"#, #"{"debug":true}"#])
  }

  // MARK: Keys

  @Test func keysAreTheValuesInTheOrderOfTheAxes() throws {
    let matrix = try Self.expansion(
      ["os": ["ubuntu", "macos"], "python": [3.12, true], "node": [["version": 14], [1, 2]]],
      include: [["debug": true], ["level": 3, "os": "plan9"]])
    #expect(
      Self.keys(matrix).prefix(4) == [
        #"ubuntu, 3.12, {"version":14}"#, "ubuntu, 3.12, [1,2]", #"ubuntu, true, {"version":14}"#,
        "ubuntu, true, [1,2]",
      ])
    #expect(Self.keys(matrix).last == "plan9, 3")
  }

  @Test func keysAreUnique() throws {
    let matrix = try Self.expansion(
      ["a": ["x", "x", "x, 1", "", "x #1"], "b": [1, ""]],
      include: [["a": "y\nz"], ["a": .string(String(repeating: "é", count: 101))]])
    let keys = Self.keys(matrix)
    #expect(
      keys == [
        "x, 1", "x", "x, 1 #2", "x #3", "x, 1, 1", "x, 1 #5", "1", "#7", "x #1, 1", "x #1", "#10",
        "#11",
      ])
    #expect(Set(keys).count == matrix.count)
  }

  // MARK: Problems

  @Test func anAxisMustHaveAnArray() {
    #expect(
      Self.problem(["os": "linux"])?.message == "the axis \"os\" is a string, expected an array")
  }

  @Test(
    arguments: [
      (["os": "b"], "\"include\" is an object, expected an array of objects"),
      ([["os": "a"], 5], "entry 1 of \"include\" is a number, expected an object"),
      ([[:]], "entry 0 of \"include\" is empty"),
    ] as [(JSONValue, String)])
  func includeRequiresObjects(include: JSONValue, message: String) {
    #expect(Self.problem(["os": ["a"]], include: include)?.message == message)
  }

  @Test(
    arguments: [
      (nil, "\"exclude\" is null, expected an array of objects"),
      (["os"], "entry 0 of \"exclude\" is a string, expected an object"),
      ([["os": "a"], [:]], "entry 1 of \"exclude\" is empty"),
      ([["so": "a"]], "entry 0 of \"exclude\" has \"so\", which is not an axis of the matrix"),
    ] as [(JSONValue, String)])
  func excludeRequiresObjectsOfAxes(exclude: JSONValue, message: String) {
    #expect(Self.problem(["os": ["a"]], exclude: exclude)?.message == message)
  }

  @Test func theNearestAxisIsProposed() {
    let problem = Self.problem(["version": [1], "os": [1]], exclude: [["verison": 1]])
    #expect(problem?.help == "did you mean \"version\"?")
  }

  @Test func combinationsAreLimited() {
    let ten = JSONValue.array((0..<10).map { .int($0) })
    #expect(Self.problem(["a": ten, "b": ten]) == nil)
    #expect(Self.problem(["a": ten, "b": ten], include: [["a": 11]]) == .tooMany(limit: 100))
    #expect(Self.problem(["a": ten, "b": ten, "c": [1, 2]]) == .tooMany(limit: 100))
    let many = KeyValuePairs<String, JSONValue>(
      dictionaryLiteral: ("a", ten), ("b", ten), ("c", ten), ("d", ten), ("e", ten), ("f", ten),
      ("g", ten), ("h", ten), ("i", ten), ("j", ten), ("k", ten), ("l", ten), ("m", ten),
      ("n", ten),
      ("o", ten), ("p", ten), ("q", ten), ("r", ten), ("s", ten), ("t", ten))
    #expect(Self.problem(many) == .tooMany(limit: 100))
  }
}

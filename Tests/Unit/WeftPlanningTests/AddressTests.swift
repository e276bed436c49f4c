import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftTestKit

struct AddressTests {
  @Test func anAddressIsTheIDOrThePositionUnderTheNearestID() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("build", run: "make"),
        Step(
          steps: [
            Step(run: "x"), Step(parallel: [Step(run: "y"), Step("named", run: "z")]),
          ]),
        Step("checks", parallel: [Step(run: "p"), Step(steps: [Step(run: "q")])]),
        Step(run: "last"),
      ]))
    #expect(
      plan.steps.map(\.address.text)
        == ["build", "2.1", "2.2.1", "named", "checks.1", "checks.2.1", "4"])
    #expect(
      plan.groups.map { $0.address?.text ?? "-" } == ["-", "2", "2.2", "checks", "checks.2"])
  }

  @Test func aStepThatCleansUpIsCalledByItsIDToo() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("db", run: "up").cleanup(Step("drop", run: "down")),
        Step("g", steps: [Step(run: "x")]).cleanup(Step("sweep", run: "s"), Step(run: "t")),
      ]))
    #expect(plan.steps.map(\.address.text) == ["db", "drop", "g.1", "sweep", "g.cleanup.2"])
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func noTwoAddressesAreEqual(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plan = try planned(RandomWorkflow(using: &random).workflow)
    let addresses =
      plan.steps.map(\.address) + plan.groups.compactMap(\.address)
    #expect(Set(addresses).count == addresses.count)
  }

  /// Characters of the address syntax, white space, combining marks, and letters that only look alike.
  private static let hostile: [String] = [
    "[", "]", ".", "/", "\\", "\"", "'", "#", ":", "%", " ", "\u{A0}", "\u{3000}", "\u{301}", "e",
    "\u{E9}", "e\u{301}", "0", "-", "\u{1F469}", "漢", "cleanup", "a].b[c", "x] succeeded",
  ]

  private static func key(using random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...6, using: &random))
      .map { _ in hostile.randomElement(using: &random)! }.joined()
  }

  private static func parts(using random: inout SeededGenerator) -> [StepAddress.Part] {
    var parts: [StepAddress.Part] = [.name("g")]
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let name = ["a", "b-1", "_", "3", "cleanup"].randomElement(using: &random)!
      switch Int.random(in: 0..<4, using: &random) {
      case 0: parts.append(.name(name))
      case 1: parts.append(.inFile(name))
      default: parts.append(.element(key: key(using: &random)))
      }
    }
    return parts
  }

  @Test(
    "X05: an address is read as it was written, and no two are written alike",
    arguments: 0..<20 as Range<UInt64>)
  func addressesAreReadBack(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var known: [StepAddress: [StepAddress.Part]] = [:]
    for _ in 0..<2_000 {
      let parts = Self.parts(using: &random)
      let address = StepAddress(parts: parts)
      // Strings are equal if they are canonically equivalent; keys are not.
      let isSame = address.parts.map { $0.map(Self.scalars) == parts.map(Self.scalars) }
      #expect(isSame == true, "\(address)")
      #expect(StepAddress(parsing: address.text) == address && address.isCanonical)
      if let other = known.updateValue(parts, forKey: address) {
        #expect(other.map(Self.scalars) == parts.map(Self.scalars), "\(address)")
      }
    }
  }

  private static func scalars(_ part: StepAddress.Part) -> [UInt32] {
    let (kind, text): (UInt32, String) =
      switch part {
      case .name(let name): (0, name)
      case .inFile(let name): (1, name)
      case .element(let key): (2, key)
      }
    return [kind] + text.unicodeScalars.map(\.value)
  }

  @Test("X05: any text is read, or is no address", arguments: 0..<20 as Range<UInt64>)
  func everyTextIsReadOrRefused(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let text = "g" + Self.key(using: &random)
      guard let parts = StepAddress(text).parts else { continue }
      let address = StepAddress(parts: parts)
      #expect(address.parts?.map(Self.scalars) == parts.map(Self.scalars), "\(text)")
    }
  }

  @Test(
    "X05: an address is inside of another by its parts", arguments: 0..<20 as Range<UInt64>)
  func beingInsideGoesByParts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let parts = Self.parts(using: &random)
      let address = StepAddress(parts: parts)
      for count in 1...parts.count {
        let outer = StepAddress(parts: parts.prefix(count))
        #expect(address.isInside(outer))
        let isElement = if count < parts.count, case .element = parts[count] { true } else { false }
        #expect(address.isInElement(of: outer) == isElement)
      }
      let other = Self.parts(using: &random)
      let begins = parts.prefix(other.count).map(Self.scalars) == other.map(Self.scalars)
      #expect(address.isInside(StepAddress(parts: other)) == begins, "\(address) \(other)")
      let isElement = if case .element? = parts.last { true } else { false }
      #expect(address.loop == (isElement ? StepAddress(parts: parts.dropLast()) : nil))
      let last = parts.lastIndex { if case .element = $0 { true } else { false } }
      #expect(
        address.innermostElement == last.map { StepAddress(parts: parts[...$0]) })
    }
  }

  @Test(
    arguments: [
      ("upload", "a].b[c", #"upload[a\].b\[c]"#), ("upload", #"a\"#, #"upload[a\\]"#),
      ("upload", " a ", #"upload[\ a\ ]"#), ("upload", " ", #"upload[\ ]"#),
      ("test", "ubuntu, 3.12", "test[ubuntu, 3.12]"), ("check", "src/a.c", "check[src/a.c]"),
    ])
  func aKeyIsEscapedWhereItMust(loop: String, key: String, text: String) {
    #expect(StepAddress(loop).element(key).text == text)
  }

  @Test(
    arguments: [
      "", ".", "a.", "a/", "a..b", "a[", "a]", "a[]", "a[b", "a[b]c", "a[b[c]]", #"a[b\]"#, "a b",
      "[a]", "a[b]]", "é",
    ])
  func malformedAddressIsRefused(text: String) {
    #expect(StepAddress(parsing: text) == nil)
  }

  @Test("X05: what stands in an element and is called alike is told")
  func anElementHasNoTwoStepsOfOneName() throws {
    let inner = Step("cleanup", run: "a")
    let tidied = Step("deploy", steps: [inner]).forEach(["eu"]).cleanup(Step(run: "t"))
    let (plan, problems) = Planner.plan(Workflow(steps: [tidied]))
    #expect(plan == nil && problems.map(\.code) == ["W0219"])
    let named = Step("deploy", steps: [inner]).forEach(["eu"]).cleanup(Step("tidy", run: "t"))
    #expect(Planner.plan(Workflow(steps: [named])).plan != nil)
    let once = Step("deploy", steps: [inner]).cleanup(Step(run: "t"))
    #expect(Planner.plan(Workflow(steps: [once])).plan != nil)
  }

  @Test(arguments: [
    ("outer", true), ("each", true), ("each[1]", true), ("each[1].inner", true),
    ("each[1].member", true), ("each[0]", false), ("each[0].inner", false), ("inner", false),
    ("beside", false), ("none", false),
  ])
  func membersAreInsideOfGroupsWhateverTheirAddresses(around: String, isInside: Bool) throws {
    let inner = Step("inner", steps: [Step("member", run: "a"), Step("beside", run: "b")])
    let plan = try planned(
      Workflow(steps: [Step("outer", steps: [Step("each", steps: [inner]).forEach(["x", "y"])])]))
    let addresses = PlanAddresses(plan)
    #expect(
      addresses.isInside(StepAddress("each[1].member"), StepAddress(around)) == isInside)
  }

  @Test func groupsKnowTheirNodesMembersAndDepth() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("a"), Step("g", steps: [Step("h", parallel: [Step("b")], maxParallel: 3)]),
      ]))
    let (top, outer, inner) = (plan.groups[0], plan.groups[1], plan.groups[2])
    #expect(plan.nodes.count == 6)
    #expect((top.startNode, top.endNode, top.depth, top.parent) == (-1, 6, 0, nil))
    #expect((outer.startNode, outer.endNode, outer.depth, outer.parent) == (1, 5, 1, 0))
    #expect((inner.startNode, inner.endNode, inner.depth, inner.parent) == (2, 4, 2, 1))
    #expect([top.members, outer.members, inner.members] == [[0, 1], [2], [3]])
    #expect(inner.maxParallel == 3 && plan.steps[1].group == 2 && plan.steps[1].node == 3)
  }
}

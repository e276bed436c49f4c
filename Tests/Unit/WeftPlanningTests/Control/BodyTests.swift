import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftTestKit

/// The plan regions of a plan.
struct BodyTests {
  private static func names(_ body: PlannedBodies.Body?, in plan: Plan) -> [String] {
    (body?.order ?? []).map { plan.name(of: Int($0)) }
  }

  @Test func planWithoutLoopsIsOneRegion() throws {
    let plan = try planned(Workflow(steps: [Step("a"), Step("g", parallel: [Step("b")])]))
    #expect(plan.bodies.root.order == plan.topologicalOrder)
    #expect(plan.bodies.ofGroups.isEmpty && plan.bodies.cleanups.isEmpty)
    #expect(plan.bodies.finallyGroup == nil)
  }

  @Test func theInsideOfARepeatedGroupIsABodyOfItsOwn() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("a"), Step("g", steps: [Step("b"), Step("h", steps: [Step("c")])]).repeated,
        Step("p", steps: [Step("d")]),
      ]))
    #expect(
      Self.names(plan.bodies.root, in: plan) == ["a", "g(", "p(", "d", "p)"])
    #expect(Self.names(plan.bodies.ofGroups[1], in: plan) == ["b", "h(", "c", "h)"])
  }

  @Test func aRepeatedGroupInsideOfAnotherIsOneStepOfIt() throws {
    let inner = Step("h", steps: [Step("c")]).repeated
    let plan = try planned(Workflow(steps: [Step("g", steps: [Step("b"), inner]).repeated]))
    #expect(Self.names(plan.bodies.root, in: plan) == ["g("])
    #expect(Self.names(plan.bodies.ofGroups[1], in: plan) == ["b", "h("])
    #expect(Self.names(plan.bodies.ofGroups[2], in: plan) == ["c"])
  }

  @Test func finallyIsARegionOfItsOwn() throws {
    var workflow = Workflow(steps: [Step("a")])
    workflow.finally = [Step("b"), Step("c")]
    let plan = try planned(workflow)
    let finally = try #require(plan.bodies.finallyGroup)
    #expect(Self.names(plan.bodies.root, in: plan) == ["a"])
    #expect(Self.names(plan.bodies.ofGroups[finally], in: plan) == ["b", "c"])
    #expect(plan.groups[finally].address?.text == "finally")
  }

  @Test func cleanupStepsAreInNoRegion() throws {
    var step = Step("a")
    step.control.cleanup = [Step(run: "x"), Step(run: "y")]
    let plan = try planned(Workflow(steps: [step, Step("b")]))
    #expect(Self.names(plan.bodies.root, in: plan) == ["a", "b"])
    #expect(plan.bodies.cleanups == [0: 1..<3])
    #expect(plan.steps[1..<3].map(\.address.text) == ["a.cleanup.1", "a.cleanup.2"])
  }

  @Test func regionKnowsItsOutsideDependencies() throws {
    let plan = try planned(
      Workflow(parallel: [
        Step("a"), Step("g", steps: [Step("b", needs: ["a"])]).repeated,
        Step("h", steps: [Step("c"), Step("d", needs: ["c"])]).repeated,
      ]))
    #expect(plan.bodies.ofGroups[1]?.waitsForOutside == true)
    #expect(plan.bodies.ofGroups[2]?.waitsForOutside == false)
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func everyNodeIsInOneBodyOrRunByItselfAfterWhatItWaitsFor(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let workflow = RandomWorkflow(using: &random, size: 16, withControl: true).workflow
    let plan = try planned(workflow)
    var bodies: [Int: Int] = [:]
    for (group, body) in [(0, plan.bodies.root)]
      + plan.bodies.ofGroups.sorted(by: { $0.key < $1.key })
    {
      var done: Set<Int32> = []
      for node in body.order {
        #expect(bodies.updateValue(group, forKey: Int(node)) == nil, "\(plan.name(of: Int(node)))")
        let early = plan.dependencies[Int(node)].filter { body.order.contains($0) }
        #expect(done.isSuperset(of: early), "\(plan.name(of: Int(node)))")
        done.insert(node)
      }
      let isOutside = { (node: Int32) in
        group > 0
          && !(plan.groups[group].startNode...plan.groups[group].endNode).contains(Int(node))
      }
      #expect(
        body.waitsForOutside
          == body.order.contains { plan.dependencies[Int($0)].contains(where: isOutside) })
    }
    for node in plan.nodes.indices {
      #expect(bodies[node] == expectedBody(of: node, in: plan), "\(plan.name(of: node))")
    }
  }

  /// The group whose plan region contains a node; `nil` for a node that is a region of its own.
  private func expectedBody(of node: Int, in plan: Plan) -> Int? {
    let isApart = { (group: Int) in
      group == plan.bodies.finallyGroup || plan.groups[group].isRepeated
    }
    let around: (Int) -> Int = { group in
      plan.enclosingGroups(ofGroup: group).first(where: isApart) ?? 0
    }
    switch plan.nodes[node] {
    case .step(let index):
      let isCleanup = plan.bodies.cleanups.values.contains { $0.contains(index) }
      return isCleanup ? nil : around(plan.steps[Int(index)].group)
    case .groupStart(let index):
      return Int(index) == plan.bodies.finallyGroup
        ? nil : around(plan.groups[Int(index)].parent ?? 0)
    case .groupEnd(let index): return isApart(Int(index)) ? nil : around(Int(index))
    }
  }
}

extension Step {
  /// The step in a loop over two elements.
  var repeated: Step {
    var step = self
    step.control.fanOut = .forEach(ForEach(in: .values([1, 2])))
    return step
  }
}

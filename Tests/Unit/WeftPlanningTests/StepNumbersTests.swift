import Testing
import WeftDefinition
import WeftTestKit

@testable import WeftPlanning

/// The numbers of steps without an id after an edit.
@Suite struct StepNumbersTests {
  @Test(
    "a step keeps its number wherever it is",
    arguments: [
      ("a b c", "a b c", "1 2 3"), ("a b c", "x a b c", "4 1 2 3"), ("a b c", "a b c x", "1 2 3 4"),
      ("a b c", "b c", "2 3"), ("a b c", "c b a", "3 2 1"), ("a a b", "a b a", "1 3 2"),
      // A step that was edited keeps the number of the one whose place it has taken.
      ("a b c", "a x c", "1 2 3"), ("a b c", "a b x", "1 2 3"), ("a b c", "x b c", "1 2 3"),
      ("a b", "x y", "1 2"), ("a b c", "a x y c", "1 2 4 3"), ("a b c d", "a x d", "1 2 4"),
      ("a", "", ""), ("", "a", "1"),
      // Those with an id have none, and are known by it.
      ("a n= b", "n= a b", "- 1 3"), ("n=a b", "b n=x y", "2 - 3"), ("a n=b", "x a n=b", "2 1 -"),
    ])
  func numbersStay(old: String, new: String, numbers: String) throws {
    let before = try #require(Planner.plan(workflow(old)).plan)
    let after = try #require(Planner.plan(workflow(new)).plan).numbered(after: before)
    #expect(
      after.steps.map(\.address.text).map { $0 == "n" ? "-" : $0 }.joined(separator: " ") == numbers
    )
  }

  @Test func numbersOfEarlierEditsStay() throws {
    let first = try #require(Planner.plan(workflow("a b c")).plan)
    let second = try #require(Planner.plan(workflow("x c a")).plan).numbered(after: first)
    #expect(second.steps.map(\.address.text) == ["2", "3", "1"])
    let third = try #require(Planner.plan(workflow("c y a x")).plan).numbered(after: second)
    #expect(third.steps.map(\.address.text) == ["3", "4", "1", "2"])
    #expect(PlanDifference(from: second, to: third).added == [StepAddress("4")])
  }

  @Test func groupsFilesAndFinallyHaveNumbersOfTheirOwn() throws {
    func plan(_ words: String...) throws -> Plan {
      let lists = words.map(steps)
      var nested = Workflow(steps: lists[2])
      nested.finally = lists[3]
      var outer = Workflow(steps: [
        Step("first", run: ["x"]), Step(action: .group(StepGroup(.parallel, lists[0]))),
        Step(id: "group", action: .group(StepGroup(.steps, lists[1]))),
        Step(id: "nested", action: .workflow(NestedWorkflow(path: "n.json", workflow: nested))),
      ])
      outer.finally = lists[4]
      return try #require(Planner.plan(outer).plan)
    }
    let before = try plan("a b", "a b", "a b", "a b", "a b")
    let after = try plan("x a b", "b a", "b", "x b", "b x a").numbered(after: before)
    #expect(
      after.steps.map(\.address.text) == [
        "first", "2.3", "2.1", "2.2", "group.2", "group.1", "nested/2", "nested/finally.1",
        "nested/finally.2", "finally.2", "finally.3", "finally.1",
      ])
  }

  @Test func aGroupThatIsMovedKeepsItsNumbers() throws {
    func group(_ id: String, _ words: String, _ more: Step...) -> Step {
      Step(id: StepID(id), action: .group(StepGroup(.steps, steps(words) + more)))
    }
    func plan(_ members: Step..., finally: Step...) throws -> Plan {
      var workflow = Workflow(steps: members)
      workflow.finally = finally
      return try #require(Planner.plan(workflow).plan)
    }
    let first = try plan(
      group("outer", "n=o", group("g", "a b")), group("h", "c d", group("i", "e f")))
    // Into another list, out of one, and into a group that is new.
    let second = try plan(
      group("outer", "n=o"), group("i", "f e"),
      group("new", "y", group("g", "x a b"), group("h", "d c"))
    ).numbered(after: first)
    #expect(
      second.steps.map(\.address.text) == [
        "n", "i.2", "i.1", "new.1", "g.3", "g.1", "g.2", "h.2", "h.1",
      ])
    #expect(PlanDifference(from: first, to: second).changed == [])
    let third = try plan(group("i", "f e"), group("g", "b a x"), finally: group("h", "d c"))
      .numbered(after: second)
    #expect(
      third.steps.map(\.address.text) == ["i.2", "i.1", "g.2", "g.1", "g.3", "h.2", "h.1"])
    #expect(second.numbers.fit(second.workflow) && third.numbers.fit(third.workflow))
  }

  /// Edits at random: every number is of one step, and unchanged steps keep theirs.
  @Test(arguments: 0..<500)
  func randomEditsKeepNumbers(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var words = (0..<Int.random(in: 0..<8, using: &random)).map { "s\($0)" }
    var plan = try #require(Planner.plan(workflow(words.joined(separator: " "))).plan)
    for edit in 0..<4 {
      let known = Dictionary(
        uniqueKeysWithValues: zip(words, plan.steps.map(\.address.text)))
      let used = Set(plan.steps.map(\.address))
      for number in 0..<Int.random(in: 0..<4, using: &random) {
        let place = Int.random(in: 0...words.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: words.insert("new\(edit).\(number)", at: place)
        case 1 where place < words.count: words.remove(at: place)
        case 2 where place < words.count: words.append(words.remove(at: place))
        default: break
        }
      }
      let before = plan
      plan = try #require(Planner.plan(workflow(words.joined(separator: " "))).plan)
        .numbered(after: before)
      let numbers = plan.steps.map(\.address.text)
      #expect(Set(numbers).count == words.count)
      for (word, number) in zip(words, numbers) {
        if let old = known[word] { #expect(number == old) }
      }
      let difference = PlanDifference(from: before, to: plan)
      #expect(used.isDisjoint(with: difference.added))
      #expect(difference.changed.count + difference.added.count == words.count { known[$0] == nil })
    }
  }

  private func workflow(_ words: String) -> Workflow { Workflow(parallel: steps(words)) }

  /// A step for each word; `n=` before it is its id.
  private func steps(_ words: String) -> [Step] {
    words.split(separator: " ").map { word in
      word.hasPrefix("n=")
        ? Step("n", run: ["run", String(word.dropFirst(2))]) : Step(run: ["run", String(word)])
    }
  }
}

import TestSupport
import Testing

@testable import WeftDiagnostics

struct NearestNameTests {
  private static let keys = [
    "id", "name", "description", "needs", "run", "env", "cwd", "shell", "stdin", "timeout",
    "retry", "allowFailure", "successCodes", "onFailure", "maxParallel", "steps", "parallel",
  ]

  @Test(
    "W03: a typo is told with the name that was meant",
    arguments: [
      ("neeeds", "needs"), ("need", "needs"), ("nedes", "needs"), ("NEEDS", "needs"),
      ("allowfailure", "allowFailure"), ("onfailure", "onFailure"), ("step", "steps"),
      ("desc", "description"), ("environment", "env"), ("timeot", "timeout"), ("rnu", "run"),
      ("maxparalel", "maxParallel"), ("paralell", "parallel"), ("sucessCode", "successCodes"),
    ])
  func theNearestNameIsFound(name: String, meant: String) {
    #expect(NearestName(Self.keys).nearest(to: name) == meant)
  }

  @Test(arguments: ["xyzzy", "", "x", "foo", "dependsOn", "qqqqqqqqqqqqqq"])
  func distantNameIsNotSuggested(name: String) {
    #expect(NearestName(Self.keys).nearest(to: name) == nil)
  }

  @Test func theNameItselfIsNoSuggestion() {
    #expect(NearestName(["build"]).nearest(to: "build") == nil)
    #expect(NearestName(["build", "Build"]).nearest(to: "build") == "Build")
  }

  @Test func theNearerOfTwoWinsAndTheFirstOfEquals() {
    #expect(NearestName(["lint-all", "lint"]).nearest(to: "lnit") == "lint")
    #expect(NearestName(["unit", "lint"]).nearest(to: "lnit") == "lint", "swapped letters first")
    #expect(NearestName(["step-1", "step-2", "step-3"]).nearest(to: "step-9") == "step-1")
  }

  @Test func veryManyCandidatesAreSearchedTwentyTimes() {
    let names = NearestName((0..<largeCount).map { "module-\($0)-build" })
    for index in stride(from: 0, to: largeCount, by: largeCount / 20) {
      #expect(names.nearest(to: "modul-\(index)-build") != nil)
    }
  }

  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "badc", 2),
    ("ca", "abc", 3), ("kitten", "sitting", 3), ("needs", "neds", 1), ("ab", "ba", 1),
  ])
  func editsAreCounted(left: String, right: String, distance: Int) {
    var table = EditDistance()
    let left = left.unicodeScalars.map(\.value)
    let right = right.unicodeScalars.map(\.value)
    #expect(table.between(left, right, atMost: 9) == distance)
    #expect(table.between(right, left, atMost: distance) == distance)
    #expect(table.between(left, right, atMost: distance - 1) == nil)
  }
}

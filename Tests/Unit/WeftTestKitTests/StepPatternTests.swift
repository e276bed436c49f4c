import Testing
import WeftPlanning

@testable import WeftTestKit

struct StepPatternTests {
  @Test(
    arguments: [
      ("build", "build", true), ("build", "builds", false), ("*", "a.b[c]/d", true),
      ("deploy[*]", "deploy[eu]", true), ("deploy[*]", "deploy", false),
      ("deploy[*].push", "deploy[eu].push", true), ("d*y[*]", "deploy[a]", true),
      ("a*b*c", "aXbYc", true), ("a*b*c", "aXcYb", false), ("*a", "ba", true),
      ("*a", "ab", false), ("**", "", true), ("a*", "a", true),
      (#"f[\a]"#, "f[a]", true), (#"f[a\]b]"#, #"f[a\]b]"#, true),
    ])
  func matchesAnAddress(pattern: String, address: String, matches: Bool) {
    #expect(StepPattern(pattern).matches(StepAddress(address)) == matches)
  }

  @Test(
    arguments: [
      ("a", "a", true), ("a", "b", false), ("a*", "*b", true), ("a*c", "b*", false),
      ("deploy[*].push", "deploy[eu].*", true), ("x[*].a", "x[*].b", false),
      ("*", "", true), ("a", "", false), ("a*", "ab*c", true), ("ab", "a*c", false),
    ])
  func overlapsAnotherPattern(one: String, other: String, overlaps: Bool) {
    #expect(StepPattern(one).overlaps(StepPattern(other)) == overlaps)
    #expect(StepPattern(other).overlaps(StepPattern(one)) == overlaps)
  }
}

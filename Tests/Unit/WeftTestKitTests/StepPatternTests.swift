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
      (#"f[a\*]"#, "f[a*]", true), (#"f[a\*]"#, "f[ab]", false), (#"f[\**]"#, "f[*b]", true),
      (#"f[\**]"#, "f[ab]", false), (#"f[\\*]"#, #"f[\\b]"#, true), (#"f[\\*]"#, "f[b]", false),
    ])
  func matchesAnAddress(pattern: String, address: String, matches: Bool) {
    #expect(StepPattern(pattern).matches(StepAddress(address)) == matches)
  }

  @Test(arguments: ["build", "l[*]", #"l[a\\]"#, #"l[a\\*]"#, "l[a*b*]"])
  func anAddressHasAPatternThatMatchesItAlone(address: String) {
    let pattern = StepPattern(StepPattern.text(matching: StepAddress(address)))
    #expect(pattern.isExact && pattern.text == address)
    #expect(pattern.matches(StepAddress(address)))
  }

  @Test(
    arguments: [
      ("a", "a", true), ("a", "b", false), ("a*", "*b", true), ("a*c", "b*", false),
      ("deploy[*].push", "deploy[eu].*", true), ("x[*].a", "x[*].b", false),
      ("*", "", true), ("a", "", false), ("a*", "ab*c", true), ("ab", "a*c", false),
      (#"l[a\*]"#, "l[*]", true), (#"l[a\*]"#, "l[a]", false), (#"l[\**]"#, "l[b*]", false),
    ])
  func overlapsAnotherPattern(one: String, other: String, overlaps: Bool) {
    #expect(StepPattern(one).overlaps(StepPattern(other)) == overlaps)
    #expect(StepPattern(other).overlaps(StepPattern(one)) == overlaps)
  }
}

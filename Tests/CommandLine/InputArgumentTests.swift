import Testing

@testable import WeftCLI

struct InputArgumentTests {
  @Test(arguments: [
    ("a=b", "a", false, InputArgument.Source.given("b")), ("a=", "a", false, .given("")),
    ("a=b=c", "a", false, .given("b=c")), ("a==", "a", false, .given("=")),
    ("a=@file", "a", false, .file("file")), ("a=@-", "a", false, .file("-")),
    ("a=@@b", "a", false, .given("@b")), ("a=@@", "a", false, .given("@")),
    ("a:=[1]", "a", true, .given("[1]")), ("a:=@f.json", "a", true, .file("f.json")),
    ("a=:=b", "a", false, .given(":=b")), (" a=b", " a", false, .given("b")),
  ])
  func saysWhereTheValueComesFrom(
    text: String, name: String, isJSON: Bool, source: InputArgument.Source
  ) throws {
    let argument = try #require(InputArgument(text))
    #expect(argument.name == name)
    #expect(argument.isJSON == isJSON)
    #expect(argument.source == source)
  }

  @Test(arguments: ["", "a", "=", "=b", ":=b", "@file"])
  func isRefusedWithoutNameAndValue(text: String) {
    #expect(InputArgument(text) == nil)
  }

  @Test(arguments: [
    ("a=hunter2", "-i a"), ("a:=hunter2", "-i a:="), ("a=@f", "-i a=@f"), ("a=@@hunter2", "-i a"),
  ])
  func isCalledWithoutItsValue(text: String, spelling: String) {
    #expect(InputArgument(text)?.spelling == spelling)
  }
}

import Testing
import WeftEncoding

@testable import WeftShell

/// Scripts of many thousand commands. The time to read one grows with its length: where it grew with the square of
/// that, these tests ran for minutes.
@Suite struct LongScriptTests {
  private static let count = 20_000

  /// A repeated line, in which `#` is its number and `@` the next one.
  private static func lines(_ line: String) -> String {
    (0..<count).map { number in
      var text = ""
      for character in line {
        switch character {
        case "#": text += String(number)
        case "@": text += String(number + 1)
        default: text.append(character)
        }
      }
      return text + "\n"
    }.joined()
  }

  @Test(
    arguments: [
      ("x0=${{V}}", "x@=$x#", "echo $((x@))"),
      ("x0=${{V}}", "read x@ <<<$x#", "echo $((x@))"),
      ("x0=${{V}}", "echo $x# | read x@", "echo $((x@))"),
      ("x0=${{V}}", "read x@ <<E\n$x#\nE", "echo $((x@))"),
      ("x0=${{V}}", "x@=$(echo $x# | cat)", "echo $((x@))"),
      ("f0() { echo ${{V}}; }", "f@() { f#; }", "eval \"$(f@)\""),
      ("f() { x=$1; }", "f #", "f ${{V}}; echo $((x))"),
      ("f() { read x; }", "f <in#", "f <<<${{V}}; echo $((x))"),
      ("echo ${{V}} \\", "| tr a b \\", "| sh"),
      ("{", "read x#", "} <<<${{V}}; echo $((x0))"),
      ("exec <<<${{V}}", "exec <in#; read x#", "echo $((x0))"),
      ("x=${{V}}", "read x <in# | tee >(read y#)", "echo $((y0))"),
    ])
  func aValueIsFollowedThroughManyCommands(first: String, line: String, last: String) {
    let last = last.replacing("@", with: String(Self.count))
    let text = first + "\n" + Self.lines(line) + last + "\n"
    #expect(QuotedScript(text, .bash).reasons.count == 1)
  }

  @Test func aValueIsFollowedThroughManyRedirections() {
    let files = String(repeating: "<in ", count: Self.count)
    let text = "{ \(Self.lines("read x#"))} \(files)<<<${{V}}; echo $((x0))"
    #expect(QuotedScript(text, .bash).reasons.count == 1)
  }

  @Test func argumentsAreFollowedThroughManyFunctions() {
    let functions = Self.lines("f#() { f@ $1; }")
    func mayBeOption(_ last: String) -> [ShellPlacement] {
      QuotedScript("\(functions)f\(Self.count)() { \(last) $1; }\nf0 ${{V}}", .bash).placements
    }
    #expect(mayBeOption("echo") == [.quoted(.bare, mayBeOption: false)])
    #expect(mayBeOption("rm") == [.quoted(.bare, mayBeOption: true)])
  }

  @Test(arguments: ["frob", "docker", "kubectl", "git", "env", "find", "bash", "tar", "sudo"])
  func manyArgumentsAreRead(program: String) {
    for word in ["a", "-x", "sh", "python", "--exec", "-c", "-o", "a=b"] {
      let words = String(repeating: " \(word)", count: Self.count)
      #expect(QuotedScript("\(program)\(words) ${{V}}", .bash).placements.count == 1)
    }
  }
}

import WeftDiagnostics
import WeftExpressions

/// Problems with the `cache` of a command.
enum CachingProblem: Hashable {
  case pattern(path: String, PathPatternError)
  case outputIsPattern(path: String, text: String)
  case absoluteOutput(path: String, text: String)
  case outputIsAll(path: String)
  case outputsInside(path: String, text: String, of: String)
  case apart(String, why: String)
  case secretOutput(String)
}

extension CachingProblem {
  var wording: Problem.Wording {
    switch self {
    case .pattern(let path, let fault):
      .init(
        .pattern, "\(path) means no files: \(fault.message)",
        help: "patterns are relative to the step's directory; \"../\" may stand at their beginning")
    case .outputIsPattern(let path, let text):
      .init(
        .unfitValue, "\(path) is \(quoted(text)), expected the path of one file or directory",
        help: "name the directory: all that is in it is kept")
    case .absoluteOutput(let path, let text):
      .init(
        .absolutePath, "\(path) is the absolute path \(quoted(text)), expected a relative one",
        help: "it is relative to the step's directory")
    case .outputIsAll(let path):
      .init(
        .unfitValue,
        "\(path) is a directory in which the step runs, and cannot be put back as a whole",
        help: "name what the step makes in it")
    case .outputsInside(let path, let text, let outer):
      .init(
        .repeatedValue, "\(path) is \(quoted(text)), which is, or is inside of, \(quoted(outer))",
        help: "keep the outer one: all that is in it is kept")
    case .apart(let key, let why):
      .init(.keysApart, "\"cache\" does not go together with \"\(key)\"", help: why)
    case .secretOutput(let name):
      .init(
        .keysApart, "\"cache\" does not go together with the secret output \(quoted(name))",
        help: "secrets are kept nowhere: let another step make it")
    }
  }
}

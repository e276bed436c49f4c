import WeftDiagnostics

/// Problems with the keys and values of a request.
enum HTTPProblem: Hashable {
  case staleWithoutCache
  case severalBodies(String, String)
  case severalAuths
  case apart(HTTPKey, HTTPKey)
  case invalidStatus(path: String, text: String)
  case partWithoutContent(path: String)
  case severalContents
  case expressionInName(path: String)
  case noName(path: String, of: String)
  case notAField(path: String, found: String)
  case keyOfPartOfText(String)
}

extension HTTPProblem {
  var wording: Problem.Wording {
    switch self {
    case .staleWithoutCache:
      .init(
        .keysApart, "\"staleOnError\" means nothing without \"cache\": there is no older answer",
        help: "add \"cache\": true for this run, or the path of a folder for later runs too")
    case .severalBodies(let first, let second):
      .init(
        .severalActions, "found both \"\(first)\" and \"\(second)\", expected one body",
        help: "one request has one body")
    case .severalAuths:
      .init(
        .severalActions, "found both \"bearer\" and \"basic\", expected one of them",
        help: "one request has one Authorization header")
    case .apart(let first, let second):
      .init(
        .keysApart, "\"\(second.rawValue)\" does not go together with \"\(first.rawValue)\"",
        help: HTTPProblem.whyApart(first))
    case .invalidStatus(let path, let text):
      .init(
        .unknownWord, "\(path) is \(quoted(text)), expected a status like 200 or \"2xx\"",
        help: "\"2xx\" stands for all from 200 to 299")
    case .partWithoutContent(let path):
      .init(
        .missingKey, "\(path) has neither \"value\" nor \"file\", and must have one",
        help: "write { \"file\": \"photo.png\" }, or a text")
    case .severalContents:
      .init(.severalActions, "found both \"value\" and \"file\", expected one of them")
    case .keyOfPartOfText(let key):
      .init(
        .keysApart, "\"\(key)\" is for a part that is a file, and this one is a text",
        help: "write \"file\" in place of \"value\"")
    case .expressionInName(let path):
      .init(
        .expression, "a name in \(path) has an expression in it, and none can stand there",
        help: "expressions stand in values")
    case .noName(let path, let what):
      .init(.empty, "a name in \(path) is empty, expected the name of a \(what)")
    case .notAField(let path, let found):
      .init(
        .wrongType,
        "\(path) is \(found), expected a string, a number, true, false, or an array of these",
        help: "${{ toJSON(…) }} makes a text of any value")
    }
  }

  private static func whyApart(_ first: HTTPKey) -> String? {
    switch first {
    case .saveTo: "what is saved into a file is not read: save it, or look into it"
    default: nil
    }
  }
}

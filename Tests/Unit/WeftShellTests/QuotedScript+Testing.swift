@testable import WeftShell

extension QuotedScript {
  /// A script in which every `${{…}}` is an expression.
  ///
  /// - Parameter areLists: Whether all their values are arrays.
  init(
    _ text: String, _ dialect: ShellDialect, lists: Set<Int> = [], areLists: Bool = false
  ) {
    let bytes = Array(text.utf8)
    var placeholders: [Range<Int>] = []
    var offset = 0
    while offset + 3 < bytes.count {
      guard bytes[offset...].starts(with: "${{".utf8),
        let end = (offset..<bytes.count - 1).first(where: { bytes[$0...].starts(with: "}}".utf8) })
      else {
        offset += 1
        continue
      }
      placeholders.append(offset..<end + 2)
      offset = end + 2
    }
    self.init(
      text, placeholders: placeholders, dialect: dialect,
      lists: areLists ? Set(placeholders.indices) : lists)
  }

  /// The text between the marks of each expression, without blanks.
  var expressions: [String] {
    placeholders.map { placeholder in
      String(
        decoding: Array(text.utf8)[placeholder].dropFirst(3).dropLast(2).filter { $0 != 0x20 },
        as: UTF8.self)
    }
  }

  /// The script to run, with each expression's text as the name of its variable; `nil` if one is rejected.
  var rewritten: String? {
    isSound ? text(referringTo: expressions) : nil
  }

  /// The reasons of the rejections, in the order of the text.
  var reasons: [ShellQuotingError.Reason] { rejections.map(\.rejection.reason) }
}

extension ShellDialect {
  static let known: [ShellDialect] = [.posix, .bash, .zsh]
}

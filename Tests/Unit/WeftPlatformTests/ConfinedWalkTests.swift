import Testing

@testable import WeftPlatform

struct ConfinedWalkTests {
  /// An entry at a path: a directory, or a link with its target; all other paths are files.
  private enum Thing {
    case directory
    case link(String)
  }

  private static let things: [String: Thing] = [
    "a": .directory, "a/b": .directory, "é": .directory,
    "up": .link(".."), "in": .link("a/b"), "a/over": .link("../in/../b"), "etc": .link("/etc"),
    "round": .link("round"), "a/out": .link("../../x"),
  ]

  /// Walks as far as possible, and returns what it finds there.
  private func walk(_ path: String, from start: String = "") -> String {
    do throws(ConfinedFileError) {
      let start = ConfinedPath(start.split(separator: "/").map { Array($0.utf8) })
      var walk = try ConfinedWalk(Array(path.utf8), from: start)
      while true {
        switch try walk.next() {
        case .end: return walk.position.text + "/"
        case .leave: continue
        case .open(let name, let isLast):
          let place = walk.position.appending(name).text
          switch Self.things[place] {
          case .directory: try walk.enter(name)
          case .link(let target): try walk.follow(Array(target.utf8), from: name)
          case nil: return isLast ? place : "\(place) is no directory"
          }
        }
      }
    } catch {
      switch error {
      case .outside(let link): return "outside" + (link.map { " by \($0.text)" } ?? "")
      case .tooManyLinks: return "too many links"
      case .notRead(let failure): return failure.message
      case .missing, .notRegular: return "\(error)"
      }
    }
  }

  @Test(
    "W18: a path leads on as the system would have it, and never out",
    arguments: [
      ("x", "x"), ("a/x", "a/x"), ("a//./x", "a/x"), ("a/../x", "x"), ("a/b/../../x", "x"),
      ("x/", "x is no directory"), ("x/..", "x is no directory"), ("a", "a/"), (".", "./"),
      ("", "./"), ("a/..", "./"), ("in/x", "a/b/x"), ("in/../x", "a/x"), ("a/over/x", "a/b/x"),
      ("..", "outside"), ("../x", "outside"), ("a/../../x", "outside"), ("/x", "outside"),
      ("up/x", "outside by up"), ("etc/x", "outside by etc"), ("a/out", "outside by a/out"),
      ("in/../../../x", "outside by in"), ("round", "too many links"),
      ("a\0/x", "has a NUL character in its name"),
    ])
  func aPathNeverLeadsOut(path: String, end: String) {
    #expect(walk(path) == end)
  }

  @Test(
    "a path begins where the file lies that has it",
    arguments: [
      ("x", "a/b", "a/b/x"), ("../x", "a/b", "a/x"), ("../../x", "a/b", "x"),
      ("../../../x", "a/b", "outside"), ("/a/x", "a", "outside"),
    ])
  func aPathBeginsWhereItsFileLies(path: String, start: String, end: String) {
    #expect(walk(path, from: start) == end)
  }

  @Test func fortyLinksAreFollowed() throws {
    var walk = try ConfinedWalk(Array("l".utf8))
    for _ in 0..<ConfinedWalk.linkLimit {
      _ = try walk.next()
      try walk.follow(Array("l".utf8), from: Array("l".utf8))
    }
    #expect(throws: ConfinedFileError.tooManyLinks) {
      try walk.follow(Array("l".utf8), from: Array("l".utf8))
    }
  }

  @Test func soManyDirectoriesMayBeOpen() throws {
    var walk = try ConfinedWalk([])
    for _ in 0..<Directory.depthLimit { try walk.enter([1]) }
    #expect(throws: ConfinedFileError.notRead(.system(.nameTooLong))) { try walk.enter([1]) }
  }

  @Test func twoSpellingsOfANameAreTwoNames() {
    let (one, other) = ("\u{E9}", "e\u{301}")
    #expect(one == other)
    #expect(ConfinedPath([Array(one.utf8)]) != ConfinedPath([Array(other.utf8)]))
  }
}

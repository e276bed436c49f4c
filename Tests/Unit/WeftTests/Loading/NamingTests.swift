import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlatform

@testable import Weft

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Errors in the name of a file.
struct NamingTests {
  private let folder = Folder()

  @Test(
    "W17: a file that runs itself is told with the way there",
    arguments: [
      (["main.json"], "main.json:2", "main.json → main.json"),
      (["a.json", "main.json"], "a.json:2", "main.json → a.json → main.json"),
      (
        ["a.json", "lib/b.json", "../a.json"], "lib/b.json:2",
        "main.json → a.json → lib/b.json → a.json"
      ),
      (["a.json", "link.json"], "a.json:2", "main.json → a.json → main.json"),
    ])
  func aFileThatRunsItself(names: [String], place: String, chain: String) throws {
    folder.link("link.json", to: "main.json")
    for (file, next) in zip(["main.json"] + names, names) { try folder.write(file, naming: next) }
    #expect(
      try folder.load().reported == [
        "\(place) W0603 \"\(names.last ?? "")\" runs itself: \(chain); "
          + "a file cannot run itself, directly or through other files"
      ])
  }

  @Test("W17: two files that run each other are told once")
  func twoFilesThatRunEachOther() throws {
    try folder.write("main.json", naming: "a.json", "b.json", "a.json")
    try folder.write("a.json", naming: "b.json")
    try folder.write("b.json", naming: "a.json")
    let loading = try folder.load()
    #expect(loading.reported.map { $0.prefix(14) } == ["b.json:2 W0603"])
    #expect(loading.nested(1)?.isRejected == false)
    #expect(loading.nested(1, 0)?.isRejected == true)
  }

  @Test("W17: nine files inside each other are one too many", arguments: [8, 9])
  func nineFilesAreTooMany(count: Int) throws {
    let names = ["main.json"] + (1...count).map { "f\($0).json" }
    for (file, next) in zip(names, names.dropFirst()) { try folder.write(file, naming: next) }
    try folder.write(names[count], #"{"steps": ["true"]}"#)
    let reported = [
      "f8.json:2 W0604 workflow files are nested more than 8 deep: "
        + names.joined(separator: " → ") + "; run the innermost file from a file further up"
    ]
    #expect(try folder.load().reported == (count == 8 ? [] : reported))
  }

  @Test("W17: files that were read further up are counted where they are named again")
  func depthIsCountedOnEveryWay() throws {
    let names = ["main.json"] + (1...5).map { "f\($0).json" }
    for (file, next) in zip(names, names.dropFirst()) { try folder.write(file, naming: next) }
    try folder.write("f5.json", naming: "g1.json")
    // From the main file, g1 is the first of four; below f5, of nine.
    try folder.write("main.json", naming: "g1.json", "f1.json")
    for depth in 1...3 { try folder.write("g\(depth).json", naming: "g\(depth + 1).json") }
    try folder.write("g4.json", #"{"steps": ["true"]}"#)
    #expect(
      try folder.load().reported == [
        "f5.json:2 W0604 workflow files are nested more than 8 deep: main.json → f1.json → "
          + "f2.json → f3.json → f4.json → f5.json → g1.json → g2.json → g3.json → g4.json; "
          + "run the innermost file from a file further up"
      ])
  }

  @Test("W17: 16 MiB together are the most", arguments: [false, true])
  func bytesTogetherAreLimited(isTooMuch: Bool) throws {
    // Two files of half the limit, one of them named twice; then there is no room for even the smallest file.
    let filler = String(repeating: " ", count: (16 << 20) / 2 - 19)
    for name in ["a", "b"] { try folder.write("\(name).json", "{\"steps\": [\"true\"]}" + filler) }
    try folder.write("c.json", "{\"steps\": [5]}")
    let paths = ["a.json", "a.json", "b.json"] + (isTooMuch ? ["c.json", "c.json"] : [])
    try folder.write("main.json", Folder.workflow(naming: paths))
    let reported = [
      "main.json:5 W0605 with \"c.json\", the files of the workflow have more than 16 MiB in "
        + "total; split the workflow into several, and run them one by one"
    ]
    #expect(try folder.load().reported == (isTooMuch ? reported : []))
  }

  @Test(
    "W18: what leads out is not opened",
    arguments: [
      ("../../etc/passwd", nil), ("../outside.json", nil), ("lib/../../outside.json", nil),
      ("file.json", "file.json"), ("absolute.json", "absolute.json"), ("out/outside.json", "out"),
      ("lib/deep.json", "lib/deep.json"), ("twice.json", "out"), ("inside/../../x", "inside"),
      ("lib/self/main.json", "lib/self"),
    ] as [(String, String?)])
  func pathOutsideTheStartDirectoryIsNotOpened(path: String, link: String?) throws {
    try folder.write("main.json", naming: path)
    try folder.write("lib/a.json", #"{"steps": ["true"]}"#)
    try folder.write("../outside.json", "not JSON")
    folder.link("file.json", to: "../outside.json")
    folder.link("absolute.json", to: "/etc/passwd")
    folder.link("out", to: "..")
    folder.link("lib/deep.json", to: "../../outside.json")
    folder.link("twice.json", to: "out/outside.json")
    folder.link("inside", to: "lib")
    // Absolute links are rejected even if they lead back inside.
    folder.link("lib/self", to: folder.path)
    let way = link.map { ", through the symbolic link \"\($0)\"" } ?? ""
    let remedy = link == nil ? "start in a parent directory, with -C" : "move the file there"
    #expect(
      try folder.load().reported == [
        "main.json:2 W0602 \"\(path)\" is outside the start directory\(way); "
          + "a workflow only runs files in the start directory: \(remedy)"
      ])
  }

  @Test(
    "W18: links that stay inside are followed",
    arguments: [
      "file.json", "lib/up.json", "inside/a.json", "lib/../chain.json", "inside/../other.json",
    ])
  func linksThatStayInsideAreFollowed(path: String) throws {
    try folder.write("main.json", naming: path)
    try folder.write("lib/deep/a.json", naming: "b.json")
    try folder.write("lib/deep/b.json", #"{"name": "b", "steps": ["true"]}"#)
    folder.link("file.json", to: "lib/deep/a.json")
    folder.link("lib/up.json", to: "../lib/./deep/../deep/a.json")
    folder.link("inside", to: "lib/deep/")
    folder.link("chain.json", to: "inside/../up.json")
    // ".." starts from the target of the link, not from the link itself.
    folder.link("lib/other.json", to: "deep/a.json")
    let loading = try folder.load()
    #expect(loading.reported == [])
    #expect(loading.nested(0)?.workflow?.source.value?.path == "\(folder.path)/lib/deep/a.json")
    #expect(loading.nested(0, 0)?.workflow?.name == "b")
  }

  @Test(
    "W18: only regular files are read",
    arguments: [
      ("pipe", "is a FIFO, expected a file; name a regular file"),
      ("lib", "is a directory; name a file in it"),
      (".", "is a directory; name a file in it"),
      ("lib/", "is a directory; name a file in it"),
      ("main.json/", "cannot be read: not a directory (ENOTDIR)"),
      ("main.json/..", "cannot be read: not a directory (ENOTDIR)"),
      ("round", "goes through too many symbolic links; name the file itself"),
    ])
  func onlyRegularFilesAreRead(path: String, reported: String) throws {
    try FileSystem.makeDirectories(folder.path + "/lib")
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    folder.link("round", to: "round")
    try folder.write("main.json", naming: path)
    #expect(try folder.load().reported == ["main.json:2 W0601 \"\(path)\" \(reported)"])
  }

  @Test func impossibleFileNameIsReported() throws {
    try folder.write("main.json", naming: "nul\\u0000")
    let loading = try folder.load()
    #expect(loading.reported.map { $0.prefix(17) } == ["main.json:2 W0025"])
    #expect(loading.nested(0)?.isRejected == true)
  }

  @Test("W18: a first file outside of the start directory names no other")
  func aFirstFileOutside() throws {
    try folder.write("../main.json", naming: "outside.json", "start/inside.json")
    try folder.write("../outside.json", #"{"steps": ["true"]}"#)
    let loading = try folder.load("../main.json")
    #expect(loading.reported.count == 1)
    #expect(
      loading.reported[0].contains(
        "W0602 \"outside.json\" is not read, because "
          + "the file that names it")
    )
    #expect(loading.nested(1)?.isRejected == true)
  }

  @Test(
    "a name that is nearly right is suggested",
    arguments: [
      ("lib/a.jsn", "did you mean \"a.json\"?"), ("lbi/a.json", "did you mean \"lib\"?"),
      ("lib/x", "there is no \"x\" in \"lib\""),
      ("lib/../x", "there is no \"x\" in the start directory"),
    ])
  func aNameThatIsNearlyRight(path: String, help: String) throws {
    try folder.write("main.json", naming: path)
    try folder.write("lib/a.json", #"{"steps": ["true"]}"#)
    #expect(
      try folder.load().reported == [
        "main.json:2 W0601 \"\(path)\" cannot be read: no such file or directory (ENOENT); \(help)"
      ])
  }
}

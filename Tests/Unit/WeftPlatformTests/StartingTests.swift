import Glibc
import Testing

@testable import WeftPlatform

@Suite struct StartingTests {
  let scratch = Scratch()

  @Test("P01: a missing program is named, with the PATH that was searched")
  func missingProgram() throws {
    let reason = refusal(["weft-no-such"], environment: environment([("PATH", "/nope:/bin")]))
    let error = try #require(reason)
    #expect(error.kind == .program && error.error == .notFound)
    #expect(
      error.message == "program \"weft-no-such\" was not found: searched PATH \"/nope:/bin\"")
    #expect(error.help != nil)
    let path = try #require(refusal(["/nope"]))
    #expect(path == .programMissing(path: "/nope", directory: nil, .notFound))
    #expect(path.message == "program \"/nope\" was not found: no such file or directory (ENOENT)")
  }

  @Test("P02: a directory is not a program")
  func directoryAsProgram() throws {
    let error = try #require(refusal([scratch.path]))
    #expect(error == .programIsDirectory(path: scratch.path))
    #expect(error.error == .notPermitted)
    #expect(error.message.hasSuffix("is a directory"))
  }

  @Test("P03: a file that may not be executed is told with its mode", arguments: [true, false])
  func noExecuteBit(inPath: Bool) throws {
    let path = scratch.file("tool", "#!/bin/sh\n", mode: 0o644)
    let error = try #require(
      inPath
        ? refusal(["tool"], environment: environment([("PATH", scratch.path)])) : refusal([path]))
    #expect(error.error == .notPermitted)
    #expect(error.message == "program \"\(path)\" is not executable: its mode is 0644")
    #expect(error.help == "chmod +x \(path)")
  }

  @Test("P04: a text without a #! line is never run by a shell", arguments: ["touch ran\n", ""])
  func noInterpreterLine(content: String) throws {
    let path = scratch.file("script", content)
    let error = try #require(refusal([path]) { $0.directory = scratch.path })
    #expect(error == .programNotRunnable(path: path))
    #expect(error.message.contains("no #! line"))
    #expect(access(scratch.path + "/ran", F_OK) != 0)
  }

  @Test("P05: a missing interpreter is blamed, and not the script")
  func missingInterpreter() throws {
    let path = scratch.file("script", "#! /nope/lang -x\n")
    let error = try #require(refusal([path]))
    #expect(
      error == .interpreterNotStarted(program: path, interpreter: "/nope/lang", .notFound))
    #expect(error.kind == .interpreter)
  }

  @Test("P06: a carriage return in the #! line is made visible")
  func carriageReturn() throws {
    let error = try #require(refusal([scratch.file("script", "#!/bin/sh\r\necho hi\r\n")]))
    #expect(error.kind == .interpreter)
    #expect(error.message.contains(#""/bin/sh\r""#))
    #expect(error.help?.contains("carriage return") == true)
  }

  @Test(
    "P07: a working directory that cannot be entered is named, and not the program",
    arguments: [("/nope", SystemError.notFound), ("/dev/null", .notDirectory)])
  func badDirectory(path: String, error: SystemError) throws {
    let reason = try #require(refusal(["/bin/true"]) { $0.directory = path })
    #expect(reason == .directoryNotEntered(path, error))
    #expect(reason.kind == .directory)
    #expect(reason.message.contains("\"\(path)\"") && reason.message.contains(error.name))
  }

  @Test("P08: a directory deleted under a running program fails only the next one")
  func deletedDirectory() throws {
    let place = scratch.path + "/place"
    try FileSystem.makeDirectory(place)
    let ran = try run(sh: "rmdir '\(place)'; echo done", configure: { $0.directory = place })
    #expect(ran.text == "done\n" && ran.end.exited(with: 0))
    #expect(
      refusal(["/bin/true"]) { $0.directory = place } == .directoryNotEntered(place, .notFound))
  }

  @Test("P09: an argument of 128 KiB is refused with its place and both sizes, one less is passed")
  func longArgument() throws {
    let limit = 128 * 1024
    let reason = refusal(["/bin/true", "a", String(repeating: "x", count: limit)])
    let error = try #require(reason)
    #expect(error == .argumentTooLong(index: 2, size: limit, limit: limit))
    #expect(
      error.message.contains("argument 2 is 131072 bytes") && error.help?.contains("stdin") == true)
    let ran = try run(["/bin/true", "a", String(repeating: "x", count: limit - 1)])
    #expect(ran.end.exited(with: 0))
  }

  @Test("P09: so is an environment variable")
  func longVariable() throws {
    let value = String(repeating: "x", count: 128 * 1024)
    let error = try #require(refusal(["/bin/true"], environment: environment([("BIG", value)])))
    #expect(error == .variableTooLong(name: "BIG", size: value.utf8.count + 4, limit: 128 * 1024))
    let fits = String(value.dropFirst(5))
    #expect(try run(["/bin/true"], environment: environment([("BIG", fits)])).end.exited(with: 0))
  }

  @Test("P10: arguments and environment too big together are refused with both sums")
  func bigEnvironment() throws {
    let value = String(repeating: "x", count: 120_000)
    let variables = (0..<60).map { (name: "BIG\($0)", value: Optional(value)) }
    let error = try #require(refusal(["/bin/true", "a"], environment: environment(variables)))
    guard case .argumentsTooBig(let own, let inherited, let limit) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(own < 100 && inherited > 7_200_000 && limit < inherited)
    #expect(error.message.contains("environment 7."))
  }

  @Test("P11: NUL is refused and never cuts a string short")
  func nulInAnArgumentIsRefused() throws {
    #expect(refusal(["/bin/echo", "a\0b"]) == .nulInArgument(index: 1))
    #expect(refusal(["/bin/true"]) { $0.directory = "/\0" } == .nulInDirectory)
    #expect(throws: EnvironmentError.nulInValue(name: "A")) {
      try EnvironmentBlock.empty.setting([("A", "x\0y")])
    }
  }

  @Test func anEmptyListOrNameIsRefused() {
    #expect(refusal([]) == .emptyProgramName)
    #expect(refusal([""]) == .emptyProgramName)
  }

  @Test("P15: a program has descriptors 0 to 2 and nothing else of this process")
  func inheritedDescriptors() throws {
    let leaked = open("/dev/null", O_RDONLY)
    let high = fcntl(leaked, F_DUPFD, 200)
    defer {
      close(leaked)
      close(high)
    }
    // 3 belongs to the listing itself.
    #expect(try run(["ls", "/proc/self/fd"]).text == "0\n1\n2\n3\n")
  }

  @Test("P16: programs that start at the same instant do not hold each other's output")
  func simultaneousStarts() throws {
    let threads = ThreadPool()
    let ends = Collected<ProgramEnd>()
    for _ in 0..<2 {
      try threads.submit {
        for _ in 0..<300 { ends.add((try? run(["/bin/true"]))?.end) }
      }
    }
    #expect(eventually { ends.count == 600 })
    for end in ends.all {
      #expect(
        end?.exited(with: 0) == true && end?.outputWasHeld == false, "\(String(describing: end))")
    }
  }

  @Test("P21: a program starts with default dispositions and an empty mask")
  func signalsAreReset() throws {
    signal(SIGPIPE, SIG_IGN)
    let threads = ThreadPool()  // its threads block nearly everything
    let text = Collected<String>()
    try threads.submit {
      text.add((try? run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]))?.text)
    }
    #expect(eventually { text.count == 1 })
    let lines = try #require(text.all[0]).split(separator: "\n")
    #expect(lines.count == 2)
    for line in lines { #expect(line.hasSuffix("\t0000000000000000"), "\(line)") }
  }

  @Test("P22: a program has a session and group of its own and no terminal")
  func ownSession() throws {
    let ran = try run(
      sh: "read pid c s ppid group session rest </proc/$$/stat; echo $pid $group $session")
    let numbers = Set(ran.text.split(whereSeparator: \.isWhitespace))
    #expect(numbers.count == 1)
    let terminal = try run(sh: "exec </dev/tty")
    #expect(terminal.end.status != .exited(code: 0))
    #expect(String(decoding: terminal.errors, as: UTF8.self).contains("No such device"))
  }

  @Test("P27: a relative program is looked for in the program's own directory")
  func relativeProgram() throws {
    _ = scratch.file("here", "#!/bin/sh\npwd\n")
    let ran = try run(["./here"], configure: { $0.directory = scratch.path })
    #expect(ran.text == scratch.path + "\n")
    let error = try #require(refusal(["./gone"]) { $0.directory = scratch.path })
    #expect(error.message.contains("\"./gone\" in \"\(scratch.path)\" was not found"))
  }

  @Test("P28: relative elements of PATH are skipped and told")
  func relativePathElements() throws {
    _ = scratch.file("tool", "#!/bin/sh\n")
    let path = environment([("PATH", ":.:bin:/bin")])
    #expect(path.searchPath.skipped == ["", ".", "bin"])
    #expect(path.searchPath.directories == ["/bin"])
    let error = try #require(refusal(["tool"], environment: path) { $0.directory = scratch.path })
    #expect(error.message.hasSuffix(#"skipped its relative elements "", ".", "bin""#))
    #expect(try run(["true"], environment: path).end.exited(with: 0))
  }

  @Test func defaultPathIsSearchedWithoutPATH() throws {
    let bare = EnvironmentBlock.empty
    #expect(try run(["true"], environment: bare).end.exited(with: 0))
    let error = try #require(refusal(["weft-no-such"], environment: bare))
    #expect(error.message.contains("PATH is not set, searched /bin:/usr/bin"))
  }

  @Test func theFirstExecutableInPATHCounts() throws {
    for directory in ["a", "b", "c"] {
      try FileSystem.makeDirectory("\(scratch.path)/\(directory)")
    }
    try FileSystem.makeDirectory("\(scratch.path)/a/tool")
    _ = scratch.file("b/tool", "#!/bin/sh\necho b", mode: 0o600)
    _ = scratch.file("c/tool", "#!/bin/sh\necho c")
    let path = ["a", "b", "c"].map { "\(scratch.path)/\($0)" }.joined(separator: ":")
    #expect(
      try run(["tool"], environment: environment([("PATH", "\(path):/bin:/usr/bin")])).text == "c\n"
    )
  }

  @Test func newlyInstalledProgramIsFound() throws {
    try FileSystem.makeDirectory(scratch.path + "/first")
    _ = scratch.file("tool", "#!/bin/sh\necho old")
    let path = environment([("PATH", "\(scratch.path)/first:\(scratch.path):/bin:/usr/bin")])
    #expect(try run(["tool"], environment: path).text == "old\n")
    _ = scratch.file("first/tool", "#!/bin/sh\necho new")
    #expect(try run(["tool"], environment: path).text == "new\n")
  }
}

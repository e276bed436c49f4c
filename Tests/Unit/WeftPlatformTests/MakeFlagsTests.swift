import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct MakeFlagsTests {
  @Test(
    arguments: [
      (" -j3 --jobserver-auth=3,4", .pipe(reading: 3, writing: 4)),
      ("rR -j --jobserver-fds=5,6", .pipe(reading: 5, writing: 6)),
      (" -j8 --jobserver-auth=fifo:/tmp/GMfifo12", .fifo("/tmp/GMfifo12")),
      // The last one counts.
      ("--jobserver-fds=3,4 --jobserver-auth=fifo:/x", .fifo("/x")),
      ("--jobserver-auth=fifo:/x --jobserver-auth=-2,-2", nil),
      ("--jobserver-auth=3", nil), ("--jobserver-auth=", nil), ("--jobserver-auth=a,b", nil),
      ("--jobserver-auth=3,4,5", nil), ("", nil), ("k", nil), (" -j1", nil),
      // The definition of a variable is not an option.
      ("-k -- V=1 --jobserver-auth=3,4", nil),
    ] as [(String, JobserverAddress?)])
  func jobserverOfferIsFound(flags: String, address: JobserverAddress?) {
    #expect(MakeFlags(flags).jobserver == address)
  }

  @Test(
    arguments: [
      (" -j3 --jobserver-auth=3,4", nil), ("", nil), ("-j", nil), ("--jobs=4", nil),
      ("krR -j3 --jobserver-fds=3,4 --jobserver-auth=fifo:/x", "krR"),
      (" -k -j --no-print-directory -- A=-j3", "-k --no-print-directory -- A=-j3"),
      ("-jolly", "-jolly"), (#"-I a\ b"#, #"-I a\ b"#),
    ] as [(String, String?)])
  func jobsOptionIsRemoved(flags: String, kept: String?) {
    #expect(MakeFlags(flags).withoutJobs == kept)
  }

  @Test(arguments: [
    ("", "-j4 --jobserver-auth=3,4"), ("kr", "kr -j4 --jobserver-auth=3,4"),
    ("k -j2 --jobserver-auth=fifo:/x -- A=b", "k -j4 --jobserver-auth=3,4 -- A=b"),
  ])
  func anOfferTakesThePlaceOfOthers(flags: String, offered: String) {
    let address = JobserverAddress.pipe(reading: 3, writing: 4)
    let text = MakeFlags(flags).offering(address, jobs: 4)
    #expect(text == offered)
    #expect(MakeFlags(text).jobserver == address)
  }
}

@Suite struct TokenPipeTests {
  @Test func tokensComeOutAsTheyWentIn() throws {
    let (pipe, _, _) = try TokenPipe.made()
    #expect(pipe.take() == nil, "an empty pipe is not waited for")
    for token in [UInt8(ascii: "+"), 0, 255] { pipe.put(token) }
    #expect((0..<4).map { _ in pipe.take() } == [UInt8(ascii: "+"), 0, 255, nil])
  }

  @Test func theProgramsEndsGoOnWaiting() throws {
    let (pipe, reading, writing) = try TokenPipe.made()
    let joined = try TokenPipe.joined(
      .pipe(reading: reading.number, writing: writing.number))
    joined.put(UInt8(ascii: "a"))
    #expect(pipe.take() == UInt8(ascii: "a"))
    #expect(joined.take() == nil)
    for end in [reading, writing] { #expect(end.waits) }
  }

  @Test func aFIFOIsJoinedByItsName() throws {
    let scratch = Scratch()
    let path = "\(scratch.path)/fifo"
    let made = try TokenPipe.made(at: path)
    let joined = try TokenPipe.joined(.fifo(path))
    made.put(7)
    #expect(joined.take() == 7 && made.take() == nil)
  }

  @Test func anOfferThatIsNotThereIsRefused() throws {
    #expect(throws: JobserverError.descriptorsClosed(.pipe(reading: 3, writing: 999_999))) {
      try TokenPipe.joined(.pipe(reading: 3, writing: 999_999))
    }
    #expect(throws: JobserverError.notOpened(.fifo("/nope"), .notFound)) {
      try TokenPipe.joined(.fifo("/nope"))
    }
    #expect(throws: JobserverError.noPipe(.fifo("/dev/null"))) {
      try TokenPipe.joined(.fifo("/dev/null"))
    }
    let file = try Descriptor.opened(forReading: "/dev/null")
    let address = JobserverAddress.pipe(reading: file.number, writing: file.number)
    #expect(throws: JobserverError.noPipe(address)) { try TokenPipe.joined(address) }
  }
}

extension Descriptor {
  fileprivate var waits: Bool { fcntl(number, F_GETFL) & O_NONBLOCK == 0 }
}

import Testing

@testable import WeftEvents
@testable import WeftExecution

@Suite struct SecretTests {
  @Test(
    "S08: what is too short to be masked is refused",
    arguments: [
      ("{", .tooShort(count: 1)), ("abc", .tooShort(count: 3)), ("  ab \n", .tooShort(count: 2)),
      ("", .empty), ("abcd\0", .hasNUL),
      (String(repeating: "x", count: Secret.mostBytes + 1), .tooLong),
    ] as [(String, Secret.ValidationError)])
  func shortSecretIsRefused(text: String, reason: Secret.ValidationError) {
    #expect(throws: reason) { try Secret(Array(text.utf8)) }
  }

  @Test func secretThatIsNotTextIsRefused() {
    #expect(throws: Secret.ValidationError.notUTF8) { try Secret([0xFF, 0xFE, 0x61, 0x62, 0x63]) }
  }

  @Test(arguments: ["abcd", String(repeating: "x", count: Secret.mostBytes)])
  func secretOfAnyTextIsAccepted(text: String) throws {
    #expect(try Secret(Array(text.utf8)).bytes.count == text.utf8.count)
  }

  @Test("S09: printing a secret shows nothing of it")
  func printingShowsNothing() throws {
    let secret = try Secret(Array("canary".utf8))
    var dumped = ""
    dump(secret, to: &dumped)
    dump(["key": secret], to: &dumped)
    let texts = [
      "\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)",
    ]
    for text in texts + [dumped] {
      #expect(text.contains("***"))
      #expect(!text.contains("canary"))
      #expect(!text.contains("99, 97"))
      #expect(!text.contains("99\n"))
    }
  }
}

import Testing
import WeftDiagnostics

@testable import WeftDefinition

/// Keys that no workflow may use, regardless of its author.
struct ForbiddenKeyTests {
  @Test(
    "S16: no key turns the verification of TLS off, chooses a user, or opens the containment",
    arguments: [
      #""run":"x","uid":0"#, #""run":"x","user":"root""#, #""run":"x","gid":0"#,
      #""run":"x","sudo":true"#, #""run":"x","privileged":true"#,
      #""run":"x","containment":"subreaper""#,
      #""http":{"url":"https://h/","insecure":true}"#,
      #""http":{"url":"https://h/","verify":false}"#,
      #""http":{"url":"https://h/","tls":false}"#,
      #""http":{"url":"https://h/","tls":{"verify":false}}"#,
      #""http":{"url":"https://h/","tls":{"insecure":true}}"#,
      #""http":{"url":"https://h/","tls":{"verifyHost":false}}"#,
      #""http":{"url":"https://h/","tls":{"minVersion":"1.0"}}"#,
    ])
  func keysThatAreNone(keys: String) {
    for file in [
      #"{"steps":[{"# + keys + "}]}", #"{"defaults":{"# + keys + #"},"steps":["x"]}"#,
    ] {
      let (_, diagnostics) = WorkflowDecoder.decode(
        SourceFile(path: "w.json", bytes: Array(file.utf8)))
      let isRejected = diagnostics.contains { $0.isError }
      #expect(isRejected, "\(file)")
    }
  }

  @Test("S16: nor is there such a key for the whole workflow")
  func keysOfTheWorkflow() {
    for key in [#""uid":0"#, #""containment":"subreaper""#, #""insecure":true"#] {
      let file = "{" + key + #","steps":["x"]}"#
      let (_, diagnostics) = WorkflowDecoder.decode(
        SourceFile(path: "w.json", bytes: Array(file.utf8)))
      let isRejected = diagnostics.contains { $0.isError }
      #expect(isRejected, "\(file)")
    }
  }
}

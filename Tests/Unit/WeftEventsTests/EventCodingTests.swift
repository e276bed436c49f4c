import Testing
import WeftEncoding
import WeftPlanning
import WeftPlatform

@testable import WeftEvents

@Suite struct EventCodingTests {
  @Test func everyKindOfEventHasATypeOfItsOwn() {
    let types = RunEvent.Kind.blanks.map(\.traits.type)
    #expect(Set(types).count == types.count)
  }

  @Test func onlyJournaledEventsAreDecisive() {
    for traits in RunEvent.Kind.blanks.map(\.traits) where !traits.isJournaled {
      #expect(!traits.isDecisive && !traits.announcesAct, "\(traits.type)")
    }
  }

  @Test(arguments: ["", "f", "fo", "foo", "\u{0}\u{FF}"])
  func base64ReadsBack(text: String) {
    #expect(Base64.bytes(of: Base64.text(of: text.utf8)) == Array(text.utf8))
  }

  @Test(arguments: ["Zg", "Zg=", "Zg=a", "Z===", "====", "Z*==", "Zg==Zg=="])
  func otherTextIsNotBase64(text: String) {
    #expect(Base64.bytes(of: text) == nil)
  }
}

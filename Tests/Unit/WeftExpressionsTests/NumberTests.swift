import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

struct NumberTests {
  @Test(
    arguments: [
      ("", 0), ("  \t\n", 0), ("0", 0), ("-0", -0.0), ("007", 7), ("1e3", 1000), ("1E+3", 1000),
      ("1.", 1), (".5", 0.5),
      ("-.5e1", -5), ("Infinity", .infinity), ("-Infinity", -.infinity), ("+Infinity", .infinity),
      ("1e400", .infinity),
      ("-1e99999999999999999999", -.infinity), ("1e-99999999999999999999", 0), ("0x1f", 31),
      ("0XFF", 255), ("0b11", 3),
      ("0o17", 15), ("0xffffffffffffffffffff", 1_208_925_819_614_629_174_706_176),
      ("0x20000000000001", 9_007_199_254_740_992),
      ("0x20000000000003", 9_007_199_254_740_996),
      (
        "0x200000000000010000000000000000001", 0x1.0000000000001p129
      ),
      ("\u{FEFF}\u{A0}12\u{2003}", 12), ("9007199254740993", 9_007_199_254_740_992), ("4.35", 4.35),
      ("0.1e-400", 0),
      ("123456789012345678901234567890", 123_456_789_012_345_677_877_719_597_056),
    ] as [(String, Double)])
  func textIsReadAsANumber(text: String, number: Double) {
    let found = NumberReading.number(from: text)
    #expect(found.bitPattern == number.bitPattern, "\(found)")
  }

  @Test(arguments: [
    "x", "1x", "1 2", "--1", "+-1", ".", "-", "+", "e5", "1e", "1e+", "0x", "0xg", "-0x1", "+0x1",
    "0b2", "0o8", "1_000", "infinity",
    "Inf", "nan", "1,5", "١", "0x1.8", "1e5.5", "\u{85}1", "\u{200B}1", "0 x1", "1e 5", "NaN",
  ])
  func textThatIsNoNumberIsNone(text: String) {
    #expect(NumberReading.number(from: text).isNaN)
  }

  @Test(
    arguments: [
      (0, "0", "0"), (-0.0, "0", "0"), (1, "1", "1"), (-1.5, "-1.5", "-1.5"),
      (1e21, "1e+21", "1e+21"), (1e20, "100000000000000000000", "100000000000000000000"),
      (123_456_789_012_345_683_968, "123456789012345680000", "123456789012345680000"),
      (0.1 + 0.2, "0.30000000000000004", "0.3"),
      (1e-6, "0.000001", "0.000001"), (1e-7, "1e-7", "1e-7"), (1.5e-7, "1.5e-7", "1.5e-7"),
      (1e-15, "1e-15", "1e-15"), (4e-16, "4e-16", "0"),
      (5e-16, "5e-16", "1e-15"), (.leastNonzeroMagnitude, "5e-324", "0"),
      (0.84551240822557006, "0.8455124082255701", "0.84551240822557"),
      (1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157e+308"),
      (.nan, "NaN", "NaN"), (-.infinity, "-Infinity", "-Infinity"),
      (2.0 / 3, "0.6666666666666666", "0.666666666666667"),
      (7.0 + 1.0 / 3, "7.333333333333333", "7.333333333333333"),
    ] as [(Double, String, String)])
  func aNumberIsWrittenAsECMAScriptDoes(number: Double, script: String, coerced: String) {
    #expect(NumberText.script(number) == script)
    #expect(NumberText.coerced(number) == coerced)
  }

  // MARK: Comparison with an implementation of ECMAScript

  /// A program that prints texts as hexadecimal digits of UTF-8, with the number of each, and that number written in
  /// both ways.
  private static let program = """
    let s = 1; const r = () => (s = (s * 1103515245 + 12345) % 2147483648) / 2147483648;
    const pick = a => a[Math.floor(r() * a.length)];
    const f = new Float64Array(1), b = new BigUint64Array(f.buffer), out = [];
    for (let i = 0; i < 20000; i++) {
      let t = '';
      if (i % 2) {
        for (let n = Math.floor(r() * 12); n >= 0; n--) t += pick('00123456789..eE+-xXbo aF');
      } else {
        b[0] = BigInt(Math.floor(r() * 2147483648)) * 8589934592n + BigInt(Math.floor(r() * 2147483648)) * 4n;
        if (i % 4) f[0] = (r() - 0.5) * Math.pow(10, Math.floor(r() * 40) - 20);
        t = String(f[0]);
      }
      const v = Number(t);
      f[0] = v;
      out.push([t, Number.isNaN(v) ? 'NaN' : b[0].toString(), String(v === 0 ? 0 : +v.toFixed(15)), String(v)]);
    }
    console.log(JSON.stringify(out));
    """

  private static let isInstalled = system("command -v node >/dev/null 2>&1") == 0

  @Test(.enabled(if: isInstalled, "node is not installed"))
  func numbersAreReadAndWrittenAsNodeDoes() throws {
    let stream = try #require(popen("node - <<'END'\n\(NumberTests.program)\nEND\n", "r"))
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
      bytes += buffer[..<count]
    }
    #expect(pclose(stream) == 0)
    let (root, _) = JSONReader.read(SourceFile(path: "node", bytes: bytes), beside: nil)
    let cases = try #require(root).elements.map { $0.elements.map { $0.stringValue ?? "" } }
    #expect(cases.count == 20_000)
    var wrong: [String] = []
    for entry in cases {
      let number = NumberReading.number(from: entry[0])
      let bits = number.isNaN ? "NaN" : String(number.bitPattern)
      if bits != entry[1] || NumberText.coerced(number) != entry[2]
        || NumberText.script(number) != (entry[3])
      {
        wrong.append("\(entry): \(bits) \(NumberText.coerced(number)) \(NumberText.script(number))")
      }
    }
    #expect(wrong == [])
  }
}

/// Two hexadecimal digits for each byte, as `xxd -p` and `printf %x` write them.
enum HexForms {
  static let lowercase = Array("0123456789abcdef".utf8)
  static let uppercase = Array("0123456789ABCDEF".utf8)

  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    [lowercase, uppercase].map { digits in
      bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
  }
}

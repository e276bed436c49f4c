import WeftShell

/// Makes unlikely scripts: anything that means something to a shell, in any order.
struct SoupGenerator<Random: RandomNumberGenerator> {
  var random: Random
  let values: Int

  init(_ random: Random, values: Int) {
    self.random = random
    self.values = values
  }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func chance(_ one: Int) -> Bool { number(0..<one) == 0 }

  private mutating func placeholder() -> Template { Template(placeholder: number(0..<values)) }

  /// Some lines of soup.
  mutating func script() -> Template {
    var script = Template()
    for _ in 0..<number(1..<4) { script += pieces(depth: 3) + "\n" }
    return script
  }

  private mutating func pieces(depth: Int) -> Template {
    var pieces = Template()
    for _ in 0..<number(1..<6) { pieces += piece(depth: depth) }
    return pieces
  }

  private mutating func piece(depth: Int) -> Template {
    switch number(0..<10) {
    case 0..<3: return placeholder()
    case 3..<6 where depth > 0:
      let (opening, closing) = Soup.pairs.randomElement(using: &random)!
      return opening + pieces(depth: depth - 1) + closing
    case 6..<8: return Template(Soup.commands.randomElement(using: &random)!)
    default: return Template(Soup.tokens.randomElement(using: &random)!)
    }
  }

  /// A copy of a script with some tokens added and some pieces removed.
  mutating func mutated(_ template: Template) -> Template {
    var pieces: [Template.Piece] = []
    for piece in template.pieces {
      guard case .text(let text) = piece else {
        pieces.append(piece)
        continue
      }
      for word in Soup.parts(of: text) where !chance(60) {
        pieces.append(.text(word))
        guard chance(40) else { continue }
        pieces +=
          chance(4)
          ? placeholder().pieces
          : [.text((Soup.tokens + Soup.commands).randomElement(using: &random)!)]
      }
    }
    var result = Template()
    result.pieces = pieces
    return result
  }
}

/// The ingredients of soup.
enum Soup {
  static let pairs: [(String, String)] = [
    ("'", "'"), ("\"", "\""), ("$(", ")"), ("\"$(", ")\""), ("$'", "'"), ("${x:-", "}"),
    ("\"${x#", "}\""), ("$((", "))"), ("((", "))"), ("`", "`"),
    ("[[ ", " ]]"), ("[ ", " ]"), ("{ ", "; }"), ("( ", " )"), ("if ", "; then :; fi"),
    ("if :; then ", "\nfi"), ("for x in ", "; do :; done"),
    ("for x in a; do ", "\ndone"), ("case ", " in *) :;; esac"), ("case a in ", ") :;; esac"),
    ("case a in a) ", ";; esac"), ("cat <<E\n", "\nE\n"),
    ("cat <<'E'\n", "\nE\n"), ("sh <<-E\n", "\n\tE\n"), ("x=(", ")"), ("a[", "]=1"), ("a[0]=", ""),
    ("<(", ")"), (">(", ")"), ("${", "}"), ("${a[", "]}"), ("${x:", "}"),
    ("$[", "]"), ("f() { ", "\n}\nf 1"), ("while read x; do ", "; done"), ("eval \"", "\""),
    ("sh -c \"", "\""), ("sh -c '", "'"), ("find . -maxdepth 0 -exec ", " \\;"),
    ("\\", ""), ("$", ""), ("$\"", "\""), ("! ", ""), ("# ", "\n"), ("${x@", "}"), ("${!", "}"),
    ("function g { ", "\n}; g"), ("until ", "; do break; done"),
    ("x=", "; "), ("printf '%s' ", " | sh"), ("echo ", " | while read x; do"),
    // Through the output and the input of functions, and other descriptors.
    ("f() { echo ", "; }; f | sh"), ("f() { cat <<E\n", "\nE\n}\neval \"$(f)\""),
    ("f() { echo ", "; }; x=$(f); eval \"$x\""), ("f() { sh; }; echo ", " | f"),
    ("f() { read -r x; eval \"$x\"; }; f <<E\n", "\nE\n"),
    ("{ x=$(cat); eval \"$x\"; } <<E\n", "\nE\n"),
    // Not `exec 3<<E`, after which dash keeps the pipe open for writing.
    ("sh /dev/fd/3 3<<E\n", "\nE\n"), ("echo ", " > >(sh)"),
    ("exec > >(sh); echo ", ""), ("printf '%s' ", " | { x=$(cat); eval \"$x\"; }"),
    ("f | sh; f() { printf '%s' ", "; }; f"), ("exec 3<<<", "; read -u 3 x; ((x))"),
    // Where a word is data in the text of another shell.
    ("sh -c \"echo ", "\""), ("sh -c 'echo ", "'"), ("bash -c \"x=", "; echo\""),
  ]

  static let commands = [
    "echo ", "printf ", "printf '%s' ", "printf -v x ", "test ", "[ ", "eval ", "let ", "declare ",
    "declare -i x; ", "declare -n x=", "typeset ", "local ", "export ", "export x=",
    "readonly ", "read x ", "read -r x <<< ", "unset ", "set -- ", "set ", "trap ", "exit ",
    "shift ", "sh -c ", "bash -c ", "bash ", "env ", "env -S ", "exec ", "command ", "builtin ",
    "xargs ",
    "cat ", ": ", "true ", "sed ", "sed -e p -- ", "awk ", "awk -v x=", "perl -e ", "perl -e 1 ",
    "sh ", "busybox sh -c ", "time ", "nice ", "timeout 1 ", "mapfile -C ",
    "getopts a ", "wait ", "hash ", "return ",
    "alias x=", "x=", "y=", "PS4=", "x+=", "$x ", "\"$x\" ", "echo $((x)) ", "((x)) ",
    "[[ x -eq 1 ]] ", "[[ $x -eq ", "echo ${a[x]} ", "echo ${!x} ", "echo ${x:x} ", "sh -c \"$x\" ",
    "eval $x ", "echo $(($1)) ", "a[x]=1 ", "shopt -s extglob", "set -k",
    "for ((i=0;i<1;i++)); do ", "done ", "test -v ", "jobs ", "ulimit -n ", "umask ", "kill -0 ",
    "dirs ", "pushd ", "caller ", "select x in a; do ", "coproc ", "compgen -W ", "enable ", "git ",
    "make -n ", "find . -maxdepth 0 ", "RANDOM=", "OPTIND=", "SECONDS=", "LINENO=", "HISTCMD=",
    "echo $((RANDOM + $_)) ", "y=$x; ", "echo ${y:y}", "local -i ", "export -n ", "readonly -a ",
    "read -d ", "read -t ", "exit $((x))", "x=$(echo ", "[ -n ", "[ ! ", "[[ -n ", "[[ -v ",
    "test 1 -eq ", "test x = ", "[ x -a ",
  ]

  static let tokens = [
    "'", "\"", "`", "\\", "\\\\", "\\\n", "$", "$'", "$\"", "$(", ")", "(", "((", "))", "$((", "${",
    "}", "{", "${x}", "$x", "$1", "$@", "\"$@\"", "$$", "$#", "[[", "]]", "[", "]", " -eq ", " -v ",
    " = ", " == ", " =~ ",
    " < ", " -lt ", " && ", " || ", ";", ";;", ";&", "&", "|", "|&", "\n", " ", "  ", "\t", "<",
    ">", ">>", "<<E", "<<'E'", "<<-E", "<<<", "\nE\n", "&>", ">&", "<&", "<>", ">|", "<(", "#",
    " #", "!", " ! ", "if ", "; then ", "; else ", "; fi",
    "do ", "; done", "case ", " in ", "esac", "a) ", "*", "?", "~", "{a,b}", "{1..3}", "=", "+=",
    "-c ", "-e ", "-- ", "-", "1", "0", "x", "a", "a[0]", "%s", "@(a|b)", "!(a)", "+(a)",
    "function f ", "; }", "{ ", "2>", "{fd}>", "\r", "E", "EOF", ",", ":", "/", "+", "^", "%", "@",
  ]

  /// The text in pieces: a word, a blank or a special character each.
  static func parts(of text: String) -> [String] {
    var parts: [String] = []
    for character in text {
      if character.isLetter, let last = parts.last?.last, last.isLetter {
        parts[parts.count - 1].append(character)
      } else {
        parts.append(String(character))
      }
    }
    return parts
  }
}

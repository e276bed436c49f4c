/// The point at which the lexer stops: the shell might read the rest in a different way.
struct UnsupportedSyntaxError: Error, Hashable {
  var construct: ShellQuotingError.Construct
  var offset: Int
}

/// Why the lexer stops: what follows might be read in another way by the shell.
struct Unfollowable: Error, Hashable {
  var construct: ShellRejection.Construct
  var offset: Int
}

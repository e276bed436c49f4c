/// The point at which the lexer stops: the shell might read the rest in a different way.
struct Unfollowable: Error, Hashable {
  var construct: ShellRejection.Construct
  var offset: Int
}

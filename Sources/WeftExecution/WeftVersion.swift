/// Which Weft this is.
public enum WeftVersion {
  /// By the rules of semver.org.
  public static let current = "0.1.0"
}

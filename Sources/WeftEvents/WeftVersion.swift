/// The version of Weft.
public enum WeftVersion {
  /// Follows semver.org.
  public static let current = "0.1.0"
}

import Testing
import WeftShell

@Suite struct EnvironmentNameTests {
  @Test(
    "S15: variables that make programs run code are known",
    arguments: [
      "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",
      "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "GLIBC_TUNABLES", "PYTHONSTARTUP",
      "BASH_FUNC_ls%%", "NODE_OPTIONS", "PERL5OPT", "GIT_SSH_COMMAND",
    ])
  func known(name: String) {
    #expect(EnvironmentName.runsCode(name))
  }

  @Test(
    "S15: others may have any value, PATH too",
    arguments: [
      "PATH", "HOME", "LANG", "LC_ALL", "TOKEN", "ld_preload", "LDFLAGS", "MY_ENV", "ENVIRONMENT",
      "BASH", "", "GIT_AUTHOR_NAME", "PYTHONUNBUFFERED", "PYTHONPATH",
    ])
  func harmless(name: String) {
    #expect(!EnvironmentName.runsCode(name))
  }
}

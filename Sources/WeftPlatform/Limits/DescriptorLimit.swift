import CWeftPlatform

extension ThisProcess {
  /// Raises the limit of open files as far as this process may; a refusal leaves it as it is. Programs
  /// that are started get back what it was before, for some choke on a high one (`select`, loops over
  /// all numbers). For a program's `main`: in a library it would change the host.
  package static func raiseDescriptorLimit() { _ = weft_descriptor_limit_raise() }
}

extension DescriptorBudget {
  /// What this process has at this moment.
  package static var ofThisProcess: DescriptorBudget {
    let limit = weft_descriptor_limit()
    return DescriptorBudget(limit: Int(limit), open: Int(weft_open_descriptors(limit)))
  }
}

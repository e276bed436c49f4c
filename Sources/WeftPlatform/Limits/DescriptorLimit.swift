import CWeftPlatform

extension ThisProcess {
  /// Raises the limit of open files as far as this process may; if refused, the limit stays unchanged. Spawned programs
  /// get the original limit, because some cannot cope with a high one (`select`, loops over all numbers). For a
  /// program's `main`: in a library it would change the host.
  package static func raiseDescriptorLimit() { _ = weft_descriptor_limit_raise() }
}

extension DescriptorBudget {
  /// The current budget of this process.
  package static var ofThisProcess: DescriptorBudget {
    let limit = weft_descriptor_limit()
    return DescriptorBudget(limit: Int(limit), open: Int(weft_open_descriptors(limit)))
  }
}

internal import CPlatform
internal import Glibc
internal import Platform

/// Starts a program in a process group of its own, with nothing of ours but three descriptors; answers the number of
/// the process, which is the group's.
///
/// `posix_spawn` rather than `fork`: between fork and exec no Swift may run. Threads of Swift's pools block nearly all
/// signals, and a child inherits that mask and every ignored signal, so both are reset.
func spawn(_ command: Command, output: borrowing Pipe, errors: borrowing Pipe) throws(SystemError) -> pid_t {
    let program = command.arguments.first ?? ""
    guard !(command.arguments + command.context.variables).contains(where: { $0.utf8.contains(0) }) else {
        throw SystemError("posix_spawn", program, code: EINVAL)
    }
    let input = try inputFile(command.input)
    var process: pid_t = 0
    let outputEnd = output.theirs.rawValue
    let errorEnd = errors.theirs.rawValue
    let inputEnd = input.rawValue
    let code = unsafe withCStrings(command.arguments) { arguments in
        unsafe withCStrings(command.context.variables) { variables in
            unsafe vicinity_spawn(program, arguments, variables, inputEnd, outputEnd, errorEnd, &process)
        }
    }
    guard code == 0 else { throw SystemError("posix_spawn", program, code: code) }
    return process
}

/// A pipe that a child writes to. Our end does not block, the child's does.
struct Pipe: ~Copyable {
    let ours: FileDescriptor
    let theirs: FileDescriptor

    init() throws(SystemError) {
        var reading: Int32 = -1
        var writing: Int32 = -1
        try SystemError.check("pipe2") { unsafe vicinity_pipe(&reading, &writing) }
        // Owned at once, so that nothing stays open where a later call fails.
        let ours = FileDescriptor(owning: reading)
        let theirs = FileDescriptor(owning: writing)
        let raw = ours.rawValue
        try SystemError.check("fcntl") { fcntl(raw, F_SETFL, O_NONBLOCK) }
        self.ours = ours
        self.theirs = theirs
    }

    /// Closes the child's end.
    consuming func release() -> FileDescriptor {
        ours
    }
}

/// A file in memory that stands at its beginning: unlike a pipe it needs no one to feed it.
private func inputFile(_ contents: [UInt8]) throws(SystemError) -> FileDescriptor {
    let created = FileDescriptor(
        owning: try SystemError.check("memfd_create") { unsafe vicinity_memory_file("vicinity-event") })
    var rest = contents[...]
    while !rest.isEmpty {
        let count = try SystemError.check("write") {
            unsafe rest.withUnsafeBytes { unsafe write(created.rawValue, $0.baseAddress, $0.count) }
        }
        rest = rest.dropFirst(count)
    }
    try SystemError.check("lseek") { lseek(created.rawValue, 0, SEEK_SET) }
    return created
}

/// The array of C strings, ended by a null, that `execve(2)` takes.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("an array with a null is not empty") }
        return unsafe body(base)
    }
}

// Prints a file once whoever sits at the machine has given a second factor, or where the rules let it be skipped.
//
//     swift run require-second-factor FILE
//
// This keeps others from what a program does for you, not you: it shows how to ask, and the file is as readable as before.
import Foundation
import Vicinity

@main
struct RequireSecondFactor {
    static func main() async {
        guard let path = CommandLine.arguments.dropFirst().first, CommandLine.arguments.count == 2 else {
            fail("usage: require-second-factor FILE", 64)
        }
        do throws(SecondFactorError) {
            if try await SecondFactor.isRequired {
                say("A second factor is needed here, and asked for.")
                // What the dialogue shows as the word of this program.
                try await SecondFactor.require(reason: "Read a note")
            }
        } catch {
            // Whatever the reason, be it that no agent answers: none was given, and nothing follows.
            fail("\(error)", 77)
        }
        guard let note = FileManager.default.contents(atPath: path) else { fail("the file cannot be read", 66) }
        FileHandle.standardOutput.write(note)
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    private static func fail(_ text: String, _ status: Int32) -> Never {
        say(text)
        exit(status)
    }
}

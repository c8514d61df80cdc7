import Testing
import WiFi

@Suite struct ChannelTests {
    @Test(
        arguments: [
            (2412, .twoPointFour, 1), (2437, .twoPointFour, 6), (2472, .twoPointFour, 13), (2484, .twoPointFour, 14),
            (4915, .five, 183), (4920, .five, 184), (4980, .five, 196), (5035, .five, 7), (5080, .five, 16),
            (5170, .five, 34), (5180, .five, 36), (5320, .five, 64), (5500, .five, 100), (5720, .five, 144),
            (5745, .five, 149), (5825, .five, 165), (5885, .five, 177), (5935, .six, 2), (5955, .six, 1),
            (5975, .six, 5), (6135, .six, 37), (7115, .six, 233), (58_320, .sixty, 1), (60_480, .sixty, 2),
            (69_120, .sixty, 6),
        ] as [(UInt32, Channel.Band, UInt8)])
    func table(frequency: UInt32, band: Channel.Band, number: UInt8) throws {
        let channel = try #require(Channel(frequency: frequency))
        #expect(channel.band == band)
        #expect(channel.number == number)
        #expect(channel.frequency == frequency)
        #expect(Channel(band: band, number: number) == channel)
    }

    @Test(
        arguments: [
            0, 1, 906, 2407, 2411, 2413, 2474, 2477, 2479, 2483, 2485, 2489, 4910, 4990, 5000, 5175, 5185, 5340, 5400,
            5480, 5735, 5905, 5915, 5920, 5925, 5930, 5940, 5945, 5950, 5960, 6136, 7120, 7135, 45_000, 56_160, 58_321,
            70_200, 71_280, UInt32.max,
        ] as [UInt32])
    func notChannels(frequency: UInt32) {
        #expect(Channel(frequency: frequency) == nil)
    }

    @Test func everyFrequencyAndEveryNumber() {
        var byFrequency: Set<Channel> = []
        for frequency in UInt32(0)...75_000 {
            guard let channel = Channel(frequency: frequency) else { continue }
            #expect(channel.frequency == frequency)
            #expect(byFrequency.insert(channel).inserted)
        }
        var byNumber: Set<Channel> = []
        for band in Channel.Band.allCases {
            for number in UInt8.min...UInt8.max {
                guard let channel = Channel(band: band, number: number) else { continue }
                #expect(Channel(frequency: channel.frequency) == channel)
                byNumber.insert(channel)
            }
        }
        #expect(byFrequency == byNumber)
        let counts = Channel.Band.allCases.map { band in byNumber.count { $0.band == band } }
        #expect(counts == [14, 46, 60, 6])
    }
}

// libwebrtc's delay of a call's sound behind a pipe: when packets arrived in, how long each made sound
// wait out. See README.md for the lines.
//
// Written for this project; it uses libwebrtc through its headers only.

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

#include "api/field_trials_view.h"
#include "api/neteq/neteq_controller.h"
#include "api/neteq/tick_timer.h"
#include "modules/audio_coding/neteq/delay_manager.h"
#include "modules/audio_coding/neteq/packet_arrival_history.h"

namespace {

// Opus: 48 samples a ms, and a packet for each 20 ms.
constexpr int kSamplesPerMs = 48;
constexpr int kPacket = 20 * kSamplesPerMs;
// As DecisionLogic has it.
constexpr int kHistoryMs = 2000;

// Chrome's defaults are those of the code.
class NoTrials : public webrtc::FieldTrialsView {
 public:
  std::string Lookup(absl::string_view) const override { return ""; }
};

}  // namespace

int main() {
  webrtc::TickTimer ticks;
  const NoTrials trials;
  webrtc::DelayManager manager(webrtc::DelayManager::Config(trials), &ticks);
  webrtc::PacketArrivalHistory history(&ticks, kHistoryMs);
  history.set_sample_rate(1000 * kSamplesPerMs);

  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    int64_t number, arrived_us;
    if (!(in >> number >> arrived_us)) {
      std::cerr << "not understood: " << line << '\n';
      return 1;
    }
    const int64_t now = arrived_us / 1000 / ticks.ms_per_tick();
    ticks.Increment(now - static_cast<int64_t>(ticks.ticks()));
    const auto timestamp = static_cast<uint32_t>(number * kPacket);
    // What DecisionLogic does with a packet.
    if (history.Insert(timestamp, kPacket) && history.size() >= 2) {
      manager.Update(history.GetDelayMs(timestamp),
                     !history.IsNewestRtpTimestamp(timestamp), {});
    }
    std::cout << number << ' ' << manager.TargetDelayMs() << '\n';
  }
}

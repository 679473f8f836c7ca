// libwebrtc's GoogCcNetworkController behind a pipe: one line in for each thing that a sender
// sees, one line out with what the controller then says. See README.md for the lines.
//
// Written for this project; it uses libwebrtc through its headers only.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "api/environment/environment.h"
#include "api/environment/environment_factory.h"
#include "api/field_trials_view.h"
#include "api/task_queue/default_task_queue_factory.h"
#include "api/task_queue/task_queue_factory.h"
#include "api/transport/network_control.h"
#include "api/transport/network_types.h"
#include "modules/congestion_controller/goog_cc/goog_cc_network_control.h"
#include "system_wrappers/include/clock.h"

namespace webrtc {
// Nothing here runs tasks, so the default factory, and all that it needs, stays out.
std::unique_ptr<TaskQueueFactory> CreateDefaultTaskQueueFactory(
    const FieldTrialsView*) {
  std::abort();
}
}  // namespace webrtc

namespace {

using webrtc::DataRate;
using webrtc::DataSize;
using webrtc::TimeDelta;
using webrtc::Timestamp;

// Several members start at time zero and are compared with "a long time ago": a call begins when
// the machine has been up for a while.
constexpr int64_t kEpochUs = 1'000'000'000;

Timestamp At(int64_t us) { return Timestamp::Micros(kEpochUs + us); }

// Trials as Chrome writes them on its command line: "Name/Value/Name/Value/".
class Trials : public webrtc::FieldTrialsView {
 public:
  explicit Trials(const std::string& text) {
    std::istringstream in(text);
    std::string name, value;
    while (std::getline(in, name, '/') && std::getline(in, value, '/')) {
      values_[name] = value;
    }
  }
  std::string Lookup(absl::string_view key) const override {
    auto it = values_.find(std::string(key));
    return it == values_.end() ? "" : it->second;
  }

 private:
  std::map<std::string, std::string> values_;
};

class NoTasks : public webrtc::TaskQueueFactory {
 public:
  std::unique_ptr<webrtc::TaskQueueBase, webrtc::TaskQueueDeleter>
  CreateTaskQueue(absl::string_view, Priority) const override {
    std::abort();
  }
};

class Witness {
 public:
  explicit Witness(const std::string& trials)
      : trials_(trials), clock_(At(0)) {}

  // "config START LEAST MOST MAX ALR": rates in bit/s. MOST is the encoder's; MAX is what the
  // session negotiated, zero for nothing; ALR is 1 for periodic probing while the encoder limits.
  void Config(std::istream& in) {
    int64_t start, least, most, max, alr;
    in >> start >> least >> most >> max >> alr;
    webrtc::NetworkControllerConfig config(webrtc::CreateEnvironment(
        static_cast<const webrtc::FieldTrialsView*>(&trials_),
        static_cast<webrtc::Clock*>(&clock_),
        static_cast<webrtc::TaskQueueFactory*>(&tasks_)));
    config.constraints.at_time = At(0);
    config.constraints.starting_rate = DataRate::BitsPerSec(start);
    config.constraints.min_data_rate = DataRate::Zero();
    config.constraints.max_data_rate =
        max > 0 ? DataRate::BitsPerSec(max) : DataRate::PlusInfinity();
    auto& streams = config.stream_based_config;
    streams.requests_alr_probing = alr != 0;
    streams.pacing_factor = 1.1;  // kStrictPacingMultiplier, video_send_stream_impl.cc
    streams.min_total_allocated_bitrate = DataRate::BitsPerSec(least);
    streams.max_padding_rate = DataRate::Zero();
    streams.max_total_allocated_bitrate = DataRate::BitsPerSec(most);
    target_ = DataRate::BitsPerSec(start);
    controller_ = std::make_unique<webrtc::GoogCcNetworkController>(
        config, webrtc::GoogCcConfig());
  }

  // "sent TIME BYTES IN_FLIGHT": µs and bytes.
  void Sent(std::istream& in) {
    int64_t at, bytes, in_flight;
    in >> at >> bytes >> in_flight;
    Begin(at);
    webrtc::SentPacket packet;
    packet.send_time = At(at);
    packet.size = DataSize::Bytes(bytes);
    packet.data_in_flight = DataSize::Bytes(in_flight);
    Take(controller_->OnSentPacket(packet));
  }

  // "feedback TIME IN_FLIGHT COUNT" and COUNT times "SEQUENCE BYTES SENT RECEIVED PROBE"; RECEIVED
  // and PROBE are −1 for none.
  void Feedback(std::istream& in) {
    int64_t at, in_flight, count;
    in >> at >> in_flight >> count;
    Begin(at);
    webrtc::TransportPacketsFeedback report;
    report.feedback_time = At(at);
    report.data_in_flight = DataSize::Bytes(in_flight);
    for (int64_t i = 0; i < count; ++i) {
      int64_t sequence, bytes, sent, received, probe;
      in >> sequence >> bytes >> sent >> received >> probe;
      webrtc::PacketResult result;
      result.sent_packet.sequence_number = sequence;
      result.sent_packet.size = DataSize::Bytes(bytes);
      result.sent_packet.send_time = At(sent);
      if (auto it = probes_.find(probe); it != probes_.end()) {
        result.sent_packet.pacing_info = it->second;
      }
      if (received >= 0) {
        result.receive_time = At(received);
      }
      report.packet_feedbacks.push_back(result);
    }
    MaybeTellRtt(at, report);
    Take(controller_->OnTransportPacketsFeedback(report));
  }

  // "timer TIME"
  void Timer(std::istream& in) {
    int64_t at;
    in >> at;
    Begin(at);
    webrtc::ProcessInterval msg;
    msg.at_time = At(at);
    Take(controller_->OnProcessInterval(msg));
  }

  // "TARGET PACING PADDING" and for each probe asked for "ID RATE DURATION GAP COUNT": bit/s and µs.
  void Answer(std::ostream& out) {
    out << target_.bps() << ' ' << pacing_.bps() << ' ' << padding_.bps();
    for (const auto& probe : asked_) {
      out << ' ' << probe.id << ' ' << probe.target_data_rate.bps() << ' '
          << probe.target_duration.us() << ' ' << probe.min_probe_delta.us()
          << ' ' << probe.target_probe_count;
    }
    asked_.clear();
    out << '\n' << std::flush;
  }

 private:
  // Time passes; with the first event the network is there.
  void Begin(int64_t at) {
    clock_.AdvanceTime(At(at) - clock_.CurrentTime());
    if (begun_) {
      return;
    }
    begun_ = true;
    webrtc::NetworkAvailability available;
    available.at_time = At(at);
    available.network_available = true;
    Take(controller_->OnNetworkAvailability(available));
    webrtc::ProcessInterval first;
    first.at_time = At(at);
    Take(controller_->OnProcessInterval(first));
  }

  // Receiver reports bring a round trip about once a second. It is taken from the feedback: the
  // shortest of its packets', less their wait for the newest one.
  void MaybeTellRtt(int64_t at, const webrtc::TransportPacketsFeedback& report) {
    if (at < rtt_due_) {
      return;
    }
    auto received = report.ReceivedWithSendInfo();
    Timestamp newest = Timestamp::MinusInfinity();
    for (const auto& packet : received) {
      newest = std::max(newest, packet.receive_time);
    }
    TimeDelta rtt = TimeDelta::PlusInfinity();
    for (const auto& packet : received) {
      rtt = std::min(rtt, report.feedback_time - packet.sent_packet.send_time -
                              (newest - packet.receive_time));
    }
    rtt = rtt.IsFinite() ? rtt.RoundTo(TimeDelta::Millis(1)) : TimeDelta::Zero();
    if (rtt.IsZero()) {
      return;
    }
    rtt_due_ = at + 1'000'000;
    webrtc::RoundTripTimeUpdate msg;
    msg.receive_time = At(at);
    msg.round_trip_time = rtt;
    Take(controller_->OnRoundTripTimeUpdate(msg));
  }

  void Take(const webrtc::NetworkControlUpdate& update) {
    if (update.target_rate) {
      target_ = update.target_rate->target_rate;
    }
    if (update.pacer_config) {
      pacing_ = update.pacer_config->data_rate();
      padding_ = update.pacer_config->pad_rate();
    }
    for (const auto& probe : update.probe_cluster_configs) {
      webrtc::PacedPacketInfo info(
          probe.id, probe.target_probe_count,
          (probe.target_data_rate * probe.target_duration).bytes());
      info.send_bitrate = probe.target_data_rate;
      probes_[probe.id] = info;
      asked_.push_back(probe);
    }
  }

  Trials trials_;
  webrtc::SimulatedClock clock_;
  NoTasks tasks_;
  std::unique_ptr<webrtc::NetworkControllerInterface> controller_;
  std::map<int64_t, webrtc::PacedPacketInfo> probes_;
  std::vector<webrtc::ProbeClusterConfig> asked_;
  DataRate target_ = DataRate::Zero();
  DataRate pacing_ = DataRate::Zero();
  DataRate padding_ = DataRate::Zero();
  int64_t rtt_due_ = 0;
  bool begun_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  Witness witness(argc > 1 ? argv[1] : "");
  std::string line, word;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    in >> word;
    if (word == "config") {
      witness.Config(in);
    } else if (word == "sent") {
      witness.Sent(in);
    } else if (word == "feedback") {
      witness.Feedback(in);
    } else if (word == "timer") {
      witness.Timer(in);
    } else {
      std::cerr << "unknown: " << line << '\n';
      return 2;
    }
    if (in.fail()) {
      std::cerr << "too short: " << line << '\n';
      return 2;
    }
    witness.Answer(std::cout);
  }
}

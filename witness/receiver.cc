// libwebrtc's jitter buffer of video behind a pipe: the frames of a call in, when each left the
// buffer out. See README.md for the lines.
//
// Written for this project; it uses libwebrtc through its headers only.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "api/field_trials_view.h"
#include "api/rtp_packet_info.h"
#include "api/rtp_packet_infos.h"
#include "api/task_queue/task_queue_base.h"
#include "api/video/encoded_frame.h"
#include "api/video/i420_buffer.h"
#include "modules/video_coding/timing/timing.h"
#include "system_wrappers/include/clock.h"
#include "video/frame_decode_scheduler.h"
#include "video/video_quality_observer2.h"
#include "video/video_receive_stream2.h"
#include "video/video_stream_buffer_controller.h"

namespace webrtc {
// Nothing looks into a picture.
scoped_refptr<I420Buffer> I420Buffer::Create(int, int) {
  std::abort();
}

void I420Buffer::CropAndScaleFrom(const I420BufferInterface&,
                                  int,
                                  int,
                                  int,
                                  int) {
  std::abort();
}
}  // namespace webrtc

namespace {

using webrtc::TimeDelta;
using webrtc::Timestamp;

// The call begins when the machine has been up for a while.
constexpr int64_t kEpochUs = 1'000'000'000;
// What a decoder takes for a frame, here as there.
constexpr TimeDelta kDecode = TimeDelta::Millis(1);
constexpr TimeDelta kRoundTripEvery = TimeDelta::Seconds(1);

Timestamp At(int64_t us) { return Timestamp::Micros(kEpochUs + us); }

// Chrome's defaults are those of the code.
class NoTrials : public webrtc::FieldTrialsView {
 public:
  std::string Lookup(absl::string_view) const override { return ""; }
};

// What is to happen, in order of time.
class Agenda {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  explicit Agenda(webrtc::SimulatedClock* clock) : clock_(clock) {}

  void Add(Timestamp at, Task task) { tasks_.emplace(at, std::move(task)); }

  void RunUntil(Timestamp end) {
    while (!tasks_.empty() && tasks_.begin()->first <= end) {
      auto node = tasks_.extract(tasks_.begin());
      Pass(node.key());
      std::move(node.mapped())();
    }
    Pass(end);
  }

 private:
  void Pass(Timestamp at) {
    if (at > clock_->CurrentTime()) {
      clock_->AdvanceTime(at - clock_->CurrentTime());
    }
  }

  webrtc::SimulatedClock* const clock_;
  std::multimap<Timestamp, Task> tasks_;
};

class Queue : public webrtc::TaskQueueBase {
 public:
  Queue(webrtc::Clock* clock, Agenda* agenda)
      : clock_(clock), agenda_(agenda) {}
  void Delete() override {}

 private:
  void PostTaskImpl(absl::AnyInvocable<void() &&> task,
                    const PostTaskTraits&,
                    const webrtc::Location&) override {
    agenda_->Add(clock_->CurrentTime(), std::move(task));
  }
  void PostDelayedTaskImpl(absl::AnyInvocable<void() &&> task,
                           TimeDelta delay,
                           const PostDelayedTaskTraits&,
                           const webrtc::Location&) override {
    agenda_->Add(clock_->CurrentTime() + delay, std::move(task));
  }

  webrtc::Clock* const clock_;
  Agenda* const agenda_;
};

// Releases the frame at its time, to the microsecond.
class Scheduler : public webrtc::FrameDecodeScheduler {
 public:
  explicit Scheduler(Agenda* agenda) : agenda_(agenda) {}

  std::optional<uint32_t> ScheduledRtpTimestamp() override { return rtp_; }

  void ScheduleFrame(uint32_t rtp,
                     webrtc::FrameDecodeTiming::FrameSchedule schedule,
                     FrameReleaseCallback callback) override {
    rtp_ = rtp;
    const int turn = ++turn_;
    agenda_->Add(schedule.latest_decode_time,
                 [this, turn, rtp, render = schedule.render_time,
                  callback = std::move(callback)]() mutable {
                   if (turn != turn_) {
                     return;
                   }
                   rtp_.reset();
                   std::move(callback)(rtp, render);
                 });
  }

  void CancelOutstanding() override {
    ++turn_;
    rtp_.reset();
  }

  void Stop() override { CancelOutstanding(); }

 private:
  Agenda* const agenda_;
  std::optional<uint32_t> rtp_;
  int turn_ = 0;
};

struct Arrival {
  int64_t id, timestamp, bytes, key, repaired, first, last;
};

class Frame : public webrtc::EncodedFrame {
 public:
  explicit Frame(const Arrival& from)
      : received_ms_(At(from.last).ms()), repaired_(from.repaired != 0) {
    SetId(from.id);
    SetRtpTimestamp(static_cast<uint32_t>(from.timestamp));
    SetEncodedData(webrtc::EncodedImageBuffer::Create(from.bytes));
    if (from.key == 0) {
      num_references = 1;
      references[0] = from.id - 1;
    }
    webrtc::RtpPacketInfos::vector_type packets;
    for (int64_t at : {from.first, from.last}) {
      webrtc::RtpPacketInfo packet;
      packet.set_receive_time(At(at));
      packets.push_back(packet);
    }
    SetPacketInfos(webrtc::RtpPacketInfos(std::move(packets)));
  }

  int64_t ReceivedTime() const override { return received_ms_; }
  bool delayed_by_retransmission() const override { return repaired_; }

 private:
  const int64_t received_ms_;
  const bool repaired_;
};

class Stats : public webrtc::VideoStreamBufferControllerStatsObserver {
 public:
  void OnCompleteFrame(bool, size_t, webrtc::VideoContentType) override {}
  void OnDroppedFrames(uint32_t) override {}
  void OnDecodableFrame(TimeDelta, TimeDelta, TimeDelta) override {}
  void OnFrameBufferTimingsUpdated(int, int, int, int, int, int) override {}
  void OnTimingFrameInfoUpdated(const webrtc::TimingFrameInfo&) override {}
};

// Takes the frames that leave the buffer, and decodes them.
class Receiver : public webrtc::FrameSchedulingReceiver {
 public:
  Receiver(webrtc::Clock* clock, Agenda* agenda, webrtc::VCMTiming* timing)
      : clock_(clock), agenda_(agenda), timing_(timing) {}

  void OnEncodedFrame(std::unique_ptr<webrtc::EncodedFrame> frame) override {
    left[frame->Id()] = clock_->CurrentTime().us() - kEpochUs;
    agenda_->Add(clock_->CurrentTime() + kDecode, [this] {
      const Timestamp now = clock_->CurrentTime();
      timing_->StopDecodeTimer(kDecode, now);
      observer.OnRenderedFrame(Shown(now));
      buffer->StartNextDecode(false);
    });
  }

  // The stream goes on: VideoReceiveStream2 asks for a key frame, and waits for more.
  void OnDecodableFrameTimeout(TimeDelta) override {
    agenda_->Add(clock_->CurrentTime(),
                 [this] { buffer->StartNextDecode(false); });
  }

  webrtc::VideoStreamBufferController* buffer = nullptr;
  webrtc::internal::VideoQualityObserver observer;
  std::map<int64_t, int64_t> left;

 private:
  static webrtc::internal::VideoFrameMetaData Shown(Timestamp now) {
    webrtc::VideoFrame frame = webrtc::VideoFrame::Builder()
                                   .set_video_frame_buffer(Picture())
                                   .build();
    return webrtc::internal::VideoFrameMetaData(frame, now);
  }

  // Its size is all that is asked.
  static webrtc::scoped_refptr<webrtc::VideoFrameBuffer> Picture();

  webrtc::Clock* const clock_;
  Agenda* const agenda_;
  webrtc::VCMTiming* const timing_;
};

class NoPicture : public webrtc::VideoFrameBuffer {
 public:
  Type type() const override { return Type::kNative; }
  int width() const override { return 640; }
  int height() const override { return 360; }
  webrtc::scoped_refptr<webrtc::I420BufferInterface> ToI420() override {
    std::abort();
  }
};

webrtc::scoped_refptr<webrtc::VideoFrameBuffer> Receiver::Picture() {
  return webrtc::make_ref_counted<NoPicture>();
}

void Run(int64_t rtt_us, std::vector<Arrival> arrivals) {
  webrtc::SimulatedClock clock(Timestamp::Micros(kEpochUs));
  Agenda agenda(&clock);
  Queue queue(&clock, &agenda);
  std::stable_sort(
      arrivals.begin(), arrivals.end(),
      [](const Arrival& a, const Arrival& b) { return a.last < b.last; });
  // The stream exists from the first packet on.
  agenda.RunUntil(At(arrivals.front().last));

  const NoTrials trials;
  webrtc::VCMTiming timing(&clock, trials);
  Stats stats;
  Receiver receiver(&clock, &agenda, &timing);
  webrtc::VideoStreamBufferController buffer(
      &clock, &queue, &timing, &stats, &receiver, TimeDelta::Millis(200),
      TimeDelta::Seconds(3), std::make_unique<Scheduler>(&agenda),
      trials);
  receiver.buffer = &buffer;
  buffer.StartNextDecode(true);

  Timestamp round_trip_due = clock.CurrentTime();
  for (const Arrival& arrival : arrivals) {
    agenda.RunUntil(At(arrival.last));
    if (clock.CurrentTime() >= round_trip_due) {
      round_trip_due = clock.CurrentTime() + kRoundTripEvery;
      buffer.UpdateRtt(TimeDelta::Micros(rtt_us).ms());
    }
    buffer.InsertFrame(std::make_unique<Frame>(arrival));
  }
  agenda.RunUntil(clock.CurrentTime() + TimeDelta::Seconds(4));
  buffer.Stop();

  for (const auto& [id, at] : receiver.left) {
    std::cout << "left " << id << ' ' << at << '\n';
  }
  std::cout << "freezes " << receiver.observer.NumFreezes() << ' '
            << receiver.observer.TotalFreezesDurationMs() << ' '
            << receiver.observer.NumPauses() << '\n';
}

}  // namespace

int main() {
  std::string line, word;
  int64_t rtt = 0;
  std::vector<Arrival> arrivals;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    in >> word;
    if (word == "rtt") {
      in >> rtt;
    } else if (word == "frame") {
      Arrival a;
      in >> a.id >> a.timestamp >> a.bytes >> a.key >> a.repaired >> a.first >>
          a.last;
      arrivals.push_back(a);
    }
    if (!in) {
      std::cerr << "not understood: " << line << '\n';
      return 1;
    }
  }
  if (!arrivals.empty()) {
    Run(rtt, std::move(arrivals));
  }
}

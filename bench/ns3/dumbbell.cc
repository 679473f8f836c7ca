// A dumbbell in ns-3, for comparing Analects' simulator with it in results and in speed.
//
//   sender i --1 Gbit/s, 1 ms-- router --rate, 19 ms-- receiver        (RTT 40 ms)
//
// Only the router's port to the receiver has a discipline, with a device FIFO of one packet
// behind it; every other port is a FIFO that never fills. Prints one JSON line.

#include "ns3/bulk-send-application.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1448;          // 1500 B of IP with timestamps, 1502 B on the wire
constexpr uint32_t BUFFER = 4 << 20;        // socket buffers, bytes
constexpr uint16_t PORT = 5000;             // of flow 0; flow i has PORT + i
constexpr uint32_t BURST_FLOWS = 12;
constexpr uint32_t DATAGRAM = 1200;         // of the call, bytes of IP
constexpr uint32_t UDP_HEADERS = 28;        // IPv4's and its own

struct Discipline
{
    const char* type;
    uint32_t limit; // packets: Linux' default
};

const std::map<std::string, Discipline> DISCIPLINES = {
    {"fifo", {"ns3::FifoQueueDisc", 1000}},
    {"codel", {"ns3::CoDelQueueDisc", 1000}},
    {"pie", {"ns3::PieQueueDisc", 1000}},
    {"cobalt", {"ns3::CobaltQueueDisc", 1000}},
    {"fq_codel", {"ns3::FqCoDelQueueDisc", 10240}},
    {"fq_pie", {"ns3::FqPieQueueDisc", 10240}},
    {"fq_cobalt", {"ns3::FqCobaltQueueDisc", 10240}},
};

const std::set<std::string> CONTROLS = {"TcpCubic", "TcpLinuxReno", "TcpVegas", "TcpBbr"};

struct Options
{
    DataRate rate{"20Mbps"};
    uint32_t flows = 4;
    std::string control = "TcpCubic";
    std::string discipline = "fq_codel";
    uint32_t limit = 0; // 0: the discipline's default
    double duration = 60;
    double warmup = 10;
    double stagger = 10; // flow i starts at i times this, in ms
    bool burst = false;
    double burstAt = 20;         // seconds
    uint32_t burstBytes = 15000; // of each of its flows
    DataRate call{"0bps"};       // 0: none
};

[[noreturn]] void
Refuse(const std::string& why)
{
    std::fprintf(stderr, "dumbbell: %s\n", why.c_str());
    std::exit(2);
}

Options
Parse(int argc, char** argv)
{
    Options o;
    CommandLine cmd(__FILE__);
    cmd.AddValue("rate", "of the bottleneck, such as 20Mbps", o.rate);
    cmd.AddValue("flows", "bulk flows, each from its own sender", o.flows);
    cmd.AddValue("control", "TcpCubic, TcpLinuxReno, TcpVegas or TcpBbr", o.control);
    cmd.AddValue("discipline", "fifo, codel, pie, cobalt, fq_codel, fq_pie or fq_cobalt", o.discipline);
    cmd.AddValue("limit", "packets that may wait; 0 for the discipline's default", o.limit);
    cmd.AddValue("duration", "simulated seconds", o.duration);
    cmd.AddValue("warmup", "seconds before goodput and sojourn count", o.warmup);
    cmd.AddValue("stagger", "milliseconds from the start of one flow to the next", o.stagger);
    cmd.AddValue("burst", "twelve flows join", o.burst);
    cmd.AddValue("burst-at", "when they join, in seconds", o.burstAt);
    cmd.AddValue("burst-bytes", "bytes of each of them", o.burstBytes);
    cmd.AddValue("call", "rate of datagrams of 1200 B beside them, from the start", o.call);
    cmd.Parse(argc, argv);

    auto discipline = DISCIPLINES.find(o.discipline);
    if (discipline == DISCIPLINES.end())
        Refuse("no such discipline: " + o.discipline);
    if (o.limit == 0)
        o.limit = discipline->second.limit;
    if (CONTROLS.count(o.control) == 0)
        Refuse("no such control: " + o.control);
    if (o.rate.GetBitRate() == 0)
        Refuse("rate must be above 0");
    if (o.limit > 1000000)
        Refuse("limit must be at most 1000000 packets");
    if (o.flows < 1 || o.flows > 1000)
        Refuse("flows must be 1 to 1000");
    if (!(0 <= o.warmup && o.warmup < o.duration))
        Refuse("warmup must be at least 0 and less than the duration");
    if (!(0 <= o.stagger && o.stagger <= 1000))
        Refuse("stagger must be 0 to 1000 ms");
    if (o.burst && !(o.warmup < o.burstAt && o.burstAt < o.duration))
        Refuse("the burst must lie between warmup and duration");
    if (o.burstBytes < 1)
        Refuse("burst-bytes must be above 0");
    if (o.call.GetBitRate() > 0 && !o.burst)
        Refuse("a call is measured during a burst: give --burst too");
    if (o.call.GetBitRate() > 0 && o.burstAt + 1 > o.duration)
        Refuse("a call is measured for a second after the burst: let the duration hold it");
    return o;
}

// TCP as in the reference set-up. What is not set here is ns-3's default, among it a minimum
// RTO of one second (Linux: 200 ms) and proportional rate reduction.
void
ConfigureTcp(const std::string& control)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + control));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocketBase::Sack", StringValue("true"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", StringValue("true"));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("Off"));
}

// The sojourn times of the packets that the discipline forwarded.
class SojournLog
{
  public:
    void Attach(Ptr<QueueDisc> disc)
    {
        disc->TraceConnectWithoutContext("SojournTime", MakeCallback(&SojournLog::Left, this));
        disc->TraceConnectWithoutContext("DropAfterDequeue",
                                         MakeCallback(&SojournLog::Dropped, this));
    }

    // Sojourn times in ms of the packets that left in [from, to) seconds, ascending.
    std::vector<double> Between(double from, double to) const
    {
        std::vector<double> ms;
        for (const auto& [at, sojourn] : m_samples)
        {
            if (Seconds(from) <= at && at < Seconds(to))
                ms.push_back(sojourn.GetSeconds() * 1e3);
        }
        std::sort(ms.begin(), ms.end());
        return ms;
    }

  private:
    void Left(Time sojourn)
    {
        m_samples.emplace_back(Simulator::Now(), sojourn);
    }

    // CoDel takes a packet out, which fires SojournTime, before it decides to drop it.
    void Dropped(Ptr<const QueueDiscItem>, const char*)
    {
        m_samples.pop_back();
    }

    std::vector<std::pair<Time, Time>> m_samples;
};

// The datagrams that the discipline forwarded in the second after the burst began. A datagram that CoDel takes
// out and drops never reaches the device.
class CallLog
{
  public:
    void Attach(Ptr<QueueDisc> disc, Ptr<NetDevice> device, double from)
    {
        m_from = Seconds(from);
        disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&CallLog::Came, this));
        device->TraceConnectWithoutContext("MacTx", MakeCallback(&CallLog::Left, this));
    }

    // Waiting times in ms, ascending.
    std::vector<double> Waits() const
    {
        auto waits = m_waits;
        std::sort(waits.begin(), waits.end());
        return waits;
    }

  private:
    void Came(Ptr<const QueueDiscItem> item)
    {
        auto packet = DynamicCast<const Ipv4QueueDiscItem>(item);
        if (packet && packet->GetHeader().GetProtocol() == UDP)
            m_came[item->GetPacket()->GetUid()] = Simulator::Now();
    }

    void Left(Ptr<const Packet> packet)
    {
        auto came = m_came.find(packet->GetUid());
        if (came == m_came.end())
            return;
        if (m_from <= Simulator::Now() && Simulator::Now() < m_from + Seconds(1))
            m_waits.push_back((Simulator::Now() - came->second).GetSeconds() * 1e3);
        m_came.erase(came);
    }

    static constexpr uint8_t UDP = 17;
    Time m_from;
    std::map<uint64_t, Time> m_came;
    std::vector<double> m_waits;
};

struct Flow
{
    Ptr<PacketSink> sink;
    uint64_t atWarmup = 0; // bytes received by then
    uint64_t received = 0;
    uint64_t bytes = 0; // that it has to send; 0: without end
    Time done;          // when it had them all
};

void
Received(Flow* flow, Ptr<const Packet> packet, const Address&)
{
    flow->received += packet->GetSize();
    if (flow->bytes > 0 && flow->received == flow->bytes)
        flow->done = Simulator::Now();
}

class Dumbbell
{
  public:
    explicit Dumbbell(const Options& o)
        : m_options(o)
    {
        m_bulk.resize(o.flows);
        m_burst.resize(o.burst ? BURST_FLOWS : 0);
        bool call = o.call.GetBitRate() > 0;
        m_senders.Create(m_bulk.size() + m_burst.size() + (call ? 1 : 0));
        m_router.Create(1);
        m_receiver.Create(1);

        InternetStackHelper stack;
        Ipv4StaticRoutingHelper routing;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.Install(NodeContainer(m_senders, m_router, m_receiver));
        BuildBottleneck();
        BuildAccess();

        for (uint32_t i = 0; i < m_bulk.size(); ++i)
            AddFlow(m_bulk[i], i, i * o.stagger / 1e3, 0);
        for (uint32_t i = 0; i < m_burst.size(); ++i)
            AddFlow(m_burst[i], m_bulk.size() + i, o.burstAt, o.burstBytes);
        if (call)
            AddCall(m_senders.GetN() - 1);
    }

    // Runs; returns the user CPU seconds that it took.
    double Run()
    {
        Simulator::Schedule(Seconds(m_options.warmup), [this] {
            for (auto& flow : m_bulk)
                flow.atWarmup = flow.received;
        });
        Simulator::Stop(Seconds(m_options.duration));
        rusage before;
        rusage after;
        getrusage(RUSAGE_SELF, &before);
        Simulator::Run();
        getrusage(RUSAGE_SELF, &after);
        auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
        return seconds(after.ru_utime) - seconds(before.ru_utime);
    }

    void Print(double cpu) const;

  private:
    void BuildBottleneck();
    void BuildAccess();
    void AddFlow(Flow& flow, uint32_t sender, double start, uint64_t bytes);
    void AddCall(uint32_t sender);
    void PrintBurst() const;
    void PrintCall() const;

    Options m_options;
    NodeContainer m_senders;
    NodeContainer m_router;
    NodeContainer m_receiver;
    Ipv4Address m_receiverAddress;
    Ptr<QueueDisc> m_disc;
    SojournLog m_sojourns;
    CallLog m_call;
    std::vector<Flow> m_bulk;
    std::vector<Flow> m_burst;
};

void
SetDefaultRoute(Ptr<Node> node, Ipv4Address gateway)
{
    Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(gateway, 1);
}

PointToPointHelper
Link(const DataRate& rate, const std::string& delay)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    return link;
}

void
Dumbbell::BuildBottleneck()
{
    auto devices = Link(m_options.rate, "19ms").Install(m_router.Get(0), m_receiver.Get(0));
    DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue()->SetMaxSize(QueueSize("1p"));

    TrafficControlHelper discipline;
    discipline.SetRootQueueDisc(DISCIPLINES.at(m_options.discipline).type,
                                "MaxSize",
                                StringValue(std::to_string(m_options.limit) + "p"));
    m_disc = discipline.Install(devices.Get(0)).Get(0);
    m_sojourns.Attach(m_disc);
    if (m_options.call.GetBitRate() > 0)
        m_call.Attach(m_disc, devices.Get(0), m_options.burstAt);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices.Get(1)); // Assign adds a default discipline
    m_receiverAddress = interfaces.GetAddress(1);
    SetDefaultRoute(m_receiver.Get(0), interfaces.GetAddress(0));
}

void
Dumbbell::BuildAccess()
{
    auto link = Link(DataRate("1Gbps"), "1ms");
    link.DisableFlowControl(); // so that Assign adds no discipline
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.252");
    for (uint32_t i = 0; i < m_senders.GetN(); ++i)
    {
        auto interfaces = addresses.Assign(link.Install(m_senders.Get(i), m_router.Get(0)));
        SetDefaultRoute(m_senders.Get(i), interfaces.GetAddress(1));
        addresses.NewNetwork();
    }
}

// A flow of `bytes` (0: without end) from a sender, beginning at `start` seconds.
void
Dumbbell::AddFlow(Flow& flow, uint32_t sender, double start, uint64_t bytes)
{
    InetSocketAddress to(m_receiverAddress, PORT + sender);
    auto source = CreateObject<BulkSendApplication>();
    source->SetAttribute("Protocol", StringValue("ns3::TcpSocketFactory"));
    source->SetAttribute("Remote", AddressValue(to));
    source->SetAttribute("MaxBytes", UintegerValue(bytes));
    source->SetAttribute("SendSize", UintegerValue(SEGMENT));
    source->SetStartTime(Seconds(start));
    m_senders.Get(sender)->AddApplication(source);

    flow.bytes = bytes;
    flow.sink = CreateObject<PacketSink>();
    flow.sink->SetAttribute("Protocol", StringValue("ns3::TcpSocketFactory"));
    flow.sink->SetAttribute("Local", AddressValue(to));
    flow.sink->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, &flow));
    m_receiver.Get(0)->AddApplication(flow.sink);
}

// Datagrams at a constant beat, which nobody listens to: they count where they leave the discipline.
void
Dumbbell::AddCall(uint32_t sender)
{
    // By name, so that the library makes it: the class is larger where logging is compiled in.
    ObjectFactory client("ns3::UdpClient");
    client.Set("RemoteAddress", AddressValue(m_receiverAddress));
    client.Set("RemotePort", UintegerValue(PORT + sender));
    client.Set("MaxPackets", UintegerValue(UINT32_MAX));
    client.Set("PacketSize", UintegerValue(DATAGRAM - UDP_HEADERS));
    client.Set("Interval", TimeValue(m_options.call.CalculateBytesTxTime(DATAGRAM)));
    auto source = client.Create<Application>();
    source->SetStartTime(Seconds(0));
    m_senders.Get(sender)->AddApplication(source);
}

double
Mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

// The smallest value that at least `share` of the ascending values do not exceed.
double
Quantile(const std::vector<double>& values, double share)
{
    return values.at(std::max<size_t>(1, std::ceil(share * values.size())) - 1);
}

void
Dumbbell::Print(double cpu) const
{
    double sum = 0;
    double squares = 0;
    for (const auto& flow : m_bulk)
    {
        double bits = 8.0 * (flow.received - flow.atWarmup);
        sum += bits;
        squares += bits * bits;
    }
    double mbps = sum / (m_options.duration - m_options.warmup) / 1e6;
    double jfi = sum * sum / (m_bulk.size() * squares);
    auto sojourns = m_sojourns.Between(m_options.warmup, m_options.duration);
    if (sojourns.empty() || sum == 0)
        Refuse("nothing was forwarded after the warmup");

    auto stats = m_disc->GetStats();
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"simulator\":\"ns-3\",\"discipline\":\"%s\",\"limit\":%u,\"control\":\"%s\","
                "\"flows\":%u,\"rate_mbps\":%g,\"stagger_ms\":%g,\"duration_s\":%g,\"warmup_s\":%g,",
                m_options.discipline.c_str(),
                m_options.limit,
                m_options.control.c_str(),
                m_options.flows,
                m_options.rate.GetBitRate() / 1e6,
                m_options.stagger,
                m_options.duration,
                m_options.warmup);
    std::printf("\"goodput_mbps\":%.3f,\"jfi\":%.4f,\"sojourn_mean_ms\":%.2f,"
                "\"sojourn_p95_ms\":%.2f,\"drops\":%u,\"forwarded\":%u,",
                mbps,
                jfi,
                Mean(sojourns),
                Quantile(sojourns, 0.95),
                stats.nTotalDroppedPackets,
                stats.nTotalSentPackets);
    PrintBurst();
    PrintCall();
    std::printf("\"events\":%lu,\"user_cpu_s\":%.3f,\"peak_memory_mb\":%.1f}\n",
                Simulator::GetEventCount(),
                cpu,
                usage.ru_maxrss / 1024.0);
}

void
Dumbbell::PrintBurst() const
{
    if (m_burst.empty())
        return;
    auto before = m_sojourns.Between(m_options.warmup, m_options.burstAt);
    auto after = m_sojourns.Between(m_options.burstAt, m_options.duration);
    if (before.empty() || after.empty())
        Refuse("nothing was forwarded before or after the burst");
    std::printf("\"burst_at_s\":%g,\"sojourn_before_ms\":%.2f,\"sojourn_peak_ms\":%.2f,\"completion_ms\":[",
                m_options.burstAt,
                Mean(before),
                after.back());
    const char* comma = "";
    for (const auto& flow : m_burst)
    {
        if (flow.done.IsZero()) // not within the duration
            std::printf("%snull", comma);
        else
            std::printf("%s%.1f", comma, (flow.done - Seconds(m_options.burstAt)).GetSeconds() * 1e3);
        comma = ",";
    }
    std::printf("],");
}

// Of the call's datagrams that left in that second: their rate, and how long they waited.
void
Dumbbell::PrintCall() const
{
    auto waits = m_call.Waits();
    if (waits.empty())
        return;
    std::printf("\"call_mbps\":%.3f,\"call_mean_ms\":%.2f,\"call_p95_ms\":%.2f,\"call_max_ms\":%.2f,",
                8e-6 * DATAGRAM * waits.size(),
                Mean(waits),
                Quantile(waits, 0.95),
                waits.back());
}

} // namespace

int
main(int argc, char** argv)
{
    Options options = Parse(argc, argv);
    ConfigureTcp(options.control);
    Dumbbell dumbbell(options);
    double cpu = dumbbell.Run();
    dumbbell.Print(cpu);
    Simulator::Destroy();
}

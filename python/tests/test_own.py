import pytest
from conftest import scenario

import analects
from analects import Refused


@analects.discipline("py_fifo")
class Fifo:
    """As pfifo."""

    def __init__(self, link, limit="100"):
        self.limit, self.packets = int(limit), []

    def enqueue(self, now, packet):
        if len(self.packets) == self.limit:
            return packet
        self.packets.append(packet)

    def dequeue(self, now):
        return self.packets.pop(0) if self.packets else None


@analects.control("py_reno")
class Reno:
    """Reno without what is subtle."""

    def __init__(self, sender, beta="0.5"):
        self.mss, self.window, self.beta = sender.mss, sender.initial_window, float(beta)
        self.threshold = float("inf")

    def on_ack(self, now, ack):
        if self.window < self.threshold:
            self.window += ack.bytes
        else:
            self.window += ack.bytes * self.mss / self.window

    def on_congestion(self, now, congestion):
        self.threshold = self.window = max(2 * self.mss, congestion.in_flight * self.beta)

    def on_timeout(self, now, in_flight):
        self.threshold, self.window = max(2 * self.mss, in_flight / 2), self.mss


def test_who_takes_a_built_in_ones_place_is_told():
    with pytest.warns(UserWarning, match="hhf takes the place of the built-in discipline"):
        analects.discipline("hhf")(Fifo)


def test_a_fifo_in_python_decides_as_the_one_in_rust(short):
    ours = analects.run(short, disciplines="py_fifo,limit=30", seeds=3).dicts()
    theirs = analects.run(short, disciplines="pfifo,limit=30", seeds=3).dicts()
    for one, other in zip(ours, theirs, strict=True):
        assert one.pop("discipline") == "py_fifo,limit=30" and other.pop("discipline") == "pfifo,limit=30"
        assert any(link["drops"] for link in one["links"])
        for link in (*one["links"], *other["links"]):
            link.pop("discipline", None)
        assert one == other


def test_a_control_in_python_fills_a_link():
    bulk = scenario(
        duration="20s", warmup="5s", traffic=[{"name": "bulk", "kind": "bulk", "control": "py_reno,beta=0.7"}]
    )
    results = analects.run(bulk, disciplines="pfifo", seeds=1)
    assert results.runs["utilization"][0] > 90


def test_marks_and_waking(short):
    @analects.discipline("py_slow")
    class Slow:
        """Marks every packet that it can, and lets one leave every ten milliseconds."""

        def __init__(self, link):
            # A class is tried once before any link is there.
            assert link.rate in (None, 5_000_000) and link.seed >= 0
            self.packets, self.next = [], 0.0

        def enqueue(self, now, packet):
            packet.mark()
            self.packets.append(packet)
            if len(self.packets) > 50:
                return [self.packets.pop(0), self.packets.pop(0)]

        def dequeue(self, now):
            if not self.packets or now < self.next:
                return None
            self.next = now + 0.01
            return self.packets.pop(0)

        def next_wake(self, now):
            return self.next if self.packets else None

    def bulk(control):
        download = scenario(traffic=[{"name": "bulk", "kind": "bulk", "control": control}])
        return analects.run(download, disciplines="py_slow", seeds=1).runs

    # A packet of 1500 bytes each 10 ms is 1.2 of 5 Mbit/s.
    assert bulk("cubic")["utilization"][0] == pytest.approx(24, abs=1)
    assert bulk("cubic")["marks"][0] == 0
    assert bulk("prague")["marks"][0] > 50


class Wrong(Exception):
    """An error of a discipline's."""


def failing(name, enqueue=None, dequeue=None):
    class Failing(Fifo):
        pass

    if enqueue:
        Failing.enqueue = enqueue
    if dequeue:
        Failing.dequeue = dequeue
    return analects.discipline(name)(Failing)


def raises(self, now, packet=None):
    raise Wrong("on purpose")


@pytest.mark.parametrize(
    ("enqueue", "dequeue", "error", "message"),
    [
        (raises, None, Wrong, "on purpose"),
        (None, raises, Wrong, "on purpose"),
        (lambda self, now, packet: 7, None, TypeError, "expected a packet, found 7"),
        (None, lambda self, now: 7, TypeError, "expected a packet, found 7"),
        (None, lambda self, now: None, ValueError, "packets wait"),
        (None, lambda self, now: self.packets[0] if self.packets else None, ValueError, "does not wait here"),
    ],
)
def test_what_a_discipline_does_wrong_is_raised(short, enqueue, dequeue, error, message):
    failing("py_failing", enqueue, dequeue)
    with pytest.raises(error, match=message) as caught:
        analects.run(short, disciplines=["pfifo", "py_failing"], seeds=2)
    assert "of a discipline at " in caught.value.__notes__[0]
    # The next run is none of its.
    analects.run(short, disciplines="pfifo", seeds=1)


def test_what_a_control_does_wrong_is_raised():
    class Wild(Reno):
        def on_ack(self, now, ack):
            self.window = float("nan")

    analects.control("py_wild")(Wild)
    bulk = scenario(traffic=[{"name": "bulk", "kind": "bulk", "control": "py_wild"}])
    with pytest.raises(ValueError, match="window is NaN"):
        analects.run(bulk, seeds=1)


def test_settings_and_classes_that_are_wrong(short, tmp_path):
    with pytest.raises(Refused, match="unexpected keyword argument 'lemit'"):
        analects.run(short, disciplines="py_fifo,lemit=3")
    with pytest.raises(Refused, match="no method dequeue"):
        analects.discipline("py_half")(type("Half", (), {"enqueue": raises}))
    with pytest.raises(Refused, match="is no name"):
        analects.discipline("3,4")
    with pytest.raises(Refused, match="cannot tell its versions apart"):
        analects.run(short, disciplines="py_fifo", store=tmp_path)
    assert "py_fifo" in analects.disciplines().index

#!/usr/bin/env python3
"""The queue discipline Mencius: reads a trace from standard input, prints the decisions.

Comments name the rules of the draft, such as R5.3.
"""
import sys
from collections import OrderedDict, deque

US = 1000
MS = 1000 * US
S = 1000 * MS
TIME_MAX = 2**64 - 1                                    # R2.1
WORD = 2**32                                            # numbers of 32 bits stay below this
FULL_PACKET = 1514                                      # R2.3
SILENCE = 250 * MS                                      # R2.9
KB64 = 65536                                            # R2.10
KB256 = 262144
EIGHT_PACKETS = 8 * FULL_PACKET                         # R10.13

IDLE, SETTLED, OTHER = range(3)                     # standings, R9.6
FLOW, OTHERS, LINK = range(3)                           # causes, R9.7
FIRST, SPARSE = range(2)                                # kinds of packets that go first, R7.6
HOSTS_DESTINATION, HOSTS_SOURCE = 1, 2                  # others are none, R4.17
ATM, PTM = 1, 2                                         # others are noatm, R13.2


def elapsed(a, b):
    """The time from a to b (R2.1)."""
    return b - a if b > a else 0


def later(time, span):
    """The time that is a span after another one (R2.1)."""
    return min(time + span, TIME_MAX)


def clamp(value, low, high):
    """The value, but at least low and at most high (R2.2)."""
    return low if value < low else high if value > high else value


def first_of(members):
    """The front of a list (R2.4)."""
    return next(iter(members))


class Packet:
    """A packet that waits."""
    __slots__ = ("number", "time", "length", "memory", "ecn", "flow")

    def __init__(self, number, time, length, memory, ecn):
        self.number = number
        self.time = time
        self.length = length
        self.memory = max(memory, length)               # R12.1
        self.ecn = ecn
        self.flow = None

    def wait(self, now):
        """The time since the packet arrived (R2.8)."""
        return elapsed(self.time, now)


# Section 3

class Parameters:
    """The parameters, with times in ns (R3.1)."""

    def __init__(self, words):
        (self.limit, self.memory_limit, self.flows, self.hosts, self.quantum, target, interval, self.ecn,
         min_wait, max_wait, rise, doubling, self.settled_share, self.rate, self.overhead, self.mpu, self.framing,
         self.ingress) = map(int, words)
        self.target = target * US
        self.interval = interval * US
        self.min_wait = min_wait * US
        self.max_wait = max_wait * US
        self.rise = rise * US
        self.doubling = doubling * US


# Sections 4 and 5: what tables and turns know of flows and hosts

class Member:
    """A place for a flow or a host: an entry of a table, a member of turns and of a list by size."""

    def __init__(self, guests):
        self.guests = guests
        self.hash = 0
        self.in_use = False
        self.activity = 0                               # R4.6
        self.deficit = 0                                # R5.2
        self.round = WORD - 1
        self.place = None                               # the list of turns that it is in; None is idle
        self.seen = False                               # whether it ever had a packet
        self.packets = 0
        self.bytes = 0
        self.size_class = None                          # R12.4


class Row:
    """A set of a table: eight entries and a place for guests (R4.3, R4.5)."""

    def __init__(self, make):
        self.entries = [make(False) for _ in range(8)]
        self.guests = make(True)

    def find(self, hash):
        """The entry in use that has this hash, or None (R4.4)."""
        for entry in self.entries:
            if entry.in_use and entry.hash == hash:
                return entry
        return None

    def free(self):
        """The free entry with the lowest number, or None."""
        for entry in self.entries:
            if not entry.in_use:
                return entry
        return None


class Table:
    """A table of flows or of hosts."""

    def __init__(self, size, make):
        self.rows = [None] * ((size + 7) // 8)          # R4.1, R4.2
        self.make = make
        self.order = OrderedDict()                      # by activity, R4.6

    def row(self, hash):
        """The set that a hash selects (R4.3)."""
        i = hash * len(self.rows) >> 32
        if self.rows[i] is None:
            self.rows[i] = Row(self.make)
        return self.rows[i]

    def use(self, entry, hash, now):
        """An entry comes into use (R4.6)."""
        entry.in_use = True
        entry.hash = hash
        entry.activity = now
        self.order[entry] = None

    def touch(self, entry, now):
        """An entry is active (R4.6)."""
        entry.activity = now
        self.order.move_to_end(entry)

    def forget(self, entry):
        """An entry is in use no more (R4.6)."""
        entry.in_use = False
        del self.order[entry]
        entry.forgotten()

    def forget_idle(self, span, now, forget):
        """Forgets entries that were not active for a span and are idle (R4.24)."""
        for _ in range(8):
            if not self.order:
                return
            entry = first_of(self.order)
            if elapsed(entry.activity, now) < span:
                return
            if entry.place is None:
                forget(entry)
            else:
                self.touch(entry, now)


# Section 5

class Turns:
    """The turns of members."""

    def __init__(self):
        self.returning = OrderedDict()                  # R5.1
        self.returned = OrderedDict()
        self.new = OrderedDict()
        self.old = [OrderedDict() for _ in range(64)]
        self.olds = 0
        self.current = 0
        self.credit = KB64
        self.turn = None                                # the list whose turn it is; None is that of old ones

    def introduce(self, member):
        """An idle member is made known (R5.3)."""
        member.seen = False
        member.deficit = 0
        member.round = (self.current - 1) % WORD

    def append_old(self, member):
        """Puts a member at the end of the old ones of its round."""
        member.place = self.old[member.round % 64]
        member.place[member] = None
        self.olds += 1

    def take_out(self, member):
        """Takes a member out of its list, so that it is idle."""
        del member.place[member]
        if not any(member.place is place for place in (self.returning, self.returned, self.new)):
            self.olds -= 1
        member.place = None

    def join(self, member, quantum):
        """A packet was put into the queue of a member (R5.4)."""
        if member.place is not None:
            return
        ahead = (member.round - self.current) % WORD
        if member.seen and 1 <= ahead < 64:
            self.append_old(member)
            return
        if not member.seen or ahead > 0:
            member.deficit = quantum
        member.place = self.returning if member.seen else self.new
        member.place[member] = None
        member.seen = True

    def head(self):
        """Finds the head (R5.5)."""
        self.turn = None
        if self.returning:
            self.turn = self.returning
        elif self.returned:
            self.turn = self.returned
        elif self.new and (self.credit > 0 or not self.olds):
            self.turn = self.new
        if self.turn is not None:
            return first_of(self.turn)
        while not self.old[self.current % 64]:
            self.current = (self.current + 1) % WORD
        return first_of(self.old[self.current % 64])

    def next(self, quantum):
        """Finds the next member (R5.6)."""
        for _ in range(16):
            head = self.head()
            if head.deficit > 0:
                return head
            self.take_out(head)
            self.pay(head, quantum)
            self.append_old(head)
        head = self.head()
        head.deficit = quantum
        return head

    def pay(self, member, quantum):
        """A member gets the round in which its deficit is positive again (R5.7)."""
        paid = self.paid(member)
        k = min(-member.deficit // quantum + 1, 63 - paid)
        member.deficit += k * quantum
        member.round = (self.current + paid + k) % WORD

    def paid(self, member):
        """The rounds from the current one to that of a member (R5.7)."""
        ahead = (member.round - self.current) % WORD
        return ahead if ahead < 64 else 0

    def debt(self, member, quantum):
        """The bytes that a member has sent before its turns (R5.11)."""
        return max(self.paid(member) * quantum - member.deficit, 0)

    def sent(self, member, length):
        """The next member has sent a packet (R5.8)."""
        owe(member, length)
        if self.turn is None:
            self.credit = min(self.credit + length, KB64)
        elif self.turn is self.new and self.olds:
            self.credit = max(self.credit - length, -KB64)
        elif member.deficit > 0 and self.turn is not self.new:
            self.take_out(member)
            member.place = self.returned
            member.place[member] = None

    def became_empty(self, member, quantum):
        """A member has become empty (R5.9)."""
        self.take_out(member)
        if not self.olds and not self.new:
            self.current = (self.current + 64) % WORD
            member.round = (self.current - 1) % WORD
        elif member.deficit > 0:
            member.round = (self.current + self.paid(member)) % WORD
        else:
            self.pay(member, quantum)


def owe(member, length):
    """Subtracts a length from the deficit of a member (R5.2)."""
    member.deficit = max(member.deficit - length, -2**31)


# Section 6

ROOTS = (4294967295, 4294967295, 3037000500, 2479700525, 2147483647, 1920767767, 1753413056, 1623345051,
         1518500250, 1431655765, 1358187914, 1294981364, 1239850263, 1191209601, 1147878294, 1108955788)


class Law:
    """When the packets of a flow are marked or dropped (R6.1)."""

    def __init__(self):
        self.count = 0
        self.next = 0
        self.late = False
        self.root = WORD - 1

    def step(self, interval):
        """The time to the next mark or drop (R6.2)."""
        return interval * self.root >> 32

    def set_count(self, count):
        """The count becomes another one, and so the root does (R6.3, R6.4)."""
        self.count = count
        if count < 16:
            self.root = ROOTS[count]
        else:
            s = self.root * self.root >> 32
            f = max(3 * WORD - count * s, 0)
            self.root = ((f // 4) * self.root >> 31) % WORD

    def strikes(self, late, interval, now):
        """Judges a packet: whether it is to be marked or dropped."""
        if late and not self.late:                      # R6.7
            self.next = later(now, self.step(interval))
            self.count = max(self.count, 1)
        self.late = late
        if not late:                                    # R6.8
            for _ in range(32):
                if self.count == 0 or self.next > now:
                    break
                self.set_count(self.count - 1)
                self.next = later(self.next, self.step(interval))
            return False
        if self.next > now:                             # R6.9
            return False
        if self.count < WORD - 1:
            self.set_count(self.count + 1)
        self.next = later(self.next, self.step(interval))
        return True


# Section 7

class GoFirst:
    """The lists and credits of packets that go first."""

    def __init__(self):
        self.lists = (OrderedDict(), OrderedDict())     # R7.6
        self.credits = [3028, 3028]                     # R7.8

    def arrives(self, flow, length, pause, may):
        """A packet is about to be put into the queue of a flow (R7.2 to R7.6)."""
        if pause > SILENCE:                             # R7.2
            flow.come = flow.bucket = 0
        flow.come = min(flow.come + length, WORD - 1)
        if flow.come <= 1024:                           # R7.3
            kind = FIRST
        else:                                           # R7.4
            flow.bucket = max(flow.bucket - (pause >> 16), 0)
            if length > 1024 or length > 2048 - flow.bucket:
                return
            flow.bucket += length
            kind = SPARSE
        if not may or flow.go_first != flow.packets:    # R7.5
            return
        if flow.packets == 0:                           # R7.6
            flow.kind = kind
            self.lists[kind][flow] = None
        flow.go_first += 1

    def left(self, flow, packets):
        """Packets have left the queue of a flow (R7.7)."""
        if flow.go_first:
            flow.go_first = max(flow.go_first - packets, 0)
            if flow.go_first == 0:
                del self.lists[flow.kind][flow]

    def chosen(self):
        """The kind whose flow sends before all others, or None (R7.9)."""
        for kind in (FIRST, SPARSE):
            if self.credits[kind] > 0 and self.lists[kind]:
                return kind
        return None

    def account(self, length, kind):
        """A packet leaves that was chosen as one of a kind, or as none (R7.8)."""
        self.credits[FIRST] = min(self.credits[FIRST] + length // 16, 3028)
        self.credits[SPARSE] = min(self.credits[SPARSE] + length // 4, 3028)
        if kind is not None:
            self.credits[kind] -= length


# Section 8

class Pace:
    """The time that a full packet takes, and what follows from it."""

    def __init__(self, parameters):
        self.kept = None                                # time and length, R8.1
        self.times = 0
        self.bytes = 0
        self.full = 0
        self.evaluate(parameters)

    def packet_left(self, length, others_wait, now):
        """A packet left (R8.2); returns whether the time of a full packet was found (R8.3)."""
        if self.kept is not None and elapsed(self.kept[0], now) <= 200 * MS:
            self.bytes += self.kept[1]
            self.times += elapsed(self.kept[0], now)
        self.kept = (now, length) if others_wait else None
        if self.bytes < 24224:
            return False
        t = self.times * FULL_PACKET // self.bytes
        self.full = (self.full + t) // 2
        self.times = self.bytes = 0
        return True

    def evaluate(self, parameters):
        """Finds minimum, maximum, plain, patient and spared (R8.6)."""
        self.minimum = max(parameters.min_wait, 8 * self.full)                           # R8.4
        self.slow = self.minimum > parameters.min_wait
        self.maximum = max(parameters.max_wait, parameters.min_wait) + self.minimum - parameters.min_wait    # R8.5
        self.plain = max(parameters.target, 4 * self.full)                      # R6.6
        least = 0 if parameters.ingress else parameters.min_wait
        self.patient = max(self.plain, least, 8 * self.full)
        self.spared = 5 * self.maximum // 4
        self.step = max(MS, 2 * self.full)                                      # R6.13

    def time(self, bytes):
        """The time of some bytes (R8.7)."""
        return self.full * bytes // FULL_PACKET


# Section 9, and what a flow keeps

class Flow(Member):
    """A flow, or all guests of a place."""

    def __init__(self, guests):
        super().__init__(guests)
        self.queue = deque()
        self.host = None
        self.term = 0
        self.standing = IDLE
        self.begin_values(0)

    def begin_values(self, now):
        """Values that a flow has when it begins."""
        self.law = Law()                                # R6.1
        self.come = 0                                   # R7.1
        self.bucket = 0
        self.go_first = 0
        self.kind = FIRST
        self.since = self.below = self.last = now       # R9.2
        self.provisional = False                        # R4.22
        self.looked_up = 0
        self.looked_up_at = 0

    def begin(self, host, now):
        """A flow begins in this place (R4.9)."""
        self.begin_values(now)
        self.become_of(host)

    def become_of(self, host):
        """The flow is a host's from now on (R4.9, R4.23)."""
        self.host = host
        self.term = host.term
        host.turns.introduce(self)

    def has_host(self):
        """Whether its host was not forgotten (R4.8)."""
        return self.host.term == self.term

    def look_up_done(self, provisional, now):
        """Notes a look-up of the host (R4.22)."""
        self.provisional = provisional
        self.looked_up = min(self.looked_up + 1, 8)
        self.looked_up_at = now

    def forgotten(self):
        """Nothing more is to do when a flow is forgotten."""

    def wait(self, now):
        """The wait of its oldest packet (R2.8)."""
        return self.queue[0].wait(now)

    def silent(self, now):
        """Whether it is silent (R2.9)."""
        return elapsed(self.last, now) > SILENCE

    def has_settled(self, now):
        """Whether it has kept its queue short for a second (R9.2)."""
        return elapsed(self.since, now) >= S

    def settled(self, now):
        """Whether it is settled (R9.1)."""
        return not self.guests and self.has_settled(now)

    def keeps_place(self, part, newcomer, now):
        """Whether it keeps its place in a full set for a flow of a host, where a host's part is so many (R4.14)."""
        within = self.host is newcomer or self.host.known <= part
        return self.packets > 0 or self.has_settled(now) and not self.silent(now) and within

    def packet_came(self, now):
        """A packet is put into its queue (R9.3)."""
        if self.silent(now):
            self.since = max(self.since, now)
            self.below = now
        self.last = now

    def packet_leaves(self, wait, cause, pace, now):
        """A packet leaves (R9.4)."""
        if cause == FLOW:
            mark, patience = pace.minimum, 200 * MS
        elif cause == OTHERS:
            mark, patience = pace.maximum, 3 * S
        else:
            mark, patience = pace.minimum, 3 * S
        if wait <= mark:
            self.below = now
        if elapsed(self.below, now) > patience or cause == FLOW and wait > pace.maximum:
            self.since = max(self.since, now)

    def told(self, now):
        """Packets of it were marked or dropped (R9.5)."""
        self.since = later(now, 4 * S)


# Section 10

class Hold:
    """A hold, within a host or between hosts (R10.1)."""

    def __init__(self, between, now):
        self.between = between
        self.on = False
        self.yields = False
        self.waited = self.born = self.aged = self.rising = now
        self.age = 0
        self.entitled = KB64
        self.ahead = 0
        self.edge = 256

    def examine(self, wait, rests, own, others, pace, parameters, now):
        """The examination: whether the examined flow goes before others."""
        holds = wait >= pace.minimum and not rests          # R10.9
        if holds:
            if not self.on:
                self.on = True
                self.ahead = 0
                self.aged = now
                self.yields = False
            self.waited = now
        elif elapsed(self.waited, now) > 200 * MS:
            self.on = False
        time = elapsed(self.aged, now)                  # R10.10
        self.age = clamp(self.age + time if self.on and self.yields else self.age - time, 0, 30 * S)
        self.aged = now
        if not holds:                                   # R10.11
            return False
        if self.entitled > 0:
            return True
        if elapsed(self.born, now) <= S:
            self.yields = True
        others, own = max(others, 1), max(own, 1)
        self.edge = 192 * others // own if self.between else min(256 * others // own, 160)
        if self.share(parameters) >= self.edge:
            self.yields = False
        if self.ahead > KB64:
            return False
        t = elapsed(self.rising, now)
        if t > parameters.rise + 150 * MS:
            self.rising = now
            return True
        return wait >= pace.minimum + (pace.maximum - pace.minimum) * min(t, parameters.rise) // parameters.rise

    def share(self, parameters):
        """The least share of others (R10.12)."""
        d = 256 * self.age // parameters.doubling
        w = min(d // 256, 20)
        p = d % 256
        return 16 * 2**w * (256 + p) // 256

    def account(self, length, settled, parameters):
        """A packet leaves (R10.16, R10.17)."""
        q = 0 if self.between else parameters.settled_share
        self.entitled = clamp(self.entitled + length * q // 256 - (length if settled else 0), -FULL_PACKET, KB64)
        if self.on:
            if settled:
                ahead = self.ahead + length * (self.share(parameters) if self.yields else self.edge) // 256
            else:
                ahead = self.ahead - length
            self.ahead = clamp(ahead, -KB64, KB256)


class Host(Member):
    """A host, or all guests of a set of hosts."""

    def __init__(self, guests):
        super().__init__(guests)
        self.term = 0                                   # R4.8
        self.listed = OrderedDict()                     # R10.2
        self.guest_flows = Flow(True)                   # R4.5
        self.standings = [0, 0, 0]                      # counts of flows, R10.3

    def begin(self, turns_of_hosts, now):
        """A host begins in this place (R4.10)."""
        self.turns = Turns()
        self.hold = Hold(False, now)
        self.listed = OrderedDict()                     # R10.2
        self.known = 0                                  # R4.14
        self.allowance = 2 * S                             # R10.14
        self.allowance_time = now
        self.sizes = Sizes()
        turns_of_hosts.introduce(self)
        self.guest_flows.begin(self, now)

    def forgotten(self):
        """The host is forgotten (R4.8)."""
        self.term = (self.term + 1) % WORD

    def find_favour(self, now):
        """Finds the allowance anew (R10.14)."""
        self.allowance = min(self.allowance + elapsed(self.allowance_time, now) // 16, 2 * S)
        self.allowance_time = now

    def has_allowance(self, now):
        """Whether allowance is left (R10.14)."""
        self.find_favour(now)
        return self.allowance > 0


# Section 12

class Sizes:
    """Members by the class of their size."""

    def __init__(self):
        self.lists = [OrderedDict() for _ in range(16)]

    def update(self, member):
        """Puts a member into the list of its class (R12.4, R12.5)."""
        size = member.bytes + 256 * member.packets
        size_class = clamp(size.bit_length() - 11, 0, 15) if size else None
        if size_class == member.size_class:
            return
        if member.size_class is not None:
            del self.lists[member.size_class][member]
        if size_class is not None:
            self.lists[size_class][member] = None
        member.size_class = size_class

    def largest(self):
        """The first member of the highest class that has any (R12.6)."""
        return first_of(next(members for members in reversed(self.lists) if members))


# Section 13

class Shaper:
    """The shaper."""

    def __init__(self, parameters):
        self.due = 0                                    # R13.4
        self.failsafe = 0
        self.set_rate(parameters.rate)

    def set_rate(self, rate):
        """Finds the pace of the shaper (R13.3)."""
        self.limited = rate > 0
        if not self.limited:
            return
        self.p = (S << 34) // max(rate, 64)
        self.s = 34
        while self.p >= WORD:
            self.p //= 2
            self.s -= 1

    def time(self, bytes):
        """The time of some bytes on the link (R13.3)."""
        return self.p * bytes >> self.s

    def time_of_packet(self, packet, parameters):
        """The time of a packet on the link (R13.2)."""
        bytes = max(packet.length + parameters.overhead, parameters.mpu)
        if parameters.framing == ATM:
            bytes = (bytes + 47) // 48 * 53
        elif parameters.framing == PTM:
            bytes += (bytes + 63) // 64
        return self.time(min(bytes, WORD - 1))

    def arrives_at_empty(self, now):
        """A packet arrives and none waits (R13.5)."""
        if self.limited and self.due < now:
            self.due = self.failsafe = now

    def until(self):
        """The time before which no packet may leave (R13.6)."""
        return min(self.due, self.failsafe) if self.limited else 0

    def may_leave(self, now):
        """A packet may leave (R13.7)."""
        if self.limited:
            least = max(now - 10 * MS, 0)
            self.due = max(self.due, least)
            self.failsafe = max(self.failsafe, least)

    def leaves(self, packet, dropped, parameters):
        """A packet leaves after others were dropped (R13.8, R6.12)."""
        if not self.limited:
            return
        if parameters.ingress:
            for drop in dropped:
                self.due = later(self.due, self.time_of_packet(drop, parameters))
        time = self.time_of_packet(packet, parameters)
        self.due = later(self.due, time)
        self.failsafe = later(self.failsafe, time + time // 2)

    def change_rate(self, rate, now):
        """The bandwidth becomes another one (R13.9)."""
        self.set_rate(rate)
        latest = later(now, self.time(FULL_PACKET)) if self.limited else now
        self.due = clamp(self.due, now, latest)
        self.failsafe = clamp(self.failsafe, now, latest)


# Sections 4, 11, 12 and 14

class Mencius:
    """The queue discipline; say is called with each decision."""

    def __init__(self, parameters, say):                # R14.3
        self.parameters = parameters
        self.say = say
        self.flows = Table(parameters.flows, Flow)
        self.hosts = Table(parameters.flows // 8, Host)
        self.turns = Turns()
        self.go_first = GoFirst()
        self.pace = Pace(parameters)
        self.hold = Hold(True, 0)
        self.calm_hosts = OrderedDict()                 # R10.2
        self.before_turns = 0                           # R10.13
        self.standings = [0, 0, 0]                      # counts of hosts, R10.3
        self.sizes = Sizes()
        self.shaper = Shaper(parameters)
        self.packets = 0
        self.bytes = 0
        self.memory = 0

    # Section 4: the flow of a packet

    def find_flow(self, hash, host_hash, provisional, now):
        """The flow of a packet that arrives."""
        row = self.flows.row(hash)
        flow = row.find(hash)
        if flow is not None:
            if flow.has_host():                         # R4.11
                self.look_up_host_again(flow, host_hash, provisional, now)
                self.flows.touch(flow, now)
                self.hosts.touch(flow.host, now)
                return flow
            self.forget_flow(flow)                      # R4.12
        host = self.find_host(host_hash, now)           # R4.13
        if row.guests.packets and row.guests.host is host:
            return row.guests
        if host.guest_flows.packets:
            return host.guest_flows
        host.hold.born = self.hold.born = now           # R4.16
        flow = row.free()
        if flow is None:
            part = 8 * len(self.flows.rows) // (len(self.hosts.order) + 1)      # R4.14
            flow = self.least_active([entry for entry in row.entries if not entry.keeps_place(part, host, now)])
            if flow is not None:
                self.forget_flow(flow)
        if flow is not None:                            # R4.15
            self.flows.use(flow, hash, now)
            host.known += 1
            flow.begin(host, now)
            flow.look_up_done(provisional, now)
            return flow
        if not row.guests.packets:
            row.guests.begin(host, now)
            return row.guests
        return host.guest_flows

    def forget_flow(self, flow):
        """A flow is forgotten (R4.6); its host knows one less (R4.14)."""
        if flow.has_host():
            flow.host.known -= 1
        self.flows.forget(flow)

    def least_active(self, entries):
        """The entry with the earliest time of activity, or None (R4.14, R4.19)."""
        return min(entries, key=lambda entry: entry.activity, default=None)

    def find_host(self, hash, now):
        """The host of a packet with this hash of its address."""
        row = self.hosts.row(hash)
        host = row.find(hash)
        if host is not None:                            # R4.18
            self.hosts.touch(host, now)
            return host
        guests = row.guests
        if not guests.packets:
            host = row.free()
            if host is None:                            # R4.19
                host = self.least_active([entry for entry in row.entries
                                          if not entry.packets and elapsed(entry.activity, now) > SILENCE])
                if host is not None:
                    self.hosts.forget(host)
            if host is not None:                        # R4.20
                self.hosts.use(host, hash, now)
                host.begin(self.turns, now)
                return host
        if guests.in_use:
            self.hosts.touch(guests, now)
        else:
            self.hosts.use(guests, 0, now)
            guests.begin(self.turns, now)
        return guests

    def look_up_host_again(self, flow, host_hash, provisional, now):
        """Looks the host of a flow up again if that is due (R4.23)."""
        if not flow.provisional or flow.packets:
            return
        if flow.looked_up >= 8 and elapsed(flow.looked_up_at, now) < 250 * MS:
            return
        host = self.find_host(host_hash, now)
        flow.look_up_done(provisional, now)
        if host is not flow.host or not flow.has_host():
            if flow.has_host():
                flow.host.known -= 1
            host.known += 1
            flow.become_of(host)

    # Section 9: standing and cause

    def find_standing(self, flow, now):
        """Finds the standing of a flow anew (R9.6), and counts it (R10.3)."""
        standing = IDLE if not flow.packets else SETTLED if flow.settled(now) else OTHER
        if standing == flow.standing:
            return
        counts = flow.host.standings
        if flow.standing != IDLE:
            counts[flow.standing] -= 1
            if counts[flow.standing] == 0:
                self.standings[flow.standing] -= 1
        if standing != IDLE:
            if counts[standing] == 0:
                self.standings[standing] += 1
            counts[standing] += 1
        flow.standing = standing

    def cause(self, flow):
        """The cause of the wait of a flow (R9.7)."""
        if flow.standing != SETTLED:
            return FLOW
        if flow.host.hold.on or self.hold.on:
            return OTHERS
        return LINK if flow.packets == self.packets else FLOW

    # Section 10: which packet is examined

    def unlist(self, packet):
        """Takes a packet out of the list of its host (R10.2)."""
        packet.flow.host.listed.pop(packet, None)

    def examined_flow(self, host):
        """The examined flow of a host, or None (R10.4)."""
        for _ in range(16):
            if not host.listed:
                return None
            packet = first_of(host.listed)
            if packet.flow.standing == SETTLED:
                return packet.flow
            self.unlist(packet)
        return None

    def examined_between(self, now):
        """The examined flow between hosts, or None (R10.5)."""
        found = None
        for _ in range(4):
            if not self.calm_hosts:
                break
            host = first_of(self.calm_hosts)
            flow = self.examined_flow(host)
            del self.calm_hosts[host]
            if host.listed:
                self.calm_hosts[host] = None
            if flow is not None:
                found = flow
                if flow.wait(now) >= self.pace.minimum:
                    break
        return found

    def for_other_hosts(self, now):
        """The flow that other hosts are held back for, or None."""
        flow = self.examined_between(now)
        if flow is None:                                # R10.6
            return None
        rests = self.standings[OTHER] == (flow.host.standings[OTHER] > 0)       # R10.8
        before = self.hold.examine(flow.wait(now), rests, self.standings[SETTLED], self.standings[OTHER],
                                   self.pace, self.parameters, now)
        return flow if before else None

    def for_other_flows(self, host, now):
        """The flow that others of its host are held back for, or None."""
        flow = self.examined_flow(host)
        if flow is None:                                # R10.6
            return None
        rests = host.standings[OTHER] == 0              # R10.8
        before = host.hold.examine(flow.wait(now), rests, host.standings[SETTLED], host.standings[OTHER],
                                   self.pace, self.parameters, now)
        return flow if before else None

    def stands(self, flow, least, now):
        """Whether a flow stands, whose turn may be lent (R11.2)."""
        return flow.standing != SETTLED and flow.wait(now) >= least

    def may_owe(self, host):
        """Whether packets of a host may go before its turns (R10.13)."""
        return self.turns.debt(host, self.parameters.quantum) < EIGHT_PACKETS

    def lends(self, host, other, now):
        """How a host lends its turn to another one, or None (R11.3)."""
        if self.pace.slow:
            return "turn"
        if self.before_turns < EIGHT_PACKETS and self.may_owe(other):
            return "passage"
        return "allowance" if host.has_allowance(now) else None

    def turn_used(self, host, length):
        """A packet left in the turn of a host (R11.4)."""
        self.turns.sent(host, length)
        self.before_turns = max(self.before_turns - length, 0)

    def account(self, flow, length):
        """The holds account for a packet (R10.15)."""
        settled = flow.standing == SETTLED
        if not settled or flow.host.standings[OTHER]:
            flow.host.hold.account(length, settled, self.parameters)
        self.hold.account(length, settled, self.parameters)

    # Section 6: the packets of a flow are taken and judged

    def target(self, flow, cause, now):
        """The wait above which packets are late, or None if none is (R6.6)."""
        pace = self.pace
        if flow.standing != SETTLED:
            return pace.plain
        if cause == LINK and not self.parameters.ingress:
            return max(pace.patient, 250 * MS)
        if cause == OTHERS and flow.wait(now) < pace.spared:
            return None
        return pace.patient

    def take(self, flow):
        """Takes the oldest packet of a flow out of the queue."""
        packet = flow.queue.popleft()
        self.unlist(packet)
        for place in (flow, flow.host, self):
            place.packets -= 1
            place.bytes -= packet.length
        self.memory -= packet.memory
        return packet

    def take_and_judge(self, flow, cause, now):
        """Takes packets until one leaves; returns it, those dropped, and whether senders were told."""
        parameters = self.parameters
        target = self.target(flow, cause, now)
        dropped = []
        while True:
            packet = self.take(flow)
            if len(dropped) == 32:                      # R6.11
                return packet, dropped, True
            wait = packet.wait(now)
            late = target is not None and wait > target and flow.bytes > FULL_PACKET    # R6.5
            may_mark = parameters.ecn and (target is None or wait <= max(self.pace.spared, 2 * target))
            stepped = may_mark and packet.ecn == 1 and flow.bytes > FULL_PACKET and wait > self.pace.step    # R6.13
            if stepped:
                self.say("mark %d" % packet.number)
            if not flow.law.strikes(late, parameters.interval, now):
                return packet, dropped, bool(dropped)
            if may_mark and packet.ecn:                 # R6.10
                flow.law.next = max(flow.law.next, now)
                if not stepped:
                    self.say("mark %d" % packet.number)
                return packet, dropped, True
            self.say("drop %d congestion" % packet.number)
            dropped.append(packet)

    # Section 11

    def leave(self, now):
        """Chooses a packet and takes it (R11.1); returns it and those dropped before it."""
        parameters = self.parameters
        kind = self.go_first.chosen()
        host = turn = lends = None
        if kind is not None:
            flow = first_of(self.go_first.lists[kind])
        else:
            other = self.for_other_hosts(now)
            host = self.turns.next(parameters.quantum)
            flow = self.for_other_flows(host, now)
            turn = host.turns.next(parameters.quantum)
            if flow is None or not self.stands(turn, self.pace.minimum // 4, now):
                flow = turn
            if other is not None and other.host is not host and self.stands(flow, self.pace.minimum, now):
                lends = self.lends(host, other.host, now)
                if lends is not None:
                    flow = other
        cause = self.cause(flow)                        # R11.6
        packet, dropped, told = self.take_and_judge(flow, cause, now)
        if told and cause != OTHERS:
            flow.told(now)
        flow.packet_leaves(packet.wait(now), cause, self.pace, now)
        self.account(flow, packet.length)
        self.go_first.left(flow, len(dropped) + 1)
        self.update_sizes(flow)
        self.find_standing(flow, now)
        hosts = self.standings[SETTLED] + self.standings[OTHER]
        if kind is not None:                            # R7.10
            owe(flow, packet.length)
            owe(flow.host, packet.length)
        elif lends == "passage":                        # R11.4
            self.before_turns += packet.length
            owe(flow.host, packet.length)
        else:
            self.turn_used(host, packet.length)
            if lends == "allowance":
                host.find_favour(now)
                host.allowance -= self.pace.time(packet.length) * hosts
            if lends is None:
                host.turns.sent(turn, packet.length)
        self.go_first.account(packet.length, kind)
        return packet, dropped

    # Section 12

    def update_sizes(self, flow):
        """The sizes of a flow and of its host have changed (R12.5)."""
        flow.host.sizes.update(flow)
        self.sizes.update(flow.host)

    def has_room(self, packets, memory):
        """Whether so many packets more, of so much memory, have room (R12.1)."""
        return (self.packets + packets <= self.parameters.limit
                and self.memory + memory <= self.parameters.memory_limit)

    def make_room(self, packet, now):
        """Makes room for a packet that arrives; returns whether there is room (R12.2)."""
        if packet.memory > self.parameters.memory_limit:
            return False
        for _ in range(8):
            if self.has_room(1, packet.memory):
                return True
            self.drop_oldest_of_longest("overlimit", now)
        return self.has_room(1, packet.memory)

    def drop_oldest_of_longest(self, reason, now):
        """Drops the oldest packet of the longest flow of the most backlogged host (R12.3)."""
        flow = self.sizes.largest().sizes.largest()
        packet = self.take(flow)
        self.say("drop %d %s" % (packet.number, reason))
        flow.told(now)
        self.go_first.left(flow, 1)
        self.update_sizes(flow)
        self.find_standing(flow, now)
        self.become_empty(flow)

    def become_empty(self, flow):
        """A flow, and then its host, leave their turns if they are empty (R5.9, R5.10)."""
        if not flow.packets:
            flow.host.turns.became_empty(flow, self.parameters.quantum)
        if not flow.host.packets:
            self.turns.became_empty(flow.host, self.parameters.quantum)

    # Section 14

    def arrive(self, packet, hash, source, destination, provisional, now):
        """A packet arrives (R14.1)."""
        if self.packets == 0:
            self.shaper.arrives_at_empty(now)
        self.flows.forget_idle(5 * S, now, self.forget_flow)    # R4.24
        self.hosts.forget_idle(20 * S, now, self.hosts.forget)
        hosts = self.parameters.hosts                   # R4.17
        host_hash = source if hosts == HOSTS_SOURCE else destination if hosts == HOSTS_DESTINATION else 0
        flow = self.find_flow(hash, host_hash, provisional, now)
        if not self.make_room(packet, now):
            self.say("drop %d tail" % packet.number)
            return
        pause = elapsed(flow.last, now)                 # R7.2
        flow.packet_came(now)
        settled = flow.settled(now)
        self.go_first.arrives(flow, packet.length, pause, self.may_owe(flow.host))
        packet.flow = flow
        flow.queue.append(packet)
        for place in (flow, flow.host, self):
            place.packets += 1
            place.bytes += packet.length
        self.memory += packet.memory
        if settled:                                 # R10.2
            flow.host.listed[packet] = None
            self.calm_hosts.setdefault(flow.host)
        self.update_sizes(flow)
        self.find_standing(flow, now)
        flow.host.turns.join(flow, self.parameters.quantum)
        self.turns.join(flow.host, self.parameters.quantum)

    def request(self, now):
        """The link asks for a packet (R14.2)."""
        if self.packets == 0:
            return
        until = self.shaper.until()
        if until > now:
            self.say("wait %d" % until)
            return
        self.shaper.may_leave(now)
        packet, dropped = self.leave(now)
        self.shaper.leaves(packet, dropped, self.parameters)
        self.become_empty(packet.flow)
        if self.pace.packet_left(packet.length, self.packets > 0, now):
            self.pace.evaluate(self.parameters)
        self.say("tx %d %d %d %d" % (packet.number, packet.wait(now), self.packets, self.bytes))

    def change(self, parameters, now):
        """Parameters change (R14.4)."""
        if parameters.rate != self.parameters.rate:
            self.shaper.change_rate(parameters.rate, now)
        self.parameters = parameters
        self.pace.evaluate(parameters)
        while not self.has_room(0, 0):
            self.drop_oldest_of_longest("change", now)


def main():
    """Follows the trace on standard input."""
    out = []
    queue = None
    number = 0
    for line in sys.stdin:
        words = line.split()
        if words[0] == "e":
            now, hash, source, destination, length, ecn = map(int, words[1:7])
            memory = int(words[7]) if len(words) > 7 else length
            queue.arrive(Packet(number, now, length, memory, ecn & 3), hash, source, destination, ecn & 4 != 0, now)
            number += 1
        elif words[0] == "d":
            queue.request(int(words[1]))
        elif words[0] == "new":
            queue = Mencius(Parameters(words[1:]), out.append)
            number = 0
        elif words[0] == "change":
            queue.change(Parameters(words[2:]), int(words[1]))
        elif words[0] == "end":
            out.append("end %d %d" % (queue.packets, queue.bytes))
    print("\n".join(out))


if __name__ == "__main__":
    main()

"""Lines that are known, drawn by a seed; what `analects measure` finds behind `analects link` as each of them; and evenings
of the household of scenarios/my-link.toml on them."""

import hashlib
import json
import pathlib
import random
import subprocess

DISCIPLINES = ["pfifo", "pfifo", "fq_codel", "cake", "mencius", "codel", "policer"]

# Of the servers beyond the lines.
PORT = 7411

HOUSEHOLD = pathlib.Path(__file__).parent.parent / "scenarios/my-link.toml"
# A seed that no simulated evening has.
SEED = 77


def commit():
    """The hash of the commit, which decides the lines where nobody names a seed."""
    said = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return said.stdout.strip()


def numbers_of(seed):
    """Random numbers that a text decides."""
    return random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8]))


def drawn(seed, count):
    """Lines: Mbit/s down and up, round trip in ms, the wait of a full buffer in ms, discipline, loss in percent."""
    numbers = numbers_of(seed)
    for n in range(count):
        down = round(10 ** numbers.uniform(0, 2), 1)
        up = round(max(1, down / numbers.choice([1, 2, 5, 10])), 1)
        rtt = round(10 ** numbers.uniform(0.7, 2.48))
        wait = round(10 ** numbers.uniform(1.7, 3.3))
        yield down, up, rtt, wait, DISCIPLINES[n % len(DISCIPLINES)], numbers.choice([0, 0, 0, 0.5])


def full(mbit, wait):
    """Bytes of a buffer."""
    return max(8 * 1500, round(mbit * 125 * wait))


def scenario(line):
    """The link of a scenario, with a discipline in each direction."""
    down, up, rtt, wait, discipline, loss = line

    def lane(mbit):
        if discipline == "policer":
            # Behind it nothing waits.
            return f'rate = "{4 * mbit}mbit"\ndiscipline = "policer,rate={mbit}mbit"\n'
        limit = f'buffer = "{full(mbit, wait)}B"\n' if discipline == "pfifo" else ""
        return f'rate = "{mbit}mbit"\ndiscipline = "{discipline}"\n{limit}'

    return f'[link]\nrtt = "{rtt}ms"\n{lane(down)}loss = {loss / 100}\n\n[link.up]\n{lane(up)}'


def server(program, folder):
    """A server that grants what any of the lines carries."""
    limits = "--rate 900mbit --rate-in-all 900mbit --bytes 20GB --bytes-in-all 40GB"
    return f"{program} probe serve --listen 0.0.0.0:{PORT} --key {folder}/key {limits}"


def behind(program, folder, link, served, inside, *options, first=""):
    """What a command prints and says behind the link of a scenario, with a server at PORT beyond it. `first` is run at both
    ends before."""
    (folder / "line.toml").write_text(f'name = "line"\n\n{link}')
    # As on a wire: a packet that is still to be cut into segments waits as one, and is counted as one.
    whole = f"ip link set dev analects0 gso_max_segs 1{first and ' && '}{first}"
    far = "--far", f"sh -c '{whole} && exec {served}'", "--far-ready", str(PORT)
    command = [program, "link", folder / "line.toml", *options, *far, "--", "sh", "-c", f"{whole} && {inside}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=200)
    return ran.stdout, ran.stderr


def measured(program, folder, line):
    """What `analects measure --json` says of the line, with a server of ours."""
    return found_behind(program, folder, scenario(line), server(program, folder))


def found_behind(program, folder, link, served, *options, wanted="", first=""):
    """What it says behind the link of a scenario; `wanted` are more of its options."""
    measure = f"{program} measure $ANALECTS_FAR --trust-anyone --json {wanted}"
    said, error = behind(program, folder, link, served, measure, *options, first=first)
    lines = [text for text in said.splitlines() if text.startswith("{")]
    if not lines:
        raise SystemExit(f"{link}: {said}{error}")
    return json.loads(lines[-1])


def evening(folder, link, name="evening"):
    """A file with the household's scenario on a link."""
    traffic = HOUSEHOLD.read_text()
    traffic = traffic[traffic.index("[[traffic]]") :]
    path = folder / f"{name}.toml"
    # The link says what its disciplines are.
    path.write_text(f'name = "line"\nduration = "120s"\nwarmup = "10s"\ndisciplines = ["pfifo"]\n\n{link}\n{traffic}')
    return path


def begun(program, path, *options):
    """A command that runs evenings."""
    command = [program, "run", path, "--format", "json", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lived(program, path):
    """One that has an evening over real sockets."""
    return begun(program, path, "--engine", "live", "--seed", str(SEED), "--repeat", "1")


def stalls(ran):
    """Of each evening of a command the mean stall of both calls in s, and why it is not to be believed."""
    said, error = ran.communicate(timeout=300)
    if ran.returncode:
        raise SystemExit(f"{ran.args}: {error}")
    for result in json.loads(said)["results"]:
        of = [call["stall_s"] for call in result["calls"]]
        yield sum(of) / len(of), result.get("invalid", [])


def told(values):
    """The mean, the least and the greatest."""
    return f"{sum(values) / len(values):.1f} ({min(values):.1f} to {max(values):.1f})"

"""What the checks say of themselves."""


def say(text):
    """A line on the terminal, at once."""
    print(f"check: {text}", flush=True)


def clock(seconds):
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"

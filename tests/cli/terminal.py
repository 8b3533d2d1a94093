# terminal.py PROGRAM ARGUMENT... < steps: drives a program on a terminal of its own. Steps are a JSON list: ["send", text], ["expect", text]
# (waits until it appears after what was expected before), ["refuse", text] (it is not in what has appeared since then), ["resize", rows,
# columns], ["signal", number], ["exit", code]. Ends with 0 when all steps hold; else says which did not, and what was on the terminal.
import fcntl, json, os, pty, select, struct, sys, termios, time

steps = json.load(sys.stdin)
child, master = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
seen, start, ended = b"", 0, False


def read(seconds):
    global seen, ended
    ready, _, _ = select.select([master], [], [], seconds)
    if not ready:
        return
    try:
        data = os.read(master, 65536)
    except OSError:
        data = b""
    ended = ended or not data
    seen += data
    for mark in b"\x1b[?2004h", b"\x1b[?2004l":  # how pasted text is asked for
        seen = seen[:start] + seen[start:].replace(mark, b"")


def send(data):
    while data:
        _, writable, _ = select.select([], [master], [], 0.05)
        if writable:
            data = data[os.write(master, data[:512]):]
        read(0)


def fail(step):
    print("step %r failed; since the last expected text:\n%s" % (step, seen[start:].decode(errors="replace")))
    os.kill(child, 9)
    sys.exit(1)


for step in steps:
    what, value = step[0], step[1]
    if what == "send":
        send(value.encode("latin-1") if step[2:] else value.encode())
    elif what == "expect":
        deadline = time.time() + 30
        while value.encode() not in seen[start:]:
            if time.time() > deadline or ended:
                fail(step)
            read(0.1)
        start = seen.index(value.encode(), start) + len(value.encode())
    elif what == "refuse":
        read(0.2)
        if value.encode() in seen[start:]:
            fail(step)
    elif what == "resize":
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", value, step[2], 0, 0))
        os.kill(child, 28)
    elif what == "signal":
        os.kill(child, value)
    elif what == "exit":
        deadline = time.time() + 30
        while not ended and time.time() < deadline:
            read(0.1)
        _, status = os.waitpid(child, 0 if ended else 1)
        if not ended or os.waitstatus_to_exitcode(status) != value:
            fail(step + [status])

/** The program of init-programs.ts, for a host without Perl. */
export const pythonInit = String.raw`# sentinel-init: holds the processes of a step together
import ctypes, os, resource, select, signal, stat, sys, time
tag = sys.argv.pop(7).encode()
_, _, _, _, _, descriptor, mark, mark_max, data, inherited, is_piped = map(int, sys.argv[1:12])
folder = sys.argv[12]
seconds, grace = map(float, sys.argv[13:15])
memory, most = map(int, sys.argv[15:17])
program = [os.fsencode(each) for each in sys.argv[17:]]
report = descriptor or os.open("/dev/null", os.O_WRONLY)
libc = ctypes.CDLL(None)
prctl = libc.prctl
guard = os.getpid()
deaf = [getattr(signal, "SIG" + name) for name in "HUP INT QUIT PIPE ALRM TERM USR2 TSTP TTIN TTOU".split()]

def text(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode("latin1")
    except OSError:
        return ""

def children(pid):
    tasks = "/proc/%d/task" % pid
    try:
        found = [each for task in os.listdir(tasks) for each in text("%s/%s/children" % (tasks, task)).split()]
    except OSError:
        return []
    if found or os.path.exists("%s/%d/children" % (tasks, pid)):
        return [int(each) for each in found]
    stats = [(each, text("/proc/%s/stat" % each)) for each in os.listdir("/proc") if each.isdigit()]
    return [int(each) for each, stat in stats if stat and int(stat.rpartition(")")[2].split()[1]) == pid]

def below(pid):
    return [one for child in children(pid) for one in [child, *below(child)]]

def send(number, pids):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass

def finish(*_):
    pause = 0
    while True:
        send(signal.SIGKILL, children(os.getpid()))
        try:
            while os.waitpid(-1, os.WNOHANG)[0] > 0:
                pass
        except ChildProcessError:
            break
        time.sleep(pause)
        pause = min(pause + 0.0005, 0.1)
    for pump in pumps:
        pump.run()
    outcome(9 if status is None else status)
    os._exit(0)

def bound(what, soft, hard):
    try:
        most = resource.getrlimit(what)[1]
        resource.setrlimit(what, (soft, hard if most == resource.RLIM_INFINITY else min(hard, most)))
    except (OSError, ValueError):
        pass

def quiet():
    for each in range(3 + inherited):
        try:
            os.close(each)
        except OSError:
            pass

def uptime():
    return float(text("/proc/uptime").split()[0])

def fill(name, flags, said):
    file = os.open(os.path.join(folder, name), flags, 0o600)
    try:
        if os.write(file, b"%-63s\n" % said.encode()) != 64:
            raise OSError("no room")
    finally:
        os.close(file)

def outcome(status):
    place = os.path.join(folder, "outcome")
    if folder and os.path.exists(place + ".new"):
        try:
            left = "open" if any(pump.source for pump in pumps) else "closed"
            fill("outcome.new", os.O_WRONLY, "exit %d %.2f %s" % (status, uptime(), left))
            os.rename(place + ".new", place)
        except OSError:
            pass

def because(why):
    try:
        file = os.open(os.path.join(folder, "reason"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, (why + "\n").encode())
        os.close(file)
    except OSError:
        pass

end = kill_at = ticks = told = 0
is_held = is_pumping = is_asked = False
status = feed = None
pumps = []

def look(*_):
    global kill_at, ticks
    now = uptime()
    own = os.getpid()
    if end and now > end:
        all = below(own)
        if not kill_at:
            because("timeout")
            send(signal.SIGCONT, all)
            send(signal.SIGTERM, all)
            kill_at = now + grace
        if now > kill_at:
            send(signal.SIGKILL, all)
    ticks += 1
    if memory and ticks % 5 == 0:
        lines = [line.split() for pid in below(own) for line in text("/proc/%d/status" % pid).splitlines()]
        used = sum(int(line[1]) for line in lines if line and line[0] in ("RssAnon:", "RssShmem:"))
        if used > memory:
            because("memory %d" % used)
            send(signal.SIGKILL, below(own))

class Pump:
    def __init__(self, name, to):
        self.name = name
        self.file = os.dup(to)
        self.source, self.into = os.pipe()
        os.set_blocking(self.source, False)
        # A file never has to be waited for.
        if not folder:
            os.set_blocking(self.file, False)
        self.left = b""
        self.size = 0

    def run(self):
        global is_pumping
        is_pumping = True
        try:
            for _ in range(32):
                if self.left:
                    written = os.write(self.file, self.left)
                    self.size += written
                    self.left = self.left[written:]
                elif self.source is None:
                    break
                else:
                    self.left = os.read(self.source, 65536)
                    if not self.left:
                        self.close()
        except BrokenPipeError:
            # Nobody reads it any more: the program is told as by a pipe of its own.
            self.close()
        except OSError:
            pass
        is_pumping = False

    def close(self):
        if self.source is not None:
            os.close(self.source)
        os.close(self.file)
        self.source = None
        self.left = b""

class Feed:
    def __init__(self):
        self.file = os.dup(0)
        self.source, self.into = os.pipe()
        os.set_blocking(self.into, False)
        self.left = b""

    def close(self, *ends):
        for each in ends:
            os.close(each)

    def run(self):
        global feed, is_pumping
        is_pumping = True
        try:
            if self.left:
                self.left = self.left[os.write(self.into, self.left):]
            else:
                self.left = os.read(self.file, 65536)
                if not self.left:
                    feed = None
        except BlockingIOError:
            pass
        except OSError:
            feed = None
        if feed is None:
            self.close(self.file, self.into)
        is_pumping = False

def ask(*_):
    # Not between a write and what is noted of it.
    global is_asked
    is_asked = True
    if not is_pumping:
        finish()

def hold():
    global is_held
    read = [int(each) for each in text(os.path.join(folder, "read")).split()] or [0, 0]
    edge = 8 << 20
    waiting = 0
    for pump, had in zip(pumps, read):
        waiting += pump.size - had
        length = (had - 2 * edge) & ~4095
        try:
            file = os.open(os.path.join(folder, pump.name), os.O_RDWR)
        except OSError:
            continue
        if length > edge and os.fstat(file).st_blocks * 512 > 4 * edge:
            libc.fallocate(file, 3, ctypes.c_longlong(edge), ctypes.c_longlong(length))
        os.close(file)
    is_held = waiting > (most / 2 if is_held else most)

def watch(hears):
    global status
    said = b""
    while hears is not None or (status is not None and not told):
        if is_asked:
            finish()
        full = [pump for pump in pumps if pump.left]
        ready = [] if is_held else [pump for pump in pumps if pump.source is not None and not pump.left]
        is_long = most and any(pump.size > 4 << 20 for pump in pumps)
        wait = 0.2 if is_held or is_long or (folder and full) else None
        sources = [pump.source for pump in ready] + ([] if hears is None else [hears])
        eager = ([feed.into] if feed and feed.left else []) + ([] if folder else [pump.file for pump in full])
        if feed and not feed.left:
            sources.append(feed.file)
        found, eager, _ = select.select(sources, eager, [], wait)
        if feed and (feed.into in eager or feed.file in found):
            feed.run()
        for pump in full + [pump for pump in ready if pump.source in found]:
            pump.run()
        if is_long:
            hold()
        if hears in found:
            more = os.read(hears, 4096)
            if not more:
                hears = None
            said += more
            while b"\n" in said:
                line, _, said = said.partition(b"\n")
                if line.startswith(b"exit "):
                    status = int(line[5:])
                else:
                    tell_worker(line + b"\n")
        if status is not None:
            tell()

def tell_worker(line):
    try:
        os.write(report, tag + line)
    except OSError:
        pass

def tell():
    global told
    is_open = any(pump.source is not None for pump in pumps)
    if told:
        if told == 1 and not is_open and folder:
            told = 2
            try:
                os.close(os.open(os.path.join(folder, "closed"), os.O_WRONLY | os.O_CREAT, 0o600))
            except OSError:
                pass
        return
    for pump in pumps:
        pump.run()
    if any(pump.left for pump in pumps) and not (end and uptime() > end + grace):
        return
    told = 1 if any(pump.source is not None for pump in pumps) else 2
    outcome(status)
    tell_worker(b"exit %d\n" % status)

if prctl(36, 1, 0, 0, 0) != 0:
    sys.exit("sentinel: no subreaper")
prctl(15, b"sentinel-init", 0, 0, 0)
for each in deaf:
    signal.signal(each, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, ask)
if is_piped:
    pumps = [Pump("out", 1), Pump("err", 2)]
    of = os.fstat(0).st_mode
    feed = Feed() if stat.S_ISREG(of) or stat.S_ISSOCK(of) else None
    hears, says = os.pipe()
if folder:
    end = uptime() + seconds if seconds else 0
    try:
        fill("outcome.new", os.O_WRONLY | os.O_CREAT, "")
        boot = text("/proc/sys/kernel/random/boot_id")[:8]
        space = "".join(filter(str.isdigit, os.readlink("/proc/self/ns/pid")))
        start = text("/proc/self/stat").rpartition(")")[2].split()[19]
        fill("who.new", os.O_WRONLY | os.O_CREAT, "%s %s %d %s" % (boot, space, guard, start))
        os.rename(os.path.join(folder, "who.new"), os.path.join(folder, "who"))
    except OSError as error:
        sys.exit("sentinel: %s cannot be written: %s" % (folder, error.strerror))

init = os.fork()
if init == 0:
    if prctl(36, 1, 0, 0, 0) != 0:
        sys.exit("sentinel: no subreaper")
    prctl(1, int(signal.SIGUSR1), 0, 0, 0)
    if os.getppid() != guard:
        os._exit(1)
    main = os.fork()
    if main == 0:
        os.close(report)
        for number, pump in enumerate(pumps, 1):
            os.dup2(pump.into, number)
        if feed:
            os.dup2(feed.source, 0)
        for each in [*deaf, signal.SIGUSR1, signal.SIGXFSZ]:
            signal.signal(each, signal.SIG_DFL)
        os.setsid()
        bound(10, mark, mark_max)
        if data:
            bound(resource.RLIMIT_DATA, data, data)
        env = {name[2:]: value for name, value in os.environb.items() if name.startswith(b"S_")}
        os.environb.clear()
        os.environb.update(env)
        try:
            os.execvpe(program[0], program, env)
        except OSError as error:
            os.write(2, b"sentinel: %s: %s\n" % (program[0], os.strerror(error.errno).encode()))
        os._exit(126)
    quiet()
    for pump in pumps:
        for each in (pump.file, pump.source, pump.into):
            os.close(each)
    if feed:
        feed.close(feed.file, feed.source, feed.into)
        feed = None
    if is_piped:
        pumps = []
        os.close(hears)
        os.close(report)
        report = says
    os.write(report, b"pid %d\n" % main)
    if folder:
        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    try:
        while True:
            ended, how = os.wait()
            if ended == main:
                status = how
                try:
                    os.write(report, b"exit %d\n" % status)
                except OSError:
                    pass
                if not descriptor:
                    finish()
    except ChildProcessError:
        os._exit(0)
quiet()
if is_piped:
    os.close(says)
    for pump in pumps:
        os.close(pump.into)
    if feed:
        feed.close(feed.source)
    watch(hears)
else:
    os.close(report)
    try:
        while os.wait()[0] != init:
            pass
    except ChildProcessError:
        pass
finish()
`;

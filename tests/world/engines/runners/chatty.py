"""A small interactive program: repeats what it hears, and exits on request."""

import os
import signal
import subprocess
import sys

print("ready", os.environ.get("TMUX", "alone"), os.getcwd(), sys.argv[1:], flush=True)
for line in sys.stdin:
    heard = line.strip()
    with open("heard", "a") as file:
        file.write(heard + "\n")
    if heard.startswith("exit "):
        sys.exit(int(heard.split()[1]))
    if heard == "die":
        os.kill(os.getpid(), signal.SIGTERM)
    if heard == "fork":
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if heard == "mute":
        subprocess.run(["stty", "-echo"], check=True)
    else:
        print(f"> {heard}", flush=True)

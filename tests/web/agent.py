"""A scripted agent: does what its task says, in a way that is good to look at.

agent.py MODE SECONDS FOLDER   mode: land, work, fail, ask
"""

import json
import os
import subprocess
import sys
import time

SAID = [
    "Reading what is there before changing anything.",
    "The rule lives in two places; I will keep the one that has tests.",
    "Writing a test that fails first.",
    "The test fails for the right reason. Now the change.",
    "All green. Cleaning up names.",
]
TOOLS = [
    ("read", "src/checkout/cart.py"),
    ("search", "def total"),
    ("edit", "src/checkout/cart.py"),
    ("run", "pytest tests/checkout -q"),
    ("run", "ruff check ."),
]
NOISE = (
    "\x1b[2m$ pytest tests/checkout -q\x1b[0m",
    "\x1b[32m.......................\x1b[0m\x1b[31mF\x1b[0m\x1b[32m....\x1b[0m   [ 82%]",
    "\x1b[31mFAILED\x1b[0m tests/checkout/test_cart.py::\x1b[1mtest_rounding\x1b[0m - 1.10 != 1.1",
    "\x1b[32m28 passed\x1b[0m, \x1b[31m1 failed\x1b[0m in \x1b[36m2.31s\x1b[0m",
)


def fact(kind: str, **fields: object) -> None:
    print(json.dumps({"fact": kind, **fields}), flush=True)


def step(number: int) -> None:
    said, (tool, what) = SAID[number % len(SAID)], TOOLS[number % len(TOOLS)]
    with open("progress.md", "a") as file:
        file.write(f"{said}\n")
    fact("said", text=said)
    fact("used", tool=tool, what=what, call=f"c{number}")
    print(NOISE[number % len(NOISE)], flush=True)
    fact("answered", call=f"c{number}", ok=True, text="ok")
    fact("spent", fresh=1800, cached=9000, output=420, cost_usd=0.0114, model="model-large")


def main(mode: str, seconds: float, folder: str) -> int:
    fact("began", thread=f"t-{os.environ['CORRAL_SESSION']}", model="model-large")
    end = time.monotonic() + seconds
    number = int.from_bytes(os.environ["CORRAL_TASK"].encode()[-1:], "big")
    step(number)
    while time.monotonic() < end:
        number += 1
        time.sleep(min(2.0, seconds / 4))
        step(number)
    if mode == "fail":
        fact("said", text="I cannot make the tests pass.")
        return 3
    if mode == "ask":
        words = ["task", "block", os.environ["CORRAL_TASK"], "--reason", "Which currency wins?"]
        return subprocess.call(["corral", *words])
    os.makedirs(folder)
    with open(f"{folder}/work.txt", "w") as file:
        file.write("done\n")
    subprocess.check_call(["git", "add", folder])
    subprocess.check_call(["git", "commit", "-qm", "Work"])
    fact("finished")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), sys.argv[3]))

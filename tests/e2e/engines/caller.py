"""An agent in a few lines: it asks a model's server for each of its steps, and ends at a 429.

What it has done is kept in its home, which goes on with the conversation: no step is done twice.
Run as `python caller.py STEPS`. Nothing but Python's own library is used, so it starts fast.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any


def tell(fact: str, **fields: Any) -> None:
    print(json.dumps({"fact": fact, **fields}), flush=True)


def ask(step: int) -> None:
    body = {"model": "m-1", "messages": [{"role": "user", "content": f"SAY <<<step {step}>>>"}]}
    request = urllib.request.Request(
        f"{os.environ['CORRAL_BASE_URL']}/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        used = json.loads(answer.read())["usage"]
    tell("spent", fresh=used["prompt_tokens"], output=used["completion_tokens"], cost_usd=0.001)


def refused(error: urllib.error.HTTPError) -> None:
    with error:
        text = json.loads(error.read())["error"]["message"]
    after, reset = error.headers.get("retry-after"), re.search(r"resets at (\d+)", text)
    tell(
        "finished",
        trouble="quota" if "quota" in text else "rate",
        text=f"{error.code}: {text}",
        retry_s=float(after) if after else None,
        reset_at=int(reset.group(1)) * 1000 if reset else None,
    )


def main(steps: int) -> None:
    record = Path(os.environ["HOME"]) / "steps"
    done = int(record.read_text()) if record.exists() else 0
    task = os.environ["CORRAL_TASK"]
    tell("began", session=os.environ.get("CORRAL_RESUME") or f"talk-{task}", model="m-1")
    for step in range(done, steps):
        try:
            ask(step)
        except urllib.error.HTTPError as error:
            return refused(error)
        record.write_text(str(step + 1))
        with open(f"{task}.txt", "a") as file:
            file.write(f"step {step}\n")
    return tell("finished")


if __name__ == "__main__":
    main(int(sys.argv[1]))

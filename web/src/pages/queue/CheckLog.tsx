/** The output of a check run. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { get, Refused } from "../../api/client";
import { Ansi } from "../../lib/ansi";
import { go, pathTo, place } from "../../lib/router";
import { tables } from "../../live";
import { AnsiLine } from "../../ui/AnsiText";
import { Button, Dialog } from "../../ui/parts";
import { complain } from "../../ui/toast";
import { Stack } from "./Running";
import { ResultBadge } from "./Verdicts";

export function LogLink({ run }: { run: string }) {
  const there = pathTo("queue", [run], place.value.query);
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(there);
  };
  return (
    <a class="mono" href={there} onClick={open} title="Show its output">
      {run}
    </a>
  );
}

export function CheckLog({ run, onClose }: { run: string; onClose: () => void }) {
  const check = tables.checks.row(run);
  const [asked, setAsked] = useState(0);
  const [lines, setLines] = useState<readonly string[] | null>(null);
  useEffect(() => {
    const asking = new AbortController();
    get("/api/checks/{check}/log", { check: run }, { lines: 2000 }, asking.signal)
      .then((answer) => setLines(answer.lines))
      .catch((error: unknown) => {
        if (asking.signal.aborted) return;
        if (error instanceof Refused) setLines([]);
        complain(error);
      });
    return () => asking.abort();
  }, [run, asked, check?.live]);
  const drawn = useMemo(() => {
    const ansi = new Ansi();
    return (lines ?? []).map((line) => ansi.line(line));
  }, [lines]);
  return (
    <Dialog title={`Check run ${run}`} onClose={onClose}>
      <div class="fill checklog">
        {check && (
          <div class="across wrap">
            {check.live ? (
              <Button icon="again" onClick={() => setAsked(asked + 1)}>
                Refresh
              </Button>
            ) : (
              <ResultBadge result={check.result} />
            )}
            <Stack check={check} />
          </div>
        )}
        {check?.detail && <p class="prose soft">{check.detail}</p>}
        <div class="printed ansi" role="log" aria-label={`Output of ${run}`} tabIndex={0}>
          {lines === null && "…"}
          {lines?.length === 0 && "No output, or it is no longer kept."}
          {drawn.map((parts, at) => (
            <div key={at}>
              <AnsiLine pieces={parts} />
            </div>
          ))}
        </div>
      </div>
    </Dialog>
  );
}

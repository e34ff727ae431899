/** The queue: running checks with their predicted states, waiting changes, and past verdicts. */

import { useComputed } from "@preact/signals";
import { go, pathTo, place, setQuery } from "../../lib/router";
import { plural } from "../../lib/words";
import { tables } from "../../live";
import type { PageProps } from "../../shell/pages";
import { Button, Card, Choice, EmptyState, Page } from "../../ui/parts";
import { act } from "../../ui/toast";
import { CheckLog } from "./CheckLog";
import { Figures } from "./Figures";
import { RunningChecks } from "./Running";
import { Verdicts } from "./Verdicts";
import { Waiting } from "./Waiting";
import "./queue.css";

export default function Queue({ rest }: PageProps) {
  const convoy = place.value.query.convoy ?? "";
  const of = <R extends { convoy: string }>(rows: readonly R[]) =>
    convoy ? rows.filter((row) => row.convoy === convoy) : rows;
  const checks = of(tables.checks.rows.value);
  const waiting = of(tables.queue.rows.value);
  const convoys = useComputed(() => tables.convoys.rows.value.map((row) => [row.id, row.title] as const));
  const running = checks.filter((check) => check.live);
  const over = checks.filter((check) => !check.live).reverse();
  return (
    <Page
      title="Queue"
      tools={
        <>
          <Choice
            label="Convoy"
            all="All convoys"
            value={convoy}
            options={convoys.value}
            onChange={(value) => setQuery({ convoy: value })}
          />
          <span class="grow" />
          <Hold convoy={convoy} />
        </>
      }
    >
      <div class="stack">
        <Figures checks={over} waiting={waiting.length} running={running.length} />
        <Card title={`Running checks (${running.length})`} flush>
          {running.length ? (
            <RunningChecks checks={running} />
          ) : (
            <EmptyState title="No checks are running.">
              {waiting.length ? "See below what each change waits for." : "Submitted work appears here."}
            </EmptyState>
          )}
        </Card>
        <Card title={`Waiting to land (${waiting.length})`} flush>
          {waiting.length ? <Waiting rows={waiting} /> : <EmptyState title="Nothing is waiting." />}
        </Card>
        <Card title="Verdicts, newest first" flush>
          {over.length ? <Verdicts checks={over} /> : <EmptyState title="No check has finished yet." />}
        </Card>
        <Flaky />
      </div>
      {rest[0] && <CheckLog key={rest[0]} run={rest[0]} onClose={() => go(pathTo("queue", [], place.peek().query))} />}
    </Page>
  );
}

/** Pause or resume landing, for the selected convoy or for all. */
function Hold({ convoy }: { convoy: string }) {
  const paused = tables.pauses.row(`queue:${convoy}`);
  const body = convoy ? { convoy } : {};
  return paused ? (
    <>
      <span class="small soft cut">Paused{paused.reason && `: ${paused.reason}`}</span>
      <Button
        kind="first"
        icon="play"
        onClick={() => void act("/api/resume", { ...body, landing: true }, "Landing resumed")}
      >
        Resume landing
      </Button>
    </>
  ) : (
    <Button
      icon="pause"
      onClick={() =>
        void act("/api/pause", { ...body, landing: true, reason: "paused on the dashboard" }, "Landing paused")
      }
    >
      Pause landing
    </Button>
  );
}

function Flaky() {
  const found = tables.flaky.rows.value;
  if (!found.length) return null;
  return (
    <Card title="Flaky checks: different results on the same tree">
      <ul class="stack tight">
        {found.map((one) => (
          <li key={one.id} class="across">
            <span class="mono grow cut">{one.id}</span>
            <span class="number soft">{plural(one.times, "time")}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

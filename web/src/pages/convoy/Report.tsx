/** The merge report that `corral run` prints, updated whenever a task lands or fails. */

import { useEffect, useState } from "preact/hooks";
import { type Answer, get } from "../../api/client";
import type { ConvoyRow } from "../../api/rows";
import { openTask } from "../../lib/router";
import { plural, span } from "../../lib/words";
import { store, tables } from "../../live";
import { Badge, Card, Money, StateBadge, TaskLink, type Tone } from "../../ui/parts";
import { complain } from "../../ui/toast";
import { type Column, Table } from "../../ui/virtual";
import { verdictTone, words } from "../sessions/state";

type Told = Answer<"/api/convoys/{convoy}/report">;
type Line = Told["tasks"][number];

const TONES: Record<string, Tone> = {
  landed: "green",
  failed: "red",
  running: "blue",
  needs_person: "amber",
  out_of_budget: "amber",
  interrupted: "grey",
};

// The row is newer than the report.
const column = (line: Line) => tables.tasks.row(line.id)?.column ?? line.state;
const spent = (line: Line) => tables.tasks.row(line.id)?.cost;

const COLUMNS: readonly Column<Line>[] = [
  { name: "Task", width: "84px", cell: (line) => <TaskLink id={line.id} />, by: (line) => line.id },
  { name: "Title", width: "minmax(140px, 1.4fr)", cell: (line) => line.title, by: (line) => line.title },
  { name: "State", width: "92px", cell: (line) => <StateBadge state={column(line)} />, by: column },
  {
    name: "Verdict",
    width: "104px",
    cell: (line) => line.verdict && <Badge tone={verdictTone(line.verdict)}>{words(line.verdict)}</Badge>,
    by: (line) => line.verdict,
  },
  { name: "Why", width: "minmax(100px, 1fr)", cell: (line) => <span title={line.reason}>{line.reason}</span> },
  { name: "Attempts", width: "66px", right: true, cell: (line) => line.attempts, by: (line) => line.attempts },
  { name: "Returns", width: "60px", right: true, cell: (line) => line.returns, by: (line) => line.returns },
  {
    name: "Time",
    width: "60px",
    right: true,
    cell: (line) => (line.seconds ? span(line.seconds * 1000) : ""),
    by: (line) => line.seconds,
  },
  {
    name: "Cost",
    width: "64px",
    right: true,
    cell: (line) => {
      const cost = spent(line);
      return cost && <Money cost={cost} />;
    },
    by: (line) => spent(line)?.usd ?? 0,
  },
  { name: "Commit", width: "72px", cell: (line) => <span class="mono small">{line.commit.slice(0, 8)}</span> },
];

export function Report({ id, row }: { id: string; row: ConvoyRow }) {
  const [told, setTold] = useState<Told | null>(null);
  const past = store.past.value;
  const stage = JSON.stringify([row.tasks, row.landed, row.finished, past]);
  useEffect(() => {
    const asking = new AbortController();
    get("/api/convoys/{convoy}/report", { convoy: id }, past === null ? {} : { at: past }, asking.signal)
      .then(setTold)
      .catch((error: unknown) => !asking.signal.aborted && complain(error));
    return () => asking.abort();
  }, [id, stage]);
  if (!told) return <Card title="Merge report">…</Card>;
  const flaky = Object.keys(told.flaky).length;
  return (
    <Card
      title="Merge report"
      tools={<Badge tone={TONES[told.standing] ?? "grey"}>{told.standing.replace("_", " ")}</Badge>}
      flush
    >
      <div class="across wrap soft small told">
        <span>{told.landed} landed</span>
        <span>{told.failed} failed</span>
        <span>{told.waiting} waiting</span>
        <span>{plural(told.check_runs, "check run")}</span>
        {flaky > 0 && <span>{plural(flaky, "flaky check")}</span>}
        {told.seconds > 0 && <span>{span(told.seconds * 1000)}</span>}
        <Money cost={row.cost} />
        {told.landed > 0 && told.cost_usd !== null && told.cost_usd > 0 && (
          <span>${(told.cost_usd / told.landed).toFixed(2)} per landed change</span>
        )}
      </div>
      <div class="report">
        <Table
          label="Merge report"
          columns={COLUMNS}
          items={told.tasks}
          keyOf={(line) => line.id}
          onOpen={(line) => openTask(line.id)}
          minWidth={900}
        />
      </div>
    </Card>
  );
}

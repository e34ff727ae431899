/** One convoy: its branch, its graph, and its merge report. */

import { useComputed } from "@preact/signals";
import type { ConvoyRow, TaskRow } from "../../api/rows";
import type { Edge } from "../../lib/layers";
import { openTask, pathTo } from "../../lib/router";
import { money } from "../../lib/words";
import { tables } from "../../live";
import { Graph, type Node } from "../../ui/Graph";
import { Age, Button, Card, EmptyState, Money, Page, TaskLink, toneOf } from "../../ui/parts";
import { act } from "../../ui/toast";
import { BranchBadge } from ".";
import { Progress } from "./Progress";
import { Report } from "./Report";

export function Convoy({ id, alone }: { id: string; alone: boolean }) {
  const row = tables.convoys.row(id);
  const tasks = useComputed(() => tables.tasks.rows.value.filter((task) => task.convoy === id));
  if (!row)
    return (
      <Page title="Convoy">
        <EmptyState title="Convoy not found.">
          <a href="/convoy">All convoys</a>
        </EmptyState>
      </Page>
    );
  const edges = tasks.value.flatMap((task) => task.needs.map((need): Edge => [need, task.id]));
  return (
    <Page
      title={row.title}
      tools={
        <>
          {!alone && <a href="/convoy">All convoys</a>}
          <span class="grow" />
          <Pause id={id} />
        </>
      }
    >
      <div class="stack" data-convoy={id}>
        <Card title="Branch" tools={<BranchBadge row={row} />}>
          <Branch row={row} />
        </Card>
        <Card title="Dependencies" flush>
          <CriticalPath row={row} />
          {tasks.value.length ? (
            <Graph
              label={`Tasks of ${row.title}`}
              nodes={tasks.value.map(node)}
              edges={edges}
              critical={row.critical}
            />
          ) : (
            <EmptyState title="This convoy has no tasks." />
          )}
        </Card>
        <Report id={id} row={row} />
      </div>
    </Page>
  );
}

const node = (task: TaskRow): Node => ({
  id: task.id,
  title: task.title,
  state: task.column,
  tone: toneOf(task.column),
  href: pathTo("tasks", [task.id]),
  onOpen: () => openTask(task.id),
});

function CriticalPath({ row }: { row: ConvoyRow }) {
  if (row.critical.length < 2) return null;
  return (
    <p class="small soft chain">
      Critical path:{" "}
      {row.critical.map((task, at) => (
        <span key={task}>
          {at > 0 && " → "}
          <TaskLink id={task} />
        </span>
      ))}
    </p>
  );
}

function Branch({ row }: { row: ConvoyRow }) {
  const facts: [string, string, boolean?][] = [
    ["trunk", row.branch, true],
    ["tip", row.tip.slice(0, 12) || "nothing yet", row.tip !== ""],
    ["base", row.base, true],
    ...(row.strategy ? [["strategy", row.strategy] as [string, string]] : []),
    ["checks", row.checks.join("  ·  ") || "as configured", row.checks.length > 0],
    ...(row.finished ? [["finished", `${row.finished} ${row.finished_commit.slice(0, 12)}`] as [string, string]] : []),
    ...(row.paused ? [["paused", row.paused] as [string, string]] : []),
  ];
  return (
    <div class="stack">
      <Progress row={row} />
      <dl class="branch small">
        {facts.map(([name, value, exact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={exact ? "mono" : ""}>{value}</dd>
          </div>
        ))}
        <div>
          <dt>created</dt>
          <dd>
            <Age at={row.created_at} /> ago
          </dd>
        </div>
        {money(row.cost) && (
          <div>
            <dt>spent</dt>
            <dd>
              <Money cost={row.cost} />
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** Pause or resume the sessions of this convoy. */
function Pause({ id }: { id: string }) {
  return tables.pauses.row(`sessions:${id}`) ? (
    <Button
      kind="first"
      icon="play"
      onClick={() => void act("/api/resume", { convoy: id, sessions: true }, "Sessions of this convoy resumed")}
    >
      Resume
    </Button>
  ) : (
    <Button
      icon="pause"
      onClick={() =>
        void act(
          "/api/pause",
          { convoy: id, sessions: true, reason: "paused on the dashboard" },
          "Sessions of this convoy paused",
        )
      }
    >
      Pause
    </Button>
  );
}

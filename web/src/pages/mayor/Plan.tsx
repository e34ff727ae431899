/** The newest plan: its graph, its tasks, and the decision about it. */

import { useState } from "preact/hooks";
import type { MayorRow } from "../../api/rows";
import { pathTo } from "../../lib/router";
import { plural } from "../../lib/words";
import { tables } from "../../live";
import { Graph, type Node } from "../../ui/Graph";
import { Badge, Button, Dialog, Field, StateBadge, TaskLink, toneOf } from "../../ui/parts";
import { act } from "../../ui/toast";
import { type Column, Table } from "../../ui/virtual";
import type { Conversation } from ".";
import { PlannedTask } from "./PlannedTask";

export type Proposal = NonNullable<Conversation["proposal"]>;
export type Planned = Proposal["plan"]["task"][number];

export function Plan({
  row,
  proposal,
  current,
  onChange,
}: {
  row: MayorRow;
  proposal: Proposal;
  current: boolean;
  onChange: () => void;
}) {
  const [opened, setOpened] = useState("");
  const { plan, edges, critical } = proposal;
  const onBoard = (key: string) => tables.tasks.row(proposal.tasks[key] ?? "");
  const nodes = plan.task.map((task): Node => {
    const state = onBoard(task.key)?.column ?? "new";
    return {
      id: task.key,
      title: task.title,
      state,
      tone: state === "new" ? "accent" : toneOf(state),
      note: note(state, task.minutes),
      href: "#",
      onOpen: () => setOpened(task.key),
    };
  });
  const task = plan.task.find((one) => one.key === opened);
  return (
    <section class="plan" aria-label="Plan">
      <section class="plan-scroll" tabIndex={0} aria-label="The plan">
        <header class="plan-head">
          <div class="across wrap">
            <h2 class="cut">{plan.convoy.title}</h2>
            <Decided row={row} proposal={proposal} />
          </div>
          <Summary proposal={proposal} />
        </header>
        <Graph
          label="The plan"
          nodes={nodes}
          edges={edges.map((edge) => [edge.need, edge.task] as const)}
          critical={critical && critical.keys.length > 1 ? critical.keys : []}
        />
        <div class="plan-table">
          <Table
            label="Tasks of the plan"
            columns={columns(proposal)}
            items={plan.task}
            keyOf={(one) => one.key}
            onOpen={(one) => setOpened(one.key)}
            minWidth={700}
          />
        </div>
      </section>
      {row.pending && current && <Decision row={row} proposal={proposal} onChange={onChange} />}
      {task && <PlannedTask task={task} proposal={proposal} onClose={() => setOpened("")} />}
    </section>
  );
}

const note = (state: string, minutes = 0) => (state === "new" && minutes ? `${minutes} min` : state);

function Decided({ row, proposal }: { row: MayorRow; proposal: Proposal }) {
  if (row.pending) return <Badge tone="violet">awaiting approval</Badge>;
  if (row.approved_seq !== proposal.seq) return <Badge>rejected</Badge>;
  return (
    <>
      <Badge tone="green">approved</Badge> <a href={pathTo("convoy", [row.convoy])}>go to its convoy</a>
    </>
  );
}

function Summary({ proposal }: { proposal: Proposal }) {
  const { plan, waves, critical, cancel } = proposal;
  const checks = plan.convoy.checks ?? [];
  return (
    <div class="small soft stack tight">
      <div>
        {plural(plan.task.length, "task")} in {plural(waves.length, "wave")}
        {critical && critical.keys.length > 1 && (
          <>
            ; critical path: <span class="mono">{critical.keys.join(" → ")}</span> ({critical.length} {critical.unit})
          </>
        )}
      </div>
      {checks.length > 0 && (
        <div>
          Checks before landing: <span class="mono">{checks.join("  ·  ")}</span>
        </div>
      )}
      {cancel.length > 0 && (
        <div class="tone-amber toned">
          Cancels{" "}
          {cancel.map((id) => (
            <span key={id}>
              <TaskLink id={id} />{" "}
            </span>
          ))}
        </div>
      )}
    </div>
  );
}

function columns(proposal: Proposal): readonly Column<Planned>[] {
  const words = (list: readonly string[] | undefined) => (
    <span class="mono small" title={list?.join("\n")}>
      {list?.join("  ")}
    </span>
  );
  const needs = (task: Planned) => proposal.edges.filter((edge) => edge.task === task.key).map((edge) => edge.need);
  const state = (task: Planned) => tables.tasks.row(proposal.tasks[task.key] ?? "")?.column ?? "";
  const some = (field: "role" | "engine") => proposal.plan.task.some((task) => task[field]);
  const named = (name: string, field: "role" | "engine"): Column<Planned> => ({
    name,
    width: "74px",
    cell: (task) => <span title={task[field]}>{task[field]}</span>,
    by: (task) => task[field] ?? "",
  });
  return [
    {
      name: "Key",
      width: "76px",
      cell: (task) => (
        <span class="mono" title={task.key}>
          {task.key}
        </span>
      ),
      by: (task) => task.key,
    },
    {
      name: "Title",
      width: "minmax(150px, 1.6fr)",
      cell: (task) => <span title={task.title}>{task.title}</span>,
      by: (task) => task.title,
    },
    ...(Object.keys(proposal.tasks).length
      ? [
          {
            name: "State",
            width: "76px",
            cell: (task: Planned) =>
              state(task) ? <StateBadge state={state(task)} /> : <Badge tone="accent">new</Badge>,
            by: state,
          },
        ]
      : []),
    ...(some("role") ? [named("Role", "role")] : []),
    ...(some("engine") ? [named("Engine", "engine")] : []),
    {
      name: "Needs",
      width: "minmax(64px, 0.7fr)",
      cell: (task) => words(needs(task)),
      by: (task) => needs(task).length,
    },
    { name: "Paths", width: "minmax(90px, 1fr)", cell: (task) => words(task.paths) },
    {
      name: "Accepted when",
      width: "minmax(100px, 1.1fr)",
      cell: (task) => (task.unproved ? <span class="soft">manual review</span> : words(task.accept)),
    },
  ];
}

/** Approve the plan, ask for changes, or reject it. */
function Decision({ row, proposal, onChange }: { row: MayorRow; proposal: Proposal; onChange: () => void }) {
  const [rejecting, setRejecting] = useState(false);
  const [approving, setApproving] = useState(false);
  const approve = async () => {
    setApproving(true);
    await act("/api/mayor/approve", { proposal: proposal.seq }, "The plan is on the board");
    setApproving(false);
  };
  const waits = row.state !== "proposed"; // the mayor is working on it
  return (
    <div class="decision across wrap">
      <Button kind="first" icon="check" disabled={waits || approving} onClick={() => void approve()}>
        Approve
      </Button>
      <Button icon="mayor" onClick={onChange}>
        Change …
      </Button>
      <Button kind="danger" icon="close" disabled={waits} onClick={() => setRejecting(true)}>
        Reject …
      </Button>
      <span class="small soft grow">
        {waits ? "The mayor is working on your message." : "Nothing reaches the board until you approve."}
      </span>
      {rejecting && <Reject onClose={() => setRejecting(false)} />}
    </div>
  );
}

function Reject({ onClose }: { onClose: () => void }) {
  const [reason, setReason] = useState("");
  const reject = async (event: Event) => {
    event.preventDefault();
    if (await act("/api/mayor/reject", { reason: reason.trim() }, "Plan rejected")) onClose();
  };
  return (
    <Dialog title="Reject the plan" onClose={onClose}>
      <form class="fill" onSubmit={(event) => void reject(event)}>
        <p>None of its tasks reach the board. You can continue the conversation.</p>
        <Field label="Reason (optional)">
          <input class="input" autofocus value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </Field>
        <div class="foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger">
            Reject plan
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The board: every task in its column. */

import { computed, signal, useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useKeys } from "../../lib/keys";
import { openTask, pathTo, place, setQuery } from "../../lib/router";
import { money } from "../../lib/words";
import { tables } from "../../live";
import { needed } from "../../live/needs";
import { same } from "../../live/store";
import { OnDemand } from "../../shell/OnDemand";
import type { PageProps } from "../../shell/pages";
import { Icon, StateSign } from "../../ui/icons";
import { Button, Choice, EmptyState, Filters, Key, Page, Search } from "../../ui/parts";
import { changePriority, move } from "../task/actions";
import { Column } from "./Column";
import { chosen } from "./chosen";
import { COLUMNS, type ColumnName, type Filter, moveTo, sorted } from "./columns";
import "./board.css";

const adding = signal(false);
const loadAdd = () => import("../task/AddTask");

const filter = computed<Filter>(() => {
  const { convoy = "", engine = "", role = "", q = "" } = place.value.query;
  return { convoy, engine, role, text: q };
});

let before: Record<string, readonly string[]> = {};
/** The ids in each column; an unchanged column keeps its list, so it is not redrawn. */
const ids = computed(() => {
  const found: Record<string, readonly string[]> = sorted(
    tables.tasks.rows.value,
    tables.queue.rows.value,
    filter.value,
  );
  for (const name of COLUMNS) if (same(before[name], found[name])) found[name] = before[name]!;
  before = found;
  return found;
});

const values = (pick: (task: { engine: string; role: string }) => string) =>
  computed(
    () =>
      [...new Set(tables.tasks.rows.value.map(pick))]
        .filter(Boolean)
        .sort()
        .map((name) => [name, name] as const),
    {},
  );
const engines = values((task) => task.engine || "default");
const roles = values((task) => task.role);

export default function Board(_: PageProps) {
  const { convoy, engine, role, text } = filter.value;
  const convoys = useComputed(() => tables.convoys.rows.value.map((row) => [row.id, row.title] as const));
  const any = tables.tasks.ids.value.length > 0;
  useBoardKeys();
  const tools = (
    <>
      <Search value={text} onInput={(q) => setQuery({ q })} label="Filter tasks" />
      <Filters>
        {convoys.value.length > 1 && (
          <Choice
            label="Convoy"
            all="All convoys"
            value={convoy}
            options={convoys.value}
            onChange={(value) => setQuery({ convoy: value })}
          />
        )}
        {(engines.value.length > 1 || engine) && (
          <Choice
            label="Engine"
            all="All engines"
            value={engine}
            options={engines.value}
            onChange={(value) => setQuery({ engine: value })}
          />
        )}
        {(roles.value.length > 0 || role) && (
          <Choice
            label="Role"
            all="All roles"
            value={role}
            options={roles.value}
            onChange={(value) => setQuery({ role: value })}
          />
        )}
      </Filters>
      <span class="grow" />
      <Button kind="first" icon="plus" label="Add a task" onClick={() => (adding.value = true)}>
        <span class="wide">Add a task</span>
      </Button>
    </>
  );
  return (
    <Page title="Board" tools={tools} whole>
      {any ? (
        <Columns convoy={convoy} />
      ) : (
        <EmptyState title="The board is empty.">
          Add a task (<Key keys="n" />
          ), ask <a href={pathTo("mayor")}>the mayor</a> for a plan, or apply your own:{" "}
          <code>corral plan apply PLAN</code>
        </EmptyState>
      )}
      {adding.value && <OnDemand load={loadAdd} props={{ convoy, onClose: () => (adding.value = false) }} />}
    </Page>
  );
}

/** Scroll to a column; a phone shows one at a time. */
function jump(name: string): void {
  document.getElementById(`column-${name}`)?.scrollIntoView({ inline: "start", block: "nearest" });
}

const live = computed(() => tables.sessions.rows.value.filter((session) => session.live).length);

/** The whole herd in one line: what is running, what is waiting, what needs a person. */
function Glance({ convoy }: { convoy: string }) {
  const tasks = tables.tasks.rows.value.filter(
    (task) => task.state !== "cancelled" && (!convoy || task.convoy === convoy),
  );
  const landed = tasks.filter((task) => task.state === "done").length;
  const spent = tables.costs.row("total:all")?.cost;
  const ready = tables.tasks.rows.value.filter((task) => task.column === "todo").length;
  return (
    <div class="glance">
      {needed.value > 0 && (
        <a class="tone-red toned" href={pathTo("alerts")}>
          <Icon name="alerts" />
          <span>
            <strong>{needed.value}</strong> {needed.value === 1 ? "needs" : "need"} you
          </span>
        </a>
      )}
      <a class={live.value ? "tone-blue" : "tone-grey"} href={pathTo("sessions")}>
        <StateSign state="running" />
        <span>
          <strong>{live.value}</strong> running
        </span>
      </a>
      <a class="tone-violet" href={pathTo("queue")}>
        <StateSign state="review" />
        <span>
          <strong>{tables.queue.ids.value.length}</strong> waiting to land
        </span>
      </a>
      <span class="tone-accent across">
        <StateSign state="todo" />
        <span>
          <strong>{ready}</strong> waiting to start
        </span>
      </span>
      {spent && money(spent) && (
        <a href={pathTo("health")}>
          <strong>{money(spent)}</strong> spent
        </a>
      )}
      <span class="landed" title="of all tasks that are not cancelled">
        <span class="rail" aria-hidden="true">
          <span style={{ width: `${tasks.length ? (100 * landed) / tasks.length : 0}%` }} />
        </span>
        <span class="number">
          <strong>{landed}</strong> of {tasks.length} landed
        </span>
      </span>
    </div>
  );
}

function Columns({ convoy }: { convoy: string }) {
  useEffect(() => {
    if (matchMedia("(max-width: 700px)").matches) jump("doing");
  }, []);
  return (
    <div class="board">
      <Glance convoy={convoy} />
      <nav class="jump" aria-label="Columns">
        {COLUMNS.map((name) => (
          <button type="button" key={name} onClick={() => jump(name)} disabled={!ids.value[name]!.length}>
            {name} <span class="faint number">{ids.value[name]!.length}</span>
          </button>
        ))}
      </nav>
      <div class="columns">
        {COLUMNS.map((name) => (
          <Column key={name} name={name} ids={ids.value[name]!} onDrop={drop} />
        ))}
      </div>
    </div>
  );
}

function drop(id: string, column: ColumnName): void {
  const task = tables.tasks.row(id);
  const wanted = task && moveTo(task, column);
  if (wanted) move(id, wanted);
}

/** Focus the card of a task once it is drawn. */
function focus(id: string): void {
  chosen.value = id;
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(`card-${id}`)?.focus()));
}

/** Move to another card: along the column, or to the next column that has cards. */
function step(across: number, down: number): void {
  const shown = COLUMNS.map((name) => ids.peek()[name]!);
  const column = shown.findIndex((list) => list.includes(chosen.peek()));
  if (column < 0) {
    const first = shown.flat()[0];
    if (first) focus(first);
    return;
  }
  const at = shown[column]!.indexOf(chosen.peek());
  let next = column + across;
  while (across && shown[next]?.length === 0) next += across;
  const list = across ? shown[next] : shown[column];
  if (list?.length) focus(list[Math.min(Math.max(0, at + down), list.length - 1)]!);
}

function useBoardKeys(): void {
  const task = () => tables.tasks.row(chosen.peek());
  const ask = (name: string) => () => task() && move(chosen.peek(), name);
  const raise = (by: number) => () => {
    const found = task();
    if (found) changePriority(found, found.priority + by);
  };
  const group = "Board";
  useKeys([
    { keys: "n", label: "Add a task", group, run: () => (adding.value = true) },
    { keys: "j", label: "Next card", group, run: () => step(0, 1), quiet: true },
    { keys: "k", label: "Previous card", group, run: () => step(0, -1), quiet: true },
    { keys: "h", label: "Column to the left", group, run: () => step(-1, 0), quiet: true },
    { keys: "l", label: "Column to the right", group, run: () => step(1, 0), quiet: true },
    { keys: "Enter", label: "Open the card", group, run: () => chosen.peek() && openTask(chosen.peek()), quiet: true },
    { keys: "+", label: "Raise priority", group, run: raise(1), quiet: true },
    { keys: "-", label: "Lower priority", group, run: raise(-1), quiet: true },
    { keys: "r", label: "Retry", group, run: ask("retry"), quiet: true },
    { keys: "u", label: "Unblock", group, run: ask("unblock"), quiet: true },
    { keys: "b", label: "Block", group, run: ask("block"), quiet: true },
    { keys: "x", label: "Cancel", group, run: ask("cancel"), quiet: true },
  ]);
  useEffect(
    () => () => {
      chosen.value = "";
    },
    [],
  );
}

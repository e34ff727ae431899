/** One column: a header that collapses it, and its cards. */

import { signal } from "@preact/signals";
import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { tables } from "../../live";
import { StateSign } from "../../ui/icons";
import { toneOf } from "../../ui/parts";
import { VirtualList } from "../../ui/virtual";
import { changePriority } from "../task/actions";
import { chosen } from "./chosen";
import { type ColumnName, moveTo, priorityAfter, priorityBefore, TALL } from "./columns";
import { TaskCard } from "./TaskCard";

const NAME = "corral-folded";
const folded = signal<ReadonlySet<string>>(new Set((localStorage.getItem(NAME) ?? "cancelled").split(",")));
/** The id of the card being dragged. */
const dragged = signal("");

function fold(name: string): void {
  const next = new Set(folded.peek());
  if (!next.delete(name)) next.add(name);
  folded.value = next;
  localStorage.setItem(NAME, [...next].join());
}

const cardAt = (event: DragEvent) => (event.target as Element).closest<HTMLElement>("[data-task]");

/** A card dropped on another takes its place: after it when dragged down, before it when dragged up. */
const isAfter = (ids: readonly string[], held: string, other: string) => ids.indexOf(held) < ids.indexOf(other);

/** Show where the card would go, with a line above or below the card under the pointer. */
function mark(event: DragEvent, held: string, ids: readonly string[]): void {
  const card = cardAt(event);
  const other = card?.dataset.task ?? held;
  const side = isAfter(ids, held, other) ? "after" : "before";
  if (card?.dataset.drop === side) return;
  unmark();
  if (card && other !== held) card.dataset.drop = side;
}

function unmark(): void {
  for (const card of document.querySelectorAll<HTMLElement>("[data-drop]")) delete card.dataset.drop;
}

type Props = { name: ColumnName; ids: readonly string[]; onDrop: (id: string, column: ColumnName) => void };

export const Column = memo(function Column({ name, ids, onDrop }: Props) {
  const [over, setOver] = useState(false);
  const slim = (folded.value.has(name) || ids.length === 0) && !over;
  const held = dragged.value ? tables.tasks.row(dragged.value) : undefined;
  const welcome = held !== undefined && (held.column === name || moveTo(held, name) !== null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    unmark();
    setOver(false);
    if (!held) return;
    if (held.column !== name) return onDrop(held.id, name);
    const onto = (event.target as Element).closest<HTMLElement>("[data-task]")?.dataset.task;
    const other = onto && onto !== held.id ? tables.tasks.row(onto) : undefined;
    if (other)
      changePriority(held, isAfter(ids, held.id, other.id) ? priorityAfter(held, other) : priorityBefore(held, other));
  };
  const dragOver = (event: DragEvent) => {
    if (!welcome) return;
    event.preventDefault();
    setOver(true);
    if (held?.column === name) mark(event, held.id, ids);
  };
  const leave = (event: DragEvent) => {
    unmark();
    if (!(event.currentTarget as Element).contains(event.relatedTarget as Node | null)) setOver(false);
  };
  return (
    <section
      id={`column-${name}`}
      class={`column tone-${toneOf(name)}${slim ? " slim" : ""}${over && welcome ? " over" : ""}`}
      aria-label={`${name}, ${ids.length}`}
      data-column={name}
      onDragOver={dragOver}
      onDragLeave={leave}
      onDrop={drop}
    >
      <button
        type="button"
        class="head"
        aria-expanded={!slim}
        onClick={() => fold(name)}
        title={slim ? "Expand" : "Collapse"}
      >
        <StateSign state={name} tone={toneOf(name)} />
        <span class="name">{name}</span>
        <span class="number faint">{ids.length}</span>
      </button>
      {!slim && (
        <VirtualList
          items={ids}
          height={TALL.has(name) ? 116 : 82}
          label={`Tasks: ${name}`}
          keyOf={(id) => id}
          reveal={ids.indexOf(chosen.value)}
          render={(id) => <TaskCard id={id} tall={TALL.has(name)} dragged={dragged} />}
        />
      )}
    </section>
  );
});

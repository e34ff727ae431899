/** The history as a list and as swim lanes, with a slider to any moment. */

import { computed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useKeys } from "../../lib/keys";
import { place, setQuery } from "../../lib/router";
import { store, tables, useLog } from "../../live";
import type { PageProps } from "../../shell/pages";
import { Choice, Filters, Page, Search } from "../../ui/parts";
import { type Filter, KINDS, type LogEvent } from "./events";
import { List } from "./List";
import { makePictureRange, Picture } from "./Picture";
import { Range } from "./range";
import { Scrubber } from "./Scrubber";
import { backToNow, step } from "./scrub";
import "../sessions/sessions.css";
import "./timeline.css";

const filter = computed<Filter>(() => {
  const { type = "", on = "", convoy = "", actor = "", text = "" } = place.value.query;
  return { type, task: on, convoy, actor, text };
});
const convoys = computed(() => tables.convoys.rows.value.map((row) => [row.id, row.title] as const));
const kinds = KINDS.map((kind) => [kind, kind] as const);
const VIEWS = [
  ["", "Both"],
  ["list", "List"],
  ["lanes", "Lanes"],
] as const;

export default function Timeline(_: PageProps) {
  const asked = filter.value;
  const view = place.value.query.view ?? "";
  const filtered = Object.values(asked).some(Boolean);
  const makeList = (anchor: number | null) => new Range(asked, anchor, filtered ? null : () => true);
  const listed = useRange(makeList, JSON.stringify(asked), view !== "lanes");
  const drawn = useRange((anchor) => makePictureRange(asked, anchor), `${asked.task} ${asked.convoy}`, view !== "list");
  useLog((line) => {
    shown.list?.take(line);
    shown.picture?.take(line);
  });
  const shown = useMemo(() => ({ list: listed, picture: drawn }), []);
  [shown.list, shown.picture] = [listed, drawn];
  useTimeKeys();
  const types = useTypes(listed, asked.type);
  const tools = (
    <>
      <Search value={asked.text} onInput={(text) => setQuery({ text })} label="Filter by text" />
      <Filters>
        <fieldset class="segments" aria-label="View">
          {VIEWS.map(([name, word]) => (
            <button type="button" key={name} aria-pressed={view === name} onClick={() => setQuery({ view: name })}>
              {word}
            </button>
          ))}
        </fieldset>
        <Choice
          label="Type"
          all="All types"
          value={asked.type}
          options={types}
          onChange={(type) => setQuery({ type })}
        />
        {(convoys.value.length > 1 || asked.convoy) && (
          <Choice
            label="Convoy"
            all="All convoys"
            value={asked.convoy}
            options={convoys.value}
            onChange={(convoy) => setQuery({ convoy })}
          />
        )}
        <input
          class="input short"
          type="search"
          aria-label="Task"
          placeholder="Task"
          value={asked.task}
          onInput={(event) => setQuery({ on: event.currentTarget.value.trim().toUpperCase() })}
        />
        <input
          class="input short"
          type="search"
          aria-label="Actor"
          placeholder="Actor"
          value={asked.actor}
          onInput={(event) => setQuery({ actor: event.currentTarget.value.trim() })}
        />
      </Filters>
    </>
  );
  return (
    <Page title="Timeline" tools={tools} whole>
      <div class={`timeline view-${view || "both"}`}>
        <Scrubber />
        {drawn && <Picture range={drawn} filter={asked} />}
        {listed && <List range={listed} filtered={filtered} />}
      </div>
    </Page>
  );
}

/** The range of the log around the moment shown; replaced when it does not contain it or the filter changes. */
function useRange(make: (anchor: number | null) => Range, key: string, wanted: boolean): Range | null {
  const past = store.past.value;
  const held = useMemo(() => ({ range: null as Range | null, key: "" }), []);
  const old = held.range;
  if (!wanted) {
    old?.close();
    held.range = null;
  } else if (
    !old ||
    held.key !== key ||
    (past === null ? old.anchor !== null : old.low.value > 0 && !old.holds(past))
  ) {
    old?.close();
    held.range = make(past);
    held.key = key;
  }
  const { range } = held;
  useEffect(() => void range?.more(), [range]);
  useEffect(() => () => held.range?.close(), []);
  return range;
}

/** The kinds of events, and the exact types among the loaded ones. */
function useTypes(range: Range | null, chosen: string): (readonly [string, string])[] {
  const events: readonly LogEvent[] = range?.events.value ?? [];
  return useMemo(() => {
    const exact = new Set([
      ...events.slice(-2000).map((event) => event.type),
      ...(chosen.includes(".") ? [chosen] : []),
    ]);
    return kinds.flatMap((kind) => [
      kind,
      ...[...exact]
        .filter((type) => type.startsWith(`${kind[0]}.`))
        .sort()
        .map((type) => [type, ` ${type}`] as const),
    ]);
  }, [events, chosen]);
}

function useTimeKeys(): void {
  const group = "Timeline";
  useKeys([
    { keys: "[", label: "Previous event", group, run: () => step(-1) },
    { keys: "]", label: "Next event", group, run: () => step(1) },
    { keys: "Left", label: "Previous event", group, run: () => step(-1), quiet: true },
    { keys: "Right", label: "Next event", group, run: () => step(1), quiet: true },
    { keys: "{", label: "Back 100 events", group, run: () => step(-100), quiet: true },
    { keys: "}", label: "Forward 100 events", group, run: () => step(100), quiet: true },
    { keys: ".", label: "Back to now", group, run: backToNow },
  ]);
}

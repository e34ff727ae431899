/** The events as swim lanes: one per task or session, with time from left to right. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SessionRow } from "../../api/rows";
import { now, pastAt } from "../../lib/clock";
import { useKeys } from "../../lib/keys";
import { go, openTask, pathTo } from "../../lib/router";
import { clock, count, moment, plural, span } from "../../lib/words";
import { store, tables } from "../../live";
import { Button, EmptyState } from "../../ui/parts";
import { visible } from "../../ui/virtual";
import type { Filter } from "./events";
import { type Bar, type By, DRAWN, type Lane, lanesOf, type Mark, SPANS, stacked, ticks, zoomed } from "./lanes";
import { Range } from "./range";
import { look } from "./scrub";

const LANE = 24;
const CHECK = 12; // the height of one row of check runs
const LEFT = 84;
const DAY = 86_400_000; // shown at most until the reader zooms out
const MOST = 6000; // events drawn at most
const SHAPES: Record<Mark["shape"], string> = {
  landed: "M-5 0L-1.5 4L5.5 -4.5",
  alert: "M0 -6L6 5H-6Z",
  failed: "M-4 -4L4 4M4 -4L-4 4",
  returned: "M4 -4H-2A3.5 3.5 0 0 0 -2 4H4M1 -7L4 -4L1 -1",
  limited: "M-2.5 -5V5M2.5 -5V5",
  asked: "M-3 -3A3 3 0 1 1 0 1V2.5M0 5V5.2",
};

export function makePictureRange(filter: Filter, anchor: number | null): Range {
  const { task, convoy } = filter;
  const drawn = new Set<string>(DRAWN);
  // Only the server knows which convoy an event belongs to.
  return new Range(
    { type: DRAWN.join(","), task, convoy, actor: "", text: "" },
    anchor,
    task || convoy ? null : (event) => drawn.has(event.type),
    undefined,
    MOST,
  );
}

export function Picture({ range, filter }: { range: Range; filter: Filter }) {
  const [by, setBy] = useState<By>("task");
  const [length, setLength] = useState(0); // 0: fit to the events
  const [shift, setShift] = useState(0); // back from the end
  const [told, setTold] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const events = range.events.value;
  const last = events.at(-1)?.at ?? 0;
  const latest = range.anchor === null ? (store.past.value === null ? now.value : Math.max(last, pastAt.value)) : last;
  const fit = useRef({ range, first: 0 });
  if (fit.current.range !== range || range.low.value === 1 || !fit.current.first)
    fit.current = { range, first: events[0]?.at ?? 0 };
  // As far back as the first load; showing more means loading more.
  const fitting = (latest - (fit.current.first || latest)) * 1.02;
  const shownFor = length || Math.min(Math.max(fitting, SPANS[0]!), DAY);
  const to = latest - shift + shownFor * 0.02;
  const from = latest - shift - shownFor;
  useEffect(() => {
    // Nothing left of the picture's left edge is needed.
    if (
      !range.whole &&
      !range.loading.value &&
      (range.low.value === 0 || (length + shift > 0 && (events[0]?.at ?? 0) > from))
    )
      void range.more(1000);
  }, [range, range.loading.value, events, from]);

  const rows = tables.sessions.rows.value;
  // Lay out again only when something drawn differs or the picture has moved a little.
  const known = rows.map((row) => row.id + row.verdict).join();
  const edge = Math.floor(from / (shownFor / 50)) * (shownFor / 50);
  const lanes = useMemo(() => {
    const fits = (row: SessionRow) =>
      (!filter.convoy || row.convoy === filter.convoy) && (!filter.task || row.task === filter.task);
    return lanesOf(
      events.filter((event) => event.at <= to),
      rows.filter((row) => fits(row) && row.started_at <= to),
      by,
      edge,
    );
  }, [events, known, by, edge, filter.convoy, filter.task]);
  const zoom = (step: 1 | -1) => setLength(zoomed(shownFor, step));
  const move = (part: number) => setShift(Math.max(0, shift + part * shownFor));
  useKeys([
    { keys: "+", label: "Zoom in", group: "Timeline", run: () => zoom(-1) },
    { keys: "-", label: "Zoom out", group: "Timeline", run: () => zoom(1) },
  ]);
  const x = (at: number) => LEFT + ((Math.max(from, Math.min(to, at)) - from) / (to - from)) * (size.width - LEFT);
  const pick = (event: MouseEvent) => {
    if ((event.target as Element).closest("[data-bar],[data-mark],[data-lane-name]")) return;
    const left = event.clientX - box.current!.getBoundingClientRect().left;
    const at = from + ((left - LEFT) / (size.width - LEFT)) * (to - from);
    const before = events.findLast((one) => one.at <= at);
    if (left > LEFT && before) look(before.seq);
  };
  const wheel = (event: WheelEvent) => {
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1 : -1);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      move((-(event.deltaX || event.deltaY) / size.width) * 1);
    else return;
    event.preventDefault();
  };
  const placed = place(lanes, to);
  const tall = placed.at(-1) ? placed.at(-1)!.top + placed.at(-1)!.height : 0;
  const [first, end] = visible(size.top, size.height, LANE, placed.length);
  const shown = placed.filter((one, at) => at >= first && at < end + 20 && one.top < size.top + size.height + 200);
  const cursor = store.past.value !== null && pastAt.value >= from && pastAt.value <= to ? x(pastAt.value) : null;
  return (
    <section class="picture" aria-label="Lanes">
      <div class="bar">
        <fieldset class="segments" aria-label="Lanes by">
          {(["task", "session"] as const).map((name) => (
            <button type="button" key={name} aria-pressed={by === name} onClick={() => setBy(name)}>
              {name === "task" ? "Tasks" : "Sessions"}
            </button>
          ))}
        </fieldset>
        <Button kind="quiet" icon="back" label="Earlier" onClick={() => move(0.5)} />
        <Button kind="quiet" icon="forward" label="Later" disabled={shift === 0} onClick={() => move(-0.5)} />
        <Button
          kind="quiet"
          icon="plus"
          label="Zoom in (+)"
          disabled={shownFor <= SPANS[0]!}
          onClick={() => zoom(-1)}
        />
        <Button
          kind="quiet"
          icon="minus"
          label="Zoom out (-)"
          disabled={shownFor >= SPANS.at(-1)!}
          onClick={() => zoom(1)}
        />
        <span class="small soft number">{span(shownFor)}</span>
        <span class="told small cut grow" role="status">
          {told ||
            (range.loading.value
              ? "Loading …"
              : range.low.value > 1 && events.length >= MOST
                ? `Only the last ${count(MOST)} events are shown. Zoom in, or go to an earlier moment.`
                : "")}
        </span>
      </div>
      <section ref={box} class="drawing" tabIndex={0} aria-label="Swim lanes" onWheel={wheel}>
        {!placed.length && <EmptyState title={range.loading.value ? "Loading …" : "Nothing ran in this period."} />}
        {placed.length > 0 && (
          <svg
            width={size.width}
            height={tall + LANE}
            onClick={pick}
            role="group"
            aria-label={`${plural(lanes.length, "lane")}, from ${moment(from)} to ${moment(to)}`}
            onMouseLeave={() => setTold("")}
          >
            <Axis from={from} to={to} x={x} top={size.top} height={tall + LANE} width={size.width} />
            {shown.map(({ lane, top, height, rows }) => (
              <g key={lane.id} class="lane" data-lane={lane.id} transform={`translate(0 ${top + LANE})`}>
                <rect class="ground" x={0} y={0} width={size.width} height={height} />
                {lane.bars.map((bar) => (
                  <Drawn
                    key={bar.key}
                    bar={bar}
                    y={lane.kind === "checks" ? rows.get(bar.key)! * CHECK + 2 : 5}
                    high={lane.kind === "checks" ? CHECK - 3 : LANE - 10}
                    x={x}
                    end={to}
                    tell={setTold}
                  />
                ))}
                {lane.marks
                  .filter((mark) => mark.at <= to)
                  .map((mark) => (
                    <Sign key={mark.seq} mark={mark} x={x(mark.at)} y={height / 2} tell={setTold} />
                  ))}
                <Name lane={lane} height={height} />
              </g>
            ))}
            {cursor !== null && <line class="cursor" x1={cursor} x2={cursor} y1={0} y2={tall + LANE} />}
          </svg>
        )}
      </section>
    </section>
  );
}

type Placed = { lane: Lane; top: number; height: number; rows: Map<string, number> };

function place(lanes: readonly Lane[], end: number): Placed[] {
  let top = 0;
  return lanes.map((lane) => {
    const packed = lane.kind === "checks" ? stacked(lane.bars, end) : { rows: new Map<string, number>(), height: 1 };
    const height = lane.kind === "checks" ? Math.max(LANE, packed.height * CHECK + 4) : LANE;
    const placed = { lane, top, height, rows: packed.rows };
    top += height;
    return placed;
  });
}

function Axis({
  from,
  to,
  x,
  top,
  height,
  width,
}: {
  from: number;
  to: number;
  x: (at: number) => number;
  top: number;
  height: number;
  width: number;
}) {
  return (
    <g class="axis">
      {ticks(from, to, Math.max(2, (width - LEFT) / 90)).map(({ at, step }) => (
        <line key={at} x1={x(at)} x2={x(at)} y1={0} y2={height} data-step={step} />
      ))}
      <rect x={0} y={top} width={width} height={LANE - 2} class="head" />
      {ticks(from, to, Math.max(2, (width - LEFT) / 90)).map(({ at, step }) => (
        <text key={at} x={x(at) + 4} y={top + 15}>
          {step >= 86_400_000
            ? new Date(at).toLocaleDateString(undefined, { month: "short", day: "numeric" })
            : clock(at).slice(0, step >= 60_000 ? 5 : 8)}
        </text>
      ))}
    </g>
  );
}

function Drawn({
  bar,
  y,
  high,
  x,
  end,
  tell,
}: {
  bar: Bar;
  y: number;
  high: number;
  x: (at: number) => number;
  end: number;
  tell: (text: string) => void;
}) {
  const open = () => (bar.session ? go(pathTo("sessions", [bar.session])) : go(pathTo("queue", [bar.run])));
  const [left, right] = [x(bar.from), x(bar.to ?? end)];
  const begun = clock(bar.from);
  const when = bar.to ? `${span(bar.to - bar.from)}, ${begun} to ${clock(bar.to)}` : `since ${begun}`;
  const told = `${bar.told} · ${when}`;
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    open();
  };
  return (
    <rect
      class={`tone-${bar.tone}${bar.to === null ? " running" : ""}`}
      data-bar={bar.key}
      x={left}
      y={y}
      width={Math.max(3, right - left)}
      height={high}
      rx={3}
      tabIndex={0}
      role="link"
      aria-label={told}
      onMouseEnter={() => tell(told)}
      onFocus={() => tell(told)}
      onClick={open}
      onKeyDown={press}
    >
      <title>{told}</title>
    </rect>
  );
}

function Sign({ mark, x, y, tell }: { mark: Mark; x: number; y: number; tell: (text: string) => void }) {
  const told = `${mark.told} · ${clock(mark.at)}, event ${mark.seq}`;
  return (
    <g
      class={`sign tone-${mark.tone}`}
      data-mark={mark.shape}
      transform={`translate(${x} ${y})`}
      role="button"
      aria-label={told}
      tabIndex={-1}
      onMouseEnter={() => tell(told)}
      onClick={() => look(mark.seq)}
    >
      <circle r={8} />
      <path d={SHAPES[mark.shape]} />
      <title>{told}</title>
    </g>
  );
}

function Name({ lane, height }: { lane: Lane; height: number }) {
  const row = lane.kind === "task" ? tables.tasks.row(lane.id) : undefined;
  const open = () =>
    lane.kind === "task" ? openTask(lane.id) : lane.kind === "session" ? go(pathTo("sessions", [lane.id])) : undefined;
  return (
    <g data-lane-name class={lane.kind === "task" || lane.kind === "session" ? "name open" : "name"} onClick={open}>
      <rect x={0} y={0} width={LEFT - 4} height={height} />
      <text x={12} y={Math.min(height, LANE) / 2 + 4}>
        {lane.id}
      </text>
      {row && <title>{row.title}</title>}
    </g>
  );
}

function useSize(box: { current: HTMLDivElement | null }) {
  const [size, setSize] = useState({ width: 800, height: 300, top: 0 });
  useEffect(() => {
    const element = box.current!;
    const look = () =>
      setSize((old) => {
        const found = { width: element.clientWidth, height: element.clientHeight, top: element.scrollTop };
        return old.width === found.width && old.height === found.height && old.top === found.top ? old : found;
      });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return size;
}

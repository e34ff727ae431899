/** The events as a list, newest first; older ones load on scrolling. */

import { useMemo, useState } from "preact/hooks";
import { useKeys } from "../../lib/keys";
import { clock, count, moment, plural } from "../../lib/words";
import { tables } from "../../live";
import { Badge, Button, EmptyState, SessionLink, TaskLink } from "../../ui/parts";
import { VirtualList } from "../../ui/virtual";
import { eventTone, type LogEvent, subjectsOf, summaryOf, tasksOf } from "./events";
import type { Range } from "./range";
import { look, shownSeq } from "./scrub";

const ROW = 30;
const NARROW = 50;
const narrow = matchMedia("(max-width: 700px)");

export function List({ range, filtered }: { range: Range; filtered: boolean }) {
  const [chosen, setChosen] = useState(0);
  const end = shownSeq.value;
  const events = range.events.value;
  // The log as it was at the moment shown.
  const shown = useMemo(() => events.filter((event) => event.seq <= end).reverse(), [events, end]);
  const at = shown.findIndex((event) => event.seq === chosen);
  const step = (by: number) => () => {
    const next = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))];
    if (next) setChosen(next.seq);
  };
  const group = "Timeline";
  useKeys([
    { keys: "j", label: "Next event in the list", group, run: step(1), quiet: true },
    { keys: "k", label: "Previous event in the list", group, run: step(-1), quiet: true },
    {
      keys: "Enter",
      label: "Show the dashboard at the selected event",
      group,
      run: () => chosen && look(chosen),
      quiet: true,
    },
  ]);
  const low = range.low.value;
  return (
    <div class="events">
      <div class="listed">
        {shown.length > 0 && (
          <VirtualList
            items={shown}
            height={narrow.matches ? NARROW : ROW}
            label="Events, newest first"
            keyOf={(event) => String(event.seq)}
            reveal={at < 0 ? undefined : at}
            onEnd={() => void range.more()}
            render={(event) => (
              <Row
                event={event}
                chosen={event.seq === chosen}
                onChoose={() => setChosen(event.seq === chosen ? 0 : event.seq)}
              />
            )}
          />
        )}
        {!shown.length && (
          <EmptyState title={range.loading.value || !low ? "Loading …" : filtered ? "No matches." : "No events yet."}>
            {low > 1 && !range.loading.value && (
              <Button onClick={() => void range.more()}>Search before event {count(low)}</Button>
            )}
          </EmptyState>
        )}
        <p class="small faint foot">
          {low > 0 && (
            <>
              {plural(shown.length, "event")}
              {low > 1 ? `, searched back to event ${count(low)}` : ", back to the first event"}
              {range.loading.value && " …"}
            </>
          )}
        </p>
      </div>
      {at >= 0 && <Detail event={shown[at]!} onClose={() => setChosen(0)} />}
    </div>
  );
}

function Row({ event, chosen, onChoose }: { event: LogEvent; chosen: boolean; onChoose: () => void }) {
  const subjects = subjectsOf(event);
  return (
    <div
      class={chosen ? "event chosen" : "event"}
      data-event={event.seq}
      data-type={event.type}
      onClick={(click) => !(click.target as Element).closest("a,button") && onChoose()}
    >
      <span class="seq number faint">{event.seq}</span>
      <time class="number soft" title={moment(event.at)}>
        {clock(event.at)}
      </time>
      <span class="type">
        <Badge tone={eventTone(event)}>{event.type}</Badge>
      </span>
      <span class="about cut">
        {subjects.slice(0, 3).map((subject) => (
          <span key={subject.id}>
            <Link {...subject} />{" "}
          </span>
        ))}
        {subjects.length > 3 && `+${subjects.length - 3}`}
      </span>
      <button type="button" class="summary cut" aria-expanded={chosen} onClick={onChoose}>
        {summaryOf(event) || titleOf(event) || event.type}
      </button>
      <span class="actor cut soft">{event.actor}</span>
      <Button
        kind="quiet"
        icon="clock"
        label={`Show the dashboard at event ${event.seq}`}
        onClick={() => look(event.seq)}
      />
    </div>
  );
}

/** The title of the task that an event is about, for events without text. */
const titleOf = (event: LogEvent) =>
  tasksOf(event)
    .map((id) => tables.tasks.row(id)?.title)
    .find(Boolean) ?? "";

function Link({ kind, id }: { kind: string; id: string }) {
  if (kind === "task") return <TaskLink id={id} />;
  if (kind === "session") return <SessionLink id={id} />;
  return <span class="mono">{id}</span>;
}

function Detail({ event, onClose }: { event: LogEvent; onClose: () => void }) {
  return (
    <aside class="event-detail" aria-label={`Event ${event.seq}`}>
      <header class="across">
        <h2 class="grow cut">{event.type}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
      </header>
      <p class="small soft">
        Event {event.seq} · {moment(event.at)} · by {event.actor}
      </p>
      <dl class="stack">
        {Object.entries(event.data).map(([name, value]) => (
          <div key={name}>
            <dt class="small faint">{name}</dt>
            <dd class="prose mono">{typeof value === "string" ? value : JSON.stringify(value, null, 1)}</dd>
          </div>
        ))}
      </dl>
      <Button icon="clock" onClick={() => look(event.seq)}>
        Show the dashboard at this moment
      </Button>
    </aside>
  );
}

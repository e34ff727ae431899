/** Live output of a session, with colours, search and scrollback. */

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../lib/keys";
import { count } from "../../lib/words";
import { looks } from "../../ui/AnsiText";
import { Button, EmptyState, Search } from "../../ui/parts";
import type { Feed } from "./feed";
import { type Block, type Line, type Marked, marked } from "./output";

const NEAR = 400; // load more within this many pixels of an end

export function Output({ feed, live }: { feed: Feed; live: boolean }) {
  feed.version.value;
  const { printed } = feed;
  const box = useRef<HTMLDivElement>(null);
  const [follow, setFollow] = useState(true);
  const [typed, setTyped] = useState("");
  const wanted = useLater(typed, 150);
  const drawn = useDrawn();
  const { hits, at, go } = useHits(box, wanted, feed.version.value, () => setFollow(false));
  const byHand = useByHand();
  const height = useRef(0);
  const first = useRef(-1);

  useLayoutEffect(() => {
    const element = box.current!;
    const begin = printed.blocks[0]?.id ?? -1;
    // Keep the reader's place when older output is added above.
    if (!follow && first.current >= 0 && begin !== first.current)
      element.scrollTop += element.scrollHeight - height.current;
    if (follow) stick(element);
    if (element.scrollHeight <= element.clientHeight) void feed.older(); // there is room for more
    [height.current, first.current] = [element.scrollHeight, begin];
  });

  const scrolled = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    if (follow && !byHand.now()) return stick(box.current!);
    const below = scrollHeight - scrollTop - clientHeight;
    if (scrollTop < NEAR) void feed.older();
    if (below < NEAR) void feed.later();
    if (!printed.detached && below < 4) setFollow(true);
    else if (below > 40) setFollow(false);
  };
  const toEnd = () => {
    if (printed.detached) feed.toEnd();
    setFollow(true);
  };
  useKeys([
    {
      keys: "f",
      label: "Follow the output, or stop following",
      group: "Session",
      run: () => (follow ? setFollow(false) : toEnd()),
    },
    { keys: "n", label: "Next match", group: "Session", run: () => go(1), quiet: true },
    { keys: "N", label: "Previous match", group: "Session", run: () => go(-1), quiet: true },
  ]);
  const find = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  };
  const empty = !printed.blocks.length && !printed.last.length;
  return (
    <div class="output">
      <div class="bar" onKeyDown={find}>
        <Search value={typed} onInput={setTyped} label="Search the output" />
        {wanted && (
          <>
            <span class="small soft number" role="status">
              {hits ? `${at + 1} of ${count(hits)}` : "no matches"}
              {!printed.whole && " in the loaded part"}
            </span>
            <Button
              kind="quiet"
              icon="up"
              label="Previous match (Shift Enter)"
              disabled={!hits}
              onClick={() => go(-1)}
            />
            <Button kind="quiet" icon="down" label="Next match (Enter)" disabled={!hits} onClick={() => go(1)} />
            {!printed.whole && (
              <Button kind="quiet" onClick={() => void feed.older()}>
                Load older
              </Button>
            )}
          </>
        )}
        <span class="grow" />
        {live ? (
          <Button
            icon="down"
            pressed={follow}
            title={follow ? "Following the end (f)" : "Go to the end and follow it (f)"}
            onClick={() => (follow ? setFollow(false) : toEnd())}
          >
            Follow
          </Button>
        ) : (
          <span class="small faint">ended</span>
        )}
      </div>
      <div
        ref={box}
        class="printed ansi"
        role="log"
        aria-live="off"
        aria-label="Output"
        tabIndex={0}
        onScroll={scrolled}
        {...byHand.on}
      >
        {empty && <EmptyState title={live ? "No output yet." : "No output, or it is no longer kept."} />}
        {!empty && !printed.whole && (
          <div class="edge">
            {printed.begin && (
              <button type="button" class="button quiet" onClick={() => void feed.older()}>
                Load older output
              </button>
            )}
          </div>
        )}
        {printed.blocks.map((block) => drawn(block, wanted))}
        {printed.last.length > 0 && <div>{pieces([printed.last], wanted)}</div>}
        {printed.detached && (
          <div class="edge">
            <button type="button" class="button" onClick={toEnd}>
              {feed.newer.value ? "New output below: go to the end" : "Go to the end"}
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

/** Scroll to the end, and again once the new content has its final height. */
function stick(element: HTMLElement): void {
  element.scrollTop = element.scrollHeight;
  requestAnimationFrame(() => (element.scrollTop = element.scrollHeight));
}

/** Distinguishes scrolling by a person from scrolling caused by height changes. */
function useByHand() {
  const [at, held] = [useRef(0), useRef(false)];
  useEffect(() => {
    const free = () => (held.current = false);
    addEventListener("pointerup", free);
    return () => removeEventListener("pointerup", free);
  }, []);
  const note = () => {
    at.current = performance.now();
  };
  const hold = () => {
    held.current = true;
  };
  return {
    now: () => held.current || performance.now() - at.current < 400,
    on: { onWheel: note, onTouchMove: note, onKeyDown: note, onPointerDown: hold },
  };
}

/** Reuse the node of a block that has not changed, so that it costs nothing. */
function useDrawn(): (block: Block, wanted: string) => VNode {
  const known = useRef(new Map<number, { block: Block; wanted: string; node: VNode }>());
  const fresh: typeof known.current = new Map();
  useEffect(() => {
    known.current = fresh;
  });
  return (block, wanted) => {
    const old = known.current.get(block.id);
    const one =
      old && old.block === block && old.wanted === wanted
        ? old
        : { block, wanted, node: <Lines key={block.id} block={block} wanted={wanted} /> };
    fresh.set(block.id, one);
    return one.node;
  };
}

function Lines({ block, wanted }: { block: Block; wanted: string }) {
  return (
    <>
      {block.gap && <div class="edge">Some output is missing here; it is no longer kept.</div>}
      {block.lines.length > 0 && <div class="block">{pieces(block.lines, wanted)}</div>}
    </>
  );
}

/** Keep plain text as one node over many lines; only coloured text and matches become elements. */
function pieces(lines: readonly Line[], wanted: string): (string | VNode)[] {
  const found: (string | VNode)[] = [];
  let plain = "";
  const put = (node: VNode) => {
    if (plain) found.push(plain);
    plain = "";
    found.push(node);
  };
  for (const line of lines) {
    const parts: readonly Marked[] = wanted ? marked(line, wanted).pieces : line;
    for (const piece of parts) {
      const props = looks(piece.style);
      if (piece.hit)
        put(
          <mark {...(piece.starts ? { "data-hit": "" } : {})}>
            <span {...props}>{piece.text}</span>
          </mark>,
        );
      else if (props.class || props.style) put(<span {...props}>{piece.text}</span>);
      else plain += piece.text;
    }
    plain += "\n";
  }
  if (plain) found.push(plain);
  return found;
}

/** Step through matches, starting with the last one, because the view starts at the end. */
function useHits(box: { current: HTMLDivElement | null }, wanted: string, version: number, leave: () => void) {
  const [place, setPlace] = useState({ hits: 0, at: -1 });
  const all = () => [...(box.current?.querySelectorAll("[data-hit]") ?? [])];
  const show = (found: Element[], at: number) => {
    for (const mark of box.current?.querySelectorAll("[data-here]") ?? []) mark.removeAttribute("data-here");
    found[at]?.setAttribute("data-here", "");
    found[at]?.scrollIntoView({ block: "center" });
  };
  useLayoutEffect(() => {
    const found = wanted ? all() : [];
    const at = found.length - 1;
    setPlace({ hits: found.length, at });
    if (at < 0) return;
    leave();
    show(found, at);
  }, [wanted]);
  useLayoutEffect(() => {
    if (!wanted) return;
    const found = all();
    const at = found.findIndex((mark) => mark.hasAttribute("data-here"));
    setPlace((old) =>
      old.hits === found.length && (at < 0 || old.at === at)
        ? old
        : { hits: found.length, at: at < 0 ? Math.min(old.at, found.length - 1) : at },
    );
  }, [version]);
  const go = (step: number) => {
    const found = all();
    if (!found.length) return;
    const at = (Math.max(0, place.at) + step + found.length) % found.length;
    leave();
    setPlace({ hits: found.length, at });
    show(found, at);
  };
  return { ...place, go };
}

function useLater(value: string, ms: number): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}

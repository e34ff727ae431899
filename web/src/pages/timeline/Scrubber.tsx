/** A slider over all events; the whole dashboard shows the selected moment. */

import { count, moment } from "../../lib/words";
import { store } from "../../live";
import { Button } from "../../ui/parts";
import { backToNow, inPast, look, shownEvent, shownSeq, step } from "./scrub";

export function Scrubber() {
  const [newest, seq, past] = [store.newest.value, shownSeq.value, inPast.value];
  const event = shownEvent.value;
  const said = past && event?.seq === seq ? `${moment(event.at)} · ${event.type}` : "";
  return (
    <fieldset class={past ? "scrubber back" : "scrubber"} aria-label="Go back in time">
      <Button kind="quiet" icon="back" label="Previous event ([)" disabled={seq <= 1} onClick={() => step(-1)} />
      <input
        type="range"
        aria-label="Event"
        aria-valuetext={past ? `event ${seq} of ${newest}${said && `, ${said}`}` : "now"}
        min={1}
        max={Math.max(1, newest)}
        step={1}
        value={seq}
        onInput={(input) => look(Number(input.currentTarget.value))}
      />
      <Button kind="quiet" icon="forward" label="Next event (])" disabled={!past} onClick={() => step(1)} />
      <span class="where small number">
        <strong>{past ? `Event ${count(seq)}` : "Now"}</strong>{" "}
        <span class="soft">
          {past ? `of ${count(newest)}` : `event ${count(newest)}`}
          {said && ` · ${said}`}
        </span>
      </span>
      {past && (
        <Button kind="first" icon="clock" onClick={backToNow}>
          Back to now
        </Button>
      )}
    </fieldset>
  );
}

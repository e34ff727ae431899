/** Stops a conversation and its engine. */

import { useState } from "preact/hooks";
import type { MayorRow } from "../../api/rows";
import { Button, Dialog, Field } from "../../ui/parts";
import { act } from "../../ui/toast";

export function Ending({ row }: { row: MayorRow }) {
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const stop = async (event: Event) => {
    event.preventDefault();
    if (await act("/api/mayor/stop", { reason: reason.trim() }, "Conversation stopped")) setAsking(false);
  };
  return (
    <>
      <Button kind="quiet" icon="stop" onClick={() => setAsking(true)}>
        Stop …
      </Button>
      {asking && (
        <Dialog title="Stop the conversation" onClose={() => setAsking(false)}>
          <form class="fill" onSubmit={(event) => void stop(event)}>
            <p>
              {row.state === "asking"
                ? "This stops the engine and ends the conversation."
                : "This ends the conversation."}{" "}
              Tasks on the board stay there.
            </p>
            <Field label="Reason (optional)">
              <input class="input" autofocus value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
            </Field>
            <div class="foot">
              <Button onClick={() => setAsking(false)}>Cancel</Button>
              <Button type="submit" kind="danger">
                Stop conversation
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}

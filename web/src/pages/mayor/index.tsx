import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Mayor(_: PageProps) {
  return (
    <Page title="Mayor">
      <EmptyState title="Not built yet." />
    </Page>
  );
}

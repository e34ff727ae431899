import type { PageProps } from "../../shell/pages";
import { EmptyState, Page } from "../../ui/parts";

export default function Timeline(_: PageProps) {
  return (
    <Page title="Timeline">
      <EmptyState title="Not built yet." />
    </Page>
  );
}

import { RunsPage } from "#components/runs/runs-page.tsx";

export default function Page() {
  return <RunsPage />;
}

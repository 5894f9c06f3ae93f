import { RunPage } from "#components/runs/run-page.tsx";

export default async function Page({ params }: { params: Promise<{ runId: string }> }) {
  const { runId } = await params;
  return <RunPage runId={decodeURIComponent(runId)} />;
}

import Link from "next/link";
import { Empty } from "#components/feedback/empty.tsx";

export default function NotFound() {
  return (
    <main>
      <h1 className="sr-only">No such page</h1>
      <Empty kind="nothing-matches" title="No such page">
        The address leads nowhere.{" "}
        <Link href="/approvals" className="text-active underline underline-offset-2">
          Go to Approvals
        </Link>
      </Empty>
    </main>
  );
}

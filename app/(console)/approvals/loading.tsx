import { SkeletonRows } from "#components/feedback/skeleton.tsx";

export default function Loading() {
  return <SkeletonRows height={58} label="approvals" />;
}

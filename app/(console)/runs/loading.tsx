import { SkeletonRows } from "#components/feedback/skeleton.tsx";

export default function Loading() {
  return <SkeletonRows rows={14} label="runs" />;
}

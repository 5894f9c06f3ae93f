import { SkeletonRows } from "#components/feedback/skeleton.tsx";

export default function Loading() {
  return <SkeletonRows rows={12} label="settings" />;
}

/** Every kind of act that the audit knows, with an icon of its own (C097). Another version's verbs are shown by name. */
import {
  Archive,
  ArchiveRestore,
  ArchiveX,
  BadgeCheck,
  Bug,
  CheckCheck,
  CircleQuestionMark,
  Eye,
  FileCheck2,
  Gavel,
  Hourglass,
  KeyRound,
  Link2,
  LogIn,
  LogOut,
  type LucideIcon,
  OctagonX,
  Play,
  Radar,
  RotateCcw,
  ScanEye,
  ScrollText,
  Send,
  ShieldCheck,
  TimerReset,
  Trash2,
} from "lucide-react";

const icons: Readonly<Record<string, LucideIcon>> = {
  "submit-input": Send,
  "decide-approval": Gavel,
  "extend-approval": TimerReset,
  "expire-approval": Hourglass,
  "look-at-approval": ScanEye,
  "resolve-unknown": BadgeCheck,
  "probe-unknown": Radar,
  "acknowledge-denial": CheckCheck,
  "abort-run": OctagonX,
  "wake-run": Play,
  "retry-run": RotateCcw,
  view: Eye,
  "read-diagnostics": Bug,
  "read-audit": ScrollText,
  "export-proof": FileCheck2,
  "verify-journal": ShieldCheck,
  "sign-in": LogIn,
  "sign-out": LogOut,
  "create-sign-in-link": Link2,
  "set-own-password": KeyRound,
  "archive-runs": Archive,
  "delete-runs": Trash2,
  "restore-archive": ArchiveRestore,
  "abandon-archive": ArchiveX,
};

/** In the order in which a filter offers them. */
export const auditVerbs: ReadonlyArray<string> = Object.keys(icons);

export const verbIcon = (verb: string): LucideIcon =>
  Object.hasOwn(icons, verb) ? (icons[verb] ?? CircleQuestionMark) : CircleQuestionMark;

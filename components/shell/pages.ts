import {
  Activity,
  Bot,
  Bug,
  CircleQuestionMark,
  Inbox,
  type LucideIcon,
  Plus,
  Scale,
  ScrollText,
  Server,
  Settings,
  ShieldX,
} from "lucide-react";
import type { Counts } from "#lib/contract/shell-views.ts";

/** Every page of the console, once: the sidebar, the palette and the `g` keys are drawn from this. */
export interface PageEntry {
  readonly href: string;
  readonly name: string;
  /** Second key after `g`. */
  readonly letter: string;
  readonly icon: LucideIcon;
  readonly badge?: (counts: Counts) => number;
  /** What it is for, in the palette. */
  readonly about: string;
}

export const pages: ReadonlyArray<PageEntry> = [
  {
    href: "/approvals",
    name: "Approvals",
    letter: "a",
    icon: Inbox,
    badge: (counts) => counts.pendingApprovals,
    about: "calls that wait for a person",
  },
  {
    href: "/runs",
    name: "Runs",
    letter: "r",
    icon: Activity,
    badge: (counts) => counts.activeRuns,
    about: "every run, live",
  },
  { href: "/runs/new", name: "New run", letter: "n", icon: Plus, about: "give an agent a request" },
  {
    href: "/unknowns",
    name: "Unknowns",
    letter: "u",
    icon: CircleQuestionMark,
    badge: (counts) => counts.openUnknowns,
    about: "effects whose outcome is in doubt",
  },
  {
    href: "/denials",
    name: "Denials",
    letter: "d",
    icon: ShieldX,
    badge: (counts) => counts.openDenials,
    about: "what policy refused, and checks that failed",
  },
  {
    href: "/failures",
    name: "Failures",
    letter: "f",
    icon: Bug,
    about: "private evidence of failures",
  },
  {
    href: "/obligations",
    name: "Obligations",
    letter: "o",
    icon: Scale,
    about: "what is accepted and not settled",
  },
  { href: "/agents", name: "Agents", letter: "g", icon: Bot, about: "agents and their tools" },
  {
    href: "/workers",
    name: "Workers",
    letter: "w",
    icon: Server,
    about: "processes that drive threads",
  },
  { href: "/audit", name: "Audit", letter: "l", icon: ScrollText, about: "who did what" },
  {
    href: "/settings",
    name: "Settings",
    letter: "s",
    icon: Settings,
    about: "theme, density, time zone, password",
  },
];

/** The entry that an address belongs to: the longest that it starts with. */
export const pageOf = (pathname: string): PageEntry | undefined =>
  pages
    .filter((page) => pathname === page.href || pathname.startsWith(`${page.href}/`))
    .toSorted((left, right) => right.href.length - left.href.length)[0];

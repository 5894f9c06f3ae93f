/** The console as an operator's browser sees it: the few gestures that the specs are written in. */
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, expect, type Page } from "@playwright/test";
import { shoot, shootBothThemes } from "./shoot.ts";

/** Every page that the sidebar links, with the heading it must show. */
export const consolePages = [
  ["/approvals", "Approvals"],
  ["/runs", "Runs"],
  ["/runs/new", "New run"],
  ["/unknowns", "Unknowns"],
  ["/denials", "Denials"],
  ["/failures", "Failures"],
  ["/obligations", "Obligations"],
  ["/agents", "Agents"],
  ["/workers", "Workers"],
  ["/audit", "Audit"],
  ["/settings", "Settings"],
] as const;

export class ConsolePage {
  /** Scripts refused, errors thrown and policy reports, collected as they come. */
  readonly faults: Array<string> = [];

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
    readonly origin: string,
  ) {
    page.on("pageerror", (error) => this.faults.push(`thrown: ${error.message}`));
    page.on("console", (line) => {
      if (/Content.Security.Policy|hydrat/i.test(line.text())) this.faults.push(line.text());
    });
  }

  /** A browser of its own, signed in by a one-time link. */
  static async signedIn(browser: Browser, origin: string, link: string): Promise<ConsolePage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const console = new ConsolePage(page, context, origin);
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in with this link" }).click();
    await page.waitForURL(/\/approvals/);
    await console.isLive();
    return console;
  }

  async open(address: string): Promise<void> {
    await this.page.goto(`${this.origin}${address}`);
  }

  async isLive(): Promise<void> {
    await expect(this.page.locator('[data-connection="live"]')).toBeVisible();
  }

  async read(route: string) {
    const response = await this.page.request.get(`${this.origin}/api/v1${route}`);
    expect(response.status(), route).toBe(200);
    return response.json();
  }

  async command(route: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await this.page.request.post(`${this.origin}/api/v1${route}`, {
      data: body,
      headers: { origin: this.origin, ...headers },
    });
    expect(response.status(), await response.text()).toBeLessThan(300);
    return response.json();
  }

  /** Starts a run with the given words and returns its id. */
  async start(input: unknown, key: string): Promise<string> {
    const body = { agentId: "retail-desk", input };
    return (
      await this.command("/submissions", body, { "idempotency-key": `e2e-${key}-${this.origin}` })
    ).runId;
  }

  /** A one-time link for another operator. */
  async linkFor(name: string, role: string): Promise<string> {
    const email = `${name.toLowerCase().replaceAll(" ", ".")}@example.com`;
    const made = await this.command("/operators/sign-in-links", { email, name, role });
    return `${this.origin}${made.path}`;
  }

  /** No violation that axe can find, on the page as it stands; in another tab of the browser when one is given. */
  async isAccessible(what: string, page: Page = this.page): Promise<void> {
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(" ")}`),
      what,
    ).toEqual([]);
  }

  async fits(what: string): Promise<void> {
    const wide = await this.page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(wide, `${what}: pixels beyond the window`).toBeLessThanOrEqual(0);
  }

  shoot(name: string): Promise<void> {
    return shoot(this.page, name);
  }

  shootBothThemes(name: string): Promise<void> {
    return shootBothThemes(this.page, name);
  }

  /** As a phone shows the page, which must not be wider than it; both themes, and the window is as before. */
  async shootOnPhone(name: string): Promise<void> {
    const before = this.page.viewportSize();
    await this.page.setViewportSize({ width: 390, height: 844 });
    await this.fits(`${name} on a phone`);
    await this.shootBothThemes(`${name}-phone`);
    if (before !== null) await this.page.setViewportSize(before);
  }
}

import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { owner } from '../credentials.js';
import { OverlayWindow } from './overlay-window.js';
import { collectFaults } from './page-faults.js';
import { workerBrowser } from './worker-browser.js';

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const sizes = ['wide', 'phone'] as const;
export type Size = (typeof sizes)[number];

const viewports: Record<Size, { width: number; height: number }> = {
  wide: { width: 1_440, height: 900 },
  phone: { width: 390, height: 844 },
};

export interface Look {
  theme: Theme;
  size: Size;
}

export const looks: readonly Look[] = themes.flatMap((theme) => sizes.map((size) => ({ theme, size })));

/** The specs save screenshots here for human review. Git ignores the folder. */
export const screenshotFolder = resolve('.screenshots');

// The axe impact levels that block people from using a page.
const seriousImpacts = ['serious', 'critical'];

/** A WCAG violation with the HTML of the affected elements. */
interface Violation {
  id: string;
  impact: string | null;
  elements: string[];
}

// Return only the violations: the full axe result lists every element of the page, and transferring it would take half of the test's time.
const findViolations = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, impact, nodes }) => ({ id, impact, elements: nodes.map(({ html }) => html) })))`;

const isTooWide = 'document.documentElement.scrollWidth > innerWidth';

type ScreenshotPart = 'what is in sight' | 'whole page';

export class ConsoleBrowser {
  private constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  /** @param url the gateway that serves the console */
  static async launch(executablePath: string, url: string): Promise<ConsoleBrowser> {
    await mkdir(screenshotFolder, { recursive: true });
    return new ConsoleBrowser(await workerBrowser(executablePath), url);
  }

  /** Opens a window without a session. */
  async open({ theme = 'light', size = 'wide' }: Partial<Look> = {}): Promise<ConsoleWindow> {
    const context = await this.browser.newContext({
      colorScheme: theme,
      viewport: viewports[size],
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // Shorter than the test's time limit, so that the report names the failed step. Long enough for a busy machine.
    context.setDefaultTimeout(90_000);
    return new ConsoleWindow(context, await context.newPage(), this.url);
  }

  /** Opens an empty window. All overlays in this window share its storage. */
  openOverlay(): Promise<OverlayWindow> {
    return OverlayWindow.open(this.browser, this.url);
  }

  /** Closes the windows of this test file. The browser stays open for the next one. */
  async close(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()));
  }
}

/** A window that shows the console. Collects page errors and requests to other hosts. */
export class ConsoleWindow {
  readonly faults: string[];

  constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {
    this.faults = collectFaults(page, url);
  }

  async visit(path: string): Promise<void> {
    await this.page.goto(`${this.url}/console${path}`);
  }

  /** Changes theme and size without a reload, as when the system switches to its dark theme. */
  async change({ theme, size }: Look): Promise<void> {
    await this.page.emulateMedia({ colorScheme: theme });
    await this.page.setViewportSize(viewports[size]);
  }

  async submitLogin(username: string, password: string): Promise<void> {
    await this.page.getByLabel('Username').fill(username);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Opens the path and signs in as the owner. */
  async signIn(path = '/events'): Promise<void> {
    await this.visit(path);
    await this.submitLogin(owner.username, owner.password);
    await this.page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
  }

  async heading(title: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  }

  /**
   * Switches the open page to each look and takes a screenshot. Reloading the page for each look would take most of the test's time.
   * Returns serious WCAG violations and pages wider than the window, each with its look.
   *
   * @param prepare runs in each look before the check
   */
  async findBarriersInAllLooks(
    name: string,
    { part, prepare }: { part?: ScreenshotPart; prepare?: () => Promise<void> } = {},
  ): Promise<string[]> {
    const found: string[] = [];
    for (const look of looks) {
      const title = `${name}-${look.theme}-${look.size}`;
      await this.change(look);
      await prepare?.();
      await this.screenshot(title, part);
      const barriers = await this.findBarriers();
      if (await this.page.evaluate<boolean>(isTooWide)) barriers.push('the page is wider than the window');
      found.push(...barriers.map((barrier) => `${title}: ${barrier}`));
    }
    return found;
  }

  /** Returns the serious WCAG violations that axe finds. */
  async findBarriers(): Promise<string[]> {
    // Load axe once per page load.
    if (!(await this.page.evaluate<boolean>("'axe' in window"))) await this.page.evaluate(axe.source);
    const violations = await this.page.evaluate<Violation[]>(findViolations);
    return violations
      .filter(({ impact }) => impact !== null && seriousImpacts.includes(impact))
      .map(({ id, elements }) => `${id}: ${elements.map((html) => html.slice(0, 200)).join(' · ')}`);
  }

  async screenshot(name: string, part: ScreenshotPart = 'what is in sight'): Promise<void> {
    const path = `${screenshotFolder}/${name}.png`;
    await this.page.screenshot({ path, animations: 'disabled', fullPage: part === 'whole page' });
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

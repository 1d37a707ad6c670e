import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { owner } from '../credentials.js';
import { OverlayWindow } from './overlay-window.js';
import { collectFaults } from './page-faults.js';

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const sizes = ['wide', 'phone'] as const;
export type Size = (typeof sizes)[number];

const viewports: Record<Size, { width: number; height: number }> = {
  wide: { width: 1_440, height: 900 },
  phone: { width: 390, height: 844 },
};

/** How a user sees a page. */
export interface Look {
  theme: Theme;
  size: Size;
}

export const looks: readonly Look[] = themes.flatMap((theme) => sizes.map((size) => ({ theme, size })));

/** Where the specs put the screenshots, to be looked at. Not committed. */
export const screenshotFolder = resolve('.screenshots');

// The impacts of axe that keep people from using a page.
const seriousImpacts = ['serious', 'critical'];

/** A rule of WCAG that a page violates, with the HTML of the elements. */
interface Violation {
  id: string;
  impact: string | null;
  elements: string[];
}

// The whole result of axe names every element of the page, so passing it on would take half of the time.
const findViolations = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, impact, nodes }) => ({ id, impact, elements: nodes.map(({ html }) => html) })))`;

const isTooWide = 'document.documentElement.scrollWidth > innerWidth';

type ScreenshotPart = 'what is in sight' | 'whole page';

/** The console in a real browser. */
export class ConsoleBrowser {
  private constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  /** @param url the gateway that serves the console */
  static async launch(executablePath: string, url: string): Promise<ConsoleBrowser> {
    // Without these arguments, the browser contacts hosts of its vendor.
    const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
    await mkdir(screenshotFolder, { recursive: true });
    return new ConsoleBrowser(await chromium.launch({ executablePath, args, timeout: 120_000 }), url);
  }

  /** Opens a window without a session. */
  async open({ theme = 'light', size = 'wide' }: Partial<Look> = {}): Promise<ConsoleWindow> {
    const context = await this.browser.newContext({
      colorScheme: theme,
      viewport: viewports[size],
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // Below the limit of a test, so that the failed step is reported, and long enough for a busy machine.
    context.setDefaultTimeout(90_000);
    return new ConsoleWindow(context, await context.newPage(), this.url);
  }

  /** Opens an empty window for overlays, which keeps what they store. */
  openOverlay(): Promise<OverlayWindow> {
    return OverlayWindow.open(this.browser, this.url);
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** A window with the console. Collects what should not happen: errors, and requests to other hosts. */
export class ConsoleWindow {
  readonly faults: string[];

  constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {
    this.faults = collectFaults(page, url);
  }

  /** Opens a path below `/console`. */
  async visit(path: string): Promise<void> {
    await this.page.goto(`${this.url}/console${path}`);
  }

  /** Changes the theme and the size of the open page, as when the system changes to its dark theme. */
  async change({ theme, size }: Look): Promise<void> {
    await this.page.emulateMedia({ colorScheme: theme });
    await this.page.setViewportSize(viewports[size]);
  }

  /** Fills the form of the sign-in page. */
  async submitLogin(username: string, password: string): Promise<void> {
    await this.page.getByLabel('Username').fill(username);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Opens a path as the owner. */
  async signIn(path = '/events'): Promise<void> {
    await this.visit(path);
    await this.submitLogin(owner.username, owner.password);
    await this.page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
  }

  async heading(title: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  }

  /**
   * Changes the open page to each look, and takes a screenshot of it. Loading the page again for each look would take most of the time.
   * Returns the serious violations of WCAG that axe finds, and a page that is wider than the window, each with the look.
   *
   * @param prepare runs in each look before the page is checked
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

  /** Returns the serious violations of WCAG that axe finds, each with the elements. */
  async findBarriers(): Promise<string[]> {
    // Once for each page that was loaded.
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

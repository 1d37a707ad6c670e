import { eventually } from '@stream-events/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { collectFaults } from './page-faults.js';

/** Records the text of every alert that the page shows. sessionStorage keeps the record across reloads. */
const recorder = `
  const shown = () => JSON.parse(sessionStorage.getItem('shown') ?? '[]');
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.className === 'alert') sessionStorage.setItem('shown', JSON.stringify([...shown(), node.textContent]));
  }).observe(document, { childList: true, subtree: true });
`;

const slowClock = `const now = Date.now.bind(Date); Date.now = () => now() - 3_600_000;`;

/** An overlay in a real browser, as in OBS. Collects page errors and requests to other hosts. */
export class OverlayWindow {
  readonly faults: string[];

  private constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {
    this.faults = collectFaults(page, url);
  }

  static async open(browser: Browser, url: string): Promise<OverlayWindow> {
    const context = await browser.newContext({
      viewport: { width: 800, height: 300 },
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(90_000);
    await context.addInitScript(recorder);
    return new OverlayWindow(context, await context.newPage(), url);
  }

  /** Opens an overlay with these settings and waits until it is connected. */
  async show(settings: Record<string, string>): Promise<void> {
    // Leave the page first: a change of only the URL fragment does not reload it.
    await this.page.goto('about:blank');
    await this.page.goto(
      `${this.url}/overlay/#${new URLSearchParams({ ...settings, debug: '' }).toString()}`,
    );
    await this.untilMarked('connected');
  }

  /** Waits until the status mark (shown by `debug`) contains this text. */
  async untilMarked(text: string): Promise<void> {
    await this.page.locator('.mark').filter({ hasText: text }).waitFor();
  }

  /** Sets the page's clock back one hour. Applies to pages that are opened after this call. */
  async slowDownClock(): Promise<void> {
    await this.context.addInitScript(slowClock);
  }

  async shown(): Promise<string[]> {
    return JSON.parse(
      await this.page.evaluate<string>(`sessionStorage.getItem('shown') ?? '[]'`),
    ) as string[]; // Safe cast: the recorder writes an array of texts.
  }

  /** Waits for at least `count` alerts and returns all alerts so far. */
  untilShown(count: number, timeoutMs = 90_000): Promise<string[]> {
    return eventually(
      async () => {
        const shown = await this.shown();
        expect(shown.length).toBeGreaterThanOrEqual(count);
        return shown;
      },
      { timeoutMs },
    );
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

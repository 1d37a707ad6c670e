import { eventually } from '@stream-events/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { collectFaults } from './page-faults.js';

/** Records the text of every alert that the page shows. The record survives a reload. */
const recorder = `
  const shown = () => JSON.parse(sessionStorage.getItem('shown') ?? '[]');
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node.className === 'alert') sessionStorage.setItem('shown', JSON.stringify([...shown(), node.textContent]));
  }).observe(document, { childList: true, subtree: true });
`;

/** A clock that is an hour slow. */
const slowClock = `const now = Date.now.bind(Date); Date.now = () => now() - 3_600_000;`;

/** An overlay in a real browser, as in OBS. Collects what should not happen: errors, and requests to other hosts. */
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

  /** Opens an overlay with these settings, and waits until it is connected. */
  async show(settings: Record<string, string>): Promise<void> {
    // A page does not load again when only its fragment changes.
    await this.page.goto('about:blank');
    await this.page.goto(
      `${this.url}/overlay/#${new URLSearchParams({ ...settings, debug: '' }).toString()}`,
    );
    await this.untilMarked('connected');
  }

  /** Waits until the status mark that `debug` shows contains this text. */
  async untilMarked(text: string): Promise<void> {
    await this.page.locator('.mark').filter({ hasText: text }).waitFor();
  }

  /** Makes the clock of this computer an hour slow, from the next page on. */
  async slowDownClock(): Promise<void> {
    await this.context.addInitScript(slowClock);
  }

  /** Returns the alerts that were shown so far. */
  async shown(): Promise<string[]> {
    return JSON.parse(
      await this.page.evaluate<string>(`sessionStorage.getItem('shown') ?? '[]'`),
    ) as string[]; // Safe cast: the recorder writes an array of texts.
  }

  /** Waits until at least `count` alerts were shown, and returns all of them. */
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

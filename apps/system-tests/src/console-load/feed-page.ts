import { findBrowser } from '@stream-events/testing';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import type { System } from '../system/system.js';

/** Recorded since the last call, in milliseconds. */
export interface Recorded {
  /** Times between two frames. */
  frames: number[];
  /** Times from a key press to the next frame. */
  inputs: number[];
}

/** `follows`: the feed shows new events. `waits`: it holds them back because the user reads older ones. */
export type FeedState = 'follows' | 'waits';

// This code runs in the page. A task that an animation frame queues runs after that frame was drawn.
const recorder = `
  const recorded = (window.recorded = { frames: [], inputs: [] });
  let last;
  const onFrame = (now) => {
    if (last !== undefined) recorded.frames.push(now - last);
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
  addEventListener(
    'keydown',
    ({ timeStamp }) => requestAnimationFrame(() => setTimeout(() => recorded.inputs.push(performance.now() - timeStamp))),
    { capture: true },
  );
`;

/** The console's Events page in Chromium, with a recorder for frames and key presses. */
export class FeedPage {
  private constructor(
    private readonly browser: Browser,
    private readonly page: Page,
    private readonly devTools: CDPSession,
  ) {}

  static async open({ gateways: [gateway], owner }: System): Promise<FeedPage> {
    const executablePath = findBrowser();
    if (executablePath === undefined)
      throw new Error(
        'Cannot find Chromium on this machine. Install it, for example: apt-get install chromium',
      );
    const args = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
    const browser = await chromium.launch({ executablePath, args });
    const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
    await page.goto(`${gateway?.url}/console/events`);
    await page.getByLabel('Username').fill(owner.username);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    await page.evaluate(recorder);
    return new FeedPage(browser, page, await page.context().newCDPSession(page));
  }

  /** Selects the next or previous event, which opens it in the inspector. */
  async select(key: 'j' | 'k'): Promise<void> {
    await this.page.keyboard.press(key);
  }

  /** Types into the user filter. Does not apply it. */
  async type(key: 'm' | 'Backspace'): Promise<void> {
    await this.page.getByLabel('User', { exact: true }).press(key);
  }

  /** Empties the user filter and moves the focus to the events, where letters are shortcuts. */
  async leaveFilter(): Promise<void> {
    await this.page.getByLabel('User', { exact: true }).fill('');
    await this.page.getByRole('listbox', { name: 'Events' }).focus();
  }

  /** Throws if the feed is in another state. */
  async expectFeed(expected: FeedState): Promise<void> {
    const isWaiting = await this.page.getByRole('button', { name: / new$/ }).isVisible();
    const rows = await this.page.getByRole('option').count();
    if (rows > 0 && isWaiting === (expected === 'waits')) return;
    throw new Error(
      `The feed has ${rows} rows, or does not ${expected === 'waits' ? 'hold back' : 'show'} new events, so the measurement is not valid.`,
    );
  }

  async takeRecorded(): Promise<Recorded> {
    return this.page.evaluate<Recorded>(
      '({ frames: recorded.frames.splice(0), inputs: recorded.inputs.splice(0) })',
    );
  }

  /** Heap in use after garbage collection, in MiB. */
  async heapMegabytes(): Promise<number> {
    await this.devTools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.devTools.send('Runtime.getHeapUsage');
    return usedSize / 1024 ** 2;
  }

  /** Number of DOM elements. */
  async countElements(): Promise<number> {
    return this.page.evaluate<number>('document.querySelectorAll("*").length');
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

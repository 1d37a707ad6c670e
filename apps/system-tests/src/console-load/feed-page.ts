import { findBrowser } from '@stream-events/testing';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import type { System } from '../system/system.js';

/** What the page recorded since the last call, in milliseconds. */
export interface Recorded {
  /** The times between two frames. */
  frames: number[];
  /** The times from a key press until the next frame was drawn. */
  inputs: number[];
}

/** Whether the feed shows new events (`follows`), or holds them back because the user reads older events (`waits`). */
export type FeedState = 'follows' | 'waits';

// Runs in the page. A task that is queued in an animation frame runs after the frame was drawn.
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

/** The Events page of the console in Chromium, with a recorder of frames and inputs. */
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

  /** Presses a key that selects another event and opens that event in the inspector. */
  async select(key: 'j' | 'k'): Promise<void> {
    await this.page.keyboard.press(key);
  }

  /** Types into the user filter without applying the filter. */
  async type(key: 'm' | 'Backspace'): Promise<void> {
    await this.page.getByLabel('User', { exact: true }).press(key);
  }

  /** Empties the user filter, and moves the focus to the events, where letters are shortcuts. */
  async leaveFilter(): Promise<void> {
    await this.page.getByLabel('User', { exact: true }).fill('');
    await this.page.getByRole('listbox', { name: 'Events' }).focus();
  }

  /** Throws unless the feed is in the expected state. */
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

  /** Collects garbage, and returns the size of the JavaScript heap in use, in MiB. */
  async heapMegabytes(): Promise<number> {
    await this.devTools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.devTools.send('Runtime.getHeapUsage');
    return usedSize / 1024 ** 2;
  }

  /** Returns the number of DOM elements of the page. */
  async countElements(): Promise<number> {
    return this.page.evaluate<number>('document.querySelectorAll("*").length');
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

import { eventually } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { newEvent } from './api.js';
import { ConsoleBrowser, type ConsoleWindow } from './browser/console-browser.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import { LiveSocket } from './live-clients.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { streamersPath, untilSubscribed, type StreamerRecord } from './streamer-records.js';

// A stream appears after the platform has listed it and the monitor has recorded it.
const recorded = { timeout: 120_000 };
const settled = { timeoutMs: 90_000 };
const testLimitMs = 500_000;
const minuteMs = 60_000;
const streamMinutes = 120;

describeWithBrowser('streamers in the console', (browserPath) => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let browser: ConsoleBrowser;
  let view: ConsoleWindow;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true });
    platform = new SimulatedPlatform(stack);
    browser = await ConsoleBrowser.launch(browserPath, stack.url);
    view = await browser.open();
    await view.signIn('/streamers');
  }, startLimitMs);

  afterEach(() => {
    expect(view.faults.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  const press = (name: string | RegExp) => view.page.getByRole('button', { name, exact: true }).click();
  const rowOf = (table: string, text: string) =>
    view.page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: text });

  it(
    'shows a streamer who is added, goes live, goes offline, and is removed, without a reload',
    async () => {
      const user = await platform.addUser();
      await view.page.evaluate('globalThis.isSamePage = true');
      await press('Add streamer');
      const dialog = view.page.getByRole('dialog');
      await dialog.getByLabel('Username').fill('nobody_has_this_name');
      await dialog.getByRole('button', { name: 'Add streamer' }).click();
      await dialog.getByText('The platform has no user').waitFor();
      await dialog.getByLabel('Username').fill(user.login);
      await dialog.getByRole('button', { name: 'Add streamer' }).click();
      await rowOf('Offline streamers', user.login).getByText('none recorded').waitFor();
      await untilSubscribed(stack, user.id);

      await platform.goLive(user.id, { title: 'Endgames all night', game_name: 'Chess', viewer_count: 42 });
      const live = rowOf('Live streamers', user.login);
      await live.getByText('Endgames all night').waitFor(recorded);
      await live.getByText('42', { exact: true }).waitFor(recorded);
      await view.screenshot('streamers-live');
      await platform.goOffline(user.id);
      await rowOf('Offline streamers', user.login).getByText('Endgames all night').waitFor(recorded);

      await rowOf('Offline streamers', user.login).getByRole('link', { name: user.login }).click();
      await view.heading(user.login);
      await rowOf('Streams', 'Endgames all night').getByText('42', { exact: true }).waitFor(recorded);
      await press('Remove…');
      await view.page.getByRole('alertdialog').getByText('are deleted permanently').waitFor();
      await press('Remove');
      await view.page.getByText('No streamers yet').waitFor();
      expect((await stack.request('GET', streamersPath)).json).toEqual([]);
      expect(await view.page.evaluate('globalThis.isSamePage')).toBe(true);
    },
    testLimitMs,
  );

  describe('with a recorded stream', () => {
    let user: SimulatedUser;
    let streamer: StreamerRecord;
    let streamId: string;
    let start: number;

    const path = () => `/streamers/${streamer.id}/streams/${streamId}`;

    beforeAll(async () => {
      user = await platform.addUser();
      start = Math.floor(Date.now() / minuteMs - streamMinutes - 30) * minuteMs;
      ({ streamer, streamId } = await recordStream(stack, user, start));
    });

    it(
      'finds it in the calendar, by keyboard',
      async () => {
        const month = printLocalMonth(start);
        await view.visit(`/streamers/${streamer.id}?month=${month}`);
        await view.heading(user.login);
        const row = rowOf('Streams', 'Endgames');
        await row.getByText('140', { exact: true }).waitFor();
        await press('Previous month');
        await view.page.getByText('No streams.').waitFor();
        await press('Next month');
        const day = view.page.getByRole('button', { name: /: 1 stream, 2 h$/ });
        await day.press('Enter');
        expect(await day.getAttribute('aria-pressed')).toBe('true');
        await press('Show the whole month');
        await row.getByRole('link').press('Enter');
        await view.page.getByRole('figure', { name: /^Viewers/ }).waitFor();
      },
      testLimitMs,
    );

    it(
      'draws its viewers, and shows the events of a moment, by pointer and by keyboard',
      async () => {
        await view.visit(path());
        const timeline = view.page.getByRole('figure', { name: /^Viewers/ });
        await timeline.locator('canvas').waitFor();
        await eventually(
          async () => expect(await view.page.evaluate(countPixels)).toBeGreaterThan(5_000),
          settled,
        );
        await timeline.getByRole('list', { name: 'Titles' }).getByText('Endgames').waitFor();
        await timeline.getByRole('list', { name: 'Categories' }).getByText('Poker').waitFor();

        const events = view.page.getByRole('list', { name: 'Events of the moment' });
        await timeline.getByRole('button', { name: /Raider_One raided/ }).click();
        await events.getByText('Raider_One').waitFor();
        await view.page.reload();
        await events.getByText('Raider_One').waitFor();
        const subscriptions = timeline.getByRole('toolbar', { name: 'Subscriptions' });
        await subscriptions.getByRole('button').first().press('Enter');
        await events.getByText('Subscriber_One').waitFor();

        const moment = timeline.getByRole('slider', { name: 'Moment' });
        await moment.press('Home');
        await events.getByText('First_Follower').waitFor();
        for (let count = 0; count < 4; count += 1) await moment.press('PageUp');
        await events.getByText('Cheerful_One').waitFor();
        const box = (await moment.boundingBox())!;
        await moment.click({ position: { x: 2, y: box.height / 2 } });
        await events.getByText('First_Follower').waitFor();
        await moment.click({ position: { x: box.width / 2, y: box.height / 2 } });
        await events.getByText('Cheerful_One').waitFor();
        await press('Show as a table');
        await view.page
          .getByRole('table', { name: /^Viewers/ })
          .getByText('Openings')
          .first()
          .waitFor();

        await view.page.getByRole('link', { name: 'Open in Events' }).click();
        await view.heading('Events');
        const list = view.page.getByRole('listbox', { name: 'Events', exact: true });
        await list.getByText('Cheerful_One').waitFor();
        expect(await list.getByRole('option').count()).toBe(1);
      },
      testLimitMs,
    );

    it('has a summary to share', async () => {
      await view.visit(path());
      const summary = view.page.getByRole('region', { name: 'Summary' });
      await summary.getByText('140', { exact: true }).waitFor();
      await summary.getByText('Cheerful_One').waitFor();
      // The title and the numbers come from separate requests.
      await summary.getByText('Endgames').waitFor();
      await summary.getByRole('button', { name: 'Copy as text' }).click();
      await summary.getByText('Copied').waitFor();
      const text = await view.page.evaluate<string>('navigator.clipboard.readText()');
      expect(text.split('\n')).toEqual(
        expect.arrayContaining([
          'Endgames · Poker',
          'Peak viewers: 140',
          'Raids: 1 (with 52 viewers)',
          'Top cheerers: Cheerful_One (500 bits)',
        ]),
      );
    });

    it(
      'is rehearsed to a connection, with pause, seek, and stop',
      async () => {
        await view.visit(path());
        await press('Rehearse');
        const dialog = view.page.getByRole('dialog');
        await dialog.getByText('No named connection is open').waitFor();
        const socket = await LiveSocket.ready(stack.url, { token: stack.ownerToken, name: 'test-overlay' });
        await dialog.getByLabel('Speed').selectOption({ label: '×5' }, recorded);
        await dialog.getByRole('button', { name: 'Start' }).click();
        const bar = view.page.getByRole('region', { name: 'Rehearsal to test-overlay' });
        await bar.getByText('Playing at ×5').waitFor();
        const received = () => socket.events.map(({ event_data: { user_name } }) => user_name);
        await eventually(() => expect(received()).toEqual(['First_Follower']), settled);

        await bar.getByRole('button', { name: 'Pause' }).click();
        await bar.getByText('Paused').waitFor();
        await view.visit('/streamers');
        await view.visit(path());
        await bar.getByText('Paused').waitFor();
        await view.screenshot('rehearsal-paused');

        // Seeking skips the events between the two positions.
        const position = bar.getByRole('slider', { name: 'Position in the stream' });
        // Delay the response to the first seek until the slider has moved on.
        const seeks = /\/api\/v1\/rehearsals\/./;
        let release = (): void => undefined;
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        await view.page.route(seeks, (route) => released.then(() => route.continue()), { times: 1 });
        const sent = view.page.waitForRequest(seeks);
        await position.press('Home');
        await sent;
        const answered = view.page.waitForResponse(seeks);
        await position.press('PageUp');
        release();
        await answered;
        for (let count = 0; count < 4; count += 1) await position.press('PageUp');
        await eventually(async () => {
          const { json } = await stack.request<{ position: string }[]>('GET', '/api/v1/rehearsals');
          expect(json[0]?.position).toBe(printTime(start + 60 * minuteMs));
        }, settled);
        await bar.getByRole('button', { name: 'Resume' }).click();
        await eventually(() => expect(received()).toEqual(['First_Follower', 'Cheerful_One']), settled);
        expect(socket.events.map(({ origin }) => origin)).toEqual(['replay', 'replay']);

        await bar.getByRole('button', { name: 'Stop' }).click();
        await view.page.getByText(/was stopped: .* sent/).waitFor();
        const { json } = await stack.request<{ status: string }[]>('GET', '/api/v1/rehearsals');
        expect(json.map(({ status }) => status)).toEqual(['cancelled']);
        await press('Remove the rehearsal');
        await view.page.getByText('was stopped').waitFor({ state: 'detached' });
        await socket.close();
      },
      testLimitMs,
    );

    it(
      'is shown without barriers in both themes and sizes',
      async () => {
        const other = await browser.open();
        await other.signIn(`${path()}?since=${printUrlTime(start)}&until=${printUrlTime(start + minuteMs)}`);
        await other.page.getByText('First_Follower').waitFor();
        await other.page.locator('canvas').waitFor();
        expect(await other.findBarriersInAllLooks('stream', { part: 'whole page' })).toEqual([]);
        await other.visit(`/streamers/${streamer.id}`);
        await other.page.getByText('140', { exact: true }).waitFor();
        expect(await other.findBarriersInAllLooks('streamer')).toEqual([]);
        expect(other.faults).toEqual([]);
        await other.close();
      },
      testLimitMs,
    );
  });
});

/** Counts the visible pixels of the chart. */
const countPixels = `(() => {
  const canvas = document.querySelector('figure canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((value, index) => index % 4 === 3 && value > 0).length;
})()`;

/** Formats a time like the API. */
function printTime(time: number): string {
  return `${printUrlTime(time).slice(0, 19)}+0000`;
}

/** Formats the month in this machine's time zone, which the browser shares. */
function printLocalMonth(time: number): string {
  return new Intl.DateTimeFormat('sv-SE', { year: 'numeric', month: '2-digit' }).format(time);
}

function printUrlTime(time: number): string {
  return new Date(time).toISOString();
}

/** Inserts a finished two-hour stream with its events, as the monitor would record it. */
async function recordStream(
  stack: Stack,
  user: SimulatedUser,
  start: number,
): Promise<{ streamer: StreamerRecord; streamId: string }> {
  const { json: streamer } = await stack.request<StreamerRecord>('POST', streamersPath, {
    body: { platform_username: user.login, disabled: true },
  });
  const streamId = uuidV7({ msecs: start });
  const at = (minutes: number) => new Date(start + minutes * minuteMs);
  await stack.query(
    `INSERT INTO streamer_monitor.streams (id, streamer_id, stream_id, user_id, user_login, user_name, game_id, game_name, type, title,
       viewer_count, started_at, ended_at, language, thumbnail_url, is_mature, is_miss_confirmed)
     VALUES ($1, $2, '4711', $3, $4, $4, '', 'Poker', 'live', 'Endgames', 90, $5, $6, 'en', '', false, true)`,
    [streamId, streamer.id, user.id, user.login, at(0), at(streamMinutes)],
  );
  for (let minutes = 2; minutes < streamMinutes; minutes += 4) {
    const isLate = minutes > 70;
    const viewers = minutes === 82 ? 140 : 60 + ((minutes * 7) % 50);
    await stack.query('INSERT INTO streamer_monitor.stream_samples VALUES ($1, $2, $3, $4, $5, $6)', [
      ...[streamId, at(minutes), viewers, minutes > 40 ? 'Endgames' : 'Openings'],
      ...(isLate ? ['1', 'Poker'] : ['743', 'Chess']),
    ]);
  }
  const channel = { broadcaster_user_id: user.id, broadcaster_user_name: user.display_name };
  const raid = {
    from_broadcaster_user_id: '3',
    from_broadcaster_user_name: 'Raider_One',
    to_broadcaster_user_id: user.id,
    to_broadcaster_user_name: user.display_name,
    viewers: 52,
  };
  const subscribe = (name: string) => ({
    ...channel,
    user_id: name,
    user_name: name,
    tier: '1000',
    is_gift: false,
  });
  const events: [minutes: number, type: string, data: object][] = [
    [0.1, 'channel-follow', { ...channel, user_id: '1', user_name: 'First_Follower' }],
    [30, 'channel-raid', raid],
    [45, 'channel-subscribe', subscribe('Subscriber_One')],
    [45.5, 'channel-subscribe', subscribe('Subscriber_Two')],
    [
      60.2,
      'channel-cheer',
      { ...channel, user_id: '2', user_name: 'Cheerful_One', bits: 500, message: 'Cheer500' },
    ],
    [
      80,
      'channel-hype_train-begin',
      { ...channel, id: 'train', level: 1, total: 500, progress: 500, goal: 1_000 },
    ],
    [85, 'channel-hype_train-end', { ...channel, id: 'train', level: 3, total: 4_000 }],
  ];
  await stack.storeEvents(
    events.map(([minutes, eventType, data]) => {
      const time = at(minutes).getTime();
      return newEvent({ time, occurredAt: time, eventType, eventData: JSON.stringify(data) });
    }),
  );
  return { streamer, streamId };
}

import { randomInt } from 'node:crypto';
import { reportAlarms } from '@stream-events/contracts';
import { eventBody, eventsPath, newEvent, uniqueType, type EventPage } from './api.js';
import { ConsoleBrowser, type ConsoleWindow } from './browser/console-browser.js';
import { findBrowser } from './browser/web-page.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const browserPath = findBrowser();
const describeWithBrowser = browserPath === undefined ? describe.skip : describe;

describeWithBrowser('the administration in the console', () => {
  let stack: Stack;
  let browser: ConsoleBrowser;
  let view: ConsoleWindow;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, platform: true });
    browser = await ConsoleBrowser.launch(browserPath!, stack.url);
    view = await browser.open();
    await view.signIn();
  }, startLimitMs);

  afterEach(() => {
    expect(view.faults.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  const press = (name: string | RegExp) => view.page.getByRole('button', { name, exact: true }).click();

  describe('dead letters', () => {
    const type = uniqueType('rejected');
    const marked = '<img src=x onerror=alert(1)>';

    it('are shown with reason and payload, and are stored when the cause is gone', async () => {
      const add = `ALTER TABLE events.events ADD CONSTRAINT "rejects ${type}" CHECK (event_type <> '${type}') NOT VALID`;
      await stack.query(add);
      const event = newEvent({ eventType: type, eventData: JSON.stringify({ marked }) });
      await stack.storeEvents([event, newEvent({ eventType: type })]);
      await view.visit('/system?tab=dead-letters');
      const rows = view.page.getByRole('button', { name: new RegExp(type) });
      await rows.last().click();
      expect(await view.page.getByRole('region', { name: 'Payload' }).textContent()).toContain(marked);
      await view.screenshot('system-dead-letters-open');

      await press('Store again');
      await view.page.getByRole('alert').getByText('rejects').waitFor();
      await stack.query(`ALTER TABLE events.events DROP CONSTRAINT "rejects ${type}"`);
      await press('Store again');
      await view.page.getByText('The event is stored.').waitFor();
      await rows.nth(1).waitFor({ state: 'detached' });
      const { json } = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`);
      expect(json.results.map(({ id }) => id)).toEqual([event.id]);
    });

    it('are discarded after a question', async () => {
      await view.page.getByRole('button', { name: new RegExp(type) }).click();
      await press('Discard…');
      await view.page.getByRole('alertdialog').getByText('deleted permanently').waitFor();
      await press('Discard');
      await view.page.getByText('No dead letters').waitFor();
    });
  });

  it('counts the records of a platform user, then erases them', async () => {
    const userId = `8${randomInt(1e12)}`;
    const event_type = uniqueType('erased');
    await stack.request('POST', eventsPath, {
      body: eventBody({ event_type, event_data: { user_id: userId, user_name: 'ada' } }),
    });
    await view.visit('/system?tab=erasures');
    await view.page.getByLabel('Id of the platform user').fill(userId);
    await press('Count records');
    const row = view.page.getByRole('row').filter({ hasText: userId });
    await row.getByText('1 event').waitFor();
    await row.getByRole('button', { name: 'Erase these…' }).click();
    await view.page.getByRole('alertdialog').getByText(userId).waitFor();
    await press('Erase');
    await row.filter({ hasText: 'Erasure' }).getByText('Done').waitFor({ timeout: 100_000 });
    const { json } = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${event_type}`);
    expect(json.results).toEqual([]);
  }, 120_000);

  it('shows an alarm while its cause exists, and later that it was cleared', async () => {
    const message = 'The clock is 40 s late.';
    await stack.client.request(reportAlarms, { raised: [{ key: 'clock_off', message }], cleared: [] });
    await view.visit('/system');
    await view.page.getByRole('alert').getByText(message).waitFor();
    await stack.client.request(reportAlarms, { raised: [], cleared: ['clock_off'] });
    await view.page.getByRole('table', { name: 'Cleared alarms' }).getByText(message).waitFor();
  });

  it('shows the live connection of the console itself', async () => {
    await view.visit('/system?tab=connections');
    const row = view.page.getByRole('table', { name: 'Open connections' }).getByRole('row');
    await row.filter({ hasText: 'console' }).getByText('0 events').first().waitFor();
  });
});

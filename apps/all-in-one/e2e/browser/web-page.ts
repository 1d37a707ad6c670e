import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { workerBrowser } from './worker-browser.js';

// The import map lets the page import packages by name without a bundler.
const html = `<!doctype html>
<script type="importmap">
  {"imports": {"@stream-events/client": "/client/index.js", "openapi-fetch": "/openapi-fetch/index.mjs"}}
</script>
<script type="module" src="/page/page.mjs"></script>`;

const folders = new Map([
  ['client', resolve('libs/client/dist')],
  ['openapi-fetch', resolve('node_modules/openapi-fetch/dist')],
  ['page', resolve('apps/all-in-one/e2e/browser')],
]);

/** A web page in a real browser, served from a different origin than the service. */
export class WebPage {
  private constructor(
    private readonly server: Server,
    private readonly page: Page,
  ) {}

  static async open(executablePath: string): Promise<WebPage> {
    const server = createServer(({ url = '/' }, response) => {
      void answer(url).then(({ type, text }) => response.setHeader('Content-Type', type).end(text));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo; // Safe cast: the server listens on TCP.
    const browser = await workerBrowser(executablePath);
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`http://127.0.0.1:${port}/`);
    return new WebPage(server, page);
  }

  /** Opens another page, waits for an element, and returns the errors that the browser logged. */
  async visit(url: string, element: string): Promise<string[]> {
    const errors: string[] = [];
    this.page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    this.page.on('pageerror', ({ message }) => errors.push(message));
    await this.page.goto(url);
    await this.page.waitForSelector(element);
    return errors;
  }

  /** Gives consent on the simulated platform's page as this user. Returns the text of the next page. */
  async giveConsent(url: string, login: string): Promise<string> {
    await this.page.goto(url);
    const consentPage = this.page.url();
    await this.page.fill('input[name=login]', login);
    await this.page.click('button[value=allow]');
    await this.page.waitForURL(({ href }) => href !== consentPage);
    return this.page.innerText('body');
  }

  async run<Result = void>(action: string, options: object = {}): Promise<Result> {
    return this.page.evaluate<Result>(`actions.${action}(${JSON.stringify(options)})`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

async function answer(url: string): Promise<{ type: string; text: string }> {
  const [, folder = '', name = ''] = url.split('/');
  const directory = folders.get(folder);
  if (!directory) return { type: 'text/html', text: html };
  return { type: 'text/javascript', text: await readFile(join(directory, name), 'utf8') };
}

// Prints the generated parts of the pages in docs. A part is between `<!-- generated: <what> -->` and `<!-- generated: end -->`.
import { readFileSync } from 'node:fs';
import { printMetrics } from './metrics.mjs';
import { root } from './prepare.mjs';

const parts = /<!-- generated: (?!end)(?<what>.+) -->[^]*?<!-- generated: end -->/g;

/** Returns the text of a page with up-to-date generated parts. */
export async function printPage(path) {
  const page = readFileSync(path, 'utf8');
  const printed = await Promise.all([...page.matchAll(parts)].map(({ groups }) => printPart(groups.what)));
  return page.replace(
    parts,
    (_, what) => `<!-- generated: ${what} -->\n\n${printed.shift()}\n\n<!-- generated: end -->`,
  );
}

async function printPart(what) {
  if (what.startsWith('code ')) return printCode(what.slice('code '.length));
  const print = {
    filters: printFilters,
    'gap reasons': printGapReasons,
    'close codes': printCloseCodes,
    controls: printControls,
    limits: printLimits,
    metrics: () => printMetrics(printTable),
  }[what];
  if (!print) throw new Error(`tools/pages.mjs has no generator for "${what}"`);
  const prettier = await import('prettier');
  return (await prettier.format(await print(), { parser: 'markdown' })).trim();
}

/** Prints an example program, which a test runs. */
function printCode(file) {
  const code = readFileSync(`${root}apps/all-in-one/e2e/consuming/${file}`, 'utf8');
  return `\`\`\`ts\n// ${file}\n${code}\`\`\``;
}

async function printFilters() {
  const { eventFilters } = await import('../libs/contracts/dist/index.js');
  return printTable(
    ['filter', 'matches'],
    Object.entries(eventFilters).map(([name, { description }]) => [`\`${name}\``, description]),
  );
}

async function printGapReasons() {
  const { gapReasons } = await importLive('gap-reasons');
  return printTable(
    ['reason', 'meaning'],
    Object.entries(gapReasons).map(([reason, text]) => [`\`${reason}\``, text]),
  );
}

async function printCloseCodes() {
  const { closeCodes } = await importLive('close-codes');
  return printTable(
    ['code', 'meaning'],
    Object.values(closeCodes).map(({ code, text }) => [code, text]),
  );
}

async function printControls() {
  const { liveControls } = await import('../libs/contracts/dist/index.js');
  return printTable(
    ['control', 'meaning'],
    Object.entries(liveControls).map(([control, text]) => [`\`${control}\``, text]),
  );
}

async function printLimits() {
  const limits = await importLive('live-limits');
  const { catchUpLimits, connectionLimits, keepAliveMs, maxBufferedBytes, webSocketLimits } = limits;
  const { rehearsalLimits } = await import('../apps/gateway/dist/rehearsals/rehearsal-limits.js');
  const { namedTokenShare, shareOf } = await import('../apps/gateway/dist/access/caller.js');
  const ofToken = ({ perUser }) => shareOf(perUser, { share: namedTokenShare });
  const print = (number) => number.toLocaleString('en');
  return printTable(
    ['what', 'limit'],
    [
      ['connections per user, at each gateway', print(connectionLimits.perUser)],
      ['connections per named token, at each gateway', print(ofToken(connectionLimits))],
      ['concurrent catch-ups per user, at each gateway', print(catchUpLimits.perUser)],
      ['concurrent catch-ups per named token, at each gateway', print(ofToken(catchUpLimits))],
      ['messages that a catch-up reads per second', print(catchUpLimits.messagesPerSecond)],
      ['connections per gateway', print(connectionLimits.connections)],
      ['data that waits for one slow client', `${maxBufferedBytes / 1024 ** 2} MiB`],
      ['time between keep-alives', `${keepAliveMs / 1_000} s`],
      ['time for a WebSocket client to send its token', `${webSocketLimits.tokenMs / 1_000} s`],
      ['WebSockets without a token yet, per gateway', print(webSocketLimits.waiting.total)],
      ['WebSockets without a token yet, per client address', print(webSocketLimits.waiting.perAddress)],
      ['size of a client’s message', `${limits.maxMessageBytes / 1024} KiB`],
      ['messages, pings, and pongs of a WebSocket client per minute', print(limits.maxFramesPerMinute)],
      ['concurrent rehearsals to the connections of one user', print(rehearsalLimits.perUser)],
      ['concurrent rehearsals to the connections of all users', print(rehearsalLimits.total)],
      ['events per second of a rehearsal', print(rehearsalLimits.eventsPerSecond)],
    ],
  );
}

function importLive(file) {
  return import(`../apps/gateway/dist/live/${file}.js`);
}

function printTable(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

// The pages under docs that have generated parts, between `<!-- generated: <what> -->` and `<!-- generated: end -->`.
import { readFileSync } from 'node:fs';
import { root } from './prepare.mjs';

const parts = /<!-- generated: (?!end)(?<what>.+) -->[^]*?<!-- generated: end -->/g;

/** A page with its parts as they should be. */
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
  const print = { 'gap reasons': printGapReasons, 'close codes': printCloseCodes, limits: printLimits }[what];
  if (!print) throw new Error(`nobody generates "${what}"`);
  const prettier = await import('prettier');
  return (await prettier.format(await print(), { parser: 'markdown' })).trim();
}

/** An example, which a test runs. */
function printCode(file) {
  const code = readFileSync(`${root}apps/all-in-one/e2e/consuming/${file}`, 'utf8');
  return `\`\`\`ts\n// ${file}\n${code}\`\`\``;
}

async function printGapReasons() {
  const { gapReasons } = await importLive('gap-reasons');
  return printTable(
    ['reason', 'it means'],
    Object.entries(gapReasons).map(([reason, text]) => [`\`${reason}\``, text]),
  );
}

async function printCloseCodes() {
  const { closeCodes } = await importLive('close-codes');
  return printTable(
    ['code', 'it means'],
    Object.values(closeCodes).map(({ code, text }) => [code, text]),
  );
}

async function printLimits() {
  const { connectionLimits, keepAliveMs, maxBufferedBytes, maxMessageBytes, webSocketLimits } =
    await importLive('live-limits');
  const print = (number) => number.toLocaleString('en');
  return printTable(
    ['what', 'limit'],
    [
      ['connections of a token, at one gateway', print(connectionLimits.perToken)],
      ['connections of a gateway', print(connectionLimits.connections)],
      ['data that waits for a client that reads slowly', `${maxBufferedBytes / 1024 ** 2} MiB`],
      ['time between keep-alives', `${keepAliveMs / 1_000} s`],
      ['time for a WebSocket to say its token', `${webSocketLimits.tokenMs / 1_000} s`],
      ['WebSockets of a gateway that have not said their token', print(webSocketLimits.waiting)],
      ['a message of a client', `${maxMessageBytes / 1024} KiB`],
    ],
  );
}

function importLive(file) {
  return import(`../apps/gateway/dist/live/${file}.js`);
}

function printTable(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

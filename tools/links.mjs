// Finds broken links between the files of this repository: in Markdown pages, and to pages in all other files, such as code, alerts, and
// error messages. Also finds padded table rows, which make a page larger and every change to a table a change to all of its rows.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { root } from './prepare.mjs';

const facts = readFileSync(`${root}libs/platforms/src/twitch/FACTS.md`, 'utf8');

/** Returns the broken links, as `<file>: <link>`. */
export function findBrokenLinks() {
  return listFiles()
    .filter((file) => /\.(md|tsx?|mjs|ya?ml|tpl|txt|sh|json)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(root + file, 'utf8');
      const links = file.endsWith('.md') ? listLinks(file, text) : [];
      const mentions = [
        ...text.matchAll(/(?:"([^"\n]+)" in )?(?<![\w/.-])((?:docs|apps|libs)\/[\w/-]+\.md(?:#[\w-]+)?)/g),
      ].map(([, heading, link]) => (heading ? `${link}#${anchorOf(heading)}` : link));
      const broken = [...links, ...mentions].filter((link) => !leadsSomewhere(link));
      return [...broken, ...listMissingFacts(text)].map((link) => `${file}: ${link}`);
    });
}

/** Returns the rows of tables in Markdown pages that contain two spaces or a long rule, as `<file>: <row>`. */
export function findPaddedRows() {
  return listFiles()
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const rows = withoutCode(readFileSync(root + file, 'utf8')).match(/^ *\|.*$/gm) ?? [];
      return rows.filter((row) => / {2}|^[|: -]*-{4}/.test(row.trim())).map((row) => `${file}: ${row}`);
    });
}

/** Returns the files that are in Git or could be added, relative to the root. */
function listFiles() {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\n');
  return files.filter((file) => file && existsSync(root + file));
}

/** Returns the links of a page to files, relative to the root. */
function listLinks(page, text) {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => (target.startsWith('#') ? page + target : posix.join(posix.dirname(page), target)));
}

/** Returns the mentioned sections that the page of facts about the platform does not have. */
function listMissingFacts(text) {
  const sections = [...facts.matchAll(/^#+ ([\d.]*\d)\.? /gm)].map(([, number]) => `FACTS.md §${number}`);
  const mentions = text.match(/FACTS\.md §[\d.]*\d/g) ?? [];
  return mentions.filter((mention) => !sections.includes(mention));
}

function leadsSomewhere(link) {
  const [path, anchor] = link.split('#');
  if (!anchor || !existsSync(root + path)) return existsSync(root + path);
  const page = withoutCode(readFileSync(root + path, 'utf8'));
  return [...page.matchAll(/^#+ (.+)$/gm)].some(([, heading]) => anchorOf(heading) === anchor);
}

function withoutCode(page) {
  return page.replaceAll(/^```[^]*?^```/gm, '');
}

/** Derives the anchor of a heading as GitHub does. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
